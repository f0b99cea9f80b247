"""The nearest repair of a text that is no member: the smallest edit near the place where it stops.

    2024-13-01   ->  write "2" instead of "3"     2024-12-01
    [1 2]        ->  write "," here               [1 ,2]

A *change* inserts a character, removes one, replaces one or exchanges two neighbours. What must
follow an inserted character, as ``rue`` follows ``t``, belongs to its change. The rest of a word
removed as a whole counts as two changes, and all the rest of the text as three. The search tries
all texts of one change near the place, then those of one more from the ones that are read furthest,
and so on, until some are read on: to the end of the text, or for ``READ_ON`` bytes after the
change and beyond the place. A repaired text that ends and is no member counts one more, since
something is missing still; and one more counts where all changes end more than two bytes before the
place. A text that only ends too early is only added to, letters in the other case are one change
together where they suffice, and what changes more than a third of the text is no repair. Of several
with as few changes the best one is a member; else it is read further; its changes and the place lie
in a shorter part of the text, counting what is written; they remove less and write less, not
counting other quotes and another case; they insert rather than remove and remove rather than
replace; and what replaces a character is the nearest to it in Unicode.
"""

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from .machines import TextMachine

# A repaired text is read on for so many bytes, and by those that are compared for so many.
READ_ON, _COMPARED = 16, 2_000

# Bytes before the place at which a first change is tried, and after those before the next place.
_BEFORE, _BEFORE_NEXT = 24, 6

# Texts from which the next change is tried, and changes at most.
_BEAM, _MOST_CHANGES = 20, 4

# What follows of necessity is written to its end.
_LONGEST_FORCED = 200

# Which bytes are tried where many may stand: what closes, what separates, and some of each kind.
_USUAL = b"\"'}])>,;:0a=-. \n/1A_<{[(+*|&#!?\t"
_MOST_TRIED = 18

# What ends a text soon: what closes, and then the shortest of values; inside quotes their end.
_ENDING = (b"}])>;0:=,", b"\"'}])>;0:=,")
_SPACE = b" \t\r\n"

_QUOTES = {b"'", b'"', b"`"}

# A removal of a whole word or of all the rest counts as so many changes.
_OF_A_WORD, _OF_THE_REST = 2, 3


@dataclass(frozen=True, slots=True)
class Edit:
    """Bytes ``start`` to ``end`` of the text become ``text``: an insertion if they are none, a
    removal if that is empty."""

    start: int
    end: int
    text: bytes


@dataclass(frozen=True, slots=True)
class Repair:
    """``edits``: from the first to the last, apart from each other. ``changes``: how many they
    count. ``is_member``: the result is one; if not, more text could make it one, or it is read
    on to the byte ``read`` of the result at least. ``fragment``: the part of the result around the
    edits, and ``before`` and ``behind``, at most 24 bytes each, whole characters, what stands
    beside it.
    """

    edits: tuple[Edit, ...]
    changes: int
    is_member: bool
    read: int
    fragment: bytes
    before: bytes
    behind: bytes

    def applied(self, text: bytes) -> bytes:
        """The whole result."""
        return _applied(self.edits, text, 0, len(text))


@dataclass(frozen=True, slots=True)
class _Change(Edit):
    cost: int


@dataclass(frozen=True, slots=True)
class _Tried:
    """A text that was changed: ``at``: the byte of the original after the last change, and the
    ``state`` there."""

    changes: tuple[_Change, ...]
    at: int
    state: int
    cost: int


class _SpentError(Exception):
    """No more steps are made."""


class _Counted(TextMachine):
    """A machine whose steps are cached and counted."""

    def __init__(self, machine: TextMachine) -> None:
        self._machine, self._left = machine, machine.most_steps
        self._steps: dict[tuple[int, int], int | None] = {}
        self._next: dict[int, list[int]] = {}

    def step(self, state: int, octet: int) -> int | None:
        """The machine's."""
        key = state, octet
        if key in self._steps:
            return self._steps[key]
        self._spend(1)
        found = self._steps[key] = self._machine.step(state, octet)
        return found

    def may_end(self, state: int) -> bool:
        """The machine's."""
        return self._machine.may_end(state)

    def next_bytes(self, state: int) -> list[int]:
        """The machine's."""
        found = self._next.get(state)
        if found is None:
            self._spend(8)
            found = self._next[state] = self._machine.next_bytes(state)
        return found

    def _spend(self, steps: int) -> None:
        self._left -= steps
        if self._left < 0:
            raise _SpentError


def nearest_repair(machine: TextMachine, text: bytes) -> Repair | None:
    """The repair of a text; None if it is a member or the search found none. It takes at most
    ``machine.most_steps`` steps besides reading the text."""
    return _Search(machine, text).found


