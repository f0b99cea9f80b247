"""The commands on grammars that are not regular, and on their artifacts."""

# Tests here say `expected == actual`.
# ruff: noqa: SIM300

import json
import shutil
from pathlib import Path

import pytest
from support import EXAMPLES, ROOT
from support.cli import Captured, called
from support.drawing import untitled

from constrain.artifacts import load
from constrain.cli.app import run

HERE = ROOT / "tests"
GRAMMAR = str(EXAMPLES / "json.ebnf")


ANY = ("--tokenization", "any")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The example of JSON compiled by both engines, and to a depth."""
    path = tmp_path_factory.mktemp("json")
    for name, option in (("network", "--engine"), ("earley", "--engine"), ("depth", "--max-depth")):
        value = "2" if name == "depth" else name
        made = ["compile", GRAMMAR, option, value, *ANY, "-o", str(path / name)]
        assert 0 == run(made)
    return path


def test_the_engine_is_named_with_its_reason(tmp_path: Path, capsysbinary: Captured) -> None:
    """auto says why it is no DFA; the file is of that kind, and its masks are canonical."""
    target = tmp_path / "json.cst"
    code, out, err = called(capsysbinary, "compile", GRAMMAR, "-o", str(target))
    assert (0, "") == (code, out)
    assert "note: engine network: rule 'object' is not known to be regular" in err
    assert "json.cst: network of 43 states, 6 calls" in err
    manifest = load(target, verify=True).manifest
    assert ("network", "canonical") == (manifest.kind, manifest.tokenization)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--engine", "dfa"], "it nests itself (object → members → pair → value → object)"),
        (["--tokenization", "canonical", "--engine", "earley"], "canonical masks"),
        (["--max-depth", "1", "--engine", "earley"], "--max-depth makes a DFA"),
    ],
)
def test_what_does_not_go_together(
    options: list[str], said: str, tmp_path: Path, capsysbinary: Captured
) -> None:
    """Exit code 2, the reason, and nothing written."""
    target = tmp_path / "json.cst"
    code, _, err = called(capsysbinary, "compile", GRAMMAR, "-o", str(target), *options)
    assert 2 == code
    assert said in err
    assert not target.exists()


def test_a_depth_says_what_it_cuts(tmp_path: Path, capsysbinary: Captured, folder: Path) -> None:
    """The artifact is a DFA, and texts that nest deeper are rejected."""
    target = str(tmp_path / "x.cst")
    options = ["--max-depth", "2", "--tokenization", "any", "-o", target]
    _, _, err = called(capsysbinary, "compile", GRAMMAR, *options)
    assert "note: members that nest 'value' more than 2 deep are left out" in err
    assert load(target).is_regular
    for text, expected in ((b'[{"a": [1, 2]}]', 1), (b'[{"a": 1}, [2]]', 0)):
        file = tmp_path / "text"
        file.write_bytes(text)
        assert expected == called(capsysbinary, "explain", str(folder / "depth"), str(file))[0]


@pytest.mark.parametrize("subject", [GRAMMAR, "network", "earley"])
@pytest.mark.parametrize(
    ("text", "code", "said"),
    [
        (b' [1, {"a": []}] ', 0, "accepted"),
        (
            b'[\n "x",\n fals ]',
            1,
            ':3:6: rejected at " " (byte 13) in json > value > array > elements > value; '
            'expected "e"',
        ),
        (
            b'{"a" 1}',
            1,
            ':1:6: rejected at "1" (byte 5) in json > value > object > members > pair; '
            "expected [\\t\\n\\r ] inside #",
        ),
        (b"[1]]", 1, ':1:4: rejected at "]" (byte 3) in json'),
        (
            b'{"a": 1',
            1,
            ":1:8: incomplete in json > value > object; expected [.0-9Ee] inside #'-?(0|",
        ),
        (b"", 1, ":1:1: incomplete in json; expected"),
    ],
)
def test_explanations(
    subject: str,
    text: bytes,
    code: int,
    said: str,
    folder: Path,
    tmp_path: Path,
    capsysbinary: Captured,
) -> None:
    """Place, the rules inside each other, and the terminals as written; artifacts say the same."""
    file = tmp_path / "text"
    file.write_bytes(text)
    path = subject if subject == GRAMMAR else str(folder / subject)
    found, out, _ = called(capsysbinary, "explain", path, str(file))
    assert code == found
    assert out.startswith(f"{file}:")
    assert said in out
    assert [] == [line for line in out.splitlines()[1:] if not line.startswith("  = help: ")]


def test_a_line_break_too_many_is_named(tmp_path: Path, capsysbinary: Captured) -> None:
    """As for regular grammars."""
    grammar, text = tmp_path / "g.ebnf", tmp_path / "text"
    grammar.write_text("s ::= '(' s ')' | 'x';", encoding="utf-8")
    text.write_bytes(b"(x)\n")
    _, out, _ = called(capsysbinary, "explain", str(grammar), str(text))
    assert "the end of the text (it is accepted without the line break at its end)" in out


def test_deep_paths_are_shortened(tmp_path: Path, capsysbinary: Captured) -> None:
    """Thousands of brackets are a message of one line."""
    text = tmp_path / "text"
    text.write_bytes(b"[" * 3_000 + b"}")
    _, out, _ = called(capsysbinary, "explain", GRAMMAR, str(text))
    assert "(byte 3000) in json > value > array > … > " in out
    assert len(out) < 600


@pytest.mark.parametrize("subject", [GRAMMAR, "network", "earley"])
def test_masks(subject: str, folder: Path, capsysbinary: Captured) -> None:
    """By text and by ids, as from the grammar; what no member begins with exits with 1."""
    path = subject if subject == GRAMMAR else str(folder / subject)
    mask = ["mask", *ANY, path] if subject == GRAMMAR else ["mask", path]
    code, out, _ = called(capsysbinary, *mask, "--prefix", '[{"a": tru', "-f", "json")
    assert 0 == code
    boundaries = json.loads(out)["boundaries"]
    ids = ",".join(map(str, boundaries[0]["ids"]))
    code, out, _ = called(capsysbinary, *mask, "--prefix-ids", ids, "-f", "ids")
    assert (0, boundaries[0]["allowed"]) == (code, list(map(int, out.split())))
    code, _, err = called(capsysbinary, *mask, "--prefix", "[1,]")
    assert 1 == code
    assert 'it stops at byte 3 ("]")' in err
    assert 1 == called(capsysbinary, *mask, "--prefix-ids", ids + ",0")[0]


@pytest.mark.parametrize("stage", ["tree", "lnf", "network"])
def test_stages_of_any_grammar_as_text(stage: str, update: bool, capsysbinary: Captured) -> None:
    """They print as recorded."""
    code, out, _ = called(capsysbinary, "show", GRAMMAR, "--stage", stage)
    path = HERE / "snapshots" / f"json.{stage}.txt"
    if update:
        path.write_bytes(out.encode())
    assert (0, path.read_bytes()) == (code, out.encode())


@pytest.mark.parametrize("stage", ["nfa", "dfa", "tokens"])
def test_stages_of_regular_grammars_alone(stage: str, capsysbinary: Captured) -> None:
    """Others say why they are not there."""
    code, _, err = called(capsysbinary, "show", GRAMMAR, "--stage", stage)
    assert 2 == code
    assert "it nests itself (object → members → pair → value → object)" in err


@pytest.mark.parametrize("stage", ["rules", "parser", "lexer"])
@pytest.mark.parametrize("subject", [GRAMMAR, "network", "earley", "depth", "date.ebnf"])
def test_drawings_of_any_grammar(
    stage: str, subject: str, folder: Path, tmp_path: Path, capsysbinary: Captured
) -> None:
    """The same text each time, from the grammar and from every kind of artifact; dot draws it."""
    paths = {GRAMMAR: GRAMMAR, "date.ebnf": str(EXAMPLES / "date.ebnf")}
    path = paths.get(subject, str(folder / subject))
    code, out, _ = called(capsysbinary, "viz", path, "--stage", stage)
    assert 0 == code
    assert out.startswith("digraph")
    assert (0, out) == called(capsysbinary, "viz", path, "--stage", stage)[:2]
    if subject != "date.ebnf":
        of_grammar = called(capsysbinary, "viz", GRAMMAR, "--stage", stage)[1]
        assert untitled(out) == untitled(of_grammar)
    if shutil.which("dot"):
        svg = tmp_path / "x.svg"
        assert 0 == called(capsysbinary, "viz", path, "--stage", stage, "-o", str(svg))[0]
        assert b"</svg>" in svg.read_bytes()


@pytest.mark.parametrize("stage", ["rules", "parser", "lexer"])
def test_drawings_are_capped(stage: str, capsysbinary: Captured) -> None:
    """They say what they leave out."""
    code, out, err = called(capsysbinary, "viz", GRAMMAR, "--stage", stage, "--draw-states", "4")
    assert 0 == code
    assert "are left out (--draw-states 4" in err
    assert "left&#160;out" in out


@pytest.mark.parametrize("stage", ["nfa", "dfa", "tokens", "tokenizer"])
@pytest.mark.parametrize("subject", [GRAMMAR, "network"])
def test_other_drawings_say_what_there_is(
    stage: str, subject: str, folder: Path, capsysbinary: Captured
) -> None:
    """They need a DFA."""
    path = subject if subject == GRAMMAR else str(folder / subject)
    code, _, err = called(capsysbinary, "viz", path, "--stage", stage)
    assert 2 == code
    assert "draw --stage rules, parser or lexer" in err


def test_compile_draws_what_there_is(tmp_path: Path, capsysbinary: Captured) -> None:
    """--viz writes the drawings of the engine that was taken."""
    target, drawings = tmp_path / "x.cst", tmp_path / "drawings"
    called(capsysbinary, "compile", GRAMMAR, "-o", str(target), "--lazy", "--viz", str(drawings))
    assert {"rules", "parser", "lexer"} == {path.stem for path in drawings.iterdir()}


@pytest.mark.usefixtures("fewer_pairs")
def test_a_grammar_that_nests_is_compared_with_its_artifact(
    folder: Path, capsysbinary: Captured
) -> None:
    """As deep as there is room, which is said."""
    code, out, _ = called(capsysbinary, "diff", GRAMMAR, str(folder / "network"))
    assert 0 == code
    assert out.startswith("equal among texts where calls nest at most ")
