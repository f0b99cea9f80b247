r"""Automata of patterns: the decoded texts in which a regular expression of ECMA-262 is found.

^(?!x)[a-z]+$   ->   (?!x)[a-z]+        b|^a   ->   any text, b, any text; a, any text
"""

from functools import lru_cache

from ..automata import regex_ir as ir
from ..automata.assertions import resolved
from ..automata.boolean import difference
from ..automata.determinize import subsets
from ..automata.dfa import Dfa
from ..automata.minimize import SMALL, minimal, minimal_via_lists, minimize
from ..automata.thompson import Thompson, thompson
from ..grammar.regex_lexer import ECMA, UnexpectedError
from ..grammar.regex_parser import Parser
from ..limits import Limits, in_force_or

# Automata that are kept.
_KEPT = 512

_START, _END = ir.LookKind.START_TEXT, ir.LookKind.END_TEXT


class PatternError(Exception):
    """What is wrong with a pattern: ``index``, the character where; ``message``; ``hint``, how to
    mend it, or empty."""

    def __init__(self, index: int, message: str, hint: str = "") -> None:
        super().__init__(f"character {index + 1} of the pattern: {message}")
        self.index, self.message, self.hint = index, message, hint


def parse(pattern: str, limits: Limits | None = None) -> ir.Node:
    """The expression of a pattern. Raises ``PatternError``."""
    parser = Parser(pattern, in_force_or(limits or Limits()), frozenset([ECMA]))
    try:
        node = parser.parse()
        first = next(iter(parser.found), None)
    except UnexpectedError as error:
        first = error.diagnostic
    if first is not None:
        raise PatternError(first.span.start if first.span else 0, first.message, first.help or "")
    return node


@lru_cache(_KEPT)
def search(pattern: str, limits: Limits | None = None) -> Dfa:
    """The texts, in UTF-8, in which a pattern is found; minimal.

    Raises ``PatternError``, and ``LimitError``.
    """
    node, limits = parse(pattern), (limits or Limits()).started()
    options = [_anywhere(option) for option in _options(node)]
    node = ir.alt(*options)
    # Where one is found that any text may follow, nothing else matters any more.
    open_ended = [option for option in options if _is_open_ended(option)]
    if not open_ended or ir.looks(node):
        return minimal(thompson(resolved(node, limits), limits), limits)
    builder = Thompson(limits)
    nfa = builder.nfa
    found = builder.compile(ir.alt(*map(_without_rest, open_ended)))
    first_of_rest = nfa.states
    rest = builder.compile(ir.EVERYTHING)
    builder.add_epsilon(found.end, rest.start)
    of_rest = range(first_of_rest, nfa.states)
    others = builder.compile(ir.alt(*(each for each in options if not _is_open_ended(each))))
    nfa.start = builder.new_state()
    nfa.epsilon[nfa.start] = [found.start, others.start]
    nfa.finals = frozenset([rest.end, others.end])

    def prune(states: frozenset[int]) -> frozenset[int]:
        if rest.end not in states:
            return states
        return frozenset(state for state in states if state in of_rest)

    reached = subsets(nfa, limits, prune=prune)
    if reached.edges > SMALL:
        return minimize(reached.dfa(limits), limits)
    return minimal_via_lists(reached, limits)


@lru_cache(64)
def white_space(pattern: str) -> Dfa:
    """The texts that the whole of a pattern matches, white space of a text's own. Raises
    ``ValueError`` for a pattern that cannot be read, and for texts that are no white space of
    JSON."""
    try:
        found = search(f"^(?:{pattern})$")
    except PatternError as error:
        raise ValueError(f"the pattern {pattern!r:.60} of white space: {error}") from None
    octets = ir.char_class((ord(char), ord(char)) for char in " \t\n\r")
    spaces = minimal(thompson(ir.repeat(octets, 0, None)))
    if found.is_empty or not difference(found, spaces).is_empty:
        raise ValueError(f"the pattern {pattern!r:.60} has to match white space, and it alone")
    return found


def _options(node: ir.Node) -> tuple[ir.Node, ...]:
    return node.options if isinstance(node, ir.Alt) else (node,)


def _anywhere(option: ir.Node) -> ir.Node:
    """An option with any text around it, where it does not stand at an edge of the text."""
    parts = list(option.parts) if isinstance(option, ir.Seq) else [option]
    before: ir.Node = ir.EVERYTHING
    after: ir.Node = ir.EVERYTHING
    while parts and _is_edge(parts[0], _START):
        del parts[0]
        before = ir.EPSILON
    while parts and _is_edge(parts[-1], _END):
        del parts[-1]
        after = ir.EPSILON
    return ir.seq(before, *parts, after)


def _is_edge(part: ir.Node, kind: ir.LookKind) -> bool:
    return isinstance(part, ir.Look) and part.kind is kind


def _is_open_ended(node: ir.Node) -> bool:
    """Whether any text may follow what an option begins with."""
    return node is ir.EVERYTHING or (isinstance(node, ir.Seq) and node.parts[-1:] == _REST)


_REST = (ir.EVERYTHING,)


def _without_rest(node: ir.Node) -> ir.Node:
    return ir.seq(*node.parts[:-1]) if isinstance(node, ir.Seq) else ir.EPSILON
