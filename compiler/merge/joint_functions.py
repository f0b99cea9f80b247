"""What each token does to the states of a product, from what it does to both automata.

    token     in the texts    in the pre-tokenizer    in the product
    " the"    class 4         class 17                class 9, the pair (4, 17)
    " a"      class 4         class 17                class 9

A function of the product is a pair of functions, and few pairs there are: 845 for an object of
three keys on Qwen 2.5, of 215 and 610. Those of the pre-tokenizer are the same for each grammar and
are made once. A row reads the classes that both of its states read, if the product has the pair of
states that they lead to.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from constrain.artifacts.tokens.distinct import stable_order
from constrain.artifacts.tokens.subtrees import ending_subtrees_of
from constrain.artifacts.tokens.trie import Trie, ranges

from ..automata.token_functions import TokenFunctions, token_functions
from ..tokenizer_steps.boundary_tables import PretokenizerTables
from ..tokenizer_steps.marked_dfa import MarkedDfa
from .product import Product

# Of larger pre-tokenizer DFAs, as those of whole pre-tokens are, more functions are made than a
# grammar meets: then they are made of the product, in groups of so many pairs.
_MOST_STATES, _MOST_PAIRS = 5_000, 1 << 21

# Places of a table, and transitions, that one step may make.
_STEP = 1 << 20


@dataclass(frozen=True, slots=True, eq=False)
class JointFunctions:
    """The functions of all tokens on some rows of a product, 2p and 2p + 1 of state p.

    ``starts``: int32, ascending, these rows. ``ids``: int32 (T,), all tokens, and ``classes``:
    int32 (T,), the class of each; class 0 is read nowhere. ``count``: of classes. ``rows``,
    ``owners``, ``targets``: int32 (n,), each row that reads a class, with the class and the state
    that it leads to; ascending by row and class.
    """

    starts: NDArray[np.int32]
    ids: NDArray[np.int32]
    classes: NDArray[np.int32]
    count: int
    rows: NDArray[np.int32]
    owners: NDArray[np.int32]
    targets: NDArray[np.int32]


def is_joint(pretokenizer: PretokenizerTables) -> bool:
    """Whether functions are found of both automata by themselves, and not of their product."""
    return pretokenizer.dfa.states <= _MOST_STATES


def joint_functions(
    product: Product, pretokenizer: PretokenizerTables, trie: Trie, max_pairs: int
) -> Iterator[JointFunctions]:
    """The functions, in one or more groups of rows, each token in all of them. ``max_pairs``: of a
    state and its target, that the functions of one group may have."""
    if not is_joint(pretokenizer):
        yield from _of_product(product, trie, min(max_pairs, _MOST_PAIRS))
        return
    width = np.int64(pretokenizer.dfa.states)
    table, columns = product.texts.table, product.texts.classes
    starts = np.flatnonzero(np.bincount(product.byte_state[1:]))
    for texts in token_functions(trie, table, columns, starts, max_pairs, ending_subtrees_of(trie)):
        for pieces in _of_pretokenizer(pretokenizer, trie):
            yield from _Join(texts, pieces, width).over(product, max_pairs)


def _of_product(product: Product, trie: Trie, max_pairs: int) -> Iterator[JointFunctions]:
    """The same by one walk beside the product itself."""
    # A state of this table is a row; after its first byte a token reads bytes with mark 0.
    table = 2 * product.table[:, :2].reshape(-1, product.table.shape[2])
    starts, subtrees = np.arange(2, len(table)), ending_subtrees_of(trie)
    for found in token_functions(trie, table, product.classes, starts, max_pairs, subtrees):
        count, order = len(found.offsets) - 1, stable_order(found.sources)
        owners = np.repeat(np.arange(count, dtype=np.int32), np.diff(found.offsets))[order]
        rows, states = found.sources[order], found.targets[order] // 2
        some = found.starts.astype(np.int32)
        yield JointFunctions(some, found.ids, found.classes, count, rows, owners, states)


# By trie: the functions of the pre-tokenizer DFA that was asked for last.
_MADE: WeakKeyDictionary[Trie, tuple[MarkedDfa, list[TokenFunctions]]] = WeakKeyDictionary()


def _of_pretokenizer(tables: PretokenizerTables, trie: Trie) -> list[TokenFunctions]:
    """The functions on its rows, 2q for tokens that continue a pre-token at state q, 2q + 1 for
    those that start one; they lead to rows 2q."""
    made = _MADE.get(trie)
    if made is None or made[0] is not tables.dfa:
        # After its first byte a token reads bytes with mark 0.
        table = 2 * tables.dfa.table[:, :2].reshape(-1, tables.dfa.table.shape[2])
        starts = np.arange(2, len(table))
        found = token_functions(
            trie, table, tables.classes, starts, subtrees=ending_subtrees_of(trie)
        )
        made = _MADE[trie] = tables.dfa, list(found)
    return made[1]


class _Side:
    """The functions of one automaton by state: state s reads the classes ``owners``, and is led
    by them to ``targets``, from ``bounds[s]`` to ``bounds[s + 1] - 1``, ascending by class.

    ``of_joint``: this side of each joint class. Those with class k are ``joint``, from
    ``first[k]`` on, so many as ``counts[k]``."""

    def __init__(self, functions: TokenFunctions, of_joint: NDArray[np.int64]) -> None:
        self.classes = len(functions.offsets) - 1
        states = int(functions.starts.max(initial=0)) + 1
        order = stable_order(functions.sources)
        owners = np.repeat(np.arange(self.classes), np.diff(functions.offsets))
        self.owners, self.targets = owners[order], functions.targets[order]
        self.bounds = np.searchsorted(functions.sources[order], np.arange(states + 1))
        self.joint = stable_order(of_joint).astype(np.int32)
        self.of_joint, self.counts = of_joint, np.bincount(of_joint, minlength=self.classes)
        self.first = np.cumsum(self.counts) - self.counts

    def read(self, states: NDArray[np.integer]) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """How many classes each of some states reads, and where they stand."""
        counts = self.bounds[states + 1] - self.bounds[states]
        return counts, ranges(self.bounds[states], counts)

    @cached_property
    def weights(self) -> NDArray[np.int64]:
        """How many joint classes each state reads, if the other side reads all of them."""
        total = np.append(0, np.cumsum(self.counts[self.owners]))
        found: NDArray[np.int64] = np.diff(total[self.bounds])
        return found


class _Join:
    """The pairs of functions of two automata."""

    def __init__(self, texts: TokenFunctions, pieces: TokenFunctions, width: np.int64) -> None:
        self.ids, self.width = texts.ids, width
        columns = len(pieces.offsets) - 1
        keys = texts.classes.astype(np.int64) * columns + pieces.classes
        keys[(texts.classes == 0) | (pieces.classes == 0)] = 0
        is_met = np.zeros((len(texts.offsets) - 1) * columns, dtype=np.bool_)
        is_met[keys] = is_met[0] = True
        found = np.flatnonzero(is_met)
        self.count, self.classes = len(found), (np.cumsum(is_met) - 1)[keys].astype(np.int32)
        of_texts, of_pieces = np.divmod(found, columns)
        self.starts = texts.starts, pieces.starts
        self.texts, self.pieces = _Side(texts, of_texts), _Side(pieces, of_pieces)

    def over(self, product: Product, most: int) -> Iterator[JointFunctions]:
        """The functions on the rows whose states both have, in groups of about ``most``
        transitions."""
        rows = np.arange(2, 2 * product.states, dtype=np.int32)
        texts = product.byte_state[rows // 2]
        pieces = 2 * product.pre_state[rows // 2] + rows % 2
        inside = np.isin(texts, self.starts[0]) & np.isin(pieces, self.starts[1])
        rows, texts, pieces = rows[inside], texts[inside], pieces[inside]
        weights = self.texts.weights[texts], self.pieces.weights[pieces]
        # The side that reads less is followed, and looked up at the other.
        by_texts = weights[0] < weights[1]
        groups = np.cumsum(np.minimum(*weights)) // most
        bounds = np.append(np.flatnonzero(np.diff(groups, prepend=-1)), len(rows))
        for low, high in pairwise(bounds.tolist()):
            met: list[tuple[NDArray[np.int64], tuple[NDArray[np.integer], ...]]] = []
            for is_texts, chosen in ((True, by_texts[low:high]), (False, ~by_texts[low:high])):
                mine, other, left, right = self.texts, self.pieces, texts, pieces
                if not is_texts:
                    mine, other, left, right = other, mine, right, left
                for part in _parts(mine, left, right, low + np.flatnonzero(chosen)):
                    counts, owners, *ends = _met(mine, other, left[part], right[part])
                    of_texts, of_pieces = ends if is_texts else ends[::-1]
                    pairs = of_texts * self.width
                    pairs += of_pieces // 2
                    met.append((part - low, (counts, owners, product.numbers.of(pairs))))
            some = rows[low:high]
            yield JointFunctions(some, self.ids, self.classes, self.count, *_by_row(some, met))


def _by_row(
    rows: NDArray[np.int32],
    met: list[tuple[NDArray[np.int64], tuple[NDArray[np.integer], ...]]],
) -> Iterator[NDArray[np.int32]]:
    """Row, class and state of each transition into the product, by row. ``met``: places of some of
    ``rows``, and of each how many classes it reads, then these and the states that they lead to, -1
    outside of the product."""
    counts = np.zeros(len(rows), dtype=np.int64)
    for places, (some, *_) in met:
        counts[places] = some
    first = np.cumsum(counts) - counts
    columns = np.repeat(rows, counts), *np.empty((2, int(counts.sum())), dtype=np.int32)
    for places, (some, owners, states) in met:
        here = ranges(first[places], some)
        columns[1][here], columns[2][here] = owners, states
    kept = columns[2] >= 0
    return iter(columns) if kept.all() else (column[kept] for column in columns)


def _parts(
    mine: _Side, left: NDArray[np.integer], right: NDArray[np.integer], places: NDArray[np.int64]
) -> Iterator[NDArray[np.int64]]:
    """``places`` of rows in parts that one step can do."""
    work = max(int(mine.weights[left[places]].sum()), mine.classes * len(np.unique(right[places])))
    if work > _STEP and len(places) > 1:
        # Rows of one state of the other side lie together.
        places, half = places[stable_order(right[places])], len(places) // 2
        for part in (places[:half], places[half:]):
            yield from _parts(mine, left, right, np.sort(part))
    elif len(places):
        yield places


def _met(
    mine: _Side, other: _Side, left: NDArray[np.integer], right: NDArray[np.integer]
) -> tuple[NDArray[np.integer], ...]:
    """Where states ``left[i]`` of one side and ``right[i]`` of the other read the same joint class:
    of each i how many, then these classes and the states that they lead to."""
    states = np.flatnonzero(np.bincount(right))
    place = np.zeros(int(right.max()) + 1, dtype=np.int64)
    place[states] = np.arange(len(states)) * mine.classes
    # What the other side reads, by its state and the class that this side has then.
    counts, read = other.read(states)
    owners, more = other.owners[read], other.counts[other.owners[read]]
    joint = other.joint[ranges(other.first[owners], more)]
    keys = np.repeat(np.repeat(place[states], counts), more) + mine.of_joint[joint]
    order = stable_order(keys)
    joint, targets = joint[order], np.repeat(other.targets[read], more)[order]
    held = np.bincount(keys, minlength=len(states) * mine.classes)
    first = np.cumsum(held) - held
    counts, read = mine.read(left)
    keys = np.repeat(place[right], counts) + mine.owners[read]
    more = held[keys]
    found = ranges(first[keys], more)
    total = np.append(0, np.cumsum(more))[np.append(0, np.cumsum(counts))]
    return np.diff(total), joint[found], np.repeat(mine.targets[read], more), targets[found]
