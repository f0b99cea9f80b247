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
from . import tree

_STAGE = "all orders of a permutation"

# States of a leaf that is no text, roughly.
_LEAF = 8

# Characters of a permutation that a message may want to show.
_SHOWN = 80


def permutations_of(grammar: tree.Grammar) -> Iterator[tree.Permutation]:
    """The permutations in a grammar's rules."""
    for rule in grammar.rules:
        yield from rule.of_class(tree.Permutation)


def uses_of_parts(permutation: tree.Permutation) -> int:
    """How often the parts of a permutation stand in the rules that it becomes: n 2ⁿ⁻¹."""
    parts = len(permutation.parts)
    return parts << (parts - 1)


def states_of_orders(permutation: tree.Permutation) -> int:
    """About how many states all orders of a permutation have, rules that parts name not counted:
    each part stands after each set of the others."""
    leaves = (e for part in permutation.parts for e in tree.walk(part.item) if not tree.children(e))
    return sum(map(_size, leaves)) << (len(permutation.parts) - 1)


def _size(leaf: tree.Expr) -> int:
    return len(leaf.data) if isinstance(leaf, tree.Literal) else _LEAF


def expand_permutations(
    grammar: tree.Grammar, limits: Limits, stays: Callable[[tree.Permutation], bool] | None = None
) -> tree.Grammar:
    """The grammar without permutations, but for those that ``stays`` says so of.

    Raises ``LimitError`` where they are more states than ``limits`` allow.
    """
    names = {rule.name for rule in grammar.rules}
    found: list[tree.Rule] = []
    has_changed = False
    for rule in grammar.rules:
        if tree.Permutation not in rule.classes:
            found.append(rule)
            continue
        orders = _Orders(rule, grammar, names, limits)

        def without(
            expr: tree.Expr, parts: list[tree.Expr], orders: "_Orders" = orders
        ) -> tree.Expr:
            if not parts:
                return expr
            new = tree.with_children(expr, tuple(parts))
            if isinstance(new, tree.Permutation) and not (stays and stays(new)):
                return orders.expanded(new)
            return new

        body = fold(rule.body, tree.children, without)
        has_changed |= bool(orders.rules)
        found += [replace(rule, body=body), *orders.rules]
    return replace(grammar, rules=tuple(found)) if has_changed else grammar


def in_one_order(grammar: tree.Grammar) -> tree.Grammar:
    """The grammar with the parts of permutations as they are written, and nothing between them:
    it has a member just if the other has, and the same rules match nothing."""

    def ordered(permutation: tree.Permutation, parts: list[tree.Expr]) -> tree.Expr:
        items = zip(parts, permutation.parts, strict=False)
        span = permutation.span
        return tree.Sequence(
            tuple(e if p.is_required else tree.Repetition(e, 0, 1, span) for e, p in items), span
        )

    return _rewritten(grammar, ordered)


def in_any_number(grammar: tree.Grammar) -> tree.Grammar:
    """The grammar in which all parts of permutations may stand any number of times: it has the
    members of the other, and what is around a place in one of them is the same."""

    def repeated(permutation: tree.Permutation, parts: list[tree.Expr]) -> tree.Expr:
        span = permutation.span
        some = _choice(parts[: len(permutation.parts)], span)
        if permutation.separator is None:
            return tree.Repetition(some, 0, None, span)
        more = tree.Repetition(tree.Sequence((parts[-1], some), span), 0, None, span)
        return tree.Repetition(tree.Sequence((some, more), span), 0, 1, span)

    return _rewritten(grammar, repeated)


def _rewritten(
    grammar: tree.Grammar, rewrite: Callable[[tree.Permutation, list[tree.Expr]], tree.Expr]
) -> tree.Grammar:
    if not any(permutations_of(grammar)):
        return grammar

    def rewritten(expr: tree.Expr, parts: list[tree.Expr]) -> tree.Expr:
        if isinstance(expr, tree.Permutation):
            return rewrite(expr, parts)
        return tree.with_children(expr, tuple(parts)) if parts else expr

    rules = (replace(r, body=fold(r.body, tree.children, rewritten)) for r in grammar.rules)
    return replace(grammar, rules=tuple(rules))


class _Orders:
    """The rules that permutations of one rule become."""

    def __init__(
        self, rule: tree.Rule, grammar: tree.Grammar, names: set[str], limits: Limits
    ) -> None:
        self._rule, self._grammar, self._names, self._limits = rule, grammar, names, limits
        self._number = 0
        self.rules: list[tree.Rule] = []

    def _named(self, body: tree.Expr, what: str = "") -> tree.Reference:
        self._number += 1
        name = f"{self._rule.name} {self._number}"
        while name in self._names:
            self._number += 1
            name = f"{self._rule.name} {self._number}"
        self._names.add(name)
        within = f"{self._rule.shown} {what}" if what else self._rule.shown
        self.rules.append(replace(self._rule, name=name, body=body, within=within))
        return tree.Reference(name, body.span)

    def _used(self, expr: tree.Expr, what: str) -> tree.Expr:
        """An expression that may stand in many places; ``what`` it is, for messages."""
        return expr if isinstance(expr, tree.Reference | tree.Literal) else self._named(expr, what)

    def expanded(self, permutation: tree.Permutation) -> tree.Expr:
        """A permutation in terms of these rules."""
        span = permutation.span
        text = self._grammar.source.text[span.start : min(span.end, span.start + _SHOWN)]
        count = uses_of_parts(permutation)
        self._limits.check_states(count, _STAGE, [self._rule.name], text)
        empty = tree.Literal(b"", span)
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

        def following(begun: int, has_part: bool) -> tree.Reference:
            key = begun, has_part
            if key not in numbers:
                numbers[key] = self._named(empty).name
                pending.append(key)
            return tree.Reference(numbers[key], span)

        first = following(0, False)
        bodies: dict[str, tree.Expr] = {}
        while pending:
            begun, has_part = pending.pop()
            self._limits.check_resources(_STAGE, [self._rule.name], text)
            room = most - begun.bit_count()
            is_tight = (required & ~begun).bit_count() >= room
            options: list[tree.Expr] = []
            for bit, part, use in zip(bits, parts, uses, strict=True):
                if not part.is_repeated and (
                    begun & bit or room <= 0 or (is_tight and not part.is_required)
                ):
                    continue
                items: list[tree.Expr] = [use, following(begun | bit, True)]
                if has_part and separator is not None:
                    items.insert(0, separator)
                options.append(tree.Sequence(tuple(items), span))
            if not required & ~begun and begun.bit_count() >= permutation.least:
                options.append(empty)
            bodies[numbers[begun, has_part]] = _choice(options, span)
        self.rules = [replace(rule, body=bodies.get(rule.name, rule.body)) for rule in self.rules]
        return first


def _choice(options: list[tree.Expr], span: Span) -> tree.Expr:
    if not options:
        return tree.Pattern(regex.NOTHING, "", span)
    return options[0] if len(options) == 1 else tree.Choice(tuple(options), span)
