"""The commands on grammars that are read by maximal munch, and on their artifacts."""

# Tests here say `expected == actual`.
# ruff: noqa: SIM300

import json
from pathlib import Path

import pytest
from support import EXAMPLES
from support.cli import Captured, called
from support.drawing import untitled

from constrain.artifacts import load
from constrain.cli.app import run

CODE, JSON = str(EXAMPLES / "code.lark"), str(EXAMPLES / "json.lark")
MUNCH = ("--meaning", "maximal-munch")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The examples compiled for any tokens, with all masks of JSON and none of the other."""
    path, any_tokens = tmp_path_factory.mktemp("munch"), ["--tokenization", "any"]
    assert 0 == run(["compile", JSON, *any_tokens, "-o", str(path / "json.cst")])
    assert 0 == run(["compile", CODE, *any_tokens, "--lazy", "-o", str(path / "code.cst")])
    return path


def test_compile_names_the_meaning(tmp_path: Path, capsysbinary: Captured) -> None:
    """Notes say how the grammar is read and by which engine; --stats how much is precomputed."""
    target = tmp_path / "json.cst"
    options = ["--stats", "--tokenization", "any", "-o", str(target)]
    code, out, err = called(capsysbinary, "compile", JSON, *options)
    assert (0, "") == (code, out)
    assert "note: read by maximal munch, as Lark and llguidance do" in err
    assert "note: engine greedy: rule 'object' is not known to be regular" in err
    assert "meaning: maximal-munch\n" in err
    assert "masks precomputed for every text: 10 heads, 339 summaries" in err
    assert "json.cst: network of 10 states, 3 calls, 12 lexemes, 103 different mask rows" in err
    manifest = load(target, verify=True).manifest
    assert ("greedy", "maximal-munch", "any") == (
        manifest.kind,
        manifest.meaning,
        manifest.tokenization,
    )


def test_the_exact_meaning_is_offered(tmp_path: Path, capsysbinary: Captured) -> None:
    """The same grammar read exactly is a network, and says so under --stats."""
    target = tmp_path / "json.cst"
    options = ["--meaning", "exact", "--stats", "--tokenization", "any", "-o", str(target)]
    code, _, err = called(capsysbinary, "compile", JSON, *options)
    assert 0 == code
    assert "meaning: exact\n" in err
    assert ("network", "exact") == (load(target).manifest.kind, load(target).manifest.meaning)


def test_any_dialect_can_be_read_so(tmp_path: Path, capsysbinary: Captured) -> None:
    """KBNF's strings and regexes are lexemes, too, if that is asked for."""
    grammar, text = tmp_path / "g.ebnf", tmp_path / "text"
    grammar.write_text("s ::= #'a+' '!' | #'a+' 'b';", encoding="utf-8")
    text.write_bytes(b"aa!")
    assert 0 == called(capsysbinary, "explain", str(grammar), str(text), *MUNCH)[0]
    assert 0 == called(capsysbinary, "explain", str(grammar), str(text))[0]
    grammar.write_text("s ::= #'a+' 'a!';", encoding="utf-8")
    code, _, err = called(capsysbinary, "explain", str(grammar), str(text), *MUNCH)
    assert 2 == code
    assert "there is no member: maximal munch leaves no way to the end of any text" in err
    assert 0 == called(capsysbinary, "explain", str(grammar), str(text))[0]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--engine", "network"], "the engine network is for --meaning exact"),
        (["--max-depth", "2"], "--max-depth is for --meaning exact"),
        (["--lazy", "--prewarm", "5"], "--lazy precomputes nothing"),
    ],
)
def test_what_does_not_go_together(
    options: list[str], said: str, tmp_path: Path, capsysbinary: Captured
) -> None:
    """Exit code 2, the reason, and nothing written."""
    target = tmp_path / "json.cst"
    code, _, err = called(capsysbinary, "compile", JSON, "-o", str(target), *options)
    assert 2 == code
    assert said in err
    assert not target.exists()


