"""What is compiled of a grammar for Earley's recogniser; README.md has the theory and the costs.

tables          normal form without ε -> productions, and what each terminal matches; the
                terminals' minimal DFAs, stacked
union_lexer     the terminals' DFAs -> one DFA, for drawings
"""
