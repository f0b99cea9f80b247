"""What the command line says of files and arguments that it cannot use."""

# Tests here say `expected == actual`.
# ruff: noqa: SIM300

import os
import re
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from support.cli import DATE, Cli, content, names

INPUT_ERRORS: list[tuple[str, Sequence[str], str]] = [
    ("no such grammar", ["compile", "no.ebnf"], "no.ebnf: No such file or directory"),
    ("no such subject", ["mask", "no.cst"], "no.cst: No such file or directory"),
    ("a text for a file", ["explain", "g.ebnf", "ab"], "a text itself stands on standard input"),
    ("a folder", ["compile", "folder.ebnf"], "folder.ebnf: Is a directory"),
    ("a folder as subject", ["mask", "folder.ebnf"], "folder.ebnf: Is a directory"),
    ("an artifact as grammar", ["compile", "a.cst"], "compiled artifact already"),
    ("not UTF-8", ["compile", "latin.ebnf"], "latin.ebnf:2:4: error: byte 0xE9 is not UTF-8"),
    ("unknown suffix", ["compile", "g.txt"], "g.txt: the suffix does not tell the dialect"),
    ("unknown suffix of a subject", ["mask", "g.txt"], "with one of: kbnf, gbnf, w3c, regex"),
    ("unknown dialect", ["compile", "g.ebnf", "-d", "yacc"], "no dialect 'yacc'; known are: kbnf"),
    ("no such start", ["compile", "g.ebnf", "--start", "t"], "no rule 't' to start from"),
    ("no such tokenizer", ["compile", "g.ebnf", "-t", "no.json"], "no.json: No such file"),
    (
        "a folder without tokenizer",
        ["compile", "g.ebnf", "-t", "folder.ebnf"],
        "folder.ebnf: the folder has none of tokenizer.json, ",
    ),
    ("unknown end", ["compile", "g.ebnf", "--eos", "</s>"], "there is no token '</s>'"),
    ("end past the ids", ["compile", "g.ebnf", "--eos", "8192"], "there is no token '8192'"),
    ("small vocabulary", ["compile", "g.ebnf", "--vocab-size", "9"], "too small for token 8191"),
    ("no name for the output", ["compile", "-"], "say where to write with -o"),
    ("two prefixes", ["mask", "g.ebnf", "--prefix", "", "--prefix-ids", ""], "exclude each other"),
    ("prefix of words", ["mask", "g.ebnf", "--prefix-ids", "1,x"], "numbers with commas"),
    ("prefix of signs", ["mask", "g.ebnf", "--prefix-ids", "-1"], "numbers with commas"),
    ("prefix of other digits", ["mask", "g.ebnf", "--prefix-ids", "٣"], "numbers with commas"),
    ("a damaged artifact", ["mask", "damaged.cst"], "damaged.cst: "),
    ("a foreign artifact", ["mask", "foreign.cst"], "foreign.cst: "),
    ("an empty artifact", ["mask", "empty.cst"], "empty.cst: the file is empty"),
    ("an unknown drawing", ["viz", "g.ebnf", "-o", "g.jpeg"], "g.jpeg: cannot draw '.jpeg' files"),
]


@pytest.fixture
def inputs(date_file: Path, tmp_path: Path) -> Path:
    """A folder with all that is wrong."""
    content(tmp_path / "g.ebnf", 's ::= "a";')
    content(tmp_path / "g.txt", 's ::= "a";')
    content(tmp_path / "latin.ebnf", b's ::=\n "a\xe9";')
    content(tmp_path / "damaged.cst", date_file.read_bytes()[:-1])
    content(tmp_path / "foreign.cst", b"start")
    content(tmp_path / "empty.cst", b"")
    (tmp_path / "folder.ebnf").mkdir()
    shutil.copy(date_file, tmp_path / "a.cst")
    return tmp_path


@pytest.mark.parametrize(
    ("arguments", "expected"), [pytest.param(*row, id=name) for name, *row in INPUT_ERRORS]
)
def test_input_that_cannot_be_used_is_named(
    cli: Cli, inputs: Path, arguments: Sequence[str], expected: str
) -> None:
    """One short message, code 2, nothing on stdout, and no file."""
    before = names(inputs)
    result = cli(*arguments)

    assert (2, b"") == (result.code, result.out)
    assert expected in result.err
    assert "Traceback" not in result.err
    assert "internal error" not in result.err
    assert before == names(inputs)


@pytest.mark.parametrize("name", ["", ".", "/"])
def test_a_grammar_without_a_name_is_refused(cli: Cli, name: str) -> None:
    """A path that names no file is bad input, not a defect of the program."""
    assert 2 == cli("compile", name).code


def test_an_id_of_thousands_of_digits_is_no_defect(cli: Cli, date_file: Path) -> None:
    """It is a token that the mask does not allow, or bad usage."""
    assert cli("mask", str(date_file), "--prefix-ids", "9" * 5000).code in (1, 2)


def test_an_end_of_thousands_of_digits_is_no_defect(cli: Cli) -> None:
    """It is a token that is not there."""
    result = cli("compile", DATE, "--eos", "9" * 5000)

    assert 2 == result.code
    assert "there is no token" in result.err


@pytest.mark.parametrize(("target", "shown"), [("no/x.cst", "no/x.cst"), ("folder", "folder")])
def test_an_output_that_cannot_be_written_is_named(
    cli: Cli, tmp_path: Path, target: str, shown: str
) -> None:
    """The message names the file that was asked for; nothing is left."""
    (tmp_path / "folder").mkdir()
    result = cli("compile", DATE, "-o", target)

    assert 2 == result.code
    assert ["folder"] == names(tmp_path)
    assert re.search(rf"error: (\S*/)?{re.escape(shown)}: ", result.err)


@pytest.mark.parametrize("arguments", [["g.ebnf", "-o", "g.ebnf"], ["g.cst", "-d", "kbnf"]])
def test_the_grammar_is_never_overwritten(
    cli: Cli, tmp_path: Path, arguments: Sequence[str]
) -> None:
    """An output that is the input is refused."""
    for name in ("g.ebnf", "g.cst"):
        content(tmp_path / name, 's ::= "a";')

    assert 2 == cli("compile", *arguments).code
    assert b's ::= "a";' == (tmp_path / arguments[0]).read_bytes()


@pytest.mark.skipif(sys.platform == "win32", reason="needs Unix permissions")
@pytest.mark.skipif(hasattr(os, "geteuid") and os.geteuid() == 0, reason="root may read all")
def test_a_file_that_may_not_be_read_is_named(cli: Cli, inputs: Path) -> None:
    """As the system says it."""
    (inputs / "g.ebnf").chmod(0)
    result = cli("compile", "g.ebnf")

    assert 2 == result.code
    assert "error: g.ebnf: Permission denied" in result.err
