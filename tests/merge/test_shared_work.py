"""What CartesianMerge shares between tokens and states, against running every token by itself."""

import random
from collections import deque
from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray
from support import sampled
from support.automata import (
    REGEXES,
    SMALL_REGEXES,
    build_automaton,
    lifted_via_running,
    random_table,
    run,
)
from support.corpus.languages import TYPICAL
from support.corpus.tokenizer_case import Case

from constrain.artifacts.tokens.trie import walk
from constrain.compiler.bpe.tokenizer_tables import TokenizerTables
from constrain.compiler.limits import Limits
from constrain.compiler.merge import joint_functions
from constrain.compiler.merge import lift as lift_module
from constrain.compiler.merge.lift import Lift, lift
from constrain.compiler.merge.product import Product, build_product
from constrain.compiler.merge.relevance import Relevance
from constrain.compiler.tokenizer_steps import marked_dfa
from constrain.compiler.tokenizer_steps.marked_dfa import distances, reaching
from constrain.compiler.tokenizer_steps.prefix_and_replacement import members_behind
from constrain.compiler.tokenizer_steps.spellable_members import shortest_outside


@pytest.fixture(scope="module")
def tables(case: Callable[[str], Case]) -> TokenizerTables:
    """A small tokenizer with GPT-2's pre-tokenizer."""
    return case("tiny-bpe-1000").tables


@sampled("name", ["gpt2", "mistral-v3"], ["gpt2", "mistral-v3", "qwen2_5"])
def test_rows_of_real_tokenizers_are_those_of_walks(
    name: str, case: Callable[[str], Case], full: bool
) -> None:
    """Rows and transitions of some states against a walk of the whole trie from each."""
    found = case(name).tables
    trie = found.pairs.trie
    rng = random.Random(2)
    for language in TYPICAL.values() if full else [TYPICAL["words"], TYPICAL["string"]]:
        assert language.automaton is not None
        dfa, prefix = language.automaton.dfa, found.pretokenizer.prefix
        dfa = members_behind(dfa, prefix, Limits())[0] if prefix else dfa
        product = build_product(dfa, found.pretokenizer)
        lifted = lift(product, found.pretokenizer, found.pairs)
        undecided = lifted.undecided
        table = np.concatenate([product.table[:, 0], product.table[:, 1]])
        for row in rng.sample(range(2, 2 * product.states), 24):
            start = row // 2 + row % 2 * product.states
            hits = list(walk(trie, table, product.classes, np.array([start])))
            targets = np.zeros(lifted.size, dtype=np.int32)
            for part in hits:
                targets[part.tokens] = part.states
            flags = np.zeros(lifted.size, dtype=np.bool_)
            flags[lifted.ids(row)] = True
            # Byte tokens are in no trie.
            read = trie.ids[flags[trie.ids]]
            assert sorted(np.flatnonzero(targets).tolist()) == sorted(read.tolist())

            _, tokens, ends = undecided.each(undecided.rows == row)
            spelled = np.isin(tokens, trie.ids)
            expected = np.where(product.at_boundary[targets], 0, targets)
            undecided_of = np.zeros_like(targets)
            undecided_of[tokens[spelled]] = ends[spelled]
            assert expected.tolist() == undecided_of.tolist()


@sampled("regex", [REGEXES[name] for name in SMALL_REGEXES], REGEXES.values())
def test_relevance_by_some_tokens(regex: str, tables: TokenizerTables) -> None:
    """What is relevant by a random set of tokens alone is the least solution with these."""
    product = build_product(build_automaton(regex, dialect="regex").dfa, tables.pretokenizer)
    lifted = lift(product, tables.pretokenizer, tables.pairs)
    transitions = lifted_via_running(product, tables)
    everything = relevant_by(np.ones(lifted.size, dtype=np.bool_), transitions, product, tables)
    rng = random.Random(3)
    for share in (0.0, 0.02, 0.3, 1.0):
        usable = np.array([rng.random() < share for _ in range(lifted.size)])
        found = Relevance(product, lifted, tables.pretokenizer, tables.pairs, usable=usable)
        claims = [*zip(found.claims.state_of, found.claims.token_of, strict=True)]
        expected = relevant_by(usable, transitions, product, tables)
        assert [pair in expected for pair in claims] == found.by_usable.tolist()
        assert [pair in everything for pair in claims] == found.live.tolist()


