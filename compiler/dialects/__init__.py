"""From a grammar's text to its tree.

    text -> parse (Lark's LALR tables) -> builder (tree nodes with spans) -> Grammar

A dialect is one ``.lark`` file, one builder and one row of ``DIALECTS`` (``table``). The loop over
Lark's tables calls the builder, so no other tree is made and nothing recurses over depth.
``parse`` goes on after what it did not expect; ``builder``, ``characters`` and ``regex`` read what
is inside quotes, brackets and slashes.
"""

from .table import (
    DIALECTS,
    EBNF,
    EXTENDED,
    JSON_SCHEMA,
    PLAIN_REGEX,
    STRUCTURAL_TAG,
    TOOLS,
    Dialect,
    dialect_of,
    read_grammar,
)

__all__ = [
    "DIALECTS",
    "EBNF",
    "EXTENDED",
    "JSON_SCHEMA",
    "PLAIN_REGEX",
    "STRUCTURAL_TAG",
    "TOOLS",
    "Dialect",
    "dialect_of",
    "read_grammar",
]
