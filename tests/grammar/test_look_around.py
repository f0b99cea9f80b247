"""Look-around against Python's `re`: random expressions, and what an automaton alone shows."""

import random
import re

import pytest
from support.regexes import accepts, automaton_of, node_of

from constrain.compiler.automata.assertions import resolved
from constrain.compiler.automata.minimize import minimal
from constrain.compiler.automata.regex_ir import looks_around
from constrain.compiler.automata.thompson import thompson
from constrain.compiler.limits import Limits

CHARACTERS = ["a", "b", "[ab]", "[^a]", ".", "c", " ", "é", r"\w"]
EDGES = [r"\b", r"\B", "^", r"\A", r"\Z"]
COUNTS = ["*", "+", "?", "{1,2}", "*?"]


def of_one_width(rng: random.Random, depth: int) -> str:
    """An expression whose matches are equally long, as `re` wants it of a look-behind."""
    kind = rng.randrange(6) if depth else 0
    if kind <= 2:
        return rng.choice(CHARACTERS)
    first = {3: of_one_width, 4: lambda rng, _: rng.choice(EDGES), 5: look}[kind](rng, depth - 1)
    return first + of_one_width(rng, depth - 1)


def look(rng: random.Random, depth: int) -> str:
    """Any of the four kinds."""
    if rng.random() < 0.5:
        return f"(?{rng.choice('=!')}{expression(rng, depth - 1)})"
    return f"(?<{rng.choice('=!')}{of_one_width(rng, depth - 1)})"


def expression(rng: random.Random, depth: int) -> str:
    """Any expression."""
    kind = rng.randrange(9) if depth > 0 else 0
    if kind <= 1:
        return rng.choice([*CHARACTERS, *EDGES])
    if kind <= 3:
        return expression(rng, depth - 1) + expression(rng, depth - 1)
    if kind == 4:
        return f"(?:{expression(rng, depth - 1)}|{expression(rng, depth - 1)})"
    if kind == 5:
        return f"(?:{expression(rng, depth - 1)}){rng.choice(COUNTS)}"
    return look(rng, depth)


def test_random_expressions_match_what_re_matches(full: bool) -> None:
    """With looks of all four kinds, in looks and in repetitions too, 20 texts each."""
    rng = random.Random(36)
    compared = matched = 0
    while compared < (20_000 if full else 41):
        pattern = expression(rng, 5)
        flags = rng.choice(["", "s", "m", "i"])
        if not looks_around(node_of(pattern, flags)):
            continue
        theirs = re.compile(f"(?{flags}:{pattern})" if flags else pattern)
        ours = automaton_of(pattern, flags)
        for _ in range(20):
            # There is no \B in an empty text for Python before 3.14.
            text = "".join(rng.choices("aabb c é\nA", k=rng.randrange(r"\B" in pattern, 7)))
            expected = theirs.fullmatch(text) is not None
            assert expected == ours.accepts(text.encode()), (pattern, flags, text)
            matched += expected
        compared += 1
    assert matched > compared


@pytest.mark.quick
@pytest.mark.parametrize(
    ("pattern", "members", "others"),
    [
        ("(?:(?!end)[a-z])*", ["", "en", "ed"], ["end", "bend"]),
        (r"(?!(?:if|else)\b)[a-z]+", ["iff", "els"], ["if", "else"]),
        (r'"(?:.*?)(?<!\\)(?:\\\\)*"', ['""', r'"\\"', r'"\"a"'], ['"', r'"\"']),
        (r"(?<=\bno)t|a(?=b(?<=ab))b|c", ["ab", "c"], ["t", "b"]),
        # A look-behind that looks ahead, and must not.
        (r"a(?<!a(?!b)).", ["ab"], ["aa"]),
        # Widths that `re` does not take.
        ("[ab]*(?<=ab*)b", ["ab", "abb", "bab"], ["b", "bb"]),
        ("(?m:(?<!^)b|a|\n)+", ["ab", "a\nab"], ["b", "a\nb"]),
        (r"(?mR:(?:a(?=$)|a$|\r|\n|b(?!^))+)", ["a", "a\r\n", "ba"], ["ab"]),
        ("a{1,3}+a?", ["a", "aa", "aaa", "aaaa"], ["aaaaa"]),
        ("(?>[ab]*)c", ["c", "abc"], ["a"]),
    ],
)
def test_examples(pattern: str, members: list[str], others: list[str]) -> None:
    """What each means."""
    assert members == [text for text in members + others if accepts(pattern, text)]


def test_a_look_in_an_operand_sees_the_operand() -> None:
    """Where the operation is the whole; elsewhere it is refused."""
    assert accepts("~((?!a).*)&.*", "ab", extended=True)
    assert not accepts("~((?!a).*)&.*", "b", extended=True)


@pytest.mark.quick
def test_marks_are_not_seen() -> None:
    """Two bytes that no text has."""
    node = resolved(node_of(r"a(?=b)\y{FF}(?<=a)b"), Limits())
    assert node is not None
    assert accepts(r"a(?=b)\y{FF}(?<=a)b", b"a\xffb")
    assert not accepts(r"a(?=c)\y{FF}(?<=a)b", b"a\xffb")


@pytest.mark.parametrize(
    ("pattern", "members", "others"),
    [
        (r"(?=xa)(?:x&.)[ab]c", ["xac"], ["xbc", "xa"]),
        (r"(?=(?:a&.))ab|(?!(?:a&.)).c", ["ab", "bc"], ["ac", "bb"]),
        (r"x(?:(?:\b-&.)|[ab]\B&.)a(?<!-a)", ["xaa", "xba"], ["x-a", "xa"]),
    ],
)
def test_operations_may_stand_beside_looks_and_inside(
    pattern: str, members: list[str], others: list[str]
) -> None:
    """Also where the operation is a part of more."""
    found = minimal(thompson(resolved(node_of(pattern, extended=True))))

    assert members == [text for text in [*members, *others] if found.accepts(text.encode())]
