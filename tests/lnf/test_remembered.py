"""Remembering automata changes no finding, and keeps a bounded number of them."""

# Tests here say `expected == actual`.

import random

import pytest
from support import EXAMPLES

from constrain.artifacts.errors import ConstrainError
from constrain.compiler.automata.dfa import Dfa
from constrain.compiler.dialects import read_grammar
from constrain.compiler.grammar.check import check
from constrain.compiler.grammar.tree import Expr
from constrain.compiler.lints import lint
from constrain.compiler.lnf import remembered
from constrain.compiler.lnf.remembered import Memory, remembering
from constrain.compiler.lnf.resolve_exclusions import Operands

TEXTS = [
    ("kbnf", (EXAMPLES / "json.ebnf").read_text(encoding="utf-8")),
    ("lark", (EXAMPLES / "code.lark").read_text(encoding="utf-8")),
    ("kbnf", 'start ::= a | b | #"[a-z]+"; a ::= "x" | #"x|y"; b ::= (c | a)*; c ::= #"(a|ab)*";'),
    ("lark", 'start: (A | B | C)+\nA: /a+/i\nB: /a+/\nC: "a" | "b" | /[ab]/\n%ignore / +/\n'),
]


@pytest.mark.quick
@pytest.mark.parametrize(("dialect", "text"), TEXTS)
def test_findings_are_the_same(dialect: str, text: str, full: bool) -> None:
    """After each of many random edits, some of which nothing can read."""
    chance, memory, read = random.Random(11), Memory(), 0
    for _ in range(400 if full else 8):
        place = chance.randrange(len(text))
        edited = text[:place] + chance.choice(["", " ", "a", "|", '"x"', "?", "*"]) + text[place:]
        if chance.random() < 0.3:
            edited = text[:place] + text[place + 1 :]
        try:
            grammar = read_grammar(edited, dialect)
            check(grammar)
            expected = lint(grammar)
            with remembering(memory):
                actual = lint(read_grammar(edited, dialect))
        except ConstrainError:
            continue
        read += 1
        assert expected == actual
        text = edited if chance.random() < 0.5 else text

    assert read > 3


def test_what_is_kept_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Beyond so many bytes all is forgotten, and found again."""
    monkeypatch.setattr(remembered, "_MOST_BYTES", 20_000)
    memory = Memory()
    for number in range(60):
        text = f'start ::= a | b; a ::= #"[a-z]{{{number}}}x"; b ::= "{"y" * number}";'
        grammar = read_grammar(text, "kbnf")
        with remembering(memory):
            assert lint(grammar) == lint(grammar)
        assert memory.size < 40_000


def test_an_edit_builds_what_it_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of twenty rules side by side the automata of the one that is edited, and of the start, which
    uses it; nothing where the same is read at other places."""
    built = list[str]()
    made = Operands._made

    def counted(self: Operands, expr: Expr) -> Dfa:
        built.append(type(expr).__name__)
        return made(self, expr)

    monkeypatch.setattr(Operands, "_made", counted)
    memory = Memory()

    def count(text: str) -> int:
        built.clear()
        with remembering(memory):
            lint(read_grammar(text, "kbnf"))
        return len(built)

    rules = [f'r{i} ::= "a{i}" | #"b{i}+" | "c{i}";' for i in range(20)]
    text = "\n".join([f"start ::= {' '.join(f'r{i}' for i in range(20))};", *rules])
    first = count(text)
    assert first > 60
    assert count(text) == 0
    assert count("(* moved *)\n" + text.replace(";", " ;")) == 0
    assert 0 < count(text.replace('"a7"', '"x7"')) <= first // 20 + 1
