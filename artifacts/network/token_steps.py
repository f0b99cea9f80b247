"""What every token does in every state of a network, precomputed, and steps that look it up.

Tokens that do the same in all states are one *class*. The *effect* of a class in a state says what
such a token makes of a thread there, whatever its stack is: the threads inside the call that the
state is in, with the frames that they push; and, where that call ends before the token does, the
*rests*: suffixes of the token, which the frame below reads. Rests that do the same in all frames
are one, and what they do there are effects again.

    s ::= '[' s? ']' | 'x';    tokens "[[" and "x]]", one frame, 4 (``tables``)
    state 1   "[[": push 4, go to state 2      "x]]": rest "]]"
    state 2   "[[": push 4, 4, go to state 2   "x]]": rest "]"
    frame 4   rest "]": go to state 3          rest "]]": rest "]"

The compiler finds all of it by reading tokens from their ends to their beginnings
(``constrain.compiler.network.token_effects``).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from threading import RLock
from typing import Any
from weakref import WeakMethod

import numpy as np
from numpy.typing import NDArray

from ..tokens.interning import Lock
from ..tokens.memo import ENTRY_BYTES, CacheBudget
from .configurations import REFUSED, Network
from .tables import DEAD


@dataclass(frozen=True, eq=False)
class TokenEffects:
    """For V tokens in K classes, S states, F frames, R rests, and E effects of their own.

    An effect is a number: 0 is none; a state s < S is one thread in s that pushes nothing; S + r is
    rest r alone; S + R + e is effect e, which ``codes`` spell out; S + R + E is not tabulated: such
    tokens have to be read. ``classes``: uint16 (V,). ``table``: uint16 (S, K), effects by state and
    class. ``rests``: uint16 (R, F), the effect of each rest in each of the frames, which ascend.
    ``codes``: int32, those of effect e from ``code_offsets[e]`` (int64 (E + 1,)) on: for each
    thread the frames that it pushes, the lowest first, as -frame, and then its state; for each rest
    r, S + r. No effect has one code alone.
    """

    classes: NDArray[np.uint16]
    table: NDArray[np.uint16]
    rests: NDArray[np.uint16]
    codes: NDArray[np.int32]
    code_offsets: NDArray[np.int64]

    @classmethod
    def of(
        cls,
        classes: NDArray[np.uint16],
        table: NDArray[np.uint16],
        rests: NDArray[np.uint16],
        effects: Sequence[Sequence[int]],
    ) -> "TokenEffects":
        """Encode effects that are given by their codes."""
        codes = [code for effect in effects for code in effect]
        ends = np.cumsum([0, *map(len, effects)]).astype(np.int64)
        return cls(classes, table, rests, np.array(codes, dtype=np.int32), ends)

    @classmethod
    def empty(cls) -> "TokenEffects":
        """Nothing is tabulated: all tokens have to be read."""
        none = np.zeros((0, 0), dtype=np.uint16)
        return cls.of(none[0:0].reshape(0), none, none, [])

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> "TokenEffects":
        """The sections of an artifact."""
        return cls(*(arrays[f"effects.{name}"] for name in cls.__dataclass_fields__))

    def arrays(self) -> dict[str, NDArray[Any]]:
        """``from_arrays`` is the inverse."""
        return {f"effects.{name}": getattr(self, name) for name in self.__dataclass_fields__}

    @property
    def nbytes(self) -> int:
        """The size of all arrays."""
        return sum(array.nbytes for array in self.arrays().values())

    def __len__(self) -> int:
        """The number of effects that have a number of their own."""
        return len(self.code_offsets) - 1


# Where a step leads that the effects do not tell.
_NOT_TABULATED = -2

# New steps between two looks at the limits.
_BETWEEN_LOOKS = 256

# So many effects are decoded in about a tenth of a millisecond.
_FEW = 256


class TokenSteps:
    """Steps ``network``.

    ``classes``: of how many tokens the effects tell something, all or none. ``otherwise``: the step
    from a configuration by a token of which they do not. ``lock``: held while a step that is not
    cached is found. ``look``: called every few of these.
    """

    def __init__(
        self,
        network: Network,
        effects: TokenEffects,
        otherwise: Callable[[int, int], int],
        caches: CacheBudget | None = None,
        lock: Lock | None = None,
        look: Callable[[], None] | None = None,
    ) -> None:
        self._lock = RLock() if lock is None else lock
        # Weak: what is left of a machine that was replaced should not wait for the collector.
        self._look = None if look is None else WeakMethod(look)
        # One look-up is a whole step, so these are in a plain dict.
        self._most_cached = max((caches or CacheBudget()).limit // ENTRY_BYTES, _BETWEEN_LOOKS)
        tables, self.classes = network.tables, len(effects.classes)
        self._otherwise = otherwise
        few = len(effects) <= _FEW
        self._all_codes: Sequence[int] = effects.codes.tolist() if few else effects.codes.data
        self._code_offsets = effects.code_offsets.data
        self._states, self._threads = tables.states, network.threads
        self._stacks, self._push = network.stacks, network.stacks.push
        self._classes, self._width = effects.classes.data, effects.table.shape[1]
        self._table = effects.table.reshape(-1).data
        self._rests, self._frames = effects.rests.reshape(-1).data, effects.rests.shape[1]
        # Effects from here on have codes, and the one behind them is not tabulated.
        self._coded = tables.states + len(effects.rests)
        self._unknown = self._coded + len(effects)
        self._columns = {frame: column for column, frame in enumerate(tables.frames.tolist())}
        self._cached: dict[tuple[int, int], int] = {}
        # The codes of effects: of all if they are few, else of those that were met.
        self._codes: dict[int, list[int]] = {}
        # Of these, what the only thread pushes and its state, 0 where there is more.
        self._single: dict[int, tuple[list[int], int]] = {}
        for effect in range(self._coded, self._unknown if few else 0):
            self._single_thread(effect)

    def step(self, configuration: int, token_id: int) -> int | None:
        """The configuration after a token, as ``Network.read`` says, or None if it is refused."""
        if token_id < 0:
            return None
        try:
            number = self._classes[token_id]
        except IndexError:
            return None
        state, effect = configuration % self._states, 0
        if state:
            effect = self._table[state * self._width + number]
            if effect < self._states:
                # Most steps lead one thread from state to state, inside a text.
                return configuration - state + effect if effect else None
        key = configuration, number
        target = self._cached.get(key)
        if target is None:
            with self._lock:
                if effect:
                    target = self._follow(effect, configuration // self._states)
                else:
                    target = self._of_threads(configuration, number)
                self._cache(key, target)
        if target >= 0:
            return target
        return self.read(configuration, token_id) if target == _NOT_TABULATED else None

    def read(self, configuration: int, token_id: int) -> int | None:
        """``step`` by a token of which the effects do not tell."""
        # Classes are numbers from 0.
        key = configuration, -1 - token_id
        target = self._cached.get(key)
        if target is None:
            with self._lock:
                target = self._otherwise(configuration, token_id)
                self._cache(key, target)
        return None if target == REFUSED else target

    def _cache(self, key: tuple[int, int], target: int) -> None:
        count = len(self._cached)
        if not count % _BETWEEN_LOOKS:
            look = None if self._look is None else self._look()
            if look is not None:
                look()
            if count >= self._most_cached:
                self._cached.clear()
        self._cached[key] = target

    def _follow(self, effect: int, node: int) -> int:
        """The configuration after an effect over a set of stacks, or ``_NOT_TABULATED``.

        As long as it is one thread over one stack, which most are, nothing else is made.
        """
        states = self._states
        while effect >= states:
            if effect < self._coded:
                # The call ends, and the frame below reads the rest.
                entries = self._stacks.entries[node]
                if len(entries) > 1:
                    return self._united({}, [(effect, node)])
                [(frame, node)] = entries
                if frame == DEAD:
                    return REFUSED
                effect = self._rests[(effect - states) * self._frames + self._columns[frame]]
                continue
            if effect == self._unknown:
                return _NOT_TABULATED
            frames, target = self._single.get(effect) or self._single_thread(effect)
            if not target:
                return self._united({}, [(effect, node)])
            effect = target
            for frame in frames:
                node = self._push(frame, node)
        return node * states + effect if effect else REFUSED

    def _of_threads(self, configuration: int, number: int) -> int:
        """The configuration of several threads after a class of tokens, or ``_NOT_TABULATED``."""
        states, table, width = self._states, self._table, self._width
        found: dict[int, int] = {}
        pending = []
        for state, node in self._threads.several[configuration // states]:
            effect = table[state * width + number]
            if 0 < effect < states and effect not in found:
                found[effect] = node
            elif effect:
                pending.append((effect, node))
        if pending:
            return self._united(found, pending)
        return self._threads.number(found) if found else REFUSED

    def _united(self, found: dict[int, int], pending: list[tuple[int, int]]) -> int:
        """The configuration of threads (``found``) and of all that effects make of the sets of
        stacks that they are over, rests included; or ``_NOT_TABULATED``."""
        states, columns, rests = self._states, self._columns, self._rests
        # All of the sets of stacks where there are several over a state.
        several: dict[int, list[int]] = {}
        seen = set[tuple[int, int]]()
        for effect, node in pending:
            if effect == self._unknown:
                return _NOT_TABULATED
            reached = node
            for code in self._codes.get(effect) or self._decoded(effect):
                if code < 0:
                    reached = self._push(-code, reached)
                elif code < states:
                    if found.setdefault(code, reached) != reached:
                        several.setdefault(code, [found[code]]).append(reached)
                    reached = node
                else:
                    row = (code - states) * self._frames
                    for frame, lower in self._stacks.entries[node]:
                        effect = rests[row + columns[frame]] if frame != DEAD else 0
                        if 0 < effect < states and found.setdefault(effect, lower) == lower:
                            continue
                        if effect and (effect, lower) not in seen:
                            seen.add((effect, lower))
                            pending.append((effect, lower))
        for target, nodes in several.items():
            found[target] = self._stacks.joined(nodes)
        return self._threads.number(found) if found else REFUSED

    def _single_thread(self, effect: int) -> tuple[list[int], int]:
        """What an effect pushes and its state if it has one thread and leaves no rest."""
        *frames, target = self._decoded(effect)
        one = target < self._states and max(frames) < 0
        single = self._single[effect] = [-code for code in frames], target if one else 0
        return single

    def _decoded(self, effect: int) -> list[int]:
        """The codes of an effect that is tabulated."""
        number = effect - self._coded
        codes = [effect]
        if number >= 0:
            begin, end = self._code_offsets[number], self._code_offsets[number + 1]
            codes = list(self._all_codes[begin:end])
        self._codes[effect] = codes
        return codes
