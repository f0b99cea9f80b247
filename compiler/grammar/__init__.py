"""A grammar as its author wrote it.

tree (what every dialect parses to)  ->  check (does it make a grammar?)
"""
