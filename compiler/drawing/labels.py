"""Labels for readers of drawings: byte ranges and sets of tokens, short and unambiguous.

{0x61…0x7A, 0x20}          ->  ␣ a–z
{b"0", …, b"9", b" 20"}    ->  ‹0›–‹9› ‹␣20›
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple
from unicodedata import bidirectional, category

import numpy as np
from numpy.typing import NDArray

from constrain.artifacts.tokens.vocabulary import Vocabulary

from ..automata.utf8 import MAX_CODE_POINT, SURROGATES, complement, intersection, normalized
from .graph import ASCII, Range, Reads
from .picture import Label, Notation


class _Layout(NamedTuple):
    """How many entries a label shows, and how many characters a line has."""

    shown: int
    width: int


# Wide labels cost less room than high ones where states stand from left to right.
BYTES, _TOKENS, LOOP = _Layout(5, 24), _Layout(6, 32), _Layout(3, 7)
# Tokens in a row from which ‹0›–‹9› says it shorter.
_RUN_FROM = 4
# Shown characters of a token before it is cut.
_CUT_AT = 20

ESCAPES = {"\n": "\\n", "\r": "\\r", "\t": "\\t", "\\": "\\\\", " ": "␣"}
# Marks of the notation itself: inside a token they would read as the notation.
_MARKS = frozenset("␣‹›…")


def byte_label(
    ranges: Iterable[tuple[int, int]], *, narrow: bool = False, shown: int | None = None
) -> Label:
    """The label of bytes (ranges low..high, in any order).

    ``narrow``: for a loop, which Graphviz gives no more width than its state has. ``shown``:
    ranges that are listed, where not as many as usual.
    """
    layout = LOOP if narrow else BYTES
    most = shown or layout.shown
    joined = normalized(ranges)
    used: set[Notation] = set()
    entries = [_range(low, high, used) for low, high in joined[:most]]
    if len(joined) > most:
        entries.append(f"… ({len(joined) - most} more)")
        used.add(Notation.MORE_RANGES)
    return Label(wrapped(entries, layout.width), frozenset(used))


def _range(low: int, high: int, used: set[Notation]) -> str:
    if (low, high) == (0, 255):
        return "any byte"
    notation = Notation.BYTE_RANGE if high > 0x7F else Notation.RANGE
    return _span(low, high, _byte, used, notation)


def _span(
    low: int,
    high: int,
    shown: Callable[[int, set[Notation]], str],
    used: set[Notation],
    notation: Notation = Notation.RANGE,
) -> str:
    first, last = shown(low, used), shown(high, used)
    if low == high:
        return first
    if high == low + 1:
        return f"{first} {last}"
    used.add(notation)
    return f"{first}–{last}"


def _byte(octet: int, used: set[Notation]) -> str:
    """A printable ASCII character itself; no label holds two in a row without a space."""
    if octet == 0x20:
        used.add(Notation.SPACE)
        return "␣"
    if 0x20 < octet < 0x7F:
        return chr(octet)
    if chr(octet) in ESCAPES:
        return ESCAPES[chr(octet)]
    used.add(Notation.OCTET)
    return f"\\x{octet:02X}"


class TokenLabels:
    """Labels for sets of tokens, listed shortest first and then by their bytes.

    ``ids``: all tokens that may occur.
    """

    def __init__(self, vocabulary: Vocabulary, ids: NDArray[np.integer]) -> None:
        texts = {int(i): vocabulary.token(int(i)) for i in ids}
        order = sorted(texts, key=lambda i: (len(texts[i]), texts[i], i))
        self._tokens = [texts[i] for i in order]
        self._rank = np.zeros(vocabulary.size, dtype=np.int64)
        self._rank[order] = np.arange(len(order))

    def first(self, ids: NDArray[np.integer]) -> int:
        """A key to sort sets by: the place of the set's first token."""
        return int(self._rank[ids].min())

    def label(self, ids: NDArray[np.integer], *, narrow: bool = False) -> Label:
        """The label of a set that is not empty; ``narrow`` as for bytes."""
        layout = LOOP if narrow else _TOKENS
        used = {Notation.TOKEN}
        entries: list[str] = []
        for first, last in self._runs(np.sort(self._rank[ids])):
            if len(entries) == layout.shown:
                entries.append(f"… {len(ids):,} tokens")
                used.add(Notation.MORE_TOKENS)
                break
            entries.append(boxed(self._tokens[first], used))
            if last != first:
                entries[-1] += f"–{boxed(self._tokens[last], used)}"
                used.add(Notation.RUN)
        return Label(wrapped(entries, layout.width), frozenset(used))

    def count(self, ids: NDArray[np.integer]) -> Label:
        """The size of a set instead of its members; a single member itself."""
        if len(ids) == 1:
            return self.label(ids)
        return Label(f"{len(ids):,} tokens", frozenset())

    def _runs(self, ranks: NDArray[np.int64]) -> Iterator[tuple[int, int]]:
        """First and last rank of each entry; runs too short to fold come one by one."""
        run: list[int] = []
        for rank in ranks.tolist():
            if run and not _follows(self._tokens[run[-1]], self._tokens[rank]):
                yield from _folded(run)
                run = []
            run.append(rank)
        yield from _folded(run)


