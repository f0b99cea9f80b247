"""``viz`` as a user meets it, and the drawings of ``compile``."""

# Tests here say `expected == actual`.
# ruff: noqa: SIM300

import shutil
from pathlib import Path

import pytest
from support import EXAMPLES, tokenizer_json, written
from support.cli import DATE, Cli, content, names


@pytest.mark.parametrize("stage", ["nfa", "dfa", "tokens", "tokenizer"])
def test_viz_writes_dot(cli: Cli, date_file: Path, tmp_path: Path, stage: str) -> None:
    """Every stage of a grammar and of an artifact is DOT on standard output."""
    grammar = content(tmp_path / "g.ebnf", 's ::= "ab" | "c";')
    for subject in (grammar, str(date_file)):
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
    """--draw-states caps the drawing, with a note."""
    result = cli("viz", DATE, "--draw-states", "3")

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


@pytest.mark.parametrize("options", [("viz", "-o", "g.svg"), ("compile", "--viz", "out")])
def test_without_dot_the_texts_are_written_and_a_note_names_them(
    options: tuple[str, ...], cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was asked for is there but for its layout, so that the exit code is 0."""
    monkeypatch.setattr(shutil, "which", lambda _: None)
    command, *rest = options
    found = cli(command, content(tmp_path / "g.ebnf", 's ::= "ab" | "c";'), *rest)

    assert found.code == 0
    written = sorted(tmp_path.rglob("*.dot"))
    assert len(written) == (1 if command == "viz" else 4)
    _, _, files = found.err.partition("the DOT text was written to ")
    assert {path.name for path in written} == {
        Path(name).name for name in files.splitlines()[0].split(", ")
    }


@pytest.mark.parametrize("stage", ["nfa", "dfa", "tokens", "tokenizer"])
def test_the_automata_of_a_schema_that_nests_nothing_are_drawn(
    stage: str, cli: Cli, tmp_path: Path
) -> None:
    """It compiles to a network, and has automata all the same; a bound of the nesting is not
    needed, and draws the same. One that nests is refused with what nests."""
    schema = content(tmp_path / "s.schema.json", '{"enum": [1, 23]}')
    drawn = cli("viz", schema, "--stage", stage)
    assert drawn.code == 0, drawn.err
    assert drawn.out == cli("viz", schema, "--stage", stage, "--max-depth", "2").out
    schema = content(tmp_path / "n.schema.json", '{"items": {"$ref": "#"}, "type": "array"}')
    refused = cli("viz", schema, "--stage", stage)
    assert refused.code == 2
    assert "there for regular grammars alone" in refused.err
    assert "it nests itself" in refused.err


def test_viz_takes_the_end_of_text(cli: Cli, tmp_path: Path) -> None:
    """A tokenizer that names no end of text can be drawn with --eos."""
    grammar = content(tmp_path / "g.ebnf", 's ::= "ab";')
    file = str(written(tmp_path, tokenizer_json("ab", ["a b"])))

    assert 0 == cli("viz", grammar, "-t", file, "--stage", "tokens", "--eos", "a").code


@pytest.mark.parametrize("stage", ["parser", "lexer"])
def test_a_depth_ends_no_drawing_of_a_parser(cli: Cli, stage: str) -> None:
    """It has no effect there, and a note says so."""
    for path in (DATE, str(EXAMPLES / "json.ebnf"), str(EXAMPLES / "json.lark")):
        result = cli("viz", path, "--stage", stage, "--max-depth", "1")
        assert result.code == 0
        assert f"--max-depth has no effect on --stage {stage}" in result.err
        assert result.out.startswith(b"digraph")


def test_a_grammar_that_nests_is_drawn_as_a_parser_by_default(cli: Cli) -> None:
    """And one that does not as its DFA."""
    nested = str(EXAMPLES / "json.ebnf")
    assert cli("viz", nested).out == cli("viz", nested, "--stage", "parser").out
    assert cli("viz", DATE).out == cli("viz", DATE, "--stage", "dfa").out


def test_one_count_of_a_token_dfas_states(cli: Cli, tmp_path: Path) -> None:
    """compile --stats, show and viz say the same, and the drawing has the accepting state."""
    compiled = cli("compile", DATE, "--stats", "-o", str(tmp_path / "date.cst"))
    assert "token DFA: 72 states, 2,808 transitions" in compiled.err
    assert cli("show", DATE, "--stage", "tokens").out.startswith(b"tokens: 72 states, start 0")
    drawn = cli("viz", str(tmp_path / "date.cst"), "--stage", "tokens").out.decode()
    assert "72&#160;states,&#160;2,808&#160;transitions" in drawn
    assert "peripheries=2" in drawn
    direct = cli("compile", DATE, "--method", "direct", "-o", str(tmp_path / "direct.cst"))
    assert "72 token states, 2,808 transitions" in direct.err


def test_the_limit_of_states_is_the_same_as_everywhere(cli: Cli) -> None:
    """--draw-states and --draw-edges are of the drawing, --max-states of every automaton."""
    assert cli("viz", DATE, "--max-states", "3").code == 3
    few = cli("viz", DATE, "--draw-edges", "5")
    assert few.code == 0
    assert "--draw-edges 5" in few.err
