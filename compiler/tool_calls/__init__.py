"""From a list of tools to a grammar of calls of them.

    text -> read (tools, which may be called, how calls are written) -> write (rules)

Arguments are valid by the tool's JSON Schema; all schemas become rules of one grammar
(``schema.convert.grammar_around``). ``README.md`` has the forms and the styles. What reads
schemas loads when a list is read.
"""

from typing import TYPE_CHECKING

from .styles import STYLES, Style

if TYPE_CHECKING:
    from ..diagnostics import Source
    from ..grammar.tree import Grammar
    from ..limits import Limits
    from ..schema import SchemaOptions

__all__ = ["STYLES", "Style", "tools_grammar"]


def tools_grammar(
    source: "Source", options: "SchemaOptions | None" = None, limits: "Limits | None" = None
) -> "Grammar":
    """The grammar of what a model may write that has tools.

    Raises ``DialectError`` for a text that is no JSON, ``CheckError`` for what is no list of tools
    or has a schema without a grammar, ``LimitError``.
    """
    from ..limits import Limits
    from ..schema import SchemaOptions
    from .write import grammar_of

    return grammar_of(source, options or SchemaOptions(), (limits or Limits()).started())
