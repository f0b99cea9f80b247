"""Attributes of llguidance's rules, ``name[lazy]: …``, and what they say about the language.

    name[lazy]: L           the members of L that no shorter one but ε begins
    name[suffix="x"]: L     the same of L followed by x
    name[stop="x"]: L       the same; with "" it is L
    name[max_tokens=9]: L   at most 9 tokens, where L is any text
    name[capture]: L        L, whose texts a program gets, without x

The body is one terminal then. With the first three a lexer ends it where it may end, and with it
whatever else it has begun: a free text beside ``TEXT "<func"`` does not read the ``<func``.
Source: llguidance's *syntax*, lexeme options, and its lexer (1.9).
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from ..automata import regex_ir as ir
from ..automata.assertions import resolved
from ..automata.boolean import complement
from ..automata.determinize import determinize
from ..automata.thompson import thompson
from ..diagnostics import Diagnostic, Source, Span
from ..grammar.tree import (
    Capture,
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
from .builder import Item, Token, literal_of, span_over
from .lark_parameters import ParametersBuilder

# What says nothing about the language.
_NOTES = {
    "stop": "the attribute stop is read as suffix: what ends the text is written once, and stays",
}
_SHAPING = ("lazy", "suffix", "stop", "max_tokens")
_CAPTURES = ("capture", "stop_capture")
_KNOWN = "lazy, suffix, stop, max_tokens and capture"


@dataclass(frozen=True, slots=True)
class Attribute:
    """``name`` or ``name=value``; a value that is a number is a token."""

    name: str
    span: Span
    value: "Expr | Token | None"


class AttributesBuilder(ParametersBuilder):
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
            if name in _NOTES:
                self.notes.append(Diagnostic(_NOTES[name], attribute.span))
            elif name not in (*_SHAPING, *_CAPTURES):
                message = f"the attribute {name} is not supported"
                self.report(message, attribute.span, f"supported are {_KNOWN}")
        rule = replace(rule, capture=self._capture(rule, said))
        shaping = [name for name in _SHAPING if name in said and not _is_empty(name, said[name])]
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
            case "suffix" | "stop":
                body = self._with_suffix(rule.body, attribute)
            case _:
                return replace(rule, body=self._of_few_tokens(rule.body, attribute, by_name))
        return replace(rule, body=body, terminal=True, shortest=True)

    def _capture(self, rule: Rule, said: Mapping[str, Attribute]) -> Capture | None:
        """What captures are called, and what ends them; None where there are none."""
        names = dict.fromkeys(_CAPTURES, "")
        for kind in (name for name in _CAPTURES if name in said):
            value = said[kind].value
            if value is None and kind == "capture":
                names[kind] = rule.name
            elif isinstance(value, Literal) and value.data:
                names[kind] = value.data.decode("utf-8")
            else:
                self.report(f"{kind}=… takes a name in quotes", said[kind].span)
        ends = [said[name].value for name in ("suffix", "stop") if name in said]
        end = ends[0] if ends and not isinstance(ends[0], Token) else None
        return (
            Capture(names["capture"], end, names["stop_capture"]) if any(names.values()) else None
        )

    def _with_suffix(self, body: Expr, attribute: Attribute) -> Expr:
        """The body and its end, the first time it stands there."""
        end = attribute.value
        is_empty = isinstance(end, Literal) and not end.data
        if end is None or isinstance(end, Token) or is_empty:
            message = f"{attribute.name}=… takes a regex, a terminal or a string that is not empty"
            self.report(message, attribute.span)
            return body
        return shortest(Sequence((body, end), attribute.span))

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
            hint = "write it after a rule of any text, /(.|\\n)*/, or count characters: /.{0,200}/"
            self.report("max_tokens is supported where the text may be any", attribute.span, hint)
            return body
        return Repetition(TokenNode(None, (), True, body.span), 0, int(value), body.span)


def _is_empty(name: str, attribute: Attribute) -> bool:
    """Whether nothing ends the text but its own end."""
    value = attribute.value
    return name == "stop" and isinstance(value, Literal) and not value.data


def shortest(body: Expr, *, but_empty: bool = True) -> Expr:
    """The members that no shorter member (``but_empty``: but ε) begins: L - (L - ε) any+."""
    more = Pattern(ir.repeat(ir.ANY_CHARACTER, 1, None), ".+", body.span)
    some = Difference(body, literal_of("", body.span), body.span) if but_empty else body
    return Difference(body, Sequence((some, more), body.span), body.span)


def any_text(span: Span) -> Pattern:
    """Any text, which may be empty."""
    return Pattern(ir.EVERYTHING, "(?s:.*)", span)


def _is_any_text(expr: Expr, limits: Limits) -> bool:
    """Whether an expression is a regex that matches every text."""
    if not isinstance(expr, Pattern):
        return False
    found = determinize(thompson(resolved(expr.node, limits), limits), limits)
    return not complement(found, limits).accepting.any()
