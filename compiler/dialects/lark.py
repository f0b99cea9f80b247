"""The grammars of the parsing toolkit Lark, and llguidance's variant of them.

Names in lower case are rules, names in upper case terminals. What only shapes Lark's trees
(``?`` and ``!`` before a rule, ``-> alias``) says nothing about the language and is read over.
``&`` and ``~`` become differences of texts.
Strings have the escapes of JSON and of Python; where the two differ (``\\b``, ``\\/``) JSON's.
What a lexer or a parser in Python would do (``%declare``) has no meaning here and is refused.
"""

import re
from typing import Any, ClassVar

from ..automata import regex_ir as ir
from ..automata.unicode_properties import with_other_cases
from ..diagnostics import Diagnostic, Span
from ..grammar.lazy_quantifiers import with_joined_looks
from ..grammar.tree import Difference, Expr, Pattern, Rule
from ..grammar.tree import Token as TokenNode
from .builder import Item, Token, Unescaped, literal_of, nothing_at, span_over, unescape
from .lark_attributes import AttributesBuilder, any_text
from .lark_statements import EXPECTED, HINTS, MISTAKES, Change
from .regex import parse_pattern

# Flags of regexes; u changes nothing, for all text is Unicode.
_FLAGS = "imsxu"

_PRIORITY = (
    "the priority of a rule says which derivation of a text a parser takes: it changes no text"
)

_TOKEN_IDS = re.compile(r"<\[(\^?)([0-9]{1,9}(?:-[0-9]{1,9})?(?:,[0-9]{1,9}(?:-[0-9]{1,9})?)*)\]>")
_TOKENS = "a token is written <name>, <[id]>, <[1,5-9]>, <[^1,5-9]> or <[*]>"


