"""From an expression of intersections and complements to conjunctions that are walked lazily.

    grammar       -> expression     its tree as one regular expression, where nothing recurs
    expression    -> joined_characters   the same, with runs of a character as repetitions
    expression    -> signed_parts   the conjunctions: what each requires and excludes
    conjunctions  -> conjunctions   for each the DFA of what is small, bounds of the length, NFAs

``constrain.artifacts.lazy_dfa`` makes their states while decoding.
"""
