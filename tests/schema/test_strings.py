"""Automata of strings, against Python's UTF-8 and its JSON reader."""

import itertools
import json
import random
from dataclasses import replace
from itertools import islice

import numpy as np
import pytest
from support.automata import words_of

from constrain.compiler.automata.boolean import difference, union
from constrain.compiler.automata.compare import are_equal, is_included
from constrain.compiler.automata.dfa import Dfa
from constrain.compiler.automata.members import Members
from constrain.compiler.automata.minimize import minimal, minimize
from constrain.compiler.automata.regex_ir import Lit
from constrain.compiler.automata.thompson import thompson
from constrain.compiler.diagnostics import LimitError
from constrain.compiler.limits import Limits
from constrain.compiler.schema import strings
from constrain.compiler.schema.rules.fixed_text import fixed_text

# One of each length, the ends of each range of UTF-8, and what JSON escapes.
CHARACTERS = 'a/\\"\b\f\n\r\t\0\x1f\x7f\x80éß\u07ff\u0800\ud7ff\ue000\uffff\U00010000🎉\U0010ffff'


def text_of(rng: random.Random, longest: int = 6) -> str:
    """A random text."""
    return "".join(rng.choice(CHARACTERS) for _ in range(rng.randint(0, longest)))


ESCAPES = ("usual", "any", "shortest")


