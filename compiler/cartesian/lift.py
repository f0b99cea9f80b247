"""Algorithm 5, line 2: the automaton over tokens.

decode⁻¹(L) has a transition by each token whose bytes the byte automaton reads. Here that
automaton is the product with the tokenizer's cuts, and each state has two sets of tokens:

    row 2p      tokens that continue a piece at state p
    row 2p + 1  tokens that start a piece there

Tokens that do the same to all states are one class (``cartesian.token_functions``), and rows of the
same
classes are one set.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from constrain.artifacts.tokens.trie import Trie, ranges

from ..bpe.forbidden_pairs import PairTables
from ..limits import Limits
from ..pretokenizer.boundary_tables import PretokenizerTables
from ..pretokenizer.marked_dfa import DEAD
from .product import Product
from .token_functions import TokenFunctions, token_functions

_STAGE = "the tokens of each state"

# Sets of more tokens are kept as bits.
LONGEST_LIST = 512

# Rows between two looks at the clock.
_STRIDE = 1024


@dataclass(frozen=True, slots=True, eq=False)
class Lift:
    """``lists``: row to its token ids, int32, ascending, of short rows that are not empty.
    ``bits``: row to bool (V,), of the others. Equal rows may share an array: replace, do not
    write. ``unsure``: the transitions into states that are not open, of which some may be dead
    ends. ``size``: V.
    """

    lists: dict[int, NDArray[np.int32]]
    bits: dict[int, NDArray[np.bool_]]
    unsure: "Bundles"
    size: int


@dataclass(frozen=True, slots=True, eq=False)
class Bundles:
    """Transitions of one row into one state together. ``rows``, ``groups``, ``targets``: int32
    (n,), by row. Group g is the tokens ``tokens[bounds[g]:bounds[g + 1]]``: int32, int64.
    """

    rows: NDArray[np.int32]
    groups: NDArray[np.int32]
    targets: NDArray[np.int32]
    tokens: NDArray[np.int32]
    bounds: NDArray[np.int64]

    def tokens_of(self, groups: NDArray[np.integer]) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """How many tokens each of some groups has, and all of these, group after group."""
        sizes = np.diff(self.bounds)[groups]
        return sizes, self.tokens[ranges(self.bounds[groups], sizes)]

    def each(self, wanted: NDArray[np.bool_] | slice = slice(None)) -> NDArray[np.int32]:
        """The transitions of the bundles ``wanted``, int32 (3, m): row, token, target."""
        sizes, tokens = self.tokens_of(self.groups[wanted])
        rows, targets = self.rows[wanted], self.targets[wanted]
        return np.stack([np.repeat(rows, sizes), tokens, np.repeat(targets, sizes)])


def no_rules(_: int) -> Iterable[str]:
    """Where nothing is known of rules."""
    return ()


def lift(
    product: Product,
    cuts: PretokenizerTables,
    pairs: PairTables,
    limits: Limits | None = None,
    rules_of: Callable[[int], Iterable[str]] = no_rules,
) -> Lift:
    """The rows of all states. Raises ``LimitError`` naming the rules behind the longest."""
    limits = (limits or Limits()).started()
    size = len(pairs.forbidden.rows.part)
    # A state of this table is a row; behind its first byte a token goes on in plane 0.
    table = 2 * product.table[:, :2].reshape(-1, product.table.shape[2])
    alone = _whole_tokens(product, cuts) if len(cuts.whole) else _byte_tokens(product, cuts)
    used = (table != DEAD).any(axis=1)
    used[alone[0]] = True
    columns = product.classes[pairs.trie.octets]
    lists: dict[int, NDArray[np.int32]] = {}
    bits: dict[int, NDArray[np.bool_]] = {}
    is_open = product.is_open
    unsure = [_bundled(alone[:, ~is_open[alone[2]]])]
    transitions = memory = most = longest = 0
    for functions in token_functions(pairs.trie, table, columns, np.flatnonzero(used)):
        sets = _Sets(functions, pairs.trie, size, alone)
        for done, (row, number) in enumerate(sets.of_rows()):
            if number in sets.flags:
                bits[row] = sets.flags[number]
            elif sets.counts[number]:
                lists[row] = sets.ids[number]
            transitions += sets.counts[number]
            if sets.counts[number] > most:
                most, longest = sets.counts[number], row
            if limits.exceeded(0, transitions, memory + sets.memory):
                limits.check_transitions(transitions, _STAGE, rules_of(longest // 2))
                limits.check_memory(memory + sets.memory, _STAGE, rules_of(longest // 2))
            if done % _STRIDE == 0:
                limits.check_time(_STAGE)
        memory += sets.memory
        unsure.append(sets.bundles(~is_open[functions.targets // 2]))
    return Lift(lists, bits, _joined(unsure), size)


class _Sets:
    """The sets of tokens of the rows of one group, each once, by number.

    ``ids``: of short sets. ``flags``: bool (V,), of the others. ``counts``: tokens of each set.
    ``memory``: bytes of all.
    """

    def __init__(
        self, functions: TokenFunctions, trie: Trie, size: int, alone: NDArray[np.int32]
    ) -> None:
        self.functions, self.alone = functions, alone
        self.class_of = np.zeros(size, dtype=np.intp)
        self.class_of[trie.ids] = functions.classes
        by_class = np.argsort(functions.classes, kind="stable")
        self.tokens = trie.ids[by_class]
        self.sizes = np.bincount(functions.classes, minlength=len(functions.offsets) - 1)
        self.bounds = np.cumsum(self.sizes) - self.sizes
        # Pairs of a state and a class that leads it somewhere, by state.
        owners = np.repeat(np.arange(len(self.sizes), dtype=np.int32), np.diff(functions.offsets))
        self.by_row = np.argsort(functions.sources, kind="stable")
        self.owners = owners[self.by_row]
        self.ids: dict[int, NDArray[np.int32]] = {}
        self.flags: dict[int, NDArray[np.bool_]] = {}
        self.counts: list[int] = []
        self.memory = 0

    def of_rows(self) -> Iterator[tuple[int, int]]:
        """Each row of the group with the number of its set, which is made when it is new."""
        rows = self.functions.starts
        owned = self.functions.sources[self.by_row]
        bounds = [
            np.searchsorted(found, rows, side).tolist()
            for found in (owned, self.alone[0])
            for side in ("left", "right")
        ]
        known: dict[tuple[bytes, bytes], int] = {}
        for row, low, high, first, last in zip(rows.tolist(), *bounds, strict=True):
            classes, more = self.owners[low:high], self.alone[1, first:last]
            key = classes.tobytes(), more.tobytes()
            if key not in known:
                known[key] = len(self.counts)
                self.add(classes, more)
            yield row, known[key]

    def add(self, classes: NDArray[np.int32], more: NDArray[np.int32]) -> None:
        """Make the set of the tokens of ``classes`` and ``more``."""
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
            flags = is_member[self.class_of]
            flags[more] = True
            self.flags[number] = flags
            self.memory += flags.nbytes
        self.counts.append(count)

    def bundles(self, wanted: NDArray[np.bool_]) -> Bundles:
        """The transitions of the pairs ``wanted``."""
        kept = wanted[self.by_row]
        places = self.by_row[kept]
        rows, targets = self.functions.sources[places], self.functions.targets[places] // 2
        bounds = np.append(self.bounds, len(self.tokens))
        return Bundles(rows, self.owners[kept], targets, self.tokens, bounds)


def _bundled(transitions: NDArray[np.int32]) -> Bundles:
    """Transitions (3, n), row, token and target, each token a group of its own."""
    rows, tokens, targets = transitions
    found, groups = np.unique(tokens, return_inverse=True)
    bounds = np.arange(len(found) + 1)
    return Bundles(rows, groups.reshape(-1).astype(np.int32), targets, found, bounds)


def _joined(parts: list[Bundles]) -> Bundles:
    shift = np.cumsum([0, *(len(part.bounds) - 1 for part in parts)])
    ends = np.cumsum([0, *(len(part.tokens) for part in parts)])
    rows = np.concatenate([part.rows for part in parts])
    groups = [part.groups + first for part, first in zip(parts, shift, strict=False)]
    bounds = [part.bounds[:-1] + first for part, first in zip(parts, ends, strict=False)]
    order = np.argsort(rows, kind="stable")
    return Bundles(
        rows[order],
        np.concatenate(groups)[order].astype(np.int32),
        np.concatenate([part.targets for part in parts])[order],
        np.concatenate([part.tokens for part in parts]),
        np.append(np.concatenate(bounds), ends[-1]),
    )


def _byte_tokens(product: Product, cuts: PretokenizerTables) -> NDArray[np.int32]:
    """The transitions by byte tokens, int32 (3, n): row, token, target; rows ascending."""
    found = [np.zeros((3, 0), dtype=np.int32)]
    for plane in range(2, product.table.shape[1]):
        by_byte = product.table[:, plane][:, product.classes]
        states, octets = np.nonzero(by_byte)
        targets = by_byte[states, octets]
        rows = 2 * states + (plane - 2)
        found.append(np.stack([rows, cuts.fallback[octets], targets]).astype(np.int32))
    return _by_row(found)


def _whole_tokens(product: Product, cuts: PretokenizerTables) -> NDArray[np.int32]:
    """The same by tokens of whole pieces, which begin in plane 3."""
    found = [np.zeros((3, 0), dtype=np.int32)]
    states = np.flatnonzero((product.table[:, 3] != DEAD).any(axis=1))
    for token, octets in cuts.whole_pieces.items():
        targets = product.table[states, 3, product.classes[octets[0]]]
        for octet in octets[1:]:
            targets = product.table[targets, 0, product.classes[octet]]
        kept = targets != DEAD
        rows = 2 * states[kept] + 1
        found.append(np.stack([rows, np.full(len(rows), token), targets[kept]]).astype(np.int32))
    return _by_row(found)


def _by_row(found: list[NDArray[np.int32]]) -> NDArray[np.int32]:
    joined = np.concatenate(found, axis=1)
    return joined[:, np.argsort(joined[0], kind="stable")]
