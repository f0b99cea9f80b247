"""Grammars as their authors wrote them: the tree that every dialect parses to.

    tree -> check            every rule that is used is defined, terminals are terminals
    tree -> weave_ignored    ignored text written into the rules
    tree -> tree_text        printed, one node a line

Each node carries the span of its text in the source, for messages and for origins.
"""
