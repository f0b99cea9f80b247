"""A grammar as its author wrote it.

tree (what every dialect parses to)  ->  check (does it make a grammar?)
                                     ->  weave_ignored (the same language, nothing ignored)
"""
