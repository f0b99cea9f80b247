"""Whether the DFA of an expression grows beyond any proportion to it, as that of ``.*a.{20}`` does.

    [a-z]*-[0-9]{8}     37 states, 21 of the DFA       built
    .*a.{20}            187 states, 2^21 of the DFA    more than may be: its states are made lazily

Only what repeats without an end and also counts is looked at, so that other grammars do not wait;
and it is counted, not timed: the same on each machine.
"""

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Any

from ..automata import regex_ir as regex
from ..automata.assertions import resolved
from ..automata.determinize import determinize
from ..automata.thompson import thompson
from ..diagnostics import LimitError
from ..grammar.tree import Expr, Literal, Pattern, Repetition, Rule
from ..grammar.tree import Sequence as Concatenation
from ..limits import Limits
from ..thresholds import MANY
from .behind_loops import first_bytes, may_fall_behind
from .joined_characters import with_joined_characters

# Larger NFAs are not looked at.
_MOST_STATES = 5_000


def may_count(rules: Iterable[Rule]) -> bool:
    """Whether rules count, or have as many places in a row as would matter."""
    part: Any
    for rule in rules:
        for part in rule.expressions:
            kind = part.__class__
            if kind is Repetition:
                if max(part.min_times, part.max_times or 0) >= MANY:
                    return True
            elif kind is Concatenation:
                if len(part.items) >= MANY and _are_many(part.items):
                    return True
            elif kind is Pattern and any(map(_counts, regex.walk(part.node))):
                return True
    return False


def _are_many(items: Sequence[Expr]) -> bool:
    """Whether enough items in a row are no literals: between these each place has its byte."""
    groups = groupby(items, lambda item: isinstance(item, Literal))
    return any(not fixed and sum(1 for _ in run) >= MANY for fixed, run in groups)


def may_grow(node: regex.Node, most: int) -> bool:
    """Whether an expression repeats without an end, and counts but for ``most`` of 0."""
    parts = list(regex.walk(node))
    endless = any(isinstance(p, regex.Repeat) and p.max_times is None for p in parts)
    return endless and (not most or any(map(_counts, parts)))


def grows(node: regex.Node, most: int, limits: Limits) -> bool:
    """Whether the DFA of an expression that counts, but for ``most`` of 0, has more states than
    that, and texts are in many places of it. Raises ``LimitError`` on time and resident memory."""
    if not may_grow(node, most):
        return False
    joined = with_joined_characters(node)
    parts = list(regex.walk(joined))
    if any(isinstance(part, regex.And | regex.Not) for part in parts):
        return False
    if most and not any(map(_counts, parts)):
        return False
    if most and not (_is_ambiguous(joined) and may_fall_behind(joined)):
        return False
    try:
        nfa = thompson(resolved(joined, limits), limits.within(_MOST_STATES))
    except LimitError as error:
        return _is_measured(error)
    try:
        determinize(nfa, limits.within(most))
    except LimitError as error:
        return not _is_measured(error)
    return False


def _is_ambiguous(node: regex.Node) -> bool:
    """Whether a first byte may lead to several places from inside what repeats without an end; if
    none does, texts are in few places at once (one-unambiguous: Brüggemann-Klein and Wood 1998)."""
    firsts, nullable = first_bytes(node), regex.nullable_inside(node)
    # Expressions, the first bytes of what may follow, and whether that repeats without an end.
    pending = [(node, 0, False)]
    seen = set()
    for current, behind, is_inside in pending:
        if (id(current), behind, is_inside) in seen:
            continue
        seen.add((id(current), behind, is_inside))
        match current:
            case regex.Seq(parts):
                after = behind
                for part in reversed(parts):
                    pending.append((part, after, is_inside))
                    own = firsts[id(part)]
                    after = own | after if id(part) in nullable else own
            case regex.Alt(options):
                several = sum(firsts[id(each)].bit_count() for each in options)
                overlaps = several > firsts[id(current)].bit_count()
                leaves = id(current) in nullable and firsts[id(current)] & behind
                if is_inside and (overlaps or leaves):
                    return True
                pending.extend((option, behind, is_inside) for option in options)
            case regex.Repeat(inner, _, most):
                again = firsts[id(inner)]
                if again & behind and (is_inside or most is None):
                    return True
                pending.append((inner, behind | again, is_inside or most is None))
            case regex.Optional(inner):
                if is_inside and firsts[id(inner)] & behind:
                    return True
                pending.append((inner, behind, is_inside))
            case regex.Lit() | regex.CharClass():
                pass
            case _:
                return True
    return False


def _is_measured(error: LimitError) -> bool:
    """Raise the error if it is; else False."""
    if error.is_measured:
        raise error
    return False


def _counts(node: regex.Node) -> bool:
    if isinstance(node, regex.Seq):
        return len(node.parts) >= MANY
    return isinstance(node, regex.Repeat) and max(node.min_times, node.max_times or 0) >= MANY
