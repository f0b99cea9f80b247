"""Walks of the token trie follow what they meet once, however often it can be met.

Those of many pairs at once are those of each pair, and share what they have in common.
"""

import random
from pathlib import Path

import numpy as np
import pytest
from support import tokenizer_json, written
from support.network import inline_up_to

from constrain.artifacts.canonical_network import trie_walk
from constrain.artifacts.canonical_network.closure import joint_walks
from constrain.artifacts.canonical_network.closure.context_status import (
    IS_LIVE,
    IS_UNDECIDED,
    StatusByContext,
)
from constrain.artifacts.canonical_network.closure.joint_walks import meet_all_pairs
from constrain.artifacts.canonical_network.closure.pair_walks import PairWalks
from constrain.artifacts.canonical_network.closure.token_liveness import (
    DecidedBlocks,
    Liveness,
)
from constrain.artifacts.canonical_network.pretokenized import PretokenizedNetwork
from constrain.artifacts.canonical_network.trie_walk import Frames, Landing
from constrain.artifacts.walk import kernel as as_it_stands
from constrain.artifacts.walk.forms import kernel
from constrain.artifacts.walk.node_sets import ROOT
from constrain.compiler import CompileOptions, Tokenizer, load_tokenizer
from constrain.compiler.bpe.tokenizer_tables import TokenizerTables
from constrain.compiler.canonical_network.sections import merge
from constrain.compiler.options import request_of
from constrain.compiler.pipeline import build_artifact, build_engine

# Letters in brackets, of which any number may be joined: a token of letters ends chains anywhere.
CHAINS = """
root ::= group+
group ::= ([a-z] ([a-z] | "-")* | "(" root ")")+
"""


JSON = r"""
root ::= value
value ::= ws ("{" (pair ("," pair)*)? "}" | "[" value ("," value)* "]" | string | [0-9]+) ws
pair ::= ws string ws ":" value
string ::= "\"" ([^"\\\x00-\x1f] | "\\" ["\\nt])* "\""
ws ::= [ \n]*
"""


def pretokenized(text: str, tokenizer: Tokenizer) -> PretokenizedNetwork:
    """The network of a grammar beside the tokenizer's pre-tokenizer DFA."""
    engine = build_engine(text, dialect="gbnf")
    request = request_of(tokenizer, CompileOptions())
    tables = TokenizerTables(tokenizer)
    found = merge(engine.grammar, engine.network, (), request, tables).network
    meet_all_pairs(found)
    return found


def places_of(landing: Landing) -> set[tuple[int, int]]:
    """Each token of a landing with the place that it leads to."""
    ids, places = landing.tokens(np.ones(len(landing.pairs), dtype=np.bool_))
    return set(zip(ids.tolist(), places.tolist(), strict=True))


