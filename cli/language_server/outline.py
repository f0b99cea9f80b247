"""What an editor lists, colours and offers: symbols, semantic tokens and names to write."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .jobs import Stop
from .texts import CASES, Document
from .workspace import Workspace

if TYPE_CHECKING:
    from constrain.compiler.diagnostics import Span
    from constrain.compiler.dialects.builder import Token
    from constrain.compiler.dialects.names import Definition

# The types of semantic tokens and their one modifier, as the protocol names them.
TYPES = ("comment", "string", "regexp", "keyword", "number", "operator", "function", "type")
MODIFIERS = ("definition",)

_KINDS = {
    **dict.fromkeys(("STRING", "TEXT"), "string"),
    **dict.fromkeys(("REGEX", "CLASS", "CODE", "TOKEN", "DOT", "SPECIAL", "PROSE"), "regexp"),
    **dict.fromkeys(("NUMBER", "INTEGER", "COUNT", "TIMES", "PRIORITY", "REPEAT"), "number"),
}
_KEYWORD = re.compile(r"%\w+|@\w+|\w+!|[A-Za-z]\w*\(?")
_COMMENT = re.compile(r"\(\*|/\*|//|#|;|--")


@dataclass(frozen=True)
class Coloured:
    """A part of a line, its type and whether it is a definition."""

    start: int
    end: int
    type: str
    defines: bool = False


def symbols_of(document: Document, workspace: Workspace, stop: Stop) -> "Sequence[Definition]":
    """The rules of a grammar, the definitions of a schema, or the cases of a file."""
    if document.dialect == CASES:
        from constrain.compiler.dialects.names import Definition
        from constrain.compiler.testing.cases import CaseFileError
        from constrain.compiler.testing.format import parse

        try:
            cases = parse(document.text, document.path).cases
        except CaseFileError:
            return []
        return [Definition(case.name, case.place, case.place) for case in cases]
    return workspace.names(document, stop).definitions


def completions(document: Document, workspace: Workspace, stop: Stop) -> list[str]:
    """The names that may be written: those that the text defines or imports."""
    return workspace.names(document, stop).known


def coloured(document: Document, workspace: Workspace, stop: Stop) -> list[Coloured]:
    """The tokens of a grammar, comments between them, in the order of the text; none of several
    lines."""
    names = workspace.names(document, stop)
    defined = {each.span.start for each in names.definitions}
    named = {*(each.span for each in names.definitions), *(each.span for each in names.uses)}
    named |= {span for each in names.imports for span in (each.span, each.alias_span)}
    found, end = list[Coloured](), 0
    for token in names.tokens:
        found += _comments(document, end, token.span.start)
        end = max(end, token.span.end)
        found += _of_token(document, token, named, defined)
    found += _comments(document, end, len(document.text))
    return sorted(found, key=lambda each: each.start)


def _of_token(
    document: Document, token: "Token", named: "set[Span]", defined: set[int]
) -> Iterator[Coloured]:
    inside = [span for span in (token.span, *_parts(token, named)) if span in named]
    if inside:
        span = inside[0]
        kind = "type" if document.text[span.start : span.end].isupper() else "function"
        yield Coloured(span.start, span.end, kind, span.start in defined)
        return
    kind = _KINDS.get(token.type) or ("keyword" if _KEYWORD.fullmatch(token) else "operator")
    if token.strip():
        for start, end in document.lines(token.span.start, token.span.end):
            yield Coloured(start, end, kind)


def _parts(token: "Token", named: "set[Span]") -> "Iterator[Span]":
    """Names inside of a token, as that of a head with what defines after it."""
    start, end = token.span
    if token.type in ("HEAD", "PATH"):
        yield from (span for span in named if start <= span.start and span.end <= end)


def _comments(document: Document, start: int, end: int) -> Iterator[Coloured]:
    """The lines of comments between two tokens; what could not be read there is none."""
    gap = document.text[start:end]
    if _COMMENT.match(gap.lstrip()):
        for first, last in document.lines(start + len(gap) - len(gap.lstrip()), end):
            text = document.text[first:last]
            first += len(text) - len(text.lstrip())
            if text.strip():
                yield Coloured(first, first + len(text.strip()), "comment")
