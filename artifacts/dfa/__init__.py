"""Regular grammars while decoding: a DFA over bytes or over tokens, and a mask for each state.

    byte_dfa        the minimal DFA over bytes, which is a network without calls, too; several
                    tokens run at once (``TokenRuns``)
    token_dfa       the DFA over canonical token sequences that DirectMerge computed, in families
    without_calls   a byte DFA as a network, and the rows of its states, for the machine of networks
    mask_rows       where a state's mask row comes from: stored, or unpacked
    machine         a DFA and its rows as the one object that a matcher steps
    stacked_dfas    complete DFAs of several terminals in one table, for lexers and for Earley

``compiler/assemble/dfa.py`` writes the tables, ``compiler/merge`` computes the token DFA.
"""
