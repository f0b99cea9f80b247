"""Names that a grammar leaves open are defined from outside."""

# Tests here say `expected == actual`.
# ruff: noqa: SIM300

from pathlib import Path

import pytest
from support.automata import build_automaton

from constrain.artifacts import load
from constrain.cli.app import run
from constrain.compiler import compile_grammar, load_tokenizer
from constrain.compiler.automata.compare import are_equal
from constrain.compiler.diagnostics import CheckError, DialectError
from constrain.compiler.dialects import read_grammar
from constrain.compiler.dialects.ebnf.definitions import read_definitions
from constrain.compiler.options import CompileOptions, options_of
from constrain.compiler.serving.artifact_key import artifact_key
from constrain.compiler.serving.jobs import options_of_json, options_to_json

pytestmark = pytest.mark.quick

DEFINE = (("IDENT", "[a-z]+"), ("NUM", "[0-9]+"))

# One grammar, with two names that it leaves open, in dialects with names.
OPEN = {
    "kbnf": 'start ::= "let " IDENT "=" NUM;',
    "gbnf": 'root ::= "let " IDENT "=" NUM',
    "w3c": "start ::= 'let ' IDENT '=' NUM",
    "iso14977": 'start = "let ", IDENT, "=", NUM;',
    "lark": 'start: "let " IDENT "=" NUM',
    "ebnf": 'start = "let " IDENT "=" NUM',
}

CaptureBytes = pytest.CaptureFixture[bytes]


@pytest.mark.parametrize("dialect", OPEN)
def test_names_stand_for_their_regexes(dialect: str) -> None:
    """In every dialect; without definitions they are errors that say how to give some."""
    expected = build_automaton("let [a-z]+=[0-9]+", dialect="regex").dfa

    assert are_equal(expected, build_automaton(OPEN[dialect], dialect=dialect, define=DEFINE).dfa)
    with pytest.raises(CheckError, match="--define 'IDENT=REGEX'"):
        build_automaton(OPEN[dialect], dialect=dialect)


def test_special_sequences_are_named_with_their_marks_or_without() -> None:
    """White space in them does not count."""
    text = "s = ? a  letter ?, {? digit ?};"
    expected = build_automaton("[a-z][0-9]*", dialect="regex").dfa
    for name in ("a letter", "? a letter ?", "?a   letter?"):
        define = read_definitions([f"{name}=[a-z]", "digit=[0-9]"])
        for dialect in ("iso14977", "ebnf"):
            found = build_automaton(text, dialect=dialect, define=define).dfa

            assert are_equal(expected, found), name


def test_lark_reads_them_as_terminals() -> None:
    """Also where text is ignored, and for what it declares."""
    text = 'start: "a" IDENT\n%declare IDENT\n%ignore WS\n'
    dfa = build_automaton(text, dialect="lark", define=(("IDENT", "[0-9]+"), ("WS", " "))).dfa

    assert dfa.accepts(b"a 12 ")
    assert not dfa.accepts(b"a 1 2")


def test_the_empty_regex_is_the_empty_text() -> None:
    """As for the name of the end."""
    text = 'start: "a" END\n%ignore " "\n'
    dfa = build_automaton(text, dialect="lark", define=(("END", ""),)).dfa

    assert dfa.accepts(b"a ")


def test_definitions_without_effect_are_noted() -> None:
    """Those that the grammar has, that no rule uses, or whose dialect has no names."""
    define = (("a", "x"), ("b", "y"))
    notes = read_grammar('s ::= a; a ::= "a";', "kbnf", define=define).notes
    of_schema = read_grammar("{}", "json-schema", define=define[:1]).notes

    assert [
        "--define a changes nothing: the grammar defines it",
        "--define b changes nothing: no rule uses that name",
    ] == [note.message for note in notes]
    assert ["--define a changes nothing: json-schema has no names"] == [
        n.message for n in of_schema
    ]


def test_a_regex_that_is_none_is_an_error_of_its_own() -> None:
    """With its place in the regex."""
    with pytest.raises(DialectError, match=r"--define a:1:1: error: this class is not closed"):
        read_grammar("s ::= a;", "kbnf", define=(("a", "[0-9"),))


def test_definitions_are_read() -> None:
    """A name that is no word may have '=' in it."""
    texts = ["b=[=]", "?x = y?=1", "<a=b>==", " a =", "? l ?=2"]
    expected = [("<a=b>", "="), ("? l ?", "2"), ("?x = y?", "1"), ("a", ""), ("b", "[=]")]

    assert tuple(expected) == read_definitions(texts)
    for wrong in ("", "a", "=b"):
        with pytest.raises(ValueError, match="is not NAME=REGEX"):
            read_definitions([wrong])
    with pytest.raises(ValueError, match="'a' is defined twice"):
        read_definitions(["a=1", "a=2"])


def test_the_artifact_has_them(tmp_path: Path) -> None:
    """So that its grammar can be read again; they are part of its key."""
    options = CompileOptions(dialect="kbnf", define=DEFINE, tokenization="any")
    made = compile_grammar(OPEN["kbnf"], tokenizer=load_tokenizer(None), options=options)
    path = tmp_path / "a.cst"
    made.save(path)

    assert DEFINE == options_of(load(path).manifest).define
    assert options == options_of_json(options_to_json(options))
    others = [CompileOptions(dialect="kbnf", define=each) for each in (DEFINE, DEFINE[:1], ())]
    assert 3 == len({artifact_key(OPEN["kbnf"], each) for each in others})


def test_commands_take_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsysbinary: CaptureBytes
) -> None:
    """From the command line, or from the project file."""
    monkeypatch.chdir(tmp_path)
    Path("a.kbnf").write_text(OPEN["kbnf"], encoding="utf-8")
    given = ["--define", "IDENT=[a-z]", "--define", "NUM=7"]
    Path("text").write_text("let x=7", encoding="utf-8")
    for command in ("check", "explain", "sample", "show", "convert"):
        others = {"explain": ["text"], "convert": ["--to", "gbnf"]}.get(command, [])

        assert 0 == run([command, "a.kbnf", *others, *given]), command
    assert 2 == run(["check", "a.kbnf", "--define", "IDENT"])
    assert b"'IDENT' is not NAME=REGEX" in capsysbinary.readouterr().err
    assert 2 == run(["check", "a.kbnf"])
    Path("constrain.toml").write_text('define = ["IDENT=[a-z]", "NUM=7"]\n', encoding="utf-8")
    capsysbinary.readouterr()
    assert 0 == run(["sample", "a.kbnf", "--seed", "1"])
    assert b"=7\n" in capsysbinary.readouterr().out
