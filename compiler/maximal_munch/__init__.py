"""Grammars with a lexer: lexemes, their automata, masks before a text is read."""
