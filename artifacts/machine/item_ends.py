"""Which tokens end an item of an array, by what was read before them.

    in a string of an array   ->   {'"': '"', '",', '"]' …; 'a"': 'a"', 'a",' …; …}

Tokens that end one item are listed by what they have up to its end, as that alone decides which
item it is; the few that may end several are listed beside them.
"""

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..tokens import tokenset
from ..tokens.memo import memoised
from ..tokens.sharing import recent, shared
from ..tokens.tokenset import Words
from ..tokens.vocabulary import TEXT as TEXT_TOKEN
from ..tokens.vocabulary import Vocabulary
from .equal_items import (
    ARRAY,
    BETWEEN,
    END,
    ESCAPE,
    MARK,
    OBJECT,
    SCALAR,
    STRING,
    TEXT,
    Events,
    events_of,
)

# So many of what may be open are distinguished at a time.
_MOST_ENDS = 100

_SPACES = b" \t\n\r"

# What numbers and words have, and what may stand in front of them.
_PLAIN, _BEFORE = b"0123456789.eE+-truefalsn", _SPACES + b",:["

# How tokens begin that may end a number or a word, and that stand between values.
_BEHIND_SCALAR = re.compile(rb"[0-9.eE+a-z-]*(?:[ \t\n\r]+\Z|[ \t\n\r]*[,:\]}])")
_BETWEEN = re.compile(rb'[ \t\n\r,:]*(?:["\]}\[{0-9-]|true|false|null)')


@dataclass(slots=True, eq=False)
class Group:
    """Tokens that end the same item and no other. ``probe``: bytes that end it, ``found`` what they
    do. ``scalar``: what they have of the item, if it is one; else None. ``goes_on``: whether that
    begins before them."""

    probe: bytes
    found: Events
    scalar: bytes | None
    goes_on: bool
    ids: list[int] = field(default_factory=list)
    _words: Words | None = None

    @property
    def is_end(self) -> bool:
        """Whether the item is what is open, which they end."""
        return len(self.found.events) == 1 and self.found.events[0].kind == END

    def words(self, vocab_size: int) -> Words:
        """The tokens."""
        if self._words is None:
            self._words = tokenset.from_ids(self.ids, vocab_size)
        return self._words


@dataclass(frozen=True, slots=True, eq=False)
class ItemEnds:
    """``groups``: by what tokens have up to the end of an item. ``quoted``: those of them that end
    a string, by what they have of it; ``escaped``: those with an escape. ``several``: the tokens
    that may end more than one item, or end one and begin a number or a word; ``beginning``: those
    that end one, and begin a string."""

    groups: dict[bytes, Group]
    quoted: dict[bytes, Group]
    escaped: Sequence[Group]
    several: Words
    beginning: Words


