"""Permutations as rules, one for each set of parts that have begun.

    o ::= permute(a, b, c?)     ->     o   ::= a o1 | b o2 | c o3
                                       o1  ::= b o4 | c o5              a has begun
                                       o3  ::= a o5 | b o6              c has
                                       o4  ::= c | ε                    a and b have
                                       …

A set of n parts is 2ⁿ rules; engines that hold it in a frame need none of this.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace

from ..automata import regex_ir as regex
from ..automata.folding import fold
from ..diagnostics import Span
from ..limits import Limits
from .tree import (
    Choice,
    Expr,
    Grammar,
    Literal,
    Pattern,
    Permutation,
    Reference,
    Repetition,
    Rule,
    Sequence,
    children,
    walk,
    with_children,
)

_STAGE = "all orders of a permutation"

# States of a leaf that is no text, roughly.
_LEAF = 8

# Characters of a permutation that a message may want to show.
_SHOWN = 80


def permutations_of(grammar: Grammar) -> Iterator[Permutation]:
    """The permutations in a grammar's rules."""
    for rule in grammar.rules:
        if Permutation in rule.classes:
            yield from (expr for expr in rule.expressions if isinstance(expr, Permutation))


def uses_of_parts(permutation: Permutation) -> int:
    """How often the parts of a permutation stand in the rules that it becomes: n 2ⁿ⁻¹."""
    parts = len(permutation.parts)
    return parts << (parts - 1)


def states_of_orders(permutation: Permutation) -> int:
    """About how many states all orders of a permutation have, rules that parts name not counted:
    each part stands after each set of the others."""
    leaves = (e for part in permutation.parts for e in walk(part.item) if not children(e))
    return sum(map(_size, leaves)) << (len(permutation.parts) - 1)


def _size(leaf: Expr) -> int:
    return len(leaf.data) if isinstance(leaf, Literal) else _LEAF


def expand_permutations(
    grammar: Grammar, limits: Limits, stays: Callable[[Permutation], bool] | None = None
) -> Grammar:
    """The grammar without permutations, but for those that ``stays`` says so of.

    Raises ``LimitError`` where they are more states than ``limits`` allow.
    """
    names = {rule.name for rule in grammar.rules}
    found: list[Rule] = []
    has_changed = False
    for rule in grammar.rules:
        if Permutation not in rule.classes:
            found.append(rule)
            continue
        orders = _Orders(rule, grammar, names, limits)

        def without(expr: Expr, parts: list[Expr], orders: "_Orders" = orders) -> Expr:
            if not parts:
                return expr
            new = with_children(expr, tuple(parts))
            if isinstance(new, Permutation) and not (stays and stays(new)):
                return orders.expanded(new)
            return new

        body = fold(rule.body, children, without)
        has_changed |= bool(orders.rules)
        found += [replace(rule, body=body), *orders.rules]
    return replace(grammar, rules=tuple(found)) if has_changed else grammar


def in_one_order(grammar: Grammar) -> Grammar:
    """The grammar with the parts of permutations as they are written, and nothing between them:
    it has a member just if the other has, and the same rules match nothing."""

    def ordered(permutation: Permutation, parts: list[Expr]) -> Expr:
        items = zip(parts, permutation.parts, strict=False)
        span = permutation.span
        return Sequence(
            tuple(e if p.is_required else Repetition(e, 0, 1, span) for e, p in items), span
        )

    return _rewritten(grammar, ordered)


def in_any_number(grammar: Grammar) -> Grammar:
    """The grammar in which all parts of permutations may stand any number of times: it has the
    members of the other, and what is around a place in one of them is the same."""

    def repeated(permutation: Permutation, parts: list[Expr]) -> Expr:
        span = permutation.span
        some = _choice(parts[: len(permutation.parts)], span)
        if permutation.separator is None:
            return Repetition(some, 0, None, span)
        more = Repetition(Sequence((parts[-1], some), span), 0, None, span)
        return Repetition(Sequence((some, more), span), 0, 1, span)

    return _rewritten(grammar, repeated)


