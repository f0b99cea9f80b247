"""What an edge reads, as its label has it: characters, texts, bytes and tokens.

all but a, b and controls, beside an edge for a  ->  any other character but \\x00–\\x1F b
{"true", "false"}                                ->  "false" "true"
"""

from collections.abc import Iterable, Sequence
from unicodedata import category

from .graph import ASCII, Range, Reads, join
from .labels import BYTES, ESCAPES, LOOP, boxed, byte_label, wrapped
from .picture import Label, Notation

_LAST = 0x10FFFF
_SURROGATES = (0xD800, 0xDFFF)
# From so many code points on a set is said by what is not in it.
_MOST = _LAST // 2

# Characters of a text that a label shows, and those of one line of it.
_SHOWN, _LINE, _NARROW_LINE = 84, 28, 14


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
    entries += _characters(join([*octets, *reads.characters]), others, used, layout.shown, whole)
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
    missing = _without([*ranges, _SURROGATES])
    if not missing:
        return ["any", "character"]
    entries = ["any", "character"]
    if not _common(elsewhere, ranges):
        rest = _without([*ranges, *elsewhere, _SURROGATES])
        if rest != missing:
            used.add(Notation.ANY_OTHER)
            entries.insert(1, "other")
            missing = rest
    return [*entries, *(["but", *_listed(missing, used, shown, whole)] if missing else [])]


def _listed(ranges: Sequence[Range], used: set[Notation], most: int, whole: bool) -> list[str]:
    shown = len(ranges) if whole else most
    entries = [_range(low, high, used) for low, high in ranges[:shown]]
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
    return join(found)


def _without(ranges: Iterable[Range]) -> tuple[Range, ...]:
    """All code points that are not in ``ranges``."""
    found = []
    place = 0
    for low, high in join(ranges):
        if low > place:
            found.append((place, low - 1))
        place = high + 1
    return (*found, *([(place, _LAST)] if place <= _LAST else []))


def _common(some: Sequence[Range], others: Sequence[Range]) -> bool:
    return any(low <= last and first <= high for low, high in some for first, last in others)


def _range(low: int, high: int, used: set[Notation]) -> str:
    first, last = _character(low, used), _character(high, used)
    if low == high:
        return first
    if high == low + 1:
        return f"{first} {last}"
    used.add(Notation.RANGE)
    return f"{first}–{last}"


def _character(code: int, used: set[Notation], *, is_quoted: bool = False) -> str:
    char = chr(code)
    if char == " ":
        if is_quoted:
            return char
        used.add(Notation.SPACE)
    if is_quoted and char == '"':
        return '\\"'
    if char in ESCAPES and not (char == "\\" and not is_quoted):
        return ESCAPES[char]
    if code < 0x20 or code == 0x7F:
        used.add(Notation.CONTROL)
        return f"\\x{code:02X}"
    # Letters of scripts that are written from right to left would turn the label round.
    if not char.isprintable() or category(char)[0] == "M" or char in "␣‹›…–" or _is_turned(char):
        used.add(Notation.CODE_POINT)
        return f"\\u{{{code:X}}}"
    return char


def _is_turned(char: str) -> bool:
    from unicodedata import bidirectional

    return bidirectional(char) in ("R", "AL", "AN")


def _quoted(word: bytes, used: set[Notation], *, narrow: bool, whole: bool) -> list[str]:
    """A text in quotation marks, on lines of bounded width; cut where it is long."""
    shown = []
    for char in word.decode("utf-8", "surrogateescape"):
        if "\udc80" <= char <= "\udcff":
            used.add(Notation.OCTET)
            shown.append(f"\\x{ord(char) - 0xDC00:02X}")
        else:
            shown.append(_character(ord(char), used, is_quoted=True))
    cut = ""
    if len(shown) > _SHOWN and not whole:
        used.add(Notation.CUT_TEXT)
        shown, cut = shown[: _SHOWN - 4], f"… {len(word)} bytes"
    width = _NARROW_LINE if narrow else _LINE
    text = f'"{"".join(shown)}{cut}"'
    if whole:
        return [text]
    return [text[i : i + width] for i in range(0, len(text), width)]
