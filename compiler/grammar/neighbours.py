"""What expressions begin with, and what may stand right after them: FIRST and FOLLOW of parsers.

    start: "a" B? "c"        "a" before the first of B or "c", B before "c", "c" before the edge

Sets are the bits of numbers, whatever they are of; ``EDGE`` is the bit for nothing: of what begins
an expression that may be empty, of what follows at an end of the text.
"""

from collections.abc import Callable, Iterable
from functools import reduce
from operator import or_

from . import tree

EDGE = 1 << 256


class Neighbours:
    """``of``: by the ``id`` of each expression that is ``wanted``, what may stand right after it;
    or, if not ``is_ahead``, before it: the same of the grammar that is read backwards.

    ``starts``: rules that whole texts are of. ``begins``: what an expression begins with, or ends
    with, that names no rule and is no sequence, choice or repetition. ``around``: what stands
    around the parts of such, and of ignored text. ``inside``: an expression and all inside of it,
    the innermost first.
    """

    def __init__(
        self,
        grammar: tree.Grammar,
        starts: Iterable[str],
        begins: Callable[[tree.Expr], int],
        wanted: Callable[[tree.Expr], bool],
        *,
        around: int = 0,
        is_ahead: bool = True,
        inside: Callable[[tree.Expr], list[tree.Expr]] = lambda expr: tree.walk(expr)[::-1],
    ) -> None:
        self._begins, self._wanted, self._inside = begins, wanted, inside
        self._around, self._step = around, 1 if is_ahead else -1
        # Of each rule what it may begin with.
        self._first: dict[str, int] = {}
        # The same of each expression, by ``id``.
        self._known: dict[int, int] = {}
        if grammar.indentation is not None:
            # They read no text.
            marks = grammar.indentation.indent, grammar.indentation.dedent
            self._first = dict.fromkeys(marks, EDGE)
        bodies: dict[str, list[tree.Expr]] = {}
        users: dict[str, list[str]] = {}
        for rule in grammar.rules:
            bodies.setdefault(rule.name, []).append(rule.body)
            for use in rule.uses:
                users.setdefault(use.name, []).append(rule.name)
        # Used rules mostly stand after their users, and are looked at before them.
        unsettled = dict.fromkeys(bodies)
        while unsettled:
            name, _ = unsettled.popitem()
            found = any_of(map(self._first_of, bodies[name]))
            if found != self._first.get(name):
                self._first[name] = found
                unsettled |= dict.fromkeys(users.get(name, ()))
        ignored = any_of(map(self._first_of, grammar.ignored)) & ~EDGE
        self.of: dict[int, int] = {}
        self._behind = dict.fromkeys(starts, EDGE | ignored)
        pending = [*self._behind]
        for body in grammar.ignored:
            pending += self._push(body, around)
        for name in pending:
            for body in bodies.get(name, ()):
                pending += self._push(body, self._behind[name] | ignored)

    def _first_of(self, expr: tree.Expr) -> int:
        known = self._known
        for each in self._inside(expr):
            known[id(each)] = self._begin(each)
        return known[id(expr)]

    def _begin(self, expr: tree.Expr) -> int:
        known = self._known
        match expr:
            case tree.Reference(name):
                return self._first.get(name, 0)
            case tree.Sequence():
                return _in_a_row(known[id(item)] for item in expr.items[:: self._step])
            case tree.Choice():
                return any_of(known[id(option)] for option in expr.options)
            case tree.Repetition():
                return known[id(expr.item)] | (0 if expr.min_times else EDGE)
            case _:
                return self._begins(expr)

    def _push(self, expr: tree.Expr, behind: int) -> list[str]:
        """Tell all inside what may stand after them; the rules for which that is more."""
        grown: list[str] = []
        pending = [(expr, behind)]
        while pending:
            expr, behind = pending.pop()
            if self._wanted(expr):
                self.of[id(expr)] = self.of.get(id(expr), 0) | behind
            match expr:
                case tree.Reference(name):
                    if behind & ~self._behind.get(name, 0):
                        self._behind[name] = self._behind.get(name, 0) | behind
                        grown.append(name)
                case tree.Sequence():
                    for item in expr.items[:: -self._step]:
                        pending.append((item, behind))
                        behind = _in_a_row([self._known[id(item)], behind])
                case tree.Repetition():
                    again = self._known[id(expr.item)] & ~EDGE if expr.max_times != 1 else 0
                    pending.append((expr.item, behind | again))
                case tree.Choice():
                    pending += ((option, behind) for option in expr.options)
                case _:
                    pending += ((part, self._around) for part in tree.children(expr))
        return grown


def any_of(parts: Iterable[int]) -> int:
    """The union of sets."""
    return reduce(or_, parts, 0)


def _in_a_row(parts: Iterable[int]) -> int:
    """How a sequence begins."""
    found = EDGE
    for part in parts:
        if found & EDGE:
            found = found & ~EDGE | part
    return found
