"""The machine of matchers where items of arrays must differ.

A state is one of another machine, which reads bytes and ``MARK`` after items that are equal to an
earlier one (``equal_items``), and the place in the text. Its mask is the other machine's but for
the tokens that end such an item where the grammar has no mark: few are looked at
(``item_ends``). And but for those after which an item can only become an equal one.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import islice

from ..tokens import tokenset
from ..tokens.interning import InterningMachine
from ..tokens.memo import ENTRY_BYTES, CacheBudget, Numbered, memoised
from ..tokens.tokenset import Words
from .equal_items import (
    BETWEEN,
    MARK,
    SCALAR,
    START,
    STRING,
    EqualItems,
    Events,
    Open,
    Place,
    events_of,
    scalar,
)
from .item_ends import Group, ItemEnds, TokensByItems
from .masks import MetMasks

# Arrays and objects around a place by which tokens are distinguished.
_NESTED = 12

# States that are looked at for one that an item ends in.
_MOST_LOOKED_AT = 400

# Masks that are cached, and rooms ahead.
_MOST_MASKS, _MOST_ROOMS = 1 << 10, 1 << 12

# More than an array has.
_MOST_ITEMS = 1 << 40

_QUOTE = ord('"')

# Characters of two, three and four bytes, which stand for all others.
_BEYOND = ("\u00e9".encode(), "\u4e2d".encode(), "\U0001f600".encode())

_ALL_BEYOND = (1 << 256) - (1 << 128)

# More characters than strings have.
_ENDLESS = 1 << 31

# Characters that tokens have up to the end of an item, and that they begin another one with.
_IN_A_TOKEN = 16

# Whether a number that has these may be one that has less.
_FRACTION = frozenset(b".eE")


class DistinctMasks(InterningMachine):
    """``inner``: the machine that reads marks."""

    def __init__(self, inner: MetMasks, caches: CacheBudget) -> None:
        self.inner = inner
        self._items = EqualItems()
        self._tokens = TokensByItems.of(inner.vocabulary)
        self._states = Numbered[tuple[int, Place]]()
        self._masks: dict[int, Words] = {}
        self._steps: dict[tuple[int, int], int | None] = {}
        self._ways: dict[int, dict[int, int]] = {}
        self._rooms: dict[tuple[int, int, int], tuple[int, list[int]]] = {}
        # By what was begun, what was found that no item so far began with.
        self._differing: dict[tuple[int, bytes], bytes] = {}
        self.begin_interning(caches, inner.lock)
        self.start = self._states.number((inner.start, START))

    @property
    def interned_bytes(self) -> int:
        """About the size of all states, and of what was read."""
        own = 4 * len(self._states) + len(self._steps) + len(self._ways) + self._items.count
        return ENTRY_BYTES * own

    def look(self) -> None:
        """Find out whether it is full."""
        super().look()
        self.is_full |= self.inner.is_full

    @contextmanager
    def reading_again(self) -> Iterator[None]:
        """Inside it a matcher reads the tokens that it has taken."""
        with self.inner.reading_again(), super().reading_again():
            yield

    def is_accepting(self, state: int) -> bool:
        """Whether the text so far is a member."""
        return self.inner.is_accepting(self._states[state][0])

    def take(self, state: int, token_id: int) -> int | None:
        """The state after a token, or None if it may not come next."""
        key = state, token_id
        if key in self._steps:
            return self._steps[key]
        with self.lock:
            target = self._taken(state, token_id)
            if target is not None and self._may_be_dead(state, token_id):
                target = None if self._is_dead(*self._states[target]) else target
            self._steps[key] = target
            self.look()
        return target

    def _taken(self, state: int, token_id: int) -> int | None:
        inner, place = self._states[state]
        octets = self.inner.text_of(token_id)
        if MARK in octets:
            return None
        after, marked = self._items.read(place, octets, self._tokens.events(place[0], token_id))
        if marked is octets:
            target = self.inner.take(inner, token_id)
        else:
            target = self.inner.read(inner, marked)
        return None if target is None else self._states.number((target, after))

    def row(self, state: int) -> Words:
        """The tokens that may come next, uint32 (W,), read-only."""
        mask = self._masks.get(state)
        if mask is None:
            with self.lock:
                if len(self._masks) >= _MOST_MASKS:
                    self._masks.clear()
                mask = self._masks[state] = self._made_row(state)
        return mask

    def _made_row(self, state: int) -> Words:
        inner, place = self._states[state]
        row, size = self.inner.row(inner), self.inner.vocab_size
        refused = [each for each in self._tokens.never if tokenset.contains(row, each)]
        groups: list[Group] = []
        ends = self._tokens.ends(place.lexical, self._kinds(place))
        ending = row & ends.several
        if not self._goes_on_freely(inner, place):
            ending |= row & ends.beginning
        for token_id in tokenset.to_ids(ending).tolist() if ending.any() else ():
            if self.take(state, token_id) is None:
                refused.append(token_id)
        if self._has_items(place):
            for group in self._equal(place, ends):
                _, marked = self._items.read(place, group.probe, group.found)
                if self.inner.read(inner, marked[: marked.index(MARK) + 1]) is None:
                    groups.append(group)
                else:
                    ids = (each for each in group.ids if tokenset.contains(row, each))
                    refused += [each for each in ids if self.take(state, each) is None]
            for token_id in self._unfinished(inner, place):
                if tokenset.contains(row, token_id) and self.take(state, token_id) is None:
                    refused.append(token_id)
        if not refused and not groups:
            return row
        found = row & ~tokenset.from_ids(refused, size)
        for group in groups:
            found &= ~group.words(size)
        found.flags.writeable = False
        return found

    def _kinds(self, place: Place) -> tuple[bool, ...]:
        """Which of the innermost of what is open are arrays."""
        found = islice(self._around(place), _NESTED)
        return tuple(reversed([opened.is_array for opened in found]))

    def _has_items(self, place: Place) -> bool:
        """Whether an array that is open has an item."""
        return any(self._arrays(place))

    # --- tokens that end an item which is equal to another one

    def _equal(self, place: Place, ends: ItemEnds) -> Iterator[Group]:
        """The groups of tokens that do."""
        opened = self._items.open[place.open]
        chosen: list[Group] = []
        if opened.is_array and place.lexical == STRING and b"\\" not in place.begun:
            begun = place.begun[1:]
            if self._items.is_begun(opened.inside, place.begun):
                for text, group in ends.quoted.items():
                    value = self._items.values.find(begun + text)
                    if value is not None and self._items.has(opened.inside, value):
                        chosen.append(group)
                chosen += ends.escaped
        else:
            chosen += ends.groups.values()
        around = self._items.open[opened.below]
        for group in chosen:
            if group.is_end and not (around.is_array and around.inside):
                continue
            if group.scalar is not None and opened.is_array:
                text = place.begun + group.scalar if group.goes_on else group.scalar
                value = self._items.values.find(scalar(text))
                if value is None or not self._items.has(opened.inside, value):
                    continue
            if self._items.read(place, group.probe, group.found)[1] is not group.probe:
                yield group

    # --- tokens after which an item cannot but become equal to another one

    def _may_be_dead(self, state: int, token_id: int) -> bool:
        """Whether it is asked after a token if its last item can still become another one."""
        inner, place = self._states[state]
        found = self._tokens.events(place.lexical, token_id)
        if found.events:
            return found.lexical == SCALAR or not self._goes_on_freely(inner, place)
        return self._has_items(place)

    def _goes_on_freely(self, inner: int, place: Place) -> bool:
        """Whether a string goes on that may always become another one, and so may one that is begun
        after it in the same token."""
        if place.lexical != STRING or not place.begun or b"\\" in place.begun:
            return False
        opened, least = self._items.open[place.open], len(place.begun) + _IN_A_TOKEN
        return opened.is_array and all(
            self._room(each, opened.inside, least) >= _IN_A_TOKEN
            for each in (inner, *self._next_strings(inner))
        )

    @memoised
    def _next_strings(self, inner: int) -> frozenset[int]:
        """The states that another string begins in, if this one ends after a few characters."""
        met = level = {inner}
        for _ in range(_IN_A_TOKEN):
            level = {target for each in level for target in self._characters_to(each)} - met
            met = met | level
        read = (self.inner.read(each, b'","') for each in sorted(met))
        return frozenset(each for each in read if each is not None)

    def _characters_to(self, inner: int) -> set[int]:
        """The states that characters of a string lead to, or parts of them."""
        bits, target = self._most(inner)
        targets = {o: t for o, t in self._leads(inner).items() if o != _QUOTE}
        is_one = not _ALL_BEYOND & ~bits and all(bits >> o & 1 for o in targets if o not in b"\\")
        return {target} if is_one else {*targets.values()}

    def _unfinished(self, inner: int, place: Place) -> Iterator[int]:
        """The tokens that may be so: after them a scalar is what another item begins with."""
        tokens, begun = self._tokens, place.begun
        if place.lexical == BETWEEN:
            quoted = self._behind(inner, _QUOTE) or self.inner.read(inner, b',"')
            for items in self._arrays(place):
                room = -1 if quoted is None else self._room(quoted, items)
                yield from tokens.begun(self._begun(items, b'"', room), 0, room + 2)
                yield from tokens.begun(self._items.others(items), 0, 1)
        elif begun and b"\\" not in begun and self._items.open[place.open].is_array:
            items = self._items.open[place.open].inside
            room = -1 if place.lexical == SCALAR else self._room(inner, items)
            known = tokens.plain if place.lexical == SCALAR else tokens.going_on
            yield from known(self._begun(items, begun, room), len(begun), room + 1 or 1)

    def _begun(self, items: int, begun: bytes, room: int) -> Sequence[bytes]:
        """How the scalars among some items are written that begin so, if any is longer than what
        strings have room for."""
        return self._items.begun(items, begun) if room < self._items.longest(items) else ()

    def _is_dead(self, inner: int, place: Place) -> bool:
        """Whether a scalar cannot but become equal to another item of its array. Where an escape
        was begun, or one item of many has to be looked at too long, it may."""
        opened = self._items.open[place.open]
        if not (opened.is_array and place.begun) or b"\\" in place.begun:
            return False
        if place.lexical == STRING and self._is_free(inner, opened.inside):
            return False
        is_known = self._items.is_begun(opened.inside, place.begun)
        return is_known and not self._may_differ(inner, place)

    def _may_differ(self, inner: int, place: Place) -> bool:
        items = self._items.open[place.open].inside
        known = self._differing.get((inner, place.begun))
        if known is not None and not self._items.is_begun(items, known):
            return True
        pending = [(inner, place)]
        for looked_at, (state, before) in enumerate(pending):
            if looked_at > _MOST_LOOKED_AT:
                return True
            ends: list[tuple[bytes, Events]] = []
            for octet, behind in self._leads(state).items():
                text = bytes((octet,))
                found = events_of(before.lexical, text)
                if found.events:
                    ends.append((text, found))
                elif self._is_new(before, octet, items):
                    if len(self._differing) >= _MOST_ROOMS:
                        self._differing.clear()
                    self._differing[inner, place.begun] = before.begun + text
                    return True
                else:
                    pending.append((behind, self._items.read(before, text, found)[0]))
            for text, found in ends:
                _, marked = self._items.read(before, text, found)
                if marked is text or self.inner.read(state, marked) is not None:
                    return True
        return False

    def _is_new(self, before: Place, octet: int, items: int) -> bool:
        """Whether a scalar is equal to none of some items, however it goes on."""
        text = before.begun + bytes((octet,))
        if b"\\" in text or (before.lexical == SCALAR and _FRACTION & {*text}):
            return False
        return not self._items.is_begun(items, text)

    def _is_free(self, inner: int, items: int) -> bool:
        """Whether more strings go on from here than there are among some items."""
        return self._room(inner, items) >= 0

    def _room(self, inner: int, items: int, least: int = 0) -> int:
        """By how many characters of some items a string may go on and still be free; -1 if it is
        not so now. More than ``least``, and than items have, are as good as endlessly many."""
        octets, most = self._items.octets(items), max(self._items.longest(items), least)
        length, texts = self._ahead(inner, octets, most)
        if length > most:
            return _ENDLESS
        among = self._items.count_strings(items) + 1
        enough = next((count for count, many in enumerate(texts, 1) if many > among), None)
        return -1 if enough is None else length - enough

    def _ahead(self, inner: int, octets: int, most: int) -> tuple[int, list[int]]:
        """By how many characters a string may go on where all that are ``octets`` may come, and how
        many texts its last 1, 2, … characters are, while these are few. More than ``most``
        characters are endlessly many."""
        key = inner, octets, most
        found = self._rooms.get(key)
        if found is None:
            choices = list[int]()
            while len(choices) <= most:
                bits, target = self._most(inner)
                if not bits or octets & ~bits:
                    break
                choices += [bits.bit_count()] * (most + 1 if target == inner else 1)
                inner = target
            texts, many = list[int](), 1
            while len(texts) < len(choices) <= most and many <= _MOST_ITEMS:
                many *= choices[-1 - len(texts)]
                texts.append(many)
            if len(self._rooms) >= _MOST_ROOMS:
                self._rooms.clear()
            found = self._rooms[key] = len(choices), texts
        return found

    @memoised
    def _most(self, inner: int) -> tuple[int, int]:
        """The state that most characters of a string lead to, and their bytes as bits."""
        leads = {o: t for o, t in self._leads(inner).items() if o not in b'"\\'}
        target = max(leads.values(), key=list(leads.values()).count, default=inner)
        bits = sum(1 << octet for octet, behind in leads.items() if behind == target)
        if all(self.inner.read(inner, each) == target for each in _BEYOND):
            bits |= _ALL_BEYOND
        return bits, target

    def _leads(self, inner: int) -> dict[int, int]:
        """Where a state of the inner machine leads by each byte of a text."""
        found = self._ways.get(inner)
        if found is None:
            ways = ((octet, self.inner.read(inner, bytes((octet,)))) for octet in range(MARK))
            found = self._ways[inner] = {o: target for o, target in ways if target is not None}
        return found

    def _behind(self, inner: int, octet: int) -> int | None:
        return self._leads(inner).get(octet)

    def _arrays(self, place: Place) -> Iterator[int]:
        """The items of each array that is open."""
        return (opened.inside for opened in self._around(place) if opened.is_array)

    def _around(self, place: Place) -> Iterator[Open]:
        """What is open, the innermost first."""
        number = place.open
        while number:
            opened = self._items.open[number]
            yield opened
            number = opened.below
