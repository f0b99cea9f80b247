"""What a token does to a configuration, worked out once for all stacks that agree on top.

A token looks at as many frames as it can pop: at none in the middle of a call, at some where
it closes calls. Its effect on a thread depends on the thread's state and on these frames
alone. So a *context* is a state and the frames on top that are known, from the top down; for
a context and a token the memo holds either the effect, or that one more frame is needed. Both
are found in one reading, which asks for a frame when it pops it.
"""

from collections.abc import Callable, Collection, Iterable, Sequence

from .configurations import REFUSED, Entries, Network
from .tables import DEAD

# Frames that a context may know, and threads of an effect; beyond them stacks are read whole.
_KNOWN_FRAMES, _THREADS = 8, 8

# Remembered effects; when there are more, they are worked out anew.
_KEPT = 1 << 20

# A thread: its state, frames popped, and frames pushed after that, the lowest first.
_Thread = tuple[int, int, tuple[int, ...]]

_Effect = Sequence[_Thread]


class _Unread(Exception):  # noqa: N818
    """A context cannot hold what a token does: several stacks, or too many frames or threads."""


class _Stack:
    """A stack from the top down, looked up as far as its frames are needed.

    ``frames``: those known, of which the last may be ``DEAD`` below all others. ``nodes``: the
    stack itself, and what is left of it below each of them.
    """

    def __init__(self, entries: Sequence[Entries], node: int) -> None:
        self._entries = entries
        self.nodes, self.frames = [node], list[int]()

    def frame(self, depth: int) -> int:
        """The frame below ``depth`` others. Raises ``_Unread``."""
        while len(self.frames) <= depth:
            below = self._entries[self.nodes[-1]]
            if len(below) != 1 or len(self.frames) == _KNOWN_FRAMES:
                raise _Unread
            frame, rest = below[0]
            self.frames.append(frame)
            self.nodes.append(rest)
        return self.frames[depth]


class LazyTokenEffects:
    """Steps a network's configurations by tokens. ``readings``: the symbols of a token, for
    each way that it can be read."""

    def __init__(
        self, network: Network, readings: Callable[[int], Sequence[Iterable[int]]]
    ) -> None:
        self._network, self._readings = network, readings
        self._entries = network.stacks.entries
        tables = network.tables
        self._rows, self._ends, self._first = tables.rows, tables.ends, network.moves
        # Contexts by number; the first ones are the states alone.
        self._contexts = tables.states
        self._deeper: dict[tuple[int, int], int] = {}
        # None: one more frame is needed.
        self._effects: dict[tuple[int, int], _Effect | None] = {}

    def __len__(self) -> int:
        """How many contexts are known."""
        return self._contexts

    def step(self, configuration: int, token_id: int) -> int:
        """The configuration after a token, or ``REFUSED``; as ``Network.read`` says."""
        found: dict[int, int] = {}
        try:
            for state, node in self._network.threads[configuration]:
                self._apply(found, state, node, token_id)
        except _Unread:
            return self._network.read(configuration, *self._readings(token_id))
        return self._network.configuration(found) if found else REFUSED

    def _apply(self, found: dict[int, int], state: int, node: int, token_id: int) -> None:
        """Add what a token makes of a thread."""
        network = self._network
        nodes: Sequence[int] = (node,)
        effect = self._effects.get((state, token_id))
        if effect is None and self._first.plain[state]:
            effect = self._read_inside(state, token_id)
        if effect is None:
            stack = _Stack(self._entries, node)
            effect, nodes = self._effect(state, stack, token_id), stack.nodes
        for target, popped, frames in effect:
            reached = nodes[popped]
            for frame in frames:
                reached = network.stacks.push(frame, reached)
            network.add(found, target, reached)

    def _read_inside(self, state: int, token_id: int) -> _Effect | None:
        """The effect of a token in front of whose every byte nothing is called and nothing ends;
        None for others. Most are read so, inside a text."""
        plain, rows = self._first.plain, self._rows
        readings = self._readings(token_id)
        if len(readings) != 1:
            return None
        reached = state
        for symbol in readings[0]:
            if not plain[reached]:
                return None
            reached = rows[reached][symbol]
        self._make_room()
        effect = self._effects[state, token_id] = ((reached, 0, ()),) if reached != DEAD else ()
        return effect

    def _effect(self, state: int, stack: _Stack, token_id: int) -> _Effect:
        context = state
        while True:
            try:
                effect = self._effects[context, token_id]
            except KeyError:
                break
            if effect is not None:
                return effect
            context = self._below(context, stack.frame(len(stack.frames)))
        effect = self._worked_out(state, stack, token_id)
        self._make_room()
        context = state
        for frame in stack.frames:
            self._effects[context, token_id] = None
            context = self._below(context, frame)
        self._effects[context, token_id] = effect
        return effect

    def _make_room(self) -> None:
        if len(self._effects) >= _KEPT:
            self._effects.clear()

    def _below(self, context: int, frame: int) -> int:
        """The context that knows one frame more."""
        number = self._deeper.get((context, frame))
        if number is None:
            number = self._deeper[context, frame] = self._contexts
            self._contexts += 1
        return number

    def _worked_out(self, state: int, stack: _Stack, token_id: int) -> _Effect:
        found: set[_Thread] = set()
        for symbols in self._readings(token_id):
            found.update(self._read(state, stack, symbols))
        return tuple(sorted(found))

    def _read(self, state: int, stack: _Stack, symbols: Iterable[int]) -> Collection[_Thread]:
        """The threads after symbols."""
        plain, rows = self._first.plain, self._rows
        popped, pushed = 0, tuple[int, ...]()
        rest = iter(symbols)
        for symbol in rest:
            # Most bytes are read inside a text, where nothing is called and nothing ends.
            if plain[state]:
                state = rows[state][symbol]
                if state == DEAD:
                    return ()
                continue
            threads = self._moved([(state, popped, pushed)], stack, symbol)
            if len(threads) != 1:
                for other in rest:
                    threads = self._moved(threads, stack, other)
                return threads
            [(state, popped, pushed)] = threads
        return ((state, popped, pushed),)

    def _moved(self, threads: Iterable[_Thread], stack: _Stack, symbol: int) -> set[_Thread]:
        """The threads after a symbol; ``Network.read`` does the same with whole stacks."""
        found = set()
        pending = list(threads)
        for state, popped, pushed in pending:
            for target, frames in self._first.of(state, symbol):
                found.add((target, popped, pushed + frames))
            if self._ends[state]:
                if pushed:
                    pending.append((pushed[-1], popped, pushed[:-1]))
                elif (frame := stack.frame(popped)) != DEAD:
                    pending.append((frame, popped + 1, ()))
        if len(found) > _THREADS:
            # Sets of stacks share what is equal in them, which these threads do not.
            raise _Unread
        return found
