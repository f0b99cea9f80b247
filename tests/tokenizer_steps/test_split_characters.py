"""Tokens that end inside a character, beside a normal-form DFA: against plain searches."""

import random
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from support.corpus.tokenizer_case import Case
from support.normalizer import WIDE, compiled

from constrain.artifacts.canonical_network.closure.joint_walks import meet_all_pairs
from constrain.artifacts.canonical_network.masks import CanonicalMasks
from constrain.artifacts.dfa.byte_dfa import TokenRuns
from constrain.artifacts.network.configurations import BOTTOM
from constrain.artifacts.read import load_bytes
from constrain.artifacts.tokenizer_steps.normal_form_dfa import DEAD, NormalFormDfa
from constrain.artifacts.tokenizer_steps.normalizer import WithNormalForm
from constrain.artifacts.tokens import tokenset
from constrain.compiler.tokenizer_steps import normalized_members as stable_text
from constrain.compiler.tokenizer_steps.inert_tokens import split_characters

# Each with tokens that the walks must at least see a search take out.
NARROW = {
    "two marks": ("([a-z]|[\u0301\u0327])*", 20),
    "five marks": ("([a-z]|[\u0300-\u0304])*", 20),
    "vowel signs": ("([a-z ]|[\u0900-\u0903]|\u093c|か|\u3099)*", 3),
    "Hangul": ("([a각가]|[\u1100-\u11ff])*", 0),
}


def test_the_sets_that_end_a_character() -> None:
    """Random automata: whatever is left, each state lets some of it lead to a free state iff it
    meets all sets; and the tokens are those that do anything."""
    rng = random.Random(3)
    both, kept = [0, 0], 0
    for _ in range(300):
        texts, between = random_texts(rng)
        octets = {}
        for token in range(rng.randrange(1, 30)):
            head = rng.choice([b"", b"a", b"b", b"\xc3", b"\xc4", b"\xe1"])
            tail = bytes(rng.choice((0x80, 0x81)) for _ in range(rng.randrange(3)))
            octets[token] = head + tail or b"\x80"
        held, opened = split_characters(texts, between, octets)
        free = {s for s in range(len(texts.table)) if plainly_free(texts, s)}
        ends = {}
        for token, data in octets.items():
            reached = {texts.step(state, data) for state in range(1, between)}
            bound = reached - free - {DEAD}
            is_tail = data[0] in (0x80, 0x81)
            assert (token in held) == (is_tail or DEAD in reached or bool(bound))
            if bound and not is_tail:
                ends[token] = bound
        tails = [token for token, data in octets.items() if data[0] in (0x80, 0x81)]
        assert list(ends) == opened.tokens.tolist()
        assert tails == opened.tails.tolist()
        for place, bound in enumerate(ends.values()):
            for _ in range(10):
                left = np.array([rng.random() < 0.6 for _ in tails], dtype=np.bool_)
                led = [
                    {texts.step(state, octets[tails[i]]) for i in np.flatnonzero(left)}
                    for state in bound
                ]
                expected = all((found - {DEAD}) & free for found in led)
                assert expected == bool((opened.sets_of(place) & left).any(axis=1).all())
                both[expected] += 1
            kept += len(opened.sets_of(place))
    assert min(both) > 300
    assert kept > 300


def random_texts(rng: random.Random) -> tuple[NormalFormDfa, int]:
    """Some states between two characters, some before the last byte of one and before two."""
    between, last, first = (1 + rng.randrange(1, 6) for _ in range(3))
    size = between + last + first
    table = np.zeros((size, 7), dtype=np.uint16)
    for state in range(1, size):
        low, high = (0, between) if state < between + last else (between, between + last)
        if state < between:
            table[state, :2] = [rng.randrange(between) for _ in range(2)]
            table[state, 2:4] = [rng.choice((0, rng.randrange(between, size))) for _ in range(2)]
            table[state, 4] = rng.choice((0, rng.randrange(between + last, size)))
        else:
            table[state, 5:] = [rng.choice((0, rng.randrange(low, high))) for _ in range(2)]
            if not table[state, 5:].any():
                table[state, 5] = max(low, 1)
    classes = np.zeros(256, dtype=np.uint8)
    for column, octet in enumerate((0x61, 0x62, 0xC3, 0xC4, 0xE1, 0x80, 0x81)):
        classes[octet] = column
    classes[0x82:0xC0] = 5
    none = np.zeros(0, dtype=np.int32)
    return NormalFormDfa(table, classes, 1, none, none), between