def _folded(run: list[int]) -> list[tuple[int, int]]:
    return [(run[0], run[-1])] if len(run) >= _RUN_FROM else [(rank, rank) for rank in run]


def _follows(token: bytes, other: bytes) -> bool:
    """Whether ``other`` is ``token`` with its last digit or letter moved up by one."""
    if not (token[-1:].isalnum() and other[-1:].isalnum()):
        return False
    return token[:-1] == other[:-1] and token[-1] + 1 == other[-1]


def boxed(token: bytes, used: set[Notation]) -> str:
    """A token between ‹ and ›; no two tokens that are shown whole look the same."""
    shown: list[str] = []
    for char in token.decode("utf-8", "surrogateescape"):
        if char == " ":
            used.add(Notation.SPACE)
        if "\udc80" <= char <= "\udcff":
            used.add(Notation.OCTET)
            shown.append(f"\\x{ord(char) - 0xDC00:02X}")
        elif char in ESCAPES:
            shown.append(ESCAPES[char])
        elif char < " " or char == "\x7f":
            used.add(Notation.OCTET)
            shown.append(f"\\x{ord(char):02X}")
        elif not char.isprintable() or char in _MARKS or (not shown and category(char)[0] == "M"):
            # A combining mark would sit on the bracket before it.
            used.add(Notation.CODE_POINT)
            shown.append(f"\\u{{{ord(char):X}}}")
        else:
            shown.append(char)
        if len(shown) > _CUT_AT:
            used.add(Notation.CUT)
            return f"‹{''.join(shown[:_CUT_AT])}… {len(token)} bytes›"
    return f"‹{''.join(shown)}›"


def wrapped(entries: Sequence[str], width: int) -> str:
    """Entries with spaces between them, on lines of about ``width`` characters."""
    lines: list[str] = []
    for entry in entries:
        if lines and len(lines[-1]) + 1 + len(entry) <= width:
            lines[-1] += f" {entry}"
        else:
            lines.append(entry)
    return "\n".join(lines)


# From so many code points on a set is said by what is not in it.
_MOST = MAX_CODE_POINT // 2

# JSON's white space: tab and line feed, carriage return, space.
_WHITE_SPACE = {(9, 10), (13, 13), (32, 32)}

# Characters of a text that a label shows, and those of one line of it.
_SHOWN, _LINE, _NARROW_LINE = 84, 28, 10


def reads_label(
    reads: Reads, others: Iterable[Reads] = (), *, narrow: bool = False, whole: bool = False
) -> Label:
    """The label of what is read; ``others``: what other edges of the state read.

    ``narrow``: for a loop, which Graphviz gives no more width than its state has. ``whole``:
    without leaving anything out, for a tooltip.
    """
    layout = LOOP if narrow else BYTES
    used: set[Notation] = set()
    entries = ["ε"] if reads.epsilon else []
    if reads.epsilon:
        used.add(Notation.EPSILON)
    if reads.terminals:
        used.add(Notation.TOKEN)
    entries += [boxed(name.encode("utf-8", "surrogatepass"), used) for name in reads.terminals]
    if reads.has_octets:
        label = byte_label(reads.octets, narrow=narrow, shown=1000 if whole else None)
        used |= label.notations
        entries += label.text.split()
    octets = () if reads.has_octets else reads.octets
    entries += _characters(
        normalized([*octets, *reads.characters]), others, used, layout.shown, whole
    )
    shown = len(reads.words) if whole else layout.shown
    for word in reads.words[:shown]:
        used.add(Notation.TEXT)
        entries += _quoted(word, used, narrow=narrow, whole=whole)
    if len(reads.words) > shown:
        used.add(Notation.MORE_TEXTS)
        entries.append(f"… ({len(reads.words) - shown} more)")
    return Label(wrapped(entries, layout.width), frozenset(used))


