"""What text books, specifications and projects call EBNF or BNF without keeping to a standard.

pieces        a text under given conventions: names, strings, brackets, and what is between
conventions   which of them the text keeps, or what of it can be read in two ways
plain         the tokens that a parser reads, and its builder of trees
iso14977      that of the standard that there is
"""
