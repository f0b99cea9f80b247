"""Algorithm 5, line 2: from the automaton over bytes to the automaton over tokens.

decode⁻¹(L) has a transition by each token whose bytes the byte automaton reads. Here the byte
automaton is the product with the pre-tokenizer DFA, and each state p has two sets of tokens:

    row 2p        tokens that continue a pre-token at state p
    row 2p + 1    tokens that start a pre-token there

Tokens that do the same to all states form one class (``joint_functions``), a row is a union of such
classes, and rows with the same classes have one number.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from constrain.artifacts.tokens import tokenset
from constrain.artifacts.tokens.distinct import stable_order
from constrain.artifacts.tokens.tokenset import Words
from constrain.artifacts.tokens.trie import ranges

from ..bpe.forbidden_pairs import PairTables
from ..limits import Limits
from ..progress import Progress, silent
from ..tokenizer_steps.boundary_tables import PretokenizerTables
from ..tokenizer_steps.marked_dfa import DEAD
from .joint_functions import JointFunctions, joint_functions
from .product import Product

_STAGE = "the table of each state's tokens"

# Sets of up to so many tokens are lists of ids, larger ones are packed.
LONGEST_LIST = 512

# The functions of one walk may have a pair for so many bytes of the memory limit, a fifth of which
# they take. Where there are more pairs, walks of fewer states begin again.
_BYTES_OF_PAIR = 64


@dataclass(frozen=True, slots=True, eq=False)
class Lift:
    """The rows of the automaton over tokens.

    ``numbers``: int32 (2S,), the set of tokens of each row. ``sets``: the token ids of each, int32,
    ascending, of short ones; uint32 (W,), one bit a token, of the others. The first one is empty.
    ``undecided``: the transitions into states that are not at a free boundary, of which some may
    lead to dead ends. ``size``: V.
    """

    numbers: NDArray[np.int32]
    sets: list["Words | NDArray[np.int32]"]
    undecided: "Bundles"
    size: int

    def size_of(self, number: int) -> int:
        """How many tokens a set has."""
        held = self.sets[number]
        return int(np.bitwise_count(held).sum()) if held.dtype == np.uint32 else len(held)

    def ids(self, row: int) -> NDArray[np.integer]:
        """The tokens of a row, ascending."""
        held = self.sets[self.numbers[row]]
        return tokenset.to_ids(held.view(np.uint32)) if held.dtype == np.uint32 else held


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
    alone = (_whole_tokens if len(pretokenizer.whole) else _byte_tokens)(product, pretokenizer)
    numbers = np.zeros(2 * product.states, dtype=np.int32)
    found: list[Words | NDArray[np.int32]] = [np.zeros(0, dtype=np.int32)]
    at_boundary = product.at_boundary
    undecided = [_bundled(alone[:, ~at_boundary[alone[2]]])]
    # What is stored is counted: pairs of a row and a class of tokens that do the same everywhere.
    transitions, memory = alone.shape[1], 0
    total = 2 * product.states
    progress(_STAGE, 0, total)
    most_pairs = limits.memory // _BYTES_OF_PAIR
    for functions in joint_functions(product, pretokenizer, pairs.trie, most_pairs):
        sets = _Sets(functions, size, alone)
        transitions, memory = transitions + len(functions.rows), memory + sets.memory
        limits.check_transitions(transitions, _STAGE)
        limits.check_memory(memory, _STAGE)
        limits.check_resources(_STAGE)
        progress(_STAGE, int(functions.starts[-1]), total)
        numbers[sets.rows] = len(found) + sets.numbers
        packed = sets.packed()
        found += [packed.get(number, ids) for number, ids in enumerate(sets.short())]
        undecided.append(sets.bundles(at_boundary))
    progress(_STAGE, total, total)
    return Lift(numbers, found, _joined(undecided), size)


class _Sets:
    """The distinct sets of tokens of some rows, numbered.

    ``rows``: those that read a token, int32, ascending, and ``numbers``, int64, of their sets.
    ``memory``: bytes of all sets.
    """

    def __init__(self, functions: JointFunctions, size: int, alone: NDArray[np.int32]) -> None:
        self.functions = functions
        self.class_of = np.zeros(size, dtype=np.intp)
        self.class_of[functions.ids] = functions.classes
        self.tokens = functions.ids[stable_order(functions.classes)]
        self.sizes = np.bincount(functions.classes, minlength=functions.count)
        self.bounds = np.cumsum(self.sizes) - self.sizes
        rows = np.append(functions.rows, alone[0])
        reads = np.bincount(rows, minlength=int(functions.starts.max(initial=0)) + 1)
        self.rows = functions.starts[reads[functions.starts] > 0]
        bounds = [
            (4 * np.searchsorted(found, self.rows, side)).tolist()
            for found in (functions.rows, alone[0])
            for side in ("left", "right")
        ]
        owners, more = functions.owners.tobytes(), alone[1].tobytes()
        numbers: dict[tuple[bytes, bytes], int] = {}
        found = [
            numbers.setdefault((owners[low:high], more[first:last]), len(numbers))
            for low, high, first, last in zip(*bounds, strict=True)
        ]
        self.numbers = np.array(found, dtype=np.int64)
        # Classes and other tokens, each with the set that has it.
        self.read, self.by_class = _parallel([read for read, _ in numbers])
        self.more, self.by_token = _parallel([tokens for _, tokens in numbers])
        counts = np.bincount(self.by_class, self.sizes[self.read], minlength=len(numbers))
        self.counts = counts.astype(np.int64) + np.bincount(self.by_token, minlength=len(numbers))
        self.is_short = self.counts <= LONGEST_LIST
        packed = 4 * tokenset.word_count(size)
        self.memory = int(np.where(self.is_short, 4 * self.counts, packed).sum())

    def short(self) -> list[NDArray[np.int32]]:
        """The ids of each set, int32, none of those that are packed."""
        short, few = self.is_short[self.by_class], self.is_short[self.by_token]
        # Each token that one has, ascending, beside all that have its class: then the order of the
        # sets alone is sought.
        order = stable_order(self.read[short])
        owners = self.by_class[short][order]
        counts = np.bincount(self.read[short], minlength=len(self.sizes))
        tokens = np.flatnonzero(counts[self.class_of]).astype(np.int32)
        read = self.class_of[tokens]
        sets = owners[ranges((np.cumsum(counts) - counts)[read], counts[read])]
        tokens = np.append(np.repeat(tokens, counts[read]), self.more[few])
        sets = np.append(sets, self.by_token[few])
        ends = np.cumsum(np.where(self.is_short, self.counts, 0))
        found = np.split(tokens[stable_order(sets)], ends[:-1])
        for number in set(self.by_token[few].tolist()):
            found[number].sort()
        return found

    def packed(self) -> dict[int, Words]:
        """The long sets by number, uint32 (W,)."""
        found: dict[int, Words] = {}
        wanted, many = np.flatnonzero(~self.is_short), ~self.is_short[self.by_class]
        is_read = np.zeros((len(wanted), len(self.sizes)), dtype=np.bool_)
        is_read[np.searchsorted(wanted, self.by_class[many]), self.read[many]] = True
        size = len(self.class_of)
        octets = np.zeros(32 * tokenset.word_count(size), dtype=np.uint8)
        # Of each token eight sets at once, a bit for each.
        for row, eight in enumerate(np.packbits(is_read, axis=0, bitorder="little")):
            eight.take(self.class_of, out=octets[:size], mode="clip")
            for bit, number in enumerate(wanted[8 * row : 8 * row + 8].tolist()):
                flags = octets >> bit & 1
                more = slice(*np.searchsorted(self.by_token, [number, number + 1]))
                flags[self.more[more]] = 1
                found[number] = tokenset.from_flags(flags.view(np.bool_))
        return found

    def bundles(self, at_boundary: NDArray[np.bool_]) -> Bundles:
        """The transitions into states that are not ``at_boundary``, bool (S,)."""
        f = self.functions
        wanted = ~at_boundary[f.targets]
        bounds = np.append(self.bounds, len(self.tokens))
        return Bundles(f.rows[wanted], f.owners[wanted], f.targets[wanted], self.tokens, bounds)


def _parallel(parts: list[bytes]) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Numbers, int32, of all ``parts``, each with the place of its part."""
    counts = [len(part) // 4 for part in parts]
    return np.frombuffer(b"".join(parts), dtype=np.int32), np.repeat(np.arange(len(parts)), counts)


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
