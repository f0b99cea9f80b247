"""Classes of characters by what a normalization form, or lower case, does to texts of them.

    normalizers -> text_normalizers      the forms and lower case among them, neighbours as one
                -> character_properties  classes, combining classes, what composes with what

A text is *in normal form* if the tokenizer's normalizers leave it as it is; no other text has a
canonical tokenization. By Unicode Standard Annex 15 a text is in a normalization form iff

    each character by itself is,
    marks (characters of a combining class that is not 0) after each other have classes that do
    not fall, and
    no character composes with the starter before it. Between a starter and a mark that compose
    lies no mark of the same class, between two starters that do lies nothing.

The decomposition of a starter counts, not the starter: é with a dot below is the character ẹ with
an acute accent. So of each starter it is known which characters change it. A character is *inert*
if it leaves any text before it in normal form (ICU's ``NFC_Inert`` and the like, which also ask
that nothing after composes with it).

``readable_characters`` says which characters an automaton over the bytes of UTF-8 reads anywhere.
States that read the same in d continuation bytes are of one kind; the kinds of d bytes are the
different rows of kinds of d - 1 bytes, so that automata of many copies cost little more than one.
"""

import unicodedata
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from operator import ne

import numpy as np
from numpy.typing import NDArray

from constrain.artifacts.network.tables import NetworkTables
from constrain.artifacts.tokens.distinct import numbered_rows

from ..automata.dfa import DEAD, Dfa
from ..tokenizers.definition import (
    BertNormalizer,
    Form,
    Nmt,
    Normalize,
    Normalizer,
    Prepend,
    Replace,
    Strip,
    StripAccents,
)
from ..tokenizers.encoding.character_maps import images
from ..tokenizers.encoding.patterns import combining_classes, each_normalized, is_normalized
from .character_classes import CODE_POINTS

# The class of what is no character, or is changed wherever it stands.
CHANGED = 0

# Hangul's jamo: those that compose are of these ranges, by rule and not by table.
_LEADS, _VOWELS, _TAILS = range(0x1100, 0x1113), range(0x1161, 0x1176), range(0x11A8, 0x11C3)
_SYLLABLES = range(0xAC00, 0xD7A4)

# Nothing beyond is ever changed: planes of ideographs without a composition, private use.
_ASSIGNED = 0x30000
_FIRST_SURROGATE, _LAST_SURROGATE = 0xD800, 0xDFFF


@dataclass(frozen=True, eq=False)
class CharacterProperties:
    """``classes``: uint16 (0x110000,), the class of each code point. For each of K classes,
    int32 (K,): ``combining``, the combining class; ``second``, its place among the characters
    that compose with one before, -1 for others; ``row``, for starters the row of ``changes``.
    ``changes``: bool (R, M), which of those characters change a starter; row 0 none.
    ``seconds``: int32 (M,), their combining classes.
    """

    classes: NDArray[np.uint16]
    combining: NDArray[np.int32]
    second: NDArray[np.int32]
    row: NDArray[np.int32]
    changes: NDArray[np.bool_]
    seconds: NDArray[np.int32]

    @property
    def is_inert(self) -> NDArray[np.bool_]:
        """Classes of characters that are in normal form after any text, bool (K,)."""
        found: NDArray[np.bool_] = (self.combining == 0) & (self.second < 0)
        found[CHANGED] = False
        return found

    def classes_of(self, read: NDArray[np.bool_]) -> NDArray[np.int64]:
        """The classes of the code points ``read``, bool (0x110000,), ascending."""
        met = self.classes[self._runs[np.logical_or.reduceat(read, self._runs)]]
        return np.flatnonzero(np.bincount(met))

    @cached_property
    def _runs(self) -> NDArray[np.int64]:
        """Where runs of code points of one class begin."""
        return np.append(0, np.flatnonzero(np.diff(self.classes)) + 1)

    @property
    def each_alone(self) -> "CharacterProperties":
        """The same as if no character composed with another or had to be sorted."""
        zero = np.zeros_like(self.row)
        return replace(self, combining=zero, second=zero - 1, row=zero)


