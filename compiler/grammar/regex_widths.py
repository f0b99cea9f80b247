"""How wide the matches of a regex are, in characters, and how far its look-around sees before them.

/a(?<!bc)d*/     1 character or more; the look sees 1 before the match
"""

from typing import NamedTuple

from ..automata import regex_ir as regex
from ..automata.folding import fold

# As wide as any match can be.
ENDLESS = 1 << 32


class Width(NamedTuple):
    """The most and the fewest characters that an expression matches; and how many right before a
    match its look-around may ask for, at most."""

    most: int
    fewest: int
    before: int


def width(node: regex.Node) -> Width:
    """That of an expression."""
    return fold(node, regex.parts_of, _width)


def _width(part: regex.Node, inside: list[Width]) -> Width:
    match part:
        case regex.Lit(data):
            # Bytes that continue a character count with the first.
            count = sum(octet & 0xC0 != 0x80 for octet in data)
            return Width(count, count, 0)
        case regex.CharClass() | regex.ByteClass():
            return Width(1, 1, 0)
        case regex.Seq():
            most = fewest = before = 0
            for each in inside:
                before = max(before, each.before - fewest)
                most, fewest = min(ENDLESS, most + each.most), fewest + each.fewest
            return Width(most, fewest, before)
        case regex.Alt():
            mosts, fewests, befores = zip(*inside, strict=True) if inside else [(0,)] * 3
            return Width(max(mosts), min(fewests), max(befores))
        case regex.Repeat(_, low, high):
            most = inside[0].most * (ENDLESS if high is None else high)
            return Width(min(ENDLESS, most), inside[0].fewest * low, inside[0].before)
        case regex.Optional():
            return inside[0]._replace(fewest=0)
        case regex.Look(kind):
            return Width(0, 0, ENDLESS if kind.name.endswith("_TEXT") else 1)
        case regex.Around(is_ahead):
            return Width(0, 0, inside[0].before + (0 if is_ahead else inside[0].most))
        case _:
            return Width(ENDLESS, 0, ENDLESS)