def test_tokens_of_whole_pretokens_go_on_where_a_call_ends_inside(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They have a trie of their own, whose nodes are told from those of the other one."""
    value = tokenizer_json("a thx", ["a x"], added=[(20, "<eos>", True)], splits=True)
    value["model"] |= {"ignore_merges": True}
    value["model"]["vocab"]["Ġth"] = 19
    tokenizer = load_tokenizer(written(tmp_path, value))
    # Rules are calls, so that " th" begins in x and ends after it.
    inline_up_to(monkeypatch, 0)
    text = 'root ::= x "th"\nx ::= "a" " " | "a" x "a" | "t"'
    front = build_engine(text, dialect="gbnf", engine="network")
    for prewarm in (None, 0):
        found = build_artifact(front, tokenizer, tokenization="canonical", prewarm=prewarm)
        matcher = found.artifact.matcher()
        assert [token for token in (0, 19) if matcher.accept([token])] == [0, 19]
        assert matcher.is_accepting


def test_sets_of_nodes_hold_each_node_once(default_tokenizer: Tokenizer, full: bool) -> None:
    """Where a set has a node and another below it, what both lead to is not counted twice: sets
    with repetitions grow with the number of ways to read a token."""
    network = pretokenized(CHAINS, default_tokenizer)
    walks, contexts = network.walks, network.contexts
    below: list[int] = []
    for pair in range(1, len(contexts.states)):
        state, pre_state = int(contexts.states[pair]), int(contexts.pre_states[pair])
        walk = walks.walk(ROOT, state, pre_state, 0)
        below += [nodes for _, nodes, _ in walk.suspended if nodes != ROOT]
    assert below
    for nodes in sorted(set(below))[: 20 if full else 3]:
        for pair in range(1, len(contexts.states), 5):
            state, pre_state = int(contexts.states[pair]), int(contexts.pre_states[pair])
            walk = walks.walk(nodes, state, pre_state, 0)
            assert len(walk.parts) < 50
            assert len(walk.parts) == len(set(walk.parts))
            for _, landing in walk.parts:
                held = int((landing.end - landing.begin).sum())
                assert len(places_of(landing)) > 0.9 * held
            for _, left, _ in walk.suspended:
                assert (np.diff(walks.sets[left]) > 0).all()


@pytest.mark.parametrize("size", [200, 1 << 12])
@pytest.mark.parametrize("text", [CHAINS, JSON], ids=["chains", "json"])
def test_walks_of_many_pairs_are_those_of_each_and_share_their_tokens(
    text: str, size: int, default_tokenizer: Tokenizer, full: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where tokens lead from each pair and what is suspended, by the recursion for one pair; and
    which are live in any context, if those of each block are found once."""
    monkeypatch.setattr(joint_walks, "_PART_WALKS", size)
    network = pretokenized(text, default_tokenizer)
    contexts, liveness = network.contexts, Liveness(network)
    joint_walks.reach(network, liveness.joint)
    walks = PairWalks(network.network.tables, contexts, liveness.joint, network.walks)
    pairs = np.arange(1, len(contexts.states), 5 if full else 17).tolist()
    keys = [(pair, plane) for plane in range(network.planes) for pair in pairs]
    everything = {(frame, context) for frame, context, _ in contexts.pushes()}
    above = sorted({contexts.push(*push) for push in everything} | {joint_walks.TEXT})
    met = tokens = live = 0
    for places, part in walks.walk(keys):
        statuses = [liveness.decide(part, context) for context in above]
        decided = [DecidedBlocks(part, status) for status in statuses]
        contents = [list(blocks.contents()) for blocks in decided]
        rows: dict[tuple[int, bytes], tuple[object, object]] = {}
        met += len(part.ids)
        for walk, place in enumerate(places):
            pair, plane = keys[place]
            state, pre_state = int(contexts.states[pair]), int(contexts.pre_states[pair])
            expected = network.walks.walk(ROOT, state, pre_state, plane)
            found: set[tuple[int, int, Frames]] = set()
            own: list[set[int]] = [set() for _ in above]
            doubt: list[set[tuple[int, int, Frames]]] = [set() for _ in above]
            for block in part.blocks[part.offsets[walk] : part.offsets[walk + 1]].tolist():
                for at in range(*part.bounds[block : block + 2].tolist()):
                    token = int(part.ids[at])
                    found.add((token, int(part.pairs[at]), part.frames[part.pushed[at]]))
                    for number, status in enumerate(statuses):
                        if status[at] == IS_LIVE:
                            own[number].add(token)
                        elif status[at] == IS_UNDECIDED:
                            target = int(part.pairs[at]), part.frames[part.pushed[at]]
                            doubt[number].add((token, *target))
            assert found == {
                (token, landing.pairs[place], frames)
                for frames, landing in expected.parts
                for token, place in places_of(landing)
            }
            assert part.suspended[walk] == tuple(network.walks.left_by(expected, state))
            for number, blocks in enumerate(decided):
                sure, left = blocks.of(walk)
                assert set(sure.tolist()) == own[number]
                listed = {(t, *target) for target, ids in left.items() for t in ids.tolist()}
                assert listed == doubt[number]
                row = own[number], listed
                assert rows.setdefault((number, contents[number][walk]), row) == row
                live += len(own[number])
            tokens += len(found)
    assert live > 10_000
    # A language of few states has few walks, which differ.
    assert met < tokens / (4 if full else 1.5) or size == 200 or text == CHAINS


def test_some_walks_of_a_part_have_the_tokens_that_they_have_in_it(
    default_tokenizer: Tokenizer,
) -> None:
    """Also walks that meet no tokens, and decided alone they have the same live tokens."""
    network = pretokenized(JSON, default_tokenizer)
    liveness = Liveness(network)
    walks = PairWalks(network.network.tables, network.contexts, liveness.joint, network.walks)
    pairs = np.arange(1, len(network.contexts.states)).tolist()
    count = empty = 0
    for _, part in walks.walk([(pair, 0) for pair in pairs]):
        whole = DecidedBlocks(part, liveness.decide(part, joint_walks.TEXT))
        for walk in range(0, len(part.suspended), 3):
            some = part.only(np.array([walk]))
            decided = DecidedBlocks(some, liveness.decide(some, joint_walks.TEXT))
            one, other = decided.of(0), whole.of(walk)
            assert set(one[0].tolist()) == set(other[0].tolist())
            assert one[1].keys() == other[1].keys()
            assert list(some.suspended) == [part.suspended[walk]]
            count += len(some.ids)
            empty += not len(some.ids)
    assert count > 10_000
    assert empty


@pytest.mark.parametrize("form", [kernel(), as_it_stands.Kernel], ids=["chosen", "as it stands"])
@pytest.mark.parametrize("text", [CHAINS, JSON], ids=["chains", "json"])
def test_walks_are_those_node_by_node(
    text: str,
    form: type[as_it_stands.Kernel],
    default_tokenizer: Tokenizer,
    full: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """From the root, in each plane, and from several nodes, some of them below others."""
    monkeypatch.setattr(trie_walk, "kernel", lambda: form)
    network = pretokenized(text, default_tokenizer)
    contexts, walks, rng = network.contexts, network.walks, random.Random(7)
    nodes = np.flatnonzero(walks.trie.fan_out)[1:].tolist()
    some = [np.array(sorted(rng.sample(nodes, k=40)), dtype=np.int32) for _ in range(3)]
    begun = [(ROOT, plane) for plane in range(network.planes)]
    begun += [(walks.sets.number(each), 0) for each in some]
    landed = stopped = 0
    for pair in range(1, len(contexts.states), 2 if full else 31):
        state, pre_state = int(contexts.states[pair]), int(contexts.pre_states[pair])
        for node_set, plane in begun:
            landing, stops = walks._walked(node_set, state, pre_state, plane)
            expected = walked_node_by_node(network, node_set, state, pre_state, plane)
            tokens: _Met = {}
            for token, place in places_of(landing):
                there = int(landing.pairs[place])
                states = int(contexts.states[there]), int(contexts.pre_states[there])
                tokens.setdefault(states, set()).add(token)
            assert tokens == expected[0]
            assert {place: set(met.tolist()) for place, met in stops} == expected[1]
            landed, stopped = landed + len(tokens), stopped + len(stops)
    assert min(landed, stopped) > (20 if full else 10)


_Met = dict[tuple[int, int], set[int]]


def walked_node_by_node(
    network: PretokenizedNetwork, node_set: int, state: int, pre_state: int, plane: int
) -> tuple[_Met, _Met]:
    """By (state, pre-tokenizer state) the tokens that lead there, and the nodes where calls may
    begin or end."""
    walks, tables, pretokenizer = network.walks, network.network.tables, network.pretokenizer
    nodes = walks.sets[node_set].tolist()
    number = plane // 2 if nodes[0] == 0 else int(nodes[0] >= walks.roots[-1] > 0)
    trie, base = walks.tries[number], walks.roots[number]
    tokens: _Met = {}
    stops: _Met = {}
    pending = [(node and node - base, state, pre_state, plane) for node in nodes]
    for node, p, q, now in pending:
        if trie.fan_out[node] and (tables.accepting[p] or tables.calls[p]):
            stops.setdefault((p, q), set()).add(node and node + base)
        for child in range(trie.first[node], trie.first[node + 1]):
            octet = int(trie.octets[child])
            target = tables.rows[p][octet]
            after = int(pretokenizer.table[q, now, pretokenizer.classes[octet]])
            if target and after and network.contexts.number(target, after):
                held = trie.ids[trie.held[child] : trie.held[child + 1]].tolist()
                if held:
                    tokens.setdefault((target, after), set()).update(held)
                pending.append((child, target, after, 0))
    return tokens, stops


def test_certificates_do_not_depend_on_what_is_asked_first(default_tokenizer: Tokenizer) -> None:
    """Of all pairs at once, and of each pair alone, which is live then after a shortest text."""
    network = pretokenized(JSON, default_tokenizer)
    joint_walks.reach(network, joint_walks.joint_table(network))
    above = sorted({context for _, _, context in network.contexts.pushes()} | {joint_walks.TEXT})
    tokens = np.array(default_tokenizer.encode('a, 1] " \\n 12 é \n\n'))
    undecided = certain = 0
    for context in above:
        at_once, one_by_one = StatusByContext(network).of(context), StatusByContext(network)
        pairs = np.flatnonzero(at_once.status == IS_UNDECIDED)
        found = at_once.has_certificate(
            np.repeat(pairs, len(tokens)), np.tile(tokens, len(pairs))
        ).reshape(len(pairs), -1)
        for pair, expected in list(zip(pairs.tolist(), found, strict=True))[::-3]:
            alone = one_by_one.of(context).has_certificate(np.full(len(tokens), pair), tokens)
            assert alone.tolist() == expected.tolist()
        undecided += found.size
        certain += int(found.sum())
    assert 100 < certain < undecided
