"""Regular languages over bytes.

    regex (IR) -> resolve (IR) -> thompson (NFA) -> determinize -> minimize (DFA)
    regex (IR) -> lowering (expressions over bytes) -> derivatives -> minimize (DFA)
    two DFAs -> product -> boolean, compare;  one DFA -> its members

``nodes`` are the IR's, ``regex`` builds them simplified. ``resolve`` replaces intersections and
complements (``boolean``) and assertions (``contexts``) by automata; derivatives need that for
assertions alone.

Symbols are 0 to 255, a byte, and 256 + k, the k-th token terminal (tokens that the
grammar names, whatever their text), or once a tokenizer is known the k-th class of tokens.
``utf8`` turns code points into byte ranges.
Every NFA edge carries the rules it came from, so that a DFA state can say whose rule it
serves.
"""
