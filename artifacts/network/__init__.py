"""Recursive transition networks: automata over bytes that call each other, with exact masks."""
