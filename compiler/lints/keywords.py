"""The lint keyword-as-name: an optional name that takes the keyword after it.

    table ::= ident (ws ident)?          "t WHERE" is a table whose second name is WHERE, where
    select ::= … table (ws where)?       the clause that begins with WHERE was meant

Which keywords may stand after a part is what parsers call its FOLLOW set (Aho, Sethi and Ullman
1986, section 4.4), with white space read over. That an optional part takes one is exact, for small
regular parts.
"""

import re
from collections.abc import Iterator

from constrain.artifacts.errors import ConstrainError

from ..automata import regex_ir as regex
from ..automata.dfa import Dfa
from ..automata.folding import fold
from ..diagnostics import give_up
from ..grammar import tree
from ..grammar.productive import is_nullable, least_rules
from ..limits import Limits, blaming
from ..lnf.remembered import memory_in_force
from ..lnf.resolve_exclusions import Operands
from .ambiguity import shortest_member
from .finding import Finding, sizes_of
from .language import is_space

_LINT = "keyword-as-name"

# The optional parts that are looked at: of so many nodes, that use so many rules; and in all of a
# grammar together so many nodes, which keeps the time linear in its size.
_NODES, _RULES, _ALL_NODES = 300, 50, 3_000

# Of an automaton.
_STATES = 500

# How often all rules are looked at, and the keywords that one part is asked about: what is farther
# away, or after so many others, is not found.
_PASSES, _WORDS = 20, 200

_WORD = re.compile(rb"\s*([A-Za-z]{2,})(?![0-9A-Za-z_])")


def keywords_as_names(grammar: tree.Grammar, limits: Limits) -> Iterator[Finding]:
    """Optional parts that match a keyword that may stand after them, as they match other words;
    one finding a part. ``grammar`` without exceptions; where a lexer cuts the text, keywords come
    before names."""
    if any(rule.terminal for rule in grammar.rules):
        return
    following = _Following(grammar, limits)
    operands = Operands(grammar, limits.within(_STATES), memory_in_force())
    left = _ALL_NODES
    for rule in grammar.rules:
        limits.check_resources(f"the lint {_LINT}", [rule.name])
        sizes = sizes_of(rule.body)
        for expr in tree.walk(rule.body):
            words = following.words_behind(expr)
            if not words or sizes[id(expr)] > min(_NODES, left):
                continue
            left -= sizes[id(expr)]
            if not operands.is_small(expr, _RULES):
                continue
            try:
                with blaming([rule.name]):
                    taken = _taken(operands.automaton(expr), words)
                    before = following.shortest_before(expr, operands, limits) if taken else b""
            except ConstrainError as error:
                give_up(error)
                continue
            # After a letter no word begins without white space.
            if not before or before[-1:].isalnum():
                taken = [each for each in taken if each[1][:1] == b" "]
            for word, text in taken[:1]:
                shown = (before + text).decode("utf-8", "backslashreplace")
                yield Finding(
                    _LINT,
                    f"this takes the keyword {word.decode()!r}, which may stand after it, for a "
                    f"name: {shown!r}",
                    expr.span,
                    rule.name,
                    "leave keywords out of names, as the regex (?!(?:AND|OR)$)[A-Za-z]+ does",
                )


def _taken(dfa: Dfa, words: list[bytes]) -> list[tuple[bytes, bytes]]:
    """Those of the words that are taken as one of many, and how."""
    return [
        (word, text)
        for word in words
        for text in (word, b" " + word)
        # Longer by its last letter it is no keyword; with a mark after it, no name.
        if dfa.accepts(text) and dfa.accepts(text + word[-1:]) and not dfa.accepts(text + b"!")
    ]


