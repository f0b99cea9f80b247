"""What mends a finding, as edits of the text: by the tokens around its place.

    unreachable            x ::= …;            ->
    redundant-alternative  ("a" | "b" | "a")   ->  ("a" | "b")
    left-recursion         a ::= a "," x | x;  ->  a ::= x ("," x)*;
    empty-alternative      ("a" | "b" | ε)     ->  ("a" | "b")?
    high-hex-escape        "\\xE9"              ->  "\\u00E9"
    hex-escape-digit       "\\x41B"             ->  "\\u041B"

Where a comment would be lost there is no fix. Those that are safe keep the language; that of a rule
that nothing uses, though it does, is not safe, as another start may lead there, nor is that of left
recursion, which changes the trees of other tools.
"""

import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

from constrain.artifacts.errors import ConstrainError

from ..diagnostics import Edit, Fix, give_up
from ..dialects import DIALECTS
from ..dialects.builder import CLOSING, OPENING, Token
from ..dialects.parse import tokens_of
from ..grammar.tree import Grammar, Rule
from ..limits import Limits
from ..writers.token_styles import STYLES
from .finding import Finding

_LABEL = re.compile(r"(?:\[[0-9][\w.]*\])?[ \t]*")
_LINE_END = re.compile(r"[ \t]*(?:\r\n|\r|\n)")

# What an alternative holds that says more than a sequence.
_MORE = frozenset({"ARROW", "CONDITION", "AND", "MINUS", "LOOK_OPEN"})
_SIMPLE = frozenset({"NAME", "STRING", "CLASS", "DOT", "REGEX"})

# How "any number of x" is written, where it is not x*.
_ANY_NUMBER = {"iso14977": "{{ {} }}", "abnf": "*({})"}
_OPTION = dict.fromkeys(("iso14977", "abnf"), "[ {} ]")


def with_fixes(grammar: Grammar, found: Iterable[Finding], limits: Limits) -> list[Finding]:
    """The findings, with fixes where they are known."""
    listed = list(found)
    if not any(each.lint in _FIXES for each in listed) or grammar.source.dialect not in STYLES:
        return listed
    try:
        fixes = _Fixes(grammar, limits)
    except ConstrainError as error:
        give_up(error)
        return listed
    return [replace(each, fix=each.fix or fixes.of(each)) for each in listed]


def mended(text: str, fixes: Iterable[Fix]) -> tuple[str, list[Fix]]:
    """A text with fixes that do not overlap, the first of those that do; and which these are."""
    done: list[Fix] = []
    taken: list[Edit] = []
    for fix in fixes:
        if fix not in done and not any(_overlap(a, b) for a in fix.edits for b in taken):
            done.append(fix)
            taken += fix.edits
    for edit in sorted(taken, key=lambda each: (each.start, each.end), reverse=True):
        text = text[: edit.start] + edit.text + text[edit.end :]
    return text, done


def _overlap(one: Edit, other: Edit) -> bool:
    return one.start <= other.end and other.start <= one.end


class _Fixes:
    """Those of one grammar, whose tokens are read once."""

    def __init__(self, grammar: Grammar, limits: Limits) -> None:
        source = grammar.source
        builder = DIALECTS[source.dialect].builder
        assert builder is not None
        self.text, self.style = source.text, STYLES[source.dialect]
        self.dialect = source.dialect
        self.tokens: Sequence[Token] = tokens_of(builder(source, limits))
        self.starts = {token.span.start: place for place, token in enumerate(self.tokens)}
        self.rules: Mapping[tuple[str, int], Rule] = {
            (rule.name, rule.name_span.start): rule for rule in grammar.rules
        }
        self.names = sorted(rule.name_span.start for rule in grammar.rules)
        self.is_lexed = any(rule.terminal for rule in grammar.rules)

    def of(self, finding: Finding) -> Fix | None:
        """That of a finding, if one is known."""
        find = _FIXES.get(finding.lint)
        return None if find is None else find(self, finding)

    def rule_of(self, finding: Finding) -> Rule | None:
        """The rule whose name is at the place of a finding, as it is written there."""
        rule = self.rules.get((finding.rule, finding.span.start))
        if rule is None or finding.rule not in self.text[slice(*rule.name_span)]:
            return None
        begin, end = rule.span
        return rule if sum(begin <= name < end for name in self.names) == 1 else None

    def is_bare(self, first: int, last: int) -> bool:
        """Whether no comment stands between these tokens."""
        between = zip(self.tokens[first:last], self.tokens[first + 1 : last + 1], strict=True)
        return not any(self.text[a.span.end : b.span.start].strip() for a, b in between)

    def kind(self, place: int) -> str:
        """That of a token; a line break beyond both ends."""
        return self.tokens[place].type if 0 <= place < len(self.tokens) else "NEWLINE"

    def slice(self, first: int, last: int) -> str:
        """The text from a token to another."""
        return self.text[self.tokens[first].span.start : self.tokens[last].span.end]


