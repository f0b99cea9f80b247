"""From Loup's normal form to the tables of a recogniser that runs while decoding.

tables       productions laid end to end, the terminals' automata stacked
lazy         the same automata built while they are used
plain        the textbook's recogniser, the oracle
"""
