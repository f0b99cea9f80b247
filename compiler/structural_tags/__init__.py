"""From a structural tag, as servers take it, to a grammar.

    text -> read (JSON with spans) -> fields (each kind has what it must have, and nothing else)
         -> formats (a tree of each kind)  <- free_text (text until a trigger)
                                           <- other_languages (JSON Schema, GBNF, regex)

``README.md`` has the kinds. Every text of the grammar is one by the description; what is not
enforced is refused by its JSON pointer.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..diagnostics import Source
    from ..grammar.tree import Grammar
    from ..limits import Limits
    from ..schema.options import SchemaOptions
    from .other_languages import ReadPart

__all__ = ["as_text", "tag_grammar"]


def as_text(tag: Mapping[str, Any]) -> str:
    """The text of a structural tag that a program has as a dictionary, to be read as the dialect
    ``structural-tag``: one line, keys in their order. Raises ``TypeError`` for what is no JSON,
    ``ValueError`` for NaN and infinities."""
    import json

    return json.dumps(tag, ensure_ascii=False, allow_nan=False)


def tag_grammar(
    source: "Source",
    read_part: "ReadPart",
    *,
    schema: "SchemaOptions | None" = None,
    limits: "Limits | None" = None,
    start: str = "#",
) -> "Grammar":
    """The grammar of a structural tag's text.

    ``read_part``: reads grammars and regexes inside, by the dialect of their source. ``schema``:
    how schemas inside are read, where they do not say it. ``start``: a pointer to a format.

    Raises ``DialectError`` for a text that is no JSON, ``CheckError`` for what is no structural
    tag and for what is not enforced, ``LimitError``.
    """
    from .convert import grammar_of

    return grammar_of(source, read_part, schema, limits, start)