def plainly_free(texts: NormalFormDfa, state: int) -> bool:
    """Between two characters, or led to by the start through a character that has begun."""
    begun, pending = set(), [texts.start]
    for found in pending:
        for after in texts.table[found].tolist():
            if after not in begun and texts.table[after, 5:].any():
                begun.add(after)
                pending.append(after)
    return state in begun or not texts.table[state, 5:].any()


@pytest.mark.parametrize("name", NARROW)
def test_masks_of_grammars_that_leave_few_ends(
    name: str, normalizing: Case, monkeypatch: pytest.MonkeyPatch, full: bool
) -> None:
    """Random walks: all tokens of the inner mask but those that a plain search finds dead."""
    monkeypatch.setattr(stable_text, "_FEW_STATES", 0)
    monkeypatch.setattr(stable_text, "_GROWTH", 0)
    regex, least = NARROW[name]
    artifact = load_bytes(normalizing.compiled(regex, "cartesian").to_bytes())
    assert isinstance(artifact.machine(), WithNormalForm)
    stuck = check_walks(artifact.machine(), random.Random(5), 400 if full else 10)
    assert stuck >= (least if full else least // 3)


@pytest.mark.parametrize("name", WIDE)
def test_masks_of_grammars_that_leave_many(
    name: str, case: Callable[[str], Case], full: bool
) -> None:
    """The same on a real tokenizer."""
    machine = compiled(case("qwen2_5"), name).machine()
    assert isinstance(machine, WithNormalForm)
    check_walks(machine, random.Random(6), 200 if full else 1)
    undecided = set(machine.runs.dfa.undecided.tolist())
    leading = [machine.inner.vocabulary.token(token)[0] >= 0xC0 for token in undecided]
    assert sum(leading) < 5


def test_unsure_tokens_by_the_definition(case: Callable[[str], Case]) -> None:
    """After a token after which one more leads to a free state, whatever went before, no end of
    the character is searched for while decoding."""
    machine = compiled(case("qwen2_5"), "any").machine()
    assert isinstance(machine, WithNormalForm)
    masks, texts = machine.inner, machine.runs.dfa
    tables, pretokenizer = masks.network.tables, masks.pretokenized.pretokenizer
    assert not len(tables.call_starts) and masks.precomputed is not None
    states = np.arange(len(texts.table))
    is_free, between = texts.are_free(states), np.flatnonzero(~texts.are_inside(states))[1:]
    octets = {token: masks.vocabulary.token(token) for token in texts.boundary.tolist()}
    free = {}
    for token, found in octets.items():
        if 0x80 <= found[0] < 0xC0:
            after = led(texts, states, found)
            free[token] = is_free[after] & (after != DEAD)
    behind: defaultdict[int, set[tuple[int, int]]] = defaultdict(set)
    contexts = masks.pretokenized.contexts
    meet_all_pairs(masks.pretokenized)
    for p, q in zip(contexts.states.tolist(), contexts.pre_states.tolist(), strict=True):
        for plane in range(2):
            rows = masks.precomputed.find(masks.network.stacks, p, q, BOTTOM, plane) or set()
            held = {i for row in rows for i in held_of(masks.rows[row], octets)}
            for token in held - free.keys():
                after = p
                for octet in octets[token]:
                    after = int(tables.table[after, tables.classes[octet]])
                reads = pretokenizer.step(q, plane, token, octets[token])
                behind[token].add((after, reads))
    undecided = {*free}
    for token in octets.keys() - free.keys():
        reached = np.unique(led(texts, between, octets[token]))
        bound = reached[~is_free[reached]]
        for p, q in behind[token] if len(bound) else ():
            state = masks.state_of(masks.network.configuration({p: BOTTOM}), (q,), token)
            left = held_of(masks.row(state), free)
            if not np.any([free[u][bound] for u in left], axis=0).all():
                undecided.add(token)
    assert free.keys() <= set(texts.undecided.tolist()) <= undecided


def led(texts: NormalFormDfa, states: NDArray[np.integer], octets: bytes) -> NDArray[np.integer]:
    """Where some bytes lead from some states."""
    for octet in octets:
        states = texts.table[states, texts.classes[octet]]
    return states


def held_of(found: NDArray[Any], tokens: Iterable[int]) -> list[int]:
    """Those of some tokens that are in a row, packed or a list."""
    if found.dtype == np.uint32:
        return [token for token in tokens if tokenset.contains(found, token)]
    return sorted(set(tokens).intersection(found.tolist()))


def check_walks(machine: WithNormalForm[CanonicalMasks], rng: random.Random, walks: int) -> int:
    """Compare masks along random walks; the number of tokens that only a search takes out."""
    plain, eos = PlainMasks(machine), set(tokenset.to_ids(machine.inner._eos).tolist())
    stuck = 0
    for _ in range(walks):
        state = machine.start
        for _ in range(6):
            expected, found = plain.mask(state)
            assert expected == tokenset.to_ids(machine.row(state)).tolist()
            stuck += found
            ids = [token for token in expected if token not in eos]
            if not ids:
                break
            some = rng.sample(ids, min(12, len(ids)))
            liking = rng.random() < 0.5
            token = max(
                some, key=lambda i: liking and machine.inner.vocabulary.token(i)[-1] >= 0x80
            )
            state = machine.step(state, token)
    return stuck


class PlainMasks:
    """Masks by the definition: what leads to the dead state is out, and what ends inside a
    character from which no way leads to a state between two."""

    def __init__(self, machine: WithNormalForm[CanonicalMasks]) -> None:
        self.inner, self.texts = machine.inner, machine.runs.dfa
        self.vocabulary, self.width = machine.inner.vocabulary, machine.runs.states
        tokens = range(machine.inner.vocab_size)
        ids = [i for i in tokens if self.vocabulary.is_text(i) and self.vocabulary.token(i)]
        octets = [self.vocabulary.token(i) for i in ids]
        wanted = np.array(ids, dtype=np.int32)
        self.runs = TokenRuns(wanted, octets, self.texts.table, self.texts.classes)
        self.known: dict[tuple[int, int], bool] = {}
        self.eos = set(tokenset.to_ids(machine.inner._eos).tolist())

    def mask(self, state: int) -> tuple[list[int], int]:
        """The tokens, ascending, and how many of the inner mask's only a search takes out."""
        number, text = divmod(state, self.width)
        row = tokenset.to_ids(self.inner.row(number)).tolist()
        led = dict(zip(*(found.tolist() for found in self.runs.run(text)), strict=True))
        inside = self.texts.are_inside(np.arange(self.width))
        read = [i for i in row if i in led or i in self.eos]
        kept = [
            i
            for i in read
            if i not in led or not inside[led[i]] or self.ends(self.inner.step(number, i), led[i])
        ]
        return kept, len(read) - len(kept)

    def ends(self, number: int, text: int) -> bool:
        """Whether tokens lead to a state between two characters."""
        if (number, text) not in self.known:
            pending, seen = [(number, text)], {(number, text)}
            self.known[number, text] = any(
                self.is_between(after)
                for pair in pending
                for after in self.next(pair, pending, seen)
            )
        return self.known[number, text]

    def next(
        self, pair: tuple[int, int], pending: list[tuple[int, int]], seen: set[tuple[int, int]]
    ) -> Iterator[int]:
        """The states of the texts after one token more; new pairs are added to ``pending``."""
        inner = self.inner
        for token in tokenset.to_ids(inner.row(pair[0])).tolist():
            after = self.texts.step(pair[1], self.vocabulary.token(token))
            if after == DEAD:
                continue
            yield after
            following = inner.step(pair[0], token), after
            if following not in seen:
                seen.add(following)
                pending.append(following)

    def is_between(self, text: int) -> bool:
        """Whether a state lies between two characters."""
        return not self.texts.are_inside(np.array([text]))[0]
