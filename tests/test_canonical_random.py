"""Canonical masks of random finite grammars over random merges and cuts, against encoding."""

import random
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise

import numpy as np
import pytest
from canonical_support import check, few_members, following
from grammars import nullable_lnf_of
from numpy.typing import NDArray
from test_rectangles import derived, random_table

from constrain.artifacts.canonical_masks import CanonicalMasks
from constrain.artifacts.cuts import Cuts
from constrain.artifacts.network import Network
from constrain.artifacts.network_tables import NetworkTables
from constrain.artifacts.vocabulary import Vocabulary
from constrain.compiler.diagnostics import CheckError
from constrain.compiler.merge.derivations import Derivations
from constrain.compiler.merge.rectangles import build_rectangles
from constrain.compiler.parsing import network as networks

A, B = b"a"[0], b"b"[0]

# Where pieces start: at the start alone; at each b; or so that a piece is an a with all b
# behind it, but for the last a of a text, which goes with what is before it.
PIECES: dict[str, Callable[[str], list[str]]] = {
    "none": lambda text: [text] if text else [],
    "before b": lambda text: _cut(text, [i for i, c in enumerate(text) if c == "b"]),
    "before a, not the last": lambda text: _cut(
        text, [i for i, c in enumerate(text) if c == "a" and "a" in text[i + 1 :]]
    ),
}


def _cut(text: str, places: Sequence[int]) -> list[str]:
    bounds = [0, *(p for p in places if p), len(text)]
    return [text[i:j] for i, j in pairwise(bounds) if i < j]


def cuts_of(name: str) -> tuple[Cuts, NDArray[np.bool_]]:
    """The automaton of the pieces above: planes 0 and 1, columns a, b and others."""
    rows = {
        # State: plane 0 by a, by b; plane 1 by a, by b. A text begins in state 1.
        "none": ([(0, 0, 2, 2), (2, 2, 0, 0)], [1, 2]),
        "before b": ([(0, 0, 2, 2), (2, 0, 0, 2)], [1, 2]),
        # Behind an a that starts a piece another a must come (3), behind the last none may (4).
        "before a, not the last": (
            [(0, 0, 2, 2), (4, 2, 3, 0), (4, 3, 3, 0), (0, 4, 0, 0)],
            [1, 2, 4],
        ),
    }[name]
    table = np.zeros((len(rows[0]) + 1, 2, 3), dtype=np.int32)
    for state, (a0, b0, a1, b1) in enumerate(rows[0], start=1):
        table[state, 0, :2], table[state, 1, :2] = (a0, b0), (a1, b1)
    final = np.zeros(len(table), dtype=np.bool_)
    final[rows[1]] = True
    classes = np.full(256, 2, dtype=np.uint8)
    classes[[A, B]] = 0, 1
    return Cuts(table, classes, np.full(256, -1, dtype=np.int32), 1), final


def random_finite_grammar(rng: random.Random) -> str:
    """Four rules, each of those behind it and of texts."""
    names = ["start", "x", "y", "z"]

    def body(after: int) -> str:
        parts = [*names[after:], *names[after:], "'a'", "'b'", "'ab'", "'bba'", "''"]
        return " ".join(rng.choice(parts) for _ in range(rng.randint(1, 3)))

    return "".join(
        f"{name} ::= {' | '.join(body(i) for _ in range(rng.randint(1, 3)))};"
        for i, name in enumerate(names, start=1)
    )


def finite_languages(rng: random.Random, count: int) -> Iterator[tuple[NetworkTables, list[str]]]:
    """Networks of random grammars with all their members, without empty and large ones."""
    for _ in range(count):
        try:
            tables = networks.network(nullable_lnf_of(random_finite_grammar(rng)))
        except CheckError:
            continue
        found = few_members(tables, 400)
        if found is not None:
            yield tables, [text.decode() for text in found]


def machine_and_encode(
    rng: random.Random, name: str, tables: NetworkTables
) -> tuple[CanonicalMasks, Callable[[str], list[int]], int]:
    """A machine over random merges, the encoder that it should follow, and EOS."""
    names, merges = random_table(rng, 9)
    found: Derivations = derived(names, merges)
    eos = len(names)
    texts = {i: text.encode() for text, i in names.items()}
    vocabulary = Vocabulary.from_tokens(texts, [eos], eos + 1)
    network = Network(tables)
    cuts, final = cuts_of(name)
    machine = CanonicalMasks(
        network,
        lambda configuration, token: network.read(configuration, texts[token]),
        cuts,
        final,
        build_rectangles(found, eos + 1).rows,
        vocabulary,
        [eos],
        eos + 1,
    )

    def encode(text: str) -> list[int]:
        return [
            token
            for piece in PIECES[name](text)
            for token in found.encode([names[c] for c in piece])
        ]

    return machine, encode, eos


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


def test_the_cuts_of_these_tests_are_their_pieces() -> None:
    """Each text has one accepted marking: that of its pieces."""
    for name, pieces in PIECES.items():
        cuts, final = cuts_of(name)
        for number in range(1, 1 << 7):
            text = "".join("ab"[int(bit)] for bit in f"{number:b}"[1:])
            found = []
            for marks in range(1 << len(text)):
                state = cuts.start
                for place, char in enumerate(text.encode()):
                    state = int(cuts.table[state, marks >> place & 1, cuts.classes[char]])
                if final[state]:
                    bounds = [i for i in range(len(text)) if marks >> i & 1]
                    found.append(_cut(text, bounds))
            assert found == [pieces(text)]
