"""Suggested members do cover, on grammars that people write."""

from pathlib import Path

import pytest

from constrain.compiler.choose import engine_of
from constrain.compiler.coverage.coverage import Coverage
from constrain.compiler.coverage.items import REPETITION
from constrain.compiler.coverage.report import report_of
from constrain.compiler.dialects import dialect_of
from constrain.compiler.explain.explainer import explainer_of_grammar
from constrain.compiler.explain.report import Status
from constrain.compiler.frontend import read_checked
from constrain.compiler.limits import Limits
from constrain.compiler.options import CompileOptions

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted(
    path
    for folder in (ROOT / "examples", ROOT / "tests" / "testing" / "prepared")
    for path in folder.rglob("*")
    if path.is_file() and dialect_of(path.name) and path.parent.name != "drawings"
)


def coverage_of(path: Path) -> tuple[Coverage, CompileOptions]:
    """Of a grammar in a file, and how it is read."""
    options = CompileOptions(dialect=dialect_of(path.name))
    grammar = read_checked(path.read_text(encoding="utf-8"), options, path.name)
    over_lexemes = engine_of(grammar, options).semantics == "maximal-munch"
    return Coverage(grammar, Limits().started(), over_lexemes=over_lexemes), options


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
def test_suggested_members_are_members_and_cover_all(path: Path) -> None:
    """Each item of the examples has a member, which the engine accepts and which covers the item
    when it is counted; together they cover all that members can use."""
    coverage, options = coverage_of(path)
    lines = coverage.lines()
    explainer = explainer_of_grammar(path.read_text(encoding="utf-8"), options, path.name)
    members = dict.fromkeys(line.member for line in lines if not line.is_unreachable)

    assert lines
    assert None not in members
    for member in members:
        assert member is not None
        assert explainer.verdict(member).status is Status.ACCEPTED, member
        assert coverage.add(member)
    assert report_of(coverage).percent == 100.0


@pytest.mark.parametrize("least", range(5))
@pytest.mark.parametrize("most", [None, 1, 2, 3, 5])
def test_repetitions_of_all_bounds_are_covered(least: int, most: int | None) -> None:
    """By members of as few and as many parts as there may be."""
    if most is not None and most < least:
        return
    body = f"root ::= [ab]{{{least},{'' if most is None else most}}}"
    options = CompileOptions(dialect="gbnf")
    coverage = Coverage(read_checked(body, options, "g.gbnf"), Limits().started())
    repeated = [line for line in coverage.lines() if line.item.kind == REPETITION]

    counts = {"0 times": 0, "1 time": 1, "many times": max(least, 2)}
    possible = {case for case, n in counts.items() if least <= n and (most is None or n <= most)}
    # What all members do is nothing to cover.
    chosen = possible if len(possible) > 1 else set()
    assert chosen == {line.item.case for line in repeated if not line.is_unreachable}
    for line in repeated:
        assert line.is_unreachable or len(line.member) == counts[line.item.case]
