"""The example of the README of canonical networks: brackets around letters."""

# Tests here say `expected == actual`.
# ruff: noqa: SIM300

import inspect
import sys

import numpy as np
import pytest
from numpy.typing import NDArray
from support.canonical import masks_of
from support.merge import derived
from support.network import inline_up_to, minimal_tables

from constrain.artifacts.canonical_network.closure.token_liveness import Liveness
from constrain.artifacts.canonical_network.contexts import TEXT_END
from constrain.artifacts.canonical_network.masks import CanonicalMasks
from constrain.artifacts.canonical_network.precomputed_rows import DEEPER, UNKNOWN, PrecomputedRows
from constrain.artifacts.canonical_network.pretokenized import PretokenizedNetwork
from constrain.artifacts.network.configurations import Network
from constrain.artifacts.tokenizer_steps.pretokenizer import PretokenizerDfa
from constrain.artifacts.tokens import tokenset
from constrain.artifacts.tokens.vocabulary import Vocabulary
from constrain.artifacts.walk.node_sets import ROOT
from constrain.compiler.bpe.forbidden_pairs import build_forbidden_pairs
from constrain.compiler.canonical_network.precompute import precompute_rows
from constrain.compiler.limits import Effort, Limits

TOKENS = ["(", ")", "a", "b", "ab", "b)", "ab)"]
MERGES = [("a", "b"), ("b", ")"), ("ab", ")")]
EOS = len(TOKENS)
INSIDE = 1


@pytest.fixture
def network(monkeypatch: pytest.MonkeyPatch) -> PretokenizedNetwork:
    """The grammar's network beside the pre-tokenizer DFA: state 2 after brackets, 3 after
    letters."""
    inline_up_to(monkeypatch, 0)
    return network_beside("start ::= '(' start ')' | 'ab' | 'a';")


def network_beside(grammar: str) -> PretokenizedNetwork:
    """A grammar's network beside this pre-tokenizer DFA."""
    tables = minimal_tables(grammar)
    names = {name: number for number, name in enumerate(TOKENS)}
    merges = derived(names, [(names[a], names[b], names[a + b]) for a, b in MERGES])
    table = np.zeros((4, 2, 4), dtype=np.int32)
    classes = np.full(256, 3, dtype=np.uint8)
    classes[[*b"()ab"]] = 0, 1, 2, 2
    table[1:3, 1, :3] = 2, 2, 3
    table[3, 0, 1:3], table[3, 1, 0] = (2, 3), 2
    return PretokenizedNetwork(
        Network(tables),
        PretokenizerDfa(table, classes, np.full(256, -1, dtype=np.int32), 1),
        np.array([False, True, True, True]),
        build_forbidden_pairs(merges, EOS + 1).rows,
        Vocabulary.from_tokens({i: name.encode() for name, i in names.items()}, [EOS], EOS + 1),
    )


def spelled(ids: NDArray[np.integer]) -> list[str]:
    """Tokens by their texts, without EOS."""
    return [TOKENS[token] for token in ids.tolist() if token != EOS]


def behind(masks: CanonicalMasks, text: str) -> list[str]:
    """The mask after some tokens."""
    state = masks.start
    for token in text.split():
        state = masks.step(state, TOKENS.index(token))
    return spelled(tokenset.to_ids(masks.row(state)))


def test_there_are_two_contexts(network: PretokenizedNetwork) -> None:
    """The empty stack, and any stack of frames; after brackets all is at a boundary."""
    contexts = network.contexts
    assert [2, 3] == contexts.return_states()
    assert INSIDE == contexts.push(4, TEXT_END) == contexts.push(4, INSIDE)
    ends = {q: [contexts.at_boundary(contexts.number(5, q), c) for c in (0, 1)] for q in (2, 3)}
    assert {2: [True, True], 3: [True, False]} == ends


