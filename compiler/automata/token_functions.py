"""What each token does to the states of an automaton: elements of its transition monoid.

A token is a partial function on states, that of its first bytes followed by that of its last byte.
There are far fewer functions than tokens: in ``[a-z]*`` all tokens of letters have the same. So the
token trie is walked level by level with the number of a function at each node, and each function is
extended by each byte class once, for all states together.

A function is stored as its *kernel* (which states it is defined on, and which of them it maps
alike) and its *image*, the targets in the order in which the kernel meets them:

    states 1 2 3 4 to 7 - 9 7       kernel 0 - 1 0, image 7 9

How a function is extended depends on its image alone, which is small: after a few bytes an
automaton has forgotten where it began. And a function is that of a whole subtree of the trie where
all states of its image loop on all that is below (``constrain.artifacts.tokens.subtrees``).
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from constrain.artifacts.tokens.subtrees import NO_CLASS_LOOPS, Subtrees, leaving
from constrain.artifacts.tokens.trie import Trie, ranges

from .dfa import DEAD

# At most so many pairs (state, target) of the functions of one walk; if there are more, the start
# states are split into two walks.
_MAX_PAIRS = 1 << 23

# Of a function that so many nodes of one level have, it is found out where it stays.
_MANY = 48

# Where so few tokens are left below a level, they are read one by one.
_FEW = 512

# Images of so few states are made canonical one by one.
_SMALL = 12

# Numbers are made distinct by sorting if there are more than so many possible values for each.
_SPARSE = 64

# Function 0 is defined nowhere, function 1 is the identity.
_NOWHERE, _IDENTITY = 0, 1


@dataclass(frozen=True, slots=True, eq=False)
class TokenFunctions:
    """The functions of all tokens on some states.

    ``starts``: int64, ascending, these states. ``ids``: int32 (T,), all tokens of the trie, and
    ``classes``: int32 (T,), the function of each; function 0 is defined nowhere. ``offsets``: int64
    (K + 1,), function k maps ``sources[i]`` (int32, ascending) to ``targets[i]`` (int32, never
    dead) for i from ``offsets[k]`` to ``offsets[k + 1] - 1``. All but function 0 are those of some
    token.
    """

    starts: NDArray[np.int64]
    ids: NDArray[np.int32]
    classes: NDArray[np.int32]
    offsets: NDArray[np.int64]
    sources: NDArray[np.int32]
    targets: NDArray[np.int32]


def token_functions(
    trie: Trie,
    table: NDArray[np.int32],
    columns: NDArray[np.integer],
    starts: NDArray[np.int64],
    max_pairs: int = _MAX_PAIRS,
    subtrees: Subtrees | None = None,
) -> Iterator[TokenFunctions]:
    """The functions of all tokens on ``starts`` (ascending), in one or more groups of these.

    ``table``: int32 (S, J), next state by column, state 0 dead. ``columns``: (256,), the column of
    each byte. ``subtrees``: of the trie; without them each node is met. There are several groups if
    the functions would have more than ``max_pairs`` pairs (state, target) together.
    """
    pending = [starts]
    while pending:
        group = pending.pop()
        found = _Walk(trie, subtrees, table, columns, group).run(
            max_pairs if len(group) > 1 else None
        )
        if found is not None:
            yield found
            continue
        half = len(group) // 2
        pending += [group[half:], group[:half]]


class _Walk:
    """One walk of the trie. Function k has the kernel ``kernel_of[k]`` and the image ``image`` from
    ``offsets[k]`` to ``offsets[k + 1] - 1``."""

    def __init__(
        self,
        trie: Trie,
        subtrees: Subtrees | None,
        table: NDArray[np.int32],
        columns: NDArray[np.integer],
        starts: NDArray[np.int64],
    ) -> None:
        self.trie, self.subtrees = trie, subtrees or Subtrees.leaves(trie)
        self.skips = subtrees is not None
        self.table, self.columns, self.starts = table, columns, starts
        identity = starts.astype(np.int32)
        # Of each kernel the states, and for each of them its index in an image.
        self.kernels = [(identity[:0], identity[:0])]
        self.kernels.append((identity, np.arange(len(identity), dtype=np.int32)))
        self.kernel_of, self.offsets, self.image = [0, 1], [0, 0, len(identity)], identity
        self.pairs = len(identity)
        # Numbers of functions by kernel and image, canonical or as read from the table; of kernels
        # by their arrays, and by a kernel and which of its classes are united or undefined.
        self.functions = {(0, b""): _NOWHERE, (1, identity.tobytes()): _IDENTITY}
        self.numbers = {(b"", b""): 0}
        self.united: dict[tuple[int, bytes], int] = {}
        # (Function, column), as one number, to the number of the extended function.
        self.after: dict[int, int] = {}
        # The classes of characters on which each function does not loop, and each state, as far
        # as they are computed.
        self.left = np.full(64, NO_CLASS_LOOPS, dtype=np.uint64)
        self.left_by_state = np.zeros(len(table), dtype=np.uint64)
        self.computed = np.zeros(len(table), dtype=np.bool_)
        self.looked_at: set[int] = set()
        # Room for a number of each state, of any value.
        self.met = np.zeros(len(table), dtype=np.int32)

    def run(self, max_pairs: int | None) -> TokenFunctions | None:
        """The functions of all tokens, or None if they have more than ``max_pairs`` pairs."""
        first, width = self.trie.first, self.table.shape[1]
        begin, end, own = self.subtrees.begin, self.subtrees.end, self.subtrees.own
        classes = np.zeros(len(self.subtrees.ids), dtype=np.int32)
        nodes, function = np.zeros(1, dtype=np.int32), np.full(1, _IDENTITY, dtype=np.int32)
        while len(nodes):
            whole = self.stays(nodes, function)
            count = np.where(whole, end[nodes] - begin[nodes], own[nodes])
            classes[ranges(begin[nodes], count)] = np.repeat(function, count)
            nodes, function = nodes[~whole], function[~whole]
            if self.skips and int((end[nodes] - begin[nodes]).sum()) <= _FEW:
                self.descend(nodes.tolist(), function.tolist(), classes)
                break
            fan_out = first[nodes + 1] - first[nodes]
            child = ranges(first[nodes], fan_out)
            keys = np.repeat(function.astype(np.int64) * width, fan_out)
            keys += self.columns[self.trie.octets[child]]
            steps, place = _distinct(keys, len(self.kernel_of) * width)
            self.extend(np.array([k for k in steps.tolist() if k not in self.after], np.int64))
            if max_pairs is not None and self.pairs > max_pairs:
                return None
            numbers = np.array([self.after[key] for key in steps.tolist()], dtype=np.int32)
            function = numbers[place]
            read = np.flatnonzero(function != _NOWHERE)
            nodes, function = child[read], function[read]
        too_many = max_pairs is not None and self.pairs > max_pairs
        return None if too_many else self.of_tokens(classes)

    def descend(self, nodes: list[int], function: list[int], classes: NDArray[np.int32]) -> None:
        """Below ``nodes``, where few tokens are left, one by one: some are runs of a hundred equal
        characters, and a level of a node or two costs as much in numpy as one of hundreds."""
        first, octets = self.trie.first.data, self.trie.octets.data
        begin, own = self.subtrees.begin.data, self.subtrees.own.data
        width, columns = self.table.shape[1], self.columns.tolist()
        pending = list(zip(nodes, function, strict=True))
        while pending:
            node, before = pending.pop()
            for child in range(first[node], first[node + 1]):
                step = before * width + columns[octets[child]]
                if step not in self.after:
                    self.extend(np.array([step]))
                number = self.after[step]
                if number != _NOWHERE:
                    classes[begin[child] : begin[child] + own[child]] = number
                    pending.append((child, number))

    def stays(self, nodes: NDArray[np.int32], function: NDArray[np.int32]) -> NDArray[np.bool_]:
        """Which nodes have their function below them, too; only of functions that many have."""
        if len(self.left) < len(self.kernel_of):
            more = len(self.kernel_of)
            self.left = np.append(self.left, np.full(more, NO_CLASS_LOOPS, dtype=np.uint64))
        if len(nodes) >= _MANY:
            for number in np.flatnonzero(np.bincount(function) >= _MANY).tolist():
                if number not in self.looked_at:
                    self.looked_at.add(number)
                    image = self.image[self.offsets[number] : self.offsets[number + 1]]
                    new = image[~self.computed[image]]
                    self.left_by_state[new] = leaving(self.table, self.columns, new)
                    self.computed[new] = True
                    self.left[number] = np.bitwise_or.reduce(self.left_by_state[image])
        stays: NDArray[np.bool_] = (self.subtrees.below[nodes] & self.left[function]) == 0
        return stays

    def extend(self, steps: NDArray[np.int64]) -> None:
        """Number the functions of ``steps``, each a function and a column as one number."""
        before, column = np.divmod(steps, self.table.shape[1])
        bounds = np.array(self.offsets)
        sizes = bounds[before + 1] - bounds[before]
        states = self.image[ranges(bounds[before], sizes)]
        moved = self.table[states, np.repeat(column, sizes)]
        data, low = moved.tobytes(), 0
        images = [self.image]
        ends = np.cumsum(sizes).tolist()
        for step, f, high in zip(steps.tolist(), before.tolist(), ends, strict=True):
            key = self.kernel_of[f], data[low * 4 : high * 4]
            if key not in self.functions:
                kernel, image = self.canonical(key[0], moved[low:high])
                canonical = kernel, image.tobytes()
                if canonical not in self.functions:
                    self.functions[canonical] = len(self.kernel_of)
                    self.kernel_of.append(kernel)
                    self.offsets.append(self.offsets[-1] + len(image))
                    images.append(image)
                    self.pairs += len(self.kernels[kernel][0])
                self.functions[key] = self.functions[canonical]
            self.after[step], low = self.functions[key], high
        if len(images) > 1:
            self.image = np.concatenate(images)

    def canonical(self, kernel: int, image: NDArray[np.int32]) -> tuple[int, NDArray[np.int32]]:
        """The kernel and image of a function, from an image that may hold dead or equal states."""
        if len(image) <= _SMALL:
            rank_of: dict[int, int] = {}
            for state in image.tolist():
                if state != DEAD:
                    rank_of.setdefault(state, len(rank_of))
            found = np.array([*rank_of], dtype=np.int32)
            rank_of[DEAD] = -1
            ranks = np.array([rank_of[state] for state in image.tolist()], dtype=np.int32)
        else:
            count = np.arange(len(image), dtype=np.int32)
            # Of what is written to one place the last one stays: where each state is met first.
            self.met[image[::-1]] = count[::-1]
            first = self.met[image]
            is_new = first == count
            is_new &= image != DEAD
            found = image[is_new]
            rank = is_new.cumsum(dtype=np.int32) - 1
            ranks = np.where(image != DEAD, rank[first], -1).astype(np.int32)
        if len(found) == len(image):
            return kernel, image
        key = kernel, ranks.tobytes()
        if key not in self.united:
            sources, places = self.kernels[kernel]
            after = ranks[places]
            sources, after = sources[after >= 0], after[after >= 0]
            arrays = sources.tobytes(), after.tobytes()
            self.united[key] = self.numbers.setdefault(arrays, len(self.kernels))
            if self.united[key] == len(self.kernels):
                self.kernels.append((sources, after))
        return self.united[key], found

    def of_tokens(self, classes: NDArray[np.int32]) -> TokenFunctions:
        """The functions that some token has, renumbered; ``classes`` are those of the tokens."""
        is_used = np.zeros(len(self.kernel_of), dtype=np.bool_)
        is_used[classes] = True
        is_used[_NOWHERE] = True
        used = np.flatnonzero(is_used)
        number = np.zeros(len(self.kernel_of), dtype=np.int32)
        number[used] = np.arange(len(used))
        kernels = [self.kernels[self.kernel_of[f]] for f in used.tolist()]
        lows = [self.offsets[f] for f in used.tolist()]
        places = [places + low for (_, places), low in zip(kernels, lows, strict=True)]
        return TokenFunctions(
            self.starts,
            self.subtrees.ids,
            number[classes],
            np.cumsum([0, *(len(sources) for sources, _ in kernels)]),
            np.concatenate([sources for sources, _ in kernels]),
            self.image[np.concatenate(places)],
        )


def _distinct(keys: NDArray[np.int64], size: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The distinct ones of some numbers below ``size``, ascending, and the index of each number."""
    if size > _SPARSE * len(keys):
        return np.unique(keys, return_inverse=True)
    seen = np.zeros(size, dtype=np.bool_)
    seen[keys] = True
    found = np.flatnonzero(seen)
    place = np.empty(size, dtype=np.int64)
    place[found] = np.arange(len(found))
    return found, place[keys]
