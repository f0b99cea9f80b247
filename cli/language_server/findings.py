"""What is wrong in a document, at its places: what `check` says of a grammar, a schema or a list of
tools, and `test` of a case file."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from constrain.artifacts.errors import ConstrainError

from ..commands.check import _AddedTokens, _of_path
from .cases import results_of
from .jobs import Stop
from .texts import CASES, Document
from .workspace import Workspace

if TYPE_CHECKING:
    from constrain.compiler.diagnostics import Diagnostic, Fix

    from ..report import Item


@dataclass(frozen=True)
class Found:
    """A finding from ``start`` to ``end``. ``level``: error, warning or note; ``lint``: its name,
    or ``error``. ``fix``: what mends it, if that is known."""

    start: int
    end: int
    level: str
    lint: str
    message: str
    help: str
    fix: "Fix | None" = None


def findings_of(
    document: Document,
    workspace: Workspace,
    stop: Stop,
    told: Callable[[list[Found]], None] | None = None,
) -> list[Found]:
    """All findings, in the order of the text. ``told``: hears of the errors of a grammar that can
    be read, none among them, while the lints are at work."""
    from constrain.compiler.lnf.remembered import remembering

    if document.dialect is None:
        return []
    try:
        given = workspace.given(document, stop)
    except (ConstrainError, OSError) as error:
        # Of its project file, which is no part of the text.
        return [Found(0, 0, "error", "error", str(error), "")]
    if document.dialect == CASES:
        return [_of_diagnostic(each, document) for each in _wrong_cases(document, workspace, stop)]

    def tell(items: "list[Item]") -> None:
        if told is not None:
            told([_of_item(item, document) for item in items])

    with remembering(workspace.memory):
        items, _ = _of_path(document.path, given, _AddedTokens(), told=tell)
    return [_of_item(item, document) for item in items]


def _of_item(item: "Item", document: Document) -> Found:
    start = document.named(item.line, item.column)
    end = max(start, document.named(item.end_line, item.end_column))
    return Found(start, end, item.level, item.lint, item.message, item.help, item.fix)


def _of_diagnostic(found: "Diagnostic", document: Document) -> Found:
    start, end = found.span or (0, 0)
    return Found(
        start, min(end, len(document.text)), "error", "error", found.message, found.help or ""
    )


def _wrong_cases(document: Document, workspace: Workspace, stop: Stop) -> "list[Diagnostic]":
    """What is wrong with a file of cases, and with its grammar where that cannot be read."""
    report = results_of(document, workspace, stop)
    found = [
        problem.found for result in report.results if result.code for problem in result.problems
    ]
    return [*found, *report.errors]
