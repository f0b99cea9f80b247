r"""Automata of patterns: the decoded texts in which a regular expression of ECMA-262 is found.

    ^(?!x)[a-z]+$   ->   (texts without x at their beginning) and (letters)

What a pattern asks of the text before and behind a place is made a part of what is before or behind
it: with A for what may stand before, Z behind, in any text,

    ^     A becomes ε if that is in A             $     Z becomes ε if that is in Z
    (?<=x)  A becomes A & any* x                  (?=x)   Z becomes Z & x any*
    (?<!x)  A becomes A & not any* x              (?!x)   Z becomes Z & not x any*

so each is exact. Inside a repetition there is not one text before and one behind, and of looks in
both directions one would have to be first: there, edges are assertions of the automaton, and
look-around becomes guards (``pattern_looks``). Only what looks in one direction from inside a look
in the other is refused.
"""

from functools import lru_cache, reduce
from itertools import groupby

from ..automata import regex_ir as ir
from ..automata.assertions import resolved
from ..automata.boolean import difference
from ..automata.determinize import subsets
from ..automata.dfa import Dfa
from ..automata.minimize import SMALL, minimal, minimal_via_lists, minimize
from ..automata.thompson import Thompson, thompson
from ..limits import Limits
from .pattern_looks import Guard, guarded
from .pattern_tree import (
    Around,
    Atom,
    Choice,
    Edge,
    PatternError,
    Repetition,
    Sequence,
    Tree,
    parse,
)

__all__ = ["PatternError", "parse", "search", "white_space"]

# Automata that are kept.
_KEPT = 512

_ANY_BYTES = ir.repeat(ir.byte_class([(0, 255)]), 0, None)
_WORD = Atom(ir.char_class([(0x30, 0x39), (0x41, 0x5A), (0x5F, 0x5F), (0x61, 0x7A)]))
_ANY = Atom(ir.byte_class([(0, 255)]))

# A part that is repeated so many times at most is written out where it looks around.
_FEW = 3


class _LookInsideError(Exception):
    """There is no one text before or behind a look-around."""


@lru_cache(_KEPT)
def search(pattern: str, limits: Limits | None = None) -> Dfa:
    """The texts, in UTF-8, in which a pattern is found; minimal.

    Raises ``PatternError``, and ``LimitError``.
    """
    tree, around, limits = parse(pattern), ir.EVERYTHING, (limits or Limits()).started()
    try:
        options = _options(tree, around, around)
    except _LookInsideError:
        guards: list[Guard] = []
        node = ir.seq(around, _guarded(tree, guards, limits), around)
        return guarded(node, guards, limits)
    return _compiled(options, limits)


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


def _compiled(options: list[ir.Node], limits: Limits) -> Dfa:
    """The minimal automaton of some options.

    Where one is found that any text may follow, nothing else matters any more.
    """
    node = ir.alt(*options)
    open_ended = [option for option in options if _is_open_ended(option)]
    if not open_ended or any(isinstance(part, ir.Look) for part in ir.walk(node)):
        return minimal(thompson(resolved(node, limits), limits), limits)
    builder = Thompson(limits)
    nfa = builder.nfa
    found = builder.compile(resolved(ir.alt(*map(_without_rest, open_ended)), limits))
    first_of_rest = nfa.states
    rest = builder.compile(ir.EVERYTHING)
    builder.add_epsilon(found.end, rest.start)
    of_rest = range(first_of_rest, nfa.states)
    others = builder.compile(
        resolved(ir.alt(*(option for option in options if not _is_open_ended(option))), limits)
    )
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


def _is_open_ended(node: ir.Node) -> bool:
    """Whether any text may follow what an option begins with."""
    return node is ir.EVERYTHING or (isinstance(node, ir.Seq) and node.parts[-1:] == _REST)


_REST = (ir.EVERYTHING,)


def _without_rest(node: ir.Node) -> ir.Node:
    return ir.seq(*node.parts[:-1]) if isinstance(node, ir.Seq) else ir.EPSILON


