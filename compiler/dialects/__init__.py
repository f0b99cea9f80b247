"""From a grammar's text to its tree.

A dialect is one ``.lark`` file and one row of ``DIALECTS``. Lark's LALR parser calls the
builder while it parses, so no tree of Lark's is kept and nothing recurses over depth:

    text -> lark (tokens, LALR) -> builder (tree nodes with spans) -> Grammar

``parse`` runs the parser and says in words what it did not expect; ``escapes`` undoes the
escapes of quoted text.
"""

from .table import DIALECTS, EXTENDED, Dialect, dialect_of, read_grammar

__all__ = ["DIALECTS", "EXTENDED", "Dialect", "dialect_of", "read_grammar"]