def text_normalizers(steps: Sequence[Normalizer]) -> tuple[Normalizer, ...]:
    """The forms and lower case among normalizers, neighbouring forms as one; other steps change
    texts that the pre-tokenizer DFA leaves out."""
    found: list[Normalizer] = []
    for step in steps:
        if isinstance(step, Normalize) and found and isinstance(found[-1], Normalize):
            # What decomposes by compatibility stays so; composed is what the last one composes.
            folds = "K" in step.form.value + found[-1].form.value
            found[-1] = Normalize(Form(f"NF{'K' if folds else ''}{step.form.value[-1]}"))
        elif not isinstance(step, Prepend | Replace | Strip):
            found.append(step)
    return tuple(dict.fromkeys(found))


@cache
def character_properties(steps: tuple[Normalizer, ...]) -> CharacterProperties:
    """The classes for the normalizers that ``text_normalizers`` gives."""
    changed = np.zeros(CODE_POINTS, dtype=np.bool_)
    changed[_FIRST_SURROGATE : _LAST_SURROGATE + 1] = True
    for step in steps:
        changed |= _changed(step)
    forms = [step.form for step in steps if isinstance(step, Normalize)]
    if any(isinstance(step, BertNormalizer) and step.strip_accents for step in steps):
        # The marks that it leaves are sorted.
        forms.append(Form.NFD)
    combining = np.zeros(CODE_POINTS, dtype=np.int32)
    rows: dict[str, frozenset[str]] = {}
    if forms:
        combining[:_ASSIGNED] = combining_classes(_characters())
        composing = _compositions()
        for form in forms:
            for char, wanted in composing.items():
                if not changed[ord(char)] and not combining[ord(char)]:
                    found = {m for m in wanted if not is_normalized(form.value, char + m)}
                    rows[char] = rows.get(char, frozenset()) | found
    seconds = sorted(frozenset().union(*rows.values()))
    place = {char: i for i, char in enumerate(seconds)}
    numbers = {frozenset[str](): 0}
    row = np.zeros(CODE_POINTS, dtype=np.int32)
    for char, held in rows.items():
        row[ord(char)] = numbers.setdefault(held, len(numbers))
    second = np.full(CODE_POINTS, -1, dtype=np.int32)
    second[[ord(char) for char in seconds]] = np.arange(len(seconds))
    keys = 1 + combining + 256 * (row + len(numbers) * (second + 1))
    keys[changed] = 0
    runs = np.append(0, np.flatnonzero(np.diff(keys)) + 1)
    # Surrogates and the like come first: their key is the least.
    _, first, classes = np.unique(keys[runs], return_index=True, return_inverse=True)
    first, lengths = runs[first], np.diff(runs, append=CODE_POINTS)
    changes = np.zeros((len(numbers), len(seconds)), dtype=np.bool_)
    for held, number in numbers.items():
        changes[number, [place[char] for char in held]] = True
    return CharacterProperties(
        np.repeat(classes.reshape(-1).astype(np.uint16), lengths),
        combining[first],
        second[first],
        row[first],
        changes,
        np.array(combining_classes("".join(seconds)), dtype=np.int32),
    )


@cache
def _characters() -> str:
    """What may be changed, by code point, with a line end in place of each surrogate."""
    count = _LAST_SURROGATE + 1 - _FIRST_SURROGATE
    before, behind = range(_FIRST_SURROGATE), range(_LAST_SURROGATE + 1, _ASSIGNED)
    return "".join(map(chr, before)) + "\n" * count + "".join(map(chr, behind))


def _changed(step: Normalizer) -> NDArray[np.bool_]:
    """Which code points a step changes where they stand alone."""
    characters, found = _characters(), np.zeros(CODE_POINTS, dtype=np.bool_)
    if isinstance(step, Normalize):
        found[:_ASSIGNED] = [not each for each in each_normalized(step.form.value, characters)]
    elif isinstance(step, Nmt | StripAccents):
        found[[*images(step)]] = True
    elif isinstance(step, BertNormalizer):
        found[[*step.changed()]] = True
    else:
        found[:_ASSIGNED] = list(map(ne, characters, map(str.lower, characters)))
    return found


