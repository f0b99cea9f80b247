"""Normalizers that write something else for single characters, whatever stands beside them.

    images(Nmt())           "\\t" -> " ", "\\x01" -> ""
    images(StripAccents())  "\\u0301" -> ""

The tables are those of the library, found by querying it for every code point.
"""

from collections.abc import Mapping
from functools import cache

from ..definition import Nmt, StripAccents
from .patterns import as_cut, characters_of, compile_pattern

_REMOVED = "1-8 B E-1F 7F 8F 9F"
_SPACES = "9-A C-D 1680 200B-200F 2028-2029 2581 FEFF FFFD"

# Marks of Unicode 16.0 that ``StripAccents``, whose table is older, leaves alone.
_LEFT_ALONE = """
    7FD 897-89F 8CA-8D3 9FE AFA-AFF B55 C04 C3C CF3 D00 D3B-D3C D81 EBA ECE 1715 180F 1ABF-1ACE 1CF7
    1DF6-1DFA A82C A8FF 10D24-10D27 10D69-10D6D 10EAB-10EAC 10EFC-10EFF 10F46-10F50 10F82-10F85
    11070 11073-11074 110C2 11145-11146 111C9 111CE-111CF 11241 1133B 113B8-113C0 113C2 113C5
    113C7-113CA 113CC-113D0 113D2 113E1-113E2 1145E 1182C-1183A 11930-11935 11937-11938 1193B-1193E
    11940 11942-11943 119D1-119D7 119DA-119E0 119E4 11A01-11A0A 11A33-11A39 11A3B-11A3E 11A47
    11A51-11A5B 11A8A-11A99 11D31-11D36 11D3A 11D3C-11D3D 11D3F-11D45 11D47 11D8A-11D8E 11D90-11D91
    11D93-11D97 11EF3-11EF6 11F00-11F01 11F03 11F34-11F3A 11F3E-11F42 11F5A 13440 13447-13455
    1611E-1612F 16F4F 16F7F-16F87 16FE4 16FF0-16FF1 1CF00-1CF2D 1CF30-1CF46 1E08F 1E130-1E136 1E2AE
    1E2EC-1E2EF 1E4EC-1E4EF 1E5EE-1E5EF
"""
_NO_MARKS_ANY_MORE = "1CF2-1CF3"


@cache
def images(step: Nmt | StripAccents) -> Mapping[int, str]:
    """What a step writes for each code point that it changes; for ``str.translate``."""
    if isinstance(step, Nmt):
        removed, spaces = (map(ord, characters_of(table)) for table in (_REMOVED, _SPACES))
        return {**dict.fromkeys(removed, ""), **dict.fromkeys(spaces, " ")}
    every = as_cut("".join(map(chr, range(0xD800))) + "".join(map(chr, range(0xE000, 0x110000))))
    marks = {*compile_pattern(r"\p{M}").findall(every), *characters_of(_NO_MARKS_ANY_MORE)}
    return dict.fromkeys(map(ord, marks.difference(characters_of(_LEFT_ALONE))), "")
