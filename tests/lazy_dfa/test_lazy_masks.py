"""Masks of states that are made while decoding are those of the automaton that is built."""

import random
from functools import partial
from threading import RLock

import numpy as np
import pytest
from support.derivatives.construct import minimal_via_derivatives
from support.oracles.byte_rows import row_via_levels
from support.regexes import node_of, random_regex

from constrain.artifacts.dfa import token_walks
from constrain.artifacts.dfa.byte_dfa import ByteDfa
from constrain.artifacts.machine.position_states import PositionStates
from constrain.artifacts.machine.positions import END, NOWHERE, Positions
from constrain.artifacts.machine.terminal_masks import following
from constrain.artifacts.network.configurations import REFUSED
from constrain.artifacts.tokens import tokenset
from constrain.artifacts.tokens.memo import CacheBudget
from constrain.artifacts.tokens.trie import Trie
from constrain.artifacts.tokens.vocabulary import SPECIAL, TEXT, Vocabulary
from constrain.compiler.automata.dfa import Dfa
from constrain.compiler.diagnostics import LimitError
from constrain.compiler.lazy_dfa import conjunctions, signed_parts
from constrain.compiler.lazy_dfa.conjunctions import Operation, is_nullable, operation_of
from constrain.compiler.limits import Limits

EOS = 0

# The automata that are built to compare have at most so many states before they are minimal.
MOST_STATES = 400
TEXTS = [b"<eos>", *[bytes([octet]) for octet in range(256)]]
WORDS = "ab|aa|é|éa|bé😀|€|a1|11|aaaa|abab|ababab|bbbbbb|cab|\n".split("|")  # noqa: SIM905


def vocabulary(rng: random.Random) -> Vocabulary:
    """All bytes, some words, and random texts that begin or end inside a character."""
    whole = "aabé😀€1c".encode()
    starts = [rng.randrange(len(whole) - 1) for _ in range(30)]
    more = [whole[i : i + rng.randrange(1, 6)] * rng.randrange(1, 4) for i in starts]
    texts = TEXTS + [word.encode() for word in WORDS] + more
    kinds = np.array([SPECIAL, *[TEXT] * (len(texts) - 1)], dtype=np.uint8)
    offsets = np.cumsum([0, *map(len, texts)]).astype(np.int64)
    return Vocabulary(np.frombuffer(b"".join(texts), dtype=np.uint8), offsets, kinds)


def expression(rng: random.Random) -> str:
    """An intersection or a complement of random expressions and of bounds of the length."""
    low, more = rng.randrange(6), rng.randrange(8)
    length = rng.choice([f".{{{low},{low + more}}}", f"(?s:.{{{low},}})", f"[ab1é]{{0,{more}}}"])
    parts = [f"({random_regex(rng, 2)})" for _ in range(3)]
    return rng.choice(
        [
            f"{parts[0]}*&{length}",
            f"{parts[0]}*&~({parts[1]})&{length}",
            f"~(.*{parts[0]}.{{{low}}})",
            f"~(.*{parts[0]}.{{{low}}})&{length}",
            f"(.*{parts[0]}.{{{low}}})&{parts[1]}*&{length}",
            f"~({parts[0]}&{length})",
            f"({parts[0]}*&{length})|(~({parts[1]}*)&{parts[2]}+)",
            f"~(~({parts[0]}*)|{length})",
            f"~{length}&({parts[1]}|{parts[2]})*",
        ]
    )


def one_terminal(nullable: bool) -> PositionStates:
    """A grammar that is one terminal."""
    symbol = 256
    positions = Positions([[], [symbol, symbol, END]], [NOWHERE, NOWHERE])
    return PositionStates(positions, [1].__getitem__, symbol + 1, nullable, 1)


class Both:
    """A lazy machine and the rows of the automaton that derivatives build, side by side."""

    def __init__(
        self, dfa: Dfa, operation: Operation, vocabulary: Vocabulary, caches: CacheBudget | None
    ) -> None:
        self.vocabulary, trie = vocabulary, Trie.from_vocabulary(vocabulary)
        tokens = (lambda: trie), vocabulary, (EOS,), vocabulary.size
        begun = partial(one_terminal, is_nullable(operation))
        terminals = [operation.conjunctions]
        budget = caches or CacheBudget()
        self.machine = following(None, terminals, begun, *tokens, budget, RLock())
        self.dfa: ByteDfa = dfa.tables()
        live = np.arange(dfa.states) > 0
        self.expected = partial(row_via_levels, self.dfa, trie, live, (EOS,), vocabulary.size)

    def check(self, rng: random.Random, texts: int, tokens: int) -> int:
        """Random texts by the masks; how many masks were compared."""
        compared = 0
        for _ in range(texts):
            lazy, eager = self.machine.start, self.dfa.start
            for _ in range(tokens):
                row = self.machine.row(lazy)
                assert np.array_equal(self.expected(eager), row)
                compared += 1
                ids = tokenset.to_ids(row).tolist()
                ids = [i for i in ids if i != EOS]
                if not ids:
                    break
                token = self.vocabulary.token(rng.choice(ids))
                eager = self.dfa.run(eager, token)
                taken = self.machine.network.read(lazy, token)
                assert taken != REFUSED
                lazy = taken
        return compared


def check_random(rng: random.Random, count: int, caches: CacheBudget | None = None) -> int:
    compared = made = 0
    words = vocabulary(rng)
    while made < count:
        node = node_of(expression(rng), extended=True)
        try:
            dfa = minimal_via_derivatives(node, Limits(states=MOST_STATES))
        except LimitError:
            continue
        operation = operation_of(node, Limits().started())
        assert operation is not None
        assert dfa.is_empty == (not operation.conjunctions)
        if not dfa.is_empty:
            made += 1
            compared += Both(dfa, operation, words, caches).check(rng, 4, 8)
    return compared


@pytest.mark.parametrize("few", [512, 0])
def test_masks_are_those_of_the_built_automaton_bit_by_bit(
    few: int, full: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With operands that have DFAs, and with sets of NFA states in their place."""
    monkeypatch.setattr(conjunctions, "_FEW_STATES", few)
    monkeypatch.setattr(conjunctions, "_TIMES_NFA", 2 if few else 0)
    monkeypatch.setattr(signed_parts, "MANY", 2)
    monkeypatch.setattr(token_walks, "_SHORT", 3)
    monkeypatch.setattr(token_walks, "_MANY_NODES", 0)
    assert check_random(random.Random(few), 400 if full else 8) > 60
