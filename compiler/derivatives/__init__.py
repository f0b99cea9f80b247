"""A second construction of DFAs, by Brzozowski derivatives, beside Thompson's NFAs and subsets.

    regex IR -> lowering            -> hash-consed expressions over bytes
             -> byte_expressions    numbers them, similar ones once
             -> construct           derivatives lazily: states as far as a text is read, or all

No stage of the compiler runs this construction. It needs no NFA, takes intersections and
complements as they are and can be walked without being built, which a lexer built while a text is
read would use; today it is the oracle of the other construction, and that one its own: both must
give the same minimal automaton.
"""