@pytest.mark.parametrize("subject", [CODE, "code.cst"])
@pytest.mark.parametrize(
    ("text", "code", "said"),
    [
        (b"int f(int a) { if (a) { return a; } }", 0, "accepted"),
        (b"int iff; // note", 0, "accepted"),
        (b"int if;", 0, "accepted"),
        (
            b"int f() { if; }",
            1,
            ':1:13: rejected at ";" (byte 12) in start > block > statement; '
            'expected [0-9A-Z_a-z] inside NAME or "("',
        ),
        (
            b"int f() { if a",
            1,
            ':1:14: rejected at "a" (byte 13) in start > block > statement; '
            'expected [\\t\\n ] inside /[ \\t\\n]+/ or "("',
        ),
        (b"int", 1, ":1:4: incomplete in start > item; expected NAME or"),
        (b"int f(", 1, ':1:7: incomplete in start > item; expected ")" or "double"'),
        (b"", 1, ":1:1: incomplete in start > item"),
        (b"int x;\n$", 1, ':2:1: rejected at "$" (byte 7) in start'),
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
    """The place, the rules inside each other there, and the lexemes that could have begun;
    artifacts say the same."""
    file = tmp_path / "text"
    file.write_bytes(text)
    path = subject if subject == CODE else str(folder / subject)
    found, out, _ = called(capsysbinary, "explain", path, str(file))
    assert code == found
    assert said in out
    assert [] == [line for line in out.splitlines()[1:] if not line.startswith("  = help: ")]


def test_a_line_break_too_many_is_named(tmp_path: Path, capsysbinary: Captured) -> None:
    """As for other grammars."""
    grammar, text = tmp_path / "g.lark", tmp_path / "text"
    grammar.write_text('start: "(" start ")" | "x"\n%ignore " "\n', encoding="utf-8")
    text.write_bytes(b"(x)\n")
    _, out, _ = called(capsysbinary, "explain", str(grammar), str(text))
    assert "the end of the text (it is accepted without the line break at its end)" in out


@pytest.mark.parametrize("subject", [JSON, "json.cst"])
def test_masks(subject: str, folder: Path, capsysbinary: Captured) -> None:
    """Boundaries, and tokens of several lexemes; a grammar and its artifact answer alike."""
    path = subject if subject == JSON else str(folder / subject)
    any_tokens = ["--tokenization", "any"] if subject == JSON else []
    options = [*any_tokens, "--prefix", '{"a": tr', "--format", "json"]
    code, out, _ = called(capsysbinary, "mask", path, *options)
    assert 0 == code
    found = json.loads(out)["boundaries"]
    assert [8, 8] == [b["bytes"] for b in found[:1]] * 2
    code, _, err = called(capsysbinary, "mask", path, "--prefix", "[1,]")
    assert 1 == code
    assert 'it stops at byte 3 ("]")' in err


def test_a_keyword_is_no_name(folder: Path, capsysbinary: Captured) -> None:
    """Where both may begin, after 'if' a name can only go on, and after 'i' it can end."""
    path = str(folder / "code.cst")
    for prefix, expected in (("int f() { if", False), ("int f() { i", True)):
        _, out, _ = called(capsysbinary, "mask", path, "--prefix", prefix, "--format", "json")
        best = json.loads(out)["boundaries"][0]
        artifact = load(path)
        allowed = {artifact.vocabulary.token(i) for i in best["allowed"]}
        assert expected == (b";" in allowed)
        assert b"x" in allowed


def test_show_lexemes(capsysbinary: Captured, tmp_path: Path) -> None:
    """Their numbers, texts and ranks, and the network over them; exact grammars have none."""
    code, out, err = called(capsysbinary, "show", JSON, "--stage", "lexemes")
    assert 0 == code
    assert "note: read by maximal munch" in err
    lines = out.splitlines()
    assert "lexemes: 12" == lines[0]
    assert "STRING" in out
    assert any(line.endswith('"{"   ; string') for line in lines)
    assert any(line.endswith("; ignored") for line in lines)
    _, out, _ = called(capsysbinary, "show", JSON, "--stage", "network")
    assert "-- STRING ->" in out
    exact = ["show", JSON, "--stage", "lexemes", "--meaning", "exact"]
    assert 2 == called(capsysbinary, *exact)[0]


@pytest.mark.parametrize("stage", ["parser", "lexer", "rules"])
def test_drawings(stage: str, folder: Path, capsysbinary: Captured) -> None:
    """Of a grammar and of its artifact."""
    drawn = [
        called(capsysbinary, "viz", path, "--stage", stage)[1]
        for path in (JSON, str(folder / "json.cst"))
    ]
    assert untitled(drawn[0]) == untitled(drawn[1])
    assert "STRING" in drawn[0] or stage == "rules"
    assert drawn[0].startswith("digraph")


def test_compile_draws_what_there_is(tmp_path: Path, capsysbinary: Captured) -> None:
    """--viz writes the drawings of the parser and the lexer."""
    target, drawings = tmp_path / "x.cst", tmp_path / "drawings"
    called(capsysbinary, "compile", JSON, "--lazy", "-o", str(target), "--viz", str(drawings))
    assert {"rules", "parser", "lexer"} == {path.stem for path in drawings.iterdir()}


def test_lark_keeps_what_decides_its_meaning(tmp_path: Path, capsysbinary: Captured) -> None:
    """Written again, a grammar still follows strings and regexes both, or does not."""
    path = tmp_path / "g.lark"
    for text in ('%llguidance {}\nstart: "a"i\n', 'start: "a"i\n%ignore " "\n'):
        path.write_text(text, encoding="utf-8")
        assert (0, text) == called(capsysbinary, "convert", str(path), "--to", "lark")[:2]


def test_the_contextual_lexer_of_lark(tmp_path: Path, capsysbinary: Captured) -> None:
    """It is an option of how a grammar is read, for Lark's grammars alone."""
    grammar, text, artifact = str(tmp_path / "g.lark"), tmp_path / "text", str(tmp_path / "g.cst")
    rules = 'start: "(" NAME* ")" | NAME* "to" NAME\nNAME: /[a-z]+/\n%ignore " "\n'
    Path(grammar).write_text(rules, encoding="utf-8")
    text.write_bytes(b"(a to)")
    contextual = "--lexer", "contextual"

    some = *contextual, "--tokenization", "any"
    assert 0 == called(capsysbinary, "compile", grammar, *some, "-o", artifact)[0]
    assert "as Lark's LALR parser does" in called(capsysbinary, "inspect", artifact)[1]
    assert 0 == called(capsysbinary, "explain", grammar, str(text))[0]
    for subject in (grammar, artifact):
        options = contextual if subject == grammar else ()
        assert 1 == called(capsysbinary, "explain", subject, str(text), *options)[0]
    for subject, more, said in (
        (grammar, ("--meaning", "exact"), "is for --meaning maximal-munch"),
        (str(EXAMPLES / "date.ebnf"), (), "is Lark's"),
    ):
        words = ("compile", subject, *contextual, *more, "-o", artifact)
        code, _, err = called(capsysbinary, *words)
        assert 2 == code
        assert said in err
    Path(grammar).write_text('start: a | b\na: "x"\nb: "x"\n', encoding="utf-8")
    code, out, err = called(capsysbinary, "check", grammar, *contextual)
    assert 1 <= code
    assert "no LALR(1) parser" in out + err
