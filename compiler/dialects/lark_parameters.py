"""llguidance's rules with a number as parameter: each value that is used becomes a rule.

    start: perm::0                                   start: <perm::0>
    perm::_: ""              %if is_ones([0:2])      <perm::0>: "a" <perm::1> | "b" <perm::2>
           | "a" perm::set_bit(0) %if bit_clear(0)   <perm::1>: "b" <perm::3>
           | "b" perm::set_bit(1) %if bit_clear(1)   <perm::2>: "a" <perm::3>
                                                     <perm::3>: ""

Source: llguidance's *Parametric grammars* (1.9). Numbers have 64 bits.
"""

import operator
import re
from collections.abc import Callable, Mapping
from dataclasses import replace

from ..automata import regex_ir as ir
from ..automata.folding import fold
from ..diagnostics import Source, Span
from ..grammar import tree
from ..limits import Limits
from .builder import Token, nothing_at, span_over
from .lark_templates import TemplatesBuilder

IF = "%if "

# Rules that parameters may become.
_MOST_RULES = 20_000

_STAGE = "expanding parameters"

_ALL = (1 << 64) - 1
_CALL = re.compile(r"([a-z_]+)\((.*)\)")

_COMPARE: Mapping[str, Callable[[int, int], bool]] = {
    name: getattr(operator, name) for name in ("eq", "ne", "lt", "le", "gt", "ge")
}


class _UnknownError(Exception):
    """A text that is no expression, or no condition."""


class ParametersBuilder(TemplatesBuilder):
    """The part of ``LarkBuilder`` that reads parameters and conditions."""

    def __init__(self, source: Source, limits: Limits) -> None:
        super().__init__(source, limits)
        self.parametric: set[str] = set()
        self._told: set[Span] = set()
        self._has_uses = False

    @property
    def extents(self) -> Mapping[str, Callable[[int, int], int]]:
        """Where conditions end, whose brackets nest."""
        return {**super().extents, "CONDITION": self._end_of_condition}

    def _end_of_condition(self, begin: int, end: int) -> int:
        """The place after what stands in brackets there, if it ends on the line."""
        text, depth = self.source.text, 0
        for place in range(end, len(text)):
            depth += (text[place] == "(") - (text[place] == ")")
            if depth <= 0 or text[place] in "\r\n":
                return place + (place > end) if depth == 0 else end
        return end

    def reference(self, items: list[Token]) -> tree.Expr:
        """A name, with a parameter or without."""
        name = str(self.named(items[0]))
        self._has_uses |= len(items) > 1
        for parameter in items[1:]:
            if name.isupper():
                self.report("terminals have no parameters", parameter.span)
            name += "".join(parameter.split())
        return tree.Reference(name, span_over(items))

    def guarded(self, items: list[tree.Expr | Token | None]) -> tree.Expr:
        """sequence %if condition"""
        body, condition = items
        assert isinstance(condition, Token)
        text = IF + "".join(condition.removeprefix(IF.strip()).split())
        guard = tree.Reference(text, condition.span)
        self._has_uses = True
        if body is None:
            return guard
        assert not isinstance(body, Token)
        return tree.Sequence((guard, body), span_over(items))

    def with_parameters(self, rules: list[tree.Rule]) -> list[tree.Rule]:
        """The rules, with one for each value that a parameter has."""
        if not (self._has_uses or self.parametric):
            return rules
        heads: dict[str, list[tree.Rule]] = {name: [] for name in self.parametric}
        pending: dict[tuple[str, int], None] = {}
        found = []
        for rule in rules:
            if rule.name in heads:
                heads[rule.name].append(rule)
            else:
                found.append(replace(rule, body=self._at(rule.body, None, heads, pending)))
        number = 0
        while number < len(pending) <= _MOST_RULES:
            name, value = [*pending][number]
            number += 1
            self.limits.check_resources(_STAGE, (name,))
            for rule in heads[name]:
                body = self._at(rule.body, value, heads, pending)
                found.append(replace(rule, name=f"{name}::{value}", body=body, within=name))
        if len(pending) > _MOST_RULES:
            place = heads[next(reversed(pending))[0]][0].name_span
            self.report(f"parameters become more than {_MOST_RULES:,} rules", place)
        return found

    def _at(
        self,
        body: tree.Expr,
        value: int | None,
        heads: Mapping[str, list[tree.Rule]],
        pending: dict[tuple[str, int], None],
    ) -> tree.Expr:
        """The body of a rule whose parameter is ``value``, None if it has none; uses of others are
        left in ``pending``."""

        def use(expr: tree.Reference) -> tree.Expr:
            name, _, argument = expr.name.partition("::")
            try:
                if expr.name.startswith(IF):
                    holds = _holds(expr.name.removeprefix(IF), _parameter(value))
                    return nothing_at(expr.span.start) if holds else _never(expr.span)
                if (name in heads) != bool(argument):
                    raise _UnknownError("has no parameter" if argument else "needs a parameter")
                if not argument:
                    return expr
                new = int(argument, 0) if argument[0].isdigit() else _made(argument, value)
            except _UnknownError as error:
                if expr.span not in self._told:
                    self._told.add(expr.span)
                    self.report(f"{expr.name} {error}", expr.span)
                return _never(expr.span)
            pending[name, new & _ALL] = None
            return replace(expr, name=f"{name}::{new & _ALL}")

        def guard_of(expr: tree.Expr) -> tree.Reference | None:
            first = expr.items[0] if isinstance(expr, tree.Sequence) else None
            return (
                first if isinstance(first, tree.Reference) and first.name.startswith(IF) else None
            )

        def inside(expr: tree.Expr) -> tuple[tree.Expr, ...]:
            guard = guard_of(expr)
            if guard is None:
                return tree.children(expr)
            # What does not hold is used nowhere.
            return () if _is_never(use(guard)) else tree.children(expr)[1:]

        def under(expr: tree.Expr, parts: list[tree.Expr]) -> tree.Expr:
            if guard_of(expr) is not None:
                return parts[0] if parts else _never(expr.span)
            live = [part for part in parts if not _is_never(part)]
            match expr:
                case tree.Reference():
                    return use(expr)
                case tree.Choice() if live:
                    return replace(expr, options=tuple(live)) if len(live) > 1 else live[0]
                case tree.Repetition(min_times=0) if not live:
                    return nothing_at(expr.span.start)
                case tree.Choice() | tree.Sequence() | tree.Repetition() if len(live) < len(parts):
                    return _never(expr.span)
            return tree.with_children(expr, tuple(parts))

        return fold(body, inside, under)


