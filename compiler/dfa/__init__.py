"""Mask rows of regular grammars: the packed set of allowed tokens for every state.

    token_overlaps   byte DFA and named tokens -> a byte DFA that each token reads in one way
    precompute       byte DFA and token trie, or token DFA -> one row a state, equal ones once

``constrain.artifacts.dfa`` looks the rows up, and computes them lazily where they would make the
file too large.
"""