def _options(tree: Tree, before: ir.Node, behind: ir.Node) -> list[ir.Node]:
    """``before``, then the tree, then ``behind``, which are all of the text, as some options."""
    options = [tree]
    found: list[ir.Node] = []
    while options:
        parts = _joined(_in_order(_flat(options.pop())))
        looks = [place for place, part in enumerate(parts) if _looks(part, ahead=False)]
        first = looks[-1] + 1 if looks else 0
        mixed = [place for place in range(first) if _looks(parts[place], ahead=True)]
        spread = _options_of(parts[mixed[0]]) if mixed else []
        if spread:
            place = mixed[0]
            options.extend(
                Sequence((*parts[:place], option, *parts[place + 1 :]))
                for option in reversed(spread)
            )
            continue
        start = reduce(_then_behind, parts[:first], before)
        end = reduce(lambda rest, part: _ahead_of(part, rest), reversed(parts[first:]), behind)
        node = ir.seq(start, end)
        found.extend(node.options if isinstance(node, ir.Alt) else (node,))
    return found


def _flat(tree: Tree) -> list[Tree]:
    """The parts of a sequence, through sequences inside it."""
    if not isinstance(tree, Sequence):
        return [tree]
    return [inner for part in tree.parts for inner in _flat(part)]


def _in_order(parts: list[Tree]) -> list[Tree]:
    """Of neighbours that read nothing, those that look behind first."""
    ordered: list[Tree] = []
    for part in parts:
        place = len(ordered)
        if isinstance(part, Edge | Around) and not _looks(part, ahead=True):
            while place and isinstance(ordered[place - 1], Edge | Around):
                place -= 1
        ordered.insert(place, part)
    return ordered


def _joined(parts: list[Tree]) -> list[Tree]:
    """Neighbours that look at nothing are one part: of as many as a text has characters, each by
    itself would be put before all that follow."""
    found: list[Tree] = []
    for looks, same in groupby(parts, lambda p: _looks(p, ahead=True) or _looks(p, ahead=False)):
        group = list(same)
        found += group if looks else [Atom(ir.seq(*map(_plain, group)))]
    return found


def _looks(tree: Tree, ahead: bool) -> bool:
    """Whether a part asks for the text behind it (``ahead``), or for that before."""
    match tree:
        case Atom():
            return False
        case Edge():
            return tree.is_start != ahead
        case Around():
            return tree.is_ahead == ahead
        case _:
            return any(_looks(part, ahead) for part in _inside(tree))


def _inside(tree: Sequence | Choice | Repetition) -> tuple[Tree, ...]:
    if isinstance(tree, Repetition):
        return (tree.inside,)
    return tree.parts if isinstance(tree, Sequence) else tree.options


def _options_of(tree: Tree) -> list[Tree]:
    """What a part is a choice of, or nothing where it is none."""
    if isinstance(tree, Choice):
        return list(tree.options)
    if isinstance(tree, Repetition) and tree.most is not None and tree.most <= _FEW:
        counts = range(tree.least, tree.most + 1)
        return [Sequence((tree.inside,) * count) for count in counts]
    return []


def _then_behind(before: ir.Node, tree: Tree) -> ir.Node:
    """``before``, then a part that may look at all of it."""
    if not _looks(tree, ahead=False):
        return ir.seq(before, _plain(tree))
    match tree:
        case Edge():
            return _only_epsilon(before, ir.seq(before, _plain(tree)))
        case Around():
            looked = _then_behind(ir.EVERYTHING, tree.inside)
            return _both(before, looked, tree)
        case Sequence():
            return reduce(_then_behind, tree.parts, before)
    options = _options_of(tree)
    if not options:
        return ir.seq(before, _plain(tree))
    return ir.alt(*(_then_behind(before, option) for option in options))


def _ahead_of(tree: Tree, behind: ir.Node) -> ir.Node:
    """A part that may look at all of ``behind``, then that."""
    if not _looks(tree, ahead=True):
        return ir.seq(_plain(tree), behind)
    match tree:
        case Edge():
            return _only_epsilon(behind, ir.seq(_plain(tree), behind))
        case Around():
            looked = _ahead_of(tree.inside, ir.EVERYTHING)
            return _both(behind, looked, tree)
        case Sequence():
            return reduce(lambda rest, part: _ahead_of(part, rest), reversed(tree.parts), behind)
    options = _options_of(tree)
    if not options:
        return ir.seq(_plain(tree), behind)
    return ir.alt(*(_ahead_of(option, behind) for option in options))