def _rewritten(grammar: Grammar, rewrite: Callable[[Permutation, list[Expr]], Expr]) -> Grammar:
    if not any(permutations_of(grammar)):
        return grammar

    def rewritten(expr: Expr, parts: list[Expr]) -> Expr:
        if isinstance(expr, Permutation):
            return rewrite(expr, parts)
        return with_children(expr, tuple(parts)) if parts else expr

    rules = (replace(r, body=fold(r.body, children, rewritten)) for r in grammar.rules)
    return replace(grammar, rules=tuple(rules))


class _Orders:
    """The rules that permutations of one rule become."""

    def __init__(self, rule: Rule, grammar: Grammar, names: set[str], limits: Limits) -> None:
        self._rule, self._grammar, self._names, self._limits = rule, grammar, names, limits
        self._number = 0
        self.rules: list[Rule] = []

    def _named(self, body: Expr, what: str = "") -> Reference:
        self._number += 1
        name = f"{self._rule.name} {self._number}"
        while name in self._names:
            self._number += 1
            name = f"{self._rule.name} {self._number}"
        self._names.add(name)
        within = f"{self._rule.shown} {what}" if what else self._rule.shown
        self.rules.append(replace(self._rule, name=name, body=body, within=within))
        return Reference(name, body.span)

    def _used(self, expr: Expr, what: str) -> Expr:
        """An expression that may stand in many places; ``what`` it is, for messages."""
        return expr if isinstance(expr, Reference | Literal) else self._named(expr, what)

    def expanded(self, permutation: Permutation) -> Expr:
        """A permutation in terms of these rules."""
        span = permutation.span
        text = self._grammar.source.text[span.start : min(span.end, span.start + _SHOWN)]
        count = uses_of_parts(permutation)
        self._limits.check_states(count, _STAGE, [self._rule.name], text)
        empty = Literal(b"", span)
        parts = permutation.parts
        uses = [self._used(part.item, f"part {i}") for i, part in enumerate(parts, 1)]
        separator = permutation.separator
        if separator is not None:
            separator = self._used(separator, "separator")
        most = len(parts) if permutation.most is None else permutation.most
        bits = [0 if p.is_repeated and not p.is_required else 1 << i for i, p in enumerate(parts)]
        required = sum(bit for bit, part in zip(bits, parts, strict=True) if part.is_required)
        # By the parts that have begun, and whether there is one at all.
        numbers: dict[tuple[int, bool], str] = {}
        pending: list[tuple[int, bool]] = []

        def following(begun: int, has_part: bool) -> Reference:
            key = begun, has_part
            if key not in numbers:
                numbers[key] = self._named(empty).name
                pending.append(key)
            return Reference(numbers[key], span)

        first = following(0, False)
        bodies: dict[str, Expr] = {}
        while pending:
            begun, has_part = pending.pop()
            self._limits.check_resources(_STAGE, [self._rule.name], text)
            room = most - begun.bit_count()
            is_tight = (required & ~begun).bit_count() >= room
            options: list[Expr] = []
            for bit, part, use in zip(bits, parts, uses, strict=True):
                if not part.is_repeated and (
                    begun & bit or room <= 0 or (is_tight and not part.is_required)
                ):
                    continue
                items: list[Expr] = [use, following(begun | bit, True)]
                if has_part and separator is not None:
                    items.insert(0, separator)
                options.append(Sequence(tuple(items), span))
            if not required & ~begun and begun.bit_count() >= permutation.least:
                options.append(empty)
            bodies[numbers[begun, has_part]] = _choice(options, span)
        self.rules = [replace(rule, body=bodies.get(rule.name, rule.body)) for rule in self.rules]
        return first


def _choice(options: list[Expr], span: Span) -> Expr:
    if not options:
        return Pattern(regex.NOTHING, "", span)
    return options[0] if len(options) == 1 else Choice(tuple(options), span)
