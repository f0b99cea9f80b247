"""Whether a text can be in many places after a repetition while it is still inside of it.

    .*a.{20}             after the loop stand twenty places that read what the loop reads
    [ ]*"name"[ ]*:      what stands after the loops is nothing that they read

Only then can the states of a DFA be many sets of places, two to the power of so many: each time the
loop begins again, while what began before goes on.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import partial, reduce
from operator import or_
from typing import NamedTuple, TypeAlias, TypeVar

from constrain.artifacts.tokens.memo import Made

from ..automata import regex_ir as regex
from ..automata.folding import fold
from ..thresholds import MANY

# Expressions looked at, each in its surroundings; beyond, the answer is that it may be.
_MOST_LOOKS = 5_000

# All bytes, and those that go on with characters, with the first that begins one, as bits.
_ALL = (1 << 256) - 1
_CONTINUATIONS = ((1 << 0xC0) - (1 << 0x80)) | (1 << 0xC2)

_T = TypeVar("_T")


class Run(NamedTuple):
    """Places in a row that read what a loop reads: ``inside``, how many begin an expression;
    ``through``, how many it has from end to end, None where something else always is between."""

    inside: int
    through: int | None

    def then(self, other: "Run") -> "Run":
        """Of an expression and another after it."""
        if self.through is None:
            return self
        inside = max(self.inside, min(self.through + other.inside, MANY))
        through = None if other.through is None else min(self.through + other.through, MANY)
        return Run(inside, through)

    def optional(self) -> "Run":
        """Of an expression that may be missing."""
        return Run(self.inside, self.through or 0)

    @classmethod
    def any_of(cls, runs: "Sequence[Run]") -> "Run":
        """Of one of several expressions."""
        ways = [each.through for each in runs if each.through is not None]
        return cls(max([each.inside for each in runs], default=0), max(ways, default=None))


NOTHING, OTHER, _UNKNOWN = Run(0, 0), Run(0, None), Run(MANY, MANY)

# What stands after: the parts of a sequence from one on, and what stands after these. After the
# inside of a repetition that stands once more.
_Behind: TypeAlias = "tuple[tuple[regex.Node, ...], int, _Behind | None]"


def may_fall_behind(node: regex.Node) -> bool:
    """Whether after or inside some repetition without an end ``MANY`` places in a row, each
    of more bytes than one, may read what it reads."""
    octets, firsts = _of_parts(node, _bytes_of), first_bytes(node)
    by_bytes = Made[tuple[int, int], dict[int, Run]](lambda known: _runs(node, *known, octets))
    for looks, (loop, behind) in enumerate(_places(node)):
        if looks == _MOST_LOOKS:
            return True
        if loop is None:
            continue
        runs = by_bytes[firsts[id(loop)], octets[id(loop)]]
        if runs[id(loop)].inside >= MANY or _longest(behind, runs) >= MANY:
            return True
    return False


def _places(node: regex.Node) -> Iterator[tuple[regex.Node | None, "_Behind | None"]]:
    """The insides of repetitions without an end, each with what stands after; None for all else,
    so that the looks can be counted."""
    pending: list[tuple[regex.Node, _Behind | None]] = [(node, None)]
    while pending:
        current, behind = pending.pop()
        loop = None
        match current:
            case regex.Seq(parts):
                pending.extend((part, (parts, i + 1, behind)) for i, part in enumerate(parts))
            case regex.Alt(options):
                pending.extend((option, behind) for option in options)
            case regex.Optional(inner):
                pending.append((inner, behind))
            case regex.Repeat(inner, _, most):
                loop = inner if most is None else None
                pending.append((inner, ((current,), 0, behind)))
            case _:
                pass
        yield loop, behind


def _longest(behind: "_Behind | None", runs: dict[int, Run]) -> int:
    """The longest run that begins where ``behind`` does."""
    found = NOTHING
    while behind is not None:
        parts, begin, behind = behind
        for part in parts[begin:]:
            found = found.then(runs[id(part)])
        if found.through is None:
            break
    return found.inside


def _runs(node: regex.Node, first: int, known: int, octets: dict[int, int]) -> dict[int, Run]:
    """Of all expressions inside ``node``, for a loop that begins with one of the bytes ``first``
    and reads those of ``known``."""
    return _of_parts(node, lambda each, inside: _run(each, inside, first, known, octets[id(each)]))


def _run(node: regex.Node, inside: list[Run], first: int, known: int, own: int) -> Run:
    match node:
        case regex.Lit(data):
            return NOTHING if all(known >> octet & 1 for octet in data) else OTHER
        case regex.CharClass():
            if own & first:
                return Run(1, 1)
            return NOTHING if own & known else OTHER
        case regex.Seq():
            found = NOTHING
            for part in inside:
                found = found.then(part)
            return found
        case regex.Alt():
            return Run.any_of(inside)
        case regex.Optional():
            return inside[0].optional()
        case regex.Repeat(_, least, most):
            found = one = inside[0]
            if most is not None:
                for _ in range(min(most, MANY) - 1):
                    found = found.then(one)
            return found if least else found.optional()
        case _:
            return _UNKNOWN


def _bytes_of(node: regex.Node, inside: list[int]) -> int:
    """The bytes of texts, as bits; of what is not looked into all."""
    match node:
        case regex.Lit(data):
            return reduce(or_, (1 << octet for octet in data), 0)
        case regex.CharClass(ranges):
            is_wide = any(high > 0x7F for _, high in ranges)
            return _leads(ranges) | _CONTINUATIONS * is_wide
        case regex.Seq() | regex.Alt() | regex.Repeat() | regex.Optional():
            return reduce(or_, inside, 0)
        case _:
            return _ALL


def first_bytes(node: regex.Node) -> dict[int, int]:
    """Of all expressions inside ``node``, by identity: the first bytes of their texts, as bits."""
    return _of_parts(node, partial(_first_bytes, regex.nullable_inside(node)))


def _first_bytes(nullable: set[int], node: regex.Node, inside: list[int]) -> int:
    """The first bytes of texts, as bits; of other nodes all."""
    match node:
        case regex.Lit(data):
            return 1 << data[0]
        case regex.CharClass(ranges):
            return _leads(ranges)
        case regex.Seq(parts):
            found = 0
            for part, own in zip(parts, inside, strict=True):
                found |= own
                if id(part) not in nullable:
                    break
            return found
        case regex.Alt() | regex.Repeat() | regex.Optional():
            return reduce(or_, inside, 0)
        case _:
            return _ALL


def _leads(ranges: regex.CodePoints) -> int:
    """The first bytes of characters, as bits."""
    found = 0
    for each in ranges:
        first, last = (chr(code).encode("utf-8")[0] for code in each)
        found |= (1 << last + 1) - (1 << first)
    return found


def _of_parts(node: regex.Node, value: Callable[[regex.Node, list[_T]], _T]) -> dict[int, _T]:
    """A value of each expression inside ``node``, by identity, which is made of its parts'."""
    found: dict[int, _T] = {}

    def of(current: regex.Node, inside: list[_T]) -> _T:
        found[id(current)] = result = value(current, inside)
        return result

    fold(node, regex.parts_of, of)
    return found
