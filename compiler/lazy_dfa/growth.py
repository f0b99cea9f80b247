"""Whether the DFA of an expression grows beyond any proportion to it, as that of ``.*a.{20}`` does.

    [a-z]*-[0-9]{8}     37 states, 21 of the DFA       built
    .*a.{20}            187 states, 2^21 of the DFA    more than may be: its states are made lazily

Only what repeats without an end and also counts is looked at, so that other grammars do not wait;
and it is counted, not timed: the same on each machine.
"""

from collections.abc import Iterable

from ..automata import regex_ir as regex
from ..automata.assertions import resolved
from ..automata.determinize import determinize
from ..automata.thompson import thompson
from ..diagnostics import LimitError
from ..grammar.tree import Expr, Pattern, Repetition, walk
from ..grammar.tree import Sequence as Concatenation
from ..limits import Limits
from .joined_characters import with_joined_characters

# So many places in a row make as many sets of them as 2 to that.
_MANY = 9

# An automaton grows if it has so many times the states of the NFA.
_TIMES_NFA = 8

# Larger NFAs are not looked at.
_MOST_STATES = 5_000


def may_count(bodies: Iterable[Expr]) -> bool:
    """Whether rules count, or have as many places in a row as would matter."""
    for body in bodies:
        for part in walk(body):
            if isinstance(part, Pattern) and any(map(_counts, regex.walk(part.node))):
                return True
            if isinstance(part, Repetition) and max(part.min_times, part.max_times or 0) >= _MANY:
                return True
            if isinstance(part, Concatenation) and len(part.items) >= _MANY:
                return True
    return False


def grows(node: regex.Node, most: int, limits: Limits) -> bool:
    """Whether the DFA of an expression has more states than ``most``, and many times those of its
    NFA. Raises ``LimitError`` on time and resident memory."""
    joined = with_joined_characters(node)
    parts = list(regex.walk(joined))
    if any(isinstance(part, regex.And | regex.Not) for part in parts):
        return False
    is_endless = any(isinstance(p, regex.Repeat) and p.max_times is None for p in parts)
    if not is_endless or not any(map(_counts, parts)):
        return False
    try:
        nfa = thompson(resolved(joined, limits), limits.within(_MOST_STATES))
    except LimitError as error:
        return _is_measured(error)
    try:
        determinize(nfa, limits.within(max(most, _TIMES_NFA * nfa.states)))
    except LimitError as error:
        return not _is_measured(error)
    return False


def _is_measured(error: LimitError) -> bool:
    """Raise the error if it is; else False."""
    if error.is_measured:
        raise error
    return False


def _counts(node: regex.Node) -> bool:
    if isinstance(node, regex.Seq):
        return len(node.parts) >= _MANY
    return isinstance(node, regex.Repeat) and max(node.min_times, node.max_times or 0) >= _MANY
