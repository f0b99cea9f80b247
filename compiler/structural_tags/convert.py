"""The door of the room: the grammar of a structural tag's text."""

from ..diagnostics import CheckError, Diagnostic, Source
from ..grammar.tree import Grammar, distinct_tokens
from ..limits import Limits
from ..schema.options import SchemaOptions
from ..schema.read import read_json
from .fields import misshapen
from .formats import Formats
from .other_languages import ReadPart

_TOO_DEEP = "formats nest too deep to be read"


def tag_grammar(
    source: Source,
    read_part: ReadPart,
    schema: SchemaOptions | None,
    limits: Limits,
    start: str,
) -> Grammar:
    """The grammar of a structural tag's text.

    ``read_part``: reads grammars and regexes inside, by the dialect of their source. ``schema``:
    how schemas inside are read, where they do not say it. ``start``: a pointer to a format.
    Raises ``DialectError`` for a text that is no JSON, ``CheckError`` for what is no structural
    tag and for what is not enforced, ``LimitError``.
    """
    limits = limits.started()
    document = read_json(source, limits)
    wrong = misshapen(document)
    if wrong:
        raise CheckError(source, [each.placed(document.spans) for each in wrong])
    formats = Formats(document, schema or SchemaOptions(), limits, read_part)
    try:
        formats.read()
    except RecursionError:
        raise CheckError(source, [Diagnostic(_TOO_DEEP, document.spans[""])]) from None
    if formats.wrong:
        raise CheckError(source, formats.wrong)
    rules = tuple(formats.rules)
    if all(rule.name != start for rule in rules):
        named = [rule.name for rule in rules if " " not in rule.name]
        listed = ", ".join(named[:8]) + ", …" * (len(named) > 8)
        message = f"there is no rule {start!r} to start from"
        raise CheckError(source, [Diagnostic(message, help=f"some rules are: {listed}")])
    return Grammar(
        source,
        rules,
        start,
        distinct_tokens(rules),
        notes=tuple(formats.notes),
        embedded=tuple(formats.embedded),
    )