def _unreachable(of: _Fixes, finding: Finding) -> Fix | None:
    rule = of.rule_of(finding)
    if rule is None:
        return None
    text, (start, end) = of.text, rule.span
    line = max(text.rfind("\n", 0, start), text.rfind("\r", 0, start)) + 1
    if _LABEL.fullmatch(text[line:start].lstrip()):
        start = line
        rest = _LINE_END.match(text, end)
        end = rest.end() if rest else end
    return Fix(f"remove rule {rule.name!r}", (Edit(start, end, ""),), safe=False)


def _redundant(of: _Fixes, finding: Finding) -> Fix | None:
    first = of.starts.get(finding.span.start)
    if first is None:
        return None
    last = first
    while last + 1 < len(of.tokens) and of.tokens[last + 1].span.end <= finding.span.end:
        last += 1
    found = _alternative(of, first, last)
    if found is None:
        return None
    first, last = found
    title = f"remove the alternative {of.slice(first, last)}"
    if of.kind(first - 1) == "BAR":
        begin, start, end = first - 2, of.tokens[first - 2].span.end, of.tokens[last].span.end
        whole = of.is_bare(begin, last)
    else:
        start, end = of.tokens[first].span.start, of.tokens[last + 2].span.start
        whole = of.is_bare(first, last + 2)
    return Fix(title, (Edit(start, end, ""),), safe=not of.is_lexed) if whole else None


def _alternative(of: _Fixes, first: int, last: int) -> tuple[int, int] | None:
    """The tokens of an alternative with all of its brackets; None if something else stands around
    these."""
    kinds = [of.kind(place) for place in range(first, last + 1)]
    lowest = depth = 0
    for kind in kinds:
        depth += (kind in OPENING) - (kind in CLOSING)
        lowest = min(lowest, depth)
    first, last = first + lowest, last + depth - lowest
    if any(of.kind(p) not in OPENING for p in range(first, first - lowest)):
        return None
    while of.kind(first - 1) in OPENING and of.kind(last + 1) in CLOSING:
        first, last = first - 1, last + 1
    before, behind = of.kind(first - 1), of.kind(last + 1)
    begins = {"BAR"} | of.style.signs | OPENING
    ends = {"BAR", "NEWLINE"} | of.style.ends | of.style.heads | CLOSING
    is_one = before in begins and behind in ends and "BAR" in (before, behind)
    # Nothing may stand after the bar that is left, where that is no alternative.
    is_one = is_one and (before == "BAR" or of.kind(last + 2) not in ends)
    is_one = is_one and (before != "BAR" or of.kind(first - 2) not in begins)
    return (first, last) if is_one else None