def relevant_by(
    usable: NDArray[np.bool_],
    transitions: dict[tuple[int, int], int],
    product: Product,
    tables: TokenizerTables,
) -> set[tuple[int, int]]:
    """The claims that ``usable`` tokens lead to an open state, by plain iteration."""
    at_boundary = product.at_boundary
    claims = {(s, t) for (_, t), s in transitions.items() if not at_boundary[s]}
    rows = tables.pairs.forbidden.rows
    forbidden = {token: set(rows.ids(token).tolist()) for _, token in claims}
    leaving: dict[int, list[tuple[int, int]]] = {}
    for (row, token), target in transitions.items():
        if row % 2 == 0 and usable[token]:
            leaving.setdefault(row // 2, []).append((token, target))
    relevant: set[tuple[int, int]] = set()
    while True:
        more = {
            (state, last)
            for state, last in claims - relevant
            if any(
                (at_boundary[target] or (target, token) in relevant)
                and token not in forbidden[last]
                for token, target in leaving.get(state, ())
            )
        }
        if not more:
            return relevant
        relevant |= more


def test_reaching() -> None:
    """States that lead to an end, and how far, on random automata, against plain fixed points."""
    rng = random.Random(4)
    for _ in range(300):
        table = random_table(rng, rng.randrange(1, 12), rng.randrange(1, 4))
        table[rng.randrange(len(table))] = 0
        ends = np.array([state > 0 and rng.random() < 0.2 for state in range(len(table))])
        expected, far = ends.copy(), np.where(ends, 0, -1)
        for count in range(len(table)):
            expected |= expected[table].any(axis=1)
            far[expected & (far < 0)] = count + 1
        assert expected.tolist() == reaching(table, ends).tolist()
        assert far.tolist() == distances(table, ends).tolist()


@pytest.mark.parametrize("few", [0, 1 << 22])
def test_synchronous_product(few: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Pairs and their table on random automata, numbered in an array or in a list, against a
    plain walk breadth first."""
    monkeypatch.setattr(marked_dfa, "_MAX_DENSE_PAIRS", few)
    rng = random.Random(6)
    for _ in range(200):
        first, second = (random_table(rng, rng.randrange(2, 8), 3) for _ in range(2))
        width = len(second)
        begin = sorted({rng.randrange(1, len(first)) * width + 1 for _ in range(3)})
        order, rows = [0, *begin], {0: [0, 0, 0]}
        level = begin
        while level:
            for pair in level:
                moves = zip(
                    first[pair // width].tolist(), second[pair % width].tolist(), strict=True
                )
                rows[pair] = [a * width + b if a and b else 0 for a, b in moves]
            level = sorted({after for pair in level for after in rows[pair]} - set(order))
            order += level
        pairs, table = marked_dfa.synchronous_product(first, second, np.array(begin))
        assert order == pairs.tolist()
        assert [[order.index(after) for after in rows[pair]] for pair in order] == table.tolist()


def test_the_shortest_text_outside() -> None:
    """The shortest member that another automaton does not take, of those the first, against
    texts one after another."""
    rng = random.Random(5)
    regexes = ["(ab|b)*c?", "[abc]{2,4}", "a*(b|c)", "(a|bc)+", "()|b"]
    none = 0
    for number in range(200):
        dfa = build_automaton(regexes[number % len(regexes)], dialect="regex").dfa
        table = random_table(rng, rng.randrange(2, 7), 3)
        final = np.array([state > 0 and rng.random() < 0.9 for state in range(len(table))])
        classes = np.array([octet % 3 for octet in range(256)])
        keeps_empty = rng.random() < 0.5
        expected = None
        pending = deque([b""])
        while pending and expected is None:
            text = pending.popleft()
            here = dfa.start
            for octet in text:
                here = int(dfa.table[here, dfa.classes[octet]])
            if here and len(text) < 9:
                pending.extend(text + bytes([octet]) for octet in b"abc")
            outside = not final[run(table, 1, [int(classes[octet]) for octet in text])]
            if dfa.accepting[here] and outside and (text or not keeps_empty):
                expected = text
        found = shortest_outside(dfa, table, classes, final, 1, keeps_empty)
        none += found is None
        assert expected == found
    assert 0 < none < 150


@pytest.mark.parametrize("name", ["tiny-bpe-1000", "mistral-v3"])
def test_rows_in_groups_and_parts(
    name: str, case: Callable[[str], Case], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rows and transitions are the same where little memory divides the rows into groups, and steps
    are small; and where the trie is walked beside the product."""
    found = case(name).tables
    dfa = build_automaton(r'"([^"\\]|\\["\\]){0,3}"|[0-9]{1,4}', dialect="regex").dfa
    prefix = found.pretokenizer.prefix
    dfa = members_behind(dfa, prefix, Limits())[0] if prefix else dfa
    product = build_product(dfa, found.pretokenizer)
    whole = lift(product, found.pretokenizer, found.pairs)
    monkeypatch.setattr(joint_functions, "_STEP", 400)
    monkeypatch.setattr(lift_module, "_BYTES_OF_PAIR", Limits().memory // 200)
    parts = lift(product, found.pretokenizer, found.pairs)
    monkeypatch.setattr(joint_functions, "_MOST_STATES", 0)
    walked = lift(product, found.pretokenizer, found.pairs)
    assert len(parts.undecided.bounds) > 3 * len(whole.undecided.bounds)
    for other in (parts, walked):
        rows = range(len(whole.numbers))
        assert [whole.ids(row).tolist() for row in rows] == [
            other.ids(row).tolist() for row in rows
        ]
        assert sorted(map(tuple, whole.undecided.each().T.tolist())) == sorted(
            map(tuple, other.undecided.each().T.tolist())
        )
    dead = [
        sorted(
            map(tuple, Relevance(product, each, found.pretokenizer, found.pairs).dead().T.tolist())
        )
        for each in (whole, parts, walked)
    ]
    assert dead[0] == dead[1] == dead[2]


def test_equal_rows_have_one_number(tables: TokenizerTables) -> None:
    """A lift keeps each set of tokens once, however many rows have it."""
    dfa = build_automaton("[a-z ]{1,40}", dialect="regex").dfa
    product = build_product(dfa, tables.pretokenizer)
    found: Lift = lift(product, tables.pretokenizer, tables.pairs)
    assert len(found.sets) == len({(held.dtype, held.tobytes()) for held in found.sets})
    assert 3 * len(found.sets) < np.count_nonzero(found.numbers)
