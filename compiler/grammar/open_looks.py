r"""Find look-around that asks for text outside of its regex, where a grammar has several.

    /"(?!x)[a-z]*"/   ->   fine           /=(?!=)/   ->   whether it matches '=' is open

The look-around of a regex in a grammar sees the text of that regex alone, and so do assertions, but
for those of Python's regexes; a terminal of a lexer is one regex, whatever it is made of. That is
what its author means wherever the text around cannot change anything. So the regex is put between
marks that its looks do not see, with texts around that end and begin as the grammar lets them, and
must match the same there as by itself; or, where a lexer reads it, as the byte after it alone
decides.
"""

from collections.abc import Iterator, Sequence
from functools import cached_property, lru_cache, partial

import numpy as np

from constrain.artifacts.tokens.memo import memoised

from ..automata import regex_ir as regex
from ..automata.assertions import resolved
from ..automata.boolean import embedded
from ..automata.compare import compare
from ..automata.dfa import DEAD
from ..automata.graphs import reached
from ..automata.look_around import MARKS, SEEN, TEXT_BYTE, Followed, is_ascii, marked
from ..automata.minimize import minimal
from ..automata.thompson import thompson
from ..diagnostics import CheckError, Diagnostic
from ..limits import Limits, in_force_or
from . import tree
from .neighbours import EDGE, Neighbours
from .regex_widths import width

_HINT = (
    "the look-around of a terminal sees that terminal alone; write into the terminal what is meant "
    "to follow it, or leave the look-around out; by --meaning maximal-munch it sees the next byte"
)


# Bytes as bits; above them the one for none, at an edge of the text.
_ALL = (EDGE << 1) - 1
_BEYOND_ASCII = EDGE - (1 << 128)

# Those that characters begin with, as UTF-8.
_LEADING = np.array([*range(0x80), *range(0xC2, 0xF5)])

_ANY_BYTES = regex.repeat(regex.byte_class([(0, 255)]), 0, None)


def check_looks(
    grammar: tree.Grammar, limits: Limits | None = None, *, is_lexed: bool = False
) -> None:
    """Raise ``CheckError`` where a regex matches a text or not by what stands around it,
    ``is_lexed``: by more than the byte after it; and ``LimitError``."""
    limits = (limits or Limits()).started()
    found = [
        Diagnostic(message, pattern.span, _HINT)
        for pattern, beside, is_settled in _found(grammar)
        if not (is_lexed and is_settled)
        and (message := beside.message(pattern, limits, is_lexed=is_lexed))
    ]
    if found:
        raise CheckError(grammar.source, found)


def open_patterns(grammar: tree.Grammar) -> list[tree.Pattern]:
    """Each regex that matches a text or not by what stands around it. Raises ``LimitError``."""
    return [pattern for pattern, *_ in _found(grammar)]


def looking(grammar: tree.Grammar) -> list[tree.Pattern]:
    """The regexes that ask for what is around them."""
    # Assertions of Python's regexes see what is around them; elsewhere a regex sees itself.
    is_pythons = grammar.source.dialect == "lark"
    looks = regex.outside_looks if is_pythons else regex.looks_around
    return [pattern for pattern in _patterns(grammar) if looks(pattern.node)]


# A grammar is checked, and then its lexemes are made.
@lru_cache(1)
def _found(grammar: tree.Grammar) -> "Sequence[tuple[tree.Pattern, _Beside, bool]]":
    """Each regex that matches a text or not by what stands around it, that, and whether it is known
    that the byte after it settles this."""
    found: list[tuple[tree.Pattern, _Beside, bool]] = []
    if patterns := looking(grammar):
        limits = in_force_or(Limits()).started()
        beside = _Beside(grammar, limits)
        for pattern in patterns:
            by_next = is_open = _by_next(pattern.node, beside.behind.get(id(pattern), 0), limits)
            if is_open is None:
                is_open = beside.message(pattern, limits, is_lexed=False) is not None
            if is_open:
                found.append((pattern, beside, by_next is not None))
    return found


