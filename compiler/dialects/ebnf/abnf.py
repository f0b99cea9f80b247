"""ABNF, the notation of the RFCs: RFC 5234, with the strings of RFC 7405.

Strings are in either case but after ``%s``; numbers are code points, never bytes; names are the
same in either case; ``=/`` adds alternatives; the core rules (RFC 5234, B.1) are there where a
grammar uses and does not define them. What prose in ``< >`` means is defined from outside, unless
it is the name of a rule. Stricter than the RFC: a rule begins a line, and strings are of ASCII.
"""

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar

from ...automata import regex_ir as ir
from ...diagnostics import READ_AS, Diagnostic, Span
from ...grammar.tree import Choice, Expr, Pattern, Reference, Repetition, Rule, references, renamed
from ..builder import EbnfBuilder, Token, count_of, is_scalar, literal_of, span_over
from ..characters import either_case

# RFC 5234, B.1. OCTET is there a byte, and here a character.
CORE: Mapping[str, str] = {
    "ALPHA": "[A-Za-z]",
    "BIT": "[01]",
    "CHAR": r"[\x01-\x7F]",
    "CR": r"\r",
    "CRLF": r"\r\n",
    "CTL": r"[\x00-\x1F\x7F]",
    "DIGIT": "[0-9]",
    "DQUOTE": '"',
    "HEXDIG": "[0-9A-Fa-f]",
    "HTAB": r"\t",
    "LF": r"\n",
    "LWSP": r"([ \t]|\r\n[ \t])*",
    "OCTET": r"[\x00-\xFF]",
    "SP": " ",
    "VCHAR": "[!-~]",
    "WSP": r"[ \t]",
}

_BASES = {"x": 16, "d": 10, "b": 2}

# Digits of the longest number that is read.
_LONGEST = 32

_LARGEST = 0x10FFFF

# What is a byte to some and a character to others.
_HIGH = range(0x80, 0x100)


