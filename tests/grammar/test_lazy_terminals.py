"""Lazy terminals are what Lark's lexer reads by them, or are refused."""

import random
import re

import pytest
from lark import Lark
from lark.exceptions import LarkError
from support.oracles.maximal_munch import MaximalMunchOracle

from constrain.compiler.automata.dfa import Dfa
from constrain.compiler.diagnostics import CheckError
from constrain.compiler.dialects import read_grammar
from constrain.compiler.frontend import Automaton
from constrain.compiler.limits import Limits
from constrain.compiler.maximal_munch.lexemes import lexeme_grammar
from constrain.compiler.pipeline import build_engine
from constrain.compiler.writers import write

COMMENT = 'start: (COMMENT | "x")+\nCOMMENT: /\\/\\*(.|\\n)*?\\*\\//\n%ignore " "\n'
JOINED = 'start: (COMMENT | "x")+\nCOMMENT: "/*" _INNER "*/"\n_INNER: /(.|\\n)*?/\n%ignore " "\n'
STRINGS = 'start: (S | N)+\nS: "\\"" /.*?/ "\\""\nN: /[a-z]+/\n%ignore " "\n'
INNER = (
    'start: (S | N)+\n%import common._STRING_ESC_INNER\nS: "\'" _STRING_ESC_INNER "\'"\n'
    'N: /[a-z]+/\n%ignore " "\n'
)
# Looks count nothing where Lark sorts alternatives by what they can match.
LOOKS = 'start: A B?\nA: /ab(?!c)/ | /a[bd]??d?/\nB: "b"\n%ignore " "\n'
LINES = 'start: (LINE | "x")+\nLINE: /#.*?(\\n|;;?)/\n%ignore " "\n'


def dfa_of(grammar: str, dialect: str = "lark", meaning: str | None = None) -> Dfa:
    """The automaton of a regular grammar in its own meaning."""
    found = build_engine(grammar, dialect=dialect, meaning=meaning)
    assert isinstance(found, Automaton)
    return found.dfa


@pytest.mark.parametrize(
    ("grammar", "letters"),
    [
        (COMMENT, "/* x"),
        (JOINED, "/* x"),
        (STRINGS, '"a '),
        (INNER, "'a\\ "),
        (LINES, "#;\nx"),
        (LOOKS, "abdc"),
    ],
)
def test_a_lazy_terminal_ends_where_lark_ends_it(grammar: str, letters: str) -> None:
    """Texts in its letters are members exactly if Lark parses them."""
    rng = random.Random(151)
    theirs = Lark(grammar, parser="lalr")
    ours = dfa_of(grammar)
    oracle = MaximalMunchOracle(read_grammar(grammar, "lark"))
    members = 0
    for _ in range(2000):
        text = "".join(rng.choice(letters) for _ in range(rng.randrange(1, 11)))
        try:
            theirs.parse(text)
            expected = True
        except LarkError:
            expected = False
        assert expected == ours.accepts(text.encode()), text
        assert expected == oracle.accepts(text.encode()), text
        members += expected
    assert members > 20


def random_terminal(rng: random.Random, depth: int, names: list[str]) -> str:
    """What stands after the colon of a terminal."""
    kind = rng.random()
    if depth == 0 or kind < 0.35:
        regexes = ["/.*?/", "/[ab]+?/", "/b*?c/", "/(a|ab)/", "/[^c]/", "/(a|bc){1,2}?/", "/c??a/"]
        return rng.choice(['"a"', '"ab"', '"bc"', *regexes, *names])
    parts = [random_terminal(rng, depth - 1, names) for _ in range(2)]
    if kind < 0.6:
        return " ".join(parts)
    if kind < 0.85:
        return f"({' | '.join(parts)})"
    return f"({parts[0]}){rng.choice('?*+')}" if rng.random() < 0.7 else f"[{parts[0]}]"


def taken(dfa: Dfa, text: str) -> int:
    """How many characters of an ASCII text the automaton accepts at most; 0 for none."""
    return max(i for i in range(len(text) + 1) if i == 0 or dfa.accepts(text[:i].encode()))


def test_terminals_of_several_parts_are_joined_as_lark_joins_them(full: bool) -> None:
    """Of random terminals, the lexeme takes of each text what Lark's regex of it takes."""
    rng = random.Random(157)
    compared = refused = 0
    for _ in range(4000 if full else 75):
        other = random_terminal(rng, 1, [])
        grammar = f"start: T\nT: {random_terminal(rng, 3, ['PART'])}\nPART: {other}\n"
        try:
            (theirs,) = (t for t in Lark(grammar, parser="lalr").terminals if t.name == "T")
            numbering = lexeme_grammar(read_grammar(grammar, "lark"), Limits())
        except LarkError:
            continue
        except CheckError as error:
            refused += "supported" in str(error)
            continue
        pattern = theirs.pattern.to_regexp()
        if "?" not in pattern.replace("(?:", "").replace(")?", ""):
            continue
        (lexeme,) = numbering.lexemes
        for _ in range(8):
            text = "".join(rng.choice("aabbc") for _ in range(rng.randrange(7)))
            match = re.match(pattern, text)
            assert (0 if match is None else match.end()) == taken(lexeme.dfa, text), grammar
        compared += 1
    assert compared > 25
    assert refused > 0


@pytest.mark.parametrize(
    ("terminal", "message"),
    [
        ("/(a?b?)*c+?/", "something that may be empty is repeated"),
        ("/.*?/", "takes nothing of any text"),
    ],
)
def test_what_cannot_be_followed_is_refused_with_its_place(terminal: str, message: str) -> None:
    """The message shows the regex and says what to write."""
    grammar = f'start: "x" T\nT: {terminal}\n%ignore " "\n'
    with pytest.raises(CheckError, match=message) as caught:
        dfa_of(grammar)
    (found,) = caught.value.diagnostics
    assert found.span is not None
    assert terminal == grammar[found.span.start : found.span.end]
    assert found.help


def test_exactly_and_for_llguidance_a_lazy_quantifier_says_nothing() -> None:
    """There the language counts, and it is the same."""
    text = b"/* */ */"
    exact = dfa_of(COMMENT, meaning="exact")
    rust = dfa_of("%llguidance {}\n" + COMMENT)
    lark = dfa_of(COMMENT)
    assert [dfa.accepts(text) for dfa in (exact, rust, lark)] == [True, True, False]
    for meaning in ("exact", "maximal-munch"):
        lazy, greedy = (dfa_of(t, "regex", meaning=meaning) for t in ("a.*?b", "a.*b"))
        assert lazy.table.tobytes() == greedy.table.tobytes()


def test_a_lark_grammar_is_written_with_its_lazy_quantifiers() -> None:
    """Written and read again it has the same members by maximal munch."""
    written = write(read_grammar(COMMENT, "lark"), "lark")
    before, after = (dfa_of(t) for t in (COMMENT, written))
    assert before.table.tobytes() == after.table.tobytes()
    assert before.accepting.tobytes() == after.accepting.tobytes()