def test_tokens_of_state_2(network: PretokenizedNetwork) -> None:
    """Where they lead, and why they are live or dead."""
    contexts = network.contexts
    inside = contexts.push(4, TEXT_END)
    leads, live, left = {}, list[str](), dict[str, list[str]]()
    for frames, landing in network.walks.walk(ROOT, 2, 2, 1).parts:
        ids, places = landing.tokens(np.ones(len(landing.pairs), dtype=np.bool_))
        for token, place in zip(spelled(ids), places.tolist(), strict=True):
            pair = landing.pairs[place]
            leads[token] = int(contexts.states[pair]), int(contexts.pre_states[pair]), frames
        split = network.splits.of(landing, contexts.push_all(frames, inside))
        live += spelled(split.live())
        for each in split.left:
            found = network.dead_ends.live_above(each, frames, inside)
            assert found is not None
            left |= dict.fromkeys(spelled(each.ids), spelled(found))
    assert {"(": (2, 2, (4,)), "a": (3, 3, (4,)), "ab": (5, 3, (4,)), "ab)": (5, 2, ())} == leads
    assert ["(", "ab)"] == sorted(live)
    assert {"a": ["a"], "ab": []} == left
    node = network.stack_contexts.unknown(inside)
    for token, certificates in (("a", [")", "b)"]), ("ab", [")"])):
        state, pre_state, frames = leads[token]
        place = state, pre_state, network.dead_ends.push_all(frames, node)
        assert certificates == spelled(np.array(list(network.certificates.of(place, 100))))


def test_masks(network: PretokenizedNetwork) -> None:
    """Computed lazily and precomputed."""
    found = precompute_rows(network, lambda: Liveness(network), 1000, 10**6, Effort(Limits(), ()))
    states = network.network.tables.states
    rows = PrecomputedRows(found.arrays, states, len(network.final))
    assert found.is_complete
    for masks in (masks_of(network, [EOS]), masks_of(network, [EOS], rows)):
        assert ["(", "a", "ab"] == behind(masks, "")
        assert ["(", "a", "ab)"] == behind(masks, "(") == behind(masks, "( (")
        assert [")"] == behind(masks, "( a") == behind(masks, "( ( ab)")
        assert [] == behind(masks, "ab") == behind(masks, "( ab)")


def test_summaries(network: PretokenizedNetwork) -> None:
    """Those of states 1 and 2 after a bracket, and of what is suspended at "ab"."""
    arrays = precompute_rows(
        network, lambda: Liveness(network), 1000, 10**6, Effort(Limits(), ())
    ).arrays
    offsets, suffixes = arrays["closed.id_offsets"], arrays["closed.suffixes"].tolist()
    states, found = network.network.tables.states, {}
    for key, (row, after) in zip(
        arrays["closed.keys"].tolist(), arrays["closed.answers"].tolist(), strict=True
    ):
        entry, at = divmod(key, states * len(suffixes))
        ids = arrays["closed.ids"][offsets[row] : offsets[row + 1]]
        state, suffix = divmod(at, len(suffixes))
        below = tuple(suffixes[suffix])
        bounds = arrays["closed.pending_offsets"][after : after + 2]
        entries = arrays["closed.pending"][slice(*bounds)].tolist()
        found[entry, state, below] = DEEPER if row == DEEPER else spelled(ids), entries
    # With a start mark, after a bracket: plane 1, pre-tokenizer state 2.
    entry, context = len(network.final) + 2, (UNKNOWN, INSIDE)
    assert (["(", "a", "ab)"], []) == found[entry, 2, context]
    above_text, suspended = found[entry, 1, (UNKNOWN, TEXT_END)]
    assert ["(", "a", "ab"] == above_text
    assert DEEPER == found[entry, 1, context][0]
    assert ["(", "a"] == found[entry, 1, (4, suffixes.index([UNKNOWN, INSIDE]))][0]
    assert [(["ab)"], [])] == [found[inner, 4, context] for inner in suspended]


def test_calls_that_begin_in_calls_are_followed_however_deep(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Deeper than Python's own stack goes, which is short here."""
    inline_up_to(monkeypatch, 0)
    rules = [f"r{i} ::= r{i + 1} ')' | 'b' r{i} ')';" for i in range(200)]
    deep = network_beside("\n".join(["start ::= 'a' r0 | r0;", *rules, "r200 ::= 'a';"]))
    contexts, usual = deep.contexts, sys.getrecursionlimit()
    # A pre-token starts at the beginning with the letter that all rules begin with, and goes on
    # after another letter.
    tables = deep.network.tables
    behind_a = int(tables.table[tables.start, tables.classes[ord("a")]])
    places = [(tables.start, 1), (behind_a, 3)]

    sys.setrecursionlimit(len(inspect.stack()) + 100)
    try:
        found = [contexts.at_boundary(contexts.number(*place), TEXT_END) for place in places]
    finally:
        sys.setrecursionlimit(usual)

    assert found == [True, False]