def _left_recursion(of: _Fixes, finding: Finding) -> Fix | None:
    rule = of.rule_of(finding)
    first = None if rule is None else of.starts.get(rule.name_span.start)
    if rule is None or first is None:
        return None
    if of.kind(first) not in of.style.signs and of.kind(first + 1) in of.style.signs:
        first += 1
    if of.kind(first) not in of.style.signs:
        return None
    parts = _alternatives(of, first + 1)
    last = parts[-1][1]
    named = of.text[slice(*rule.name_span)]
    recursive = [p for p in parts if p[0] <= p[1] and of.tokens[p[0]] == named]
    base = [part for part in parts if part not in recursive]
    if not (recursive and base) or any(a > b for a, b in parts) or not of.is_bare(first, last):
        return None
    if any(of.kind(place) in _MORE for place in range(first + 1, last + 1)):
        return None
    tails = [(a + 1 + (of.kind(a + 1) == "COMMA"), b) for a, b in recursive]
    behind = of.style.behind - OPENING
    if any(a > b or of.kind(a) in behind | of.style.ends for a, b in tails):
        return None
    bar = " / " if of.dialect == "abnf" else " | "
    begins, goes_on = (bar.join(of.slice(a, b) for a, b in each) for each in (base, tails))
    is_simple = len(tails) == 1 and tails[0][0] == tails[0][1] and of.kind(last) in _SIMPLE
    form = _ANY_NUMBER.get(of.dialect, "{}*" if is_simple else "({})*")
    begins = f"({begins})" if len(base) > 1 else begins
    comma = "," * (of.dialect == "iso14977")
    edit = Edit(
        of.tokens[first + 1].span.start,
        of.tokens[last].span.end,
        f"{begins}{comma} {form.format(goes_on)}",
    )
    return Fix(f"write rule {rule.name!r} as a repetition", (edit,), safe=False)


def _alternatives(of: _Fixes, first: int) -> list[tuple[int, int]]:
    """The first and last token of each alternative of a rule's body, or of what is in brackets."""
    parts, begin, depth, place = [], first, 0, first
    ends = {"NEWLINE"} | of.style.ends | of.style.heads
    while (kind := of.kind(place)) not in ends:
        if kind == "BAR" and depth == 0:
            parts.append((begin, place - 1))
            begin = place + 1
        depth += (kind in OPENING) - (kind in CLOSING)
        if depth < 0:
            break
        place += 1
    return [*parts, (begin, place - 1)]


def _empty(of: _Fixes, finding: Finding) -> Fix | None:
    place = bisect_left(of.tokens, finding.span.start, key=lambda token: token.span.start)
    first, depth = place, 1
    while depth and first:
        first -= 1
        depth += (of.kind(first) in CLOSING) - (of.kind(first) in OPENING)
    parts = _alternatives(of, first + 1)
    last = parts[-1][1] + 1
    rest = [(a, b) for a, b in parts if a <= b and (a, b) != (place, place)]
    if (of.kind(first), of.kind(last)) != ("ROUND_OPEN", "ROUND_CLOSE"):
        return None
    if len(rest) != len(parts) - 1 or not of.is_bare(first, last):
        return None
    if any(of.kind(each) in _MORE for each in range(first, last)):
        return None
    begin, end = of.tokens[first].span.start, of.tokens[last].span.end
    bar = " / " if of.dialect == "abnf" else " | "
    inside = bar.join(of.slice(a, b) for a, b in rest)
    is_simple = len(rest) == 1 and rest[0][0] == rest[0][1] and of.kind(rest[0][0]) in _SIMPLE
    is_simple = is_simple and of.text[begin - 1 : begin].isspace()
    new = _OPTION.get(of.dialect, "{}?" if is_simple else "({})?").format(inside)
    # A lexer may take the empty text first.
    is_last = rest[-1] != parts[-1]
    return Fix(f"write {new}", (Edit(begin, end, new),), safe=is_last or not of.is_lexed)


def _escape(of: _Fixes, finding: Finding) -> Fix | None:
    digits = of.text[slice(*finding.span)].rpartition("x")[2].upper()
    new = rf"\u{digits:0>4}"
    # Three digits may have been meant to be two, and a character.
    return Fix(f"write {new}", (Edit(*finding.span, new),), safe=len(digits) == 2)


_FIXES: Mapping[str, Callable[[_Fixes, Finding], Fix | None]] = {
    "empty-alternative": _empty,
    "hex-escape-digit": _escape,
    "high-hex-escape": _escape,
    "left-recursion": _left_recursion,
    "redundant-alternative": _redundant,
    "unreachable": _unreachable,
}
