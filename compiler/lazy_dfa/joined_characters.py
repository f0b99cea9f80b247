"""Expressions in which runs of one character are one repetition, so that lengths are seen.

    a|b|-       ->    [ab-]
    .{254}.*    ->    .{254,}
    . . .?      ->    .{2,3}

Dialects without classes or counts write lengths so.
"""

from collections.abc import Sequence

from ..automata import regex_ir as regex
from ..automata.folding import fold


def with_joined_characters(node: regex.Node) -> regex.Node:
    """The same texts."""
    return fold(node, regex.parts_of, _joined)


def characters_of(node: regex.Node) -> regex.CodePoints | None:
    """The characters of which a node matches one; None if it is no such class."""
    if isinstance(node, regex.CharClass):
        return node.ranges
    if isinstance(node, regex.Lit):
        try:
            text = node.data.decode("utf-8")
        except UnicodeDecodeError:
            return None
        return ((ord(text), ord(text)),) if len(text) == 1 else None
    return None


def _joined(node: regex.Node, parts: list[regex.Node]) -> regex.Node:
    if isinstance(node, regex.Alt):
        return _options_joined(parts)
    if isinstance(node, regex.Seq):
        return regex.seq(*_runs_joined(parts))
    inside = zip(parts, regex.parts_of(node), strict=True)
    return node if all(part is old for part, old in inside) else regex.with_parts(node, parts)


def _options_joined(options: Sequence[regex.Node]) -> regex.Node:
    classes = [found for each in options if (found := characters_of(each)) is not None]
    if len(classes) < 2:
        return regex.alt(*options)
    one = regex.char_class([piece for found in classes for piece in found])
    return regex.alt(one, *(each for each in options if characters_of(each) is None))


def _runs_joined(parts: Sequence[regex.Node]) -> list[regex.Node]:
    """The parts of a sequence, neighbours that repeat the same character as one."""
    found: list[regex.Node] = []
    run: tuple[regex.CodePoints, regex.Node, int, int | None] | None = None
    for part in parts:
        least, most, inner = _times(part)
        characters = characters_of(inner)
        if run is not None and characters == run[0]:
            before = run[3]
            both = None if most is None or before is None else before + most
            run = characters, inner, run[2] + least, both
            found[-1] = regex.repeat(inner, run[2], both)
            continue
        run = None if characters is None else (characters, inner, least, most)
        found.append(part)
    return found


def _times(node: regex.Node) -> tuple[int, int | None, regex.Node]:
    """How often what is inside is repeated."""
    if isinstance(node, regex.Repeat):
        return node.min_times, node.max_times, node.node
    return (0, 1, node.node) if isinstance(node, regex.Optional) else (1, 1, node)
