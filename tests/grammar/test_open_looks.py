"""Look-around of a grammar's terminals: what is read as Lark reads it, and what is refused."""

import random

import lark
import pytest
from support.automata import build_automaton

from constrain.compiler.diagnostics import CheckError
from constrain.compiler.frontend import read_checked
from constrain.compiler.options import CompileOptions

# A grammar, and the characters of random texts.
READ = [
    ('start: NAME EQ NAME\nNAME: /(?!if)[af-i]+/\nEQ: "=" /(?!=)/', "afi="),
    ('start: N ("+" N)*\nN: /0(?![1-9])|[1-9][0-9]*/', "01+"),
    ('start: "a" B | C\nB: /(?<!c)b+/\nC: /c(?=b)b/', "abc"),
    ('start: S+\nS: "\\"" _IN "\\""\n_IN: /.*/ /(?<!\\\\)(\\\\\\\\)*/', '"\\a'),
    ("start: A WORD\nA: /a+(?![a-z])/\nWORD: /-(?<=-)[a-z]+(?<!b)/", "ab-"),
    ('start: W NAME\nW: /if\\b/ " "\nNAME: /\\b[fi]+\\b/', "fi "),
    ("start: L+\nL: /(?m:^)(a*(?m:$)|#\\B#)/ _E\n_E: /\\n/", "a#\n"),
    ("start: C+\nC: /\\/\\*(\\*(?!\\/)|[^*])*\\*\\//\n%ignore /c(?=c)c/", "/*c"),
]


@pytest.mark.parametrize(("grammar", "characters"), READ)
def test_texts_are_those_of_larks_earley_parser(grammar: str, characters: str, full: bool) -> None:
    """Which divides a text in any way that the regexes match in place."""
    theirs = lark.Lark(grammar, parser="earley", lexer="dynamic_complete")
    ours = build_automaton(grammar, dialect="lark", meaning="exact").nfa
    rng = random.Random(4)
    members = 0
    for _ in range(3_000 if full else 300):
        text = "".join(rng.choices(characters, k=rng.randrange(1, 8)))
        try:
            theirs.parse(text)
            expected = True
        except lark.exceptions.LarkError:
            expected = False
        assert expected == ours.accepts(text.encode()), text
        members += expected
    assert members


@pytest.mark.parametrize(
    ("grammar", "line", "message"),
    [
        ("start: EQ EQ?\nEQ: /=(?!=)/", 2, "'=' depends on what stands around it: not the same be"),
        ('start: "a"? B\nB: /(?<!a)b/', 2, "not the same after 'a'"),
        ("start: NAME NAME\nNAME: /(?!if\\b)[a-z]+/", 2, "depends"),
        ("start: A\nA: B\nB: /b/\n%ignore /a|c(?!d)/", 4, "'c' depends"),
        (
            "start: A B?\nA: /a\\b/\nB: /[-b]/",
            2,
            r"'a' depends on what stands around it: not the same before 'b' (it has a \b)",
        ),
        ('start: "é"? A\nA: /\\Ba/', 2, "not the same after"),
        ("start: L+\nL: /(?m:^)a*\\n?/", 2, "(it has a (?m:^))"),
        ('start: S+\nS: /"(?!"")[^"]*"/', 2, "before '\"'"),
    ],
)
def test_what_the_text_around_would_decide_is_refused(
    grammar: str, line: int, message: str
) -> None:
    """With a text that shows it, at the terminal."""
    with pytest.raises(CheckError) as caught:
        build_automaton(grammar, dialect="lark", meaning="exact", name="g.lark")
    assert f"g.lark:{line}:" in str(caught.value)
    assert message in str(caught.value)


def test_parts_of_a_terminal_are_no_terminals_of_their_own() -> None:
    """A part that looks behind its beginning is read where it stands; it is no rule then."""
    found = read_checked(READ[3][0], CompileOptions(dialect="lark"), "g.lark")
    assert [rule.name for rule in found.rules] == ["start", "S"]
