"""What of a grammar texts can cover: its rules, alternatives, repetitions, keys and edges.

    list ::= item (',' item)*;      rule list, rule item
    item ::= 'a' | #'[0-9]+';       2 alternatives; the repetition 0 times, 1 time, many times;
                                    edges of the pattern: the first digit, more digits

Of a schema nobody wrote the rules: there its places count, named by their pointers, and the keys of
its objects, there and missing, besides alternatives, repetitions and edges.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from ..automata.dump import class_text
from ..diagnostics import Span, shortened
from ..grammar import tree
from ..lazy_dfa.expression import bodies_of
from ..limits import Limits
from .patterns import DfaMatcher, Edge, EdgeWords, Matching

RULE, ALTERNATIVE, REPETITION, KEY, EDGE = "rule", "alternative", "repetition", "key", "edge"
KINDS = (RULE, ALTERNATIVE, REPETITION, KEY, EDGE)

# Of a repetition, by how often it repeats; the last is also for more.
TIMES = ("0 times", "1 time", "many times")

# Of a key, by whether a member of the object has it.
MISSING, THERE = "missing", "there"

# What helpers and automata of a schema are called after the pointer of their schema.
_BEHIND = re.compile(r"( (string|number|\d+))+$")

# Trees have no brackets, so that a group at the end of an expression is cut.
_BRACKETS = (("(", ")"), ("[", "]"))

# Of a longer expression the brackets are not looked for, and the rest is not shown.
_LONG = 400

# Characters around an expression in which its bracket is.
_NEAR = 80

# Characters of a part that are shown.
_SHOWN = 60

# The items of a repetition's cases, -1 for those that do not count.
Cases: TypeAlias = tuple[int, int, int]
NO_CASES: Cases = (-1, -1, -1)


@dataclass(frozen=True, slots=True)
class Item:
    """One thing that a derivation uses or does not use.

    ``kind``: one of ``KINDS``. ``rule``: where it stands, in a schema a pointer. ``span``: its
    place in the grammar's text. ``text``: as it is written there; of an edge its bytes. ``case``:
    of a repetition, a key or an edge, which one. ``group``: the same number for what a derivation
    chooses from at one place."""

    kind: str
    rule: str
    span: Span
    text: str
    case: str = ""
    group: int = 0

    @property
    def said(self) -> str:
        """In a few words: ``alternative "b" in list``."""
        inside = f" in {self.rule}" if self.rule and self.kind != RULE else ""
        case = f", {self.case}" if self.case else ""
        return f"{self.kind} {self.text}{case}{inside}"


class Items:
    """The items of a grammar, numbered in the order of its text, and where derivations meet them.

    ``rules``, ``definitions``, ``options``, ``counts``, ``parts``, ``keys`` and ``edges`` give the
    numbers of a rule by its name; of the k-th definition of a name; of the k-th option of a
    ``Choice``; of the cases of a ``Repetition``; of the i-th part of a ``Permutation``; of a
    ``Literal`` that is a key; of the edges of a ``Pattern``: expressions by their ``id``.
    ``ignored``: the numbers of what is ignored.
    """

    def __init__(self, grammar: tree.Grammar, matcher: Matching, limits: Limits) -> None:
        self._grammar, self._matcher, self._limits = grammar, matcher, limits
        self.all: list[Item] = []
        self.rules: dict[str, int] = {}
        self.definitions: dict[tuple[str, int], int] = {}
        self.options: dict[tuple[int, int], int] = {}
        self.counts: dict[int, Cases] = {}
        self.parts: dict[tuple[int, int], Cases] = {}
        self.keys: dict[int, int] = {}
        self.edges: dict[int, dict[Edge, int]] = {}
        self._groups = 0
        self._distinct: dict[tuple[str, str, str, str], int] = {}
        self._seen: set[int] = set()
        for name, rules in bodies_of(grammar).items():
            self._add_rule(name, rules)
        self._begin_group()
        self.ignored = [
            self._new(Item(ALTERNATIVE, "", *self._place(body), "ignored"))
            for body in grammar.ignored
        ]
        for body in grammar.ignored:
            self._add_body(body, "")

    def _new(self, item: Item) -> int:
        self._limits.check_resources("the list of items", [item.rule])
        self.all.append(replace(item, group=self._groups))
        return len(self.all) - 1

    def _begin_group(self) -> None:
        """What is added from here on is of one place."""
        self._groups += 1

    def _once(self, item: Item) -> int:
        """The number of an item of a schema, whose rules may stand for one place."""
        key = item.kind, item.rule, item.text, item.case
        if key not in self._distinct:
            self._distinct[key] = self._new(item)
        return self._distinct[key]

    def _add_rule(self, name: str, rules: Sequence[tree.Rule]) -> None:
        first = rules[0]
        if self._grammar.is_of_schemas or name in self._grammar.embedded_rules:
            pointer = _BEHIND.sub("", name)
            if "#" in pointer:
                found = self._once(Item(RULE, pointer, first.span, pointer))
                self.rules[name] = found
                for rule in rules:
                    self._add_of_schema(rule.body, pointer, rule.span)
            return
        shown = first.shown
        self._begin_group()
        self.rules[name] = self._new(Item(RULE, shown, first.name_span, shown))
        self._begin_group()
        for number, rule in enumerate(rules):
            if len(rules) > 1 and not isinstance(rule.body, tree.Choice):
                item = Item(ALTERNATIVE, shown, *self._place(rule.body))
                self.definitions[name, number] = self._new(item)
        for rule in rules:
            self._add_body(rule.body, shown)

    def _new_inside(self, body: tree.Expr) -> Iterator[tree.Expr]:
        """The expressions in a body that were not seen before; each begins a group."""
        pending = [body]
        while pending:
            expr = pending.pop()
            if id(expr) not in self._seen:
                self._seen.add(id(expr))
                self._begin_group()
                yield expr
                pending.extend(reversed(self._inside(expr)))

    def _add_body(self, body: tree.Expr, rule: str) -> None:
        for expr in self._new_inside(body):
            match expr:
                case tree.Choice():
                    for k, option in enumerate(expr.options):
                        if not isinstance(option, tree.Choice):
                            item = Item(ALTERNATIVE, rule, *self._place(option))
                            self.options[id(expr), k] = self._new(item)
                case tree.Repetition():
                    item = Item(REPETITION, rule, *self._place(expr))
                    self.counts[id(expr)] = self._counted(expr.min_times, expr.max_times, item)
                case tree.Permutation():
                    for i, part in enumerate(expr.parts):
                        self._begin_group()
                        item = Item(REPETITION, rule, *self._place(part.item))
                        self.parts[id(expr), i] = self._counted(*_bounds(part), item)
                case tree.Pattern():
                    self._add_edges(expr, rule, expr.span)

    def _inside(self, expr: tree.Expr) -> tuple[tree.Expr, ...]:
        if isinstance(expr, tree.Difference):
            # What it takes away derives nothing.
            return (expr.left,)
        inner = self._matcher.tree_of(expr)
        return tree.children(expr) if inner is None else (inner,)

    def _counted(self, low: int, high: int | None, item: Item) -> Cases:
        """The cases that the bounds allow, if there are several."""
        most = len(TIMES) - 1
        possible = [
            n for n in range(len(TIMES)) if min(low, most) <= n and (high is None or n <= high)
        ]
        if len(possible) < 2:
            return NO_CASES
        numbers = {
            n: self._new(Item(item.kind, item.rule, item.span, item.text, TIMES[n]))
            for n in possible
        }
        zero, one, many = (numbers.get(n, -1) for n in range(len(TIMES)))
        return zero, one, many

    def _add_edges(self, expr: tree.Pattern, rule: str, span: Span) -> None:
        matcher = self._matcher(expr)
        if isinstance(matcher, DfaMatcher):
            self.edges[id(expr)] = {
                each.edge: self._new(Item(EDGE, rule, span, *edge_text(each)))
                for each in matcher.edges
            }

    def _place(self, expr: tree.Expr) -> tuple[Span, str]:
        """Where an expression stands, with the brackets at its ends, and how it is written."""
        text = self._grammar.source.text
        start, end = expr.span.start, expr.span.end
        for opening, closing in _BRACKETS if end - start <= _LONG else ():
            depth = least = 0
            for char in text[start:end]:
                depth += (char == opening) - (char == closing)
                least = min(least, depth)
            before, behind = text[max(start - _NEAR, 0) : start], text[end : end + _NEAR]
            if least < 0 and before.rstrip().endswith(opening):
                start -= len(before) - before.rindex(opening)
                depth += 1
            if depth > 0 and behind.lstrip().startswith(closing):
                end += behind.index(closing) + 1
        written = " ".join(text[start : min(end, start + _LONG)].split())
        return Span(start, end), shortened(written, _SHOWN)

    # --- of schemas

    def _add_of_schema(self, body: tree.Expr, pointer: str, span: Span) -> None:
        choices = 0
        for expr in self._new_inside(body):
            match expr:
                case tree.Choice():
                    choices += 1
                    self._add_options(expr, pointer, span, choices)
                case tree.Sequence():
                    for key in _keys(expr):
                        self.keys[id(key)] = self._once(
                            Item(KEY, pointer, span, key.data.decode("utf-8", "replace"), THERE)
                        )
                case tree.Repetition():
                    item = Item(REPETITION, pointer, span, _said_of_repeated(expr.item))
                    bounds = expr.min_times, expr.max_times
                    self.counts[id(expr)] = self._of_members(expr.item, *bounds, item)
                case tree.Permutation():
                    for i, part in enumerate(expr.parts):
                        said = _said_in_schema(part.item) or "members"
                        item = Item(REPETITION, pointer, span, said)
                        self.parts[id(expr), i] = self._of_members(part.item, *_bounds(part), item)
                case tree.Pattern():
                    self._add_edges(expr, pointer, span)

    def _add_options(self, expr: tree.Choice, pointer: str, span: Span, number: int) -> None:
        for k, option in enumerate(expr.options):
            if isinstance(option, tree.Choice):
                continue
            text = _said_in_schema(option) or f"{k + 1} of {len(expr.options)}"
            if isinstance(option, tree.Literal) and not option.data:
                text = "nothing"
            if number > 1:
                text += f" (choice {number})"
            self.options[id(expr), k] = self._new(Item(ALTERNATIVE, pointer, span, text))

    def _of_members(self, expr: tree.Expr, low: int, high: int | None, item: Item) -> Cases:
        """The cases of a repetition; of a key that may be missing, that it is."""
        keys = [key for inside in _sequences(expr) for key in _keys(inside)]
        if (low, high) != (0, 1) or len(keys) != 1:
            return self._counted(low, high, item)
        text = keys[0].data.decode("utf-8", "replace")
        return self._once(Item(KEY, item.rule, item.span, text, MISSING)), -1, -1


def edge_text(words: EdgeWords) -> tuple[str, str]:
    """What an edge reads, and after which text."""
    read = "any other character" if words.edge.wide else class_text(words.ranges)
    if not words.before:
        return read, "at the beginning"
    before = class_text([(octet, octet) for octet in words.before[-1:]])
    if len(words.before) == 1:
        return read, f"after {before}"
    text = "".join(class_text([(octet, octet)])[1:-1] for octet in words.before)
    return read, f'after "{text}"'


def _bounds(part: tree.Part) -> tuple[int, int | None]:
    """How often a part of a permutation is there, at the least and at most."""
    return int(part.is_required), None if part.is_repeated else 1


def _sequences(expr: tree.Expr) -> Iterator[tree.Sequence]:
    """The sequences in an expression."""
    return (e for e in tree.walk(expr) if isinstance(e, tree.Sequence))


def _keys(expr: tree.Sequence) -> Iterable[tree.Literal]:
    """The literals of a sequence that are a key: a colon follows."""
    for first, second in zip(expr.items, expr.items[1:], strict=False):
        if (
            isinstance(first, tree.Literal)
            and first.data[:1] == b'"'
            and _begins_with_colon(second)
        ):
            yield first


def _begins_with_colon(expr: tree.Expr) -> bool:
    """Whether white space and a colon are what comes."""
    items = expr.items if isinstance(expr, tree.Sequence) else (expr,)
    return any(isinstance(item, tree.Literal) and item.data == b":" for item in items)


def _said_in_schema(expr: tree.Expr) -> str:
    """A literal, or the pointer of the first schema in an expression; empty if there is neither."""
    if isinstance(expr, tree.Literal):
        return expr.data.decode("utf-8", "replace")
    for each in tree.walk(expr):
        if isinstance(each, tree.Reference):
            pointer = _BEHIND.sub("", each.name)
            if "#" in pointer and pointer == each.name:
                return pointer
    return ""


def _said_of_repeated(expr: tree.Expr) -> str:
    """The same of what is repeated; after a comma, further ones."""
    parts = (part for inside in _sequences(expr) for part in inside.items)
    further = any(isinstance(part, tree.Literal) and part.data == b"," for part in parts)
    return "further " * further + (_said_in_schema(expr) or "parts")
