"""The command line as a user meets it: streams, exit codes, messages, and what stays on disk."""

# Tests here say `expected == actual`.
# ruff: noqa: SIM300

import io
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from support import EXAMPLES, constrain, python, tokenizer_json, written

from constrain.artifacts import load, tokenset
from constrain.artifacts.read import load_bytes
from constrain.cli.app import run
from constrain.compiler.tokenizers import byte_alphabet

DATE = str(EXAMPLES / "date.ebnf")
NOTE = "note: this tokenizer cuts text into pieces"


@dataclass(frozen=True)
class Result:
    """What a run ended with."""

    code: int
    out: bytes
    err: str


Cli = Callable[..., Result]


@pytest.fixture
def cli(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsysbinary: pytest.CaptureFixture[bytes]
) -> Cli:
    """Runs the command line inside this process, in an empty folder."""
    monkeypatch.chdir(tmp_path)

    def call(*arguments: str, stdin: bytes = b"") -> Result:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin), "utf-8"))
        monkeypatch.setattr(sys, "argv", ["constrain", *arguments])
        capsysbinary.readouterr()
        code = run()
        out, err = capsysbinary.readouterr()
        return Result(code, out, err.decode())

    return call


@pytest.fixture(scope="module")
def artifact(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The compiled example of dates."""
    path = tmp_path_factory.mktemp("artifact") / "date.cst"
    assert 0 == constrain("compile", DATE, "-o", str(path)).returncode
    return path


def names(folder: Path) -> list[str]:
    """What a folder holds."""
    return sorted(path.name for path in folder.iterdir())


def content(path: Path, text: str | bytes) -> str:
    """Write a file; its path as an argument."""
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return str(path)


# --- compile


def test_compile_writes_beside_the_caller(cli: Cli, tmp_path: Path) -> None:
    """The artifact is named after the grammar and stands in the current folder."""
    result = cli("compile", DATE)

    assert (0, b"") == (result.code, result.out)
    assert ["date.cst"] == names(tmp_path)
    assert "date" == load(tmp_path / "date.cst", verify=True).manifest.start
    assert re.search(
        r"^date\.cst: 14 byte states, 36 product states, .* bytes in ", result.err, re.M
    )


def test_compile_writes_where_it_is_told(cli: Cli, tmp_path: Path) -> None:
    """-o names the file; one that is there is replaced."""
    content(tmp_path / "x", "old")

    assert 0 == cli("compile", DATE, "-o", "x").code
    assert ["x"] == names(tmp_path)
    assert "product" == load(tmp_path / "x").manifest.kind


def test_compile_reads_and_writes_pipes(artifact: Path, tmp_path: Path) -> None:
    """A grammar on standard input, an artifact on standard output, nothing else on either."""
    ran = constrain("compile", "-", "-o", "-", stdin=Path(DATE).read_bytes(), folder=tmp_path)

    assert (0, artifact.read_bytes()) == (ran.returncode, ran.stdout)
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
    assert ("any", "byte-dfa") == (manifest.tokenization, manifest.kind)


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


def test_stats_say_which_method_was_taken_and_why(cli: Cli) -> None:
    """A tokenizer that cuts text is followed by CartesianMerge."""
    result = cli("compile", DATE, "-o", "-", "--stats")

    assert "method: cartesian, the tokenizer cuts text" in result.err


def test_stats_of_any_say_that_there_are_none(cli: Cli) -> None:
    """Without merges nothing grows."""
    result = cli("compile", DATE, "--stats", "--tokenization", "any")

    assert 0 == result.code
    assert "note: --stats shows the merges; --tokenization any has none" in result.err


def test_rows_left_out_are_noted(cli: Cli, tmp_path: Path) -> None:
    """--max-artifact-bytes makes a small file and says what that means."""
    result = cli("compile", DATE, "--max-artifact-bytes", "0", "--method", "direct")

    assert 0 == result.code
    assert "computed at run time" in result.err
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


# --- mask


def test_mask_as_a_table(cli: Cli, artifact: Path) -> None:
    """Id and text on stdout, a headline on stderr."""
    result = cli("mask", str(artifact), "--prefix", "2024-02-29")

    assert (0, '0  "<|endoftext|>"  (end of text)\n') == (result.code, result.out.decode())
    assert '"2024" "-" "02" "-" "29"' in result.err


def test_mask_as_ids(cli: Cli, artifact: Path) -> None:
    """One id a line, ascending."""
    result = cli("mask", str(artifact), "--format", "ids")

    expected = tokenset.to_ids(load(artifact).matcher().mask()).tolist()
    assert (0, expected) == (result.code, [int(line) for line in result.out.split(b"\n")[:-1]])
    assert "" == result.err


def test_mask_as_bits(cli: Cli, artifact: Path) -> None:
    """The packed words, little-endian, and nothing else."""
    result = cli("mask", str(artifact), "-f", "bits")

    assert 1024 == len(result.out)
    assert load(artifact).matcher().mask().tolist() == np.frombuffer(result.out, "<u4").tolist()


def test_mask_as_json(cli: Cli, artifact: Path) -> None:
    """A versioned object with the ids and texts of all boundaries."""
    result = cli("mask", str(artifact), "--prefix", "2024-", "--format", "json")
    found = json.loads(result.out)

    assert (0, 1, "2024-") == (result.code, found["schema"], found["prefix"])
    best = found["boundaries"][0]
    assert (5, "", False) == (best["bytes"], best["pending"], best["accepting"])
    matcher = load(artifact).matcher()
    for token_id in best["ids"]:
        matcher.advance(token_id)
    assert tokenset.to_ids(matcher.mask()).tolist() == best["allowed"]


def test_mask_after_ids(cli: Cli, artifact: Path) -> None:
    """--prefix-ids takes numbers with commas or spaces; none is the start."""
    vocabulary = load(artifact).vocabulary
    year, dash = vocabulary.find("2024"), vocabulary.find("-")
    by_text = cli("mask", str(artifact), "--prefix", "2024-", "-f", "ids")
    for ids in (f"{year},{dash}", f" {year} , {dash},"):
        by_ids = cli("mask", str(artifact), "--prefix-ids", ids, "-f", "ids")
        assert (0, by_text.out) == (by_ids.code, by_ids.out)
    start = cli("mask", str(artifact), "-f", "ids").out
    assert start == cli("mask", str(artifact), "--prefix-ids", "", "-f", "ids").out
    assert start == cli("mask", str(artifact), "--prefix", "", "-f", "ids").out


def test_mask_inside_a_token(cli: Cli, artifact: Path) -> None:
    """A prefix that ends inside a token is answered with the tokens that complete it."""
    result = cli("mask", str(artifact), "--prefix", "2024-0")
    lines = result.out.decode().splitlines()

    assert 0 == result.code
    assert 9 == len(lines)
    assert all(re.fullmatch(r' *\d+  "0[1-9]"', line) for line in lines)
    assert 'inside a token that begins with "0"' in result.err


def test_mask_lists_every_boundary(cli: Cli, tmp_path: Path) -> None:
    """JSON has all ways to cut a prefix, the longest first; the table says how many more."""
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
    assert "2 more boundaries are possible; --format json lists them" in table.err
    assert 2 == len(table.out.splitlines())


@pytest.mark.parametrize(
    ("prefix", "place", "shown"),
    [("2024x", 4, '"x"'), ("x", 0, '"x"'), ("2024-02-29 ", 10, '" "'), ("20é4", 2, r'"\xc3"')],
)
def test_mask_of_no_prefix_is_a_no(
    cli: Cli, artifact: Path, prefix: str, place: int, shown: str
) -> None:
    """Exit code 1, and the byte where the prefix leaves the grammar."""
    table = cli("mask", str(artifact), "--prefix", prefix)
    as_json = cli("mask", str(artifact), "--prefix", prefix, "-f", "json")

    assert (1, b"") == (table.code, table.out)
    assert f"it stops at byte {place} ({shown})" in table.err
    assert 1 == as_json.code
    assert {"schema": 1, "prefix": prefix, "stopped_at": place, "boundaries": []} == json.loads(
        as_json.out
    )


def test_mask_of_refused_ids_is_a_no(cli: Cli, artifact: Path) -> None:
    """Exit code 1, and which token it was."""
    vocabulary = load(artifact).vocabulary
    ids = f"{vocabulary.find('2024')},{vocabulary.find('x')}"
    table = cli("mask", str(artifact), "--prefix-ids", ids)
    as_json = cli("mask", str(artifact), "--prefix-ids", ids, "-f", "json")

    assert (1, b"") == (table.code, table.out)
    assert "token 1 of the prefix is not allowed there" in table.err
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


def test_mask_compiles_a_grammar_on_the_way(cli: Cli, artifact: Path, tmp_path: Path) -> None:
    """A grammar, a file or standard input, gives what its artifact gives, and leaves nothing."""
    expected = cli("mask", str(artifact), "-f", "ids").out

    assert expected == cli("mask", DATE, "-f", "ids").out
    assert expected == cli("mask", "-", "-f", "ids", stdin=Path(DATE).read_bytes()).out
    assert expected == cli("mask", "-", "-f", "ids", stdin=artifact.read_bytes()).out
    assert [] == names(tmp_path)


def test_an_artifact_needs_no_suffix(cli: Cli, artifact: Path, tmp_path: Path) -> None:
    """It is told by what is in it."""
    shutil.copy(artifact, tmp_path / "plain")

    assert 0 == cli("mask", "plain", "-f", "ids").code


def test_options_for_a_grammar_are_noted_on_an_artifact(cli: Cli, artifact: Path) -> None:
    """They have no effect there, and that is said."""
    result = cli("mask", str(artifact), "-f", "ids", "--start", "year")

    assert (0, cli("mask", str(artifact), "-f", "ids").out) == (result.code, result.out)
    assert "note: the artifact has its own tokenizer and grammar" in result.err


def test_tokenization_is_noted_on_an_artifact(cli: Cli, artifact: Path) -> None:
    """Its masks are those it was compiled with, whatever is asked for."""
    result = cli("mask", str(artifact), "-f", "ids", "--tokenization", "any")

    assert "the options for a grammar are unused" in result.err


# --- viz


@pytest.mark.parametrize("stage", ["nfa", "dfa", "tokens", "tokenizer"])
def test_viz_writes_dot(cli: Cli, artifact: Path, tmp_path: Path, stage: str) -> None:
    """Every stage of a grammar and of an artifact is DOT on standard output."""
    grammar = content(tmp_path / "g.ebnf", 's ::= "ab" | "c";')
    for subject in (grammar, str(artifact)):
        result = cli("viz", subject, "--stage", stage)
        assert 0 == result.code, result.err
        assert result.out.startswith(b"digraph ")
        assert result.out.endswith(b"}\n")


def test_viz_writes_a_file(cli: Cli, tmp_path: Path) -> None:
    """The suffix tells the format; .dot needs no Graphviz."""
    assert 0 == cli("viz", DATE, "-o", "g.dot").code
    assert (tmp_path / "g.dot").read_bytes().startswith(b"digraph ")
    if shutil.which("dot"):
        assert 0 == cli("viz", DATE, "-o", "g.svg").code
        assert b"<svg" in (tmp_path / "g.svg").read_bytes()


def test_viz_says_what_it_leaves_out(cli: Cli) -> None:
    """--max-states caps the drawing, with a note."""
    result = cli("viz", DATE, "--max-states", "3")

    assert 0 == result.code
    assert result.out.startswith(b"digraph ")
    assert "note: " in result.err


def test_viz_of_the_nfa_needs_the_text(cli: Cli, tmp_path: Path) -> None:
    """A stripped artifact has none: exit code 2."""
    assert 0 == cli("compile", DATE, "--strip").code
    result = cli("viz", "date.cst", "--stage", "nfa")

    assert (2, b"") == (result.code, result.out)
    assert "date.cst: the grammar's text was stripped" in result.err
    assert 0 == cli("viz", "date.cst", "--stage", "dfa").code


def test_compile_draws_all_stages(cli: Cli, tmp_path: Path) -> None:
    """--viz DIR makes the folder and a drawing of each stage."""
    grammar = content(tmp_path / "g.ebnf", 's ::= "ab" | "c";')
    suffix = "svg" if shutil.which("dot") else "dot"

    assert 0 == cli("compile", grammar, "--viz", "out").code
    assert [f"{n}.{suffix}" for n in ("dfa", "nfa", "tokenizer", "tokens")] == [
        name for name in names(tmp_path / "out") if name.endswith(suffix)
    ]


def test_viz_takes_the_end_of_text(cli: Cli, tmp_path: Path) -> None:
    """A tokenizer that names no end of text can be drawn with --eos."""
    grammar = content(tmp_path / "g.ebnf", 's ::= "ab";')
    file = str(written(tmp_path, tokenizer_json("ab", ["a b"])))

    assert 0 == cli("viz", grammar, "-t", file, "--stage", "tokens", "--eos", "a").code


# --- errors in grammars


GRAMMAR_ERRORS = [
    ("syntax", 's ::= "a"', "1:10", "expected"),
    ("string", 's ::= "a;', "1:7", "expected"),
    ("undefined", "s ::=\n  digt;\ndigit ::= '1';", "2:3", "did you mean 'digit'?"),
    ("empty", 's ::= "a" s;', "1:7", "give the recursion an alternative that ends"),
    ("regex", 's ::= #"a(b";', "1:12", "expected ')'"),
    ("look-ahead", 's ::= #"a(?=b)";', "1:10", "look-ahead"),
    ("escape", 's ::= "\\q";', "1:8", "known: "),
]


@pytest.mark.parametrize("command", ["compile", "mask", "viz"])
@pytest.mark.parametrize(
    ("text", "place", "expected"), [pytest.param(*row, id=name) for name, *row in GRAMMAR_ERRORS]
)
def test_a_grammar_error_shows_its_place(
    cli: Cli, tmp_path: Path, command: str, text: str, place: str, expected: str
) -> None:
    """file:line:col: error: …, the line, a caret, what was expected; code 2, and no file."""
    grammar = content(tmp_path / "bad.ebnf", text)
    result = cli(command, grammar)
    line, column = map(int, place.split(":"))
    head, _, source, caret, *_ = result.err.splitlines()

    assert (2, b"") == (result.code, result.out)
    assert head.startswith(f"{grammar}:{place}: error: ")
    assert f"{line} | {text.splitlines()[line - 1]}" == source
    assert re.fullmatch(rf" +\| {' ' * (column - 1)}\^+", caret)
    assert expected in result.err
    assert "Traceback" not in result.err
    assert ["bad.ebnf"] == names(tmp_path)


def test_several_errors_are_shown_at_once(cli: Cli, tmp_path: Path) -> None:
    """In the order of the text."""
    grammar = content(tmp_path / "bad.ebnf", 's ::= x "a" y;\nt ::= z;')

    places = re.findall(r":(\d+:\d+): error: ", cli("compile", grammar).err)
    assert ["1:7", "1:13", "2:7"] == places


def test_errors_on_standard_input_are_called_so(cli: Cli) -> None:
    """The file's name is then a hyphen."""
    result = cli("compile", "-", "-o", "x", stdin=b"s ::= t;")

    assert 2 == result.code
    assert result.err.startswith("-:1:7: error: rule 't' is not defined\n")


# --- other errors


def damaged(text: str, change: Callable[[dict[str, object]], object]) -> bytes:
    """A tokenizer.json with one thing changed."""
    value = tokenizer_json(text, added=[(len(text), "<eos>", True)])
    change(value)
    return json.dumps(value).encode()


def model(**options: object) -> Callable[[dict[str, object]], object]:
    """A change of the model."""

    def change(value: dict[str, object]) -> None:
        found = value["model"]
        assert isinstance(found, dict)
        found.update(options)

    return change


def part(**options: object) -> Callable[[dict[str, object]], object]:
    """A change of the whole."""
    return lambda value: value.update(options)


TOKENIZER_ERRORS = [
    ("not JSON", b"{", "not valid JSON"),
    ("not an object", b"[1]", "no model with a vocabulary"),
    ("empty file", b"", "not valid JSON"),
    ("not UTF-8", b'{"model": "\xff"}', "not valid JSON"),
    ("no vocabulary", damaged("ab", part(model={"type": "BPE"})), "no model with a vocabulary"),
    ("odd ids", damaged("ab", model(vocab={"a": "1"})), "an id is not a number"),
    ("WordPiece", damaged("ab", model(type="WordPiece")), "'BertPreTokenizer' is"),
    ("Unigram", damaged("ab", model(type="Unigram")), "the model 'Unigram'"),
    ("Unigram", damaged("ab", model(type="Unigram")), "the model 'Unigram'"),
    ("dropout", damaged("ab", model(dropout=0.1)), "'dropout'"),
    ("byte fallback", damaged("ab", model(byte_fallback=True)), "'byte_fallback'"),
    ("unknown", damaged("ab", model(unk_token="?")), "lacks the token '?'"),
    ("suffix", damaged("ab", model(end_of_word_suffix="</w>")), "'end_of_word_suffix'"),
    ("normalizer", damaged("ab", part(normalizer={"type": "Nmt"})), "the normalizer 'Nmt'"),
    (
        "pre-tokenizer",
        damaged("ab", part(pre_tokenizer={"type": "FixedLength"})),
        "the pre-tokenizer 'FixedLength'",
    ),
    (
        "pattern",
        damaged("ab", part(pre_tokenizer={"type": "Split", "pattern": {"Regex": "(?<x>a)"}})),
        "the pattern '(?<x>a)' is not understood",
    ),
    ("added token", damaged("ab", part(added_tokens=[{}])), "no id or content"),
    ("merge", damaged("ab", model(merges=["a c"])), "merge 0 ('a c')"),
    ("merge of three", damaged("ab", model(merges=["a b c"])), "merge 0"),
    ("no end", damaged("ab", part(added_tokens=[])), "name it with --eos"),
]


@pytest.mark.parametrize(
    ("data", "expected"), [pytest.param(*row, id=name) for name, *row in TOKENIZER_ERRORS]
)
def test_a_tokenizer_that_cannot_be_used_is_named(
    cli: Cli, tmp_path: Path, data: bytes, expected: str
) -> None:
    """The file and the part that is not supported; code 2, and no file."""
    file = content(tmp_path / "t.json", data)
    grammar = content(tmp_path / "g.ebnf", 's ::= "a";')
    result = cli("compile", grammar, "-t", file)

    assert (2, b"") == (result.code, result.out)
    assert result.err.startswith(f"error: {file}: ")
    assert expected in result.err
    assert 1 == result.err.count("\n")
    assert ["g.ebnf", "t.json"] == names(tmp_path)


ODD_TOKENIZERS = [
    ("added tokens no list", damaged("ab", part(added_tokens=7))),
    ("added token no object", damaged("ab", part(added_tokens=["x"]))),
    ("infinite id", damaged("ab", part(added_tokens=[{"id": 1e999, "content": "x"}]))),
    ("negative id", damaged("ab", part(added_tokens=[{"id": -1, "content": "<eos>"}]))),
    ("huge id", damaged("ab", model(vocab={"a": 0, "b": 2**70}))),
    ("one id twice", damaged("ab", model(vocab={"a": 0, "b": 0}))),
    ("merges no list", damaged("ab", model(merges=7))),
    ("merge no text", damaged("ab", model(merges=[7]))),
    ("merge of lists", damaged("ab", model(merges=[[["a"], ["b"]]]))),
    ("normalizer no object", damaged("ab", part(normalizer="NFC"))),
    (
        "name no UTF-8",
        damaged("ab", part(added_tokens=[{"id": 2, "content": "\ud800"}])),
    ),
]


@pytest.mark.parametrize("data", [pytest.param(data, id=name) for name, data in ODD_TOKENIZERS])
def test_a_damaged_tokenizer_is_an_error_of_its_file(cli: Cli, tmp_path: Path, data: bytes) -> None:
    """Whatever stands in the file, the program ends with 2 and names the file."""
    file = content(tmp_path / "t.json", data)
    grammar = content(tmp_path / "g.ebnf", 's ::= "a";')
    result = cli("compile", grammar, "-t", file, "--eos", "0")

    assert 2 == result.code
    assert result.err.startswith(f"error: {file}: ")
    assert ["g.ebnf", "t.json"] == names(tmp_path)


@pytest.mark.parametrize("kind", ["canonical", "any"])
def test_a_grammar_that_no_token_spells_is_refused(cli: Cli, tmp_path: Path, kind: str) -> None:
    """If the tokenizer lacks a byte of every member there is nothing to compile."""
    file = str(written(tmp_path, tokenizer_json("a", added=[(1, "<eos>", True)])))
    grammar = content(tmp_path / "g.ebnf", 's ::= "ab" | "ac";')
    result = cli("compile", grammar, "-t", file, "--tokenization", kind)

    assert 2 == result.code
    assert "spell no member" in result.err
    assert ["g.ebnf", "tokenizer.json"] == names(tmp_path)


def test_members_that_no_token_spells_are_noted(cli: Cli, tmp_path: Path) -> None:
    """If some remain, the shortest of the others is named."""
    file = str(written(tmp_path, tokenizer_json("a", added=[(1, "<eos>", True)])))
    grammar = content(tmp_path / "g.ebnf", 's ::= "a" | "b";')
    result = cli("compile", grammar, "-t", file)

    assert 0 == result.code
    assert "note: some members have no canonical tokenization, the shortest is 'b'" in result.err


INPUT_ERRORS: list[tuple[str, Sequence[str], str]] = [
    ("no such grammar", ["compile", "no.ebnf"], "no.ebnf: No such file or directory"),
    ("no such subject", ["mask", "no.cst"], "no.cst: No such file or directory"),
    ("a folder", ["compile", "folder.ebnf"], "folder.ebnf: Is a directory"),
    ("a folder as subject", ["mask", "folder.ebnf"], "folder.ebnf: Is a directory"),
    ("an artifact as grammar", ["compile", "a.cst"], "compiled artifact already"),
    ("not UTF-8", ["compile", "latin.ebnf"], "latin.ebnf:2:4: error: byte 0xE9 is not UTF-8"),
    ("unknown suffix", ["compile", "g.txt"], "g.txt: the suffix does not tell the dialect"),
    ("unknown suffix of a subject", ["mask", "g.txt"], "with one of: kbnf, gbnf, w3c, regex"),
    ("unknown dialect", ["compile", "g.ebnf", "-d", "yacc"], "no dialect 'yacc'; known are: kbnf"),
    ("no such start", ["compile", "g.ebnf", "--start", "t"], "no rule 't' to start from"),
    ("no such tokenizer", ["compile", "g.ebnf", "-t", "no.json"], "no.json: No such file"),
    ("a folder without tokenizer", ["compile", "g.ebnf", "-t", "folder.ebnf"], "folder.ebnf"),
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
def inputs(artifact: Path, tmp_path: Path) -> Path:
    """A folder with all that is wrong."""
    content(tmp_path / "g.ebnf", 's ::= "a";')
    content(tmp_path / "g.txt", 's ::= "a";')
    content(tmp_path / "latin.ebnf", b's ::=\n "a\xe9";')
    content(tmp_path / "damaged.cst", artifact.read_bytes()[:-1])
    content(tmp_path / "foreign.cst", b"start")
    content(tmp_path / "empty.cst", b"")
    (tmp_path / "folder.ebnf").mkdir()
    shutil.copy(artifact, tmp_path / "a.cst")
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


def test_an_id_of_thousands_of_digits_is_no_defect(cli: Cli, artifact: Path) -> None:
    """It is a token that the mask does not allow, or bad usage."""
    assert cli("mask", str(artifact), "--prefix-ids", "9" * 5000).code in (1, 2)


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


# --- usage


USAGE_ERRORS: list[tuple[str, Sequence[str], str]] = [
    ("no such command", ["compil"], "compil"),
    ("no such option", ["compile", "g.ebnf", "--tokeniser", "x"], "--tokeniser"),
    ("no grammar", ["compile"], "GRAMMAR"),
    ("two grammars", ["compile", "a.ebnf", "b.ebnf"], "b.ebnf"),
    ("no such format", ["mask", "g.ebnf", "--format", "xml"], "xml"),
    ("no such stage", ["viz", "g.ebnf", "--stage", "ast"], "ast"),
    ("no such tokenization", ["compile", "g.ebnf", "--tokenization", "all"], "canonical"),
    ("no number", ["compile", "g.ebnf", "--max-states", "many"], "many"),
    ("a number too small", ["compile", "g.ebnf", "--max-states", "0"], "--max-states"),
    ("a value missing", ["compile", "g.ebnf", "-o"], "-o"),
]


@pytest.mark.parametrize(
    ("arguments", "expected"), [pytest.param(*row, id=name) for name, *row in USAGE_ERRORS]
)
def test_wrong_usage_is_explained(cli: Cli, arguments: Sequence[str], expected: str) -> None:
    """Code 2, what is wrong, and where help is; no talk of defects."""
    result = cli(*arguments)

    assert (2, b"") == (result.code, result.out)
    assert expected in result.err
    assert "internal error" not in result.err
    assert "Error: " in result.err


def test_no_arguments_show_the_help(cli: Cli) -> None:
    """Without a command the commands are listed."""
    result = cli()

    assert result.code in (0, 2)
    assert "internal error" not in result.err
    assert "compile" in result.out.decode() + result.err


@pytest.mark.parametrize("command", [(), ("compile",), ("mask",), ("viz",)])
@pytest.mark.parametrize("option", ["--help", "-h"])
def test_help_is_data(cli: Cli, command: Sequence[str], option: str) -> None:
    """--help goes to stdout with code 0, and names the options."""
    result = cli(*command, option)

    assert (0, "") == (result.code, result.err)
    assert "--help" in result.out.decode()
    assert (b"--max-states" in result.out) == bool(command)


def test_the_version(cli: Cli) -> None:
    """--version prints the name and a number."""
    result = cli("--version")

    assert (0, "") == (result.code, result.err)
    assert re.fullmatch(r"constrain \d+\.\d+\.\d+\S*\n", result.out.decode())


# --- limits


@pytest.mark.parametrize(
    ("option", "value", "unit"),
    [
        ("--max-states", "3", "3 states"),
        ("--max-transitions", "1", "1 transition"),
        ("--max-memory", "5000", "5,000 bytes of memory"),
        ("--max-seconds", "0", "0 seconds"),
        ("--max-nesting", "2", "2 levels of nesting"),
    ],
)
@pytest.mark.parametrize("command", ["compile", "mask"])
def test_a_limit_ends_with_its_own_code(
    cli: Cli, tmp_path: Path, command: str, option: str, value: str, unit: str
) -> None:
    """Code 3, the number, the option that raises it, and no file."""
    grammar = content(tmp_path / "g.ebnf", 'top ::= ((("x")) year);\nyear ::= #"[0-9]{9}";')
    result = cli(command, grammar, option, value)

    assert (3, b"") == (result.code, result.out)
    assert f"needs more than {unit}" in result.err
    assert f"raise {option}" in result.err
    assert ["g.ebnf"] == names(tmp_path)
    if option in ("--max-states", "--max-transitions", "--max-memory"):
        assert "most of it in rule 'year'" in result.err


def test_a_limit_names_the_rule_that_explodes(cli: Cli, tmp_path: Path) -> None:
    """Determinisation of a known exponential case."""
    text = 'top ::= harmless blowup;\nharmless ::= "x";\nblowup ::= #"(a|b)*a(a|b){12}";'
    grammar = content(tmp_path / "g.ebnf", text)
    result = cli("compile", grammar, "--max-states", "500")

    assert 3 == result.code
    assert "determinisation needs more than 500 states" in result.err
    assert "'blowup'" in result.err
    assert "'harmless'" not in result.err


# --- streams


def test_nothing_but_data_is_piped(artifact: Path, tmp_path: Path) -> None:
    """No colours and no bars where the streams are no terminals."""
    bad = content(tmp_path / "bad.ebnf", "s ::= t;")
    for arguments in (
        ["mask", str(artifact)],
        ["compile", DATE, "-o", "-", "--stats"],
        ["compile", bad],
        ["compile", "no.ebnf"],
        ["--help"],
        ["compile", "--help"],
    ):
        ran = constrain(*arguments, folder=tmp_path, variables={"TERM": "xterm-256color"})
        assert b"\x1b" not in ran.stderr
        assert b"\x1b" not in ran.stdout or b"__metadata__" in ran.stdout


def at_a_terminal(
    arguments: Sequence[str], stream: str, variables: dict[str, str] | None = None
) -> tuple[int, bytes, bytes]:
    """Run with ``stream`` being a terminal: code, what it showed, and the other stream."""
    pty = pytest.importorskip("pty", reason="there are no terminals to try here")
    controller, terminal = pty.openpty()
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, stream: terminal}
    environment = {k: v for k, v in os.environ.items() if k != "NO_COLOR"}
    with subprocess.Popen(
        [sys.executable, "-m", "constrain.cli", *arguments],
        stdin=subprocess.DEVNULL,
        env={**environment, **(variables or {})},
        **streams,
    ) as child:
        os.close(terminal)
        shown = b""
        while True:
            try:
                data = os.read(controller, 65536)
            except OSError:
                data = b""  # Linux says so when the last writer is gone.
            if not data:
                break
            shown += data
        other = child.communicate(timeout=60)[0 if stream == "stderr" else 1] or b""
    os.close(controller)
    return child.returncode, shown, other


@pytest.mark.parametrize(
    "arguments", [["compile", DATE, "-o", "-"], ["mask", DATE, "--format", "bits"]]
)
def test_binary_data_is_kept_off_a_terminal(arguments: Sequence[str]) -> None:
    """Code 2 and a hint, before anything is written."""
    code, shown, err = at_a_terminal(arguments, "stdout")

    assert (2, b"") == (code, shown)
    assert b"is binary and standard output is a terminal: redirect it" in err


def test_text_is_shown_on_a_terminal() -> None:
    """A table is for people."""
    code, shown, _ = at_a_terminal(["mask", DATE, "--prefix", "2024-02-29"], "stdout")

    assert (0, b'0  "<|endoftext|>"  (end of text)\r\n') == (code, shown)


def test_errors_are_coloured_on_a_terminal() -> None:
    """Unless NO_COLOR is set to something."""
    for variables, coloured in (({}, True), ({"NO_COLOR": ""}, True), ({"NO_COLOR": "1"}, False)):
        code, shown, _ = at_a_terminal(["compile", "no.ebnf"], "stderr", variables)
        assert 2 == code
        assert b"no.ebnf: No such file" in shown
        assert coloured == (b"\x1b[" in shown)


def test_a_reader_that_stops_is_no_error(artifact: Path) -> None:
    """As head does once it has enough lines."""
    with subprocess.Popen(
        [sys.executable, "-m", "constrain.cli", "mask", "-"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as child:
        assert child.stdin is not None
        assert child.stdout is not None
        assert child.stderr is not None
        child.stdout.close()
        child.stdin.write(artifact.read_bytes())
        child.stdin.close()
        err = child.stderr.read()

    assert 0 == child.returncode
    assert b"Traceback" not in err
    assert b"Broken" not in err


def test_output_is_utf8_whatever_the_locale(tmp_path: Path) -> None:
    """Tokens are shown the same under the C locale."""
    content(tmp_path / "g.ebnf", 's ::= "é";')
    variables = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    ran = constrain("mask", "g.ebnf", folder=tmp_path, variables=variables)

    assert 0 == ran.returncode
    assert "é" in ran.stdout.decode()


def test_control_characters_are_shown_escaped(cli: Cli, tmp_path: Path) -> None:
    """A message never sends a grammar's escape sequences to the terminal."""
    result = cli("compile", content(tmp_path / "g.ebnf", 's ::= "\x1b[31m" \x1b ;'))

    assert 2 == result.code
    assert "\x1b" not in result.err


QUOTED = [
    (b"a\n\xc3", r'"a\n\xc3"'),
    (b"\n\xc3", r'"\n\xc3"'),
    (b'"\xc3', r'"\"\xc3"'),
    (b"\\\xc3", r'"\\\xc3"'),
    (b"\x1b\xc3", r'"\x1b\xc3"'),
    (b"\x1b", r'"\x1b"'),
    (b"\x7f", r'"\x7f"'),
    (b"\xc2\x9b", None),
    (b'"', r'"\""'),
    (b"\\", r'"\\"'),
    (b"\n", r'"\n"'),
]


@pytest.mark.parametrize(("token", "shown"), QUOTED)
def test_tokens_are_quoted_whatever_they_hold(
    cli: Cli, tmp_path: Path, token: bytes, shown: str | None
) -> None:
    """A table has one line a token, in which quotes, controls and stray bytes are escaped."""
    alphabet = byte_alphabet.characters()
    extra = {"".join(alphabet[octet] for octet in token): 8}
    value = tokenizer_json("xé", added=[(9, "<eos>", True)], extra=extra)
    file = str(written(tmp_path, value))
    grammar = content(tmp_path / "g.ebnf", 's ::= #"(.|\\n){3}";')
    result = cli("mask", grammar, "-t", file, "--tokenization", "any")

    lines = result.out.decode().split("\n")
    assert ["0", "1", "8", ""] == [line.split("  ")[0] for line in lines]
    assert lines[2].isprintable()
    if shown is not None:
        assert f"8  {shown}" == lines[2]


# --- start-up


def imported(*arguments: str) -> set[str]:
    """The modules that a run of the command line loads."""
    script = (
        "import sys; from constrain.cli.app import run; run();"
        "sys.stderr.write('\\n' + ' '.join(sys.modules))"
    )
    ran = python("-c", script, *arguments)
    assert 0 == ran.returncode
    return set(ran.stderr.decode().split("\n")[-1].split())


def test_mask_of_an_artifact_loads_no_compiler(artifact: Path) -> None:
    """Decoding needs numpy alone."""
    modules = imported("mask", str(artifact), "-f", "ids")

    assert "numpy" in modules
    assert set() == modules & {"lark", "rich", "graphviz", "regex", "constrain.compiler"}


@pytest.mark.parametrize("arguments", [["--help"], ["compile", "--help"], ["--version"]])
def test_help_loads_next_to_nothing(arguments: Sequence[str]) -> None:
    """--help comes at once."""
    assert set() == imported(*arguments) & {"numpy", "lark", "rich", "graphviz", "regex"}


# --- how errors end the program


Failing = Callable[[BaseException], Result]


@pytest.fixture
def failing(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> Failing:
    """Runs ``mask`` with an error in the middle of its work."""

    def call(error: BaseException) -> Result:
        def fail(path: str) -> None:
            raise error

        monkeypatch.setattr("constrain.cli.commands.mask.artifact_or_text", fail)
        return cli("mask", DATE)

    return call


def test_an_interruption_ends_with_130(failing: Failing) -> None:
    """Ctrl-C is said in a word."""
    assert Result(130, b"", "error: interrupted\n") == failing(KeyboardInterrupt())


def test_a_defect_ends_with_70(failing: Failing, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is called one, with a way to the traceback."""
    monkeypatch.delenv("CONSTRAIN_TRACEBACK", raising=False)
    result = failing(ZeroDivisionError("oops"))

    assert (70, b"") == (result.code, result.out)
    assert result.err.startswith("error: internal error: ZeroDivisionError: oops\n")
    assert "CONSTRAIN_TRACEBACK=1" in result.err
    assert "Traceback" not in result.err


def test_a_defect_can_be_traced(failing: Failing, monkeypatch: pytest.MonkeyPatch) -> None:
    """CONSTRAIN_TRACEBACK lets it through."""
    monkeypatch.setenv("CONSTRAIN_TRACEBACK", "1")

    with pytest.raises(ZeroDivisionError):
        failing(ZeroDivisionError("oops"))


def test_memory_is_a_limit(failing: Failing) -> None:
    """Running out of it ends with 3 and a hint."""
    result = failing(MemoryError())

    assert (3, b"") == (result.code, result.out)
    assert "--max-memory" in result.err


def test_a_system_error_names_the_file(failing: Failing) -> None:
    """Or says that it was the input, where the system names none."""
    assert Result(2, b"", "error: x: gone\n") == failing(OSError(5, "gone", "x"))
    assert Result(2, b"", "error: input: gone\n") == failing(OSError(5, "gone"))