def _only_epsilon(node: ir.Node, at_edge: ir.Node) -> ir.Node:
    """ε if it is in ``node``; ``at_edge``, the same with an assertion, where word boundaries in it
    make that depend on the rest."""
    if any(isinstance(part, ir.Look) for part in ir.walk(node)):
        return at_edge
    return ir.EPSILON if ir.is_nullable(node) else ir.NOTHING


def _both(node: ir.Node, looked: ir.Node, around: Around) -> ir.Node:
    condition = ir.negation(looked) if around.is_negative else looked
    return condition if node is ir.EVERYTHING else ir.intersection(node, condition)


def _plain(tree: Tree) -> ir.Node:
    """The expression of a part that stands where it cannot look around; edges are assertions."""
    match tree:
        case Atom():
            return tree.node
        case Edge():
            kind = ir.LookKind.START_TEXT if tree.is_start else ir.LookKind.END_TEXT
            return ir.Look(kind)
        case Around():
            raise _LookInsideError
        case Sequence():
            return ir.seq(*map(_plain, tree.parts))
        case Choice():
            return ir.alt(*map(_plain, tree.options))
        case Repetition():
            return ir.repeat(_plain(tree.inside), tree.least, tree.most, tree.text)


def _guarded(tree: Tree, guards: list[Guard], limits: Limits) -> ir.Node:
    """The expression of a part, with a token terminal for each guard, which is added to ``guards``.

    Raises ``PatternError``.
    """
    match tree:
        case Atom(ir.Look(kind)):
            # A boundary is between a letter and none; where there is no boundary, are two or none.
            is_boundary = kind is ir.LookKind.ASCII_WORD
            places = [
                Sequence((Around(False, no, _WORD, 0), Around(True, no != is_boundary, _WORD, 0)))
                for no in (False, True)
            ]
            return _guarded(Choice(tuple(places)), guards, limits)
        case Atom():
            return tree.node
        case Edge():
            # Behind the start there is no character, and none follows the end.
            return _guarded(Around(not tree.is_start, True, _ANY, 0), guards, limits)
        case Around():
            guards.append(Guard(tree.is_ahead, tree.is_negative, _language(tree, limits)))
            return ir.TokenTerminal(len(guards) - 1)
        case Sequence():
            return ir.seq(*(_guarded(part, guards, limits) for part in tree.parts))
        case Choice():
            return ir.alt(*(_guarded(option, guards, limits) for option in tree.options))
        case Repetition():
            inside = _guarded(tree.inside, guards, limits)
            return ir.repeat(inside, tree.least, tree.most, tree.text)


def _language(around: Around, limits: Limits) -> Dfa:
    """What may follow a look-ahead, or be before a look-behind."""
    # The text is one of characters in any case; bytes have smaller automata where that is not seen.
    beyond = _ANY_BYTES if _is_ascii(around.inside) else ir.EVERYTHING
    try:
        if around.is_ahead:
            node = _ahead_of(around.inside, beyond)
        else:
            node = _then_behind(beyond, around.inside)
    except _LookInsideError:
        node = ir.Look(ir.LookKind.WORD)
    if any(isinstance(part, ir.Look) for part in ir.walk(node)):
        name = "look-ahead" if around.is_ahead else "look-behind"
        raise PatternError(
            around.index,
            f"a {name} that itself looks in the other direction, or around inside a repetition",
            "write what is meant without it",
        )
    return minimal(thompson(resolved(node, limits), limits), limits)


def _is_ascii(tree: Tree) -> bool:
    """Whether a part reads ASCII only."""
    match tree:
        case Atom(ir.CharClass(ranges)):
            return ranges[-1][1] < 0x80
        case Atom(ir.Lit(data)):
            return data.isascii()
        case Atom() | Edge():
            return True
        case Around():
            return _is_ascii(tree.inside)
        case _:
            return all(map(_is_ascii, _inside(tree)))
