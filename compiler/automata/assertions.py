r"""Resolve assertions, intersections and complements, which Thompson's construction lacks.

    \bfoo\b(?s:.*) & ~(.*bar)   ->   one automaton

An intersection or a complement becomes the automaton of its operands' (``boolean``), inner ones
first. An assertion is a look at one character (``look_around``), on either side of its place in the
whole text. So an operand with assertions means something else in each surrounding, where its
operation is a part of more. The characters before and behind are divided in *classes* by what the
assertions ask of them, and one class is the edge of the text, where there is none: the operation is
resolved once for each pair of classes (c, d), and stands between the looks "after c" and "in front
of d".
"""

from collections.abc import Iterable
from functools import partial, reduce
from itertools import chain, product

from ..diagnostics import LimitError
from ..limits import Limits
from .boolean import common, complement, embedded
from .folding import fold
from .look_around import GuardedThompson, as_around, without_look_around
from .minimize import minimal
from .nfa import Nfa
from .regex_ir import (
    And,
    Around,
    ByteClass,
    CharClass,
    Embedded,
    Look,
    Node,
    Not,
    alt,
    looks,
    looks_around,
    parts_of,
    seq,
    walk,
    with_parts,
)
from .thompson import thompson

# One of each kind of characters that assertions distinguish, and the edge of the text.
_CHARACTERS = ("", "\n", "\r", "a", "\xe9", "-")


def resolved(node: Node, limits: Limits | None = None, *, is_ascii: bool = False) -> Node:
    """An expression for the same texts without ``And``, ``Not``, ``Look`` and ``Around``.

    ``node`` is the whole: what it matches is the text that its assertions look at. ``is_ascii``:
    no other characters stand beside assertions. Raises
    ``LimitError`` with the operand at fault, ``TypeError`` for token terminals besides these, and
    for look-around in an operation that is a part of more.
    """
    if not any(isinstance(part, And | Not | Look | Around) for part in walk(node)):
        return node
    return _Resolver((limits or Limits()).started(), is_ascii=is_ascii).whole(node)


class _Resolver:
    def __init__(self, limits: Limits, *, is_ascii: bool) -> None:
        self._limits, self._is_ascii = limits, is_ascii

    def whole(self, node: Node) -> Embedded:
        """What is the whole text, as the operands are of an operation that is."""
        return Embedded(self._automaton(fold(node, _operands, self._of_whole)))

    def _of_whole(self, node: Node, operands: list[Node]) -> Node:
        """The same without operations."""
        if operands:
            return self._operation(node, operands)
        if any(isinstance(part, And | Not) for part in walk(node)):
            return fold(node, parts_of, self._placed)
        return node

    def _placed(self, node: Node, inside: list[Node]) -> Node:
        """A node inside a whole around the nodes inside it, without operations."""
        if not _operands(node):
            return with_parts(node, inside)
        if looks_around(node):
            raise TypeError("look-around in an operation that is a part of more")
        options = []
        classes = (_classes(inside, is_ahead=is_ahead).items() for is_ahead in (False, True))
        for (before, after), (behind, in_front) in product(*classes):
            options.append(seq(*after, self._operation(node, inside, before, behind), *in_front))
        return alt(*options)

    def _automaton(self, node: Node, before: str = "", behind: str = "") -> Nfa:
        """What a node without operations matches between two characters."""
        if not looks(node):
            return thompson(node, self._limits)
        builder, around = GuardedThompson(self._limits, is_ascii=self._is_ascii), (before, behind)
        return without_look_around(builder, builder.compile(node), self._limits, around)[0]

    def _operation(
        self, node: Node, operands: Iterable[Node], before: str = "", behind: str = ""
    ) -> Node:
        assert isinstance(node, And | Not)
        try:
            nfas = (self._automaton(operand, before, behind) for operand in operands)
            first, *others = (minimal(nfa, self._limits) for nfa in nfas)
            if isinstance(node, Not):
                return embedded(complement(first, self._limits))
            return embedded(reduce(partial(common, limits=self._limits), others, first))
        except LimitError as error:
            if error.part:
                raise
            raise error.blaming(error.rules, node.text) from None


def _operands(node: Node) -> tuple[Node, ...]:
    """What an operation is of, each of which is the whole text as it is."""
    return parts_of(node) if isinstance(node, And | Not) else ()


def _classes(nodes: Iterable[Node], *, is_ahead: bool) -> dict[str, list[Node]]:
    """A character of each class on one side, and the looks that it is one of that class."""
    looks = [look for node in nodes for part in walk(node) for look in _at_characters(part)]
    asked = {id(look.node): look.node for look in looks if look.is_ahead == is_ahead}
    found: dict[tuple[bool, ...], str] = {}
    for char in _CHARACTERS:
        held = tuple(_is_one(char, node, is_ahead=is_ahead) for node in asked.values())
        found.setdefault(held, char)
    return {
        char: [
            Around(is_ahead, not is_one, node)
            for is_one, node in zip(held, asked.values(), strict=True)
        ]
        for held, char in found.items()
    }


def _at_characters(part: Node) -> Iterable[Around]:
    """The looks that a node is, which here are at one character each."""
    if isinstance(part, Look):
        return chain.from_iterable(as_around(part.kind))
    return [part] if isinstance(part, Around) else ()


def _is_one(char: str, node: Node, *, is_ahead: bool) -> bool:
    """Whether a character is one of a class, or the byte of it that is next to its place."""
    assert isinstance(node, ByteClass | CharClass)
    codes = char.encode("utf-8") if isinstance(node, ByteClass) else [*map(ord, char)]
    code = codes[0 if is_ahead else -1] if char else -1
    return any(low <= code <= high for low, high in node.ranges)
