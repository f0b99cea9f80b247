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
from . import tree
from .productive import nullable_rules

# How often lines may stand that are counted.
_MOST_COPIES = 1_000

_OPENING, _CLOSING = frozenset(b"([{"), frozenset(b")]}")

# What line breaks are called where no rule has one right before INDENT.
_USUAL = ("_NEWLINE", "_NL", "NEWLINE", "NL")


class IndentedRules:
    """The rules of a grammar that are no terminals, one body each, in which blocks and what
    repeats lines are rules of their own."""

    def __init__(self, grammar: tree.Grammar, indentation: tree.Indentation) -> None:
        self.grammar, self.indentation = grammar, indentation
        self.terminals = {rule.name: rule for rule in grammar.rules if rule.terminal}
        self.bodies: dict[str, tree.Expr] = {}
        for rule in grammar.rules:
            if not rule.terminal:
                before = self.bodies.get(rule.name)
                both = () if before is None else (before, rule.body)
                self.bodies[rule.name] = tree.Choice(both, rule.span) if both else rule.body
        self.newline = self._newline()
        marks = {self.newline.name, indentation.indent, indentation.dedent}
        # Rules that have to do with lines, and others with brackets inside.
        self.of_lines = self._users(lambda part: name_of(part) in marks)
        self.blocks: set[str] = set()
        self.written: dict[str, str] = {name: name for name in self.bodies}
        for name in list(self.bodies):
            body = fold(self.bodies[name], tree.children, partial(self._prepared, name))
            self.bodies[name] = body
            self._check((body,))
        self.of_lines |= self._users(lambda part: name_of(part) in marks)
        self.bracketed = self._users(lambda part: bool(self.bracket(part))) - self.of_lines
        every = [tree.Rule(n, body.span, body, body.span) for n, body in self.bodies.items()]
        self.nullable = nullable_rules([*every, *self.terminals.values()]) - self.blocks

    def refusal(self, message: str, place: tree.Expr, hint: str) -> CheckError:
        """The error that something is not supported."""
        return CheckError(self.grammar.source, [Diagnostic(message, place.span, hint)])

    def bracket(self, expr: tree.Expr) -> int:
        """1 for an opening bracket, -1 for a closing one."""
        while isinstance(expr, tree.Reference) and expr.name in self.terminals:
            expr = self.terminals[expr.name].body
        if not isinstance(expr, tree.Literal) or len(expr.data) != 1:
            return 0
        return (expr.data[0] in _OPENING) - (expr.data[0] in _CLOSING)

    def _level(self, expr: tree.Expr) -> int:
        """1 for INDENT and an opening bracket, -1 for DEDENT and a closing one."""
        names = {self.indentation.indent: 1, self.indentation.dedent: -1}
        return names.get(name_of(expr), 0) or self.bracket(expr)

    def _newline(self) -> tree.Reference:
        """What stands right before INDENT."""
        found: dict[str, tree.Reference] = {}
        for body in self.bodies.values():
            for part in tree.walk(body):
                items = part.items if isinstance(part, tree.Sequence) else ()
                for one, other in pairwise(items):
                    if name_of(other) == self.indentation.indent and name_of(one) in self.terminals:
                        assert isinstance(one, tree.Reference)
                        found.setdefault(one.name, one)
        place = next(iter(self.bodies.values())).span
        for name in () if found else _USUAL:
            if name in self.terminals:
                found.setdefault(name, tree.Reference(name, self.terminals[name].name_span))
        if len(found) != 1:
            what = " and ".join(found) or "no terminal"
            message = f"line breaks are one terminal right before {self.indentation.indent}"
            raise self.refusal(
                f"{message}, and here {what}", tree.Literal(b"", place), "name one _NEWLINE"
            )
        return next(iter(found.values()))

    def _users(self, holds: Callable[[tree.Expr], bool]) -> set[str]:
        """Rules with such a part, and those that use them."""
        self.users: dict[str, list[str]] = defaultdict(list)
        for name, body in self.bodies.items():
            for use in tree.references(body):
                self.users[use.name].append(name)
        first = [name for name, body in self.bodies.items() if any(map(holds, tree.walk(body)))]
        return set(reached(first, self.users.__getitem__))

    def _prepared(self, owner: str, expr: tree.Expr, parts: list[tree.Expr]) -> tree.Expr:
        match expr:
            case tree.Sequence():
                return self._sequence(owner, parts, expr.span)
            case tree.Repetition() if self._has_lines(parts[0]):
                return self._repeated(owner, replace(expr, item=parts[0]))
            case tree.Permutation() if any(map(self._has_lines, parts)):
                raise self.refusal(
                    "lines in any order are not supported", expr, "write the orders out"
                )
        self._check(parts)
        return tree.with_children(expr, tuple(parts))

    def _check(self, parts: Iterable[tree.Expr]) -> None:
        for part in parts:
            if self._level(part):
                what = name_of(part) or "a bracket"
                hint = "what begins a block or opens a bracket has its end in the same sequence"
                raise self.refusal(f"{what} stands alone here", part, hint)

    def _has_lines(self, expr: tree.Expr) -> bool:
        of_lines = {*self.of_lines, self.newline.name}
        return any(use.name in of_lines for use in tree.references(expr))

    def _sequence(self, owner: str, parts: Iterable[tree.Expr], span: Span) -> tree.Expr:
        """The items, those between INDENT and DEDENT as one."""
        flat = [
            i
            for part in parts
            for i in (part.items if isinstance(part, tree.Sequence) else (part,))
        ]
        stack: list[tuple[tree.Expr, list[tree.Expr]]] = []
        items: list[tree.Expr] = []
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
                    items = [*before, tree.Sequence((*items, item), span)]
                else:
                    block = self._rule(owner, "block", joined(items, span))
                    self.blocks.add(block.name)
                    items = [*before, block]
            else:
                items.append(item)
        self._check(item for item, _ in stack)
        return joined(items, span)

    def _repeated(self, owner: str, expr: tree.Repetition) -> tree.Expr:
        """As a rule that goes on with itself, or copies."""
        item, low, high = expr.item, expr.min_times, expr.max_times
        if max(low, high or 0) > _MOST_COPIES:
            hint = "count them by another rule, or leave the bound out"
            raise self.refusal(f"lines are counted to at most {_MOST_COPIES:,}", expr, hint)
        rest: tree.Expr = nothing(expr)
        if high is None:
            more = self._rule(owner, "more", rest)
            self.bodies[more.name] = either([rest, tree.Sequence((item, more), expr.span)])
            rest = more
        for _ in range((high or low) - low):
            rest = either([nothing(expr), tree.Sequence((item, rest), expr.span)])
        return joined([item] * low + [rest], expr.span)

    def _rule(self, owner: str, kind: str, body: tree.Expr) -> tree.Reference:
        """A use of a new rule of lines."""
        name = f"{owner} {kind} {len(self.bodies)}"
        self.bodies[name], self.written[name] = body, owner
        self.of_lines.add(name)
        return tree.Reference(name, body.span)


def name_of(expr: tree.Expr) -> str:
    """The name of a use, else nothing."""
    return expr.name if isinstance(expr, tree.Reference) else ""


def nothing(expr: tree.Expr) -> tree.Expr:
    """The empty text, at the place of an expression."""
    return tree.Literal(b"", expr.span)


def joined(items: list[tree.Expr], place: Span) -> tree.Expr:
    """One after the other; what is inside of them stays."""
    if len(items) > 1:
        return tree.Sequence(tuple(items), place)
    return items[0] if items else tree.Literal(b"", place)


def either(options: list[tree.Expr]) -> tree.Expr:
    """One of them."""
    return tree.Choice(tuple(options), options[0].span) if len(options) > 1 else options[0]
