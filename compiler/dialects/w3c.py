"""The EBNF of the XML specification (XML 1.0, section 6) and of other W3C specifications.

``[x]`` is a class; strings have no escapes; ``A - B`` binds tighter than a sequence. Comments
are ``/* */`` and, as in files that people share, ``//`` or ``#`` and a space to the end of the
line. White space between tokens is implied where ``@pass`` says so, as in the files of Yacker
and of Ruby's ebnf: what it names may stand before each terminal and at the end. Terminals are
then the rules after the heading ``@terminals``, or those in upper case where there is none, and
what they use.
"""

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import ClassVar

from ..automata.graphs import reached
from ..diagnostics import Span
from ..grammar.tree import Expr, Literal, Pattern, Rule, references
from .builder import EbnfBuilder, Item, Token, literal_of, nodes_in
from .characters import class_pattern

_CODE = "#x[0-9A-Fa-f]+"
_MEMBER = re.compile(f"({_CODE}|.)(?:-({_CODE}|.))?", re.DOTALL)


class W3cBuilder(EbnfBuilder):
    """Builds rules from ``w3c.lark``."""

    grammar_file: ClassVar[str] = "w3c.lark"
    expected: ClassVar[dict[str, str]] = EbnfBuilder.expected | {"HEAD": "a rule (name ::=)"}
    hints: ClassVar[dict[str, str]] = EbnfBuilder.hints | {
        "HEAD": "the rule before it is not finished",
        "NAME": "a rule is written name ::= …",
        "BAR": "an alternative must not be empty: write '' for the empty text",
        "CLASS": "a label such as [1] stands before name ::= on the same line",
        "MINUS": "'-' stands between two items",
        "ROUND_CLOSE": "an alternative must not be empty, and a ')' needs its '('",
    }
    rule_heads: ClassVar[frozenset[str]] = frozenset({"HEAD", "HEADING", "PASS"})
    next_rule: ClassVar[str | None] = (
        r"^[ \t]*(?:\[[0-9a-z.]+\][ \t]*)?(?P<rule>[^\W\d][\w.-]*\s*::=|@(?:pass|terminals)\b)"
    )
    comment: ClassVar[tuple[str, str]] = ("/*", "*/")
    mistakes: ClassVar[tuple[tuple[str, str, str], ...]] = (
        (
            r"""\"(?![^"\r\n]*")|'(?![^'\r\n]*')""",
            "string without an end",
            "it ends with the same quote on the same line",
        ),
        (
            r"\[(?![^\]\r\n]*\])",
            "class without an end",
            "it ends with ] on the same line; write #x5B for '['",
        ),
        (r"/\*", "comment without an end", "a comment ends with '*/'"),
        (r"(?<=\()\*", "", "comments are written /* … */"),
        (";", "", "rules do not end with ';' here: nothing ends a rule but the next"),
        ("::=", "", "the rule before it is not finished"),
        ("::?|=", "", "a rule is written name ::= …"),
        (r"\{", "", "{ } says nothing here; a repetition is written ( … )*"),
        ("#", "", "a code point is written #x41, a comment /* … */"),
        (",", "", "items stand side by side, without ','"),
        (r"@\w*", "", "the statements are @terminals and @pass"),
        (r"<\?|<<|>>|==|\\\\|\*\*|\+\+|[$.&/^]", "", "this is no part of the notation"),
    )

    def start(self, items: list[Rule | Token | None]) -> tuple[Rule, ...]:
        """All rules, of which some are terminals where text is ignored."""
        rules = [item for item in items if isinstance(item, Rule)]
        self.report_redefinitions(rules)
        if not self.ignored:
            return tuple(rules)
        heading = next((i for i, item in enumerate(items) if isinstance(item, Token)), None)
        below = [] if heading is None else [r for r in items[heading:] if isinstance(r, Rule)]
        if heading is None:
            below = [rule for rule in rules if rule.name.isupper()]
        terminals = self._with_used({rule.name for rule in below}, rules)
        return tuple(replace(rule, terminal=rule.name in terminals) for rule in rules)

    def _with_used(self, names: set[str], rules: list[Rule]) -> set[str]:
        """Names, and those of the rules that they or ignored text use."""
        by_name = {rule.name: rule for rule in rules}

        def used_in(expr: Expr) -> Iterator[str]:
            return (use.name for use in references(expr) if use.name in by_name)

        ignored = (name for expr in self.ignored for name in used_in(expr))
        return set(reached([*names, *ignored], lambda name: used_in(by_name[name].body)))

    def heading(self, items: list[Token]) -> Token:
        """@terminals"""
        return items[0]

    def ignore(self, items: list[Item]) -> None:
        """@pass choice"""
        self.ignored.append(nodes_in(items)[0])

    def rule(self, items: list[Item]) -> Rule:
        """NAME ::= choice"""
        head, body = items[0], nodes_in(items)[0]
        name = str(head).removesuffix("::=").rstrip()
        start = head.span.start
        span = Span(start, max(body.span.end, self.last_group_end))
        return Rule(name, Span(start, start + len(name)), body, span)

    def string(self, items: list[Token]) -> Literal:
        """A quoted text, without escapes."""
        return literal_of(items[0][1:-1], items[0].span)

    def char_class(self, items: list[Token]) -> Pattern:
        """[…] and [^…]"""
        return class_pattern(items[0], _MEMBER, self.code_of, self.report, self.limits)
