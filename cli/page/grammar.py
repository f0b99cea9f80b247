"""The grammar of a page: its text, the places of its rules, its lints, diagrams of the rules, and
what the texts of test cases do not cover."""

from bisect import bisect_left
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from constrain.artifacts import Artifact
from constrain.artifacts.container.manifest import MAXIMAL_MUNCH
from constrain.artifacts.errors import ConstrainError

from ..quoting import quoted
from .railroad import railroads

if TYPE_CHECKING:
    from constrain.compiler.grammar.tree import Grammar

# Characters of a grammar that a page shows, and rules that it draws.
_MOST_TEXT, _MOST_RULES = 200_000, 120

# Places that tests do not cover of which a page speaks.
_MOST_UNCOVERED = 50


def grammar_data(artifact: Artifact, name: str, members: Sequence[bytes] = ()) -> dict[str, Any]:
    """``text``, ``rules`` and ``findings`` with their places in UTF-16 units, as browsers count,
    and ``railroads``. ``missing`` says why there is no text. Findings are lints, and what these
    ``members`` do not cover, if there are any."""
    m = artifact.manifest
    empty: dict[str, Any] = {"text": "", "rules": [], "findings": [], "railroads": []}
    if m.source is None:
        return {**empty, "missing": "the grammar's text was stripped from the artifact"}
    text = m.source[:_MOST_TEXT]
    found = {**empty, "text": text, "cut": len(m.source) - len(text)}
    try:
        grammar, findings = _read(artifact, name)
        if members:
            findings += _uncovered(grammar, artifact.manifest.meaning, members)
    except ConstrainError as error:
        # An artifact of a grammar whose imports are not here, for one.
        return {**found, "missing": f"no rules are shown: {error}"}
    wide = [place for place, char in enumerate(text) if char > "\uffff"]

    def place(offset: int) -> int:
        offset = min(offset, len(text))
        return offset + bisect_left(wide, offset)

    found["rules"] = [
        {"name": r.name, "start": place(r.span.start), "end": place(r.span.end)}
        for r in grammar.rules
        if r.span.start < len(text)
    ]
    found["findings"] = [
        {**each, "start": place(each["start"]), "end": place(each["end"])} for each in findings
    ]
    found["railroads"] = railroads(grammar, _MOST_RULES)
    return found


def _read(artifact: Artifact, name: str) -> "tuple[Grammar, list[dict[str, Any]]]":
    """The checked tree, and what lints find in it."""
    from constrain.compiler.frontend import read_checked
    from constrain.compiler.lints import NOTES, lint
    from constrain.compiler.options import CompileOptions

    m = artifact.manifest
    assert m.source is not None
    define = tuple(m.define.items())
    options = CompileOptions(dialect=m.dialect, start=m.start or None, define=define)
    grammar = read_checked(m.source, options, name)
    findings: list[dict[str, Any]] = []
    for each in lint(grammar):
        findings.append(
            {
                "start": each.span.start,
                "end": each.span.end,
                "level": "note" if each.lint in NOTES else "warning",
                "lint": each.lint,
                "message": each.message,
                "help": each.help,
            }
        )
    return grammar, findings


def _uncovered(grammar: "Grammar", meaning: str, members: Sequence[bytes]) -> list[dict[str, Any]]:
    """The rules, alternatives, repetitions and keys that no member uses, each with a shortest
    member that does."""
    from constrain.compiler.coverage.coverage import Coverage
    from constrain.compiler.coverage.items import EDGE

    coverage = Coverage(grammar, over_lexemes=meaning == MAXIMAL_MUNCH)
    for member in members:
        coverage.add(member)
    found: list[dict[str, Any]] = []
    for line in coverage.lines():
        if line.hits or line.is_unreachable or line.item.kind == EDGE:
            continue
        found.append(
            {
                "start": line.item.span.start,
                "end": line.item.span.end,
                "level": "uncovered",
                "lint": "coverage",
                "message": f"no test case uses {line.item.said}",
                "help": "" if line.member is None else f"{quoted(line.member)} would",
            }
        )
    return found[:_MOST_UNCOVERED]
