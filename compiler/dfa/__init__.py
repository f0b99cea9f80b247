"""Mask rows of regular grammars: the packed set of allowed tokens for every state.

    byte_rows        byte DFA and token trie -> the rows of all states, by what tokens do to them
    row_table        rows, each once: packed, or a list of ids where that is shorter
    precompute       byte DFA and token trie, or token DFA -> the rows, if the file may hold them

``constrain.artifacts.dfa`` looks the rows up, and computes them lazily where they would make the
file too large.
"""
