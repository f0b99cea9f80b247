r"""Find look-around that asks for text outside of its regex, where a grammar has several.

    /"(?!x)[a-z]*"/   ->   fine           /=(?!=)/   ->   whether it matches '=' is open

The look-around of a regex in a grammar sees the text of that regex alone; a terminal of a lexer is
one regex, whatever it is made of. That is what its author means wherever the text around cannot
change anything. So the regex is put between marks that its looks do not see, with any text before
and what the grammar lets follow behind, and must match the same there as by itself.
"""

from collections.abc import Iterable, Iterator
from functools import reduce
from operator import or_

from ..automata import regex_ir as regex
from ..automata.assertions import resolved
from ..automata.compare import compare
from ..automata.folding import fold
from ..automata.look_around import MARKS
from ..automata.minimize import minimal
from ..automata.thompson import thompson
from ..diagnostics import Diagnostic
from ..limits import Limits
from .tree import (
    Choice,
    Expr,
    Grammar,
    Literal,
    Pattern,
    Reference,
    Repetition,
    children,
    walk,
)
from .tree import Sequence as Concatenation

_HINT = (
    "the look-around of a terminal sees that terminal alone; write into the terminal what is meant "
    "to follow it, or leave the look-around out"
)


# Of first bytes, as bits; the one of the end of the text.
_END = 1 << 256
_ALL = (_END << 1) - 1

_ANY_BYTES = regex.repeat(regex.byte_class([(0, 255)]), 0, None)


def open_looks(grammar: Grammar, limits: Limits | None = None) -> Iterator[Diagnostic]:
    """A message for each regex that matches a text or not by what stands around it.

    Raises ``LimitError``.
    """
    if not any(regex.looks_around(p.node) for p in _patterns(grammar)):
        return
    limits = (limits or Limits()).started()
    followers = _Followers(grammar, limits)
    for pattern in _patterns(grammar):
        behind = followers.of.get(id(pattern), 0)
        if behind and regex.looks_around(pattern.node):
            if behind == _END and len(grammar.rules) == 1 and grammar.rules[0].body is pattern:
                continue
            yield from _open_look(pattern, behind, limits)


def _patterns(grammar: Grammar) -> Iterator[Pattern]:
    bodies = [*(rule.body for rule in grammar.rules), *grammar.ignored]
    return (part for body in bodies for part in walk(body) if isinstance(part, Pattern))


def _open_look(pattern: Pattern, behind: int, limits: Limits) -> Iterator[Diagnostic]:
    begin, end = map(regex.lit, MARKS)
    rest = regex.seq(_bytes(behind), _ANY_BYTES)
    text = regex.intersection(regex.EVERYTHING, rest)
    following = regex.alt(*([regex.EPSILON] if behind & _END else []), resolved(text, limits))

    def placed(node: regex.Node) -> regex.Node:
        return regex.seq(regex.EVERYTHING, begin, node, end, following)

    alone = placed(resolved(pattern.node, limits))
    inside = resolved(placed(pattern.node), limits)
    one, other = (minimal(thompson(node, limits), limits) for node in (alone, inside))
    found = compare(one, other, limits)
    witness = next((word for word in found.witnesses if word is not None), None)
    if witness is not None:
        before, _, rest_of = witness.partition(MARKS[0])
        matched, _, after = rest_of.partition(MARKS[1])
        sides = [
            f"{side} {_shown(text)}"
            for side, text in (("behind", before), ("before", after))
            if text
        ]
        message = f"whether this matches {_shown(matched)} depends on what stands around it"
        look = next(p for p in regex.walk(pattern.node) if isinstance(p, regex.Around))
        yield Diagnostic(
            f"{message}: not the same {' and '.join(sides)} (it has a {look.opening}…))",
            pattern.span,
            _HINT,
        )


def _shown(text: bytes) -> str:
    return repr(text.decode("utf-8", "replace"))


def _bytes(bits: int) -> regex.Node:
    return regex.byte_class([(b, b) for b in range(256) if bits >> b & 1])


class _Followers:
    """``of``: by the ``id`` of each pattern, the bytes that may stand behind it, and the end."""

    def __init__(self, grammar: Grammar, limits: Limits) -> None:
        self._grammar, self._limits = grammar, limits
        # Of each pattern, and rule, the bytes that it may begin with; the end, if it may be empty.
        self._first_of: dict[int, int] = {}
        self._first: dict[str, int] = {}
        self._firsts()
        ignored = 0
        for body in grammar.ignored:
            ignored |= self._begins(body) & ~_END
        self.of: dict[int, int] = {}
        self._behind = {grammar.start: _END | ignored}
        for body in grammar.ignored:
            self._push(body, _ALL)
        pending = [grammar.start]
        bodies: dict[str, list[Expr]] = {}
        for rule in grammar.rules:
            bodies.setdefault(rule.name, []).append(rule.body)
        for name in pending:
            for body in bodies.get(name, ()):
                pending += self._push(body, self._behind[name] | ignored)

    def _firsts(self) -> None:
        before = None
        while before != self._first:
            before = dict(self._first)
            for rule in self._grammar.rules:
                self._first[rule.name] = self._first.get(rule.name, 0) | self._begins(rule.body)

    def _begins(self, expr: Expr) -> int:
        return fold(expr, children, self._begin)

    def _begin(self, expr: Expr, inside: list[int]) -> int:
        match expr:
            case Literal(data):
                return 1 << data[0] if data else _END
            case Reference(name):
                return self._first.get(name, 0)
            case Concatenation():
                return _in_a_row(inside)
            case Choice():
                return _any(inside)
            case Repetition():
                return inside[0] if expr.min_times else inside[0] | _END
            case Pattern():
                if id(expr) not in self._first_of:
                    self._first_of[id(expr)] = self._first_bytes(expr.node)
                return self._first_of[id(expr)]
            case _:
                return _ALL

    def _first_bytes(self, node: regex.Node) -> int:
        nfa = thompson(resolved(node, self._limits), self._limits)
        closure = nfa.epsilon_closure([nfa.start])
        found = 0 if nfa.finals.isdisjoint(closure) else _END
        for state in closure:
            for low, high, _, _ in nfa.arcs[state]:
                found |= (1 << high + 1) - (1 << low)
        return found

    def _push(self, expr: Expr, behind: int) -> list[str]:
        """Tell all inside what may stand behind them; the rules for which that is more."""
        grown: list[str] = []
        pending = [(expr, behind)]
        while pending:
            expr, behind = pending.pop()
            match expr:
                case Reference(name):
                    if behind & ~self._behind.get(name, 0):
                        self._behind[name] = self._behind.get(name, 0) | behind
                        grown.append(name)
                case Pattern():
                    self.of[id(expr)] = self.of.get(id(expr), 0) | behind
                case Concatenation():
                    for item in reversed(expr.items):
                        pending.append((item, behind))
                        behind = _in_a_row([self._begins(item), behind])
                case Repetition():
                    again = self._begins(expr.item) & ~_END if expr.max_times != 1 else 0
                    pending.append((expr.item, behind | again))
                case Choice():
                    pending += ((option, behind) for option in expr.options)
                case _:
                    pending += ((part, _ALL) for part in children(expr))
        return grown


def _any(parts: Iterable[int]) -> int:
    return reduce(or_, parts, 0)


def _in_a_row(parts: Iterable[int]) -> int:
    """How a sequence begins."""
    found = _END
    for part in parts:
        if found & _END:
            found = found & ~_END | part
    return found
