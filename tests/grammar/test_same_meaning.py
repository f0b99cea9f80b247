"""A pattern that all syntaxes share means the same wherever it stands."""

import random
import re
from collections.abc import Callable

from support.automata import build_automaton
from support.regexes import automaton_of

from constrain.compiler.schema import patterns
from constrain.compiler.tokenizers.encoding.patterns import compile_pattern

CHARACTERS = ["a", "b", "[ab]", "[a-c]", "c", r"\.", "[^b]", r"\x41"]
COUNTS = ["*", "+", "?", "{2}", "{1,2}", "*?", "+?"]


def expression(rng: random.Random, depth: int) -> str:
    """Of what Rust, Python, ECMA-262 and Oniguruma read alike."""
    kind = rng.randrange(8) if depth else 0
    if kind <= 1:
        return rng.choice(CHARACTERS)
    if kind <= 3:
        return expression(rng, depth - 1) + expression(rng, depth - 1)
    if kind == 4:
        return f"(?:{expression(rng, depth - 1)}|{expression(rng, depth - 1)})"
    if kind <= 6:
        return f"(?:{expression(rng, depth - 1)}){rng.choice(COUNTS)}"
    look = rng.choice(["(?=", "(?!", "(?<=", "(?<!"])
    return f"{look}{rng.choice(CHARACTERS)}){expression(rng, depth - 1)}"


def test_a_pattern_means_the_same_everywhere(full: bool) -> None:
    """As a regex, in KBNF, in a terminal of Lark, in a schema and of a tokenizer; `re` says what.

    The grammars have one more text, for a pattern may match none.
    """
    rng = random.Random(8)
    matched = 0
    for _ in range(3_000 if full else 40):
        pattern = expression(rng, 4)
        theirs = re.compile(pattern)
        quoted = pattern.replace("\\", "\\\\")
        ours = {
            "a regex": automaton_of(pattern).accepts,
            "KBNF": _grammar(f'start ::= #"{quoted}" | "z";', "kbnf"),
            "Lark": _grammar(f'start: A | "z"\nA: /{pattern}/', "lark"),
            "a schema": patterns.search(f"^(?:{pattern})$").accepts,
        }
        tokenizers = compile_pattern(pattern)
        for _ in range(10):
            text = "".join(rng.choices("aabbc.A\n", k=rng.randrange(6)))
            expected = theirs.fullmatch(text) is not None
            found = {name: accepts(text.encode()) for name, accepts in ours.items()}
            assert dict.fromkeys(ours, expected) == found, (pattern, text)
            assert (tokenizers.fullmatch(text) is not None) == expected, (pattern, text)
            matched += expected
    assert matched > 20


def _grammar(text: str, dialect: str) -> Callable[[bytes], bool]:
    return build_automaton(text, dialect=dialect).nfa.accepts
