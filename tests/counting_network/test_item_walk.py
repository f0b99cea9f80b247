"""Levels of counters that one walk of the trie finds: those that are found one by one."""

# Tests here say `expected == actual`.

from itertools import product

import pytest

from constrain.artifacts.counting_network import item_walk
from constrain.artifacts.counting_network.closure import needed_keys
from constrain.artifacts.counting_network.item_walk import Items, ItemWalk
from constrain.artifacts.counting_network.summaries import CountingSummaries
from constrain.artifacts.network.tables import NetworkTables
from constrain.artifacts.summaries.node_sets import Nodes
from constrain.artifacts.tokens.trie import Trie
from constrain.compiler import Tokenizer
from constrain.compiler.options import CompileOptions, request_of
from constrain.compiler.pipeline import build_engine

CHARACTER = r'( [^\x00-\x1f"\\] | "\\" ( ["\\/bfnrt] | "u" [0-9a-f] [0-9a-f] ) )'

# Items, what follows them, and whether some counter has items that a token reads in one way.
ITEMS = {
    "characters": (f'"\\"" {CHARACTER}{{2,90}} "\\""', True),
    "characters of one number": (f'"\\"" {CHARACTER}{{90}} "\\""', True),
    "characters, then one of them": ('[a-z]{0,70} [aeiou] [a-z] "."', True),
    "words": ('( [a-z]+ [ ,] ){1,60} "."', True),
    "words in front of what calls": (
        f'( "in " | "the " ){{0,70}} ( {CHARACTER}{{3,80}} )+ "."',
        True,
    ),
    "a count that ends a call": ('[a-z]{1,70} ( "," root )? "." | "(" root ")"', True),
    "words behind words": ('[a-z]+ ( " " [a-z]+ ){0,60} "."', True),
    "ends that cannot be told": ('( "a" | "aa" | "th" ){3,60} "."', False),
    "counts in counts": ('( [a-z]{1,40} " " ){0,60} "."', True),
}


def network(text: str, default_tokenizer: Tokenizer) -> NetworkTables:
    """The network of a grammar, whose counts are not copied."""
    options = {"dialect": "gbnf", "tokenization": "any", "engine": "network", "prewarm": 0}
    found: NetworkTables = build_engine(f"root ::= {text}", **options).network  # type: ignore
    assert found.counters is not None
    return found


@pytest.fixture(scope="module")
def trie(default_tokenizer: Tokenizer) -> tuple[Trie, int]:
    """A token trie and the size of its vocabulary."""
    request = request_of(default_tokenizer, CompileOptions())
    return request.trie, request.vocab_size


class OneByOne(ItemWalk):
    """No walk finds levels."""

    def items(self, suspended: Nodes, item: int) -> Items | None:
        return None


@pytest.mark.parametrize(
    ("kind", "is_sparse", "most_read"),
    [*product(ITEMS, [True, False], [8]), ("characters", True, 0)],
)
def test_levels_of_one_walk_are_those_found_one_by_one(
    kind: str,
    is_sparse: bool,
    most_read: int,
    trie: tuple[Trie, int],
    default_tokenizer: Tokenizer,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """For all sets that stacks come to and all counts: the same tokens, and the same nodes left."""
    text, is_walked = ITEMS[kind]
    tables = network(text, default_tokenizer)
    # Nodes are looked at by themselves, or all of the trie is.
    monkeypatch.setattr(item_walk, "_SPARSE", 0 if is_sparse else 1 << 40)
    # Tokens are listed, or each has a byte.
    monkeypatch.setattr(item_walk, "_FEW_TOKENS", 0 if is_sparse else 1 << 40)
    # Of what is read behind more of the trie no levels are listed.
    monkeypatch.setattr(item_walk, "_MOST_READ", most_read)
    walked, lefts, plain = (CountingSummaries(tables, lambda: trie[0], trie[1]) for _ in range(3))
    monkeypatch.setattr(plain, "_item_walk", OneByOne(tables, *trie))
    counters = tables.some_counters
    compared = 0
    for suspended, state in needed_keys(tables, range(1, tables.states), walked):
        walked.summary(suspended, state)
        if state < tables.states:
            continue
        number = plain.sets.number(walked.sets[suspended])
        counter, _ = counters.split(state)
        most = counters.rows[counter][2]
        for begun in range(1, 100 if most == -1 else most):
            row, left = walked.below(suspended, counter, begun)
            expected, still = plain.below(number, counter, begun)
            assert plain.rows[expected].tolist() == walked.rows[row].tolist()
            assert plain.sets[still].tolist() == walked.sets[left].tolist()
            alone = lefts.left(
                lefts.sets.number(walked.sets[suspended]), counters.frame(counter, begun)
            )
            assert plain.sets[still].tolist() == lefts.sets[alone].tolist()
            compared += 1
    assert compared
    assert is_walked == any(walked._walked.values())
