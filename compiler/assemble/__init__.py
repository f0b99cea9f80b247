"""Mask rows: the packed set of allowed tokens for every state of an automaton.

``token_rows`` unpacks them from the token DFA, ``byte_rows`` walks the token trie through
the byte DFA. Equal rows are stored once. ``overlaps`` prepares a byte DFA for tokens that are
texts and token terminals in one place.
"""
