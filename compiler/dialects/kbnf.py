"""KBNF, the dialect of "Implementing a Constrained Decoding Engine" (its 2024 form)."""

import re
from collections.abc import Sequence
from typing import Any, ClassVar

from ..automata.assertions import resolved
from ..automata.boolean import embedded, shortest_matches, substrings
from ..automata.determinize import determinize
from ..automata.thompson import thompson
from ..grammar.tree import MOST_PARTS, Excluding, Expr, Literal, Part, Pattern, Permutation, Rule
from .builder import EbnfBuilder, Item, Token, count_of, literal_of, nodes_in, span_over, unescape
from .regex import parse_pattern

# What stands between a bracket and a mistake if a class was meant.
_CLASS = re.compile(r"\[[^\s\]\"'(){}|,;]*\Z")
_NO_CLASS = '[ ] is an option here; a class of characters stands in a regex: #"[a-z]"'

_OPENING = re.compile(r"#(e|ex|substrs)?[\"']")


class KbnfBuilder(EbnfBuilder):
    """Builds rules from ``kbnf.lark``."""

    grammar_file: ClassVar[str] = "kbnf.lark"
    expected: ClassVar[dict[str, str]] = EbnfBuilder.expected | {
        "DEFINES": "'::=' or '='",
        "REGEX": 'a regex #"…"',
    }
    hints: ClassVar[dict[str, str]] = EbnfBuilder.hints | {
        "BAR": 'an alternative must not be empty: write "" for the empty text',
        "DEFINES": "does the rule before it end with ';'?",
        "COMMA": "',' stands between two items",
        "$END": "every rule ends with ';'",
    }
    rule_ends: ClassVar[frozenset[str]] = frozenset({"SEMICOLON"})
    next_rule: ClassVar[str | None] = r"(?:^|;)[ \t]*(?P<rule>[A-Za-z_]\w*\s*(?:::=|=))"

    mistakes: ClassVar[tuple[tuple[str, str, str], ...]] = (
        ("->|:=|:(?!:=)", "", "a rule is written name ::= … ;"),
        (r"\.\.", "", 'a range of characters stands in a regex: #"[a-z]"'),
        (r"\.", "", 'any character is written any!, or . in a regex: #"."'),
        ("//|/\\*", "", "comments are written (* … *)"),
        ("/", "", 'a regex is written #"…"'),
        ("-", "", 'names have no "-" in them, and a difference is written except!(…)'),
    )

    def known_mistake(self, text: str, offset: int) -> tuple[str, str] | None:
        """Quotes and comments that do not end."""
        if text.startswith("(*", offset) or text[max(0, offset - 1) : offset + 1] == "(*":
            return "comment without an end", "a comment ends with '*)'"
        opening = _OPENING.match(text, offset)
        if opening and not self._string_ends(text, opening.end() - 1):
            return "regex without an end", f"it ends with {opening[0][-1]}"
        if text[offset : offset + 1] in ('"', "'") and not self._string_ends(text, offset):
            return "string without an end", f"it ends with {text[offset]}"
        found = text[offset : offset + 1]
        opened = max(text.rfind("[", 0, offset), 0)
        if found and found not in "\"'" and _CLASS.search(text, opened, offset):
            return f"'{found}'", _NO_CLASS
        if found.isdigit() and text[:offset].rstrip().endswith("{"):
            hint = "{ } is a repetition here; a count stands in a regex: "
            return f"'{found}'", hint + '#"x{3}"'
        if found == ";" and text[:offset].rstrip().endswith(("=", "|")):
            return "';'", 'the empty text is written ""'
        return super().known_mistake(text, offset)

    def start(self, rules: list[Rule]) -> tuple[Rule, ...]:
        """All rules."""
        return tuple(rules)

    def rule(self, items: list[Item]) -> Rule:
        """NAME ::= choice ;"""
        name, body = items[0], nodes_in(items)[0]
        return Rule(str(name), name.span, body, span_over(items))

    def string(self, items: list[Token]) -> Literal:
        """A quoted text."""
        token, span = items[0], items[0].span
        text = unescape(token[1:-1], span.start + 1, self.diagnostics, keep_unknown=False).text
        return literal_of(text, span)

    def regex(self, items: list[Token]) -> Expr:
        """#"…" and #e"…" (the shortest matches) are strings first, then regexes; #ex"…" excludes
        a regex and #substrs"…" is any part of a text."""
        opening = _OPENING.match(items[0])
        assert opening is not None
        token, span, begin = items[0], items[0].span, opening.end()
        body, start = token[begin:-1], span.start + begin
        if opening[1] == "substrs":
            text = unescape(body, start, self.diagnostics, keep_unknown=False)
            return Pattern(substrings(text.text, self.limits), text.text, span, "substrs")
        text = unescape(body, start, self.diagnostics, keep_unknown=True)
        node = parse_pattern(text, self.limits, self.diagnostics)
        if opening[1] == "e":
            dfa = determinize(thompson(resolved(node, self.limits), self.limits), self.limits)
            return Pattern(embedded(shortest_matches(dfa)), text.text, span, "e")
        whole = Pattern(node, text.text, span)
        return Excluding(whole, None, span) if opening[1] == "ex" else whole

    def part(self, items: list[Item]) -> Part:
        """A part of a permutation: item, item?, item* or item+"""
        mark = str(items[-1]) if isinstance(items[-1], Token) else ""
        return Part(nodes_in(items)[0], mark in ("", "+"), mark in ("*", "+"))

    def permutation(self, items: list[Token | Part]) -> Expr:
        """permute!(a, b, c?): the parts in any order"""
        return self._permuted(items, None)

    def separated(self, items: list[Token | Part | Expr]) -> Expr:
        """permute_by!(",", a, b, c?): the same with a text between each two"""
        separator = next(i for i in items if not isinstance(i, Token | Part))
        return self._permuted(items, separator)

    def _permuted(self, items: Sequence[Any], separator: Expr | None) -> Expr:
        parts = tuple(item for item in items if isinstance(item, Part))
        if len(parts) > MOST_PARTS:
            message = f"a permutation has at most {MOST_PARTS} parts, and this one {len(parts)}"
            self.report(message, items[0].span)
        return Permutation(parts, separator, span_over(items))

    def excluding(self, items: list[Item]) -> Expr:
        """except!(item) and except!(item, n)"""
        number = next((t for t in items if isinstance(t, Token) and t.type == "NUMBER"), None)
        most = None if number is None else count_of(number)
        if number is not None and most == 0:
            self.report("except! is one character or more, so 0 is no count", number.span)
        return Excluding(nodes_in(items)[0], most, span_over(items))

    @staticmethod
    def _string_ends(text: str, offset: int) -> bool:
        quote, escaped = text[offset], False
        for char in text[offset + 1 :]:
            if char == quote and not escaped:
                return True
            escaped = char == "\\" and not escaped
        return False