class _Following:
    """The keywords that may stand after optional parts, white space between."""

    def __init__(self, grammar: tree.Grammar, limits: Limits) -> None:
        self._passable = least_rules(grammar.rules, _is_passable)
        self._words: list[bytes] = []
        self._bits: dict[bytes, int] = {}
        # Sets of keywords are bits: what rules begin with, and what may stand after them.
        self._first: dict[str, int] = {}
        self._behind = {rule.name: 0 for rule in grammar.rules}
        self._behind_parts: dict[int, int] = {}
        self._before: dict[int, tree.Expr] = {}
        # What each part begins with, and whether nothing or white space is a text of it.
        self._parts: dict[int, tuple[int, bool]] = {}
        # What rules use mostly stands after them.
        for collect, rules in (
            (self._collect_first, grammar.rules[::-1]),
            (self._collect_behind, grammar.rules),
        ):
            for _ in range(_PASSES):
                limits.check_resources(f"the lint {_LINT}", [grammar.start])
                if sum(map(collect, rules)) == 0:
                    break

    def words_behind(self, expr: tree.Expr) -> list[bytes]:
        """The keywords that may stand after an optional part; none for others."""
        bits, found = self._behind_parts.get(id(expr), 0), list[bytes]()
        while bits and len(found) < _WORDS:
            lowest = bits & -bits
            found.append(self._words[lowest.bit_length() - 1])
            bits ^= lowest
        return found

    def shortest_before(self, expr: tree.Expr, operands: Operands, limits: Limits) -> bytes:
        """A shortest text of what stands right before a part, where that is small."""
        before = self._before.get(id(expr))
        if before is None or not operands.is_small(before, _RULES):
            return b""
        try:
            return shortest_member(operands.automaton(before), limits) or b""
        except ConstrainError as error:
            give_up(error)
            return b""

    def _collect_first(self, rule: tree.Rule) -> bool:
        """Find what a rule begins with; whether that was not known."""
        before = self._first.get(rule.name, 0)
        self._first[rule.name] = before | fold(rule.body, tree.children, self._part)[0]
        return self._first[rule.name] != before

    def _part(self, expr: tree.Expr, inside: list[tuple[int, bool]]) -> tuple[int, bool]:
        passable = _is_passable(self._passable, expr, [passes for _, passes in inside])
        first = 0
        match expr:
            case tree.Literal() if found := _WORD.match(expr.data):
                first = self._bits.setdefault(found[1], 1 << len(self._words))
                self._words += [found[1]] * (first.bit_length() > len(self._words))
            case tree.Reference():
                first = self._first.get(expr.name, 0)
            case tree.Sequence():
                for bits, passes in inside:
                    first |= bits
                    if not passes:
                        break
            case tree.Choice() | tree.Repetition():
                for bits, _ in inside:
                    first |= bits
        self._parts[id(expr)] = first, passable
        return first, passable

    def _collect_behind(self, rule: tree.Rule) -> bool:
        """Find what may stand after the rules that a rule uses, and after its optional parts;
        whether something new stands after a rule."""
        changed = False
        pending = [(rule.body, self._behind[rule.name])]
        while pending:
            expr, behind = pending.pop()
            if _is_optional(expr):
                self._behind_parts[id(expr)] = self._behind_parts.get(id(expr), 0) | behind
            match expr:
                case tree.Reference() if expr.name in self._behind:
                    known = self._behind[expr.name]
                    self._behind[expr.name] |= behind
                    changed |= self._behind[expr.name] != known
                case tree.Sequence():
                    for before, item in zip(expr.items, expr.items[1:], strict=False):
                        self._before[id(item)] = before
                    for item in reversed(expr.items):
                        pending.append((item, behind))
                        first, passes = self._parts[id(item)]
                        behind = first | behind if passes else first
                case tree.Choice():
                    pending += [(option, behind) for option in expr.options]
                case tree.Repetition():
                    once = expr.max_times == 1
                    first = 0 if once else self._parts[id(expr.item)][0]
                    pending.append((expr.item, behind | first))
        return changed


def _is_optional(expr: tree.Expr) -> bool:
    if isinstance(expr, tree.Choice):
        return any(isinstance(each, tree.Literal) and not each.data for each in expr.options)
    return isinstance(expr, tree.Repetition) and expr.min_times == 0


def _is_passable(found: set[str], expr: tree.Expr, inside: list[bool]) -> bool:
    """Whether the empty text or white space is a text of an expression."""
    if isinstance(expr, tree.Literal):
        return not expr.data.strip()
    if isinstance(expr, tree.Pattern):
        node = expr.node.node if isinstance(expr.node, regex.Repeat) else expr.node
        if is_space(node):
            return True
    return is_nullable(found, expr, inside)
