"""Texts in normal form, as a DFA over bytes that is followed while decoding."""
