"""Repetitions whose copies are written one by one, as texts come to them.

    [a-z]{2,9}    0 -[a-z]-> 1 -[a-z]-> 2 ⇒ 3 ⇒ … ⇒ 9      i has read i items, ⇒ may end before

No token is long enough to tell position 2 from one that ends never too late, as long as its texts
are shorter than what is left: seven items. So each copy has a twin that repeats without an end of
its own, before the least number of items without a way out, and walks of the token trie go on in
the twin where no text below a node is longer than the *room*: items up to the next bound, each of
at least a character.
"""

from collections.abc import Sequence
from typing import NamedTuple
from weakref import proxy

from ..tokens.memo import memoised
from .positions import Positions, Runs

# In place of how many items were read: fewer than the least, or enough and any number more.
BEFORE, ENOUGH = -1, -2

# Items of more places are called.
MOST_PLACES = 64

# Bytes that begin no character, and what is no byte.
_CONTINUED, _LEADING, _OCTETS = 128, 192, 256

# Copies stand for all that are further from their bounds than so many items; so many are written
# before them, with which a text that begins once more is not confused.
_FEW_LEFT, _FIRST = 2, 3


class Item(NamedTuple):
    """What is repeated: an automaton of its own, which starts in 1, ends in 0 and does not match ε.

    ``arcs`` and ``epsilon`` as those of ``Positions``. ``reads_characters``: it begins with the
    first byte of a character; another one may be any byte.
    """

    arcs: Sequence[Runs]
    epsilon: Sequence[Sequence[int]]
    reads_characters: bool

    @classmethod
    def of(cls, arcs: Sequence[Runs], epsilon: Sequence[Sequence[int]]) -> "Item":
        """An automaton that is an item."""
        begun = [1]
        for place in begun:
            begun += [target for target in epsilon[place] if target not in begun]
        is_text = all(
            high < _CONTINUED or _LEADING <= low <= high < _OCTETS
            for place in begun
            for low, high in zip(arcs[place][::3], arcs[place][1::3], strict=True)
        )
        return cls(arcs, epsilon, is_text)

    def characters(self, items: int) -> int:
        """Texts of so many characters, or bytes of them, are no more than so many items."""
        return items if self.reads_characters else max(items - 3, 0) // 4


class Times(NamedTuple):
    """``least`` to ``most`` of ``item``, None for any number, and what stands after them."""

    item: Item
    least: int
    most: int | None
    end: int


class Repetitions:
    """Writes the copies of repetitions among ``positions``."""

    def __init__(self, positions: Positions) -> None:
        self._positions: Positions = proxy(positions)
        self._times: list[Times] = []
        # By repetition and items that were read the position in front of the next, and back; and
        # those inside copies with their places in the item.
        self._fronts: dict[tuple[int, int], int] = {}
        self._read: dict[int, tuple[int, int]] = {}
        self._inside: dict[int, tuple[int, int, int]] = {}

    @property
    def is_empty(self) -> bool:
        """Whether nothing was written yet."""
        return not self._inside

    def begin(self, times: Times) -> int:
        """The position in front of a repetition."""
        self._times.append(times)
        return self._front(len(self._times) - 1, 0)

    def lay(self, state: int) -> None:
        """Write the copy that begins in a position, and the way out where there is one."""
        number, read = self._read[state]
        _, least, most, end = self._times[number]
        if read == ENOUGH or read >= least:
            self._positions.add_epsilon(state, end)
        if read != most:
            self._positions.add_epsilon(state, self._copied(number, read) + 1)

    def times_at(self, position: int) -> Times | None:
        """The repetition in front of which a position stands, if there is one."""
        number, read = self._read.get(position, (0, BEFORE))
        return None if read else self._times[number]

    def copy_at(self, position: int) -> tuple[int, int] | None:
        """The repetition whose copy a position is in, and how many items were read before it; None
        outside, and where these do not matter."""
        number, read, _ = self._inside.get(position, (0, ENOUGH, 0))
        return (number, read) if read >= 0 else None

    def alike(self, number: int, read: int) -> int:
        """How many items were read in front of the copy that stands for one: the same goes on in
        both, as bounds are far."""
        _, least, most, _ = self._times[number]
        if read < least:
            return _FIRST if read >= _FIRST and least - read > _FEW_LEFT else read
        assert most is not None
        first = least + _FIRST
        return first if read >= first and most - read > _FEW_LEFT else read

    def moved(self, position: int, items: int) -> int:
        """The same place in the copy after so many items more."""
        number, read, place = self._inside[position]
        return self._copied(number, read + items) + place

    def room(self, number: int, read: int) -> int:
        """How many characters may be read in a copy until it matters that items are counted. A
        character that is being read is one of them."""
        item, least, most, _ = self._times[number]
        return item.characters(least - read if most is None or read < least else most - read)

    def reads_characters(self, number: int) -> bool:
        """Whether the items of a repetition begin with characters."""
        return self._times[number].item.reads_characters

    def behind_least(self, number: int, read: int) -> int | None:
        """The position where as many items were read as there must be, if that comes after a
        copy."""
        least = self._times[number].least
        return self._front(number, least) if read < least else None

    def name(self, position: int) -> tuple[int, int, int] | None:
        """The repetition whose copy a position is in, how many items were read before it, and its
        place in the item; None outside."""
        return self._inside.get(position)

    def twin(self, position: int) -> int:
        """The position that reads the same as long as there is room."""
        number, read, place = self._inside[position]
        before = read < self._times[number].least
        return self._copied(number, BEFORE if before else ENOUGH) + place

    def endless(self, position: int) -> int:
        """The front of a repetition without its bounds, of a position in front of one of its
        copies; others themselves."""
        found = self._read.get(position)
        return position if found is None else self._front(found[0], ENOUGH)

    def _front(self, number: int, read: int) -> int:
        times = self._times[number]
        if times.most is None and read >= times.least:
            read = ENOUGH
        key = number, read
        if key not in self._fronts:
            state = self._fronts[key] = self._positions.new_state()
            self._read[state] = key
            self._positions.unlaid[state] = self
        return self._fronts[key]

    @memoised
    def _copied(self, number: int, read: int) -> int:
        """A copy of an item: its place p is the position that many after this one."""
        item = self._times[number].item
        behind = self._front(number, read if read < 0 else read + 1)
        base = len(self._positions.arcs) - 1
        moved = [behind, *range(base + 1, base + len(item.arcs))]
        for place, runs in enumerate(item.arcs[1:], 1):
            runs = runs[:]
            runs[2::3] = [moved[target] for target in runs[2::3]]
            self._positions.arcs.append(runs)
            self._positions.epsilon.append([moved[target] for target in item.epsilon[place]])
            self._inside[base + place] = number, read, place
        return base
