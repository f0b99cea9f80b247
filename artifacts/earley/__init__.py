"""Earley's recogniser with Leo items, and masks by it: any context-free grammar.

    sections earley.*, lexer.*, terminals.* -> check -> tables.EarleyTables, StackedDfas
    tables -> recogniser.Earley (one text, symbol by symbol) -> machine.EarleyMasks (tokens, rows)

The recogniser also explains why a text is or is not a member, for networks, too.
"""
