"""``constrain explain`` and ``constrain show``: verdicts, and every stage as text."""

import json
from pathlib import Path

import pytest
from support import ROOT
from support.automata import build_automaton

from constrain.cli.app import run
from constrain.compiler.automata.dump import class_text
from constrain.compiler.explain.machines import DfaMachine
from constrain.compiler.explain.report import Status, explain

HERE = ROOT / "tests"
EXAMPLES = HERE.parent / "examples"


def verdict(grammar: str, text: bytes, dialect: str = "kbnf"):  # type: ignore[no-untyped-def]
    """The verdict on a text."""
    automaton = build_automaton(grammar, dialect=dialect)
    rules = [[automaton.origins[o][0] for o in sorted(s)] for s in automaton.dfa.origins]
    return explain(DfaMachine(automaton.dfa.tables()), rules.__getitem__, text)


def test_accepted() -> None:
    """A member is accepted."""
    assert verdict('a ::= "x";', b"x").status is Status.ACCEPTED


def test_incomplete_is_told_from_rejected() -> None:
    """A prefix of a member is incomplete: nothing in it is wrong."""
    found = verdict('a ::= "xy";', b"x")
    assert found.status is Status.INCOMPLETE
    assert found.expected == ((ord("y"), ord("y")),)
    assert not found.may_end


def test_rejected_with_byte_line_and_column() -> None:
    """The place is where no member goes on; columns count characters, offsets bytes."""
    found = verdict('a ::= "é\\n" b; b ::= "ßx" | "ßy";', "é\nßz".encode())
    assert found.status is Status.REJECTED
    assert (found.offset, found.line, found.column) == (5, 2, 2)
    assert found.rules == ("b",)
    assert found.expected == ((ord("x"), ord("y")),)


def test_text_behind_the_end() -> None:
    """Where the text could have ended, the end was expected; a last line break is named."""
    found = verdict('a ::= "x";', b"x\n")
    assert found.status is Status.REJECTED
    assert found.may_end
    assert found.expected == ()
    assert found.but_for_line_break
    assert not verdict('a ::= "x";', b"xx").but_for_line_break


@pytest.mark.parametrize(
    ("ranges", "text"),
    [
        ([(45, 45)], '"-"'),
        ([(34, 34)], r'"\""'),
        ([(97, 102), (48, 57)], "[0-9a-f]"),
        ([(9, 10), (32, 32)], r"[\t\n ]"),
        ([(93, 94)], r"[\]\^]"),
        ([(0, 255)], r"[\x00-\xFF]"),
    ],
)
def test_byte_classes(ranges: list[tuple[int, int]], text: str) -> None:
    """One byte is quoted, several are a class."""
    assert class_text(ranges) == text


@pytest.mark.parametrize("stage", ["tree", "lnf", "nfa", "dfa", "tokens"])
def test_stages_as_text(
    stage: str, update: bool, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    """Every stage of the date example prints as recorded."""
    assert run(["show", str(EXAMPLES / "date.ebnf"), "--stage", stage]) == 0
    printed = capsysbinary.readouterr().out
    path = HERE / "snapshots" / f"date.{stage}.txt"
    if update:
        path.write_bytes(printed)
    assert printed == path.read_bytes()


@pytest.mark.parametrize(
    ("text", "code", "said"),
    [
        (b"2024-02-29", 0, "accepted"),
        (b"2024-13-01", 1, ':1:7: rejected at "3" (byte 6) in date > month; expected #"[0-2]"'),
        (b"2024-", 1, ':1:6: incomplete in date > month; expected "0" or "1"'),
        (b"", 1, ':1:1: incomplete in date > year; expected #"[0-9]{4}"'),
        (b"2024-02-29\n", 1, "accepted without the line break"),
    ],
)
def test_explain_command(
    tmp_path: Path,
    capsysbinary: pytest.CaptureFixture[bytes],
    text: bytes,
    code: int,
    said: str,
) -> None:
    """The verdict is one line on stdout, and the repair another; the exit code says yes or no.
    Artifacts answer alike."""
    file = tmp_path / "text.txt"
    file.write_bytes(text)
    artifact = tmp_path / "date.cst"
    assert run(["compile", str(EXAMPLES / "date.ebnf"), "-o", str(artifact)]) == 0
    for subject in (EXAMPLES / "date.ebnf", artifact):
        capsysbinary.readouterr()
        assert run(["explain", str(subject), str(file)]) == code
        printed = capsysbinary.readouterr().out.decode()
        assert printed.startswith(f"{file}:")
        assert said in printed
        assert all(line.startswith("  = help: ") for line in printed.splitlines()[1:])


def test_below_sentences_stands_only_what_is_to_be_added(
    tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    """They name the repair of what is wrong, which the nearest by characters would contradict."""
    schema, file = tmp_path / "s.schema.json", tmp_path / "text.json"
    items = {"type": "array", "items": {"type": "string"}, "maxItems": 3}
    properties = {"id": {"type": "integer"}, "tags": items}
    schema.write_text(json.dumps({"properties": properties, "type": "object"}))
    for text, helped in (
        ('{"id": 3.0}', b""),
        ('{"tags": ["a","b","c","d"]}', b""),
        ('{"id": 3', b'  = help: write "}" here: {"id": 3}\n'),
    ):
        file.write_text(text)
        assert run(["explain", str(schema), str(file)]) == 1
        assert helped == b"".join(capsysbinary.readouterr().out.splitlines(keepends=True)[1:])


def test_grammar_and_text_cannot_share_stdin(capsys: pytest.CaptureFixture[str]) -> None:
    """Standard input is one of the two."""
    assert run(["explain", "-"]) == 2
    assert "cannot both come from standard input" in capsys.readouterr().err
