"""Look up Unicode's properties by name, the classes \\d, \\s and \\w, and fold cases.

The data is Unicode 18.0.0, made by ``generators.make_properties`` and ``generators.make_classes``
from the files of the standard, and never scanned at run time.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from difflib import get_close_matches
from functools import cache, lru_cache
from importlib.resources import files
from string import ascii_uppercase
from typing import Any

from .utf8 import ANY, MAX_CODE_POINT, CodePoints, complement, intersection, normalized

# Values of the general category that stand for several.
_UNIONS = {
    "lc casedletter": "lu ll lt",
    "l letter": "lu ll lt lm lo",
    "m mark combiningmark": "mn mc me",
    "n number": "nd nl no",
    "p punctuation punct": "pc pd ps pe pi pf po",
    "s symbol": "sm sc sk so",
    "z separator": "zs zl zp",
    "c other": "cc cf cn co cs",
}

_QUALIFIERS = {
    "gc": "gc generalcategory",
    "sc": "sc script",
    "scx": "scx scriptextensions",
    "gcb": "gcb graphemeclusterbreak",
    "wb": "wb wordbreak",
    "sb": "sb sentencebreak",
}

# So few characters are looked up one by one, or so few others; else all cased ones are visited.
_FEW = 256

# Where a name without a qualifier is looked for, in this order.
_UNQUALIFIED = ("gc", "sc", "")


class UnknownPropertyError(KeyError):
    """No property has the name; ``suggestion`` is one with a similar name, or empty."""

    def __init__(self, name: str, suggestion: str) -> None:
        super().__init__(name)
        self.suggestion = suggestion


def property_code_points(query: str) -> CodePoints:
    """The code points of ``Lu``, ``Greek``, ``scx=Greek``, ``White_Space``, …

    Names match as UAX #44 says in UAX44-LM3: case, spaces, hyphens, underscores and a leading
    "is" do not matter. Raises ``UnknownPropertyError``.
    """
    negated = "!=" in query
    qualifier, found, value = query.replace("!=", "=").replace(":", "=").partition("=")
    if found:
        name = _qualifier(qualifier)
        ranges = _lookup(value, (name,), f"{name}=")
    else:
        ranges = _lookup(qualifier, _UNQUALIFIED, "")
    return complement(ranges) if negated else ranges


@lru_cache(maxsize=64)
def with_other_cases(ranges: CodePoints) -> CodePoints:
    """``ranges`` and all characters that simple case folding makes the same as one of them.

    The folding is that of CaseFolding.txt, status C and S: ``k`` has the Kelvin sign, ``s``
    the long s; one character never becomes two.
    """
    missing = intersection(complement(ranges), ANY)
    if _size(ranges) < _FEW:
        by_code = _orbits_of(ranges)
        return normalized((*ranges, *_alone(o for c in _codes(ranges) for o in by_code.get(c, ()))))
    if _size(missing) < _FEW:
        by_code, left = _orbits_of(missing), {*_codes(missing)}
        found = (c for c in left if not left.issuperset(by_code.get(c, left)))
        return normalized((*ranges, *_alone(found)))
    within = list[int]()
    position = 0
    for code, orbit in _cased():
        while position < len(ranges) and ranges[position][1] < code:
            position += 1
        if position == len(ranges):
            break
        if ranges[position][0] <= code:
            within += orbit
    return normalized((*ranges, *_alone(within)))


def _alone(codes: Iterable[int]) -> Iterator[tuple[int, int]]:
    return ((code, code) for code in codes)


def _size(ranges: CodePoints) -> int:
    return sum(high - low + 1 for low, high in ranges)


def _codes(ranges: CodePoints) -> Iterator[int]:
    return (code for low, high in ranges for code in range(low, high + 1))


def _qualifier(text: str) -> str:
    wanted = _loose(text)
    names = {alias: short for short, group in _QUALIFIERS.items() for alias in group.split()}
    if wanted not in names:
        raise UnknownPropertyError(text, _similar(wanted, names))
    return names[wanted]


def _lookup(text: str, places: Iterable[str], prefix: str) -> CodePoints:
    wanted = _loose(text)
    names = [wanted, wanted.removeprefix("is")]
    candidates: list[str] = []
    for place in places:
        sets = _names(place)
        for name in names:
            if name in sets:
                return sets[name] if isinstance(sets[name], tuple) else _ranges(place, sets[name])
        candidates.extend(sets)
    close = _similar(wanted, candidates)
    raise UnknownPropertyError(text, prefix + close if close else "")


def _loose(text: str) -> str:
    return "".join(char for char in text.lower() if char not in "_- ")


# Characters of a name that is compared with those of properties.
_LONGEST_NAME = 100


def _similar(name: str, candidates: Iterable[str]) -> str:
    if len(name) > _LONGEST_NAME:
        return ""
    close = get_close_matches(name, sorted(c for c in candidates if len(c) > 2), n=1)
    return close[0] if close else ""


def class_ranges(name: str) -> CodePoints:
    """The ranges of ``digit`` (Nd), ``space`` (White_Space) or ``word`` (UTS #18's \\w)."""
    return _classes()[name]


@cache
def _classes() -> dict[str, CodePoints]:
    text = files(__package__).joinpath("unicode_classes.json").read_text(encoding="utf-8")
    return {
        name: normalized((low, high) for low, high in ranges)
        for name, ranges in json.loads(text).items()
        if name != "unicode"
    }


@cache
def _data() -> Any:
    text = files(__package__).joinpath("unicode_properties.json").read_text(encoding="utf-8")
    return json.loads(text)


@cache
def _names(place: str) -> dict[str, Any]:
    """Every name of a set to the set's key in the data, or to the set itself."""
    found: dict[str, Any] = {}
    for key in _data()["sets"][place]:
        found.update(dict.fromkeys(key.split(), key))
    if place == "gc":
        for names, parts in _UNIONS.items():
            pieces = (r for part in parts.split() for r in _ranges("gc", found[part]))
            found.update(dict.fromkeys(names.split(), normalized(pieces)))
        found["assigned"] = complement(_ranges("gc", found["cn"]))
    if place == "":
        found["any"] = ((0, MAX_CODE_POINT),)
        found["ascii"] = ((0, 0x7F),)
    return found


@cache
def _ranges(place: str, key: str) -> CodePoints:
    """Undo the packing of ``generators.make_properties.packed``."""
    numbers = [int(number, 36) for number in _data()["sets"][place][key].split()]
    found, position = [], 0
    for gap, length in zip(numbers[::2], numbers[1::2], strict=True):
        found.append((position + gap, position + gap + length - 1))
        position += gap + length
    return tuple(found)


def _orbits_of(ranges: CodePoints) -> Mapping[int, tuple[int, ...]]:
    """The orbits of those of few characters that are cased."""
    return _OF_ASCII if not ranges or ranges[-1][1] < 0x80 else _orbits()


# Those of ASCII need no data: the Kelvin sign and the long s are the only others in them.
_OF_ASCII: Mapping[int, tuple[int, ...]] = {
    ord(char): (*map(ord, (upper, upper.lower(), *{"K": "\u212a", "S": "\u017f"}.get(upper, ""))),)
    for upper in ascii_uppercase
    for char in (upper, upper.lower())
}


@cache
def _orbits() -> dict[int, tuple[int, ...]]:
    return dict(_cased())


@cache
def _cased() -> list[tuple[int, tuple[int, ...]]]:
    """Every cased character, ascending, with its orbit."""
    found: list[tuple[int, tuple[int, ...]]] = []
    for orbit in _data()["orbits"]:
        codes = tuple(map(ord, orbit))
        found.extend((code, codes) for code in codes)
    return sorted(found)
