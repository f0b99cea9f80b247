"""Regular grammars: the byte DFA, the token DFA of DirectMerge, and a mask row for each state.

    sections dfa.*, tokens.* -> check -> byte_dfa.ByteDfa, token_dfa.TokenDfa (tables)
    sections rows, row_of, tokens.allowed, dfa.live -> mask_rows (stored, unpacked or walked)
    both -> machine.DfaMachine, which a matcher steps

``stacked_dfas`` has the DFAs of several terminals in one table, for Earley and for lexers.
"""