def _never(place: Span) -> tree.Expr:
    return tree.Pattern(ir.NOTHING, "", place)


def _is_never(expr: tree.Expr) -> bool:
    return isinstance(expr, tree.Pattern) and expr.node is ir.NOTHING


def _parameter(value: int | None) -> int:
    if value is None:
        raise _UnknownError("stands in a rule without a parameter, name::_")
    return value


def _called(text: str) -> tuple[str, list[str]]:
    """A name and its arguments."""
    found = _CALL.fullmatch(text)
    return (text, []) if found is None else (found[1], _split(found[2]))


def _split(text: str) -> list[str]:
    """At the commas outside of brackets."""
    parts, depth, begin = [], 0, 0
    for place, letter in enumerate(text):
        depth += (letter in "([") - (letter in ")]")
        if letter == "," and not depth:
            parts.append(text[begin:place])
            begin = place + 1
    return [*parts, text[begin:]]


def _bits(text: str, value: int) -> tuple[int, int, int]:
    """The bits that ``_`` or ``[x:y]`` names, where they begin, and how many they are."""
    found = re.fullmatch(r"\[(\d{1,2}):(\d{1,2})\]", text)
    low, high = (0, 64) if text == "_" else map(int, found.groups() if found else (1, 0))
    if not low < high <= 64:
        raise _UnknownError(f"has {text} for bits, which are _ or [x:y]")
    return value >> low & (1 << high - low) - 1, low, high - low


def _number(text: str, most: int = _ALL) -> int:
    if not re.fullmatch("0x[0-9A-Fa-f]{1,16}|[0-9]{1,20}", text) or int(text, 0) > most:
        raise _UnknownError(f"has {text} for a number")
    return int(text, 0)


def _made(text: str, parameter: int | None) -> int:
    """The value of an expression."""
    value = _parameter(parameter)
    match _called(text):
        case "_", []:
            return value
        case "set_bit", [bit]:
            return value | 1 << _number(bit, 63)
        case "clear_bit", [bit]:
            return value & ~(1 << _number(bit, 63))
        case "bit_and", [mask]:
            return value & _number(mask)
        case "bit_or", [mask]:
            return value | _number(mask)
        case ("incr" | "decr") as name, [bits]:
            some, low, count = _bits(bits, value)
            if name == "incr":
                return value if some == (1 << count) - 1 else value + (1 << low)
            return value - (1 << low) if some else value
    raise _UnknownError("is no expression that is known")


def _holds(text: str, value: int) -> bool:
    """Whether a condition holds."""
    name, arguments = _called(text)
    match name.removeprefix("bit_count_"), arguments:
        case "true", ([] | [""]):
            return True
        case (("bit_clear" | "bit_set"), [bit]):
            return bool(value >> _number(bit, 63) & 1) == (name == "bit_set")
        case "is_ones", [bits]:
            some, _, count = _bits(bits, value)
            return some == (1 << count) - 1
        case "is_zeros", [bits]:
            return not _bits(bits, value)[0]
        case "not", [inner]:
            return not _holds(inner, value)
        case "and", [one, other]:
            return _holds(one, value) & _holds(other, value)
        case "or", [one, other]:
            return _holds(one, value) | _holds(other, value)
        case compare, [bits, number] if compare in _COMPARE:
            some = _bits(bits, value)[0]
            some = some.bit_count() if name != compare else some
            return _COMPARE[compare](some, _number(number))
    raise _UnknownError("is no condition that is known")
