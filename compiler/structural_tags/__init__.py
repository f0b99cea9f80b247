"""From a structural tag or a list of tools, as servers take them, to a grammar.

    text -> read (JSON with spans) -> fields (each kind has what it must have, and nothing else)
         -> formats (a tree of each kind)  <- free_text (text until a trigger)
                                           <- other_languages (JSON Schema, GBNF, regex)

    text -> tools (which may be called, how calls are written: call_styles) -> calls (rules)

``README.md`` has the kinds, ``TOOLS.md`` the forms and the styles. Every text of the grammar is one
by the description; what is not enforced is refused by its JSON pointer. Arguments of calls are
valid by the tool's JSON Schema; all schemas become rules of one grammar
(``schema.convert.grammar_around``). What reads schemas loads when a text is read.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from .call_styles import STYLES, Style

if TYPE_CHECKING:
    from ..diagnostics import Source
    from ..grammar.tree import Grammar
    from ..limits import Limits
    from ..schema import SchemaOptions
    from .other_languages import ReadPart

__all__ = ["STYLES", "Style", "as_text", "tag_grammar", "tools_grammar"]


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


def tools_grammar(
    source: "Source", options: "SchemaOptions | None" = None, limits: "Limits | None" = None
) -> "Grammar":
    """The grammar of what a model may write that has tools.

    Raises ``DialectError`` for a text that is no JSON, ``CheckError`` for what is no list of tools
    or has a schema without a grammar, ``LimitError``.
    """
    from ..limits import Limits
    from ..schema import SchemaOptions
    from .calls import grammar_of

    return grammar_of(source, options or SchemaOptions(), (limits or Limits()).started())
