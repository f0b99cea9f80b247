"""Canonical masks of random grammars over random merges and pre-tokenizers, against encoding.

Those that are computed lazily, those that were precomputed, and some of each.
"""

import random

import pytest
from support.canonical import (
    PIECES,
    _cut,
    check,
    finite_languages,
    machine_and_encode,
    machine_over,
    masks_of,
    members,
    pretokenizer_of,
)
from support.corpus.encodings import following
from support.network import inline_up_to, minimal_tables

from constrain.artifacts import ArtifactError
from constrain.artifacts.canonical_network.closure import all_rows
from constrain.artifacts.canonical_network.closure.joint_walks import Calls
from constrain.artifacts.canonical_network.closure.token_liveness import Liveness
from constrain.artifacts.canonical_network.masks import CanonicalMasks
from constrain.artifacts.canonical_network.precomputed_rows import PrecomputedRows
from constrain.artifacts.network.configurations import Stacks
from constrain.artifacts.network.tables import NetworkTables
from constrain.artifacts.tokens import tokenset
from constrain.compiler.canonical_network.precompute import Precomputed, precompute_rows
from constrain.compiler.diagnostics import CheckError
from constrain.compiler.limits import Effort, Limits


class CountedRows(PrecomputedRows):
    """Counts the rows that are not precomputed."""

    missing = 0

    def find(
        self, stacks: Stacks, state: int, pre_state: int, node: int, plane: int
    ) -> set[int] | None:
        """As ``PrecomputedRows.find``."""
        found = super().find(stacks, state, pre_state, node, plane)
        self.missing += found is None
        return found


def precompute(
    machine: CanonicalMasks, eos: int, most: int = 10**6
) -> tuple[Precomputed, CountedRows, CanonicalMasks]:
    """Precompute the rows of a machine, and begin another one with them."""
    network = machine.pretokenized
    found = precompute_rows(network, lambda: Liveness(network), most, 10**9, Effort(Limits(), ()))
    states = len(network.pretokenizer.table)
    rows = CountedRows(found.arrays, machine.network.tables.states, states)
    return found, rows, masks_of(network, [eos], rows)


def compare(
    ahead: CanonicalMasks, lazy: CanonicalMasks, rng: random.Random, walks: int, longest: int
) -> int:
    """Random walks by the masks of both, which are the same; how many masks."""
    count = 0
    for _ in range(walks):
        one, other = ahead.start, lazy.start
        for _ in range(longest):
            allowed = tokenset.to_ids(lazy.row(other)).tolist()
            assert allowed == tokenset.to_ids(ahead.row(one)).tolist()
            count += 1
            text = [token for token in allowed if lazy.vocabulary.is_text(token)]
            if not text:
                break
            token = min(rng.choices(text, k=rng.choice([1, 3])))
            one, other = ahead.step(one, token), lazy.step(other, token)
    return count


def random_nesting_grammar(rng: random.Random) -> str:
    """Three rules, each of all rules and of texts."""
    names = ["start", "x", "y"]

    def body() -> str:
        parts = [*names, "'a'", "'b'", "'ab'", "'bba'", "''"]
        return " ".join(rng.choice(parts) for _ in range(rng.randint(1, 4)))

    return "".join(
        f"{name} ::= {' | '.join([*(body() for _ in range(rng.randint(1, 3))), text])};"
        for name, text in zip(names, ["'b'", "'a'", "'ab'"], strict=True)
    )