class AbnfBuilder(EbnfBuilder):
    """Builds rules from ``abnf.lark``."""

    grammar_file: ClassVar[str] = "abnf.lark"
    library: ClassVar[Mapping[str, str]] = CORE
    expected: ClassVar[dict[str, str]] = EbnfBuilder.expected | {
        "HEAD": "a rule (name =)",
        "BAR": "'/'",
        "NUMBER": "a number %x…",
    }
    hints: ClassVar[dict[str, str]] = {
        "HEAD": "the rule before it is not finished",
        "NAME": "a rule is written name = …",
        "BAR": 'an alternative must not be empty: write "" for the empty text',
        "REPEAT": "a repeat stands before what it repeats",
        "ROUND_CLOSE": "an alternative must not be empty, and a ')' needs its '('",
    }
    rule_heads: ClassVar[frozenset[str]] = frozenset({"HEAD"})
    next_rule: ClassVar[str | None] = r"^[ \t]*(?P<rule>[A-Za-z][\w-]*[ \t]*=)"
    comment: ClassVar[tuple[str, str]] = (";", "\n")
    mistakes: ClassVar[tuple[tuple[str, str, str], ...]] = (
        (r'"(?![^"\r\n]*")', "string without an end", 'it ends with " on the same line'),
        (r"<(?![^>\r\n]*>)", "prose without an end", "it ends with > on the same line"),
        (r"\|", "", "alternatives stand between '/'"),
        ("::?=", "", "a rule is written name = …"),
        ("=", "", "the rule before it is not finished"),
        (r"[?+]", "", "how often stands before an item: *x, 1*x, 2*4x; an option is [ x ]"),
        (r"\{", "", "{ } says nothing here; a repetition is written *( … )"),
        ("'", "", 'strings stand in double quotes: "…"'),
        ("%", "", 'a number is %x41, %x41-5A or %d13.10, a string %s"…" or %i"…"'),
        ("#", "", 'lists #x are of HTTP: write x *( OWS "," OWS x )'),
        (r"//|/\*|\(\*", "", "comments begin with ';'"),
        (r"[!&~$@]", "", "this is of parsing expressions, and no part of ABNF"),
        (",", "", "items stand side by side, without ','"),
    )

    def matches_definition(self, use: str, name: str) -> bool:
        """In either case, and prose also without its < >."""
        return use.lower() in (name.lower(), f"<{name.lower()}>")

    def start(self, rules: list[Rule]) -> tuple[Rule, ...]:
        """All rules, those of one name together, under the names that they first have."""
        found: dict[str, Rule] = {}
        for rule in rules:
            key, first = rule.name.lower(), found.get(rule.name.lower())
            adds = self.source.text[rule.name_span.end : rule.body.span.start].lstrip()[:2] == "=/"
            if first is None:
                found[key] = rule
                if adds and not self.partial:
                    hint = "the first definition is written with '='"
                    self.report(
                        f"'=/' adds to {rule.name!r}, which is not defined", rule.name_span, hint
                    )
            elif adds:
                span = first.body.span.cover(rule.body.span)
                both = Choice((*_options(first.body), *_options(rule.body)), span)
                found[key] = replace(first, body=both, span=first.span.cover(rule.span))
            else:
                self.report_again(rule, first, "alternatives are added with '=/'")
        names = {key: rule.name for key, rule in found.items()}
        uses = (use.name.upper() for rule in rules for use in rule.uses)
        if "octet" not in names and "OCTET" in uses:
            self._note_characters("OCTET")
        return tuple(renamed(rule, _names(rule, names)) for rule in found.values())

    def rule(self, items: list[Any]) -> Rule:
        """NAME = choice, and NAME =/ choice"""
        head, body = items
        name = re.split(r"[\s=]", head)[0]
        start = head.span.start
        text = self.source.text
        if text[text.rfind("\n", 0, start) + 1 : start].strip():
            hint = "'=' stands after the name of a rule, which begins a line"
            self.report(
                f"the rule {name!r} does not begin a line", Span(start, start + len(name)), hint
            )
        span = Span(start, max(body.span.end, self.last_group_end))
        return Rule(name, Span(start, start + len(name)), body, span)

    def repeated(self, items: list[Any]) -> Expr:
        """3x, *x, 1*x and 2*4x"""
        token, item = items
        least, star, most = token.partition("*")
        low = count_of(least)
        high = count_of(most) if most else None if star else low
        if high is not None and high < low:
            self.report(f"the repeat {token} runs backwards", token.span)
            high = low
        return Repetition(item, low, high, span_over(items))

    def string(self, items: list[Token]) -> Expr:
        """A text in either case, after %s as it stands."""
        token, span = items[0], items[0].span
        text = token.partition('"')[2][:-1]
        if not text.isascii():
            self.report("a string is of ASCII", span, "write other characters as numbers: %xE9")
        if token[:2] in ("%s", "%S") or text.upper() == text.lower():
            return literal_of(text, span)
        # As Lark writes it.
        shown = '"' + text.replace("\\", r"\\") + '"i'
        return Pattern(either_case(text), shown, span, "string")

    def number(self, items: list[Token]) -> Expr:
        """%x41, %x41.42 and %x41-5A"""
        token, span = items[0], items[0].span
        base, digits = _BASES[token[1].lower()], token[2:]
        codes = [self._code(each, base, span) for each in re.split("[.-]", digits)]
        if any(code in _HIGH for code in codes) and max(codes) in _HIGH:
            self._note_characters(token)
        if not any(is_scalar(code) for code in codes):
            self.report(f"{token} is no code point that UTF-8 can encode", span)
        elif "-" not in digits:
            return literal_of("".join(map(chr, codes)), span)
        first, last = codes[0], codes[-1]
        if last < first:
            self.report("the range runs backwards", span)
            last = first
        return Pattern(ir.char_class([(first, last)]), str(token), span)

    def prose(self, items: list[Token]) -> Reference:
        """<what somebody has to define>"""
        return Reference(" ".join(items[0].split()), items[0].span)

    def _code(self, digits: str, base: int, span: Span) -> int:
        code = int(digits, base) if len(digits) <= _LONGEST else -1
        if 0 <= code <= _LARGEST:
            return code
        self.report(f"{digits} is no code point", span)
        return 0

    def _note_characters(self, token: str) -> None:
        """Say once that numbers are no bytes."""
        if not self.notes:
            message = f"{READ_AS} characters, not as bytes: numbers from %x80 on, such as {token}"
            self.notes.append(Diagnostic(message))


def _options(body: Expr) -> tuple[Expr, ...]:
    return body.options if isinstance(body, Choice) else (body,)


def _names(rule: Rule, defined: Mapping[str, str]) -> dict[str, str]:
    """What the names in a rule are called where they are defined, or in the core rules."""
    found = {rule.name: rule.name}
    for name in (use.name for use in references(rule.body)):
        key = name.lower()
        core = name.upper() if name.upper() in CORE else name
        found[name] = defined.get(key) or defined.get(key.strip("<> ")) or core
    return found
