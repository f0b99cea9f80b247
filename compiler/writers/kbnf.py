"""Write grammars in KBNF."""

import re

from ..automata.regex_ir import ANY_CHARACTER
from ..grammar.tree import Grammar, Pattern, Permutation, Repetition
from ..lnf.longest_ignored import weave_longest
from .printer import CodePoints, NoCounterpart, Style, Text, escaped, node_text
from .regex import RegexStyle

_ESCAPES = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t", "\0": "\\0"}

# After a part: whether it must be there, and whether it may be repeated.
_MARKS = {(True, False): "", (False, False): "?", (True, True): "+", (False, True): "*"}


class KbnfStyle(Style):
    """KBNF's syntax."""

    name = "KBNF"
    rule = "{} ::= {};\n"

    def literal(self, data: bytes) -> Text:
        """A string in double quotes."""
        return Text(_quoted(data.decode("utf-8")))

    def characters(self, ranges: CodePoints) -> Text:
        """A class stands in a regex."""
        if ranges == ANY_CHARACTER.ranges:
            return Text("any!")
        return Text(f"#{_quoted(RegexStyle().characters(ranges).text)}")

    def pattern(self, pattern: Pattern) -> Text | None:
        """A regex, which KBNF reads as a string first."""
        if pattern.kind not in ("regex", "string"):
            return Text(f"#{pattern.kind}{_quoted(pattern.text)}")
        if pattern.node is ANY_CHARACTER:
            return Text("any!")
        return Text(f"#{_quoted(node_text(pattern.node, RegexStyle()).text)}")

    def repetition(self, item: Text, low: int, high: int | None) -> Text:
        """? * + after the item; KBNF has no counts."""
        return self.suffixed(item, low, high)

    def permutation(self, permutation: Permutation, inside: list[Text]) -> Text:
        """permute!(a, b?), or permute_by!(",", a, b?)"""
        if permutation.least or permutation.most is not None:
            raise NoCounterpart("KBNF's permutations do not count their parts")
        texts = []
        for part, text in zip(permutation.parts, inside, strict=False):
            bare = isinstance(part.item, Repetition)
            written = f"({text.text})" if bare else text.within()
            texts.append(written + _MARKS[part.is_required, part.is_repeated])
        if permutation.separator is None:
            return Text(f"permute!({', '.join(texts)})")
        return Text(f"permute_by!({', '.join([inside[-1].within(), *texts])})")

    def excluding(self, item: Text, at_most: int | None) -> Text:
        """except!(item, n)"""
        count = "" if at_most is None else f", {at_most}"
        return Text(f"except!({item.within()}{count})")

    def valid(self, name: str) -> str:
        """Letters, digits and underscores of ASCII."""
        return re.sub(r"^(?=\d)|\W", "_", name, flags=re.ASCII)

    def write(self, grammar: Grammar) -> str:
        """The start rule is called ``start`` or comes first; a name may have several rules."""
        grammar = weave_longest(grammar)
        names = self.names(grammar)
        rules = grammar.rules
        if names[grammar.start] != "start":
            if rules[0].name != grammar.start:
                rules = tuple(sorted(rules, key=lambda rule: rule.name != grammar.start))
            names = {old: "start_" if new == "start" else new for old, new in names.items()}
        bodies = ((r.name, self.expression(r.body, names, grammar.source)) for r in rules)
        return "".join(self.rule.format(names[name], body) for name, body in bodies)


def _quoted(text: str) -> str:
    shown = escaped(text, _ESCAPES, "\\u{{{:X}}}".format)
    return f'"{shown}"'
