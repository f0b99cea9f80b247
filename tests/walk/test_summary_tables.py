"""The table of procedure summaries: rows, sets of trie nodes and results as numbers."""

import numpy as np
import pytest
from numpy.typing import NDArray

from constrain.artifacts.errors import ArtifactError
from constrain.artifacts.tokens import tokenset
from constrain.artifacts.tokens.block_rows import shared_blocks
from constrain.artifacts.tokens.tokenset import Words
from constrain.artifacts.tokens.trie import Trie
from constrain.artifacts.tokens.vocabulary import Vocabulary
from constrain.artifacts.walk.node_sets import NOTHING, ROOT, NodeSets
from constrain.artifacts.walk.results import Results, pair_at
from constrain.artifacts.walk.summary_rows import EMPTY, RowTable

pytestmark = pytest.mark.quick

SIZE = 2_000


def row(*ids: int) -> Words:
    """A row of some tokens."""
    return tokenset.from_ids(list(ids), SIZE)


def ids_of(rows: RowTable, number: int) -> list[int]:
    """What a row holds."""
    return tokenset.to_ids(rows[number]).tolist()


STORED: NDArray[np.uint32] = np.stack([row(), row(5), row(7, 1_999)])


def test_equal_rows_are_one_number() -> None:
    """Those that are added as they are have numbers of their own."""
    rows = RowTable(SIZE)
    assert rows.number(row()) == EMPTY
    first = rows.number(row(3))
    assert rows.number(row(3)) == first
    assert rows.add(row(3)) != first
    assert rows.constant(-1, row(4)) == rows.constant(-1, row(4))
    with pytest.raises(ValueError, match="read-only"):
        rows[first][0] = 1


def test_unions_are_remembered_and_of_any_number_of_rows() -> None:
    """In any order; of fewer than two nothing is made."""
    rows = RowTable(SIZE)
    numbers = [rows.number(row(i)) for i in (1, 40, 900)]
    union = rows.union(numbers)
    assert ids_of(rows, union) == [1, 40, 900]
    assert rows.union([*reversed(numbers), EMPTY]) == union
    assert rows.union([]) == EMPTY
    assert rows.union([numbers[1], EMPTY]) == numbers[1]
    assert ids_of(rows, numbers[0]) == [1]


@pytest.mark.parametrize("stored", [STORED, shared_blocks(STORED)], ids=["words", "blocks"])
def test_rows_of_a_file_are_first_and_stay(stored: NDArray[np.uint32]) -> None:
    """Whatever is forgotten."""
    rows = RowTable(SIZE, stored)
    assert [ids_of(rows, i) for i in range(len(rows))] == [[], [5], [7, 1_999]]
    added = rows.number(row(9))
    assert (added, rows.in_memory) == (3, 1)
    assert rows.number(row()) == EMPTY
    rows.forget()
    assert (len(rows), rows.in_memory, rows.nbytes) == (3, 0, 0)
    assert ids_of(rows, rows.number(row(11))) == [11]
    assert ids_of(rows, 2) == [7, 1_999]


def test_rows_that_are_words_are_compared_with_new_ones() -> None:
    """Compressed ones would have to be decoded."""
    assert RowTable(SIZE, STORED.copy()).number(row(5)) == 1
    assert RowTable(SIZE, shared_blocks(STORED)).number(row(5)) == 3


def test_large_compressed_rows_are_decoded_one_by_one() -> None:
    """Which counts as memory, and is forgotten."""
    size = 1 << 21
    given = np.zeros((32, size // 32), dtype=np.uint32)
    given[:, 1] = range(32)
    rows = RowTable(size, shared_blocks(given), capacity=1 << 20)
    assert rows.nbytes == 0
    assert (rows[31] == given[31]).all()
    assert rows.nbytes >= rows.row_bytes
    held = rows.nbytes
    assert (rows[31] == given[31]).all()
    assert rows.nbytes == held
    rows.forget()
    assert rows.nbytes == 0


def test_a_table_of_rows_is_full_beyond_its_capacity() -> None:
    """But never before it holds as many as one mask may need."""
    rows = RowTable(SIZE, capacity=0)
    numbers = [rows.number(row(i)) for i in range(64)]
    assert not rows.is_full
    rows.union(numbers)
    assert rows.is_full
    roomy = RowTable(SIZE, capacity=1 << 20)
    roomy.union([roomy.number(row(i)) for i in range(64)])
    assert not roomy.is_full


def nodes(*numbers: int) -> NDArray[np.int32]:
    """A set."""
    return np.array(numbers, dtype=np.int32)


def test_equal_sets_of_nodes_are_one_number() -> None:
    """Those of a file as well, which stay when others are forgotten."""
    sets = NodeSets(nodes(0, 4, 8), np.array([0, 0, 1, 3], dtype=np.int64))
    assert sets.number(nodes()) == NOTHING
    assert sets.number(nodes(0)) == ROOT
    assert sets.number(nodes(4, 8)) == 2
    added = sets.number(nodes(4))
    assert (added, len(sets)) == (3, 4)
    assert sets.number(nodes(4)) == added
    assert sets[added].tolist() == [4]
    sets.forget()
    assert (len(sets), sets.nbytes) == (3, 0)
    assert sets[2].tolist() == [4, 8]


@pytest.mark.parametrize("wrong", [9, -1])
def test_nodes_that_a_trie_lacks_are_damage(wrong: int) -> None:
    """The section is named."""
    trie = Trie.from_vocabulary(Vocabulary.from_tokens({0: b"a", 1: b"bc"}, [], 2))
    good = NodeSets(nodes(0, 1), np.array([0, 0, 1, 2], dtype=np.int64))
    good.check(trie, "some.nodes")
    bad = NodeSets(nodes(0, wrong), np.array([0, 0, 1, 2], dtype=np.int64))
    with pytest.raises(ArtifactError, match=r"'some\.nodes' is damaged"):
        bad.check(trie, "some.nodes")


@pytest.mark.parametrize("count", [10, 5_000])
def test_results_of_a_file_are_under_those_that_are_found(count: int) -> None:
    """However many they are, and whether they were looked up or not."""
    keys = np.arange(count, dtype=np.int64) << 35
    values = np.arange(2 * count, dtype=np.int32).reshape(-1, 2)
    results = Results(keys, pair_at(values))
    assert results.get(3 << 35) == (6, 7)
    assert results.get(1) is None
    assert results.get(-1) is None
    assert results.get(count << 35) is None
    results.found[1] = 8, 9
    assert results.get(1) == (8, 9)
    assert results.added in (1, 2)
    expected = {i << 35: (2 * i, 2 * i + 1) for i in range(count)}
    assert {key: results.get(key) for key in expected} == expected
    results.forget()
    assert results.get(1) is None
    assert {key: results.get(key) for key in expected} == expected
