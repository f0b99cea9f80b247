"""``mask`` as a user meets it: its formats, its prefixes, and what it reads."""

# Tests here say `expected == actual`.
# ruff: noqa: SIM300

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from support import tokenizer_json, written
from support.cli import DATE, Cli, content, names

from constrain.artifacts import load
from constrain.artifacts.tokens import tokenset
from constrain.artifacts.tokens.vocabulary import Vocabulary
from constrain.cli.quoting import all_quoted, quoted

pytestmark = pytest.mark.quick


def test_mask_as_a_table(cli: Cli, date_file: Path) -> None:
    """Id and text on stdout, a headline on stderr."""
    result = cli("mask", str(date_file), "--prefix", "2024-02-29")

    assert (0, '0  "<|endoftext|>"  (end of text)\n') == (result.code, result.out.decode())
    assert '"2024" "-" "02" "-" "29"' in result.err


def test_a_table_is_of_all_tokens_at_once(
    cli: Cli, date_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No token is looked up or quoted by a call of its own: there may be a hundred thousand."""
    vocabulary = load(date_file).vocabulary
    ids = tokenset.to_ids(load(date_file).matcher().mask()).tolist()
    calls: list[int] = []
    monkeypatch.setattr(Vocabulary, "token", lambda _, token_id: calls.append(token_id) or b"")

    result = cli("mask", str(date_file))

    monkeypatch.undo()
    width = max(len(str(i)) for i in ids)
    expected = [f"{i:>{width}}  {quoted(vocabulary.token(i))}" for i in ids]
    assert (expected, []) == (result.out.decode().splitlines(), calls)


def test_tokens_are_quoted_whatever_their_bytes_are() -> None:
    """Characters as they are, parts of them as bytes, quotes and controls escaped."""
    tokens = ["größe 日本".encode(), b"\xe6\x97", b'\xff"', b"a\\b", b"", "\u0080\n".encode()]

    assert [
        '"größe 日本"',
        r'"\xe6\x97"',
        r'"\xff\""',
        r'"a\\b"',
        '""',
        r'"\u0080\n"',
    ] == all_quoted(tokens)


def test_mask_as_ids(cli: Cli, date_file: Path) -> None:
    """One id a line, ascending."""
    result = cli("mask", str(date_file), "--format", "ids")

    expected = tokenset.to_ids(load(date_file).matcher().mask()).tolist()
    assert (0, expected) == (result.code, [int(line) for line in result.out.split(b"\n")[:-1]])
    assert "" == result.err


def test_mask_as_bits(cli: Cli, date_file: Path) -> None:
    """The packed words, little-endian, and nothing else."""
    result = cli("mask", str(date_file), "-f", "bits")

    assert 1024 == len(result.out)
    assert load(date_file).matcher().mask().tolist() == np.frombuffer(result.out, "<u4").tolist()


def test_mask_as_json(cli: Cli, date_file: Path) -> None:
    """A versioned object with the ids and texts of all boundaries."""
    result = cli("mask", str(date_file), "--prefix", "2024-", "--format", "json")
    found = json.loads(result.out)

    assert (0, 1, "2024-") == (result.code, found["schema"], found["prefix"])
    best = found["boundaries"][0]
    assert (5, "", False) == (best["bytes"], best["pending"], best["accepting"])
    matcher = load(date_file).matcher()
    for token_id in best["ids"]:
        matcher.advance(token_id)
    assert tokenset.to_ids(matcher.mask()).tolist() == best["allowed"]


def test_mask_after_ids(cli: Cli, date_file: Path) -> None:
    """--prefix-ids takes numbers with commas or spaces; none is the start."""
    vocabulary = load(date_file).vocabulary
    year, dash = vocabulary.find("2024"), vocabulary.find("-")
    by_text = cli("mask", str(date_file), "--prefix", "2024-", "-f", "ids")
    for ids in (f"{year},{dash}", f" {year} , {dash},"):
        by_ids = cli("mask", str(date_file), "--prefix-ids", ids, "-f", "ids")
        assert (0, by_text.out) == (by_ids.code, by_ids.out)
    start = cli("mask", str(date_file), "-f", "ids").out
    assert start == cli("mask", str(date_file), "--prefix-ids", "", "-f", "ids").out
    assert start == cli("mask", str(date_file), "--prefix", "", "-f", "ids").out


def test_mask_inside_a_token(cli: Cli, date_file: Path) -> None:
    """A prefix that ends inside a token is answered with the tokens that complete it."""
    result = cli("mask", str(date_file), "--prefix", "2024-0")
    lines = result.out.decode().splitlines()

    assert 0 == result.code
    assert 9 == len(lines)
    assert all(re.fullmatch(r' *\d+  "0[1-9]"', line) for line in lines)
    assert 'inside a token that begins with "0"' in result.err


def test_mask_lists_every_boundary(cli: Cli, tmp_path: Path) -> None:
    """JSON has all ways to cut a prefix, the longest first; the table names the others."""
    file = written(
        tmp_path, tokenizer_json("abc", ["a b", "ab c", "b c"], added=[(6, "<eos>", True)])
    )
    grammar = content(tmp_path / "g.ebnf", 's ::= "ab" "c"*;')
    arguments = ["mask", grammar, "-t", str(file), "--prefix", "ab", "--tokenization", "any"]

    found = json.loads(cli(*arguments, "-f", "json").out)["boundaries"]

    assert [(2, [3], ""), (1, [0], "b"), (0, [], "ab")] == [
        (b["bytes"], b["ids"], b["pending"]) for b in found
    ]
    assert [[2, 6], [5], [4]] == [b["allowed"] for b in found]
    assert [True, False, False] == [b["accepting"] for b in found]
    table = cli(*arguments)
    inside = 'or 1 token may follow {}, inside a token that begins with "{}"; --format json'
    assert inside.format('"a"', "b") in table.err
    assert inside.format("the start", "ab") in table.err
    assert 2 == len(table.out.splitlines())


@pytest.mark.parametrize(
    ("prefix", "place", "shown"),
    [("2024x", 4, '"x"'), ("x", 0, '"x"'), ("2024-02-29 ", 10, '" "'), ("20é4", 2, r'"\xc3"')],
)
def test_mask_of_no_prefix_is_a_no(
    cli: Cli, date_file: Path, prefix: str, place: int, shown: str
) -> None:
    """Exit code 1, and the byte where the prefix leaves the grammar."""
    table = cli("mask", str(date_file), "--prefix", prefix)
    as_json = cli("mask", str(date_file), "--prefix", prefix, "-f", "json")

    assert (1, b"") == (table.code, table.out)
    assert f"it stops at byte {place} ({shown}) (`constrain explain`" in table.err
    assert 1 == as_json.code
    assert {"schema": 1, "prefix": prefix, "stopped_at": place, "boundaries": []} == json.loads(
        as_json.out
    )


def test_mask_of_refused_ids_is_a_no(cli: Cli, date_file: Path) -> None:
    """Exit code 1, and which token it was."""
    vocabulary = load(date_file).vocabulary
    ids = f"{vocabulary.find('2024')},{vocabulary.find('x')}"
    table = cli("mask", str(date_file), "--prefix-ids", ids)
    as_json = cli("mask", str(date_file), "--prefix-ids", ids, "-f", "json")

    assert (1, b"") == (table.code, table.out)
    refused = f"token {vocabulary.find('x')} is refused: the mask does not allow it as token 2"
    assert f"--prefix-ids: {refused} of the text" in table.err
    assert (1, 1) == (as_json.code, json.loads(as_json.out)["stopped_at"])


@pytest.mark.skipif(sys.platform == "win32", reason="arguments are text on Windows")
def test_mask_of_a_prefix_that_is_no_text(tmp_path: Path) -> None:
    """A prefix may end inside a character: bytes go through as they are."""
    content(tmp_path / "g.ebnf", 's ::= "é" | "è";')
    command = [sys.executable, "-m", "constrain.cli", "mask", "g.ebnf", "-f", "json"]

    def ran(prefix: bytes) -> subprocess.CompletedProcess[bytes]:
        return subprocess.run(
            [*command, b"--prefix", prefix], capture_output=True, cwd=tmp_path, check=False
        )

    inside, wrong = ran(b"\xc3"), ran(b"\xff")
    assert (0, "\udcc3") == (inside.returncode, json.loads(inside.stdout)["prefix"])
    assert (1, 0) == (wrong.returncode, json.loads(wrong.stdout)["stopped_at"])
    assert rb'stops at byte 0 ("\xff")' in wrong.stderr


def test_mask_compiles_a_grammar_on_the_way(cli: Cli, date_file: Path, tmp_path: Path) -> None:
    """A grammar, a file or standard input, gives what its artifact gives, and leaves nothing."""
    expected = cli("mask", str(date_file), "-f", "ids").out

    assert expected == cli("mask", DATE, "-f", "ids").out
    assert expected == cli("mask", "-", "-f", "ids", stdin=Path(DATE).read_bytes()).out
    assert expected == cli("mask", "-", "-f", "ids", stdin=date_file.read_bytes()).out
    assert [] == names(tmp_path)


def test_an_artifact_needs_no_suffix(cli: Cli, date_file: Path, tmp_path: Path) -> None:
    """It is told by what is in it."""
    shutil.copy(date_file, tmp_path / "plain")

    assert 0 == cli("mask", "plain", "-f", "ids").code


def test_options_for_a_grammar_are_noted_on_an_artifact(cli: Cli, date_file: Path) -> None:
    """They have no effect there, and that is said."""
    result = cli("mask", str(date_file), "-f", "ids", "--start", "year")

    assert (0, cli("mask", str(date_file), "-f", "ids").out) == (result.code, result.out)
    assert "note: --start changes nothing" in result.err


def test_tokenization_is_noted_on_an_artifact(cli: Cli, date_file: Path) -> None:
    """Its masks are those it was compiled with, whatever is asked for."""
    result = cli("mask", str(date_file), "-f", "ids", "--tokenization", "any")

    assert "was compiled with --tokenization canonical; compile the grammar again" in result.err
    assert "changes nothing" not in result.err
