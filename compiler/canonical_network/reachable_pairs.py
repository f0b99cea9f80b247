"""Which pairs of states can lie on which stacks, as far as contexts tell stacks apart.

Saturation of a pushdown system (Bouajjani, Esparza and Maler 1997, post*), with the stack below
a call abstracted to its context. A *call* is a frame and the context of what is below it; the
pairs that can be reached in it are its own edges' and those behind the calls that it makes, in
every cut state that these can end in.
"""

from collections import deque
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from constrain.artifacts.canonical_network.contexts import TEXT_END, ReturnContexts
from constrain.artifacts.network.tables import NetworkTables
from constrain.artifacts.pretokenizer.dfa import PretokenizerDfa

from .trie_walks import Joint

# The call that is the text itself: no frame is 0.
TEXT = 0


@dataclass(slots=True, eq=False)
class Calls:
    """``calls``: (frame, context below) of each, ``TEXT`` first. ``contexts``: what a place in
    the call has as its context. ``reached``: bool (pairs,) each. ``callers``: the calls that
    each can lie on."""

    calls: list[tuple[int, int]] = field(default_factory=list)
    contexts: list[int] = field(default_factory=list)
    reached: list[NDArray[np.bool_]] = field(default_factory=list)
    callers: list[set[int]] = field(default_factory=list)


def reach(
    tables: NetworkTables,
    cuts: PretokenizerDfa,
    endings: ReturnContexts,
    joint: Joint,
    continued: int | None,
) -> Calls:
    """All calls behind a text or a prompt; see ``ReturnContexts`` for the arguments."""
    search = _Search(tables, endings, joint)
    # A prompt may end in any state of the cuts.
    begins = endings.pair[tables.start if continued is None else continued]
    text = search.number(TEXT, TEXT_END, TEXT_END)
    search.add(text, np.append(begins, endings.pair[tables.start, cuts.start]))
    search.run()
    return search.found


class _Search:
    def __init__(self, tables: NetworkTables, endings: ReturnContexts, joint: Joint) -> None:
        self.tables, self.endings, self.joint = tables, endings, joint
        self.found = Calls()
        self._numbers: dict[tuple[int, int], int] = {}
        self._todo: deque[tuple[int, NDArray[np.integer]]] = deque()
        self._calling = (np.diff(tables.call_offsets) > 0)[endings.states]

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
        live = self.endings.live(self.found.contexts[call])
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
        endings, context = self.endings, self.found.contexts[call]
        state, cut = int(endings.states[pair]), int(endings.cut_of[pair])
        for start, frame in self.tables.calls[state]:
            inner = endings.number(start, cut)
            callee = self.number(frame, context, endings.push(frame, context))
            self.found.callers[callee].add(call)
            self.add(callee, np.array([inner]))
            self.add(call, endings.pair[frame, endings.exits[endings.returns[inner]]])
