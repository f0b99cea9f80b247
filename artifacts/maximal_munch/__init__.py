"""Grammars with a lexer that takes the longest match: lexemes, parser heads, masks."""
