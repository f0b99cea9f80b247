"""Effects of strings on the threads of a network, as numbers: equal effects are one number.

An effect says what a string makes of a thread in a state (``constrain.artifacts.token_effects``).
Here effects are put together: those of two ways to read a string, and those of a string in a
state that other frames were pushed on the way to.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Numbers: TypeAlias = NDArray[np.uint16]

# A state and the frames that are pushed, the lowest first; all threads of an effect and its rests.
Thread: TypeAlias = tuple[int, tuple[int, ...]]
Effect: TypeAlias = tuple[tuple[Thread, ...], tuple[int, ...]]

# The number of all effects that are not known; beside it there is room for so many.
UNKNOWN = (1 << 16) - 1

# Pairs that are put together in each way; more are not known.
_PAIRS = 1 << 18

# Threads, frames and rests of an effect; one with more is read when it is met.
_PARTS = 64


class Effects:
    """``known``: by number; 0 is none, and a state's number one thread that is in it.

    ``rests``: for each rest what it does in the frames, by place in ``frames``; an effect that has
    one beyond the first ``most_rests`` is unknown.
    """

    def __init__(self, states: int, frames: Sequence[int], most_rests: int) -> None:
        self._states, self._most_rests = states, most_rests
        self.frames = list(frames)
        self.known: list[Effect] = [((), ())]
        self.known.extend((((state, ()),), ()) for state in range(1, states))
        self.rests: list[list[int]] = []
        self._place = {frame: place for place, frame in enumerate(self.frames)}
        self._numbers = {effect: number for number, effect in enumerate(self.known)}
        self._united: dict[int, int] = {}
        self._lifted: dict[int, int] = {}
        self._resting: dict[int, int] = {}
        self._pushed: list[tuple[int, ...]] = []
        self._push_numbers: dict[tuple[int, ...], int] = {}

    def pushes(self, frames: tuple[int, ...]) -> int:
        """A number for frames that are pushed."""
        number = self._push_numbers.setdefault(frames, len(self._pushed))
        if number == len(self._pushed):
            self._pushed.append(frames)
        return number

    def union(self, left: Numbers, right: Numbers) -> Numbers:
        """The effects of both, place by place."""
        return _each(self._union, self._united, left, right)

    def behind(self, pushes: NDArray[np.int64], effects: Numbers) -> Numbers:
        """What effects are once frames (``pushes``) were pushed: where a call ends, they read
        the rest."""
        return _each(self._behind, self._lifted, pushes, effects)

    def with_rest(self, effects: Numbers, rests: NDArray[np.int64]) -> Numbers:
        """Effects beside which the call may end at once, place by place."""
        return _each(self._with_rest, self._resting, rests, effects)

    def codes(self, number: int, rests: Mapping[int, int]) -> list[int]:
        """An effect as in ``TokenEffects``; ``rests``: the numbers there."""
        threads, left = self.known[number]
        codes = []
        for state, frames in threads:
            codes += [*(-frame for frame in frames), state]
        return codes + [self._states + rests[rest] for rest in left]

    def _number(self, threads: set[Thread], rests: set[int]) -> int:
        effect = tuple(sorted(threads)), tuple(sorted(rests))
        number = self._numbers.get(effect)
        if number is None:
            parts = len(rests) + sum(1 + len(frames) for _, frames in threads)
            if parts > _PARTS or len(self.known) == UNKNOWN:
                return UNKNOWN
            number = self._numbers[effect] = len(self.known)
            self.known.append(effect)
        return number

    def _union(self, left: int, right: int) -> int:
        if UNKNOWN in (left, right):
            return UNKNOWN
        (threads, rests), (others, more) = self.known[left], self.known[right]
        return self._number({*threads, *others}, {*rests, *more})

    def _with_rest(self, rest: int, effect: int) -> int:
        if effect == UNKNOWN or rest >= self._most_rests:
            return UNKNOWN
        threads, rests = self.known[effect]
        return self._number(set(threads), {*rests, rest})

    def _behind(self, pushes: int, effect: int) -> int:
        frames = self._pushed[pushes]
        found: set[Thread] = set()
        pending = [(effect, len(frames))]
        seen = set(pending)
        outside: set[int] = set()
        for number, height in pending:
            if number == UNKNOWN:
                return UNKNOWN
            threads, rests = self.known[number]
            found.update((state, frames[:height] + pushed) for state, pushed in threads)
            if height == 0:
                outside.update(rests)
                continue
            top = self._place[frames[height - 1]]
            for rest in rests:
                below = self.rests[rest][top], height - 1
                if below[0] and below not in seen:
                    seen.add(below)
                    pending.append(below)
        return self._number(found, outside)


def _each(
    work: Callable[[int, int], int],
    memo: dict[int, int],
    left: NDArray[np.integer],
    right: NDArray[np.integer],
) -> Numbers:
    """``work`` on pairs, once for each different one."""
    pairs, places = np.unique(left.astype(np.int64) << 32 | right, return_inverse=True)
    results = []
    for pair in pairs.tolist():
        result = memo.get(pair)
        if result is None and len(memo) == _PAIRS:
            result = UNKNOWN
        elif result is None:
            result = memo[pair] = work(pair >> 32, pair & 0xFFFFFFFF)
        results.append(result)
    return np.array(results, dtype=np.uint16)[places]
