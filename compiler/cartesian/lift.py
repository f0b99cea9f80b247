"""Algorithm 5, line 2: from the automaton over bytes to the automaton over tokens.

decode⁻¹(L) has a transition by each token whose bytes the byte automaton reads. Here the byte
automaton is the product with the pre-tokenizer DFA, and each state p has two sets of tokens:

    row 2p        tokens that continue a pre-token at state p
    row 2p + 1    tokens that start a pre-token there

Tokens that do the same to all states form one class (``token_functions``), a row is a union of such
classes, and rows with the same classes share one array.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from constrain.artifacts.tokens import tokenset
from constrain.artifacts.tokens.distinct import stable_order
from constrain.artifacts.tokens.subtrees import subtrees_of
from constrain.artifacts.tokens.tokenset import Words
from constrain.artifacts.tokens.trie import Trie, ranges

from ..automata.token_functions import TokenFunctions, token_functions
from ..bpe.forbidden_pairs import PairTables
from ..limits import Limits
from ..pretokenizer.boundary_tables import PretokenizerTables
from ..pretokenizer.marked_dfa import DEAD
from ..progress import Progress, silent
from .product import Product

_STAGE = "the table of each state's tokens"

# Sets of up to so many tokens are lists of ids, larger ones are packed.
LONGEST_LIST = 512

# The functions of one walk may have a pair for so many bytes of the memory limit, a fifth of which
# they take. Where there are more pairs, walks of fewer states begin again.
_BYTES_OF_PAIR = 64

# Rows between two checks of the time limit.
_STRIDE = 1024


@dataclass(frozen=True, slots=True, eq=False)
class Lift:
    """The rows of the automaton over tokens.

    ``lists``: row to its token ids, int32, ascending, of short rows that are not empty. ``bits``:
    row to uint32 (W,), one bit a token, of the others. Equal rows may share an array: replace it,
    do not write to it. ``undecided``: the transitions into states that are not at a free boundary,
    of which some may lead to dead ends. ``size``: V.
    """

    lists: dict[int, NDArray[np.int32]]
    bits: dict[int, Words]
    undecided: "Bundles"
    size: int

    @property
    def rows(self) -> Iterator[tuple[int, "Words | NDArray[np.int32]"]]:
        """All rows that are not empty, ascending: packed, or as ids."""
        for row in sorted((*self.bits, *self.lists)):
            held = self.bits[row] if row in self.bits else self.lists[row]
            if len(held):
                yield row, held


def ids_of(row: "Words | NDArray[np.int32]") -> NDArray[np.int32]:
    """The tokens of a row, ascending."""
    if row.dtype == np.uint32:
        return tokenset.to_ids(row.view(np.uint32)).astype(np.int32)
    return row.view(np.int32)


@dataclass(frozen=True, slots=True, eq=False)
class Bundles:
    """Transitions by a group of tokens from one row into one state, as one bundle.

    ``rows``, ``groups``, ``targets``: int32 (n,), of each bundle, ascending by row. Group g is the
    tokens ``tokens[bounds[g]:bounds[g + 1]]``; int32 and int64.
    """

    rows: NDArray[np.int32]
    groups: NDArray[np.int32]
    targets: NDArray[np.int32]
    tokens: NDArray[np.int32]
    bounds: NDArray[np.int64]

    def tokens_of(self, groups: NDArray[np.integer]) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """The sizes of some groups, int64, and their tokens, int32, group after group."""
        sizes = np.diff(self.bounds)[groups]
        return sizes, self.tokens[ranges(self.bounds[groups], sizes)]

    def each(self, wanted: NDArray[np.bool_] | slice = slice(None)) -> NDArray[np.int32]:
        """The transitions of the bundles ``wanted``, int32 (3, m): rows, tokens, targets."""
        sizes, tokens = self.tokens_of(self.groups[wanted])
        rows, targets = self.rows[wanted], self.targets[wanted]
        return np.stack([np.repeat(rows, sizes), tokens, np.repeat(targets, sizes)])


def lift(
    product: Product,
    pretokenizer: PretokenizerTables,
    pairs: PairTables,
    limits: Limits | None = None,
    progress: Progress = silent,
) -> Lift:
    """The rows of all states. Raises ``LimitError``."""
    limits = (limits or Limits()).started()
    size = len(pairs.forbidden.rows.part)
    # A state of this table is a row; after its first byte a token reads bytes with mark 0.
    table = 2 * product.table[:, :2].reshape(-1, product.table.shape[2])
    alone = (_whole_tokens if len(pretokenizer.whole) else _byte_tokens)(product, pretokenizer)
    used = (table != DEAD).any(axis=1)
    used[alone[0]] = True
    lists: dict[int, NDArray[np.int32]] = {}
    bits: dict[int, Words] = {}
    at_boundary = product.at_boundary
    undecided = [_bundled(alone[:, ~at_boundary[alone[2]]])]
    # What is stored is counted: pairs of a row and a class of tokens that do the same everywhere.
    transitions, memory = alone.shape[1], 0
    rows, total = 0, int(np.count_nonzero(used))
    progress(_STAGE, rows, total)
    starts, most_pairs = np.flatnonzero(used), limits.memory // _BYTES_OF_PAIR
    for functions in token_functions(
        pairs.trie, table, product.classes, starts, most_pairs, subtrees_of(pairs.trie)
    ):
        transitions += len(functions.sources)
        sets = _Sets(functions, pairs.trie, size, alone)
        for done, (row, number) in enumerate(sets.of_rows()):
            if number in sets.packed:
                bits[row] = sets.packed[number]
            elif sets.counts[number]:
                lists[row] = sets.ids[number]
            if limits.exceeded(0, transitions, memory + sets.memory):
                limits.check_transitions(transitions, _STAGE)
                limits.check_memory(memory + sets.memory, _STAGE)
            if done % _STRIDE == 0:
                limits.check_resources(_STAGE)
                progress(_STAGE, rows + done, total)
        rows += len(functions.starts)
        memory += sets.memory
        undecided.append(sets.bundles(~at_boundary[functions.targets // 2]))
    progress(_STAGE, total, total)
    return Lift(lists, bits, _joined(undecided), size)


class _Sets:
    """The distinct sets of tokens of the rows of one walk, numbered.

    ``ids``: of short sets, by number. ``packed``: uint32 (W,), of the others. ``counts``: the
    number of tokens of each set. ``memory``: bytes of all arrays.
    """

    def __init__(
        self, functions: TokenFunctions, trie: Trie, size: int, alone: NDArray[np.int32]
    ) -> None:
        self.functions, self.alone = functions, alone
        self.class_of = np.zeros(size, dtype=np.intp)
        self.class_of[functions.ids] = functions.classes
        by_class = stable_order(functions.classes)
        self.tokens = functions.ids[by_class]
        self.sizes = np.bincount(functions.classes, minlength=len(functions.offsets) - 1)
        self.bounds = np.cumsum(self.sizes) - self.sizes
        # Pairs of a row and a class of tokens that it reads, by row.
        owners = np.repeat(np.arange(len(self.sizes), dtype=np.int32), np.diff(functions.offsets))
        self.by_row = stable_order(functions.sources)
        self.owners = owners[self.by_row]
        self.ids: dict[int, NDArray[np.int32]] = {}
        self.packed: dict[int, Words] = {}
        self.flags = np.zeros(32 * tokenset.word_count(size), dtype=np.bool_)
        self.counts: list[int] = []
        self.memory = 0

    def of_rows(self) -> Iterator[tuple[int, int]]:
        """Each row with the number of its set, which is built if it is new."""
        rows = self.functions.starts
        owned = self.functions.sources[self.by_row]
        bounds = [
            np.searchsorted(found, rows, side).tolist()
            for found in (owned, self.alone[0])
            for side in ("left", "right")
        ]
        numbers: dict[tuple[bytes, bytes], int] = {}
        for row, low, high, first, last in zip(rows.tolist(), *bounds, strict=True):
            classes, more = self.owners[low:high], self.alone[1, first:last]
            key = classes.tobytes(), more.tobytes()
            if key not in numbers:
                numbers[key] = len(self.counts)
                self.add(classes, more)
            yield row, numbers[key]

    def add(self, classes: NDArray[np.int32], more: NDArray[np.int32]) -> None:
        """Build the set of the tokens of ``classes`` and ``more``, both int32."""
        sizes = self.sizes[classes]
        count = int(sizes.sum()) + len(more)
        number = len(self.counts)
        if count <= LONGEST_LIST:
            found = self.tokens[ranges(self.bounds[classes], sizes)]
            self.ids[number] = np.sort(np.concatenate([found, more]))
            self.memory += self.ids[number].nbytes
        else:
            is_member = np.zeros(len(self.sizes), dtype=np.bool_)
            is_member[classes] = True
            np.take(is_member, self.class_of, out=self.flags[: len(self.class_of)])
            self.flags[more] = True
            self.packed[number] = tokenset.from_flags(self.flags)
            self.memory += self.packed[number].nbytes
        self.counts.append(count)

    def bundles(self, wanted: NDArray[np.bool_]) -> Bundles:
        """The transitions of the pairs ``wanted``, bool, parallel to the functions' sources."""
        chosen = wanted[self.by_row]
        places = self.by_row[chosen]
        rows, targets = self.functions.sources[places], self.functions.targets[places] // 2
        bounds = np.append(self.bounds, len(self.tokens))
        return Bundles(rows, self.owners[chosen], targets, self.tokens, bounds)


