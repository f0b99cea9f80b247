"""The mask rows of all states at once, and those of machines that have them or find them, against a
walk of the token trie from each state."""

import random
from collections.abc import Callable, Iterator
from itertools import pairwise

import numpy as np
import pytest
from numpy.typing import NDArray
from support import sampled
from support.automata import build_automaton, random_table
from support.corpus.tokenizer_case import Case
from support.oracles.byte_rows import row_via_levels

from constrain.artifacts.dfa.byte_dfa import ByteDfa
from constrain.artifacts.kinds.without_calls import RowsOfStates, network_without_calls
from constrain.artifacts.machine.masks import MetMasks
from constrain.artifacts.machine.table_states import TableStates
from constrain.artifacts.tokens import tokenset
from constrain.artifacts.tokens.subtrees import Subtrees
from constrain.artifacts.tokens.tokenset import Words
from constrain.artifacts.tokens.trie import Trie
from constrain.artifacts.tokens.vocabulary import TokenClasses, Vocabulary
from constrain.compiler.machine.byte_rows import byte_rows
from constrain.compiler.machine.row_table import RowTable

REGEXES = {
    "date": r"[0-9]{4}-[0-9]{2}-[0-9]{2}",
    "JSON string": r'"([^"\\\x00-\x1f]|\\["\\/bfnrt]|\\u[0-9a-fA-F]{4})*"',
    "counted": r"[a-zA-Z .,]{1,60}",
    "any text, counted": r".{0,20}",
    "words": r"(one|two|three|four|thirteen|fourteen|one hundred)( (and|or) [a-z]+)?",
    "address": r"[a-zA-Z0-9._%+-]+@[a-zA-Z0-9.-]+\.[a-zA-Z]{2,}",
}


def unpacked(table: RowTable, size: int) -> Iterator[Words]:
    """The row of each state, packed."""
    for number in table.row_of.tolist():
        place = number - len(table.rows)
        if place < 0:
            yield table.rows[number]
        else:
            low, high = table.offsets[place : place + 2].tolist()
            yield tokenset.from_ids(table.ids[low:high], size)


def check(dfa: ByteDfa, vocabulary: Vocabulary, live: NDArray[np.bool_]) -> int:
    """Compare all rows with walks of the trie, those of a machine that has them, and where all
    states are live of one that finds them; look whether each is stored once; the number of rows."""
    size, trie = vocabulary.size, Trie.from_vocabulary(vocabulary)
    eos = [size - 1]
    found = byte_rows(dfa, trie, live, eos, size, subtrees=Subtrees.of(trie))
    assert found is not None
    sections = {"rows": found.rows, "row_of": found.row_of}
    sections |= {"row_ids": found.ids, "row_offsets": found.offsets}
    stored = RowsOfStates(sections, size, 1 << 20)
    named = [tokenset.from_ids(dfa.terminals.members(k), size) for k in range(len(dfa.terminals))]
    table = TableStates(network_without_calls(dfa))
    machines = [
        MetMasks(table, lambda: trie, vocabulary, eos, size, named=named, stored=rows)
        for rows in ((stored, None) if live[1:].all() else (stored,))
    ]
    for state, row in enumerate(unpacked(found, size)):
        expected = row_via_levels(dfa, trie, live, eos, size, state)
        assert np.array_equal(row, expected)
        for machine in machines if state else ():
            assert np.array_equal(machine.row(state), expected)
    packed = {row.tobytes() for row in found.rows}
    bounds = found.offsets.tolist()
    lists = {found.ids[a:b].tobytes() for a, b in pairwise(bounds)}
    assert len(packed) + len(lists) == found.count
    assert all(len(tokenset.to_ids(row)) >= len(row) for row in found.rows)
    assert (np.diff(found.offsets) < tokenset.word_count(size)).all()
    return found.count


def test_rows_of_random_automata(full: bool) -> None:
    """With token terminals, states that are not live, and vocabularies with equal tokens."""
    rng = random.Random(4)
    shared = 0
    for _ in range(150 if full else 50):
        size = rng.randrange(3, 200)
        letters = rng.randrange(1, 4)
        tokens = {
            i: bytes(rng.randrange(letters + 1) for _ in range(rng.randrange(1, 6)))
            for i in range(rng.randrange(1, size - 1))
        }
        vocabulary = Vocabulary.from_tokens(tokens, (), size)
        named = rng.sample(range(size), rng.randrange(3))
        states = rng.randrange(2, 12)
        table = random_table(rng, states, letters + 1 + len(named))
        classes = np.array([0, *(rng.randrange(letters + 1) for _ in range(255))], dtype=np.uint8)
        terminals = TokenClasses.of([[i] for i in sorted(named)])
        accepting = np.array([0, *(rng.randrange(2) for _ in range(states - 1))], dtype=np.uint8)
        most = rng.choice([0.8, 1])
        live = np.array([False, *(rng.random() < most for _ in range(states - 1))])
        dfa = ByteDfa(table, classes, terminals, accepting, 1)
        shared += states - check(dfa, vocabulary, live)
    assert shared > (100 if full else 30)


@sampled("name", ["gpt2"], ["gpt2", "mistral-v3", "qwen2_5"])
@pytest.mark.parametrize("regex", REGEXES.values(), ids=REGEXES)
def test_rows_of_real_tokenizers(name: str, regex: str, case: Callable[[str], Case]) -> None:
    """A few regexes on real vocabularies."""
    dfa = build_automaton(regex, dialect="regex").dfa.tables(())

    check(dfa, case(name).tokenizer.vocabulary(), np.arange(dfa.states) != 0)


def test_rows_that_are_too_large_are_none() -> None:
    """Rows stop where they pass the bytes that they may have."""
    trie = Trie.from_vocabulary(
        Vocabulary.from_tokens({i: bytes([i]) for i in range(256)}, (), 256)
    )
    dfa = build_automaton("[a-z]{1,50}[0-9]", dialect="regex").dfa.tables(())
    live = np.arange(dfa.states) != 0

    assert byte_rows(dfa, trie, live, [0], 256, most_bytes=10_000) is not None
    assert byte_rows(dfa, trie, live, [0], 256, most_bytes=20) is None
