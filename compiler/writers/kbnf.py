"""Write grammars in KBNF."""

import re

from ..automata.regex_ir import ANY_CHARACTER
from ..grammar.tree import Grammar, Pattern, Permutation, Repetition
from .printer import (
    ATOM,
    CodePoints,
    NoCounterpart,
    Style,
    Text,
    escaped,
    node_text,
    suffixed,
    unique_names,
    write_expr,
)
from .regex import RegexStyle

_ESCAPES = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t", "\0": "\\0"}

# After a part: whether it must be there, and whether it may be repeated.
_MARKS = {(True, False): "", (False, False): "?", (True, True): "+", (False, True): "*"}


class KbnfStyle(Style):
    """KBNF's syntax."""

    name = "KBNF"

    def literal(self, data: bytes) -> Text:
        """A string in double quotes."""
        return Text(_quoted(data.decode("utf-8")), ATOM)

    def characters(self, ranges: CodePoints) -> Text:
        """A class stands in a regex."""
        if ranges == ANY_CHARACTER.ranges:
            return Text("any!", ATOM)
        return Text(f"#{_quoted(RegexStyle().characters(ranges).text)}", ATOM)

    def pattern(self, pattern: Pattern) -> Text | None:
        """A regex, which KBNF reads as a string first."""
        if pattern.kind not in ("regex", "string"):
            return Text(f"#{pattern.kind}{_quoted(pattern.text)}", ATOM)
        if pattern.node is ANY_CHARACTER:
            return Text("any!", ATOM)
        return Text(f"#{_quoted(node_text(pattern.node, RegexStyle()).text)}", ATOM)

    def repetition(self, item: Text, low: int, high: int | None) -> Text:
        """? * + after the item; KBNF has no counts."""
        return suffixed(item, low, high, self)

    def permutation(self, permutation: Permutation, inside: list[Text]) -> Text:
        """permute!(a, b?), or permute_by!(",", a, b?)"""
        if permutation.least or permutation.most is not None:
            raise NoCounterpart("KBNF's permutations do not count their parts")
        texts = []
        for part, text in zip(permutation.parts, inside, strict=False):
            bare = isinstance(part.item, Repetition)
            written = f"({text.text})" if bare else text.within(ATOM)
            texts.append(written + _MARKS[part.is_required, part.is_repeated])
        if permutation.separator is None:
            return Text(f"permute!({', '.join(texts)})", ATOM)
        return Text(f"permute_by!({', '.join([inside[-1].within(ATOM), *texts])})", ATOM)

    def excluding(self, item: Text, at_most: int | None) -> Text:
        """except!(item, n)"""
        count = "" if at_most is None else f", {at_most}"
        return Text(f"except!({item.within(ATOM)}{count})", ATOM)


def write_kbnf(grammar: Grammar) -> str:
    """The grammar as KBNF; the start rule is called ``start`` or comes first.

    Raises ``WriterError``.
    """
    names = unique_names(grammar, lambda name: re.sub(r"^(?=\d)|\W", "_", name, flags=re.ASCII))
    rules = grammar.rules
    has_start = any(new == "start" for new in names.values())
    if rules[0].name != grammar.start and names[grammar.start] != "start":
        rules = tuple(sorted(rules, key=lambda rule: rule.name != grammar.start))
    if has_start and names[grammar.start] != "start":
        names = {old: "start_" if new == "start" else new for old, new in names.items()}
    style = KbnfStyle()
    return "".join(
        f"{names[r.name]} ::= {write_expr(r.body, style, names, grammar.source)};\n" for r in rules
    )


def _quoted(text: str) -> str:
    shown = escaped(text, _ESCAPES, "\\u{{{:X}}}".format)
    return f'"{shown}"'
