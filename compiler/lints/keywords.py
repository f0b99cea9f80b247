"""The lint keyword-as-name: an optional name that takes the keyword after it.

    table ::= ident (ws ident)?          "t WHERE" is a table whose second name is WHERE, where
    select ::= … table (ws where)?       the clause that begins with WHERE was meant

Which keywords may stand after a part is what parsers call its FOLLOW set (Aho, Sethi and Ullman
1986, section 4.4), with white space read over. That an optional part takes one is exact, for small
regular parts.
"""

import re
from collections.abc import Iterator
from itertools import islice, pairwise

from constrain.artifacts.errors import ConstrainError

from ..automata import regex_ir as regex
from ..automata.dfa import Dfa
from ..automata.members import shortest
from ..diagnostics import give_up
from ..grammar import tree
from ..grammar.neighbours import EDGE, Neighbours
from ..limits import Limits, blaming
from ..lnf.remembered import memory_in_force
from ..lnf.resolve_exclusions import Operands
from .finding import Finding, sizes_of
from .language import is_space

_LINT = "keyword-as-name"

# The optional parts that are looked at: of so many nodes, that use so many rules; and in all of a
# grammar together so many nodes, which keeps the time linear in its size.
_NODES, _RULES, _ALL_NODES = 300, 50, 3_000

# Of an automaton.
_STATES = 500

# The keywords that one part is asked about: what is after so many others is not found.
_WORDS = 200

_WORD = re.compile(rb"\s*([A-Za-z]{2,})(?![0-9A-Za-z_])")


def keywords_as_names(grammar: tree.Grammar, limits: Limits) -> Iterator[Finding]:
    """Optional parts that match a keyword that may stand after them, as they match other words;
    one finding a part. ``grammar`` without exceptions; where a lexer cuts the text, keywords come
    before names."""
    if any(rule.terminal for rule in grammar.rules):
        return
    following = _Following(grammar)
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
                    before = following.shortest_before(expr, operands) if taken else b""
            except ConstrainError as error:
                give_up(error)
                continue
            # After a letter no word begins without white space.
            if not before or before[-1:].isalnum():
                taken = [each for each in taken if each[1][:1] == b" "]
            for word, text in taken[:1]:
                shown = (before + text).decode("utf-8", "backslashreplace")
                message = (
                    f"this takes the keyword {word.decode()!r}, which may stand after it, for a "
                    f"name: {shown!r}"
                )
                hint = "leave keywords out of names, as the regex (?!(?:AND|OR)$)[A-Za-z]+ does"
                yield Finding(_LINT, message, expr.span, rule.name, hint)


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

    def __init__(self, grammar: tree.Grammar) -> None:
        # Sets of keywords are bits above the one for nothing.
        self._words: dict[bytes, int] = {}
        self._before: dict[int, tree.Expr] = {}
        # What rules use mostly stands after them.
        for expr in (each for rule in grammar.rules[::-1] for each in rule.expressions[::-1]):
            if isinstance(expr, tree.Literal) and (found := _WORD.match(expr.data)):
                self._words.setdefault(found[1], EDGE << 1 + len(self._words))
            for before, item in pairwise(expr.items) if isinstance(expr, tree.Sequence) else ():
                self._before[id(item)] = before
        names = dict.fromkeys(rule.name for rule in grammar.rules)
        self._behind = Neighbours(grammar, names, self._begins, _is_optional).of

    def _begins(self, expr: tree.Expr) -> int:
        """The keyword that an expression begins with, or nothing, as white space is."""
        if isinstance(expr, tree.Literal) and (found := _WORD.match(expr.data)):
            return self._words[found[1]]
        return EDGE if _is_passable(expr) else 0

    def words_behind(self, expr: tree.Expr) -> list[bytes]:
        """The keywords that may stand after an optional part; none for others."""
        behind = self._behind.get(id(expr), 0)
        return list(islice((word for word, bit in self._words.items() if behind & bit), _WORDS))

    def shortest_before(self, expr: tree.Expr, operands: Operands) -> bytes:
        """A shortest text of what stands right before a part, where that is small."""
        before = self._before.get(id(expr))
        if before is None or not operands.is_small(before, _RULES):
            return b""
        try:
            return shortest(operands.automaton(before), is_read=True) or b""
        except ConstrainError as error:
            give_up(error)
            return b""


def _is_optional(expr: tree.Expr) -> bool:
    if isinstance(expr, tree.Choice):
        return any(isinstance(each, tree.Literal) and not each.data for each in expr.options)
    return isinstance(expr, tree.Repetition) and expr.min_times == 0


def _is_passable(expr: tree.Expr) -> bool:
    """Whether the empty text or white space is a text of an expression without parts."""
    if isinstance(expr, tree.Pattern):
        return is_space(expr.node.node if isinstance(expr.node, regex.Repeat) else expr.node)
    return isinstance(expr, tree.Literal) and not expr.data.strip()
