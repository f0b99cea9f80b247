"""What the command line says of grammars with errors, or too large for a limit."""

# Tests here say `expected == actual`.
# ruff: noqa: SIM300

import re
from pathlib import Path

import pytest
from support.cli import Cli, content, names

GRAMMAR_ERRORS = [
    ("syntax", 's ::= "a"', "1:10", "expected"),
    ("string", 's ::= "a;', "1:7", "expected"),
    ("undefined", "s ::=\n  digt;\ndigit ::= '1';", "2:3", "did you mean 'digit'?"),
    ("empty", 's ::= "a" s;', "1:7", "give the recursion an alternative that ends"),
    ("regex", 's ::= #"a(b";', "1:10", "not closed"),
    ("recursion", 's ::= #"a(?R)";', "1:10", "recursion"),
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


# --- limits


@pytest.mark.parametrize(
    ("option", "value", "unit"),
    [
        ("--max-states", "3", "3 states"),
        ("--max-memory", "1000", "1,000 bytes of memory"),
        ("--max-seconds", "0", "0 seconds"),
        ("--max-nesting", "2", "2 levels of nesting"),
    ],
)
@pytest.mark.parametrize("command", ["compile", "mask"])
def test_a_limit_ends_with_its_own_code(
    cli: Cli,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    command: str,
    option: str,
    value: str,
    unit: str,
) -> None:
    """Code 3, the number, the option that raises it, and no file."""
    # What is resident grows by chance; sizes are counted, and the rule is the same each time.
    monkeypatch.setattr("constrain.compiler.limits.resident_bytes", lambda: 0)
    grammar = content(tmp_path / "g.ebnf", 'top ::= ((("x")) year);\nyear ::= #"[0-9]{9}";')
    result = cli(command, grammar, option, value)

    assert (3, b"") == (result.code, result.out)
    assert f"needs more than {unit}" in result.err
    assert f"raise {option}" in result.err
    assert ["g.ebnf"] == names(tmp_path)
    if option in ("--max-states", "--max-memory"):
        assert "most of it in rule 'year'" in result.err


def test_transitions_end_a_method_that_was_asked_for_and_move_another_on(
    cli: Cli, tmp_path: Path
) -> None:
    """Code 3 with ``--method direct``; by default the other takes its place."""
    grammar = content(tmp_path / "g.ebnf", 'top ::= ((("x")) year);\nyear ::= #"[0-9]{9}";')
    limit = ("--max-transitions", "50")
    asked = cli("compile", grammar, *limit, "--method", "direct")

    assert (3, b"") == (asked.code, asked.out)
    assert "needs more than 50 transitions (most of it in rule " in asked.err
    assert "raise --max-transitions" in asked.err
    assert ["g.ebnf"] == names(tmp_path)
    for command in ("compile", "mask"):
        assert 0 == cli(command, grammar, *limit).code


def test_a_limit_names_the_rule_that_explodes(cli: Cli, tmp_path: Path) -> None:
    """Determinisation of a known exponential case."""
    text = 'top ::= harmless blowup;\nharmless ::= "x";\nblowup ::= #"(a|b)*a(a|b){12}";'
    grammar = content(tmp_path / "g.ebnf", text)
    result = cli("compile", grammar, "--engine", "dfa", "--max-states", "500")

    assert 3 == result.code
    assert "determinisation needs more than 500 states" in result.err
    assert "'blowup'" in result.err
    assert "'harmless'" not in result.err
