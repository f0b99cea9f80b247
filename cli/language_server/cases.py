"""Case files: what became of each case, for the margin of an editor; and texts that are tried."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from constrain.artifacts.errors import ConstrainError

from ..testing import Subjects
from .jobs import Stop
from .texts import Document
from .workspace import Workspace

if TYPE_CHECKING:
    from constrain.compiler.diagnostics import Diagnostic
    from constrain.compiler.testing.runner import Result

# What the margin says of each state.
_SIGNS = {"passed": "✓", "failed": "✗", "error": "✗", "limit": "✗"}


@dataclass(frozen=True)
class Report:
    """``grammar``: the file that cases are about. ``errors``: why there are no more results."""

    grammar: str | None
    results: "tuple[Result, ...]" = ()
    errors: "tuple[Diagnostic, ...]" = ()


@dataclass(frozen=True)
class Lens:
    """A sign at a case: ``title`` and its ``text``, which may be tried; ``start`` of its name."""

    start: int
    title: str
    text: str
    grammar: str | None


def results_of(document: Document, workspace: Workspace, stop: Stop) -> Report:
    """The results of the cases in a document, whose grammar may be open and not saved. Commands
    that cases name are not run."""
    from constrain.compiler.diagnostics import Diagnostic, GrammarError, Span
    from constrain.compiler.testing.cases import CaseFileError
    from constrain.compiler.testing.collect import from_bytes
    from constrain.compiler.testing.runner import Runner

    file = from_bytes(document.text.encode("utf-8", "surrogatepass"), document.path)
    if isinstance(file, CaseFileError):
        return Report(None, errors=file.diagnostics)
    subjects = Subjects(workspace.given(document, stop))
    results, errors, grammar = list["Result"](), list[Diagnostic](), None
    try:
        grammar = subjects.name_of(file)
        for result in Runner(subjects.subject_of).run(file, lambda _: True):
            stop.check()
            results.append(result)
    except (ConstrainError, OSError) as error:
        first = Span(0, len(document.text.partition("\n")[0]))
        if isinstance(error, CaseFileError):
            errors += error.diagnostics
        elif isinstance(error, GrammarError):
            errors.append(Diagnostic(str(error).partition("\n")[0], first))
        else:
            errors.append(Diagnostic(str(error), first))
    return Report(grammar, tuple(results), tuple(errors))


def lenses_of(document: Document, workspace: Workspace, stop: Stop) -> list[Lens]:
    """A sign for each case that was run."""
    report = results_of(document, workspace, stop)
    found = []
    for result in report.results:
        state = result.state.value
        said = result.problems[0].found.message.partition(": ")[2] if result.problems else ""
        title = f"{_SIGNS.get(state, '–')} {state}{': ' * bool(said)}{said}"
        text = result.case.body.decode("utf-8", "replace")
        found.append(Lens(result.case.place.start, title, text, report.grammar))
    return found


def tried(
    document: Document, workspace: Workspace, stop: Stop, text: str, start: str | None
) -> dict[str, object]:
    """What a grammar says of a text, as `explain` does: its status, and a sentence."""
    from dataclasses import replace

    from constrain.compiler.explain.explainer import explainer_of_grammar
    from constrain.compiler.inspection.texts import Text

    from ..commands.explain import said

    given = workspace.given(document, stop)
    given = replace(given, start=start or given.start)
    wanted = given.compile_options(document.path)
    octets = text.encode("utf-8", "replace")
    verdict = explainer_of_grammar(document.text, wanted, document.path).verdict(octets)
    return {
        "status": verdict.status.value,
        "message": said(verdict, Text("text", octets)),
        "byte": verdict.offset,
        "line": verdict.line - 1,
        "column": verdict.column - 1,
    }
