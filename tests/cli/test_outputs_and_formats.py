"""Where commands write, how much of it on a terminal, and options that more of them take."""

# Tests here say `expected == actual`.
# ruff: noqa: SIM300

import json
import sys
from pathlib import Path

import pytest
from support.cli import DATE, Cli

NESTING = 'root ::= "(" root ")" | "a"'


@pytest.fixture(autouse=True)
def grammar(cli: Cli) -> None:
    """A grammar that nests, in the folder that the command line runs in."""
    Path("g.gbnf").write_text(NESTING, encoding="utf-8")


@pytest.mark.parametrize(
    "command",
    [
        ("show", DATE, "--stage", "dfa"),
        ("convert", DATE, "--to", "gbnf"),
        ("sample", DATE, "-n", "9"),
        ("sample", "g.gbnf", "--all", "--max-bytes", "9", "--format", "raw0"),
    ],
)
def test_show_convert_and_sample_write_to_a_file(cli: Cli, command: tuple[str, ...]) -> None:
    """With -o what they print otherwise; - is standard output, the subject is never overwritten."""
    plain = cli(*command)
    assert (0, b"") == (plain.code, cli(*command, "-o", "out").out)
    assert plain.out == Path("out").read_bytes()
    assert plain.out == cli(*command, "--output", "-").out
    subject = Path("copy.ebnf")
    subject.write_bytes(Path(command[1]).read_bytes())
    refused = cli(command[0], str(subject), *command[2:], "-d", "kbnf", "-o", "copy.ebnf")
    if command[1] == DATE:
        assert 2 == refused.code
        assert "would overwrite" in refused.err
    assert Path(command[1]).read_bytes() == subject.read_bytes()


def test_a_mask_on_a_terminal_shows_the_first_50(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """And how many more there are; --all lists them, as a pipe does."""
    Path("any.gbnf").write_text("root ::= [a-z]+", encoding="utf-8")
    whole = cli("mask", "any.gbnf").out.splitlines()
    assert len(whole) > 200
    monkeypatch.setattr(
        "constrain.cli.commands.mask.is_terminal", lambda stream: stream is sys.stdout
    )
    shown = cli("mask", "any.gbnf")
    assert whole[:50] == shown.out.splitlines()
    assert f"… and {len(whole) - 50:,} more; --all lists them" in shown.err
    assert whole == cli("mask", "any.gbnf", "--all").out.splitlines()
    few = cli("mask", DATE, "--prefix", "2024-1")
    assert "more; --all" not in few.err
    assert 3 == len(few.out.splitlines())


@pytest.mark.parametrize(
    ("text", "status", "column", "byte"),
    [("2024-10-10", "accepted", 11, 10), ("2024-13", "rejected", 7, 6), ("20", "incomplete", 3, 2)],
)
def test_explain_writes_json(cli: Cli, text: str, status: str, column: int, byte: int) -> None:
    """One object with all that the line says, of a grammar and of one that nests."""
    found = cli("explain", DATE, "--format", "json", stdin=text.encode())
    verdict = json.loads(found.out)
    assert (1, "<stdin>", status) == tuple(verdict[key] for key in ("schema", "file", "status"))
    assert (1, column, byte) == (verdict["line"], verdict["column"], verdict["byte"])
    assert (0 if status == "accepted" else 1) == found.code
    if status == "rejected":
        assert (["month"], [[48, 50]], False) == tuple(
            verdict[key] for key in ("rules", "expected", "may_end")
        )
    nested = json.loads(cli("explain", "g.gbnf", "-f", "json", stdin=b"(").out)
    assert ("incomplete", ["root"]) == (nested["status"], nested["path"])
    assert ['"("', '"a"'] == sorted(nested["terminals"])


def test_mask_and_explain_take_max_depth(cli: Cli) -> None:
    """Members that nest deeper are none of the grammar's."""
    deeper = cli("mask", "g.gbnf", "--prefix", "((", "--format", "json")
    bounded = cli("mask", "g.gbnf", "--prefix", "((", "--max-depth", "1", "--format", "json")
    assert (0, 1) == (deeper.code, bounded.code)
    assert 0 == cli("explain", "g.gbnf", stdin=b"((a))").code
    assert 1 == cli("explain", "g.gbnf", "--max-depth", "1", stdin=b"((a))").code
    regular = cli("explain", DATE, "--max-depth", "1", stdin=b"2024-10-10")
    assert "note: --max-depth 1 leaves out nothing" in regular.err


@pytest.mark.parametrize(
    ("name", "given", "noted"),
    [
        ("x.gbnf", "kbnf", "its suffix means gbnf"),
        ("x.lark", "gbnf", "its suffix means lark"),
        ("x.ebnf", "w3c", None),
        ("x.gbnf", "gbnf", None),
        ("x.regex", "regex-extended", None),
        ("x.txt", "gbnf", None),
    ],
)
def test_a_dialect_against_the_suffix_is_told_what_the_suffix_means(
    cli: Cli, name: str, given: str, noted: str | None
) -> None:
    """Whether the text can be read so or not."""
    Path(name).write_text('start ::= "a";', encoding="utf-8")
    found = cli("show", name, "--dialect", given)
    assert (noted is not None) == ("its suffix means" in found.err)
    if noted:
        assert f"note: {name} is read as {given}, as --dialect says; {noted}" in found.err
