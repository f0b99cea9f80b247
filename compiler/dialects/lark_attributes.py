"""Attributes of llguidance's rules, ``name[lazy]: …``, and what they say about the language.

    name[lazy]: L           the members of L that no shorter member begins
    name[suffix="x"]: L     the same of L followed by x
    name[stop="x"]: L       what stands before x there: llguidance takes the x back
    name[max_tokens=9]: L   at most 9 tokens, where L is any text
    name[capture]: L        L; what was matched is not told

The body is one terminal then. Source: llguidance's *syntax*, lexeme options.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from lark import Token

from ..automata import regex_ir as ir
from ..automata.assertions import resolved
from ..automata.boolean import complement
from ..automata.determinize import determinize
from ..automata.thompson import thompson
from ..diagnostics import Diagnostic, Source, Span
from ..grammar.tree import (
    Choice,
    Difference,
    Expr,
    Literal,
    Pattern,
    Reference,
    Repetition,
    Rule,
    Sequence,
)
from ..grammar.tree import Token as TokenNode
from ..limits import Limits
from .builder import Item, literal_of, pattern_of, span_over
from .lark_templates import TemplatesBuilder

_CAPTURES = ("capture", "stop_capture")
_SHAPING = ("lazy", "suffix", "stop", "max_tokens")
_KNOWN = "lazy, suffix, stop, max_tokens and capture"

# Where ``stop=…`` makes much of a string that overlaps itself, and the bytes that a character of
# what it makes takes.
_STAGE, _OF_CHARACTER = "the end of a rule by stop=", 20


@dataclass(frozen=True, slots=True)
class Attribute:
    """``name`` or ``name=value``; a value that is a number is a token."""

    name: str
    span: Span
    value: "Expr | Token | None"


class AttributesBuilder(TemplatesBuilder):
    """The part of ``LarkBuilder`` that reads attributes, and operations on terminals."""

    def __init__(self, source: Source, limits: Limits) -> None:
        super().__init__(source, limits)
        # Of each rule that has some.
        self.attributed: dict[str, list[Attribute]] = {}
        # Where & and ~ stand.
        self._operations: set[Span] = set()

    def attributes(self, items: list["Token | Attribute"]) -> list[Attribute]:
        """[attribute, …]"""
        found = [item for item in items if isinstance(item, Attribute)]
        names: set[str] = set()
        for one in found:
            if one.name in names:
                self.report(f"the attribute {one.name} is there twice", one.span)
            names.add(one.name)
        return found

    def attribute(self, items: list[Item]) -> Attribute:
        """NAME or NAME=value"""
        name, value = items[0], items[2] if len(items) > 2 else None
        return Attribute(str(name), span_over([items[0], items[-1]]), value)

    def operation(self, left: Expr, right: Expr) -> Difference:
        """What & and ~ become; they stand in terminals."""
        found = Difference(left, right, left.span.cover(right.span))
        self._operations.add(found.span)
        return found

    def report_operations(self, rules: list[Rule]) -> None:
        """Report & and ~ outside of terminals."""
        for rule in rules:
            for part in () if rule.terminal else rule.expressions:
                if isinstance(part, Difference) and part.span in self._operations:
                    hint = "give it a name in upper case"
                    self.report("'&' and '~' stand in terminals", part.span, hint)

    def with_attributes(self, rules: list[Rule]) -> list[Rule]:
        """The rules as their attributes have them."""
        if not self.attributed:
            return rules
        by_name = {rule.name: rule for rule in rules}
        return [
            self._shaped(rule, {each.name: each for each in self.attributed[rule.name]}, by_name)
            if rule.name in self.attributed
            else rule
            for rule in rules
        ]

    def _shaped(self, rule: Rule, said: dict[str, Attribute], by_name: Mapping[str, Rule]) -> Rule:
        for name, attribute in said.items():
            if name in _CAPTURES:
                message = f"the attribute {name} says nothing about the language: nothing is kept"
                self.notes.append(Diagnostic(message, attribute.span))
            elif name not in _SHAPING:
                message = f"the attribute {name} is not supported"
                self.report(message, attribute.span, f"supported are {_KNOWN}")
        shaping = [name for name in _SHAPING if name in said]
        if not shaping:
            return rule
        for use in rule.uses:
            if use.name in by_name and not by_name[use.name].terminal:
                hint = "what it uses has names in upper case"
                self.report(f"the body of {rule.name!r} is no terminal", use.span, hint)
                return rule
        if len(shaping) > 1 and shaping != ["lazy", "suffix"] and shaping != ["lazy", "stop"]:
            self.report(f"{shaping[0]} and {shaping[1]} are not supported together", rule.name_span)
            return rule
        attribute = said[shaping[-1]]
        match attribute.name:
            case "lazy":
                body = shortest(rule.body)
            case "suffix":
                body = self._with_suffix(rule.body, attribute)
            case "stop":
                body = self._before(rule.body, attribute)
            case _:
                return replace(rule, body=self._of_few_tokens(rule.body, attribute, by_name))
        return replace(rule, body=body, terminal=True)

    def _with_suffix(self, body: Expr, attribute: Attribute) -> Expr:
        """The body and its end, the first time it stands there."""
        end = attribute.value
        if end is None or isinstance(end, Token):
            self.report("suffix=… takes a string, a regex or a terminal", attribute.span)
            return body
        return shortest(Sequence((body, end), attribute.span))

    def _before(self, body: Expr, attribute: Attribute) -> Expr:
        """What stands before the first place where a string follows the body."""
        end = attribute.value
        if not isinstance(end, Literal) or not end.data:
            hint = "with suffix=… a regex or a terminal ends the text, and belongs to it"
            self.report("stop=… takes a string that is not empty", attribute.span, hint)
            return body
        # A w of the body is followed by the string for the first time unless w and the string
        # have it before: as a whole inside w, or over the end of w where it overlaps itself.
        span, text = attribute.span, end.data.decode("utf-8")
        earlier: list[Expr] = [Sequence((body, end, any_text(span)), span)]
        size = 0
        for length in range(1, len(text)):
            self.limits.check_resources(_STAGE)
            if text.startswith(text[length:]):
                size += _OF_CHARACTER * length
                self.limits.check_allocation(size, _STAGE)
                earlier.append(Sequence((body, literal_of(text[:length], span)), span))
        found = earlier[0] if len(earlier) == 1 else Choice(tuple(earlier), span)
        return Difference(body, found, span)

    def _of_few_tokens(self, body: Expr, attribute: Attribute, by_name: Mapping[str, Rule]) -> Expr:
        """At most so many tokens."""
        value = attribute.value
        if not isinstance(value, Token) or not value.isdecimal() or len(value) > 9:
            self.report("max_tokens=… takes a whole number", attribute.span)
            return body
        inside, seen = body, set[str]()
        while isinstance(inside, Reference) and inside.name in by_name and inside.name not in seen:
            seen.add(inside.name)
            inside = by_name[inside.name].body
        if not _is_any_text(inside, self.limits):
            hint = "write it behind a rule of any text, /(.|\\n)*/, or count characters: /.{0,200}/"
            self.report("max_tokens is supported where the text may be any", attribute.span, hint)
            return body
        return Repetition(TokenNode(None, (), True, body.span), 0, int(value), body.span)


def shortest(body: Expr) -> Expr:
    """The members that no shorter member begins: L - L any+."""
    more = pattern_of(ir.repeat(ir.ANY_CHARACTER, 1, None), ".+", body.span)
    return Difference(body, Sequence((body, more), body.span), body.span)


def any_text(span: Span) -> Pattern:
    """Any text, which may be empty."""
    return pattern_of(ir.EVERYTHING, "(?s:.*)", span)


def _is_any_text(expr: Expr, limits: Limits) -> bool:
    """Whether an expression is a regex that matches every text."""
    if not isinstance(expr, Pattern):
        return False
    found = determinize(thompson(resolved(expr.node, limits), limits), limits)
    return not complement(found, limits).accepting.any()
