"""Walks of the token trie through a network beside a pre-tokenizer DFA: where each token leads.

A memoised recursion over (trie nodes, state, pre-tokenizer state), a *procedure summary* (Reps,
Horwitz and Sagiv 1995): a walk follows a state's own edges, calls are walks of their own, and the
trie nodes where a call ends inside a token are *suspended*, to go on at the frame below. The result
is where tokens lead, by the frames pushed: a state and a pre-tokenizer state each.

The plane of a walk says how the token begins (``PretokenizerDfa``); it matters at the root alone.
"""

from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, TypeVar
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from ..network.configurations import Stacks
from ..network.tables import NetworkTables
from ..tokenizer_steps.pretokenizer import PretokenizerDfa
from ..tokens.distinct import distinct
from ..tokens.forbidden_pairs import ForbiddenPairs
from ..tokens.memo import ENTRY_BYTES, Made, memoised, solve_recursive, top_down
from ..tokens.sharing import recent, weakly
from ..tokens.trie import Trie, grouped, ranges
from ..tokens.trie import share_trie as share_arrays
from ..tokens.vocabulary import HOLE, TEXT, Vocabulary
from ..tokens.watch import Watch, unwatched
from ..walk.forms import kernel
from ..walk.layout import TrieLayout, layout_of
from ..walk.node_sets import NOTHING, ROOT, Nodes, NodeSets
from .contexts import Contexts
from .pair_states import PairStates

if TYPE_CHECKING:
    from ..network.first_octets import FirstOctets
    from ..walk.kernel import Kernel

T = TypeVar("T")

Frames = tuple[int, ...]
# Set of trie nodes, state, pre-tokenizer state, plane.
WalkKey = tuple[int, int, int, int]

# A state and a pre-tokenizer state.
_Place = tuple[int, int]

# What a walk, a part of it, and a node that it meets beside the pre-tokenizer cost in trie nodes
# that are met by bytes alone.
_WALK_WORK, _PART_WORK, _NODE_WORK = 10_000, 200, 2

# So few nodes are faster grouped one by one.
_FEW = 64

# More tokens than so many behind the first byte are walked by themselves.
_LARGE = 1024


@dataclass(frozen=True, slots=True, eq=False)
class Landing:
    """Where tokens lead by one automaton's own edges: place n is ``pairs[n]`` (int64) of
    ``contexts``, and tokens ``order[begin[i]:end[i]]`` lead to place ``places[i]`` (int32)."""

    contexts: Contexts
    pairs: NDArray[np.int64]
    places: NDArray[np.int32]
    begin: NDArray[np.int32]
    end: NDArray[np.int32]
    order: NDArray[np.int32]

    def pairs_of(self, contexts: Contexts) -> NDArray[np.int64]:
        """The same pairs as others number them, 0 for those from which nothing goes on there."""
        if contexts is self.contexts:
            return self.pairs
        states, pre_states = self.contexts.states[self.pairs], self.contexts.pre_states[self.pairs]
        return contexts.numbers(states, pre_states).astype(np.int64)

    def tokens(self, chosen: NDArray[np.bool_]) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """The ids that lead to some places, of which ``chosen`` (bool) says which, and the place of
        each; an id may stand there more than once."""
        within = chosen[self.places]
        begin = self.begin[within]
        counts = self.end[within] - begin
        return self.order[ranges(begin, counts)], self.places[within].repeat(counts)


