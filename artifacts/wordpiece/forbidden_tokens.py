"""Which tokens cannot continue a word: its text and theirs together would have other tokens.

With V = {a, ##b, ##c, abc} the token ``##c`` cannot follow ``a ##b``. A token t may follow at node
u if the text of both has the tokens ``flush(u)`` and t. The walk reads all t from the suffix root
and from u at once, level by level, and ends where all of ``flush(u)`` is popped: from there on
both read the same nodes.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..tokens.trie import expand
from .trie import NONE, SUFFIX_ROOT, WordTrie

Nodes = NDArray[np.int64]

_NO_NODES = np.zeros(0, dtype=np.int64)


@dataclass(frozen=True, slots=True)
class ForbiddenAfter:
    """Which tokens cannot follow at a node.

    ``forbidden``: int32, tokens that the tokenizer does not give after the node's text.
    ``special``: int32 (k,), the tokens that may follow and lead to another node than their own,
    ``nodes``: int32 (k,), those nodes.
    """

    forbidden: NDArray[np.int32]
    special: NDArray[np.int32]
    nodes: NDArray[np.int32]

    @property
    def nbytes(self) -> int:
        """The size of all arrays."""
        return self.forbidden.nbytes + self.special.nbytes + self.nodes.nbytes


class _Pairs(NamedTuple):
    """A level of the walk: ``x`` below the suffix root, ``v`` after the node's text, and how
    many of its tokens have been popped on the way; parallel."""

    x: Nodes
    v: Nodes
    popped: Nodes

    def at(self, places: NDArray[np.integer] | NDArray[np.bool_]) -> "_Pairs":
        return _Pairs(self.x[places], self.v[places], self.popped[places])


def forbidden_tokens(trie: WordTrie, node: int) -> ForbiddenAfter:
    """What cannot follow the tokens of ``node``'s text. Linear in the pairs that are walked."""
    expected = np.array(trie.flush(node) or (), dtype=np.int64)
    start = np.array([node])
    pairs = _Pairs(np.array([SUFFIX_ROOT]), start, np.zeros(1, dtype=np.int64))
    spans: list[NDArray[np.int32]] = [np.zeros((0, 2), dtype=np.int32)]
    special, nodes = [_NO_NODES], [_NO_NODES]
    while len(pairs.x):
        pairs, contradicted = _next(trie, pairs, expected)
        spans.append(trie.spans[contradicted])
        ending = np.flatnonzero(trie.tokens[pairs.x] != NONE)
        ended = pairs.at(ending)
        tokens = trie.tokens[ended.x].astype(np.int64)
        follow = _has_tokens(trie, ended, expected, tokens)
        special.append(tokens[follow])
        nodes.append(ended.v[follow])
        single = trie.spans[ended.x[~follow], 0]
        spans.append(np.column_stack((single, single + 1)))
    runs = np.concatenate(spans)
    _, places = expand(np.zeros(len(runs), dtype=np.int32), runs[:, 0], runs[:, 1] - runs[:, 0])
    return ForbiddenAfter(
        trie.order[places],
        np.concatenate(special).astype(np.int32),
        np.concatenate(nodes).astype(np.int32),
    )


def _next(trie: WordTrie, pairs: _Pairs, expected: Nodes) -> tuple[_Pairs, Nodes]:
    """The next level, where not all is popped yet, and the ``x`` whose tokens are all
    forbidden."""
    agrees, popped = _pop(trie, pairs.v, pairs.popped, expected)
    # Where all would be popped, only the bytes matter that v can read itself.
    ready = agrees & (popped >= len(expected))
    both = pairs.at(np.flatnonzero(ready))
    rows, children = expand(
        np.arange(len(both.v), dtype=np.int32), trie.first[both.v], trie.children[both.v]
    )
    below = trie.children_by(both.x[rows], trie.octets[children])
    read = below != NONE
    joint = _Pairs(below[read], children[read].astype(np.int64), both.popped[rows][read])
    rest = pairs.at(np.flatnonzero(~ready))
    rows, first = expand(
        np.arange(len(rest.x), dtype=np.int32), trie.first[rest.x], trie.children[rest.x]
    )
    moving = _Pairs(first.astype(np.int64), rest.v[rows], rest.popped[rows])
    found, contradicted = [joint], []
    while len(moving.x):
        target = trie.children_by(moving.v, trie.octets[moving.x])
        read = target != NONE
        found.append(_Pairs(moving.x[read], target[read], moving.popped[read]))
        moving = moving.at(~read)
        agrees, popped = _pop(trie, moving.v, moving.popped, expected)
        agrees &= trie.links[moving.v] != NONE
        contradicted.append(moving.x[~agrees])
        going = agrees & (popped < len(expected))
        moving = _Pairs(
            moving.x[going], trie.links[moving.v[going]].astype(np.int64), popped[going]
        )
    joined = _Pairs(*(np.concatenate(parts) for parts in zip(*found, strict=True)))
    return joined, np.concatenate([_NO_NODES, *contradicted])


def _pop(
    trie: WordTrie, v: Nodes, popped: Nodes, expected: Nodes
) -> tuple[NDArray[np.bool_], Nodes]:
    """Whether F(v) goes on with the tokens expected, as far as there are any, and how many are
    popped then."""
    offsets = trie.pop_offsets[v]
    counts = trie.pop_offsets[v + 1] - offsets
    agrees = np.ones(len(v), dtype=np.bool_)
    for k in range(int(counts.max(initial=0))):
        some = np.flatnonzero((k < counts) & (popped + k < len(expected)))
        agrees[some] &= trie.pops[offsets[some] + k] == expected[popped[some] + k]
    return agrees, popped + counts


def _has_tokens(trie: WordTrie, pairs: _Pairs, expected: Nodes, tokens: Nodes) -> NDArray[np.bool_]:
    """Where the flush of ``v`` is what is left of ``expected`` and then the token."""
    equal = np.ones(len(tokens), dtype=np.bool_)
    v, popped = pairs.v.copy(), pairs.popped.copy()
    active = np.arange(len(tokens))
    while len(active):
        active = active[trie.links[v[active]] != NONE]
        offsets = trie.pop_offsets[v[active]]
        counts = trie.pop_offsets[v[active] + 1] - offsets
        for k in range(int(counts.max(initial=0))):
            some = np.flatnonzero(k < counts)
            place = popped[active[some]] + k
            inside = np.minimum(place, max(len(expected) - 1, 0))
            wanted = np.where(
                place < len(expected), expected[inside] if len(expected) else NONE,
                np.where(place == len(expected), tokens[active[some]], NONE),
            )  # fmt: skip
            equal[active[some]] &= trie.pops[offsets[some] + k] == wanted
        popped[active] += counts
        v[active] = trie.links[v[active]]
        active = active[equal[active]]
    result: NDArray[np.bool_] = equal & (v <= SUFFIX_ROOT) & (popped == len(expected) + 1)
    return result
