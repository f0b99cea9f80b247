"""Disjunctive normal form: which conjunctions of signed expressions are the members of one.

    (a & ~b) | ~(c & d)    ->    {a, not b}, {not c}, {not d}
    ~(.{5,200})            ->    {not .*}, {.{0,4}}, {.{201,}}

What is no intersection or complement stays a part, whatever is inside it; it is text of UTF-8.
"""

from itertools import product
from typing import NamedTuple, TypeAlias

from ..automata import regex_ir as regex
from ..thresholds import MANY
from .joined_characters import characters_of, with_joined_characters

# More conjunctions than this are not made.
_MOST = 64

# Complements in complements, deeper than anyone writes.
_DEEPEST = 50


class Signed(NamedTuple):
    """``node``: what a text must match, or must not."""

    node: regex.Node
    is_required: bool


Parts: TypeAlias = tuple[Signed, ...]


class TooManyError(Exception):
    """There are more conjunctions than are made."""


def conjunctions_of(node: regex.Node) -> list[Parts]:
    """The conjunctions of an expression; none if it is seen to match nothing. Raises
    ``TooManyError``."""
    return _form(with_joined_characters(node), True, 0)


def repeated_character(node: regex.Node) -> regex.Repeat | None:
    """The node where it is one character many times, which are bounds of the length."""
    if not isinstance(node, regex.Repeat):
        return None
    most = node.min_times if node.max_times is None else node.max_times
    return node if most >= MANY and characters_of(node.node) is not None else None


def _form(node: regex.Node, is_required: bool, depth: int) -> list[Parts]:
    if depth > _DEEPEST:
        raise TooManyError
    match node:
        case regex.Not(inner):
            return _form(inner, not is_required, depth + 1)
        case regex.And(parts):
            return (_all if is_required else _any)(
                [_form(part, is_required, depth + 1) for part in parts]
            )
        case regex.Alt(options) if any(map(_is_operation, options)):
            return (_any if is_required else _all)(
                [_form(option, is_required, depth + 1) for option in options]
            )
        case regex.Alt(options) if not is_required and any(map(repeated_character, options)):
            return _all([_form(option, False, depth + 1) for option in options])
        case regex.Optional(inner) if _is_operation(inner):
            return _form(regex.Alt((regex.EPSILON, inner)), is_required, depth)
    repeated = repeated_character(node)
    if repeated is None or is_required:
        return [(Signed(node, is_required),)]
    found: list[Parts] = [(Signed(regex.Repeat(repeated.node, 0, None), False),)]
    if repeated.min_times:
        found.append((Signed(regex.repeat(repeated.node, 0, repeated.min_times - 1), True),))
    if repeated.max_times is not None:
        found.append((Signed(regex.repeat(repeated.node, repeated.max_times + 1, None), True),))
    return found


def _is_operation(node: regex.Node) -> bool:
    if isinstance(node, regex.Alt | regex.Optional):
        return any(map(_is_operation, regex.parts_of(node)))
    return isinstance(node, regex.And | regex.Not)


def _any(forms: list[list[Parts]]) -> list[Parts]:
    found = [parts for form in forms for parts in form]
    if len(found) > _MOST:
        raise TooManyError
    return found


def _all(forms: list[list[Parts]]) -> list[Parts]:
    total = 1
    for form in forms:
        total *= len(form)
        if total > _MOST:
            raise TooManyError
    return [tuple(each for parts in chosen for each in parts) for chosen in product(*forms)]
