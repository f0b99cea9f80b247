"""A second construction of DFAs, by Brzozowski derivatives, beside Thompson's NFAs and subsets.

    regex IR -> lowering            -> hash-consed expressions over bytes
             -> byte_expressions    numbers them, similar ones once
             -> construct           derivatives lazily: states as far as a text is read, or all

No stage of the compiler runs this construction. It needs no NFA and takes intersections and
complements as they are; it is the oracle of the other construction, and that one its own: both must
give the same minimal automaton. Automata that are too large to be built are walked by derivatives
while decoding, operand by operand (``constrain.artifacts.dfa``); this construction is their
oracle, too.
"""
