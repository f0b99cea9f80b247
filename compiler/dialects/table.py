"""The dialects, one row each, and the way from text to tree."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePath

from ..diagnostics import CheckError, Diagnostic, DialectError, Source, Span
from ..grammar.tree import Grammar
from ..limits import Limits
from .builder import Builder
from .kbnf import KbnfBuilder
from .parse import parse
from .regex import RegexFileBuilder


@dataclass(frozen=True, slots=True)
class Dialect:
    """``suffixes``: of the files that are read so without being asked. ``start``: the name
    of the start rule; the first rule if no rule has that name and ``first_is_start``."""

    name: str
    suffixes: tuple[str, ...]
    builder: type[Builder]
    start: str
    first_is_start: bool


DIALECTS: Mapping[str, Dialect] = {
    row.name: row
    for row in (
        Dialect("kbnf", (".ebnf", ".kbnf"), KbnfBuilder, "start", first_is_start=True),
        Dialect("regex", (".regex",), RegexFileBuilder, "start", first_is_start=True),
    )
}


def dialect_of(path: str) -> str | None:
    """The dialect that a file is read as by its suffix; standard input (``-``) is kbnf."""
    if path == "-":
        return "kbnf"
    suffix = PurePath(path).suffix.lower()
    return next((d.name for d in DIALECTS.values() if suffix in d.suffixes), None)


def read_grammar(
    text: str,
    dialect: str,
    *,
    name: str = "<grammar>",
    start: str | None = None,
    limits: Limits | None = None,
) -> Grammar:
    """Parse ``text`` as ``dialect``. ``name`` is what errors call it.

    Raises ``DialectError`` with all that is wrong with the syntax, ``CheckError`` if there is
    no rule or no rule ``start``, ``KeyError`` for an unknown dialect.
    """
    row = DIALECTS[dialect]
    source = Source(text, name, dialect)
    _check_encodable(source)
    rules = parse(row.builder(source, limits or Limits()))
    names = [rule.name for rule in rules]
    if not rules:
        raise CheckError(source, [Diagnostic(f"there is no rule in this {dialect} grammar")])
    if start is not None and start not in names:
        known = ", ".join(sorted(set(names)))
        message = f"there is no rule {start!r} to start from"
        raise CheckError(source, [Diagnostic(message, help=f"the rules are: {known}")])
    default = row.start if row.start in names else names[0]
    return Grammar(source, rules, start or default)


def _check_encodable(source: Source) -> None:
    """Grammars match UTF-8, so a text with lone surrogates is none."""
    try:
        source.text.encode("utf-8")
    except UnicodeEncodeError as error:
        found = Diagnostic(
            "a lone surrogate is no character", Span(error.start, error.end), "write its UTF-8"
        )
        raise DialectError(source, [found]) from None
