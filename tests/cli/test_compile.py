"""``compile`` as a user meets it: what it reads, writes and says."""

# Tests here say `expected == actual`.
# ruff: noqa: SIM300

import json
import re
import subprocess
import sys
from pathlib import Path

from support import EXAMPLES, constrain, tokenizer_json, written
from support.cli import DATE, Cli, content, names

from constrain.artifacts import load
from constrain.artifacts.read import load_bytes


def test_compile_writes_beside_the_caller(cli: Cli, tmp_path: Path) -> None:
    """The artifact is named after the grammar and stands in the current folder."""
    result = cli("compile", DATE)

    assert (0, b"") == (result.code, result.out)
    assert ["date.cst"] == names(tmp_path)
    assert "date" == load(tmp_path / "date.cst", verify=True).manifest.start
    assert re.search(
        r"^date\.cst: 14 byte states, 10 different mask rows; .* bytes in ", result.err, re.M
    )


def test_compile_writes_where_it_is_told(cli: Cli, tmp_path: Path) -> None:
    """-o names the file; one that is there is replaced."""
    content(tmp_path / "x", "old")

    assert 0 == cli("compile", DATE, "-o", "x").code
    assert ["x"] == names(tmp_path)
    assert load(tmp_path / "x").is_regular


def test_compile_reads_and_writes_pipes(date_file: Path, tmp_path: Path) -> None:
    """A grammar on standard input, an artifact on standard output, nothing else on either."""
    ran = constrain("compile", "-", "-o", "-", stdin=Path(DATE).read_bytes(), folder=tmp_path)

    assert (0, date_file.read_bytes()) == (ran.returncode, ran.stdout)
    assert [] == names(tmp_path)


def test_commands_form_a_pipeline(tmp_path: Path) -> None:
    """compile - -o - | mask - --format json"""
    program = [sys.executable, "-m", "constrain.cli"]
    with subprocess.Popen(
        [*program, "compile", "-", "-o", "-"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ) as first:
        assert first.stdin is not None
        with subprocess.Popen(
            [*program, "mask", "-", "--format", "json"],
            stdin=first.stdout,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        ) as second:
            first.stdin.write(b's ::= "b";')
            first.stdin.close()
            out, err = second.communicate(timeout=60)

    assert (0, 0, b"") == (first.returncode, second.returncode, err)
    (boundary,) = json.loads(out)["boundaries"]
    assert 1 == len(boundary["allowed"])


def test_compile_takes_a_tokenizer_or_its_folder(cli: Cli, tmp_path: Path) -> None:
    """A tokenizer.json by its name or by the folder it is in; else the embedded one."""
    grammar = content(tmp_path / "g.ebnf", 's ::= "ab";')
    folder = tmp_path / "model"
    folder.mkdir()
    file = written(folder, tokenizer_json("ab", ["a b"], added=[(3, "<eos>", True)]))

    assert 0 == cli("compile", grammar, "-t", str(file), "-o", "1").code
    assert 0 == cli("compile", grammar, "--tokenizer", str(folder), "-o", "2").code
    assert 0 == cli("compile", grammar, "-o", "3").code
    assert (tmp_path / "1").read_bytes() == (tmp_path / "2").read_bytes()
    assert [4, 4, 8192] == [load(tmp_path / n).vocab_size for n in "123"]


def test_compile_takes_options_for_the_end_and_the_size(cli: Cli, tmp_path: Path) -> None:
    """--eos by name and by id, --vocab-size, --start, --tokenization."""
    grammar = content(tmp_path / "g.ebnf", 's ::= "a"; t ::= "b";')
    options = ["--eos", "<|endoftext|>", "--eos", "9", "--vocab-size", "9000", "--start", "t"]

    assert 0 == cli("compile", grammar, *options, "--tokenization", "any").code
    manifest = load(tmp_path / "g.cst").manifest
    assert ((0, 9), 9000, "t") == (manifest.eos, manifest.vocab_size, manifest.start)
    assert ("any", True) == (manifest.tokenization, manifest.is_regular)


def test_strip_leaves_the_text_out(cli: Cli, tmp_path: Path) -> None:
    """With --strip the artifact holds the grammar's hash and not its text."""
    assert 0 == cli("compile", DATE, "-o", "full").code
    assert 0 == cli("compile", DATE, "-o", "stripped", "--strip").code

    assert Path(DATE).read_text() == load(tmp_path / "full").manifest.source
    assert load(tmp_path / "stripped").manifest.source is None
    assert b"ISO 8601" in (tmp_path / "full").read_bytes()
    assert b"ISO 8601" not in (tmp_path / "stripped").read_bytes()


def test_stats_go_to_stderr(cli: Cli) -> None:
    """The growth table is no data."""
    result = cli("compile", DATE, "-o", "-", "--stats", "--method", "direct")

    assert load_bytes(result.out, verify=True).manifest.start == "date"
    assert "method: direct, as asked for" in result.err
    assert "Growth along the merges" in result.err
    assert re.search(r"^ +0 +14 +81 *$", result.err, re.M)
    assert "Growth" not in cli("compile", DATE, "-o", "-").err
    quiet = cli("compile", DATE, "-o", "-", "--stats", "--method", "direct", "--quiet")
    assert quiet.err == ""


def test_stats_say_which_method_was_taken_and_why(cli: Cli) -> None:
    """A tokenizer that splits text is followed by CartesianMerge."""
    result = cli("compile", DATE, "-o", "-", "--stats")

    assert "method: cartesian, the tokenizer splits text" in result.err


def test_stats_of_any_say_that_there_are_none(cli: Cli) -> None:
    """Without merges nothing grows."""
    result = cli("compile", DATE, "--stats", "--tokenization", "any")

    assert 0 == result.code
    assert "note: --stats shows the merges; --tokenization any has none" in result.err


def test_rows_left_out_are_noted(cli: Cli, tmp_path: Path) -> None:
    """--max-artifact-bytes makes a small file and says what that means."""
    result = cli("compile", DATE, "--max-artifact-bytes", "0", "--method", "direct")

    assert 0 == result.code
    assert "note: masks: none precomputed, all when met" in result.err
    assert "rows" not in load(tmp_path / "date.cst").arrays


def test_a_regex_file_is_compiled(cli: Cli, tmp_path: Path) -> None:
    """The suffix tells the dialect, and --dialect overrules it."""
    assert 0 == cli("compile", str(EXAMPLES / "ipv4.regex")).code
    assert "regex" == load(tmp_path / "ipv4.cst").manifest.dialect
    grammar = content(tmp_path / "g.txt", "[0-9]+")
    assert 0 == cli("compile", grammar, "--dialect", "regex").code
    assert 0 == cli("compile", "-", "-d", "regex", "-o", "x", stdin=b"a|b").code


def test_a_byte_order_mark_is_skipped(cli: Cli) -> None:
    """Some editors put one at the head of a file."""
    plain = cli("compile", "-", "-o", "-", stdin=b's ::= "a";')
    marked = cli("compile", "-", "-o", "-", stdin=b'\xef\xbb\xbfs ::= "a";')

    assert (0, plain.out) == (marked.code, marked.out)
