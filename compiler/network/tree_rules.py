"""A grammar's tree as numbered expressions, without what no member needs.

    start ::= 'a' (b | c)? d*;      0 'a'   1 b   2 c   3 choice of 1, 2   4 3 at most once
    b ::= b 'x' | 'y';              5 d     6 5 any number of times        7 0, 4, 6 in a row
                                    …
    b is 'y' and then any number of 'x'

Expressions that match no text are left out, and those that match ε alone; so are rules that no
member needs. A rule that begins with itself is a loop (``Loop``); other left recursion is for
``left_recursion``. All of it is linear in the tree, whose levels may be tens of thousands.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeAlias

from ..automata import regex_ir as regex
from ..automata.assertions import resolved
from ..automata.nfa import FIRST_TERMINAL, matches_empty, without_dead_ends
from ..grammar.tree import (
    Choice,
    Difference,
    Excluding,
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
from ..limits import Limits, blaming
from ..unicode import utf8

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

# The least and the most (None: any number), and how its author wrote that, for messages.
_Times: TypeAlias = tuple[int, int | None, str]

_STAGE = "the grammar's rules"

# Characters of a part that a message may want to show.
_SHOWN = 80


@dataclass(frozen=True, slots=True)
class Orders:
    """A permutation: whether the last part separates the others, and how many of these there are
    (None: all)."""

    has_separator: bool
    least: int
    most: int | None


@dataclass(frozen=True, slots=True, eq=False)
class Loop:
    """A rule: one of ``heads``, and then any number of ``tails``, in any order."""

    heads: Sequence[int]
    tails: Sequence[int]


class Rules:
    """The rules of a grammar in which nothing is excluded or ignored any more.

    Expression e is of the kind ``kinds[e]``, with ``contents[e]`` and the expressions ``parts[e]``.
    Rule r is called ``names[r]``, and ``bodies[r]`` is what it matches. ``start``: a rule.
    ``counted``: the repetitions of which there is one copy, set by ``tree_counts``.
    ``terminals``: T, the number of token terminals. Raises ``LimitError``.
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
        self.counted: frozenset[int] = frozenset()
        shown = {rule.name: rule.shown for rule in grammar.rules}
        self._numbers = {name: number for number, name in enumerate(shown)}
        self.names = list(shown.values())
        options: list[list[int]] = [[] for _ in self.names]
        done: dict[int, int] = {}
        for rule in grammar.rules:
            with blaming([rule.shown]):
                options[self._numbers[rule.name]].append(self._added(rule.body, done))
        self.bodies = [
            found[0] if len(found) == 1 else self._new(ANY, tuple(found)) for found in options
        ]
        self.start = self._numbers[grammar.start]
        self._replace_leaves()
        self._prune()
        self.nullable = self._nullables()

    @property
    def written(self) -> "Rules":
        """The rules of the tree, some of which begin with themselves."""
        return self

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

    def _added(self, root: Expr, done: dict[int, int]) -> int:
        """The number of an expression; ``done``: those of all that have one, by ``id``."""
        pending = [root]
        while pending:
            expr = pending[-1]
            if id(expr) in done:
                pending.pop()
                continue
            match expr:
                case Literal():
                    found = self._new(LITERAL, (), expr.data)
                case Reference():
                    found = self._new(RULE, (), self._numbers[expr.name])
                case Concatenation() | Choice() | Permutation():
                    items = children(expr)
                    missing = [item for item in items if id(item) not in done]
                    if missing:
                        pending.extend(missing)
                        continue
                    found = self._compound(expr, [done[id(item)] for item in items])
                case Repetition(max_times=0):
                    found = self._new(LITERAL, (), b"")
                case Repetition():
                    if id(expr.item) not in done:
                        pending.append(expr.item)
                        continue
                    times = expr.min_times, expr.max_times, self._written(expr)
                    found = self._repeated(done[id(expr.item)], times)
                case Pattern():
                    found = self._pattern(resolved(expr.node, self._limits))
                case Token():
                    symbol = FIRST_TERMINAL + self._tokens[expr.meaning]
                    found = self._new(RUNS, (), (symbol, symbol))
                case Difference() | Excluding():
                    raise ValueError("exclusions are resolved before rules are numbered")
            pending.pop()
            done[id(expr)] = found
            if not found & 31:
                self._limits.check_resources(_STAGE, self._longest)
        return done[id(root)]

    def _compound(self, expr: Concatenation | Choice | Permutation, items: list[int]) -> int:
        if not isinstance(expr, Permutation):
            return self._new(ALL if isinstance(expr, Concatenation) else ANY, tuple(items))
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
        done: dict[int, int] = {}
        pending = [root]
        while pending:
            node = pending[-1]
            if id(node) in done:
                pending.pop()
                continue
            inside = regex.parts_of(node)
            missing = [part for part in inside if id(part) not in done]
            if missing:
                pending.extend(missing)
                continue
            pending.pop()
            done[id(node)] = self._regex(node, tuple(done[id(part)] for part in inside))
        return done[id(root)]

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
        kinds, contents, times = self.kinds, self.contents, self._times
        for e in [e for e, kind in enumerate(kinds) if kind == RULE]:
            body = self.bodies[self.rule(e)]
            (part,) = self.parts[body] if times.get(body, (1,))[:2] == (0, 1) else (body,)
            if kinds[part] in (RUNS, CHARACTER):
                kinds[e], contents[e], self.parts[e] = kinds[body], contents[body], self.parts[body]
                times |= {e: times[body]} if part != body else {}

    # --- what holds of expressions

    def _holding(self, leaf: Callable[[int], bool], all_of: Callable[[int], bool]) -> bytearray:
        """For each expression whether something holds: for leaves by ``leaf``; for others that
        ``all_of`` names if it holds for all parts, else if it does for one; for those that name a
        rule if it does for the rule's body. The least solution (Dowling and Gallier 1984)."""
        users: list[list[int]] = [[] for _ in self.kinds]
        naming: list[list[int]] = [[] for _ in self.bodies]
        missing = [1] * len(self.kinds)
        ready = []
        for e, kind in enumerate(self.kinds):
            if kind == RULE:
                naming[self.rule(e)].append(e)
            elif kind < RULE:
                if leaf(e):
                    ready.append(e)
            else:
                if all_of(e):
                    missing[e] = len(self.parts[e])
                if not missing[e] or leaf(e):
                    ready.append(e)
                for part in self.parts[e]:
                    users[part].append(e)
        for rule, body in enumerate(self.bodies):
            users[body] += naming[rule]
        holds = bytearray(len(self.kinds))
        while ready:
            e = ready.pop()
            if holds[e]:
                continue
            holds[e] = 1
            for user in users[e]:
                missing[user] -= 1
                if missing[user] <= 0:
                    ready.append(user)
        return holds

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

    def _nullables(self) -> bytearray:
        """Which expressions match ε."""
        return self._holding(
            lambda e: self._is_nullable_leaf(e), all_of=lambda e: self.kinds[e] in (ALL, ORDERS)
        )

    def _is_nullable_leaf(self, e: int) -> bool:
        kind = self.kinds[e]
        if kind == LITERAL:
            return not self.contents[e]
        if kind == TIMES:
            return self.times(e)[0] == 0
        return kind == AUTOMATON and matches_empty(self.contents[e])

    def _prune(self) -> None:
        """Leave out what matches no text, and what matches ε alone."""
        kinds = self.kinds
        productive = self._holding(
            lambda e: (self.times(e)[0] == 0) if kinds[e] == TIMES else kinds[e] < RULE,
            all_of=lambda e: kinds[e] in (ALL, ORDERS),
        )
        self.is_empty = not productive[self.bodies[self.start]]
        if self.is_empty:
            return
        with_text = self._with_text()
        if not all(productive) or not all(with_text):
            self._leave_out(productive, with_text)

    def _with_text(self) -> bytearray:
        """Which expressions have a text that is not empty."""
        kinds, contents = self.kinds, self.contents
        has_text = lambda e: bool(contents[e]) if kinds[e] == LITERAL else kinds[e] < RULE  # noqa: E731
        return self._holding(has_text, all_of=lambda _: False)

    def _leave_out(self, productive: bytearray, with_text: bytearray) -> None:
        if not all(productive):
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
            with_text = self._with_text()
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

    # --- rules

    @cached_property
    def loops(self) -> list[Loop]:
        """Each rule, direct left recursion being a loop."""
        return [self._loop(rule, body) for rule, body in enumerate(self.bodies)]

    def _loop(self, rule: int, body: int) -> Loop:
        heads, tails = [], []
        for option in self.options(body):
            items = list(self.items(option))
            if not items or self.kinds[items[0]] != RULE or self.rule(items[0]) != rule:
                heads.append(option)
            elif len(items) == 2:
                tails.append(items[1])
            elif len(items) > 2:
                tails.append(self._new(ALL, tuple(items[1:])))
                self.nullable.append(all(self.nullable[item] for item in items[1:]))
        return Loop(heads, tails)

    def options(self, e: int) -> Iterator[int]:
        """What an expression is a choice of, through choices in choices."""
        return self._flat(e, ANY)

    def items(self, e: int) -> Iterator[int]:
        """What an expression is a sequence of, through sequences in sequences."""
        return self._flat(e, ALL)

    def _flat(self, e: int, kind: int) -> Iterator[int]:
        pending = [e]
        while pending:
            current = pending.pop()
            if self.kinds[current] == kind:
                pending.extend(reversed(self.parts[current]))
            else:
                yield current

    @cached_property
    def reached(self) -> list[int]:
        """The rules that the start needs, itself included, ascending."""
        found, pending = {self.start}, [self.start]
        for rule in pending:
            for used in self.used_by(rule):
                if used not in found:
                    found.add(used)
                    pending.append(used)
        return sorted(found)

    def reached_expressions(self) -> Iterator[int]:
        """The expressions of the rules that the start needs, each once."""
        seen = set[int]()
        for rule in self.reached:
            pending = [*self.loops[rule].heads, *self.loops[rule].tails]
            while pending:
                e = pending.pop()
                if e not in seen:
                    seen.add(e)
                    yield e
                    pending.extend(self.parts[e])

    def used_by(self, rule: int) -> Iterator[int]:
        """The rules that a rule's body names, as often as it does."""
        pending = [self.bodies[rule]]
        while pending:
            e = pending.pop()
            if self.kinds[e] == RULE:
                yield self.rule(e)
            pending.extend(reversed(self.parts[e]))

    def is_nullable(self, rule: int) -> bool:
        """Whether a rule matches ε."""
        return bool(self.nullable[self.bodies[rule]])

    def repeated(self, e: int) -> bool:
        """Whether an expression is a part more than once, or one part behind another."""
        if self.kinds[e] == ORDERS:
            return True
        if self.kinds[e] != TIMES:
            return False
        high = self.times(e)[1]
        return high is None or high > 1

    def uses(self, expressions: Iterable[int], *, at_end: bool) -> Iterator[tuple[int, bool, int]]:
        """The rules that expressions name: (rule, whether nothing follows, how often it is copied).

        ``at_end``: nothing follows the expressions themselves.
        """
        pending = [(e, at_end, 1) for e in expressions]
        while pending:
            e, last, count = pending.pop()
            kind, parts = self.kinds[e], self.parts[e]
            if kind == RULE:
                yield self.rule(e), last, count
            elif kind == ALL:
                pending.extend((part, False, count) for part in parts[:-1])
                pending.extend((part, last, count) for part in parts[-1:])
            elif kind == ANY:
                pending.extend((part, last, count) for part in parts)
            elif kind == ORDERS:
                pending.extend((self.parts[part][0], False, count) for part in parts)
            elif kind == TIMES:
                low, high, _ = self.times(e)
                copies = max(low + 1 if high is None else high, 1)
                if e in self.counted:
                    copies = 1
                pending.append((parts[0], last and high == 1, count * copies))
