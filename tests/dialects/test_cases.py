"""The recorded cases: what the dialects accept, and what they say of what they refuse.

A case is a folder of ``cases``: a grammar, its suffix that of its dialect, and beside it either
``accept.txt`` and ``reject.txt``, one JSON string a line (a byte that is no UTF-8 as the lone
surrogate that Python's ``surrogateescape`` makes of it), or ``expected_error.txt``, which
``pytest --update`` writes.
"""

# Tests here say `expected == actual`.
# ruff: noqa: SIM300

import json
from pathlib import Path
from typing import TypeAlias

import pytest
from support import ROOT, built

from constrain.cli.app import run
from constrain.compiler.diagnostics import GrammarError
from constrain.compiler.dialects import DIALECTS, dialect_of
from constrain.compiler.lints import LINTS

CASES = ROOT / "tests" / "cases"

ALL = sorted(path for path in CASES.iterdir() if path.is_dir())

ERRORS = [path for path in ALL if path.name.startswith("error-")]

FINDINGS = [path for path in ALL if path.name.startswith("lint-")]

LANGUAGES = [path for path in ALL if path not in ERRORS + FINDINGS]

CaptureBytes: TypeAlias = pytest.CaptureFixture[bytes]


def grammar_of(case: Path) -> Path:
    """The case's one grammar."""
    (path,) = case.glob("grammar.*")
    return path


def strings(path: Path) -> list[bytes]:
    """The JSON strings in a file, one a line, as bytes."""
    lines = path.read_text(encoding="utf-8").split("\n")[:-1]
    return [json.loads(line).encode("utf-8", "surrogateescape") for line in lines]


@pytest.mark.parametrize("case", LANGUAGES, ids=lambda path: path.name)
def test_members_are_accepted_and_others_are_not(case: Path) -> None:
    """The NFA and the minimal DFA hold exactly the texts that the case says."""
    automaton = built(grammar_of(case))
    accepted, rejected = strings(case / "accept.txt"), strings(case / "reject.txt")

    assert accepted
    assert rejected
    for machine in (automaton.nfa, automaton.dfa):
        assert accepted == [text for text in accepted if machine.accepts(text)]
        assert [] == [text for text in rejected if machine.accepts(text)]
    for text in accepted:
        assert all(automaton.dfa.accepts_prefix(text[:end]) for end in range(len(text) + 1))


@pytest.mark.parametrize("case", ERRORS, ids=lambda path: path.name)
def test_errors_are_as_recorded(case: Path, update: bool) -> None:
    """Each mistake is described the way ``expected_error.txt`` has it."""
    with pytest.raises(GrammarError) as found:
        built(grammar_of(case))
    golden = case / "expected_error.txt"
    if update:
        golden.write_text(f"{found.value}\n", encoding="utf-8", newline="")

    assert golden.read_text(encoding="utf-8") == f"{found.value}\n"


@pytest.mark.parametrize("case", FINDINGS, ids=lambda path: path.name)
def test_findings_are_as_recorded(
    case: Path, update: bool, monkeypatch: pytest.MonkeyPatch, capsysbinary: CaptureBytes
) -> None:
    """What is probably not meant is described the way ``expected_findings.txt`` has it; the
    case is named after the lint, which ``--allow`` silences."""
    monkeypatch.chdir(case)
    name = grammar_of(case).name
    assert run(["check", name]) in (1, 2)
    printed = capsysbinary.readouterr().out.decode()
    golden = case / "expected_findings.txt"
    if update:
        golden.write_text(printed, encoding="utf-8", newline="")
    assert golden.read_text(encoding="utf-8") == printed

    (lint,) = [lint for lint in LINTS if case.name.startswith(f"lint-{lint}")]
    assert f"[{lint}]" in printed
    run(["check", name, "--allow", lint])
    assert f"[{lint}]" not in capsysbinary.readouterr().out.decode()


def test_every_lint_has_a_case() -> None:
    """No lint is without one."""
    assert [] == [n for n in LINTS if not any(c.name.startswith(f"lint-{n}") for c in FINDINGS)]


def test_cases_are_whole() -> None:
    """Every folder has a grammar and either two lists of texts, an error or findings."""
    for case in ALL:
        texts = {"accept.txt", "reject.txt"} if case in LANGUAGES else {"expected_error.txt"}
        texts = {"expected_findings.txt"} if case in FINDINGS else texts
        assert texts | {grammar_of(case).name} == {path.name for path in case.iterdir()}
        assert dialect_of(grammar_of(case).name) in DIALECTS


def test_errors_differ() -> None:
    """No two cases record the same error."""
    texts = [(case / "expected_error.txt").read_text(encoding="utf-8") for case in ERRORS]

    assert len(ERRORS) == len(set(texts))
