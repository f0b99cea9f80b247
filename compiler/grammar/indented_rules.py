"""The rules of a grammar with INDENT and DEDENT, ready to be copied: blocks, brackets, and what
repeats lines.

    suite: _NEWLINE _INDENT stmt+ _DEDENT    ->    suite: _NEWLINE <suite block 1>
                                                   suite block 1: stmt <suite more 2>
                                                   suite more 2: | stmt <suite more 2>
"""

from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from itertools import pairwise

from ..automata.folding import fold
from ..automata.graphs import reached
from ..diagnostics import CheckError, Diagnostic, Span
from .productive import nullable_rules
from .tree import (
    Choice,
    Expr,
    Grammar,
    Indentation,
    Literal,
    Permutation,
    Reference,
    Repetition,
    Rule,
    Sequence,
    children,
    references,
    walk,
    with_children,
)

# How often lines may stand that are counted.
_MOST_COPIES = 1_000

_OPENING, _CLOSING = frozenset(b"([{"), frozenset(b")]}")

# What line breaks are called where no rule has one right before INDENT.
_USUAL = ("_NEWLINE", "_NL", "NEWLINE", "NL")


class IndentedRules:
    """The rules of a grammar that are no terminals, one body each, in which blocks and what
    repeats lines are rules of their own."""

    def __init__(self, grammar: Grammar, indentation: Indentation) -> None:
        self.grammar, self.indentation = grammar, indentation
        self.terminals = {rule.name: rule for rule in grammar.rules if rule.terminal}
        self.bodies: dict[str, Expr] = {}
        for rule in grammar.rules:
            if not rule.terminal:
                before = self.bodies.get(rule.name)
                both = () if before is None else (before, rule.body)
                self.bodies[rule.name] = Choice(both, rule.span) if both else rule.body
        self.newline = self._newline()
        marks = {self.newline.name, indentation.indent, indentation.dedent}
        # Rules that have to do with lines, and others with brackets inside.
        self.of_lines = self._users(lambda part: name_of(part) in marks)
        self.blocks: set[str] = set()
        self.written: dict[str, str] = {name: name for name in self.bodies}
        for name in list(self.bodies):
            body = fold(self.bodies[name], children, partial(self._prepared, name))
            self.bodies[name] = body
            self._check((body,))
        self.of_lines |= self._users(lambda part: name_of(part) in marks)
        self.bracketed = self._users(lambda part: bool(self.bracket(part))) - self.of_lines
        every = [Rule(n, body.span, body, body.span) for n, body in self.bodies.items()]
        self.nullable = nullable_rules([*every, *self.terminals.values()]) - self.blocks

    def refusal(self, message: str, place: Expr, hint: str) -> CheckError:
        """The error that something is not supported."""
        return CheckError(self.grammar.source, [Diagnostic(message, place.span, hint)])

    def bracket(self, expr: Expr) -> int:
        """1 for an opening bracket, -1 for a closing one."""
        while isinstance(expr, Reference) and expr.name in self.terminals:
            expr = self.terminals[expr.name].body
        if not isinstance(expr, Literal) or len(expr.data) != 1:
            return 0
        return (expr.data[0] in _OPENING) - (expr.data[0] in _CLOSING)

    def _level(self, expr: Expr) -> int:
        """1 for INDENT and an opening bracket, -1 for DEDENT and a closing one."""
        names = {self.indentation.indent: 1, self.indentation.dedent: -1}
        return names.get(name_of(expr), 0) or self.bracket(expr)

    def _newline(self) -> Reference:
        """What stands right before INDENT."""
        found: dict[str, Reference] = {}
        for body in self.bodies.values():
            for part in walk(body):
                items = part.items if isinstance(part, Sequence) else ()
                for one, other in pairwise(items):
                    if name_of(other) == self.indentation.indent and name_of(one) in self.terminals:
                        assert isinstance(one, Reference)
                        found.setdefault(one.name, one)
        place = next(iter(self.bodies.values())).span
        for name in () if found else _USUAL:
            if name in self.terminals:
                found.setdefault(name, Reference(name, self.terminals[name].name_span))
        if len(found) != 1:
            what = " and ".join(found) or "no terminal"
            message = f"line breaks are one terminal right before {self.indentation.indent}"
            raise self.refusal(
                f"{message}, and here {what}", Literal(b"", place), "name one _NEWLINE"
            )
        return next(iter(found.values()))

    def _users(self, holds: Callable[[Expr], bool]) -> set[str]:
        """Rules with such a part, and those that use them."""
        self.users: dict[str, list[str]] = defaultdict(list)
        for name, body in self.bodies.items():
            for use in references(body):
                self.users[use.name].append(name)
        first = [name for name, body in self.bodies.items() if any(map(holds, walk(body)))]
        return set(reached(first, self.users.__getitem__))

    def _prepared(self, owner: str, expr: Expr, parts: list[Expr]) -> Expr:
        match expr:
            case Sequence():
                return self._sequence(owner, parts, expr.span)
            case Repetition() if self._has_lines(parts[0]):
                return self._repeated(owner, replace(expr, item=parts[0]))
            case Permutation() if any(map(self._has_lines, parts)):
                raise self.refusal(
                    "lines in any order are not supported", expr, "write the orders out"
                )
        self._check(parts)
        return with_children(expr, tuple(parts))

    def _check(self, parts: Iterable[Expr]) -> None:
        for part in parts:
            if self._level(part):
                what = name_of(part) or "a bracket"
                hint = "what begins a block or opens a bracket has its end in the same sequence"
                raise self.refusal(f"{what} stands alone here", part, hint)

    def _has_lines(self, expr: Expr) -> bool:
        of_lines = {*self.of_lines, self.newline.name}
        return any(use.name in of_lines for use in references(expr))

    def _sequence(self, owner: str, parts: Iterable[Expr], span: Span) -> Expr:
        """The items, those between INDENT and DEDENT as one."""
        flat = [
            i for part in parts for i in (part.items if isinstance(part, Sequence) else (part,))
        ]
        stack: list[tuple[Expr, list[Expr]]] = []
        items: list[Expr] = []
        for item in flat:
            level, is_bracket = self._level(item), self.bracket(item) != 0
            if level > 0:
                stack.append((item, items))
                items = [item] if is_bracket else []
            elif level < 0:
                if not stack or bool(self.bracket(stack[-1][0])) != is_bracket:
                    self._check((item,))
                _, before = stack.pop()
                if is_bracket:
                    items = [*before, Sequence((*items, item), span)]
                else:
                    block = self._rule(owner, "block", joined(items, span))
                    self.blocks.add(block.name)
                    items = [*before, block]
            else:
                items.append(item)
        self._check(item for item, _ in stack)
        return joined(items, span)

    def _repeated(self, owner: str, expr: Repetition) -> Expr:
        """As a rule that goes on with itself, or copies."""
        item, low, high = expr.item, expr.min_times, expr.max_times
        if max(low, high or 0) > _MOST_COPIES:
            hint = "count them by another rule, or leave the bound out"
            raise self.refusal(f"lines are counted to at most {_MOST_COPIES:,}", expr, hint)
        rest: Expr = nothing(expr)
        if high is None:
            more = self._rule(owner, "more", rest)
            self.bodies[more.name] = either([rest, Sequence((item, more), expr.span)])
            rest = more
        for _ in range((high or low) - low):
            rest = either([nothing(expr), Sequence((item, rest), expr.span)])
        return joined([item] * low + [rest], expr.span)

    def _rule(self, owner: str, kind: str, body: Expr) -> Reference:
        """A use of a new rule of lines."""
        name = f"{owner} {kind} {len(self.bodies)}"
        self.bodies[name], self.written[name] = body, owner
        self.of_lines.add(name)
        return Reference(name, body.span)


def name_of(expr: Expr) -> str:
    """The name of a use, else nothing."""
    return expr.name if isinstance(expr, Reference) else ""


def nothing(expr: Expr) -> Expr:
    """The empty text, at the place of an expression."""
    return Literal(b"", expr.span)


def joined(items: list[Expr], place: Span) -> Expr:
    """One after the other; what is inside of them stays."""
    if len(items) > 1:
        return Sequence(tuple(items), place)
    return items[0] if items else Literal(b"", place)


def either(options: list[Expr]) -> Expr:
    """One of them."""
    return Choice(tuple(options), options[0].span) if len(options) > 1 else options[0]
