"""What a token does to a configuration, worked out once for all stacks that agree on top.

A token looks at as many frames as it can pop: at none in the middle of a call, at some where
it closes calls. Its effect on a thread depends on the thread's state and on these frames
alone. So a *context* is a state and the frames on top that are known, from the top down; for
a context and a token the memo holds either the effect, or that one more frame is needed.
"""

from collections.abc import Callable, Iterable, Sequence

from .network import REFUSED, Network
from .network_tables import DEAD

# Frames that a context may know, and threads of an effect; beyond them stacks are read whole.
_KNOWN_FRAMES, _THREADS = 8, 8

# Remembered effects; when there are more, they are worked out anew.
_KEPT = 1 << 20

# An effect: the threads, each as (state, frames popped, frames pushed, the lowest first).
_Effect = tuple[tuple[int, int, tuple[int, ...]], ...]

_Thread = tuple[int, tuple[int, ...]]


class _NeedsFrame(Exception):  # noqa: N818
    """A frame below those that are known is popped."""


class Moves:
    """Steps a network's configurations by tokens. ``readings``: the symbols of a token, for
    each way that it can be read."""

    def __init__(
        self, network: Network, readings: Callable[[int], Sequence[Iterable[int]]]
    ) -> None:
        self._network, self._readings = network, readings
        self._entries = network.stacks.entries
        tables = network.tables
        self._rows, self._calls, self._ends = tables.rows, tables.calls, tables.ends
        # Contexts by number; the first ones are the states alone.
        self._contexts: list[_Thread] = [(state, ()) for state in range(tables.states)]
        self._deeper: dict[tuple[int, int], int] = {}
        # None: one more frame is needed.
        self._effects: dict[tuple[int, int], _Effect | None] = {}

    def __len__(self) -> int:
        """How many contexts are known."""
        return len(self._contexts)

    def step(self, configuration: int, token_id: int) -> int:
        """The configuration after a token, or ``REFUSED``; as ``Network.read`` says."""
        threads = self._network.threads[configuration]
        if len(threads) != 1:
            return self._network.read(configuration, *self._readings(token_id))
        context, node = threads[0]
        nodes = [node]
        effects, entries = self._effects, self._entries
        while True:
            try:
                effect = effects[context, token_id]
            except KeyError:
                effect = self._worked_out(context, token_id)
            if effect is not None:
                return self._applied(effect, nodes)
            below = entries[nodes[-1]]
            if len(below) != 1 or len(nodes) > _KNOWN_FRAMES:
                return self._network.read(configuration, *self._readings(token_id))
            frame, rest = below[0]
            nodes.append(rest)
            context = self._below(context, frame)

    def _applied(self, effect: _Effect, nodes: Sequence[int]) -> int:
        network = self._network
        push = network.stacks.push
        found: dict[int, int] = {}
        for state, popped, frames in effect:
            node = nodes[popped]
            for frame in frames:
                node = push(frame, node)
            network.add(found, state, node)
        return network.configuration(found) if found else REFUSED

    def _below(self, context: int, frame: int) -> int:
        """The context that knows one frame more."""
        number = self._deeper.get((context, frame))
        if number is None:
            number = self._deeper[context, frame] = len(self._contexts)
            state, frames = self._contexts[context]
            self._contexts.append((state, (*frames, frame)))
        return number

    def _worked_out(self, context: int, token_id: int) -> _Effect | None:
        if len(self._effects) >= _KEPT:
            self._effects.clear()
        state, known = self._contexts[context]
        effect: _Effect | None = None
        # Stacks are written from the lowest frame up.
        stack = known[::-1]
        try:
            threads = {
                thread
                for symbols in self._readings(token_id)
                for thread in self._read({(state, stack)}, symbols)
            }
            effect = tuple(
                (target, len(stack) - kept, after[kept:])
                for target, after in sorted(threads)
                for kept in [_common(stack, after)]
            )
        except _NeedsFrame:
            pass
        self._effects[context, token_id] = effect
        return effect

    def _read(self, threads: set[_Thread], symbols: Iterable[int]) -> set[_Thread]:
        for symbol in symbols:
            threads = {
                (target, stack)
                for state, stack in self._unfolded(threads)
                if (target := self._rows[state][symbol]) != DEAD
            }
            if len(threads) > _THREADS:
                # Sets of stacks share what is equal in them, which these tuples do not.
                raise _NeedsFrame
        return threads

    def _unfolded(self, threads: set[_Thread]) -> list[_Thread]:
        """As ``Network.unfolded``, for stacks whose lowest frames are not known."""
        pending = list(threads)
        found = set(threads)
        for state, stack in pending:
            new = [(start, (*stack, frame)) for start, frame in self._calls[state]]
            if self._ends[state]:
                if not stack:
                    raise _NeedsFrame
                if stack[-1] != DEAD:
                    new.append((stack[-1], stack[:-1]))
            for thread in new:
                if thread not in found:
                    found.add(thread)
                    pending.append(thread)
        return pending


def _common(left: Sequence[int], right: Sequence[int]) -> int:
    """How many of the lowest frames are the same."""
    count = 0
    for a, b in zip(left, right, strict=False):
        if a != b:
            break
        count += 1
    return count
