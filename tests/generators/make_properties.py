"""Write ``compiler/automata/unicode_properties.json``: the sets of \\p{…}, and what (?i) adds.

    python -m tests.generators.make_properties > compiler/automata/unicode_properties.json

The sets come from the ``regex`` package, as those of ``make_classes``. A set is run-length encoded
in base 36: how many code points are not in it, how many are, and so on alternately. The orbits of
simple case folding (CaseFolding.txt, status C and S) are strings of characters that are equal but
for case; the package's Turkic i (status T) is left out.
"""

import json
import sys
from collections.abc import Iterable, Iterator
from typing import Any

import regex

from .make_classes import UNICODE_VERSION

# Names and case pairs are not in the package's public interface.
INTERNALS: Any = regex._regex_core
PROPERTIES: dict[str, tuple[int, dict[str, int]]] = INTERNALS.PROPERTIES
ALL_CASES = INTERNALS._regex.get_all_cases

# Properties with values, by their short names; a binary property has no name before it.
VALUED = {"gc": "GC", "sc": "SC", "scx": "SCX", "gcb": "GCB", "wb": "WB", "sb": "SB"}

# Names of the `regex` package that are no property of Unicode.
OWN = {"ANY", "ALPHANUMERIC", "ALNUM", "BLANK", "GRAPH", "H", "HORIZSPACE", "PRINT", "V"} | {
    name for name in PROPERTIES if name.startswith(("POSIX", "VERT", "WORD", "XDIGIT"))
}
# Nor are all values of the general category: these are unions of others.
UNIONS = {"L", "LC", "M", "N", "P", "S", "Z", "C", "LETTER", "CASEDLETTER", "ASSIGNED"}

UNICODE = 0x20
DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"
TURKIC = "\u0130\u0131"

CODES = [code for code in range(sys.maxunicode + 1) if not 0xD800 <= code <= 0xDFFF]
TEXT = "".join(map(chr, CODES))


def ranges(query: str) -> Iterator[tuple[int, int]]:
    """The code points with a property, first and last of each run; surrogates left out."""
    for match in regex.finditer(rf"\p{{{query}}}+", TEXT):
        low, high = CODES[match.start()], CODES[match.end() - 1]
        if low < 0xD800 and high > 0xDFFF:
            yield from ((low, 0xD7FF), (0xE000, high))
        else:
            yield low, high


def base36(number: int) -> str:
    """``37 -> "11"``"""
    digits = ""
    while True:
        number, digit = divmod(number, 36)
        digits = DIGITS[digit] + digits
        if not number:
            return digits


def packed(found: Iterable[tuple[int, int]]) -> str:
    """``[(1, 2), (5, 5)] -> "1 2 2 1"``"""
    numbers, position = [], 0
    for low, high in found:
        numbers += [base36(low - position), base36(high - low + 1)]
        position = high + 1
    return " ".join(numbers)


def aliases(names: Iterable[tuple[str, int]]) -> dict[int, list[str]]:
    """The names of each number, the shortest first."""
    found: dict[int, list[str]] = {}
    for name, number in names:
        found.setdefault(number, []).append(name)
    return {number: sorted(group, key=lambda n: (len(n), n)) for number, group in found.items()}


def table() -> dict[str, dict[str, str]]:
    """Each property's sets: ``{"gc": {"lu uppercaseletter": …}, "": {"alpha alphabetic": …}}``"""
    sets: dict[str, dict[str, str]] = {"": {}}
    for short, name in VALUED.items():
        values = {k: v for k, v in PROPERTIES[name][1].items() if k not in UNIONS or short != "gc"}
        groups = aliases(values.items()).values()
        sets[short] = {
            " ".join(group).lower(): packed(ranges(f"{name}={group[0]}"))
            for group in groups
            if not any(alias.endswith("&") for alias in group)
        }
    binary = {
        name: number
        for name, (number, values) in PROPERTIES.items()
        if set(values.values()) == {0, 1} and "YES" in values and name not in OWN
    }
    for group in aliases(binary.items()).values():
        sets[""][" ".join(group).lower()] = packed(ranges(f"{group[0]}=YES"))
    return {short: dict(sorted(found.items())) for short, found in sets.items()}


def orbits() -> list[str]:
    """Characters that simple case folding makes the same, as strings of two or more."""
    found: set[str] = set()
    for match in regex.finditer(r"[\p{Lowercase}\p{Uppercase}\p{Lt}\p{CWCM}\p{CWCF}]", TEXT):
        cases = map(chr, ALL_CASES(UNICODE, ord(match[0])))
        orbit = "".join(sorted(char for char in set(cases) if char not in TURKIC))
        if len(orbit) > 1 and match[0] not in TURKIC:
            found.add(orbit)
    return sorted(found)


def main() -> None:
    """Print the table."""
    value = {"unicode": UNICODE_VERSION, "sets": table(), "orbits": orbits()}
    json.dump(value, sys.stdout, separators=(",", ":"))
    sys.stdout.write("\n")


if __name__ == "__main__":
    main()
