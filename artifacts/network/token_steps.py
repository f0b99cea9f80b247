"""What every token does in every state of a network, worked out ahead of time, as arrays.

Tokens that do the same in all states are one *class*. The *effect* of a class in a state says
what a token makes of a thread there, whatever its stack is: the threads inside the call that the
state is in, with the frames that they push; and, where the call ends before the token does, the
*rests* of the token that the frame below reads. Rests that do the same in all frames are one, too,
and what they do there are effects again.

Steps of a network by whole tokens, looked up in effects that were worked out ahead of time.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .configurations import REFUSED, Network
from .tables import DEAD


@dataclass(frozen=True, eq=False)
class TokenEffects:
    """For V tokens in K classes, S states, F frames, R rests, and E effects of their own.

    ``classes``: uint16 (V,). ``table``: uint16 (S, K), effects by state and class: 0 is none, a
    state stands for one thread in it that pushes nothing, S + r for rest r alone, S + R + e for
    effect e, S + R + E for one that is not known: such tokens have to be read. ``rests``: uint16
    (R, F), what each does in the frames, which ascend. ``codes``: int32, those of effect e begin
    at ``code_offsets[e]`` (int64 (E + 1,)): for each thread the frames that it pushes, the lowest
    first, as -frame, and its state; for each rest r, S + r; no effect has one code alone.
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
        """Lay effects out, given by their codes."""
        codes = [code for effect in effects for code in effect]
        ends = np.cumsum([0, *map(len, effects)]).astype(np.int64)
        return cls(classes, table, rests, np.array(codes, dtype=np.int32), ends)

    @classmethod
    def empty(cls) -> "TokenEffects":
        """Nothing is worked out."""
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


# A step of a known class of tokens that the effects do not say.
_UNREAD = -2

# Remembered steps; when there are more, they are worked out anew.
_KEPT = 1 << 20

# So many effects are laid out in about a tenth of a millisecond.
_FEW = 256


class TokenSteps:
    """Steps ``network``. ``classes``: of how many tokens something is known, all or none.
    ``otherwise``: the step from a configuration by a token that the effects do not say."""

    def __init__(
        self, network: Network, effects: TokenEffects, otherwise: Callable[[int, int], int]
    ) -> None:
        tables, self.classes = network.tables, len(effects.classes)
        self._otherwise = otherwise
        few = len(effects) <= _FEW
        self._all_codes: Sequence[int] = effects.codes.tolist() if few else effects.codes.data
        self._ends = effects.code_offsets.data
        self._states, self._threads = tables.states, network.threads
        self._stacks, self._push = network.stacks, network.stacks.push
        self._classes, self._width = effects.classes.data, effects.table.shape[1]
        self._table = effects.table.reshape(-1).data
        self._rests, self._frames = effects.rests.reshape(-1).data, effects.rests.shape[1]
        # Effects from here on have a number of their own, and one is not known.
        self._own = tables.states + len(effects.rests)
        self._unknown = self._own + len(effects)
        self._place = {frame: place for place, frame in enumerate(tables.frames.tolist())}
        self._known: dict[tuple[int, int], int] = {}
        # The codes of effects: of all if they are few, else of those that were met.
        self._codes: dict[int, list[int]] = {}
        # Of these, what the only thread pushes and its state, 0 where there is more.
        self._alone: dict[int, tuple[list[int], int]] = {}
        for effect in range(self._own, self._unknown if few else 0):
            self._one_thread(effect)

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
        target = self._known.get(key)
        if target is None:
            if effect:
                target = self._along(effect, configuration // self._states)
            else:
                target = self._of_threads(configuration, number)
            if len(self._known) >= _KEPT:
                self._known.clear()
            self._known[key] = target
        if target >= 0:
            return target
        return self.read(configuration, token_id) if target == _UNREAD else None

    def read(self, configuration: int, token_id: int) -> int | None:
        """``step`` by a token whose effect is not known."""
        # Classes are numbers from 0.
        key = configuration, -1 - token_id
        target = self._known.get(key)
        if target is None:
            target = self._otherwise(configuration, token_id)
            if len(self._known) >= _KEPT:
                self._known.clear()
            self._known[key] = target
        return None if target == REFUSED else target

    def _along(self, effect: int, node: int) -> int:
        """The configuration after an effect over a set of stacks, or ``_UNREAD``: followed by
        itself as long as there is one way on."""
        states = self._states
        while effect >= states:
            if effect < self._own:
                # The call ends, and the frame below reads the rest.
                entries = self._stacks.entries[node]
                if len(entries) > 1:
                    return self._joined({}, [(effect, node)])
                [(frame, node)] = entries
                if frame == DEAD:
                    return REFUSED
                effect = self._rests[(effect - states) * self._frames + self._place[frame]]
                continue
            if effect == self._unknown:
                return _UNREAD
            frames, target = self._alone.get(effect) or self._one_thread(effect)
            if not target:
                return self._joined({}, [(effect, node)])
            effect = target
            for frame in frames:
                node = self._push(frame, node)
        return node * states + effect if effect else REFUSED

    def _of_threads(self, configuration: int, number: int) -> int:
        """The configuration of several threads after a class of tokens, or ``_UNREAD``."""
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
            return self._joined(found, pending)
        return self._threads.number(found) if found else REFUSED

    def _joined(self, found: dict[int, int], pending: list[tuple[int, int]]) -> int:
        """The configuration of threads (``found``) and all that effects make of the sets of
        stacks that they are over: those of the token, and of what is left of it where calls end;
        or ``_UNREAD``."""
        states, place, below = self._states, self._place, self._rests
        # All of the sets of stacks where there are several over a state.
        several: dict[int, list[int]] = {}
        seen = set[tuple[int, int]]()
        for effect, node in pending:
            if effect == self._unknown:
                return _UNREAD
            reached = node
            for code in self._codes.get(effect) or self._laid_out(effect):
                if code < 0:
                    reached = self._push(-code, reached)
                elif code < states:
                    if found.setdefault(code, reached) != reached:
                        several.setdefault(code, [found[code]]).append(reached)
                    reached = node
                else:
                    row = (code - states) * self._frames
                    for frame, lower in self._stacks.entries[node]:
                        effect = below[row + place[frame]] if frame != DEAD else 0
                        if 0 < effect < states and found.setdefault(effect, lower) == lower:
                            continue
                        if effect and (effect, lower) not in seen:
                            seen.add((effect, lower))
                            pending.append((effect, lower))
        for target, nodes in several.items():
            found[target] = self._stacks.joined(nodes)
        return self._threads.number(found) if found else REFUSED

    def _one_thread(self, effect: int) -> tuple[list[int], int]:
        """What an effect pushes and its state if it has one thread and leaves no rest."""
        *frames, target = self._laid_out(effect)
        one = target < self._states and max(frames) < 0
        alone = self._alone[effect] = [-code for code in frames], target if one else 0
        return alone

    def _laid_out(self, effect: int) -> list[int]:
        """The codes of an effect that is known."""
        number = effect - self._own
        codes = [effect]
        if number >= 0:
            codes = list(self._all_codes[self._ends[number] : self._ends[number + 1]])
        self._codes[effect] = codes
        return codes