def _by_next(node: regex.Node, behind: int, limits: Limits) -> bool | None:
    """Whether what a regex matches before one of some bytes is not what it matches by itself; None
    where more than that byte is asked for."""
    if width(node).before:
        return None
    words = not behind & _BEYOND_ASCII and is_ascii(node)
    text = regex.repeat(TEXT_BYTE, 0, None)
    whole = resolved(regex.seq(node, SEEN, regex.lit(MARKS[1]), text), limits, is_ascii=words)
    dfa = minimal(thompson(whole, limits), limits)
    octets = dfa.table[:, dfa.classes]
    ends = np.unique(octets[:, MARKS[1][0]])
    ends, octets = ends[ends != DEAD], octets[:, : MARKS[0][0]]
    # In a state that is its own target anything follows; bytes that begin no character never do.
    is_all = dfa.accepting & (octets == np.arange(len(octets))[:, None]).all(1)
    after, is_match = octets[ends][:, _LEADING], dfa.accepting[ends, None]
    # At the end of the text a lexer takes what may stand before something.
    at_end = behind & EDGE and (dfa.accepting[octets[ends]] & ~is_match).any()
    if at_end or not (is_all[after] | (after == DEAD)).all():
        return None
    differs = (is_all[after] != is_match).any(0)
    return any(behind >> byte & 1 for byte in _LEADING[differs].tolist())


def _patterns(grammar: tree.Grammar) -> Iterator[tree.Pattern]:
    bodies = [*(rule.body for rule in grammar.rules), *grammar.ignored]
    return (part for body in bodies for part in tree.walk(body) if isinstance(part, tree.Pattern))


class _Beside:
    """What the regexes of a grammar stand beside."""

    def __init__(self, grammar: tree.Grammar, limits: Limits) -> None:
        self._limits, self._grammar, self._edges = limits, grammar, _Edges(limits)
        self.behind = self._of(is_ahead=True)

    @cached_property
    def before(self) -> dict[int, int]:
        """As ``behind``."""
        return self._of(is_ahead=False)

    def _of(self, *, is_ahead: bool) -> dict[int, int]:
        """By the ``id`` of each pattern that the start uses, the bytes next to it, and the edge."""
        return Neighbours(
            self._grammar,
            [self._grammar.start],
            partial(self._edges.next_to, is_ahead=is_ahead),
            lambda expr: isinstance(expr, tree.Pattern),
            around=_ALL,
            is_ahead=is_ahead,
            inside=self._edges.inside,
        ).of

    def message(self, pattern: tree.Pattern, limits: Limits, *, is_lexed: bool) -> str | None:
        """As of ``_Around``."""
        left, right = self.before.get(id(pattern)), self.behind.get(id(pattern))
        # What stands beside what matches nothing has neighbours on one side at most; a regex that
        # is the whole grammar has none.
        if left is None or right is None or left | right == EDGE:
            return None
        return _Around(left, right, self._limits).message(pattern, limits, is_lexed=is_lexed)