@pytest.mark.parametrize("largest", [0, 200], ids=["calls", "inlined"])
@pytest.mark.parametrize("name", PIECES)
def test_masks_are_those_of_all_encodings(
    name: str, largest: int, full: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every mask after every prefix of a member's encoding, lazily, and of every fourth grammar
    precomputed: then none is computed lazily if all were precomputed."""
    inline_up_to(monkeypatch, largest)
    rng = random.Random(41)
    tokens = calls = complete = 0
    for number, (tables, texts) in enumerate(finite_languages(rng, 1500 if full else 10)):
        seed = rng.randrange(1 << 30)
        machine, encode, eos = machine_and_encode(random.Random(seed), name, tables)
        expected = following(map(encode, texts), [eos])
        tokens += check(machine, expected)
        calls += len(tables.call_starts)
        if number % 4 == 0:
            found, rows, ahead = precompute(machine, eos)
            check(ahead, expected)
            assert not (found.is_complete and rows.missing)
            complete += found.is_complete
    assert tokens > 1000
    assert calls > 5 or largest
    assert complete > 2


def test_a_token_is_live_above_one_of_the_stacks_of_a_place(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """After "bab" there are two: "aab" ends the one, "abba" the other."""
    inline_up_to(monkeypatch, 0)
    grammar = "start ::= y x 'ab' | x x 'bba'; x ::= y 'a'; y ::= z; z ::= 'b' | 'ab';"
    names = {text: i for i, text in enumerate(["a", "b", "aa", "aab", "aaab", "aaaab"])}
    tables = minimal_tables(grammar)
    merges = [(0, 0, 2), (2, 1, 3), (0, 3, 4), (2, 3, 5)]
    machine, encode, eos = machine_over(names, merges, "none", tables)
    texts = [text.decode() for text in members(tables)]
    assert len(texts) == 8
    assert check(machine, following(map(encode, texts), [eos])) > 20


@pytest.mark.parametrize("name", PIECES)
def test_masks_of_random_nesting_grammars_do_not_depend_on_what_is_precomputed(
    name: str, full: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All rows precomputed, in rounds of few pairs, some of them, and none."""
    inline_up_to(monkeypatch, 0)
    monkeypatch.setattr(all_rows, "_FIRST_ROUND", 2)
    rng = random.Random(44)
    masks = 0
    for _ in range(60 if full else 1):
        try:
            tables = minimal_tables(random_nesting_grammar(rng))
        except CheckError:
            continue
        seed = rng.randrange(1 << 30)
        lazy, _, eos = machine_and_encode(random.Random(seed), name, tables)
        for most in (10_000, 20):
            other, _, _ = machine_and_encode(random.Random(seed), name, tables)
            found, rows, ahead = precompute(other, eos, most)
            try:
                masks += compare(ahead, lazy, random.Random(seed), 10, 20)
            except ArtifactError as error:
                assert "not decided" in str(error)
            assert not (found.is_complete and rows.missing)
    assert masks > 100


def test_what_texts_come_to_first_is_precomputed_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where there is room for few rows, those of the first masks are there, with all that goes on
    after the calls that their tokens end."""
    inline_up_to(monkeypatch, 0)
    monkeypatch.setattr(all_rows, "_FIRST_ROUND", 2)
    tables = minimal_tables("start ::= 'a' x 'b' x 'a'; x ::= y 'a' | 'b'; y ::= 'a' x 'b' | 'ab';")
    seed = next(iter(PIECES))
    whole, _, _ = precompute(*_machine(seed, tables))
    some, rows, ahead = precompute(*_machine(seed, tables), whole.summaries // 8)
    assert not some.is_complete
    state = ahead.start
    for _ in range(2):
        ids = tokenset.to_ids(ahead.row(state)).tolist()
        assert ids
        state = ahead.step(state, min(ids))
    assert rows.missing == 0
    lazy = _machine(seed, tables)[0]
    compare(ahead, lazy, random.Random(3), 20, 20)
    assert rows.missing > 0


def test_where_no_text_leads_to_its_end_there_are_no_pairs() -> None:
    """As in languages that the tokenizer cannot spell."""
    assert not len(Calls().pairs())


def _machine(name: str, tables: NetworkTables) -> tuple[CanonicalMasks, int]:
    machine, _, eos = machine_and_encode(random.Random(5), name, tables)
    return machine, eos


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
