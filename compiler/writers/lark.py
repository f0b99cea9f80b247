"""Write grammars for Lark and llguidance."""

import re
from dataclasses import replace

from ..automata.regex_ir import ANY_CHARACTER
from ..diagnostics import Diagnostic
from ..grammar.tree import Difference, Grammar, Pattern, Rule, Token
from ..lnf.longest_ignored import weave_longest
from .printer import (
    CHOICE,
    SEQUENCE,
    SUFFIX,
    CodePoints,
    NoCounterpart,
    Style,
    Text,
    WriterError,
    by_width,
    escaped,
    node_text,
)
from .regex import RegexStyle

# Any text as it is written, which what & and ~ stand for is taken from.
_ANY_TEXT = r"/[\s\S]*/"
_ESCAPES = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t"}
_QUANTIFIED = re.compile(r"(?:[?*+}]|~[0-9]+(?:\.\.[0-9]+)?)\Z")
# A regex as ``RegexStyle`` writes it, one escape or character at a time.
_PIECE = re.compile(r"\\x\{([0-9A-F]+)\}|\\.|/|[^\\/]+", re.DOTALL)


class LarkStyle(Style):
    """Lark's syntax; ``{m,}``, ``&`` and ``~`` are llguidance's, for Lark has no count without an
    end and no operations on languages."""

    def literal(self, data: bytes) -> Text:
        """A string in double quotes; an empty group for ε."""
        text = escaped(data.decode("utf-8"), _ESCAPES)
        return Text(f'"{text}"' if text else "()")

    def characters(self, ranges: CodePoints) -> Text:
        """A range of two characters, or a class in a regex."""
        if len(ranges) == 1 and ranges != ANY_CHARACTER.ranges:
            low, high = (escaped(chr(code), _ESCAPES) for code in ranges[0])
            return Text(f'"{low}".."{high}"')
        return _regex(RegexStyle().characters(ranges))

    def pattern(self, pattern: Pattern) -> Text | None:
        """A regex between slashes, or a text in either case."""
        if pattern.kind == "structured" or self.keeps_cases(pattern):
            return Text(pattern.text)
        return _regex(node_text(pattern.node, RegexStyle()))

    def token(self, token: Token) -> Text:
        """A name, or ids in brackets."""
        if not self.can_be_named(token):
            raise NoCounterpart("Lark's grammars name a token as <name> or by its number")
        if token.name is None and not token.negated and not token.ids:
            raise NoCounterpart("Lark's grammars cannot name no token at all")
        if not token.negated or not token.ids:
            if token.negated and token.name is not None:
                raise NoCounterpart("Lark's grammars negate tokens by their ids alone")
            return Text(token.text)
        return Text(token.text.removeprefix("!").replace("<[", "<[^", 1))

    def repetition(self, item: Text, low: int, high: int | None) -> Text:
        """? * + or a count; one after an item."""
        suffix = SUFFIX.get((low, high))
        if suffix is None:
            suffix = f"{{{low},}}" if high is None else f"~{low}..{high}"
            suffix = f"~{low}" if low == high else suffix
        quantified = _QUANTIFIED.search(item.text) is not None
        return Text((f"({item.text})" if quantified else item.within()) + suffix)

    def difference(self, left: Text, right: Text) -> Text:
        """A & ~B, or less where one of them is any text; in terminals alone."""
        if left.text == _ANY_TEXT:
            return Text(f"~{right.within()}", SEQUENCE)
        other = right.text[1:] if right.text.startswith("~") else f"~{right.within()}"
        return Text(f"{left.within(SEQUENCE)} & {other}", CHOICE)

    def excluding(self, item: Text, at_most: int | None) -> Text:
        """There is none."""
        raise NoCounterpart("Lark's grammars have no exclusion")

    def valid(self, name: str) -> str:
        """A name in lower case; Lark itself has no hyphens in names."""
        hyphens = "-" if self.is_own else ""
        if re.fullmatch(f"_*[a-z][a-z0-9_{hyphens}]*", name):
            return name
        safe = re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_")
        return safe if safe[:1].isalpha() else f"x{safe}"

    def write(self, grammar: Grammar) -> str:
        """The start rule is called ``start``. With %ignore if it is Lark's own; grammars of others
        are meant to be read without a lexer."""
        if grammar.source.dialect not in ("antlr", "lark"):
            grammar = weave_longest(grammar)
            # In Lark the case of a name says whether it is a terminal.
            rules = tuple(replace(rule, terminal=False) for rule in grammar.rules)
            grammar = replace(grammar, rules=rules)
        terminals = grammar.terminals
        for rule in grammar.rules:
            for expr in () if rule.name in terminals else rule.expressions:
                if isinstance(expr, Difference):
                    message = "Lark's grammars have no set difference outside of terminals"
                    raise WriterError(grammar.source, [Diagnostic(message, expr.span)])
        embedded = grammar.embedded_rules
        kept = (rule for rule in grammar.rules if rule.name not in embedded)
        grammar = replace(grammar, rules=tuple(map(_with_attribute, kept)))
        terminals = grammar.terminals
        lines = ["%llguidance {}\n"] if grammar.follows_all else []
        fixed = [(grammar.start, "start")]
        if grammar.start in terminals:
            fixed = [("", "start")]
            lines.append(f"start: {grammar.start}\n")
        names = self.names(grammar, [*fixed, *((name, name) for name in terminals)])
        # Their text stands where they are used.
        names |= {each.name: each.text for each in grammar.embedded}
        heads = {rule.name: rule for rule in reversed(grammar.rules)}
        for name, body in self.bodies(grammar, names).items():
            priority = f".{heads[name].priority}" if heads[name].priority else ""
            lazy = "[lazy]" * heads[name].shortest
            lines.append(f"{names[name]}{priority}{lazy}: {body}\n")
        for expr in grammar.ignored:
            lines.append(f"%ignore {self.expression(expr, names, grammar.source)}\n")
        return "".join(lines)


def _with_attribute(rule: Rule) -> Rule:
    """The rule with the body of which its attribute takes the shortest members."""
    if rule.shortest and isinstance(rule.body, Difference):
        return replace(rule, body=rule.body.left)
    return rule


def _regex(text: Text) -> Text:
    """A regex between slashes, with the escapes that Python and Rust share."""

    def piece(found: re.Match[str]) -> str:
        if found[1]:
            return by_width(int(found[1], 16))
        return "\\/" if found[0] == "/" else found[0]

    return Text(f"/{_PIECE.sub(piece, text.text)}/")