def spellings_of(char: str) -> dict[str, set[str]]:
    """All that JSON may write for a character, by the options that allow it: ``raw`` those that
    keep it, ``needed`` all of them."""
    octets = char.encode("utf-16-be")
    units = [f"{octets[i]:02x}{octets[i + 1]:02x}" for i in range(0, len(octets), 2)]
    coded = {"".join(f"\\u{unit}" for unit in units)}
    coded |= {"".join(f"\\u{unit.upper()}" for unit in units)}
    short = {'"': '\\"', "\\": "\\\\", "/": "\\/"}
    short |= {"\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
    raw = {char} if char >= " " and char not in '"\\' else set()
    found = {"any": raw | coded | ({short[char]} if char in short else set())}
    found["usual"] = found["any"] - (coded if " " <= char <= "~" else set())
    found["shortest"] = raw or found["usual"]
    return found


def spelling_of(rng: random.Random, text: str, escapes: str) -> str:
    """One of the spellings of a text."""
    return "".join(rng.choice(sorted(spellings_of(char)[escapes])) for char in text)


def is_allowed(spelling: str, text: str, is_ascii: bool, escapes: str) -> bool:
    """Whether ``as_json`` has a spelling of a text, by the characters one after the other."""
    if not text:
        return not spelling
    for one in spellings_of(text[0])["any"]:
        if spelling.startswith(one):
            allowed = spellings_of(text[0])[escapes]
            if is_ascii and text[0] > "~":
                # What is ASCII alone may be escaped, and what is beyond must be.
                allowed = spellings_of(text[0])["usual"] - (
                    {text[0]} if text[0] > "\x7f" else set()
                )
            return one in allowed and is_allowed(spelling[len(one) :], text[1:], is_ascii, escapes)
    raise AssertionError(spelling)


def unnumbered(dfa: Dfa) -> Dfa:
    """The same, as if nothing was known of its states."""
    return replace(dfa, is_trimmed=False)


def is_same(left: Dfa, right: Dfa) -> bool:
    """Whether all tables are equal."""
    return (
        np.array_equal(left.table, right.table)
        and np.array_equal(left.classes, right.classes)
        and np.array_equal(left.accepting, right.accepting)
        and left.start == right.start
    )


@pytest.mark.parametrize("most", [0, 1, 2, 7, None])
@pytest.mark.parametrize("least", [0, 1, 2, 5])
def test_lengths_count_code_points(least: int, most: int | None) -> None:
    """Minimal, and numbered as minimisation numbers."""
    if most is not None and most < least:
        with pytest.raises(ValueError, match="between"):
            strings.lengths(least, most)
        return
    dfa = strings.lengths(least, most)
    assert is_same(minimize(unnumbered(dfa)), dfa)
    rng = random.Random(2)
    for _ in range(300):
        text = text_of(rng, 9)
        expected = least <= len(text) and (most is None or len(text) <= most)
        assert expected == dfa.accepts(text.encode())
        if text and text[-1] >= "\x80":
            assert not dfa.accepts(text.encode()[:-1])


@pytest.mark.quick
def test_literals_are_one_text() -> None:
    """The empty one too; a lone surrogate is no text."""
    rng = random.Random(3)
    for text in ("", *(text_of(rng) for _ in range(50))):
        dfa = strings.literal(text)
        assert is_same(minimize(unnumbered(dfa)), dfa)
        assert list(words_of(dfa, 30)) == [tuple(text.encode())]
    with pytest.raises(UnicodeEncodeError):
        strings.literal("a\ud800")


def test_enumerations_are_the_minimal_automata_of_their_texts(full: bool) -> None:
    """Of none, of one, of some that begin or end alike; numbered as minimisation numbers."""
    rng = random.Random(8)
    assert strings.one_of(frozenset()).is_empty
    assert is_same(strings.literal("ab"), strings.one_of(frozenset(["ab"])))
    for _ in range(500 if full else 50):
        texts = {"".join(rng.choices('abé"', k=rng.randint(0, 4))) for _ in range(12)}
        dfa = strings.one_of(frozenset(texts))
        assert is_same(minimize(unnumbered(dfa)), dfa)
        assert {text.encode() for text in texts} == {bytes(word) for word in words_of(dfa, 9)}
    with pytest.raises(UnicodeEncodeError):
        strings.one_of(frozenset(["a", "\ud800"]))


def test_ten_thousand_texts_are_one_automaton() -> None:
    """One state for each distinct rest."""
    words = frozenset(f"{number:05}" for number in range(0, 100_000, 10))
    dfa = strings.one_of(words)
    assert dfa.states == 7
    long = frozenset(["a" * 50_000, "a" * 49_999 + "b"])
    assert strings.one_of(long).states == 50_002
    with pytest.raises(LimitError, match="states"):
        strings.one_of(long, Limits(states=1000))


@pytest.mark.parametrize("escapes", ESCAPES)
@pytest.mark.parametrize("is_ascii", [False, True])
def test_json_strings_are_the_spellings_of_their_texts(
    is_ascii: bool, escapes: str, full: bool
) -> None:
    """Spellings of members are accepted, those of other texts are not, whatever the escapes."""
    rng = random.Random(4)
    for _ in range(200 if full else 6):
        texts = [text_of(rng, 3) for _ in range(rng.randint(1, 4))]
        dfa = strings.literal(texts[0])
        for text in texts[1:]:
            dfa = union(dfa, strings.literal(text))
        if rng.random() < 0.3:
            dfa = difference(strings.lengths(0, 4), dfa)
        written = strings.as_json(dfa, is_ascii, escapes)
        assert is_same(minimize(unnumbered(written)), written)
        for text in [*texts, *(text_of(rng, 5) for _ in range(20))]:
            for form in ESCAPES:
                spelling = spelling_of(rng, text, form)
                expected = dfa.accepts(text.encode())
                expected = expected and is_allowed(spelling, text, is_ascii, escapes)
                assert text == json.loads(f'"{spelling}"')
                assert expected == written.accepts(f'"{spelling}"'.encode()), (texts, spelling)


@pytest.mark.parametrize("escapes", ESCAPES)
@pytest.mark.parametrize("is_ascii", [False, True])
def test_texts_that_are_fixed_are_written_as_their_automata_are(
    is_ascii: bool, escapes: str
) -> None:
    """As an expression, which is a literal where there is one spelling: that of Python."""
    rng = random.Random(7)
    for text in ["", *CHARACTERS, "ab", *(text_of(rng, 5) for _ in range(20))]:
        written = strings.as_json(strings.literal(text), is_ascii, escapes, is_fixed=True)
        node = fixed_text(text, is_ascii, escapes)
        found = [bytes(word) for word in itertools.islice(words_of(written, 70), 2)]

        assert is_same(minimal(thompson(node)), written)
        assert isinstance(node, Lit) == (len(found) == 1)
        assert json.dumps(text, ensure_ascii=is_ascii).encode() in found or len(found) > 1


@pytest.mark.parametrize("escapes", ESCAPES)
@pytest.mark.parametrize("is_ascii", [False, True])
def test_drawn_json_strings_are_read_as_members(is_ascii: bool, escapes: str) -> None:
    """What the automaton accepts, a JSON reader reads as a member of the decoded language."""
    dfa = difference(strings.lengths(1, 5), strings.literal("a"))
    written = strings.as_json(dfa, is_ascii, escapes)
    for drawn in islice(Members(written).draws(at_most=30, seed=5), 300):
        text = json.loads(drawn)
        assert dfa.accepts(text.encode())
        assert drawn.isascii() or not is_ascii


@pytest.mark.parametrize("is_ascii", [False, True])
def test_free_strings_have_all_escapes_but_lone_surrogates(is_ascii: bool) -> None:
    """Every code point by its escapes, in either case; halves of pairs are no characters."""
    free, one = strings.free(is_ascii), strings.character(is_ascii)
    rng = random.Random(6)
    codes = [*range(0x100), *(rng.randrange(0x110000) for _ in range(500)), 0xD7FF, 0xE000]
    for code in codes:
        unit = f"\\u{code:04x}".encode()
        if code > 0xFFFF:
            unit = json.dumps(chr(code))[1:-1].encode()
        is_character = not 0xD800 <= code <= 0xDFFF
        assert is_character == one.accepts(unit) == free.accepts(b'"%b"' % unit)
        assert is_character == one.accepts(unit[:2] + unit[2:].upper().replace(b"U", b"u"))
        if is_character:
            raw = chr(code).encode()
            expected = (code < 0x80 or not is_ascii) and chr(code) not in '"\\' and code >= 0x20
            assert expected == one.accepts(raw)
    for wrong in (rb'"\ud800"', rb'"\udc00"', rb'"\ud800\ud800"', rb'"\ud800x"', rb'"\x41"', b'"'):
        assert not free.accepts(wrong)
    assert is_included(strings.as_json(strings.lengths(0, None), is_ascii), free)


@pytest.mark.quick
def test_strings_of_nothing_and_of_everything() -> None:
    """The ends of the algebra stay what they are."""
    nothing = difference(strings.literal("a"), strings.literal("a"))
    assert strings.as_json(nothing).is_empty
    empty = strings.as_json(strings.literal(""))
    assert list(words_of(empty, 9)) == [tuple(b'""')]
    everything = strings.lengths(0, None)
    for is_ascii in (False, True):
        free = strings.free(is_ascii)
        assert are_equal(strings.as_json(everything, is_ascii, "any"), free)
        for escapes in ("usual", "shortest"):
            assert not are_equal(strings.as_json(everything, is_ascii, escapes), free)
    assert strings.as_json(everything, escapes="shortest").states < 20


def test_lengths_and_json_strings_stay_within_limits() -> None:
    """The number of states is known before tables are made."""
    with pytest.raises(LimitError, match="states"):
        strings.lengths(0, 10**12)
    with pytest.raises(LimitError, match="states"):
        strings.as_json(strings.lengths(0, 100), limits=Limits(states=900))
    assert strings.lengths(0, 10_000).states == 80_002