def _compositions() -> dict[str, set[str]]:
    """Each starter with the characters that could compose with a part of it, or with itself."""
    after: defaultdict[str, set[str]] = defaultdict(set)
    begins: dict[str, str] = {}
    characters = _characters()
    for place in np.flatnonzero(_changed(Normalize(Form.NFD))[:_ASSIGNED]).tolist():
        char = characters[place]
        parts = unicodedata.decomposition(char).split()
        if len(parts) == 2 and not parts[0].startswith("<"):
            first, last = (chr(int(part, 16)) for part in parts)
            after[first].add(last)
            begins[char] = first
    found = {}
    for char in sorted({*after, *begins}):
        held, part = set(after[char]), char
        while part in begins:
            part = begins[part]
            held |= after[part]
        found[char] = held
    vowels, tails = set(map(chr, _VOWELS)), set(map(chr, _TAILS))
    found.update(dict.fromkeys(map(chr, _LEADS), vowels))
    found.update(dict.fromkeys(map(chr, _SYLLABLES[:: len(_TAILS) + 1]), tails))
    return found


# Bits of a continuation byte; lead bytes of two, three and four bytes.
_TAIL = 64
_LEADING_BYTES = ((0xC0, 0xE0), (0xE0, 0xF0), (0xF0, 0xF5))


def readable_characters(dfa: Dfa) -> NDArray[np.bool_]:
    """The code points that some state of a trimmed automaton reads, bool (0x110000,)."""
    found = np.zeros(_LEADING_BYTES[-1][1] % 0xF0 * _TAIL**3, dtype=np.bool_)
    found[:0x80] = (dfa.table != DEAD).any(axis=0)[dfa.classes[:0x80]]
    others = dfa.classes[0x80:]
    some = np.flatnonzero((dfa.table[:, np.unique(others)] != DEAD).any(axis=1))
    by_byte = dfa.table[some][:, others]
    # Kind 0 reads nothing; of each kind what it reads, (K, 64**d).
    kind = (np.arange(dfa.states) != DEAD).astype(np.int64)
    reads = np.array([[False], [True]])
    for depth, (low, high) in enumerate(_LEADING_BYTES, start=1):
        rows = np.append(np.zeros((1, _TAIL), np.int64), kind[by_byte[:, :_TAIL]], axis=0)
        first, numbers = numbered_rows(rows)
        kind, held = np.zeros(dfa.states, dtype=np.int64), rows[first]
        kind[some] = numbers[1:]
        for lead in range(low, high):
            begin = (lead - low) * _TAIL**depth
            for number in {*kind[by_byte[:, lead - 0x80]].tolist()} - {0}:
                found[begin : begin + _TAIL**depth] |= reads[held[number]].reshape(-1)
        if depth < len(_LEADING_BYTES):
            reads = reads[held].reshape(len(held), -1)
    return found[:CODE_POINTS]


def read_characters(tables: NetworkTables) -> NDArray[np.bool_]:
    """The code points that a network reads, bool (0x110000,), as far as its states say alone: all
    of them where a call might begin or end inside a character."""
    by_byte = tables.table[:, : int(tables.classes.max()) + 1]
    inside = (tables.table[:, tables.classes[0x80:0xC0]] != DEAD).any(axis=1)
    calls = np.diff(tables.call_offsets) > 0
    meets = calls | (tables.accepting != 0)
    meets[np.concatenate([tables.call_starts, tables.call_ends, [tables.start]])] = True
    if (inside & meets).any():
        return np.ones(CODE_POINTS, dtype=np.bool_)
    nothing = (frozenset[int](),) * tables.states
    dfa = Dfa(by_byte, tables.classes, tables.accepting != 0, tables.start, nothing)
    return readable_characters(dfa)


def first_characters(dfa: Dfa) -> Dfa:
    """An automaton of what members begin with: nothing is read after the first character."""
    within = (dfa.table[:, dfa.classes[0x80:0xC0]] != DEAD).any(axis=1)
    return replace(
        dfa,
        table=np.append(np.where(within[:, None], dfa.table, DEAD), dfa.table[[dfa.start]], axis=0),
        accepting=np.append(dfa.accepting, dfa.accepting[dfa.start]),
        start=dfa.states,
        origins=(*dfa.origins, dfa.origins[dfa.start]),
    )
