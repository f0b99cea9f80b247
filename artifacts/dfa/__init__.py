"""Grammars that are regular: the byte DFA or the token DFA, and a mask row for each state."""
