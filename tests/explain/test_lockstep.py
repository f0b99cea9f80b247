"""Nesting grammars compared by reading in both at once, against all short texts by Earley."""

import random
from contextlib import suppress
from itertools import product

import pytest
from support import ROOT
from support.grammars import random_grammar

from constrain.compiler import CompileOptions
from constrain.compiler.diagnostics import GrammarError, LimitError
from constrain.compiler.explain.lockstep import Lockstep, lockstep
from constrain.compiler.explain.machines import TextMachine, machine_of
from constrain.compiler.limits import Limits
from constrain.compiler.pipeline import build_engine

TEXTS = [bytes(text) for length in range(6) for text in product(b"abc", repeat=length)]


def machine(text: str, engine: str = "auto", dialect: str = "kbnf") -> TextMachine:
    """What reads the texts of a grammar."""
    return machine_of(build_engine(text, CompileOptions(dialect=dialect, engine=engine)))


def compared(left: str, right: str) -> Lockstep:
    """Two grammars, each by the engine of its own choice."""
    return lockstep(machine(left), machine(right), Limits())


def members(text: str) -> set[bytes]:
    """The short ones, by Earley's recogniser."""
    earley = machine(text, "earley")

    def accepts(octets: bytes) -> bool:
        count, state = earley.follow(earley.start, octets)
        return count == len(octets) and earley.may_end(state)

    return {octets for octets in TEXTS if accepts(octets)}


def test_random_grammars_differ_as_their_short_members_do(full: bool) -> None:
    """A shortest member that one side alone has; none where no text was left out."""
    rng, texts = random.Random(11 if full else 14), list[str]()
    while len(texts) < (400 if full else 26):
        text = random_grammar(rng)
        with suppress(GrammarError):
            machine(text)
            texts.append(text)
    decided = differing = 0
    for left, right in zip(texts[::2], texts[1::2], strict=True):
        found, (one, other) = compared(left, right), (members(left), members(right))
        for alone, text in ((one - other, found.only_left), (other - one, found.only_right)):
            shortest = min(map(len, alone), default=len(TEXTS[-1]) + 1)
            if text is not None and set(text) <= set(b"abc") and len(text) <= len(TEXTS[-1]):
                assert text in alone
                assert len(text) == shortest or found.depth is not None
            elif text is None and found.depth is found.length is None:
                assert not alone
                decided += 1
            differing += text is not None
    assert decided
    assert differing >= (5 if full else 3)


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        ("s ::= '(' s ')' | 'x';", "s ::= '(' s ')' | 'y' | 'x';", (None, b"y")),
        ("s ::= '(' s ')' | 'x';", "s ::= '(' t ')' | 'x'; t ::= '(' s ')' | 'x';", (None, None)),
        # A member that no text of one call has.
        ("s ::= '(' s ')' | 'x';", "s ::= 'x' | '(x)' | '((x))';", (b"(((x)))", None)),
        ("s ::= '(' s ')' | 'x';", "s ::= 'x';", (b"(x)", None)),
    ],
)
def test_what_nests(left: str, right: str, expected: tuple[bytes | None, bytes | None]) -> None:
    """Rules may nest by different rules; regular languages are sides as well."""
    found = compared(left, right)
    assert (found.only_left, found.only_right) == expected
    if expected == (None, None):
        assert found.depth is not None


def test_too_many_texts_for_one_call_say_how_long_they_were() -> None:
    """The length up to which all texts were read, which the first difference is beyond."""
    choice = "('a' | 'b')"
    rules = "s ::= {0} | '(' s ')'; {1}"
    left = rules.format(f"#'[ab]*a[ab]{{18}}' {choice}", "")
    right = rules.format(f"#'[ab]*a[ab]{{18}}' {choice} | #'b{{30}}'", "")
    found = compared(left, right)
    assert found.is_equal
    assert found.depth == 1
    assert found.length is not None
    assert found.length < 30


def test_the_clock_ends_it() -> None:
    """A limit's error, where the time is over."""
    text = (ROOT / "examples" / "json.ebnf").read_text(encoding="utf-8")
    sides = machine(text), machine(text)
    with pytest.raises(LimitError, match="seconds"):
        lockstep(*sides, Limits(seconds=0.05).started())


@pytest.mark.usefixtures("fewer_pairs")
def test_a_grammar_of_a_lexer_beside_one_without() -> None:
    """Lark's JSON and the example's have the same members as far as is looked."""
    sides = [
        machine((ROOT / "examples" / name).read_text(encoding="utf-8"), dialect=dialect)
        for name, dialect in (("json.lark", "lark"), ("json.ebnf", "kbnf"))
    ]
    found = lockstep(sides[0], sides[1], Limits())
    assert found.is_equal
    assert found.depth is not None
    assert found.depth >= 2