class _Around:
    """The texts that may stand around a regex, by the bytes next to it."""

    def __init__(self, before: int, behind: int, limits: Limits) -> None:
        self.may_end = bool(behind & EDGE)
        self.is_ascii = not (before | behind) & _BEYOND_ASCII
        self.begin, self.end = map(regex.lit, MARKS)
        self.preceding = _texts(before, regex.seq(_ANY_BYTES, _bytes(before)), limits)
        self.following = _texts(behind, regex.seq(_bytes(behind), _ANY_BYTES), limits)

    def message(self, pattern: tree.Pattern, limits: Limits, *, is_lexed: bool) -> str | None:
        """A text that a regex matches in some of these, and not in others, if there is one."""
        alone = (
            self.lexed(pattern, limits) if is_lexed else self.placed(resolved(pattern.node, limits))
        )
        words = self.is_ascii and is_ascii(pattern.node)
        nodes = (resolved(n, limits, is_ascii=words) for n in (alone, self.placed(pattern.node)))
        one, other = (minimal(thompson(node, limits), limits) for node in nodes)
        found = compare(one, other, limits).witnesses
        witness = next((word for word in found if word is not None), None)
        if witness is None:
            return None
        left, _, rest = witness.partition(MARKS[0])
        word, _, right = rest.partition(MARKS[1])
        looks = regex.outside_looks(pattern.node)
        sides = [
            f"{place} {_shown(side)}"
            for place, side, others in (("after", left, ("(?=", "(?!")), ("before", right, "(?<"))
            if side and not all(each.startswith(others) for each in looks)
        ]
        message = f"whether this matches {_shown(word)} depends on what stands around it"
        where = " and ".join(sides) or "at an end of the text"
        return f"{message}: not the same {where} (it has a {looks[0]})"

    def placed(self, node: regex.Node) -> regex.Node:
        """A regex with these texts around it, and marks between."""
        return regex.seq(self.preceding, self.begin, SEEN, node, self.end, self.following)

    def lexed(self, pattern: tree.Pattern, limits: Limits) -> regex.Node:
        """The same as a lexer reads it, which sees the byte after it; at the end of the text it
        takes what it would take before something."""
        by_next, text = followed(pattern.node, limits), regex.repeat(TEXT_BYTE, 0, None)
        before_byte = regex.seq(text, self.end, TEXT_BYTE)
        matched = regex.intersection(embedded(by_next.whole), before_byte)
        ways = [regex.seq(self.preceding, self.begin, matched, text)]
        if self.may_end:
            ways.append(regex.seq(self.preceding, self.begin, embedded(by_next.dfa), self.end))
        around = regex.seq(text, self.begin, text, self.end, self.following)
        return regex.intersection(regex.alt(*ways), around)


def followed(node: regex.Node, limits: Limits) -> Followed:
    """What a regex matches by the byte that follows. Raises ``LimitError``."""
    # A byte is no character beyond ASCII, so one after the match is none of a word.
    whole = resolved(marked(node), limits, is_ascii=is_ascii(node))
    return Followed(minimal(thompson(whole, limits), limits))


def _texts(bits: int, node: regex.Node, limits: Limits) -> regex.Node:
    """Texts of UTF-8 that ``node`` matches, and the empty one if the edge is among the bits."""
    texts = resolved(regex.intersection(regex.EVERYTHING, node), limits)
    return regex.alt(*([regex.EPSILON] if bits & EDGE else []), texts)


def _shown(text: bytes) -> str:
    return repr(text.decode("utf-8", "replace"))


def _bytes(bits: int) -> regex.Node:
    return regex.byte_class([(b, b) for b in range(256) if bits >> b & 1])


class _Edges:
    """The bytes that regexes begin and end with, and the edge for those that match the empty text;
    and what expressions hold. Raises ``LimitError``."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits

    @memoised
    def inside(self, expr: tree.Expr) -> list[tree.Expr]:
        """An expression and all inside of it, the innermost first."""
        return tree.walk(expr)[::-1]

    def next_to(self, expr: tree.Expr, *, is_ahead: bool) -> int:
        """The bytes that a text or a regex begins with (``is_ahead``) or ends with; all of what is
        neither."""
        match expr:
            case tree.Literal(data):
                return 1 << data[0 if is_ahead else -1] if data else EDGE
            case tree.Pattern():
                return self.of(expr)[not is_ahead]
            case _:
                return _ALL

    @memoised
    def of(self, pattern: tree.Pattern) -> tuple[int, int]:
        """Both of a regex."""
        nfa = thompson(resolved(pattern.node, self._limits), self._limits)
        leading: dict[int, list[int]] = {}
        for state, targets in enumerate(nfa.epsilon):
            for target in targets:
                leading.setdefault(target, []).append(state)
        begin = nfa.epsilon_closure([nfa.start])
        end = set(reached(nfa.finals, lambda state: leading.get(state, ())))
        first = last = EDGE if nfa.start in end else 0
        for state, arcs in enumerate(nfa.arcs):
            for low, high, target, _ in arcs:
                if state in begin:
                    first |= (1 << high + 1) - (1 << low)
                if target in end:
                    last |= (1 << high + 1) - (1 << low)
        return first, last
