"""What a token does to a configuration, computed lazily, once for all stacks with the same top.

A token looks at as many frames as it can pop: at none in the middle of a call, at some where it
ends calls. Its effect on a thread depends on these frames and the thread's state alone, that is on
a *head* of the configuration (Schwoon, Model-checking pushdown systems, 2002): a state and the
frames on top of the stack, from the top down. For a head and a token the cache holds either the
effect, or that one more frame is needed. Both are found in one reading, which looks a frame up
when it pops it.

    s ::= '[' s? ']' | 'x';    tokens "x" and "x]]", one frame, 4 (``tables``)
    head (1)        "x": go to state 3        "x]]": one more frame is needed
    head (1, 4)                               "x]]": one more frame is needed
    head (1, 4, 4)                            "x]]": pop both, go to state 3
"""

from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Final, Literal

from ..tokens.memo import ENTRY_BYTES, BoundedCache, CacheBudget
from .configurations import REFUSED, Entries, Texts
from .tables import DEAD

# Frames that a head may have, and threads of an effect; beyond them stacks are read whole.
_MAX_FRAMES, _MAX_THREADS = 8, 8

# How a budget is divided: heads that have a number, and effects of a token at a head, with the
# bytes of one of these.
_HEADS, _EFFECTS = 1, 7
_EFFECT_BYTES = 2 * ENTRY_BYTES

# A thread: its state, frames popped, and frames pushed after that, the lowest first.
_Thread = tuple[int, int, tuple[int, ...]]

_Effect = Sequence[_Thread]

# In place of an effect: it depends on one more frame than the head has.
_NEEDS_FRAME: Final = False


class _TooLarge(Exception):  # noqa: N818
    """A head cannot hold what a token does: several stacks, or too many frames or threads."""


class _Stack:
    """A stack from the top down, looked up as far as its frames are needed.

    ``frames``: those that were looked up, of which the last may be ``DEAD`` below all others.
    ``nodes``: the stack itself, and what is left of it below each of them.
    """

    def __init__(self, entries: Sequence[Entries], node: int) -> None:
        self._entries = entries
        self.nodes, self.frames = [node], list[int]()

    def frame(self, depth: int) -> int:
        """The frame below ``depth`` others. Raises ``_TooLarge``."""
        while len(self.frames) <= depth:
            below = self._entries[self.nodes[-1]]
            if len(below) != 1 or len(self.frames) == _MAX_FRAMES:
                raise _TooLarge
            frame, lower = below[0]
            self.frames.append(frame)
            self.nodes.append(lower)
        return self.frames[depth]


class LazyTokenEffects:
    """Steps a network's configurations by tokens.

    ``readings``: the symbols of a token, one sequence for each reading: its bytes, and each token
    terminal that names it.
    """

    def __init__(
        self,
        network: Texts,
        readings: Callable[[int], Sequence[Iterable[int]]],
        caches: CacheBudget | None = None,
    ) -> None:
        self._network, self._readings = network, readings
        self._entries = network.stacks.entries
        tables = network.tables
        self._rows, self._ends = tables.rows, tables.ends
        self._first = network.first_transitions
        # Heads by number; the first ones are the states alone.
        self._heads = tables.states
        self._deeper: dict[tuple[int, int], int] = {}
        heads, effects = (caches or CacheBudget()).divide(_HEADS, _EFFECTS)
        self._most_heads = heads.limit // ENTRY_BYTES
        self._effects: BoundedCache[tuple[int, int], _Effect | Literal[False]] = effects.cache(
            _EFFECT_BYTES
        )

    def step(self, configuration: int, token_id: int) -> int:
        """The configuration after a token, or ``REFUSED``; as ``Texts.read`` says."""
        if len(self._deeper) > self._most_heads:
            # Effects of heads that will have other numbers.
            self._effects.clear()
            self._deeper.clear()
            self._heads = self._network.tables.states
        found: dict[int, int] = {}
        try:
            for state, node in self._network.threads[configuration]:
                self._apply(found, state, node, token_id)
        except _TooLarge:
            return self._network.read(configuration, *self._readings(token_id))
        return self._network.configuration(found) if found else REFUSED

    def _apply(self, found: dict[int, int], state: int, node: int, token_id: int) -> None:
        """Add what a token makes of a thread."""
        network = self._network
        nodes: Sequence[int] = (node,)
        effect = self._effects.get((state, token_id))
        if effect is None and self._first.plain[state]:
            effect = self._read_inside(state, token_id)
        if effect is None or effect is _NEEDS_FRAME:
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
        effect: _Effect = ((reached, 0, ()),) if reached != DEAD else ()
        self._effects.keep((state, token_id), effect)
        return effect

    def _effect(self, state: int, stack: _Stack, token_id: int) -> _Effect:
        head = state
        while True:
            effect = self._effects.get((head, token_id))
            if effect is None:
                break
            if effect is not _NEEDS_FRAME:
                return effect
            head = self._below(head, stack.frame(len(stack.frames)))
        effect = self._computed(state, stack, token_id)
        head = state
        for frame in stack.frames:
            self._effects.keep((head, token_id), _NEEDS_FRAME)
            head = self._below(head, frame)
        self._effects.keep((head, token_id), effect)
        return effect

    def _below(self, head: int, frame: int) -> int:
        """The head that has one frame more."""
        number = self._deeper.get((head, frame))
        if number is None:
            number = self._deeper[head, frame] = self._heads
            self._heads += 1
        return number

    def _computed(self, state: int, stack: _Stack, token_id: int) -> _Effect:
        found: set[_Thread] = set()
        for symbols in self._readings(token_id):
            found.update(self._read(state, stack, symbols))
        return tuple(sorted(found))

    def _read(self, state: int, stack: _Stack, symbols: Iterable[int]) -> Collection[_Thread]:
        """The threads after symbols."""
        plain, rows = self._first.plain, self._rows
        popped, pushed = 0, tuple[int, ...]()
        left = iter(symbols)
        for symbol in left:
            # Most bytes are read inside a text, where nothing is called and nothing ends.
            if plain[state]:
                state = rows[state][symbol]
                if state == DEAD:
                    return ()
                continue
            threads = self._read_symbol([(state, popped, pushed)], stack, symbol)
            if len(threads) != 1:
                for other in left:
                    threads = self._read_symbol(threads, stack, other)
                return threads
            [(state, popped, pushed)] = threads
        return ((state, popped, pushed),)

    def _read_symbol(self, threads: Iterable[_Thread], stack: _Stack, symbol: int) -> set[_Thread]:
        """The threads after a symbol; ``Texts.read`` does the same with whole stacks."""
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
        if len(found) > _MAX_THREADS:
            # Sets of stacks share what is equal in them, which these threads do not.
            raise _TooLarge
        return found
