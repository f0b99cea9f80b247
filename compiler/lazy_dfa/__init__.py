"""From an expression of intersections and complements to conjunctions that are walked lazily.

    grammar       -> expression         its tree as one regular expression, where nothing recurs
    expression    -> growth             whether the DFA of one that is no operation grows
    expression    -> joined_characters  the same, with runs of a character as repetitions
    repetitions   -> json_lengths       lengths of JSON strings, in which escapes are one character
    expression    -> signed_parts       the conjunctions: what each requires and excludes
    conjunctions  -> conjunctions       for each the DFA of what is small, a length, and NFAs
    NFA           -> beginnings         the DFA of what begins a text of one that is alone
    terminals     -> large_lexemes      those of a lexer that are too large to be built, as such

``constrain.artifacts.dfa`` makes their states while decoding.
"""