class LarkBuilder(AttributesBuilder):
    """Builds rules from ``lark.lark``."""

    grammar_file: ClassVar[str] = "lark.lark"
    line_break_token: ClassVar[str] = "NEWLINE"
    expected: ClassVar[dict[str, str]] = EXPECTED
    hints: ClassVar[dict[str, str]] = HINTS
    rule_ends: ClassVar[frozenset[str]] = frozenset({"NEWLINE"})
    has_terminals = True
    next_rule: ClassVar[str | None] = (
        r"^[ \t]*(?P<rule>[?!]*_*[A-Za-z][\w-]*[ \t]*(\.[+-]?\d+)?[ \t]*:|%(ignore|import)\b)"
    )
    comment: ClassVar[tuple[str, str]] = ("//", "\n")
    mistakes: ClassVar[tuple[tuple[str, str, str], ...]] = MISTAKES

    def start(self, items: list[Token | Rule | Change | list[Rule] | None]) -> tuple[Rule, ...]:
        """All rules, imported terminals where their import stands."""
        rules: list[Rule] = []
        changes: list[Change] = []
        for item in items:
            match item:
                case Rule():
                    rules.append(item)
                case list():
                    rules.extend(item)
                case Change():
                    changes.append(item)
        rules = self.changed(rules, changes)
        self.report_redefinitions([*rules, *(each.rule for each in self.templates.values())])
        rules = self.with_attributes(self.with_parameters(self.expanded(rules)))
        self.report_operations(rules)
        rules += self.rules_of_schemas(rules)
        if not (self.files or self.depth):
            rules += self.rules_of_lines(rules)
        self.report_undefined(rules)
        return tuple(with_joined_looks(rules, self.ignored, self.source.text))

    def rule(self, items: list[Any]) -> Rule | None:
        """NAME: choice; None for a template, which is kept apart."""
        *head, colon, body = items
        by_type = {token.type: token for token in head if isinstance(token, Token)}
        name = self.named(by_type.get("NAME") or by_type["GRAMMAR"])
        priority = by_type.get("PRIORITY")
        if priority is not None and name.islower() and not self.has_priorities:
            self.has_priorities = True
            self.notes.append(Diagnostic(_PRIORITY, priority.span))
        if body is None:
            body = nothing_at(colon.span.end)
        span = Span(head[0].span.start, max(body.span.end, self.last_group_end))
        found = Rule(
            str(name),
            name.span,
            body,
            span,
            terminal=name.isupper() and name.type == "NAME",
            priority=int(priority[1:]) if priority else 0,
        )
        if "PARAMETER" in by_type:
            if by_type["PARAMETER"].split()[-1].removeprefix("::") != "_":
                self.report("a rule's own parameter is _", by_type["PARAMETER"].span)
            self.parametric.add(found.name)
        attributes = next((part for part in head if isinstance(part, list)), None)
        if attributes is not None:
            self.attributed[found.name] = attributes
        parameters = next((part for part in head if isinstance(part, tuple)), None)
        if parameters is None:
            return found
        self.template(parameters, found)
        return None

    def value(self, items: list[Token]) -> Expr | Token:
        """What stands after = in an attribute; a number is the token."""
        (token,) = items
        match token.type:
            case "STRING":
                return self.string(items)
            case "REGEX":
                return self.regex(items)
            case "NAME":
                return self.reference(items)
            case _:
                return token

    def conjunction(self, items: list[Any]) -> Expr:
        """sequence & sequence …: A - (any - B)."""
        found: Expr = nothing_at(items[1].span.start) if items[0] is None else items[0]
        for sign, other in zip(items[1::2], items[2::2], strict=True):
            place = sign.span
            other = nothing_at(place.end) if other is None else other
            without = Difference(any_text(place), other, other.span)
            found = self.operation(found, without)
        return found

    def negation(self, items: list[Any]) -> Expr:
        """~ item: any - item."""
        return self.operation(any_text(items[0].span), items[1])

    def alias(self, items: list[Item | None]) -> Expr | None:
        """sequence -> name, a name in Lark's trees."""
        sequence = items[0]
        assert not isinstance(sequence, Token)
        return sequence

    def string(self, items: list[Token]) -> Expr:
        """A quoted text, in all cases if an i stands after it, as a regex has it under i."""
        token, span = items[0], items[0].span
        text = self._text(token)
        if not token.endswith("i"):
            return literal_of(text, span)
        cases = (ir.char_class(with_other_cases(((ord(char), ord(char)),))) for char in text)
        return Pattern(ir.seq(*cases), str(token), span, "string")

    def range(self, items: list[Token]) -> Expr:
        """Two characters with .. between them."""
        span = span_over(items)
        low, high = self._text(items[0]), self._text(items[2])
        if any(token.endswith("i") for token in items):
            self.report("a range cannot ignore case", span, "write a range for each case")
        elif len(low) != 1 or len(high) != 1:
            self.report("a range goes from one character to another", span)
        elif low > high:
            self.report("the range runs backwards", span)
        else:
            text = f"{items[0]}..{items[2]}"
            return Pattern(ir.char_class([(ord(low), ord(high))]), text, span)
        return literal_of("", span)

    def regex(self, items: list[Token]) -> Expr:
        """/…/ with flags"""
        token, span = items[0], items[0].span
        end = token.rindex("/")
        body, flags = token[1:end], token[end + 1 :]
        for place, flag in enumerate(flags, span.start + end + 1):
            if flag not in _FLAGS:
                message = f"the flag {flag} of a regex is not supported"
                self.report(message, Span(place, place + 1), "known: i, m, s, x, u")
        origins = tuple(range(span.start + 1, span.start + end + 1))
        text = Unescaped(body, origins)
        node = parse_pattern(
            text,
            self.limits,
            self.diagnostics,
            flags,
            plain_classes=not self.has_rust_regexes,
        )
        return Pattern(node, body, span)

    def token(self, items: list[Token]) -> TokenNode:
        """<name>, <[id]>, <[1,5-9]>, <[^1,5-9]> and <[*]>"""
        text, span = str(items[0]), items[0].span
        if not text.startswith("<["):
            return TokenNode(text, (), False, span)
        if text == "<[*]>":
            return TokenNode(None, (), True, span)
        found = _TOKEN_IDS.fullmatch(text)
        if found is None:
            self.report(f"{text} names no token", span, _TOKENS)
            return TokenNode(text, (), False, span)
        pairs = [part.split("-") for part in found[2].split(",")]
        ids = tuple((int(pair[0]), int(pair[-1])) for pair in pairs)
        if any(low > high for low, high in ids):
            self.report(f"a range in {text} runs backwards", span)
        return TokenNode(None, ids, bool(found[1]), span)

    def _text(self, token: Token) -> str:
        """What a quoted text means."""
        body = token[1 : token.rindex('"')]
        start = token.span.start + 1
        found = unescape(body, start, self.diagnostics, keep_unknown=False, long_escapes=True)
        return found.text