def _bundled(transitions: NDArray[np.int32]) -> Bundles:
    """Transitions, int32 (3, n), rows, tokens and targets, with a group for each token."""
    rows, tokens, targets = transitions
    found, groups = np.unique(tokens, return_inverse=True)
    bounds = np.arange(len(found) + 1)
    return Bundles(rows, groups.reshape(-1).astype(np.int32), targets, found, bounds)


def _joined(parts: list[Bundles]) -> Bundles:
    """The bundles of several parts in one, their groups numbered one part after another."""
    shift = np.cumsum([0, *(len(part.bounds) - 1 for part in parts)])
    ends = np.cumsum([0, *(len(part.tokens) for part in parts)])
    rows = np.concatenate([part.rows for part in parts])
    groups = [part.groups + first for part, first in zip(parts, shift, strict=False)]
    bounds = [part.bounds[:-1] + first for part, first in zip(parts, ends, strict=False)]
    order = stable_order(rows)
    return Bundles(
        rows[order],
        np.concatenate(groups)[order].astype(np.int32),
        np.concatenate([part.targets for part in parts])[order],
        np.concatenate([part.tokens for part in parts]),
        np.append(np.concatenate(bounds), ends[-1]),
    )


def _byte_tokens(product: Product, pretokenizer: PretokenizerTables) -> NDArray[np.int32]:
    """The transitions by byte tokens, int32 (3, n): rows (ascending), tokens, targets."""
    found = [np.zeros((3, 0), dtype=np.int32)]
    for mark in range(2, product.table.shape[1]):
        by_byte = product.table[:, mark][:, product.classes]
        states, octets = np.nonzero(by_byte)
        targets = by_byte[states, octets]
        rows = 2 * states + (mark - 2)
        found.append(np.stack([rows, pretokenizer.fallback[octets], targets]).astype(np.int32))
    return _by_row(found)


def _whole_tokens(product: Product, pretokenizer: PretokenizerTables) -> NDArray[np.int32]:
    """The same by tokens of whole pre-tokens, whose first byte has mark 3."""
    found = [np.zeros((3, 0), dtype=np.int32)]
    begun = product.table[:, 3]
    begin = {column: np.flatnonzero(begun[:, column]) for column in range(begun.shape[1])}
    for token, octets in pretokenizer.whole_pieces.items():
        column = int(product.classes[octets[0]])
        states = begin[column]
        targets = begun[states, column]
        for octet in octets[1:]:
            targets = product.table[targets, 0, product.classes[octet]]
            kept = targets != DEAD
            if not kept.all():
                states, targets = states[kept], targets[kept]
        rows = 2 * states + 1
        found.append(np.stack([rows, np.full(len(rows), token), targets]).astype(np.int32))
    return _by_row(found)


def _by_row(found: list[NDArray[np.int32]]) -> NDArray[np.int32]:
    joined = np.concatenate(found, axis=1)
    return joined[:, np.argsort(joined[0], kind="stable")]
