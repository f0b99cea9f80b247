"""A grammar's tree as numbered expressions, without what no member needs.

    start ::= 'a' (b | c)? d*;      0 'a'   1 b   2 c   3 choice of 1, 2   4 3 at most once
                                    5 d     6 5 any number of times        7 0, 4, 6 in a row

Expressions that match no text are left out, and those that match ε alone. All of it is linear in
the tree, whose levels may be tens of thousands.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from ..automata import regex_ir as regex
from ..automata import utf8
from ..automata.assertions import resolved
from ..automata.folding import fold
from ..automata.graphs import reverse_postorder
from ..automata.nfa import FIRST_TERMINAL, matches_empty, without_dead_ends
from ..diagnostics import LimitError
from ..grammar.tree import (
    Choice,
    Expr,
    Grammar,
    Literal,
    Pattern,
    Permutation,
    Reference,
    Repetition,
    Token,
    children,
)
from ..grammar.tree import Sequence as Concatenation
from ..limits import Limits
from ..lnf.components import derivable

# What an expression is. ``contents`` has of it
LITERAL = 0  # its bytes
RUNS = 1  # runs of one symbol, flat: low, high, low, high, …
CHARACTER = 2  # edges from node 0 to node 1, as ``utf8.automaton`` gives them
AUTOMATON = 3  # an ``Nfa``
RULE = 4  # the rule's number
ALL = 5  # nothing: its parts follow each other
ANY = 6  # nothing: it is one of its parts
TIMES = 7  # nothing: it is its part so many times as ``Rules.times`` says
ORDERS = 8  # ``Orders``: its parts, each so many times as one of ``TIMES``, in any order

# Those of one character.
_SHORT = frozenset([RUNS, CHARACTER])

# The least and the most (None: any number), and how its author wrote that, for messages.
_Times: TypeAlias = tuple[int, int | None, str]

# What may hold of an expression: that it has a member, one that is not ε, and ε. Of leaves that are
# not empty, by their kinds; and which of them hold, by their sum.
_MEMBER, _TEXT, _EMPTY = 1, 2, 4
_OF_LEAVES = bytes([_MEMBER | _TEXT] * RULE + [0] * (256 - RULE))
_HOLDS = {bit: bytes(int(bit & i > 0) for i in range(256)) for bit in (_MEMBER, _TEXT, _EMPTY)}

# So often all expressions are looked at in turn, before what holds is inferred in linear time.
_MOST_TURNS = 6

# So often in the order of the text, before it is by what uses what.
_FEW_TURNS = 2

STAGE = "the grammar's rules"

# Characters of a part that a message may want to show.
_SHOWN = 80


@dataclass(frozen=True, slots=True)
class Orders:
    """A permutation: whether the last part separates the others, and how many of these there are
    (None: all)."""

    has_separator: bool
    least: int
    most: int | None


class Expressions:
    """The expressions of the rules of a grammar in which nothing is excluded or ignored any more.

    Expression e is of the kind ``kinds[e]``, with ``contents[e]`` and the expressions ``parts[e]``,
    and matches ε where ``nullable[e]``. Rule r is called ``names[r]``, and ``bodies[r]`` is what it
    matches. ``start``: a rule; ``is_empty``: it has no member. ``terminals``: T, the number of
    token terminals. Raises ``LimitError``.
    """

    def __init__(self, grammar: Grammar, limits: Limits) -> None:
        self.grammar, self._limits = grammar, limits
        self._longest = tuple(grammar.longest_rule())
        self.terminals = len(grammar.tokens)
        self._tokens = {token.meaning: i for i, token in enumerate(grammar.tokens)}
        self.kinds: list[int] = []
        self.parts: list[tuple[int, ...]] = []
        self.contents: list[object] = []
        self._characters: dict[object, int] = {}
        self._times: dict[int, _Times] = {}
        shown = {rule.name: rule.shown for rule in grammar.rules}
        self._numbers = {name: number for number, name in enumerate(shown)}
        self.names = list(shown.values())
        options: list[list[int]] = [[] for _ in self.names]
        done: dict[int, int] = {}
        begins = [0]
        for rule in grammar.rules:
            try:
                found = self._added(rule.expressions, done)
            except LimitError as error:
                raise error if error.rules else error.blaming([rule.shown]) from error
            options[self._numbers[rule.name]].append(found)
            begins.append(len(self.kinds))
        self.bodies = [
            found[0] if len(found) == 1 else self._new(ANY, tuple(found)) for found in options
        ]
        self.start = self._numbers[grammar.start]
        self._replace_leaves()
        # Parts before what they are parts of; and most rules are named before they are defined.
        self._count = len(self.kinds)
        self._spans = [*map(range, begins, [*begins[1:], self._count])]
        self._are_trees = len(done) == sum(len(rule.expressions) for rule in grammar.rules)
        *spans, made = self._spans
        self._order = self._with_parts([*(spans[::-1] if self._are_trees else spans), made])
        self.nullable = self._prune().translate(_HOLDS[_EMPTY])

    # --- from the tree

    def _new(self, kind: int, parts: tuple[int, ...] = (), content: object = None) -> int:
        self.kinds.append(kind)
        self.parts.append(parts)
        self.contents.append(content)
        return len(self.kinds) - 1

    def _repeated(self, part: int, times: _Times) -> int:
        found = self._new(TIMES, (part,))
        self._times[found] = times
        return found

    def _added(self, expressions: Sequence[Expr], done: dict[int, int]) -> int:
        """The number of the first of expressions, after which stands all inside it, in the order
        of the text; ``done``: those of all that have one, by ``id``."""
        kinds, all_parts, contents = self.kinds, self.parts, self.contents
        numbers = self._numbers
        expr: Any
        for expr in reversed(expressions):
            if id(expr) in done:
                continue
            number, kind = len(kinds), expr.__class__
            parts: tuple[int, ...] = ()
            content: object = None
            if kind is Reference:
                code, content = RULE, numbers[expr.name]
            elif kind is Literal:
                code, content = LITERAL, expr.data
            elif kind is Concatenation:
                code, parts = ALL, tuple([done[id(item)] for item in expr.items])
            elif kind is Choice:
                code, parts = ANY, tuple([done[id(item)] for item in expr.options])
            else:
                done[id(expr)] = self._other(expr, done)
                continue
            kinds.append(code)
            all_parts.append(parts)
            contents.append(content)
            done[id(expr)] = number
            if not number & 31:
                self._limits.check_resources(STAGE, self._longest)
        return done[id(expressions[0])]

    def _other(self, expr: Expr, done: dict[int, int]) -> int:
        match expr:
            case Repetition(max_times=0):
                return self._new(LITERAL, (), b"")
            case Repetition():
                times = expr.min_times, expr.max_times, self._written(expr)
                return self._repeated(done[id(expr.item)], times)
            case Pattern(regex.CharClass(ranges)):
                return self._character(ranges)
            case Pattern():
                return self._pattern(resolved(expr.node, self._limits))
            case Token():
                symbol = FIRST_TERMINAL + self._tokens[expr.meaning]
                return self._new(RUNS, (), (symbol, symbol))
            case Permutation():
                return self._permutation(expr, [done[id(item)] for item in children(expr)])
            case _:
                raise ValueError("exclusions are resolved before rules are numbered")

    def _permutation(self, expr: Permutation, items: list[int]) -> int:
        times = [(int(p.is_required), None if p.is_repeated else 1, "") for p in expr.parts]
        times += [(0, 1, "")] * (expr.separator is not None)
        parts = tuple(map(self._repeated, items, times))
        return self._new(ORDERS, parts, Orders(expr.separator is not None, expr.least, expr.most))

    def _written(self, expr: Repetition) -> str:
        if expr.max_times in (None, 1) and expr.min_times <= 1:
            return ""
        first, last = expr.span.start, expr.span.end
        return self.grammar.source.text[first : min(last, first + _SHOWN)]

    def _pattern(self, root: regex.Node) -> int:
        return fold(root, regex.parts_of, lambda node, parts: self._regex(node, tuple(parts)))

    def _regex(self, node: regex.Node, parts: tuple[int, ...]) -> int:
        match node:
            case regex.Lit(data):
                return self._new(LITERAL, (), data)
            case regex.CharClass(ranges):
                return self._character(ranges)
            case regex.ByteClass(ranges):
                return self._new(RUNS, (), tuple(octet for run in ranges for octet in run))
            case regex.TokenTerminal(index):
                return self._new(RUNS, (), (FIRST_TERMINAL + index,) * 2)
            case regex.Seq():
                return self._new(ALL, parts)
            case regex.Alt():
                return self._new(ANY, parts)
            case regex.Repeat(max_times=0):
                return self._new(LITERAL, (), b"")
            case regex.Repeat(_, low, high, text):
                return self._repeated(parts[0], (low, high, text))
            case regex.Optional():
                return self._repeated(parts[0], (0, 1, ""))
            case regex.Embedded(automaton):
                return self._new(AUTOMATON, (), without_dead_ends(automaton))
            case _:
                raise TypeError(f"{type(node).__name__}: resolve the expression first")

    def _character(self, ranges: regex.CodePoints) -> int:
        """One expression for each class of characters."""
        found = self._characters.get(ranges)
        if found is None:
            if not ranges:
                found = self._new(ANY)
            elif ranges[-1][1] < 0x80:
                found = self._new(RUNS, (), tuple(octet for run in ranges for octet in run))
            else:
                found = self._new(CHARACTER, (), utf8.automaton(ranges))
            self._characters[ranges] = found
        return found

    def _replace_leaves(self) -> None:
        """A rule of one symbol or character, or at most one, is itself wherever it is named."""
        kinds, bodies, times = self.kinds, self.bodies, self._times
        contents: list[Any] = self.contents
        for e in [e for e, kind in enumerate(kinds) if kind == RULE]:
            body = part = bodies[contents[e]]
            if kinds[body] == TIMES and times[body][:2] == (0, 1):
                (part,) = self.parts[body]
            if kinds[part] in _SHORT:
                kinds[e], contents[e], self.parts[e] = kinds[body], contents[body], self.parts[body]
                times |= {e: times[body]} if part != body else {}

    # --- what holds of expressions

    def _holding(self) -> bytearray:
        """What holds of each expression: the least solution."""
        kinds, parts, bodies = self.kinds, self.parts, self.bodies
        contents: list[Any] = self.contents
        holds = bytearray(bytes(kinds).translate(_OF_LEAVES))
        for e in [e for e, kind in enumerate(kinds) if kind in (LITERAL, AUTOMATON)]:
            if kinds[e] == LITERAL and not contents[e]:
                holds[e] = _MEMBER | _EMPTY
            elif kinds[e] == AUTOMATON and matches_empty(contents[e]):
                holds[e] |= _EMPTY
        later = range(self._count, len(kinds))
        order = [*self._order, *later]
        names = [e for e in order if kinds[e] == RULE]
        for turn in range(_MOST_TURNS):
            if turn == _FEW_TURNS:
                self._order = self._callees_first()
                order = [*self._order, *later]
            before = bytes(holds)
            for e in order:
                kind, found = kinds[e], 0
                if kind == RULE:
                    found = holds[bodies[contents[e]]]
                elif kind == ANY:
                    for part in parts[e]:
                        found |= holds[part]
                elif kind == TIMES:
                    found = holds[parts[e][0]]
                    if not self._times[e][0]:
                        found |= _MEMBER | _EMPTY
                elif kind >= RULE:
                    every = _MEMBER | _EMPTY
                    for part in parts[e]:
                        every &= holds[part]
                        found |= holds[part]
                    found = found & _TEXT | every
                else:
                    continue
                holds[e] = found
            of_names = self._are_trees and all(
                holds[e] == holds[bodies[contents[e]]] for e in names
            )
            if of_names or holds == before:
                return holds
        for bit in _HOLDS:
            for e in derivable(self._clauses(holds, bit)):
                holds[e] |= bit
        return holds

    def _with_parts(self, spans: Iterable[range]) -> list[int]:
        """The expressions with parts, and uses of rules."""
        return [e for span in spans for e in span if self.kinds[e] >= RULE]

    def _callees_first(self) -> list[int]:
        """The same, rules before those that use them."""
        places: dict[int, list[int]] = {}
        for place, rule in enumerate(self.grammar.rules):
            places.setdefault(self._numbers[rule.name], []).append(place)
        used = [
            [p for e in span if self.kinds[e] == RULE for p in places.get(self.rule(e), ())]
            for span in self._spans
        ]
        found = reverse_postorder(len(used), range(len(used)), used.__getitem__)
        return self._with_parts(self._spans[place] for place in reversed(found))

    def _nullables(self) -> bytearray:
        """Which expressions match ε, those that were added later too."""
        return self._holding().translate(_HOLDS[_EMPTY])

    def _clauses(self, holds: bytearray, bit: int) -> Iterator[tuple[int, set[int]]]:
        """Expressions of which something holds where it does of others, or is known to."""
        for e, kind in enumerate(self.kinds):
            if holds[e] & bit:
                yield e, set()
            elif kind == RULE:
                yield e, {self.bodies[self.rule(e)]}
            elif kind in (ALL, ORDERS) and bit != _TEXT:
                yield e, set(self.parts[e])
            else:
                yield from ((e, {part}) for part in self.parts[e])

    def rule(self, e: int) -> int:
        """The rule that an expression of the kind ``RULE`` names."""
        rule = self.contents[e]
        assert isinstance(rule, int)
        return rule

    def times(self, e: int) -> _Times:
        """Of an expression of the kind ``TIMES`` the least and the most, and its text."""
        return self._times[e]

    def orders(self, e: int) -> Orders:
        """Of an expression of the kind ``ORDERS`` what is said of its parts."""
        orders = self.contents[e]
        assert isinstance(orders, Orders)
        return orders

    def _prune(self) -> bytearray:
        """Leave out what matches no text, and what matches ε alone; what held of all."""
        holds = self._holding()
        self.is_empty = not holds[self.bodies[self.start]] & _MEMBER
        productive, with_text = holds.translate(_HOLDS[_MEMBER]), holds.translate(_HOLDS[_TEXT])
        if self.is_empty or (0 not in productive and 0 not in with_text):
            return holds
        self._leave_out(productive, with_text)
        return holds

    def _leave_out(self, productive: bytearray, with_text: bytearray) -> None:
        if 0 in productive:
            for e in (e for e, kind in enumerate(self.kinds) if kind == ORDERS):
                separator = self.parts[self.parts[e][-1]][0]
                if self.orders(e).has_separator and not productive[separator]:
                    # No second part follows.
                    self.contents[e] = replace(self.orders(e), most=1)
            # Text that only what is left out has is none.
            for e, parts in enumerate(self.parts):
                if not productive[e]:
                    self.kinds[e], self.parts[e], self.contents[e] = ANY, (), None
                elif self.kinds[e] == ANY:
                    self.parts[e] = tuple(part for part in parts if productive[part])
                elif self.kinds[e] == TIMES and not productive[parts[0]]:
                    self.kinds[e], self.parts[e], self.contents[e] = LITERAL, (), b""
            with_text = self._holding().translate(_HOLDS[_TEXT])
        for e, parts in enumerate(self.parts):
            if not productive[e]:
                continue
            if not with_text[e]:
                self.kinds[e], self.parts[e], self.contents[e] = LITERAL, (), b""
            elif self.kinds[e] == ALL:
                self.parts[e] = tuple(part for part in parts if with_text[part])
            elif self.kinds[e] == ORDERS:
                self._leave_out_parts(e, [bool(with_text[part]) for part in parts])

    def _leave_out_parts(self, e: int, with_text: list[bool]) -> None:
        """Leave out the parts without text, what separates the others among them."""
        orders, parts = self.orders(e), self.parts[e]
        if orders.has_separator and not with_text[-1]:
            orders = replace(orders, has_separator=False)
        self.parts[e] = tuple(p for p, kept in zip(parts, with_text, strict=True) if kept)
        self.contents[e] = orders
