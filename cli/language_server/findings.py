"""What is wrong in a document, at its places: what `check` says of a grammar, a schema or a list of
tools, and `test` of a case file."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from constrain.artifacts.errors import ConstrainError

from ..commands.check import _AddedTokens, _of_path
from ..report import Item
from .cases import results_of
from .jobs import Stop
from .texts import CASES, Document
from .workspace import Workspace

if TYPE_CHECKING:
    from constrain.compiler.diagnostics import Diagnostic


def findings_of(
    document: Document,
    workspace: Workspace,
    stop: Stop,
    told: Callable[[list[Item]], None] | None = None,
) -> list[Item]:
    """All findings, in the order of the text. ``told``: hears of the errors of a grammar that can
    be read, none among them, while the lints are at work."""
    from constrain.compiler.diagnostics import Diagnostic, Source
    from constrain.compiler.lnf.remembered import remembering

    if document.dialect is None:
        return []
    source = Source(document.text, document.path, "")
    try:
        given = workspace.given(document, stop)
    except (ConstrainError, OSError) as error:
        # Of its project file, which is no part of the text.
        return [Item(source, "error", "error", Diagnostic(str(error)))]
    if document.dialect == CASES:
        wrong = _wrong_cases(document, workspace, stop)
        return [Item(source, "error", "error", each) for each in wrong]
    with remembering(workspace.memory):
        return _of_path(document.path, given, _AddedTokens(), told=told)[0]


def _wrong_cases(document: Document, workspace: Workspace, stop: Stop) -> "list[Diagnostic]":
    """What is wrong with a file of cases, and with its grammar where that cannot be read."""
    report = results_of(document, workspace, stop)
    found = [
        problem.found for result in report.results if result.code for problem in result.problems
    ]
    return [*found, *report.errors]
