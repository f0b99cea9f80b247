"""Tokens: vocabularies, sets of them, and the trie of their bytes."""