class TokensByItems:
    """What tokens do, ``events``, and which of them end items, each found when first asked for.
    Machines of one vocabulary share it (``of``), in any threads."""

    def __init__(self, *arrays: NDArray[Any]) -> None:
        self._vocabulary = shared(Vocabulary, *arrays)
        self._ends: dict[tuple[int, tuple[bool, ...]], ItemEnds] = {}

    @classmethod
    def of(cls, vocabulary: Vocabulary) -> "TokensByItems":
        """What the last machine of this vocabulary had, if it is not long ago."""
        return recent(cls, vocabulary.data, vocabulary.offsets, vocabulary.kinds)

    @memoised
    def events(self, lexical: int, token_id: int) -> Events:
        """What a token does after what was read last."""
        return events_of(lexical, self._vocabulary.token(token_id))

    @cached_property
    def never(self) -> list[int]:
        """The tokens with the byte that marks equal items."""
        return self._with(self._vocabulary.data == MARK)

    @cached_property
    def _quoted(self) -> list[int]:
        """Tokens with a quote."""
        return self._with(self._vocabulary.data == ord('"'))

    @cached_property
    def _plain(self) -> list[int]:
        """Tokens of what numbers and words have, and of what may stand in front of them."""
        outside = ~np.isin(self._vocabulary.data, np.frombuffer(_PLAIN + _BEFORE, np.uint8))
        return sorted({*self._vocabulary.text_ids().tolist()} - {*self._with(outside)})

    @cached_property
    def _ending(self) -> list[int]:
        """Tokens that may end a number, a word, an array or an object, and others."""
        data = self._vocabulary.data
        is_end = np.isin(data, np.frombuffer(b"]},:", np.uint8))
        is_space = np.isin(data, np.frombuffer(_SPACES, np.uint8))
        last = self._vocabulary.offsets[1:][self._vocabulary.lengths > 0] - 1
        is_end[last] |= is_space[last]
        return self._with(is_end)

    def _may_end(self, lexical: int) -> Iterator[int]:
        """The tokens that may end items after what was read last, and others."""
        if lexical in (STRING, ESCAPE):
            yield from self._quoted
            return
        ending = _BEHIND_SCALAR if lexical == SCALAR else _BETWEEN
        for token_id in sorted({*self._quoted, *self._ending}):
            if ending.match(self._vocabulary.token(token_id)):
                yield token_id

    def _with(self, flags: NDArray[np.bool_]) -> list[int]:
        """The texts with a byte that is flagged."""
        v = self._vocabulary
        owners = np.repeat(np.arange(v.size), v.lengths)[flags]
        found = owners[v.kinds[owners] == TEXT_TOKEN]
        return sorted({*found.tolist()})

    @cached_property
    def begun(self) -> "TokensAlong":
        """The tokens that begin a scalar between values, end none, and leave off in it, by what
        they have of it."""
        known = list[tuple[bytes, int]]()
        for token_id in sorted({*self._quoted, *self._plain}):
            found = self.events(BETWEEN, token_id)
            if found.lexical != BETWEEN and not found.events:
                known.append((self._vocabulary.token(token_id)[found.start :], token_id))
        return TokensAlong(known)

    @cached_property
    def going_on(self) -> "TokensAlong":
        """All texts that are tokens."""
        return self._by_text(self._vocabulary.text_ids().tolist())

    @cached_property
    def plain(self) -> "TokensAlong":
        """Those that may be a part of a number or a word."""
        return self._by_text(self._plain)

    def _by_text(self, ids: list[int]) -> "TokensAlong":
        return TokensAlong(zip(self._vocabulary.tokens(ids), ids, strict=True))

    def ends(self, lexical: int, kinds: tuple[bool, ...]) -> ItemEnds:
        """Which tokens end items, where for each array or object that is open, the innermost last,
        ``kinds`` say whether it is an array."""
        key = lexical, kinds
        found = self._ends.get(key)
        if found is None:
            found = self._found(lexical, kinds)
            if len(self._ends) >= _MOST_ENDS:
                self._ends.clear()
            self._ends[key] = found
        return found

    def _found(self, lexical: int, kinds: tuple[bool, ...]) -> ItemEnds:
        groups: dict[bytes, Group] = {}
        several: list[int] = []
        beginning: list[int] = []
        for token_id in self._may_end(lexical):
            found = self.events(lexical, token_id)
            if not found.events:
                continue
            items = list(_items(found, kinds))
            if items and found.lexical in (STRING, ESCAPE) and found.start >= 0:
                beginning.append(token_id)
            if len(items) > 1 or (items and found.lexical == SCALAR):
                several.append(token_id)
            elif items:
                (place,) = items
                octets = self._vocabulary.token(token_id)
                event = found.events[place]
                # subtle: space ends a number, and else is nothing.
                text = octets[: event.end] + b" "
                group = groups.get(text)
                if group is None:
                    begun, goes_on = max(event.start, 0), event.start < 0
                    scalar = octets[begun : event.end] if event.kind == TEXT else None
                    group = Group(text, events_of(lexical, text), scalar, goes_on)
                    groups[text] = group
                group.ids.append(token_id)
        escaped = [each for text, each in groups.items() if b"\\" in text]
        quoted = {text[:-2]: each for text, each in groups.items() if text[-2:] == b'" '}
        size = self._vocabulary.size
        both = tokenset.from_ids(several, size), tokenset.from_ids(beginning, size)
        return ItemEnds(groups, quoted, escaped, *both)


def _items(found: Events, kinds: tuple[bool, ...]) -> Iterator[int]:
    """Which events end items of arrays; those outside of ``kinds`` are taken for some."""
    opened = list(kinds)
    for place, event in enumerate(found.events):
        if event.kind in (ARRAY, OBJECT):
            opened.append(event.kind == ARRAY)
            continue
        if event.kind == END and opened:
            opened.pop()
        if not opened or opened[-1]:
            yield place


class TokensAlong:
    """Which tokens texts go on with; ``known``: (what a token has of a text, its id)."""

    def __init__(self, known: Iterable[tuple[bytes, int]]) -> None:
        self._known: dict[bytes, list[int]] = {}
        for text, token_id in known:
            self._known.setdefault(text, []).append(token_id)
        self._by_length = sorted(self._known, key=len)

    def __call__(self, texts: Sequence[bytes], start: int, least: int) -> Iterator[int]:
        """The tokens of at least so many bytes that some texts, which ascend, have from ``start``
        on, each once."""
        heads, end, low = self._beginning(least), start + least, 0
        while low < len(texts):
            head = texts[low][:end]
            longest = heads.get(head[start:], 0)
            low += 1
            if longest:
                high = bisect_left(texts, head + bytes((MARK,)), low)
                yield from self._known.get(head[start:], ())
                if longest > least:
                    yield from self(texts[low - 1 : high], start, least + 1)
                low = high

    @memoised
    def _beginning(self, least: int) -> dict[bytes, int]:
        """How long the longest token is, by the first so many bytes."""
        first = bisect_left(self._by_length, least, key=len)
        return {text[:least]: len(text) for text in self._by_length[first:]}
