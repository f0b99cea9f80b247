"""Calls that hold a set: permutations of n parts need no 2ⁿ states.

    o ::= '{' permute(a, b, c?) '}';

    state 2   calls a, b and c, each with the set that holds that part alone; where a part ends,
              another begins that is not in the set, or, if a and b are, the network goes on in 3

A *set* is the frame of such a call: which of the network's sets it is, and which parts have begun.
``Sets.pops`` is the one place that says what it does where the call on it ends. Between parts
there may be a separator, which is called with the same frame: a bit says that it is the
separator that is read.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ..container.section_tables import SectionTables
from ..errors import ArtifactError

# The most parts of a set.
MOST_PARTS = 256

# The most sets of parts that one text may have left a permutation in: 1 where parts differ, as keys
# do, and up to 2ⁿ where n of them match the same texts.
MOST_WAYS = 1 << 10

# The most parts that are followed for one byte or one mask, counted for each set that they follow:
# those that read what tokens go on with. A mask of all orders of 52 letters takes 17,000 (GPT-2),
# as tokens hold several parts, of 100 keys 100.
MOST_FOLLOWED = 1 << 17

# The most sets of parts that one mask follows inside tokens, beside one where each part begins:
# there are no others where parts can be distinguished.
MOST_BELOW = 1 << 12

# What a part may be.
REQUIRED, REPEATED = 1, 2

# The separator of parts that stand side by side.
NO_SEPARATOR = 0

# In place of a set that is put back.
NONE = 0


class AmbiguousPartsError(ArtifactError):
    """A text is parts of a permutation in more ways than the ``most`` that are followed."""

    def __init__(self, most: int) -> None:
        self.most = most
        super().__init__(
            f"what may come next was not decided within {most:,} sets of parts of a permutation "
            f"that the text so far may have had: its parts cannot be distinguished by what they "
            f"begin with"
        )


# A set in an integer, from 1 on: 1 + (twice the bits of the parts, and 1 within a separator).
Value = int


class UnsettledError(ArtifactError):
    """What may follow parts depends on their order, of which there are too many."""

    def __init__(self) -> None:
        super().__init__(
            "what may follow depends on the order of too many parts of a permutation; compile "
            "with --tokenization any"
        )


@dataclass(frozen=True, eq=False)
class Sets(SectionTables):
    """T sets of a network. Set t has the parts ``offsets[t]`` to ``offsets[t + 1] - 1``.

    ``offsets``: int64 (T + 1,). ``parts``: int32 (P,), the state that each part starts in; equal
    ones of one set stand side by side. ``flags``: uint8 (P,), ``REQUIRED`` and ``REPEATED`` (any
    number of times, between any others). ``separators``: int32 (T,), the state in which what stands
    between parts starts, or ``NO_SEPARATOR``; ``adjoining``: uint8 (T,), 1 if it may be missing.
    ``least``, ``most``: int32 (T,), how many parts there are; 0 and all where one is repeated.
    ``backs``: int32 (T,), the state to go on in after the last. No part and no separator
    matches ε.
    """

    PREFIX = "set."

    offsets: NDArray[np.int64]
    parts: NDArray[np.int32]
    flags: NDArray[np.uint8]
    separators: NDArray[np.int32]
    adjoining: NDArray[np.uint8]
    least: NDArray[np.int32]
    most: NDArray[np.int32]
    backs: NDArray[np.int32]

    @classmethod
    def of(cls, rules: "Sequence[SetRule]") -> "Sets":
        """Of what each set does; ``rules`` is the inverse."""
        return cls(
            np.cumsum([0, *(len(rule.parts) for rule in rules)]).astype(np.int64),
            np.array([part for rule in rules for part in rule.parts], dtype=np.int32),
            np.array([flag for rule in rules for flag in rule.flags], dtype=np.uint8),
            np.array([rule.separator for rule in rules], dtype=np.int32),
            np.array([rule.is_adjoining for rule in rules], dtype=np.uint8),
            np.array([rule.least for rule in rules], dtype=np.int32),
            np.array([rule.most for rule in rules], dtype=np.int32),
            np.array([rule.back for rule in rules], dtype=np.int32),
        )

    def __len__(self) -> int:
        """The number of sets, T."""
        return len(self.backs)

    @cached_property
    def rules(self) -> "list[SetRule]":
        """What each set does."""
        ends = self.offsets.tolist()
        parts, flags = self.parts.tolist(), self.flags.tolist()
        _, _, _, *columns = (getattr(self, field.name).tolist() for field in fields(self))
        return [
            SetRule(parts[first:end], flags[first:end], *other)
            for first, end, *other in zip(ends, ends[1:], *columns, strict=False)
        ]

    @cached_property
    def owners(self) -> NDArray[np.int64]:
        """The set that each part is of, int64 (P,)."""
        return np.repeat(np.arange(len(self)), np.diff(self.offsets))


class SetRule:
    """What one set does, for any parts that have begun; these are bits of an integer."""

    def __init__(
        self,
        parts: list[int],
        flags: list[int],
        separator: int,
        adjoining: int,
        least: int,
        most: int,
        back: int,
    ) -> None:
        self.parts, self.separator, self.least, self.most = parts, separator, least, most
        self.back, self.flags, self.all_parts = back, flags, (1 << len(parts)) - 1
        self.is_adjoining = bool(adjoining) or separator == NO_SEPARATOR
        self.required = sum(1 << i for i, flag in enumerate(flags) if flag & REQUIRED)
        self.width = len(parts) + 2
        # Bits that say nothing are never set: that an optional part that is repeated has begun.
        self._bits = [
            0 if flag & REPEATED and not flag & REQUIRED else 1 << i for i, flag in enumerate(flags)
        ]
        # subtle: equal parts begin in their order, so that which of them have begun is a count.
        self._repeated = [bool(flag & REPEATED) for flag in flags]
        self.repeats = any(self._repeated)
        self._equal = [i > 0 and parts[i] == parts[i - 1] for i in range(len(parts))]

    def begins(self, begun: int) -> Iterator[tuple[int, int]]:
        """The parts that may follow, with the sets that they lead to."""
        missing = self._missing(begun)
        for i, bit in enumerate(self._bits):
            if not missing & bit and not self._repeated[i]:
                continue
            if self._equal[i] and not begun & self._bits[i - 1]:
                continue
            yield i, begun | bit

    def _missing(self, begun: int) -> int:
        """The parts that there is room for, as bits."""
        room = self.most - begun.bit_count()
        required = self.required & ~begun
        if room <= 0:
            return 0
        return required if required.bit_count() >= room else self.all_parts & ~begun

    @property
    def following(self) -> list[int]:
        """The states that may start after a part, but for the one after the last."""
        parts = self.parts if self.is_adjoining else []
        return parts + [self.separator] * (self.separator != NO_SEPARATOR)

    def first(self, part: int) -> int:
        """The set that holds a part alone."""
        return self._bits[part]

    def may_end(self, begun: int) -> bool:
        """Whether parts enough have begun."""
        if self.required & ~begun:
            return False
        return begun.bit_count() >= self.least

    def has_next(self, begun: int) -> bool:
        """Whether a part may follow."""
        # Of equal parts the first that has not begun may.
        return self.repeats or self._missing(begun) != 0

    def pops(self, value: Value) -> list[tuple[int, Value]]:
        """Where a part or a separator ends: the states to go on in, each with the value that the
        set has then, ``NONE`` where it is put back no more."""
        begun, in_separator = divmod(value - 1, 2)
        found = []
        if in_separator or self.is_adjoining:
            for i, following in self.begins(begun):
                found.append((self.parts[i], self.value(following)))
        if not in_separator:
            if self.separator != NO_SEPARATOR and self.has_next(begun):
                found.append((self.separator, value + 1))
            if self.may_end(begun):
                found.append((self.back, NONE))
        return found

    def value(self, begun: int) -> Value:
        """The value of a set whose last part is being read."""
        return 1 + 2 * begun

    def is_full(self, value: Value) -> bool:
        """Whether nothing is left but to go on after the last part."""
        begun, in_separator = divmod(value - 1, 2)
        return not in_separator and not self.has_next(begun)

    def undominated(self, values: Iterable[Value]) -> list[Value]:
        """The values of one set that no other dominates: all that can follow one set can follow
        another on the same side of a separator that has begun no part that the first has not, and
        parts enough, and from which nothing is missing that the first has.

        Raises ``AmbiguousPartsError`` where there are more than ``MOST_WAYS``.
        """
        kept = dict.fromkeys(values)
        if len(kept) < 2:
            return list(kept)
        check_ways(len(kept))
        alike: dict[int, list[int]] = {}
        sides = 2 * self.required | 1
        for value in sorted(kept, key=lambda value: ((value - 1).bit_count(), value)):
            smaller, lacking = alike.setdefault((value - 1) & sides, []), ~(value - 1)
            # A generator takes twice as long.
            for other in smaller:
                if not other & lacking:
                    del kept[value]
                    break
            else:
                if ((value - 1) >> 1).bit_count() >= self.least:
                    smaller.append(value - 1)
        return list(kept)


def check_ways(count: int, most: int = MOST_WAYS) -> None:
    """Raise ``AmbiguousPartsError`` if so many sets are too many in which a text may have left
    a permutation."""
    if count > most:
        raise AmbiguousPartsError(most)
