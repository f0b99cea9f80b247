"""Bytes whose tokens show others to be live: those of the definition, byte by byte."""

import random
from concurrent.futures import ThreadPoolExecutor
from functools import cache

import numpy as np
import pytest
from support.network import inline_up_to

from constrain.artifacts.canonical_network import live_octets
from constrain.artifacts.canonical_network.closure.joint_walks import meet_all_pairs
from constrain.artifacts.canonical_network.live_octets import LiveOctets, OctetsAfter, flags_of
from constrain.artifacts.canonical_network.pretokenized import PretokenizedNetwork
from constrain.compiler import CompileOptions, Tokenizer
from constrain.compiler.bpe.tokenizer_tables import TokenizerTables
from constrain.compiler.canonical_network.sections import merge
from constrain.compiler.options import request_of
from constrain.compiler.pipeline import build_engine

JSON = r"""
root ::= value
value ::= ws ("{" (pair ("," pair)*)? "}" | "[" value ("," value)* "]" | string | [0-9]+) ws
pair ::= ws string ws ":" value
string ::= "\"" ([^"\\\x00-\x1f] | "\\" ["\\nt])* "\""
ws ::= [ \n]*
"""


@pytest.fixture(scope="module")
def network(default_tokenizer: Tokenizer) -> PretokenizedNetwork:
    """A network beside the pre-tokenizer DFA."""
    engine = build_engine(JSON, dialect="gbnf")
    request = request_of(default_tokenizer, CompileOptions())
    tables = TokenizerTables(default_tokenizer)
    found = merge(engine.grammar, engine.network, (), request, tables).network
    meet_all_pairs(found)
    return found


def octets_of(network: PretokenizedNetwork) -> LiveOctets:
    """Nothing is found yet."""
    tables, vocabulary = network.network.tables, network.vocabulary
    contexts, forbidden = network.contexts, network.forbidden
    return LiveOctets(tables, network.pretokenizer, contexts, forbidden, vocabulary)


def test_they_are_those_of_the_definition(network: PretokenizedNetwork, full: bool) -> None:
    """At pairs in all contexts, some after characters that have begun."""
    contexts, tables, forbidden = network.contexts, network.network.tables, network.forbidden
    pretokenizer, vocabulary = network.pretokenizer, network.vocabulary
    tokens = {vocabulary.token(t): t for t in forbidden.order.tolist()}
    token = {octet: tokens[bytes([octet])] for octet in range(256) if bytes([octet]) in tokens}
    follows = cache(lambda one, other: not forbidden.forbids(token[one], token[other]))

    @cache
    def live(pair: int, context: int, more: int) -> frozenset[int]:
        state, pre_state = int(contexts.states[pair]), int(contexts.pre_states[pair])
        found = set[int]()
        for octet in token:
            after = int(pretokenizer.table[pre_state, 0, pretokenizer.classes[octet]])
            target = contexts.number(tables.rows[state][octet], after)
            if not contexts.is_live(target, context):
                continue
            if contexts.at_boundary(target, context) or (
                more
                and octet > 127
                and any(follows(octet, next_) for next_ in live(target, context, more - 1))
            ):
                found.add(octet)
        for start, frame in tables.calls[state]:
            found |= live(contexts.number(start, pre_state), contexts.push(frame, context), more)
        return frozenset(found)

    for frame in set(tables.call_returns.tolist()):
        contexts.push(frame, contexts.push(frame, 0))
    above = sorted({0, *(context for _, _, context in contexts.pushes())})
    pairs = random.Random(1).sample(range(1, len(contexts.states)), 400 if full else 45)
    octets, deeper = octets_of(network), 0
    for context in above:
        found = octets.of(np.array(pairs), context)
        for pair, words in zip(pairs, found, strict=True):
            expected = live(pair, context, live_octets._MORE_BYTES)
            assert sorted(expected) == np.flatnonzero(flags_of(words)).tolist()
            deeper += expected > live(pair, context, 0)
    assert deeper > 10


def test_certified_tokens_are_live(network: PretokenizedNetwork, full: bool) -> None:
    """The search agrees; where many lead to one place some bytes are tried with all at once."""
    octets, dead_ends = octets_of(network), network.dead_ends
    contexts, rng = network.contexts, random.Random(2)
    node = network.stack_contexts.unknown(0)
    ids = np.array(sorted(rng.sample(network.forbidden.order.tolist(), 600)), dtype=np.int32)
    certified = 0
    for pair in rng.sample(range(1, len(contexts.states)), 60 if full else 12):
        if not contexts.is_live(pair, 0) or contexts.at_boundary(pair, 0):
            continue
        place = int(contexts.states[pair]), int(contexts.pre_states[pair]), node
        for some in (ids, ids[::10]):
            found = octets.certified(np.array([pair]), 0, some, np.zeros(len(some), dtype=np.int32))
            decided = dead_ends.decide(place, some[found], whole=False, budget=50)
            assert decided is not None
            assert some[found].tolist() == decided.tolist()
            certified += len(decided)
    assert certified > 1_000


def test_threads_share_what_may_follow(network: PretokenizedNetwork) -> None:
    """As artifacts of a process do: each of eight asks for all tokens in an order of its own."""
    forbidden, vocabulary = network.forbidden, network.vocabulary
    tokens = forbidden.order[:3_000].astype(np.int64)
    expected = OctetsAfter(forbidden, vocabulary).of(forbidden, tokens)
    after = OctetsAfter(forbidden, vocabulary)

    def asked(seed: int) -> bool:
        places = np.array(random.Random(seed).sample(range(len(tokens)), len(tokens)))
        parts = np.array_split(places, 60)
        found = [after.of(forbidden, tokens[part]) for part in parts]
        return all((expected[a] == b).all() for a, b in zip(parts, found, strict=True))

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(asked, range(8)))
    octet = int(vocabulary.token(int(tokens[0]))[0])
    assert forbidden.forbids(int(tokens[0]), int(after.token[octet])) == (
        not flags_of(expected[0])[octet]
    )


def test_rules_that_begin_with_rules_are_followed_within_bounds(
    default_tokenizer: Tokenizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of 400 that are called one inside of the other the first are looked at."""
    inline_up_to(monkeypatch, 0)
    rules = "\n".join(f'r{i} ::= r{i + 1} "]" | "[" r{i} "]"' for i in range(400))
    text = f'root ::= r0 | "(" root ")"\n{rules}\nr400 ::= "é" | "(" root ")"\n'
    engine = build_engine(text, dialect="gbnf", engine="network")
    assert len(engine.network.call_starts) > 400
    request = request_of(default_tokenizer, CompileOptions())
    tables = TokenizerTables(default_tokenizer)
    found = merge(engine.grammar, engine.network, (), request, tables).network
    octets, contexts = octets_of(found), found.contexts
    start = contexts.number(found.network.tables.start, found.pretokenizer.start)
    octets.of(np.array([start]), 0)
    assert 10 < len(octets._number) < 100
