"""Grammars as requests bring them, with texts of each."""
