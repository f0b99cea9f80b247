"""ISO/IEC 14977, the EBNF of the standard and of textbooks.

``,`` stands between items, so names may contain spaces; ``{x}-`` is ``x`` once or more, also
where ``x`` may be empty, and ``3 * x`` a count; strings have no escapes; nothing at all is the
empty text. Stricter than the standard: strings end on the line they begin on, a comma has an
item on each side, and comments nest four deep at most. The standard leaves open what a special
sequence means: ``? any character ?`` is known, and others are names that nothing defines.
"""

from collections.abc import Sequence
from typing import Any, ClassVar

from ...automata.regex_ir import ANY_CHARACTER
from ...grammar.tree import Difference, Expr, Literal, Pattern, Reference, Repetition, Rule
from ..builder import EbnfBuilder, Item, Token, literal_of, nodes_in, nothing_at, span_over

_ANY_CHARACTER = "? any character ?"

_COMMA = "',' stands between two items"
_NO_NAME = f"{_COMMA}, and a rule begins with its name"
_TERMINATOR = "every rule ends with ';' or '.'"
_RULE = "a rule is written name = …, and ends with ';' or '.'"


class Iso14977Builder(EbnfBuilder):
    """Builds rules from ``iso14977.lark``."""

    grammar_file: ClassVar[str] = "iso14977.lark"
    expected: ClassVar[dict[str, str]] = EbnfBuilder.expected | {"DEFINES": "'='"}
    hints: ClassVar[dict[str, str]] = {
        "NAME": _COMMA,
        **dict.fromkeys(("STRING", "INTEGER", "ROUND_OPEN", "SQUARE_OPEN", "CURLY_OPEN"), _NO_NAME),
        "COMMA": f"{_COMMA}; the empty text is written ( )",
        "TERMINATOR": "';' and '.' end a rule in which nothing is missing and no bracket is open",
        "DEFINES": f"{_TERMINATOR}; without it, two names are one with a space in it",
        "MINUS": "one '-' stands after an item, as in a - ( b | c ), and none in a name",
        "$END": _TERMINATOR,
    }
    rule_ends: ClassVar[frozenset[str]] = frozenset({"TERMINATOR"})
    next_rule: ClassVar[str | None] = r"(?:^|[;.])[ \t]*(?P<rule>[^\W\d]\w*([ \t]+\w+)*\s*=)"
    mistakes: ClassVar[tuple[tuple[str, str, str], ...]] = (
        (
            r"""\"(?![^"\r\n]*")|'(?![^'\r\n]*')""",
            "string without an end",
            "it ends with the same quote on the same line",
        ),
        (
            r"\(\*|(?<=\()\*",
            "comment without an end",
            "a comment ends with '*)', and so does each one inside it, four deep at most",
        ),
        (r"\*\)", "", "no comment is open here"),
        (r"//|/\*|#", "", "comments are written (* … *)"),
        ("::=", "", "'::=' is of another dialect; ISO 14977 defines with '='"),
        ("(?!:\\)):=?|<-|->|→", "", _RULE),
        ("<", "", "names stand without < >"),
        (r"\*", "", "3 * x is x three times; any number of times is { x }"),
        (r"\+", "", "one or more times is { x }-"),
        (r"\{\s*\d", "", "{ } is a repetition here; a count stands before its item: 3 * x"),
        (r"\^|(?<=\[[0-9])-", "", "[ ] is an option here; there are no character classes"),
        (r"[^\W\d]\w*(\s+\w+)*\s*=", "", "the rule before it does not end with ';' or '.'"),
    )

    def known_mistake(self, text: str, offset: int) -> tuple[str, str] | None:
        """``?`` begins a special sequence, unless it stands after an item."""
        if text[offset : offset + 1] != "?":
            return super().known_mistake(text, offset)
        if text[:offset].rstrip()[-1:] in tuple("=|/!,-*([{:"):
            return "special sequence without an end", "it ends with '?' on the same line"
        return "'?'", "an option is written [ x ], and ',' stands between two items"

    def start(self, rules: list[Rule]) -> tuple[Rule, ...]:
        """All rules."""
        self.report_redefinitions(rules)
        if not self.partial:
            self._report_names_side_by_side(rules)
        return tuple(rules)

    def rule(self, items: list[Any]) -> Rule:
        """NAME = choice ;"""
        name, defines, body, end = items
        if body is None:
            body = nothing_at(defines.span.end)
        return Rule(_name(name), name.span, body, span_over([name, end]))

    def difference(self, items: list[Item]) -> Expr:
        """item - item, and item - for what the item matches and is not empty"""
        left, *others = nodes_in(items)
        span = span_over(items)
        if others:
            return Difference(left, others[0], span)
        if isinstance(left, Repetition) and (left.min_times, left.max_times) == (0, None):
            return Repetition(left.item, 1, None, span)
        return Difference(left, nothing_at(span.end), span)

    def reference(self, items: list[Token]) -> Expr:
        """A rule's name."""
        return Reference(_name(items[0]), items[0].span)

    def string(self, items: list[Token]) -> Literal:
        """A quoted text, without escapes."""
        text, span = items[0][1:-1], items[0].span
        if not text:
            self.report("a string must not be empty", span, "write nothing, or ( )")
        return literal_of(text, span)

    def special(self, items: list[Token]) -> Expr:
        """? any character ?, and others, which are defined from outside"""
        text, span = self.special_name(items[0][1:-1]), items[0].span
        if text == _ANY_CHARACTER:
            return Pattern(ANY_CHARACTER, str(items[0]), span)
        return Reference(text, span)

    # Special sequences also by the text between their marks.
    matches_definition = EbnfBuilder.matches_special

    def _report_names_side_by_side(self, rules: Sequence[Rule]) -> None:
        """Note every use of two or more rules without a comma, which reads as one name."""
        defined = {rule.name for rule in rules}
        for use in (use for rule in rules for use in rule.uses):
            words = use.name.split()
            if use.name not in defined and len(words) > 1 and defined.issuperset(words):
                hint = f"{_COMMA}: {', '.join(words)}"
                self.report(f"rule {use.name!r} is not defined", use.span, hint)


def _name(token: Token) -> str:
    """A name with one space for any white space in it."""
    return " ".join(token.split())
