"""Canonical masks of random finite grammars over random merges and pre-tokenizers."""

import random

import pytest
from support.canonical import (
    PIECES,
    _cut,
    check,
    finite_languages,
    following,
    machine_and_encode,
    pretokenizer_of,
)

from constrain.compiler.network import build as networks


@pytest.mark.parametrize("largest", [0, 200], ids=["calls", "inlined"])
@pytest.mark.parametrize("name", PIECES)
def test_masks_are_those_of_all_encodings(
    name: str, largest: int, full: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every mask behind every prefix of a member's encoding."""
    monkeypatch.setattr(networks, "INLINED_STATES", largest)
    rng = random.Random(41)
    tokens = calls = 0
    for tables, texts in finite_languages(rng, 1500 if full else 40):
        machine, encode, eos = machine_and_encode(rng, name, tables)
        tokens += check(machine, following(map(encode, texts), [eos]))
        calls += len(tables.call_starts)
    assert tokens > 1000
    assert calls > 10 or largest


def test_the_pretokenizers_here_give_their_pieces() -> None:
    """Each text has one accepted marking: that of its pieces."""
    for name, pieces in PIECES.items():
        splitter, final = pretokenizer_of(name)
        for number in range(1, 1 << 7):
            text = "".join("ab"[int(bit)] for bit in f"{number:b}"[1:])
            found = []
            for marks in range(1 << len(text)):
                state = splitter.start
                for place, char in enumerate(text.encode()):
                    state = int(splitter.table[state, marks >> place & 1, splitter.classes[char]])
                if final[state]:
                    bounds = [i for i in range(len(text)) if marks >> i & 1]
                    found.append(_cut(text, bounds))
            assert found == [pieces(text)]