@dataclass(frozen=True, slots=True, eq=False)
class Walk:
    """``landings``: tokens that end in the call itself. ``inside``: walks of the calls that begin
    in it, each with the frame that is pushed; ``after``: walks that go on where such calls end.
    ``suspended``: (pre-tokenizer state, set of trie nodes, plane) at which the call ends inside a
    token, or before it, whatever may follow; ``others``: walks that go on where this one does not,
    as in the item of a counter, each with the frames pushed."""

    landings: tuple[Landing, ...] = ()
    inside: tuple[tuple[int, "Walk"], ...] = ()
    after: tuple["Walk", ...] = ()
    suspended: tuple[tuple[int, int, int], ...] = ()
    others: tuple[tuple[WalkKey, Frames], ...] = ()

    @property
    def parts(self) -> tuple[tuple[Frames, Landing], ...]:
        """All landings, each with the frames that are pushed, the lowest first."""
        begun: tuple[Walk, Frames] = self, ()
        found = top_down([begun], lambda key: key[0].below(key[1], _with_frame))
        parts = ((frames, landing) for walk, frames in found for landing in walk.landings)
        return tuple(dict.fromkeys(parts))

    def below(self, above: T, push: Callable[[int, T], T]) -> Iterator[tuple["Walk", T]]:
        """The walks inside and after this one, with what they are above, as this one is above
        ``above``. ``push``: what is above a frame."""
        yield from ((inner, push(frame, above)) for frame, inner in self.inside)
        yield from ((outer, above) for outer in self.after)


def _with_frame(frame: int, frames: Frames) -> Frames:
    return *frames, frame


