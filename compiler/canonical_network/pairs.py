"""Pairs of a network's and a pre-tokenizer's states: their edges in one table, and their stacks.

    joint_table   the synchronous product of both automata's own edges, over pairs
    reach         which pairs can lie on which stacks, as far as contexts distinguish stacks

``reach`` is saturation of a pushdown system (Bouajjani, Esparza and Maler 1997, post*), with the
stack below a call abstracted to its context. A *call* is a frame and the context of what is below
it; the pairs that are reached in it are those of its own edges and those behind the calls that it
makes, beside every pre-tokenizer state in which these can end.
"""

from collections import deque
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from constrain.artifacts.canonical_network.contexts import TEXT_END, ReturnContexts
from constrain.artifacts.canonical_network.pretokenized import PretokenizedNetwork
from constrain.artifacts.network.tables import DEAD, NetworkTables

# The call that is the text itself: no frame is 0.
TEXT = 0


@dataclass(frozen=True, slots=True, eq=False)
class Joint:
    """``table``: int32 (planes · n, J), the pair (of ``ReturnContexts``) after a byte of each
    class, 0 dead; row plane · n + pair where the byte is the first of a token. ``classes``: int64
    (256,), the class of each byte. ``octets``: a byte of each class. ``stops``: bool (n,),
    pairs in which a call begins or ends.
    """

    table: NDArray[np.int32]
    classes: NDArray[np.int64]
    octets: list[int]
    stops: NDArray[np.bool_]

    @property
    def pairs(self) -> int:
        """Number of pairs, n, pair 0 included."""
        return len(self.stops)


def joint_table(network: PretokenizedNetwork) -> Joint:
    """All pairs of ``network.contexts``; bytes that lead nowhere are one class."""
    tables, pretokenizer = network.network.tables, network.pretokenizer
    contexts = network.contexts
    used = (tables.table != DEAD).any(axis=0)[tables.classes]
    keys = np.where(used, tables.classes.astype(np.int64) * 256 + pretokenizer.classes, -1)
    _, octets, classes = np.unique(keys, return_index=True, return_inverse=True)
    after = tables.table[contexts.states][:, tables.classes[octets]].astype(np.int64)
    columns = pretokenizer.classes[octets]
    planes = [
        contexts.pair[after, pretokenizer.table[contexts.pre_states, plane][:, columns]]
        for plane in range(pretokenizer.table.shape[1])
    ]
    stops = ((tables.accepting != 0) | (np.diff(tables.call_offsets) > 0))[contexts.states]
    return Joint(np.concatenate(planes), classes.reshape(-1), octets.tolist(), stops)


@dataclass(slots=True, eq=False)
class Calls:
    """``calls``: (frame, context below) of each, ``TEXT`` first. ``contexts``: what a place in
    the call has as its context. ``reached``: bool (pairs,) each. ``callers``: the calls that
    each can lie on."""

    calls: list[tuple[int, int]] = field(default_factory=list)
    contexts: list[int] = field(default_factory=list)
    reached: list[NDArray[np.bool_]] = field(default_factory=list)
    callers: list[set[int]] = field(default_factory=list)


def reach(network: PretokenizedNetwork, joint: Joint) -> Calls:
    """All calls behind a text or a prompt."""
    tables, contexts = network.network.tables, network.contexts
    search = _Search(tables, contexts, joint)
    # A prompt may end in any pre-tokenizer state.
    begins = contexts.pair[tables.start if network.continued is None else network.continued]
    text = search.number(TEXT, TEXT_END, TEXT_END)
    search.add(text, np.append(begins, contexts.pair[tables.start, network.pretokenizer.start]))
    search.run()
    return search.found


class _Search:
    def __init__(self, tables: NetworkTables, contexts: ReturnContexts, joint: Joint) -> None:
        self.tables, self.contexts, self.joint = tables, contexts, joint
        self.found = Calls()
        self._numbers: dict[tuple[int, int], int] = {}
        self._todo: deque[tuple[int, NDArray[np.integer]]] = deque()
        self._calling = (np.diff(tables.call_offsets) > 0)[contexts.states]

    def number(self, frame: int, below: int, context: int) -> int:
        key = frame, below
        if key not in self._numbers:
            self._numbers[key] = len(self.found.calls)
            self.found.calls.append(key)
            self.found.contexts.append(context)
            self.found.reached.append(np.zeros(self.joint.pairs, dtype=np.bool_))
            self.found.callers.append(set())
        return self._numbers[key]

    def add(self, call: int, pairs: NDArray[np.integer]) -> None:
        """Let ``pairs`` be reached in a call."""
        live = self.contexts.live(self.found.contexts[call])
        new = np.unique(pairs)
        new = new[~self.found.reached[call][new] & live[new]]
        if len(new):
            self.found.reached[call][new] = True
            self._todo.append((call, new))

    def run(self) -> None:
        planes = self.joint.table.reshape(-1, self.joint.pairs, self.joint.table.shape[1])
        while self._todo:
            call, pairs = self._todo.popleft()
            self.add(call, planes[:, pairs].reshape(-1))
            for pair in pairs[self._calling[pairs]].tolist():
                self._calls(call, pair)

    def _calls(self, call: int, pair: int) -> None:
        contexts, context = self.contexts, self.found.contexts[call]
        state, pre_state = int(contexts.states[pair]), int(contexts.pre_states[pair])
        for start, frame in self.tables.calls[state]:
            inner = contexts.number(start, pre_state)
            callee = self.number(frame, context, contexts.push(frame, context))
            self.found.callers[callee].add(call)
            self.add(callee, np.array([inner]))
            returns = contexts.return_states[contexts.returns[inner]]
            self.add(call, contexts.pair[frame, returns])
