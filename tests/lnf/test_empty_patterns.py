"""A language that is empty because of what is inside a regex has no member, and says where."""

# Tests here say `expected == actual`.
# ruff: noqa: SIM300

from pathlib import Path

import pytest
from support.cli import Cli

from constrain.artifacts.read import load_bytes
from constrain.artifacts.tokens.tokenset import to_ids
from constrain.compiler import compile_grammar, load_tokenizer

pytestmark = pytest.mark.quick

EMPTY = [
    ("g.regex", "a&b", "1:1", ["--extended"]),
    ("g.regex", "~((?s).*)", "1:1", ["--extended"]),
    ("g.regex", r"\b", "1:1", []),
    ("g.regex", r"(?:a\bb|^x\b$y)+", "1:1", []),
    ("g.ebnf", 'start ::= "a" #"x\\\\bx";', "1:11", []),
    ("g.ebnf", 'start ::= "(" start ")" | #"\\\\b";', "1:27", []),
    ("g.w3c", 'start ::= "x" - "x"', "1:11", []),
    ("g.lark", "start: X\nX: /a\\bb/\n", "2:4", []),
]


@pytest.mark.parametrize("command", ["compile", "check", "mask", "explain"])
@pytest.mark.parametrize(("name", "text", "place", "options"), EMPTY)
def test_an_empty_language_inside_a_regex_has_its_place(
    cli: Cli, command: str, name: str, text: str, place: str, options: list[str]
) -> None:
    """Exit code 2 and the regex, whatever the command; no defect, no damaged section."""
    Path(name).write_text(text, encoding="utf-8")
    found = cli(command, name, *options, stdin=b"x")
    said = found.err + found.out.decode()
    assert 2 == found.code, said
    assert f"{name}:{place}: error: rule 'start' is an empty language" in said
    assert "no text matches what stands here" in said


@pytest.mark.parametrize("engine", ["dfa", "network", "earley"])
@pytest.mark.parametrize("pattern", ["a*&b*", "~((?s:.+))&a?", "(a*&(ab)*)b?&a*"])
def test_a_pattern_of_the_empty_text_alone_is_that_text(engine: str, pattern: str) -> None:
    """No terminal without members is left of it: artifacts of all engines can be read."""
    tokenizer = load_tokenizer()
    made = compile_grammar(
        pattern, dialect="regex-extended", tokenizer=tokenizer, tokenization="any", engine=engine
    )
    matcher = load_bytes(made.to_bytes()).matcher()
    assert list(tokenizer.eos) == to_ids(matcher.mask()).tolist()


@pytest.mark.parametrize("nesting", [False, True])
def test_by_maximal_munch_a_terminal_without_texts_is_no_empty_text(
    cli: Cli, nesting: bool
) -> None:
    """It cannot be left out: there is no member where every one needs it."""
    alternative = '"(" start ")" | ' * nesting
    Path("g.lark").write_text(f'start: {alternative}"q" X\nX: /a\\bb/\n%ignore " "\n')
    for command in ("compile", "check", "mask", "explain"):
        found = cli(command, "g.lark", stdin=b"q")
        assert 2 == found.code
        assert "is an empty language" in found.err + found.out.decode()
    Path("h.lark").write_text('start: "q" X | "r"\nX: /a\\bb/\n%ignore " "\n')
    assert 1 == cli("explain", "h.lark", stdin=b"q").code
    assert 0 == cli("explain", "h.lark", stdin=b"r").code