class TokenWalks:
    """Walks by key, each made once; ``sets`` of trie nodes. ``tries``: see ``token_tries``; inside
    them the nodes of one are numbered after those of the one before."""

    def __init__(
        self,
        tables: NetworkTables,
        pretokenizer: PretokenizerDfa,
        contexts: Contexts,
        tries: Sequence[Trie],
        vocab_size: int,
        watch: Watch = unwatched,
    ) -> None:
        self._tables, self._pretokenizer, self._contexts = tables, pretokenizer, contexts
        self._vocab_size = vocab_size
        self.tries, self.watch = tries, watch
        self.sets = NodeSets()
        # The number of each trie's root, which stands for itself in no set.
        self.roots = [0, *(len(trie.octets) for trie in tries[:-1])]
        self._walks: dict[WalkKey, Walk] = {}
        self._begun = Made[WalkKey, Walk](weakly(self._by_first_bytes))
        self._parts = 0
        self._array_bytes = 0
        self._kernels = Made[int, tuple[TrieLayout, PairStates, "Kernel"]](weakly(self._new_kernel))

    @property
    def planes(self) -> int:
        """In how many planes a token may begin: 2, or 4 with tokens of bytes or of whole
        pre-tokens."""
        return 2 * len(self.tries)

    @property
    def nbytes(self) -> int:
        """About the size of all walks and sets of trie nodes."""
        entries = 2 * len(self._walks) + self._parts + 32 * len(self._begun)
        pairs = sum(states.nbytes for _, states, _ in self._kernels.values())
        edges = self.first_octets.nbytes
        return ENTRY_BYTES * entries + self._array_bytes + self.sets.nbytes + pairs + edges

    @property
    def trie(self) -> Trie:
        """The trie of the tokens that merging gives."""
        return self.tries[0]

    def walk(self, nodes: int, state: int, pre_state: int, plane: int) -> Walk:
        """Where the tokens below a set of trie nodes lead. Calls nest as deep as tokens are
        long."""
        key = nodes, state, pre_state, plane
        cached = self._walks.get(key)
        return solve_recursive(key, self._walks.get, self._steps) if cached is None else cached

    def begun(self, nodes: int, state: int, pre_state: int, plane: int) -> Walk:
        """The same, if all tokens begin in a state that reads many bytes, with ``others`` that go
        on after bytes with which many tokens begin: such states lead to few after them."""
        key = nodes, state, pre_state, plane
        counts = self._tables.counters is not None
        if nodes != ROOT or counts or not self.first_octets.is_wide(state):
            return self.walk(*key)
        return self._begun[key]

    def _by_first_bytes(self, key: WalkKey) -> Walk:
        _, state, pre_state, plane = key
        trie, base = self.tries[plane // 2], np.int32(self.roots[plane // 2])
        tables, pretokenizer = self._tables, self._pretokenizer
        nodes = np.arange(1, 1 + trie.fan_out[0], dtype=np.int32)
        octets = trie.octets[nodes]
        pairs = self._contexts.numbers(
            tables.table[state, tables.classes[octets]],
            pretokenizer.table[pre_state, plane, pretokenizer.classes[octets]],
        ).astype(np.int64)
        nodes, pairs = nodes[pairs > 0], pairs[pairs > 0]
        layout = self._kernels[plane // 2][0]
        begin, own, end = layout.tokens(nodes)
        places = np.arange(len(nodes), dtype=np.int32)
        landings = [Landing(self._contexts, pairs, places, begin, own, layout.tokens_in_order)]
        walks: list[Walk] = []
        others: list[tuple[WalkKey, Frames]] = []
        for place, below in self._by_place(nodes[own < end] + base, pairs[own < end]):
            key = self.sets.number(below), *place, 0
            if int((end - own)[np.isin(nodes, below - base)].sum()) > _LARGE:
                others.append((key, ()))
            else:
                walks.append(self.walk(*key))
        landings += [landing for walk in walks for landing in walk.landings]
        for start, frame in tables.calls[state]:
            others.append(((ROOT, start, pre_state, plane), (frame,)))
        if tables.ends[state]:
            walks.append(Walk(suspended=((pre_state, ROOT, plane),)))
        return Walk(
            (together(landings),),
            tuple(dict.fromkeys(each for walk in walks for each in walk.inside)),
            tuple(dict.fromkeys(each for walk in walks for each in walk.after)),
            self.suspended_by(walks),
            (*others, *(other for walk in walks for other in walk.others)),
        )

    def suspended_by(self, walks: Iterable[Walk]) -> tuple[tuple[int, int, int], ...]:
        """What some walks suspend together."""
        suspended: dict[tuple[int, int], list[Nodes]] = {}
        for walk in walks:
            for q, nodes, plane in walk.suspended:
                suspended.setdefault((q, plane), []).append(self.sets[nodes])
        return self._numbered(suspended)

    def _numbered(
        self, suspended: dict[tuple[int, int], list[Nodes]]
    ) -> tuple[tuple[int, int, int], ...]:
        return tuple(
            (q, self.sets.number(united(nodes)), plane)
            for (q, plane), nodes in sorted(suspended.items())
        )

    @cached_property
    def first_octets(self) -> "FirstOctets":
        """Which bytes states may read first, and which may follow their calls."""
        from ..network.first_octets import FirstOctets

        return FirstOctets(self._tables)

    def may_go_on(self, nodes: int, state: int) -> bool:
        """Whether a walk from a set of trie nodes in ``state`` may read something, or end its call
        where it begins. True of ``ROOT``, where token terminals may be read, too."""
        if nodes == ROOT:
            return True
        known = self._classes_below(nodes)
        return bool(self._tables.ends[state] or self.first_octets.first(state) & known)

    @memoised
    def _classes_below(self, nodes: int) -> int:
        """The classes of the bytes on the edges out of a set of nodes, as bits."""
        trie, held = self._trie_of(self.sets[nodes])
        self._array_bytes += ENTRY_BYTES
        return self.first_octets.classes_of(trie.octets_below(held))

    @memoised
    def ids_below(self, node_set: int) -> NDArray[np.int32]:
        """The tokens that end below a set of trie nodes, or at one; all of one trie of its root."""
        trie, held = self._trie_of(self.sets[node_set])
        found = trie.ids_below(held)
        self._array_bytes += found.nbytes + ENTRY_BYTES
        return found

    def _trie_of(self, nodes: Nodes) -> tuple[Trie, Nodes]:
        """The trie of nodes that are no roots, and their numbers in it."""
        number = int(nodes[0] >= self.roots[-1] > 0)
        return self.tries[number], nodes - np.int32(self.roots[number])

    def read_by(self, nodes: Nodes, start: int) -> Nodes:
        """Those of some nodes at which a call that begins in ``start`` reads; the root itself."""
        return self._going_on(nodes, self.first_octets.first(start))

    def left_by(self, walk: Walk, state: int) -> Iterator[tuple[int, int, int]]:
        """What is suspended by a walk from ``state``, without nodes at which nothing is read after
        its call."""
        for pre_state, nodes, plane in walk.suspended:
            if nodes != ROOT:
                nodes = self._left_after(nodes, self.first_octets.after(state))
            if nodes != NOTHING:
                yield pre_state, nodes, plane

    @memoised
    def _left_after(self, nodes: int, classes: int) -> int:
        going_on = self._going_on(self.sets[nodes], classes)
        self._array_bytes += ENTRY_BYTES
        return self.sets.number(going_on) if len(going_on) else NOTHING

    def _going_on(self, nodes: Nodes, classes: int) -> Nodes:
        if not nodes[0]:
            return nodes
        trie, held = self._trie_of(nodes)
        kept = self.first_octets.goes_on(trie, held, classes)
        return nodes if len(kept) == len(nodes) else kept + (nodes[:1] - held[:1])

    def _steps(self, key: WalkKey) -> Generator[WalkKey, Walk, Walk]:
        node_set, state, pre_state, plane = key
        count = self._tables.states
        landing, stopped = self._walked(node_set, state, pre_state, plane)
        walks_inside: dict[tuple[int, Walk], None] = {}
        walks_after: dict[Walk, None] = {}
        suspended: dict[tuple[int, int], list[Nodes]] = {}
        others: list[tuple[WalkKey, Frames]] = []
        for (p, q), nodes in _without_root(stopped):
            at_root = plane if not nodes[0] else 0
            if self._tables.accepting[p]:
                suspended.setdefault((q, at_root), []).append(nodes)
            for start, frame in self._tables.calls[p]:
                inside = self.read_by(nodes, start)
                if not len(inside):
                    continue
                begun = self.sets.number(inside), start, q, at_root
                if frame >= count:
                    # Each item is begun by whoever knows the frames, and not here by all of them.
                    others.append((begun, (frame,)))
                    continue
                inner = yield begun
                others += [(key, (frame, *frames)) for key, frames in inner.others]
                walks_inside[frame, inner] = None
                for left_q, left, left_plane in self.left_by(inner, start):
                    outer = yield left, frame, left_q, left_plane
                    others += outer.others
                    walks_after[outer] = None
                    for still_q, still, still_plane in outer.suspended:
                        left_nodes = suspended.setdefault((still_q, still_plane), [])
                        left_nodes.append(self.sets[still])
        parts = len(walks_inside) + len(walks_after)
        self._parts += parts
        self.watch(_WALK_WORK + _PART_WORK * parts, 0)
        walk = Walk(
            (landing,) if len(landing.begin) else (),
            tuple(walks_inside),
            tuple(walks_after),
            self._numbered(suspended),
            tuple(dict.fromkeys(others)),
        )
        self._walks[key] = walk
        return walk

    def _walked(
        self, node_set: int, state: int, pre_state: int, plane: int
    ) -> tuple[Landing, list[tuple[_Place, Nodes]]]:
        """Where the tokens below a set of trie nodes lead by the automaton's own edges, and the
        nodes where calls begin or end."""
        nodes = self.sets[node_set]
        begins = not nodes[0]
        number = plane // 2 if begins else int(nodes[0] >= self.roots[-1] > 0)
        base = np.int32(self.roots[number])
        layout, states, walk = self._kernels[number]
        begun = states.number(state, pre_state, plane)
        if not begun:
            nodes = nodes[:0]
        lands, stops = walk.landings(layout.place[nodes if begins else nodes - base], begun)
        self.watch(_NODE_WORK * walk.visited, 0)
        pairs, met = states.pairs, distinct(lands[:, 0])
        landing = Landing(
            self._contexts,
            pairs[met],
            np.searchsorted(met, lands[:, 0]).astype(np.int32),
            lands[:, 1].copy(),
            lands[:, 2].copy(),
            layout.tokens_in_order,
        )
        self._array_bytes += 3 * landing.begin.nbytes + landing.pairs.nbytes
        stopped = layout.order[stops[:, 1]]
        stopped[stopped > 0] += base
        return landing, self._by_place(stopped, pairs[stops[:, 0]])

    def _by_place(
        self, nodes: NDArray[np.int32], pairs: NDArray[np.int64]
    ) -> list[tuple[_Place, NDArray[np.int32]]]:
        """Nodes by pair, both ascending, each once."""
        states, pre_states = self._contexts.states, self._contexts.pre_states
        if len(nodes) > _FEW:
            found = [(pair, _distinct(each)) for pair, each in grouped([(nodes, pairs)])]
        else:
            by_pair: dict[int, list[int]] = {}
            for pair, node in sorted({*zip(pairs.tolist(), nodes.tolist(), strict=True)}):
                by_pair.setdefault(pair, []).append(node)
            found = [(pair, np.array(each, np.int32)) for pair, each in by_pair.items()]
        return [((int(states[pair]), int(pre_states[pair])), each) for pair, each in found]

    def _new_kernel(self, number: int) -> tuple[TrieLayout, PairStates, "Kernel"]:
        """What walks a trie."""
        layout = layout_of(self.tries[number], self._vocab_size)
        states = PairStates(self._tables, self._pretokenizer, self._contexts)
        walk = kernel()(states, Stacks())
        walk.lay_out(layout)
        return layout, states, walk


def together(landings: Sequence[Landing]) -> Landing:
    """Some landings of one trie as one."""
    leads = np.concatenate([one.pairs for one in landings])
    pairs = distinct(leads)
    places = np.searchsorted(pairs, leads)
    bounds = np.cumsum([0, *(len(one.pairs) for one in landings)])
    within = [one.places + first for one, first in zip(landings, bounds[:-1], strict=True)]
    return Landing(
        landings[0].contexts,
        pairs,
        places[np.concatenate(within)].astype(np.int32),
        np.concatenate([one.begin for one in landings]),
        np.concatenate([one.end for one in landings]),
        landings[0].order,
    )


def united(parts: list[NDArray[np.int32]]) -> NDArray[np.int32]:
    """The values of all parts, each of which is ascending, once."""
    if len(parts) == 1:
        return parts[0]
    return _distinct(np.sort(np.concatenate(parts), kind="stable"))


def token_tries(
    pretokenizer: PretokenizerDfa, forbidden: ForbiddenPairs, vocabulary: Vocabulary
) -> list[Trie]:
    """The tries for planes 0 and 1, of the tokens that merging gives (``forbidden.order``), and for
    planes 2 and 3, if there are tokens of a byte that has none, or of a whole pre-token."""
    found = [_trie_of(forbidden.order, vocabulary)]
    if len(pretokenizer.apart):
        found.append(_trie_of(pretokenizer.apart, vocabulary))
    return found


# Tries by the tokens in them: the same for all grammars of a tokenizer.
_MADE: WeakKeyDictionary[Vocabulary, dict[bytes, Trie]] = WeakKeyDictionary()


def share_trie(trie: Trie, vocabulary: Vocabulary) -> None:
    """This is the trie of some tokens of a vocabulary, so that it is not made again."""
    share_arrays(trie)
    _MADE.setdefault(vocabulary, {})[recent(_Tokens, trie.ids).bits] = trie


def _trie_of(ids: NDArray[np.int32], vocabulary: Vocabulary) -> Trie:
    made, key = _MADE.setdefault(vocabulary, {}), recent(_Tokens, ids).bits
    if key not in made:
        kinds = np.full(vocabulary.size, HOLE, dtype=np.uint8)
        kinds[ids] = TEXT
        made[key] = Trie.from_vocabulary(replace(vocabulary, kinds=kinds))
    return made[key]


class _Tokens:
    """Some tokens as ``bits``."""

    def __init__(self, ids: NDArray[np.int32]) -> None:
        self._ids = ids
        named = np.zeros(ids.max(initial=0) + 1, dtype=np.bool_)
        named[ids] = True
        self.bits = np.packbits(named).tobytes()


def _without_root(
    stopped: list[tuple[tuple[int, int], Nodes]],
) -> Iterator[tuple[tuple[int, int], Nodes]]:
    """The root by itself: tokens that begin there are in the plane of the walk."""
    for place, nodes in stopped:
        if not nodes[0]:
            yield place, nodes[:1]
            nodes = nodes[1:]
        if len(nodes):
            yield place, nodes


def _distinct(values: NDArray[np.int32]) -> NDArray[np.int32]:
    """Ascending values, each once."""
    new = np.ones(len(values), dtype=np.bool_)
    new[1:] = values[1:] != values[:-1]
    return values if new.all() else values[new]
