"""The oracle of canonical masks: all encodings of all members of a finite language."""

import operator
from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate

from constrain.artifacts.matcher import Matcher
from constrain.artifacts.tokens import tokenset
from support.automata import build_automaton, words_of


def members_of(regex: str, longest: int = 24) -> list[str]:
    """All members of at most ``longest`` bytes."""
    found = build_automaton(regex, dialect="regex").dfa
    return [bytes(word).decode() for word in words_of(found, longest)]


def following(
    encodings: Iterable[Sequence[int]], eos: Sequence[int]
) -> dict[tuple[int, ...], set[int]]:
    """For each prefix of an encoding what some encoding goes on with, ``eos`` after all."""
    found: dict[tuple[int, ...], set[int]] = {}
    for ids in encodings:
        for place, token in enumerate(ids):
            found.setdefault(tuple(ids[:place]), set()).add(token)
        found.setdefault(tuple(ids), set()).update(eos)
    return found


def check_masks(matcher: Matcher, expected: Mapping[tuple[int, ...], set[int]]) -> int:
    """Compare the masks after all prefixes that ``expected`` has; the number of their tokens."""
    taken: tuple[int, ...] = ()
    count = 0
    for prefix in sorted(expected):
        pairs = zip(taken, prefix, strict=False)
        common = sum(accumulate((a == b for a, b in pairs), operator.and_))
        matcher.rollback(len(taken) - common)
        for token_id in prefix[common:]:
            matcher.advance(token_id)
        taken = prefix
        assert expected[prefix] == set(tokenset.to_ids(matcher.mask()).tolist()), prefix
        count += len(expected[prefix])
    return count
