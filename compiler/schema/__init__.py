"""From a JSON Schema to a grammar of its valid instances.

    text -> read (JSON with spans) -> places (drafts, references) -> goals
         -> clauses (a positive and a negative reading of each keyword) -> normal -> rules

Every text of the grammar is a valid instance; ``README.md`` has the theory, and what is left out is
noted by its JSON pointer. What resolves references loads when a schema is read.
"""

from typing import TYPE_CHECKING

from .options import SchemaOptions

if TYPE_CHECKING:
    from ..diagnostics import Source
    from ..grammar.tree import Grammar
    from ..limits import Limits

__all__ = ["SchemaOptions", "schema_grammar"]


def schema_grammar(
    source: "Source",
    options: SchemaOptions | None = None,
    limits: "Limits | None" = None,
    start: str = "#",
) -> "Grammar":
    """The grammar of the instances that are valid by a schema, a subset of them where its ``notes``
    say so. ``start``: a pointer to another schema in the text.

    Raises ``DialectError`` for a text that is no JSON, ``CheckError`` for what is no schema or has
    no grammar, ``LimitError``.
    """
    from .convert import grammar_of

    return grammar_of(source, options or SchemaOptions(), limits, start)