class _Search:
    def __init__(self, machine: TextMachine, text: bytes) -> None:
        self._text = text
        self._last: deque[tuple[int, int]] = deque([(0, machine.start)], _BEFORE + 1)
        state, self._place = machine.start, len(text)
        for offset, octet in enumerate(text):
            reached = machine.step(state, octet)
            if reached is None:
                self._place = offset
                break
            state = reached
            self._last.append((offset + 1, state))
        self._is_incomplete = self._place == len(text)
        if self._is_incomplete:
            self._last = deque([(self._place, state)])
        self._is_member = self._is_incomplete and machine.may_end(state)
        self._machine = _Counted(machine)

    @cached_property
    def found(self) -> Repair | None:
        """The best repair."""
        if self._is_member:
            return None
        begin, state = next(
            (row for row in self._last if not self._is_inside_character(row[0])), self._last[0]
        )
        # By cost, those from which a further change is tried, and those that are read on.
        levels: dict[int, list[_Tried]] = {0: [_Tried((), begin, state, 0)]}
        goals: dict[int, list[_Tried]] = {}
        for each in self._completed(*self._last[-1]) if self._is_incomplete else ():
            goals.setdefault(each.cost, []).append(each)
        seen: set[tuple[int, int]] = set()
        try:
            if other_case := self._in_other_case():
                return self._repair(other_case)
            for cost in range(_MOST_CHANGES + 1):
                level, others = self._best_of(levels.pop(cost, []), seen)
                level += [more for each in [*level, *others] for more in self._forced(each)]
                for each in level:
                    missing = self._missing(each)
                    if missing is not None:
                        goals.setdefault(cost + missing, []).append(each)
                if min(goals, default=cost + 1) <= cost:
                    break
                for each in [*others, *sorted(level, key=self._by_itself)[:_BEAM]]:
                    for other in self._changed(each):
                        levels.setdefault(other.cost, []).append(other)
        except _SpentError:
            pass
        best = min(goals[min(goals)], key=self._rank) if goals else None
        return None if best is None or self._is_too_much(best) else self._repair(best)

    def _in_other_case(self) -> _Tried | None:
        """The text with letters in the other case from the place on, where that reads it all."""
        at, state = self._last[-1]
        changes = list[_Change]()
        for place in range(at, len(self._text)):
            octet = self._text[place : place + 1]
            reached = self._read(state, octet)
            if reached is None:
                changes.append(_Change(place, place + 1, octet.swapcase(), 1))
                reached = self._read(state, octet.swapcase())
            if reached is None:
                return None
            state = reached
        return _Tried(tuple(changes), len(self._text), state, 1) if changes else None

    def _is_too_much(self, tried: _Tried) -> bool:
        """Whether more than a third of a text, and more than a character, or all of it becomes
        another, white space aside."""
        text, parts = self._text, [c for c in tried.changes if not self._is_same(c)]
        changed = sum(max(len(text[c.start : c.end].strip()), len(c.text.strip())) for c in parts)
        most = min(max(1, len(text) // 3), len(text) - 1)
        return not self._is_incomplete and changed > most

    def _ahead(self, tried: _Tried) -> bytes:
        return self._text[tried.at : max(tried.at, self._place) + READ_ON]

    def _missing(self, tried: _Tried) -> int | None:
        """How many changes more a text counts that is read on; None of others."""
        if not tried.changes:
            return None
        count, state = self._machine.follow(tried.state, self._ahead(tried))
        reach = tried.at + count
        if count < len(self._ahead(tried)):
            return None
        may_end = reach == len(self._text) and self._machine.may_end(state)
        if self._is_incomplete:
            return 0 if may_end else None
        if reach <= self._place:
            return None
        # What stands before the place and not at it was fine where it stood.
        is_apart = tried.changes[-1].end < self._place - 2
        return is_apart + int(reach == len(self._text) and not may_end)

    def _best_of(
        self, level: list[_Tried], seen: set[tuple[int, int]]
    ) -> tuple[list[_Tried], list[_Tried]]:
        """Those that are read on, and of the others those that are read furthest; of one place and
        state the best."""
        goals, ranked = list[_Tried](), list[tuple[int, int, _Tried]]()
        for each in sorted(level, key=self._by_itself) if len(level) > 1 else level:
            if (each.at, each.state) in seen:
                continue
            seen.add((each.at, each.state))
            count, _ = self._machine.follow(each.state, self._ahead(each))
            if self._missing(each) is not None:
                goals.append(each)
            else:
                ranked.append((-each.at - count, len(ranked), each))
        ranked.sort(key=lambda row: row[:2])
        return goals, [row[-1] for row in ranked[:_BEAM]]

    def _by_itself(self, tried: _Tried) -> tuple[object, ...]:
        """Which of two texts has the better changes, whatever becomes of them."""
        first, last = tried.changes[0].start, tried.changes[-1].end
        written = sum(len(each.text) for each in tried.changes if not self._is_same(each))
        return (
            max(last, self._place) - min(first, self._place) + written,
            sum(each.end - each.start for each in tried.changes if not self._is_same(each)),
            written,
            sum(abs(each.start - self._place) for each in tried.changes),
            # Insertions, removals, replacements.
            [2 * (each.end > each.start) if each.text else 1 for each in tried.changes],
            sum(self._how_far(change) for change in tried.changes),
            [[_order(octet) for octet in change.text] for change in tried.changes],
        )

    def _completed(self, at: int, state: int) -> Iterator[_Tried]:
        """A text that only ends too early, with what ends it soon: by each order of what is
        written where a choice is."""
        machine = self._machine
        for order in _ENDING:
            written, reached, cost = bytearray(), state, 0
            while len(written) < _LONGEST_FORCED and not machine.may_end(reached):
                octets = machine.next_bytes(reached)
                octet = min(octets, key=lambda o: (order.find(o) % 256, o in _SPACE, o))
                cost += len(octets) > 1 and not 0x80 <= octet < 0xC0
                written.append(octet)
                reached = self._reached(reached, octet)
            if machine.may_end(reached):
                change = _Change(at, at, bytes(written), max(1, cost))
                yield _Tried((change,), at, reached, change.cost)

    # The changes of a text.

    def _changed(self, tried: _Tried) -> Iterator[_Tried]:
        """Texts of one change more, at the places after the last one up to where it stops."""
        states = [(tried.at, tried.state)]
        for at in range(tried.at, min(len(self._text), tried.at + _BEFORE + READ_ON)):
            reached = self._machine.step(states[-1][1], self._text[at])
            if reached is None:
                break
            states.append((at + 1, reached))
        near = states[-_BEFORE_NEXT:] if tried.changes else states
        for at, state in reversed(near):
            if self._is_inside_character(at):
                continue
            for change, reached in self._changes(at, state):
                cost = tried.cost + change.cost
                yield _Tried((*tried.changes, change), change.end, reached, cost)

    def _changes(self, at: int, state: int) -> Iterator[tuple[_Change, int]]:
        text, end = self._text, self._behind(at)
        character = text[at:end]
        if character:
            yield _Change(at, end, b"", 1), state
            word = self._end_of_word(at)
            if word > end:
                yield _Change(at, word, b"", _OF_A_WORD), state
            if word < len(text) and self._machine.may_end(state):
                yield _Change(at, len(text), b"", _OF_THE_REST), state
            two = self._behind(end)
            exchanged = text[end:two] + character
            reached = self._read(state, exchanged) if exchanged != text[at:two] else None
            if two > end and reached is not None:
                yield _Change(at, two, exchanged, 1), reached
        # What is missing at the end is no repair of what is wrong before.
        is_end = at == len(text) and not self._is_incomplete
        for inserted, after in () if is_end else self._inserted(state, character):
            yield _Change(at, at, inserted, 1), after
            if character and inserted != character:
                yield _Change(at, end, inserted, 1), after

    def _read(self, state: int, text: bytes) -> int | None:
        count, reached = self._machine.follow(state, text)
        return reached if count == len(text) else None

    def _inserted(self, state: int, near: bytes) -> Iterator[tuple[bytes, int]]:
        """What may be written: a character, and what must follow it."""
        octets = self._machine.next_bytes(state)
        for octet in _tried_of(octets, near[:1]):
            reached = self._machine.step(state, octet)
            if reached is None:
                continue
            character = bytearray((octet,))
            while octet >= 0x80 and len(character) < 4 and self._is_inside(reached):
                octet = self._machine.next_bytes(reached)[0]
                character.append(octet)
                reached = self._reached(reached, octet)
            yield bytes(character), reached

    def _forced(self, tried: _Tried) -> Iterator[_Tried]:
        """The same with what must follow the character that was written last."""
        if not tried.changes or not tried.changes[-1].text:
            return
        written, state = bytearray(), tried.state
        while len(written) < _LONGEST_FORCED and not self._machine.may_end(state):
            following = self._machine.next_bytes(state)
            if len(following) != 1 and not self._is_inside(state):
                break
            written.append(following[0])
            state = self._reached(state, following[0])
        if written:
            *others, last = tried.changes
            last = replace(last, text=last.text + bytes(written))
            yield replace(tried, changes=(*others, last), state=state)

    def _is_inside(self, state: int) -> bool:
        """Whether a character has begun."""
        following = self._machine.next_bytes(state)
        return bool(following) and following[0] >= 0x80 and following[-1] < 0xC0

    def _reached(self, state: int, octet: int) -> int:
        reached = self._machine.step(state, octet)
        assert reached is not None
        return reached

    def _is_inside_character(self, at: int) -> bool:
        """Whether a byte goes on with a character; one that no other byte of it stands before does
        not."""
        text = self._text
        return 0 < at < len(text) and 0x80 <= text[at] < 0xC0 and text[at - 1] >= 0x80

    def _behind(self, at: int) -> int:
        """Where the character at a byte ends."""
        end = min(at + 1, len(self._text))
        while end < at + 4 and self._is_inside_character(end):
            end += 1
        return end

    def _end_of_word(self, at: int) -> int:
        end = at
        while end < len(self._text) and end - at < 64 and _is_word(self._text[end]):
            end += 1
        return end

    # The best of several.

    def _rank(self, tried: _Tried) -> tuple[object, ...]:
        reach, is_member = self._read_on(tried)
        return not is_member, -reach, *self._by_itself(tried)

    def _read_on(self, tried: _Tried) -> tuple[int, bool]:
        """Up to which byte of the original a text is read, and whether it is a member."""
        ahead = self._text[tried.at : tried.at + _COMPARED]
        count, state = self._machine.follow(tried.state, ahead)
        reach = tried.at + count
        return reach, reach == len(self._text) and self._machine.may_end(state)

    def _is_same(self, change: _Change) -> bool:
        """Whether a quote becomes another, or a letter another case."""
        before = self._text[change.start : change.end]
        return before.lower() == change.text.lower() or {before, change.text} <= _QUOTES

    def _how_far(self, change: _Change) -> int:
        """How far what was written in the place of characters is from these."""
        before = self._text[change.start : change.end]
        return abs(_code(before) - _code(change.text)) if before and change.text else 0

    def _repair(self, tried: _Tried) -> Repair:
        text = self._text
        edits = _joined(tried.changes)
        start, end = edits[0].start, edits[-1].end
        fragment = _applied(edits, text, start, end)
        reach, is_member = self._read_on(tried)
        return Repair(
            edits=edits,
            changes=tried.cost,
            is_member=is_member,
            read=reach + len(fragment) - (end - start),
            fragment=fragment,
            before=_whole(text[max(0, start - _BEFORE) : start], last=False),
            behind=_whole(text[end : end + _BEFORE], last=True),
        )


def _applied(edits: Sequence[Edit], text: bytes, at: int, end: int) -> bytes:
    """What stands from one byte to another after the edits there."""
    found = bytearray()
    for edit in edits:
        found += text[at : edit.start] + edit.text
        at = edit.end
    return bytes(found + text[at:end])


def _joined(changes: Sequence[_Change]) -> tuple[Edit, ...]:
    """Changes side by side as one."""
    found: list[Edit] = []
    for change in changes:
        if found and found[-1].end == change.start:
            last = found.pop()
            found.append(Edit(last.start, change.end, last.text + change.text))
        else:
            found.append(Edit(change.start, change.end, change.text))
    return tuple(found)


def _tried_of(octets: Sequence[int], near: bytes) -> list[int]:
    """The bytes that are tried of those that may stand there: few of them all, of many the nearest
    to what stands there, and the usual ones."""
    if len(octets) <= _MOST_TRIED:
        return sorted(octets, key=_order)
    some = set(octets)
    found = [octet for octet in _USUAL if octet in some]
    if near:
        ascii_ = [octet for octet in octets if octet < 0x80]
        found += sorted(ascii_, key=lambda octet: (abs(octet - near[0]), octet))[:2]
        swapped = ord(near.swapcase())
        found += [swapped] if swapped in some else []
    rest = [octet for octet in octets if octet not in found]
    return [*dict.fromkeys([*found, *rest])][:_MOST_TRIED]


def _order(octet: int) -> int:
    place = _USUAL.find(octet)
    return place if place >= 0 else len(_USUAL) + octet


def _is_word(octet: int) -> bool:
    return octet >= 0x80 or chr(octet).isalnum() or octet == 0x5F


def _code(text: bytes) -> int:
    return ord(text.decode("utf-8", "replace")[:1] or "\0")


def _whole(text: bytes, *, last: bool) -> bytes:
    """Without a part of a character at the end that was cut."""
    try:
        text.decode("utf-8")
    except UnicodeDecodeError as error:
        if error.end == len(text) if last else error.start == 0:
            return text.decode("utf-8", "ignore").encode("utf-8")
    return text
