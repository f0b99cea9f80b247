"""In Lark's terminals operators of classes are characters, as in Python and ECMAScript."""

import random
import re
import warnings

import pytest
from support.automata import build_automaton

from constrain.artifacts.errors import ConstrainError
from constrain.compiler.automata.assertions import resolved
from constrain.compiler.automata.thompson import thompson
from constrain.compiler.diagnostics import Diagnostic
from constrain.compiler.dialects.builder import Unescaped
from constrain.compiler.dialects.regex import parse_pattern
from constrain.compiler.limits import Limits

PIECES = ["-", "--", "&&", "[", "[[", "&", "~~", "a", "z", "^", "[:alpha:", r"\d", r"\]", "|", "+"]
TEXTS = ["-", "&", "[", "~", "a", "b", "z", "]", "^", ":", "1", "|", "+", "x", "-]", "[]"]


def test_plain_classes_hold_what_pythons_classes_hold(full: bool) -> None:
    """Random classes, wrong ones too."""
    rng = random.Random(163)
    compared = 0
    for _ in range(10_000 if full else 800):
        pattern = f"[{rng.choice(['', '^'])}{''.join(rng.choices(PIECES, k=rng.randrange(1, 6)))}]"
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                theirs = re.compile(pattern)
            except re.error:
                theirs = None
        text = Unescaped(pattern, tuple(range(len(pattern) + 1)))
        found: list[Diagnostic] = []
        limits = Limits()
        node = parse_pattern(text, limits, found, plain_classes=True)
        assert (theirs is None) == bool(found), pattern
        if theirs is None:
            continue
        nfa = thompson(resolved(node, limits))
        expected = [theirs.fullmatch(text) is not None for text in TEXTS]
        assert expected == [nfa.accepts(text.encode()) for text in TEXTS], pattern
        compared += 1
    assert compared > 500


@pytest.mark.parametrize(
    ("pattern", "members", "others"),
    [
        ("[a-z&&[aeiou]", "bo&[", "]-"),
        ("[!-f--z]", "!f-z", " "),
        ("[[]", "[", "]"),
        ("[^[]", "]a", "["),
        ("[a~~b]", "ab~", "c"),
    ],
)
def test_operators_are_characters_in_lark_and_operators_for_llguidance(
    pattern: str, members: str, others: str
) -> None:
    """Rust's regexes have them, and llguidance's are Rust's."""
    grammar = f"start: A\nA: /{pattern}/\n"
    dfa = build_automaton(grammar, dialect="lark").dfa
    assert all(dfa.accepts(char.encode()) for char in members)
    assert not any(dfa.accepts(char.encode()) for char in others)
    try:
        rust = build_automaton(f"%llguidance {{}}\n{grammar}", dialect="lark").dfa
    except ConstrainError:
        return
    assert [dfa.accepts(bytes([i])) for i in range(128)] != [
        rust.accepts(bytes([i])) for i in range(128)
    ]
