"""The recorded cases: what the dialects accept, and what they say of what they refuse.

A case is a folder of ``cases`` (see ``support.corpus.recorded``); ``pytest --update`` writes its
``expected_error.txt`` or ``expected_findings.txt``. What tokens the engines allow of the same
languages is a matter of ``tests/corpus``.
"""

# Tests here say `expected == actual`.
# ruff: noqa: SIM300

from pathlib import Path
from typing import TypeAlias

import pytest
from support import built
from support.corpus.recorded import ERRORS, FINDINGS, FOLDERS, Language, grammar_of, recorded

from constrain.cli.app import run
from constrain.compiler.automata.dfa import DEAD
from constrain.compiler.diagnostics import GrammarError
from constrain.compiler.dialects import DIALECTS, dialect_of
from constrain.compiler.frontend import Parser
from constrain.compiler.lints import LINTS
from constrain.compiler.pipeline import build_engine

pytestmark = pytest.mark.quick

# Those that a file's suffix names.
NAMED = sorted({language.dialect for language in recorded()})

CaptureBytes: TypeAlias = pytest.CaptureFixture[bytes]


def wrong_texts(language: Language) -> list[tuple[str, bytes]]:
    """The texts that a recogniser takes for members, or not, against what the case says."""
    found = []
    if language.automaton is not None:
        nfa, dfa = language.automaton.nfa, language.automaton.dfa
        prefixes = [text[:end] for text in language.accepted for end in range(len(text) + 1)]
        found += [("prefix", text) for text in prefixes if dfa.run(text) == DEAD]
        recognisers = {"NFA": nfa.accepts, "DFA": dfa.accepts}
    else:
        parser = build_engine(language.text, dialect=language.dialect, engine="earley")
        assert isinstance(parser, Parser)
        earley = parser.recogniser()

        def accepts_by_items(text: bytes) -> bool:
            earley.truncate(0)
            return earley.feed(text) == len(text) and earley.is_accepting

        recognisers = {"Earley": accepts_by_items}
    for name, accepts in recognisers.items():
        found += [(name, text) for text in language.accepted if not accepts(text)]
        found += [(name, text) for text in language.rejected if accepts(text)]
    return found


@pytest.mark.parametrize("dialect", NAMED)
def test_members_are_accepted_and_others_are_not(dialect: str) -> None:
    """The NFA and the minimal DFA hold exactly the texts that the cases say, and Earley's
    recogniser where a grammar nests."""
    cases = [language for language in recorded() if language.dialect == dialect]
    wrong = {language.name: wrong_texts(language) for language in cases}

    assert {} == {name: texts for name, texts in wrong.items() if texts}
    assert [] == [case.name for case in cases if not (case.accepted and case.rejected)]
    assert len(cases) > 15


@pytest.mark.parametrize("dialect", NAMED)
def test_errors_are_as_recorded(dialect: str, update: bool) -> None:
    """Each mistake is described the way ``expected_error.txt`` has it."""
    cases = [case for case in ERRORS if dialect_of(grammar_of(case).name) == dialect]
    wrong = {}
    for case in cases:
        try:
            built(grammar_of(case))
            found = ""
        except GrammarError as error:
            found = f"{error}\n"
            # Something is underlined, in an editor, too, but where a text ends.
            empty = [d for d in error.diagnostics if d.span and d.span.start == d.span.end]
            assert all(each.message.startswith("unexpected end") for each in empty), case.name
        golden = case / "expected_error.txt"
        if update:
            golden.write_text(found, encoding="utf-8", newline="")
        if golden.read_text(encoding="utf-8") != found or not found:
            wrong[case.name] = found

    assert {} == wrong
    assert len(cases) > 30


def test_findings_are_as_recorded(
    update: bool, monkeypatch: pytest.MonkeyPatch, capsysbinary: CaptureBytes
) -> None:
    """What is probably not meant is described the way ``expected_findings.txt`` has it; the
    case is named after the lint, which ``--allow`` silences."""

    def printed(case: Path, *arguments: str) -> str:
        given = ["--tokenizer", "tokenizer.json"] * Path("tokenizer.json").exists()
        code = run(["check", grammar_of(case).name, *given, *arguments])
        assert code in (1, 2) or arguments, case.name
        return capsysbinary.readouterr().out.decode()

    wrong = {}
    for case in FINDINGS:
        monkeypatch.chdir(case)
        (lint,) = [lint for lint in LINTS if case.name.startswith(f"lint-{lint}")]
        found, golden = printed(case), case / "expected_findings.txt"
        if update:
            golden.write_text(found, encoding="utf-8", newline="")
        if golden.read_text(encoding="utf-8") != found or f"[{lint}]" not in found:
            wrong[case.name] = found
        elif f"[{lint}]" in (allowed := printed(case, "--allow", lint)):
            wrong[case.name] = allowed

    assert {} == wrong


def test_every_lint_has_a_case() -> None:
    """No lint is without one."""
    assert [] == [n for n in LINTS if not any(c.name.startswith(f"lint-{n}") for c in FINDINGS)]


def test_cases_are_whole() -> None:
    """Every folder has a grammar and either two lists of texts, an error or findings."""
    wrong = []
    for case in FOLDERS:
        texts = {"accept.txt", "reject.txt"}
        if case in ERRORS + FINDINGS:
            texts = {"expected_error.txt" if case in ERRORS else "expected_findings.txt"}
        grammar = grammar_of(case).name
        held = {path.name for path in case.iterdir()}
        if case in FINDINGS:
            held -= {"tokenizer.json"}  # A lint may be about one.
        if held != texts | {grammar} or dialect_of(grammar) not in DIALECTS:
            wrong.append(case.name)

    assert [] == wrong


def test_errors_differ() -> None:
    """No two cases record the same error."""
    texts = [(case / "expected_error.txt").read_text(encoding="utf-8") for case in ERRORS]

    assert len(ERRORS) == len(set(texts))
