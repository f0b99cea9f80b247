"""Canonical masks of grammars that name tokens, by sentinels: bytes that no text has, one for each
terminal (``constrain.artifacts.token_terminals``).

    tokenizer_tables    a tokenizer's tables -> the same with a token for each sentinel
    request             what an artifact is made for, with those tokens

A text ends before a sentinel, and another one begins after it.
"""
