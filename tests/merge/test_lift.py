"""The fast stages of CartesianMerge against plain ones: lift, relevance, product."""

import random
from collections.abc import Callable

import numpy as np
import pytest
from support import sampled
from support.automata import REGEXES, SMALL_REGEXES, build_automaton, lifted_via_running
from support.corpus.tokenizer_case import Case

from constrain.compiler import Tokenizer, compile_grammar
from constrain.compiler.bpe.tokenizer_tables import TokenizerTables
from constrain.compiler.merge.cartesian_merge import cartesian_merge, pairs_of
from constrain.compiler.merge.lift import Lift, lift
from constrain.compiler.merge.product import Product, build_product
from constrain.compiler.merge.relevance import Relevance


@pytest.fixture(scope="module")
def tables(case: Callable[[str], Case]) -> TokenizerTables:
    """A small tokenizer with GPT-2's pre-tokenizer."""
    return case("tiny-bpe-1000").tables


def rows_of(found: Lift) -> dict[int, set[int]]:
    """The tokens of each row that has any."""
    return {row: set(found.ids(row).tolist()) for row in np.flatnonzero(found.numbers).tolist()}


@sampled("regex", [REGEXES[name] for name in SMALL_REGEXES], REGEXES.values())
def test_lift_and_relevance(regex: str, tables: TokenizerTables) -> None:
    """Rows, and transitions to states that are not open, are those of running each token; dead
    ends those that the least solution over all product states leaves."""
    automaton = build_automaton(regex, dialect="regex")
    product = build_product(automaton.dfa, tables.pretokenizer)
    found = lift(product, tables.pretokenizer, tables.pairs)
    expected = lifted_via_running(product, tables)
    by_row: dict[int, set[int]] = {}
    for row, token in expected:
        by_row.setdefault(row, set()).add(token)
    at_boundary = product.at_boundary

    assert by_row == rows_of(found)
    undecided = sorted((r, t, s) for (r, t), s in expected.items() if not at_boundary[s])
    assert undecided == sorted(map(tuple, found.undecided.each().T.tolist()))

    relevant = relevant_pairs(expected, product, tables)
    result = Relevance(product, found, tables.pretokenizer, tables.pairs)
    dead = sorted(map(tuple, result.dead().T.tolist()))
    assert [(r, t) for r, t, s in undecided if (s, t) not in relevant] == dead


def relevant_pairs(
    transitions: dict[tuple[int, int], int], product: Product, tables: TokenizerTables
) -> set[tuple[int, int]]:
    """The product states (state, last token) on a way to the end, by plain iteration."""
    rows = tables.pairs.forbidden.rows
    leaving: dict[int, list[tuple[int, int, int]]] = {}
    for (row, token), target in transitions.items():
        leaving.setdefault(row // 2, []).append((row % 2, token, target))
    pairs = {(target, token) for (_, token), target in transitions.items()}
    relevant = {pair for pair in pairs if product.accepting[pair[0]]}
    forbidden = {token: set(rows.ids(token).tolist()) for _, token in pairs}
    while True:
        more = {
            (state, last)
            for state, last in pairs - relevant
            if any(
                (target, token) in relevant and (starts or token not in forbidden[last])
                for starts, token, target in leaving.get(state, ())
            )
        }
        if not more:
            return relevant
        relevant |= more


def test_rows_forbid_what_the_whole_table_forbids(tables: TokenizerTables) -> None:
    """Restricting the pairs to the tokens of a grammar, and fusing classes, loses nothing."""
    automaton = build_automaton("[a-z ]{1,9}", dialect="regex")
    product = build_product(automaton.dfa, tables.pretokenizer)
    whole = tables.pairs.forbidden.rows
    restricted = pairs_of(cartesian_merge(product, tables), whole)
    held = set(restricted.order.tolist())
    rng = random.Random(1)
    classes: dict[int, list[int]] = {}
    for token in rng.sample(tables.pairs.trie.ids.tolist(), 400):
        ids = sorted(restricted.ids(token).tolist())
        assert sorted(held.intersection(whole.ids(token).tolist())) == ids
        assert classes.setdefault(int(restricted.row_class[token]), ids) == ids


def test_progress_is_shown(default_tokenizer: Tokenizer) -> None:
    """Each step says how far it is."""
    shown: dict[str, list[tuple[int, int]]] = {}

    def progress(stage: str, done: int, total: int) -> None:
        shown.setdefault(stage, []).append((done, total))

    compile_grammar(
        r'"[^"\\]{0,12}"',
        dialect="regex",
        tokenizer=default_tokenizer,
        method="cartesian",
        progress=progress,
    )

    assert {
        "the product with the pre-tokenizer",
        "the table of each state's tokens",
        "the dead ends",
    } <= set(shown)
    for steps in shown.values():
        assert all(0 <= done <= total for done, total in steps)
        assert steps[-1][0] == steps[-1][1]
    assert len(shown["the table of each state's tokens"]) > 2
