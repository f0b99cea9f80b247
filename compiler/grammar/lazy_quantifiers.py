"""Terminals with lazy quantifiers: what a lexer takes of a text by them.

    COMMENT: "/*" /(.|\\n)*?/ "*/"    ->    texts with one ``*/``, at their end

Lark joins what a terminal is made of to one regex, its alternatives sorted by how much they can
match (``lark.load_grammar.TerminalTreeToPattern``), and takes the match that Python's ``re``
prefers. That is an automaton (``compiler/grammar/preferred_matches.py``), whatever the quantifiers
govern. Where it is not known to agree with Python, the terminal is refused: beside anchors and word
boundaries, which look at the text around, and where something that may be empty is repeated.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from ..automata import regex_ir as regex
from ..automata.dfa import Dfa
from ..automata.folding import fold
from ..automata.graphs import components_by, reached
from ..automata.look_around import Followed
from ..diagnostics import CheckError, Diagnostic, Source, Span
from ..limits import Limits
from . import tree
from .preferred_matches import preferred_matches
from .productive import used_rules
from .regex_widths import width

_HINT = (
    "write a regex without lazy quantifiers that matches no more than is meant; "
    "--meaning exact reads them like the others"
)


class _Part(NamedTuple):
    """A part of a terminal, and how long Lark's regex of it is."""

    node: regex.Node
    length: int

    @property
    def order(self) -> tuple[int, int, int]:
        """Where it stands among alternatives: those that match most come first."""
        found = width(self.node)
        return -found.most, -found.fewest, -self.length


def lazy_dfa(
    expr: tree.Expr, bodies: Mapping[str, Sequence[tree.Rule]], source: Source, limits: Limits
) -> Dfa | Followed | None:
    """The minimal DFA of a terminal with lazy quantifiers, by what follows if it asks for that;
    None for one without them.

    ``bodies``: the rules by their names. Raises ``CheckError`` for a terminal that cannot be
    followed, or that takes nothing of any text; ``LimitError``.
    """
    names = _names_inside(expr, bodies)
    found = [expr, *(rule.body for name in names for rule in bodies[name])]
    parts = [part for body in found for part in tree.walk(body)]
    lazy = next((p for p in parts if isinstance(p, tree.Pattern) and regex.has_lazy(p.node)), None)
    if lazy is None:
        return None
    if _recurs(names, bodies):
        raise _refusal(source, lazy.span, "lazy quantifiers in a terminal that uses itself")
    node = _joined(expr, names, bodies)
    nullable = regex.nullable_inside(node)
    for part in regex.walk(node):
        if isinstance(part, regex.And | regex.Not | regex.Embedded):
            raise _refusal(source, lazy.span, "lazy quantifiers beside intersections")
        if isinstance(part, regex.Repeat) and part.max_times != 1 and id(part.node) in nullable:
            message = "lazy quantifiers where something that may be empty is repeated"
            raise _refusal(source, lazy.span, message)
    taken = preferred_matches(node, limits)
    dfa = taken.dfa if isinstance(taken, Followed) else taken
    if dfa.accepting[dfa.start] and not dfa.table[dfa.start].any():
        message = "this lazy terminal takes nothing of any text: it prefers the empty match"
        hint = "end it with what it should stop at, as in /.*?;/"
        raise CheckError(source, [Diagnostic(message, lazy.span, hint)])
    return taken


def with_joined_looks(
    rules: Sequence[tree.Rule], ignored: Sequence[tree.Expr], text: str
) -> list[tree.Rule]:
    """Rules in which a terminal with look-around is one regex, which sees all of the terminal;
    without those that were parts of such terminals alone.

    Only of terminals that are made of texts, regexes and other such terminals.
    """
    bodies: dict[str, list[tree.Rule]] = defaultdict(list)
    for rule in rules:
        bodies[rule.name].append(rule)
    parts: set[str] = set()

    def joined(rule: tree.Rule) -> tree.Rule:
        if not rule.terminal or isinstance(rule.body, tree.Pattern):
            return rule
        names = _names_inside(rule.body, bodies)
        inside = [p for n in names for each in bodies[n] for p in each.expressions]
        inside += rule.expressions
        if not any(isinstance(p, tree.Pattern) and regex.outside_looks(p.node) for p in inside):
            return rule
        kinds = (
            tree.Literal
            | tree.Pattern
            | tree.Sequence
            | tree.Choice
            | tree.Repetition
            | tree.Reference
        )
        if not all(isinstance(p, kinds) for p in inside) or _recurs(names, bodies):
            return rule
        if not all(bodies[name] for name in names):
            return rule
        parts.update(names)
        span = rule.body.span
        node = _joined(rule.body, names, bodies)
        return replace(rule, body=tree.Pattern(node, text[span.start : span.end], span))

    found = list(map(joined, rules))
    others = [rule.name for rule in found if rule.name not in parts]
    ends = [use.name for body in ignored for use in tree.references(body)]
    used = set(used_rules(found, [*others, *ends]))
    return [rule for rule in found if rule.name in used]


def _refusal(source: Source, span: Span, what: str) -> CheckError:
    message = f"{what} are not supported by maximal munch"
    return CheckError(source, [Diagnostic(message, span, _HINT)])


def _names_inside(expr: tree.Expr, bodies: Mapping[str, Sequence[tree.Rule]]) -> list[str]:
    """The terminals that an expression uses, through others; each after all that it uses
    (where none uses itself)."""

    def used(name: str) -> list[str]:
        return [use.name for rule in bodies[name][:1] for use in tree.references(rule.body)]

    names = reached((use.name for use in tree.references(expr)), used)
    return [name for members in components_by({n: used(n) for n in names}) for name in members]


def _recurs(names: Sequence[str], bodies: Mapping[str, Sequence[tree.Rule]]) -> bool:
    """Whether some name is used by one that stands before it, or by itself."""
    done: set[str] = set()
    for name in names:
        for rule in bodies[name]:
            used = {part.name for part in tree.walk(rule.body) if isinstance(part, tree.Reference)}
            if not used <= done:
                return True
        done.add(name)
    return False


def _joined(
    expr: tree.Expr, names: Sequence[str], bodies: Mapping[str, Sequence[tree.Rule]]
) -> regex.Node:
    """The one regex of a terminal; ``names`` as ``_names_inside`` gives them."""
    made: dict[str, _Part] = {}

    def part(current: tree.Expr, inside: list[_Part]) -> _Part:
        length = sum(p.length for p in inside)
        match current:
            case tree.Literal(data):
                length = len(data.decode("utf-8"))
            case tree.Pattern(_, text):
                length = len(text)
            case tree.Reference(name):
                return made[name]
            case tree.Choice():
                inside = sorted(inside, key=lambda p: p.order)
                length += len(inside) + len("(?:)") - 1
            case tree.Repetition():
                length += len("(?:)?")
        return _Part(tree.regex_of(current, [p.node for p in inside]), length)

    for name in names:
        made[name] = fold(bodies[name][0].body, tree.children, part)
    return fold(expr, tree.children, part).node
