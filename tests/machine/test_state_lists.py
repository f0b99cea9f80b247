"""Sets of positions: what many of them read at once is what they read one by one."""

import random
from itertools import product

import pytest
from support.maximal_munch import members_of
from support.network import network_of

from constrain.artifacts.machine import state_lists


def grammar(rng: random.Random) -> str:
    """Alternatives that begin alike, in classes and letters, and nest."""
    letters = [f"'{letter}'" for letter in "abc"]
    items = [*letters, "#'[a-b]'", "#'[b-c]'", "#'a*'", "#'[abc]{1,3}'", "x", "y"]
    rules = []
    for name in ("start", "x", "y"):
        options = [" ".join(rng.choices(items, k=rng.randrange(1, 4))) for _ in range(12)]
        rules.append(f"{name} ::= 'a' | {' | '.join(options)};")
    return "\n".join(rules)


def test_many_at_once_read_what_each_reads(monkeypatch: pytest.MonkeyPatch, full: bool) -> None:
    """The members of random grammars are the same, whichever way sets are put together."""
    rng = random.Random(7)
    texts = [bytes(letters) for n in range(6) for letters in product(b"abc", repeat=n)]
    asked = [0]
    together = state_lists.StateLists._together

    def counted(lists: state_lists.StateLists, parts: list[list[int]]) -> list[int]:
        asked[0] += 1
        return together(lists, parts)

    monkeypatch.setattr(state_lists.StateLists, "_together", counted)
    for _ in range(60 if full else 4):
        text = grammar(rng)
        found = []
        for copies, few in ((1 << 40, 8), (-1, 0)):
            monkeypatch.setattr(state_lists, "_MANY_COPIES", copies)
            monkeypatch.setattr(state_lists, "_FEW", few)
            before = asked[0]
            found.append(members_of(network_of(text), texts))
            assert (asked[0] > before) == (copies < 0)
        assert found[0] == found[1], text
