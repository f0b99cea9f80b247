"""Random structural tags beside a recogniser of their description, and beside xgrammar."""

# Tests here say `expected == actual`.
# ruff: noqa: SIM300

import random
from collections.abc import Callable, Iterator
from itertools import product
from typing import Any

import pytest
from support.structural_tags import CASES, accepts, of, whole
from support.structural_tags.free_text import (
    forbidden_ends_via_search,
    never_met_via_search,
    texts_without_via_search,
)
from support.structural_tags.oracle import member, random_format

from constrain.artifacts.network.configurations import Network
from constrain.compiler.diagnostics import CheckError
from constrain.compiler.limits import Limits
from constrain.compiler.structural_tags.free_text import (
    forbidden_ends,
    never_met,
    texts_without,
)

TEXTS = ["".join(letters) for length in range(6) for letters in product("ab", repeat=length)]


def random_tags(seed: int, count: int) -> Iterator[tuple[Any, Network]]:
    """Formats over two letters that have a meaning, and their networks."""
    rng = random.Random(seed)
    while count:
        form = random_format(rng, 2, "ab")
        try:
            yield form, of(form)
        except CheckError:
            # Patterns that are never met, tags of two triggers, and what leaves no text.
            continue
        count -= 1


def test_random_tags_have_the_texts_of_their_description(full: bool) -> None:
    """All texts of up to five letters, patterns overlap in every way."""
    wrong = [
        (form, text)
        for form, found in random_tags(19, 2_000 if full else 12)
        for text in TEXTS
        if member(form, text) != accepts(found, text)
    ]

    assert [] == wrong[:3]


def test_free_text_contains_nothing_unwanted_and_ends_as_it_may(full: bool) -> None:
    """The automaton beside a search in each text, characters of several bytes among them."""
    rng = random.Random(7)
    texts = ["".join(letters) for length in range(6) for letters in product("aé<", repeat=length)]
    for _ in range(100 if full else 5):
        words = ["".join(rng.choices("aé<", k=rng.randint(1, 3))) for _ in range(4)]
        inside, last = words[: rng.randint(0, 3)], words[3 : rng.randint(3, 4)]
        found = texts_without(inside, last, Limits().started())

        said = texts_without_via_search(inside, last, texts)
        assert list(said) == [found.accepts(text.encode()) for text in texts]


def test_patterns_are_met_and_text_before_them_ends_as_all_pieces_of_them_say(full: bool) -> None:
    """Texts of two letters, which begin, contain and end with each other."""
    rng, limits = random.Random(3), Limits().started()
    for _ in range(5_000 if full else 200):
        words = ["".join(rng.choices("ab", k=rng.randint(1, 6))) for _ in range(6)]
        patterns, excluded = words[: rng.randint(1, 6)], words[rng.randint(1, 6) :]

        met = list(never_met_via_search(patterns, excluded))
        assert met == list(never_met(patterns, excluded, limits))
        ends = forbidden_ends_via_search(patterns, excluded)
        assert ends == forbidden_ends(patterns, excluded, limits)


@pytest.fixture
def xgrammar(full: bool) -> Callable[[Any], Callable[[str], bool]]:
    """What xgrammar takes as texts of a format."""
    if not full:
        pytest.skip("xgrammar runs beside this with --full")
    library = pytest.importorskip("xgrammar", reason="xgrammar is not installed here")
    testing = pytest.importorskip("xgrammar.testing")

    def of_format(form: Any) -> Callable[[str], bool]:
        grammar = library.Grammar.from_structural_tag(whole(form))
        return lambda text: bool(testing._is_grammar_accept_string(grammar, text))

    return of_format


def test_xgrammar_has_the_texts_of_each_kind(
    xgrammar: Callable[[Any], Callable[[str], bool]],
) -> None:
    """The same ten accepts and rejects; where it differs, the README says who is right."""
    for case in CASES.values():
        takes = xgrammar(case.format)

        assert [] == [text for text in case.accepts if not takes(text)]
        assert [] == [text for text in case.rejects if takes(text)]


def _words(form: Any, of_patterns: bool) -> Iterator[str]:
    """The patterns of a format and those inside; or all that free text in it must not contain."""
    if isinstance(form, list):
        for part in form:
            yield from _words(part, of_patterns)
    elif isinstance(form, dict):
        patterns = [*form.get("triggers", ()), *(rule[0] for rule in form.get("rules", ()))]
        last = form.get("end", ())
        others = [*form.get("excludes", ()), *([last] if isinstance(last, str) else last)]
        yield from patterns if of_patterns else [*patterns, *others]
        for part in form.values():
            yield from _words(part, of_patterns)


def test_xgrammar_differs_where_what_is_excluded_contains_a_pattern_before_its_end(
    xgrammar: Callable[[Any], Callable[[str], bool]], record_property: Callable[[str, int], None]
) -> None:
    """And nowhere else, as the README says: there its automaton loses the way."""
    same = 0
    for form, found in random_tags(2, 1_000):
        takes = xgrammar(form)
        wrong = [text for text in TEXTS if takes(text) != accepts(found, text)]
        same += not wrong
        others = list(_words(form, of_patterns=False))

        assert [] == wrong or any(
            pattern in other[:-1] for pattern in _words(form, of_patterns=True) for other in others
        )
    record_property("random tags that xgrammar has the same texts of", same)

    assert same < 1_000