def _characters(
    ranges: Sequence[Range], others: Iterable[Reads], used: set[Notation], shown: int, whole: bool
) -> list[str]:
    if sum(high - low + 1 for low, high in ranges) <= _MOST:
        return _listed(ranges, used, shown, whole)
    elsewhere = _begun(others)
    missing = complement([*ranges, SURROGATES])
    if not missing:
        return ["any", "character"]
    entries = ["any", "character"]
    if not intersection(elsewhere, ranges):
        rest = complement([*ranges, *elsewhere, SURROGATES])
        if rest != missing:
            used.add(Notation.ANY_OTHER)
            entries.insert(1, "other")
            missing = rest
    return [*entries, *(["but", *_listed(missing, used, shown, whole)] if missing else [])]


def _listed(ranges: Sequence[Range], used: set[Notation], most: int, whole: bool) -> list[str]:
    shown, entries = len(ranges) if whole else most, list[str]()
    if not whole and {*ranges} >= _WHITE_SPACE:
        used.add(Notation.WHITE_SPACE)
        entries, ranges = ["white", "space"], [each for each in ranges if each not in _WHITE_SPACE]
    entries += [_span(low, high, _character, used) for low, high in ranges[:shown]]
    if len(ranges) > shown:
        used.add(Notation.MORE_RANGES)
        entries.append(f"… ({len(ranges) - shown} more)")
    return entries


def _begun(others: Iterable[Reads]) -> tuple[Range, ...]:
    """The characters that other edges read or begin with."""
    found: list[Range] = []
    for reads in others:
        found += [(low, min(high, ASCII)) for low, high in reads.octets if low <= ASCII]
        found += reads.characters
        for word in reads.words:
            code = ord(word.decode("utf-8", "surrogateescape")[0])
            found.append((code, code))
    return normalized(found)


def _character(code: int, used: set[Notation], quote: str = "") -> str:
    """``quote``: the mark around the text that it stands in."""
    char = chr(code)
    is_quoted = bool(quote)
    if char == " ":
        if is_quoted:
            return char
        used.add(Notation.SPACE)
    if char == quote:
        return f"\\{char}"
    if char in ESCAPES and not (char == "\\" and not is_quoted):
        return ESCAPES[char]
    if code < 0x20 or code == 0x7F:
        used.add(Notation.CONTROL)
        return f"\\x{code:02X}"
    # Letters of scripts that are written from right to left would turn the label round.
    is_turned = bidirectional(char) in ("R", "AL", "AN")
    if is_turned or not char.isprintable() or category(char)[0] == "M" or char in "␣‹›…–":
        used.add(Notation.CODE_POINT)
        return f"\\u{{{code:X}}}"
    return char


def _quoted(word: bytes, used: set[Notation], *, narrow: bool, whole: bool) -> list[str]:
    """A text in quotation marks, on lines of bounded width; cut where it is long."""
    shown = []
    quote = "'" if b'"' in word and b"'" not in word else '"'
    for char in word.decode("utf-8", "surrogateescape"):
        if "\udc80" <= char <= "\udcff":
            used.add(Notation.OCTET)
            shown.append(f"\\x{ord(char) - 0xDC00:02X}")
        else:
            shown.append(_character(ord(char), used, quote))
    cut = ""
    if len(shown) > _SHOWN and not whole:
        used.add(Notation.CUT_TEXT)
        shown, cut = shown[: _SHOWN - 4], f"… {len(word)} bytes"
    width = _NARROW_LINE if narrow else _LINE
    text = f"{quote}{''.join(shown)}{cut}{quote}"
    if whole:
        return [text]
    return [text[i : i + width] for i in range(0, len(text), width)]
