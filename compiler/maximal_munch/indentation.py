"""Write what Lark's ``Indenter`` makes of line breaks into the rules.

    tree: NAME _NL [_INDENT tree+ _DEDENT]    ->    tree 0: NAME line (deeper 0)?
                                                    deeper 0: <1 blank> block 1 | deeper 1
                                                    block 1: tree 1 (<1 blank> tree 1)*

Lark's lexer keeps a stack of widths, and says INDENT and DEDENT where a line begins further in or
out than the one before. Here rules that have to do with lines are copied for each width of the
block around them, and the stack is the parser's: where a block begins, the blanks before its first
line say how wide it is. So the terminal of line breaks is divided: a line break alone, blank lines
after it, which do not count, and the blanks before the next line. They are read as soon as
something stands there that is no DEDENT, and must be as wide as the block that then is open:

    settled     the blanks of this line were read
    broken      after a line break: INDENT, DEDENT or anything else may follow
    closed      after a DEDENT, after which no INDENT follows
    ended       the text ends: all blocks that are open end, and nothing may stand any more

A copy of a rule is one of (rule, width, how it begins, how it ends). Copies for all widths but 0
differ in these alone, so that one can stand for all (``any_width.py``):

    deeper: <wider> block      block: tree (<as wide> tree)*

Between brackets line breaks
are ignored: rules that are used there are copied once more. Blanks of no width that fits are read
all the same, as a lexeme after which nothing goes on, or they would be ignored.
Source: Lark 1.3, its module ``indenter``.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from itertools import product
from typing import Any, TypeAlias

from constrain.artifacts.tokens.memo import memoised

from ..automata import regex_ir as regex
from ..automata.boolean import common, embedded
from ..automata.compare import are_equal
from ..automata.dfa import Dfa
from ..automata.folding import fold
from ..automata.graphs import reached
from ..automata.minimize import minimal
from ..automata.thompson import thompson
from ..diagnostics import Span
from ..grammar.indented_rules import IndentedRules, either, joined, name_of, nothing
from ..grammar.productive import is_nullable, productive_rules, used_rules, without_dead
from ..grammar.tree import (
    Choice,
    Expr,
    Grammar,
    Literal,
    Pattern,
    Permutation,
    Reference,
    Repetition,
    Rule,
    Sequence,
    Widths,
    children,
    references,
    walk,
    with_children,
)
from ..limits import Limits
from ..thresholds import MANY
from .line_breaks import LineBreaks, blanks_of, divided

_STAGE = "indentation"

_SETTLED, _BROKEN, _CLOSED, _ENDED = _STATES = "settled", "broken", "closed", "ended"
_INSIDE = "in brackets"

# The ways of what has nothing to do with lines.
_APART = _INSIDE, (_SETTLED, _SETTLED)

# What an expression is between two states of a line, and inside brackets.
_Ways: TypeAlias = Mapping[tuple[str, str] | str, Expr]

# A copy of a rule: its name, the width around it if that matters, and what it is of ``_Ways``.
_Copy: TypeAlias = tuple[str, int | None, tuple[str, str] | str]


def indented(
    grammar: Grammar, dfa_of: Callable[[Expr], Dfa], limits: Limits, *, of_any_width: bool = False
) -> Grammar:
    """The grammar without INDENT and DEDENT; the same one if it has none.

    ``dfa_of``: the automaton of a terminal. ``of_any_width``: with one copy for all widths but 0,
    and ``Grammar.widths``, unless frames may count or hold sets. Raises ``CheckError`` where it
    cannot be told what line breaks are, and for a rule that does not end the blocks and brackets
    that it begins.
    """
    if grammar.indentation is None:
        return grammar
    rules = IndentedRules(grammar, grammar.indentation)
    lines = divided(dfa_of(rules.newline), limits)
    if lines is None:
        hint = "it is a line feed and blanks, any number of times, as in /(\\r?\\n[\\t ]*)+/"
        raise rules.refusal(f"{rules.newline.name} is not made of lines", rules.newline, hint)
    once = of_any_width and not any(map(_may_be_held, rules.bodies.values()))
    return _Copies(rules, lines, limits, of_any_width=once).run()


def _may_be_held(body: Expr) -> bool:
    """Whether something in a rule may be counted in frames, or held there as a set."""
    return any(
        isinstance(part, Permutation)
        or (isinstance(part, Repetition) and max(part.min_times, part.max_times or 0) >= MANY)
        for part in walk(body)
    )


class _Copies:
    """The rules over lines, blanks and brackets."""

    def __init__(
        self, given: IndentedRules, lines: LineBreaks, limits: Limits, *, of_any_width: bool
    ) -> None:
        self.given, self.limits, self.of_any_width = given, limits, of_any_width
        self.widths: Widths | None = None
        self.rules: dict[str, Rule] = {}
        self.copies: dict[str, _Copy] = {}
        self.shared: dict[int, Reference] = {}
        # How rules of lines begin and end; those that may begin with a block.
        self.relation: dict[str, set[tuple[str, str]]] = {}
        self.leading: set[str] = set()
        # Which expressions may be empty, by ``id``.
        self.empty: dict[int, bool] = {}
        # Where no block may follow another one's end, that is as any line break.
        self.closed, self.follows = _CLOSED, False
        self._find()
        if not self.follows:
            self.closed = _BROKEN
            self._find()
        self.place = given.newline.span
        self._write_terminals(lines)

    def _find(self) -> None:
        self.relation = {name: set() for name in self.given.of_lines}
        # Used rules mostly stand after their users, and are looked at before them.
        unsettled = dict.fromkeys(name for name in self.given.bodies if name in self.relation)
        while unsettled:
            self.limits.check_resources(_STAGE)
            name, _ = unsettled.popitem()
            known, body = self.relation[name], self.given.bodies[name]
            before = len(known), name in self.leading
            ways = fold(body, children, self._between)
            if name not in self.given.blocks:
                known |= ways
            else:
                if {(_SETTLED, _BROKEN), (_SETTLED, _CLOSED)} & ways:
                    known.add((_BROKEN, self.closed))
                if {(_SETTLED, _SETTLED), (_SETTLED, _ENDED)} & ways:
                    known.add((_BROKEN, _ENDED))
            if self._begins(body) or name in self.given.blocks:
                self.leading.add(name)
            if before != (len(known), name in self.leading):
                unsettled |= dict.fromkeys(self.given.users[name])

    def _between(self, expr: Expr, parts: list[set[tuple[str, str]]]) -> set[tuple[str, str]]:
        """Between which states of a line an expression is."""
        match expr:
            case Reference(name) if name in self.relation:
                return self.relation[name]
            case Choice():
                return set().union(*parts)
            case Sequence() if not self.given.bracket(expr.items[0]):
                found = parts[0]
                for part, item in zip(parts[1:], expr.items[1:], strict=True):
                    is_behind = any(end == _CLOSED for _, end in found)
                    self.follows |= is_behind and self._begins(item)
                    found = {(a, c) for (a, b), (b2, c) in product(found, part) if b == b2}
                return found
        ends = _BROKEN if name_of(expr) == self.given.newline.name else _SETTLED
        return self._alike(expr) | {(state, ends) for state in _STATES if state != _ENDED}

    def _begins(self, root: Expr) -> bool:
        """Whether an expression may begin with a block."""

        def under(expr: Expr, parts: list[bool]) -> bool:
            if isinstance(expr, Reference):
                return expr.name in self.leading
            if isinstance(expr, Sequence):
                ends = (i for i, item in enumerate(expr.items) if not self._may_be_empty(item))
                parts = parts[: next(ends, len(parts)) + 1]
            return any(parts)

        return fold(root, children, under)

    def _may_be_empty(self, root: Expr) -> bool:
        def under(expr: Expr, parts: list[bool]) -> bool:
            found = self.empty[id(expr)] = is_nullable(self.given.nullable, expr, parts)
            return found

        found = self.empty.get(id(root))
        return fold(root, children, under) if found is None else found

    def _alike(self, expr: Expr) -> set[tuple[str, str]]:
        """What the empty text does, if the expression has it."""
        return {(state, state) for state in _STATES} if self._may_be_empty(expr) else set()

    def _write_terminals(self, lines: LineBreaks) -> None:
        """Line breaks, blank lines, and blanks of each width."""
        given, settings = self.given, self.given.indentation
        newline = given.terminals[given.newline.name]
        priorities = [0, *(rule.priority for rule in given.grammar.rules)]
        top, low = max(priorities) + 1, min(priorities) - 1
        one = regex.byte_class([(9, 9), (32, 32)])
        blanks = minimal(thompson(regex.repeat(one, 1, None), self.limits), self.limits)
        self._terminal("line break", lines.first, newline.priority)
        self._terminal("blanks", blanks, top)
        # A rule that is never over: its end is blanks, and those that count more go on with it.
        # Both count less than anything that may be read beside them.
        self._terminal("more blanks", blanks, low)
        self._terminal("no text", blanks, low - 1)
        more = self._sequence("more blanks", "nowhere")
        self._write("nowhere", either([self._use("no text"), more]))
        wrong = [self._sequence("blanks", "nowhere")]
        if not lines.blank.is_empty:
            self._terminal("blank line", lines.blank, top)
            wrong.append(self._use("blank line"))
        rest = Repetition(either(wrong), 0, None, self.place)
        self._write("line", Sequence((self._use("line break"), rest), self.place))
        some = common(lines.rest, blanks, self.limits)
        each = [blanks_of(w, settings.tab_length) for w in range(1, settings.widest + 1)]
        if not are_equal(some, blanks, self.limits):
            each = [common(some, wide, self.limits) for wide in each]
        if self.of_any_width:
            lines_end = "line break", "blank line"
            self.widths = Widths("as wide", "wider", (*each,), top, self.place, lines_end)
            self._terminal("as wide", some, low - 2)
            self._terminal("wider", some, low - 3)
        else:
            for width, wide in enumerate(each, 1):
                self._terminal(f"{width} wide", wide, top)
        # Between brackets line breaks are ignored.
        self.gap = Repetition(given.newline, 0, None, self.place)

    def _terminal(self, name: str, dfa: Dfa, priority: int) -> None:
        body = Pattern(embedded(dfa), name, self.place)
        self._write(name, body, priority=priority, terminal=True)

    def _write(self, name: str, body: Expr, within: str = "", **more: Any) -> None:
        self.rules[name] = Rule(name, self.place, body, body.span, within=within, **more)

    def _use(self, name: str) -> Reference:
        return Reference(name, self.place)

    def _sequence(self, *names: str) -> Expr:
        return Sequence(tuple(map(self._use, names)), self.place)

    def run(self) -> Grammar:
        """The grammar over copies."""
        given, start = self.given, self.given.grammar.start
        first = next(rule for rule in given.grammar.rules if rule.name == start)
        ways = sorted(way for way in self.relation.get(start, ()) if way[0] == _SETTLED)
        copies = [self._copy((start, 0, way)) for way in ways]
        if not copies:
            copies = [self._copy((start, None, (_SETTLED, _SETTLED)))]
        names = list(reached((copy.name for copy in copies), self._uses))
        ignored = {use.name for body in given.grammar.ignored for use in references(body)}
        kept = used_rules(given.terminals.values(), [*names, *ignored])
        terminals = [given.terminals[name] for name in kept if name in given.terminals]
        made = [self.rules[name] for name in names if name in self.rules]
        rules = [replace(first, body=either([*copies])), *made, *terminals]
        alive = tuple(without_dead(rules, productive_rules(rules)))
        return replace(given.grammar, rules=alive, indentation=None, widths=self.widths)

    def _uses(self, name: str) -> list[str]:
        """What a rule uses, which is written now."""
        if name in self.copies:
            copy = self.copies[name]
            owner = self.given.written[copy[0]]
            self.limits.check_resources(_STAGE, (owner,))
            self._write(name, self._body(copy), owner)
        return [use.name for use in self.rules[name].uses] if name in self.rules else []

    def _copy(self, copy: _Copy) -> Reference:
        """A use of a copy."""
        name, width, way = copy
        shown = way if isinstance(way, str) else "-".join(way)
        found = " ".join([name, *([] if width is None else [str(width)]), shown])
        self.copies[found] = copy
        return Reference(found, self.given.bodies[name].span)

    def _body(self, copy: _Copy) -> Expr:
        name, width, way = copy
        ways = self._ways(name, width)
        if name not in self.given.blocks or way == _INSIDE:
            return ways.get(way, _never(self.place))
        assert width is not None
        if isinstance(way, str):
            # A block up to its end.
            ends = (_BROKEN, _CLOSED) if way == self.closed else (_SETTLED, _ENDED)
            return either([ways[_SETTLED, end] for end in ends if (_SETTLED, end) in ways])
        if self.of_any_width:
            return Sequence((self._use("wider"), self._copy((name, 1, way[1]))), self.place)
        if width == self.given.indentation.widest:
            return _never(self.place)
        wider, end = width + 1, way[1]
        items = (self._use(f"{wider} wide"), self._copy((name, wider, end)))
        return either([Sequence(items, self.place), self._copy((name, wider, way))])

    @memoised
    def _ways(self, name: str, width: int | None) -> _Ways:
        """What a rule is between blocks so wide."""
        body = self.given.bodies[name]
        if name in self.relation:
            found: _Ways = fold(body, children, partial(self._combined, width))
            return found
        both: tuple[Expr, Expr] = fold(body, children, self._apart)
        return dict(zip(_APART, both, strict=True))

    def _combined(self, width: int | None, expr: Expr, parts: list[_Ways]) -> _Ways:
        match expr:
            case Reference(name) if name in self.relation:
                return self._rule_of_lines(name, width)
            case Choice():
                keys = dict.fromkeys(key for part in parts for key in part)
                return {key: either([p[key] for p in parts if key in p]) for key in keys}
            case Sequence() if not self.given.bracket(expr.items[0]):
                return self._joined(width, expr, parts)
            case _ if name_of(expr) == self.given.newline.name:
                return self._from_each_state(width, self._use("line"), _BROKEN)
            case Literal(data) if not data:
                return {_INSIDE: expr, **dict.fromkeys(self._alike(expr), expr)}
        never = _never(expr.span)
        apart = [(part.get(_INSIDE, never), part.get(_APART[1], never)) for part in parts]
        within, outside = self._apart(expr, apart)
        alike = {way: nothing(expr) for way in self._alike(expr) if way[0] != _SETTLED}
        ways = self._from_each_state(width, outside, _SETTLED)
        return {_INSIDE: within, **alike, **ways}

    def _apart(self, expr: Expr, parts: list[tuple[Expr, Expr]]) -> tuple[Expr, Expr]:
        """What an expression without lines is inside brackets, and what in a line."""
        match expr:
            case Reference(name) if name not in self.given.terminals:
                within, outside = (self._copy((name, None, way)) for way in _APART)
                return within, outside
            case Sequence() | Choice() | Repetition() | Permutation():
                inside, settled = map(tuple, zip(*parts, strict=True))
                if isinstance(expr, Sequence) and self.given.bracket(expr.items[0]):
                    settled = expr.items[0], *inside[1:]
                return with_children(expr, inside), with_children(expr, settled)
            case Literal(data) if not data:
                return expr, expr
        return Sequence((self.gap, expr), expr.span), expr

    def _inside(self, ways: _Ways) -> Expr:
        return ways.get(_INSIDE, _never(self.place))

    def _from_each_state(self, width: int | None, expr: Expr, end: str) -> dict[Any, Expr]:
        """Something that stands in a line: the blanks before it are read first."""
        blanks = "as wide" if self.of_any_width else f"{width} wide"
        before = (self._use(blanks),) if width else ()
        settled = Sequence((*before, expr), expr.span) if before else expr
        return {(_SETTLED, end): expr, (_BROKEN, end): settled, (_CLOSED, end): settled}

    def _rule_of_lines(self, name: str, width: int | None) -> _Ways:
        ways: dict[Any, Expr] = {}
        is_plain = name not in self.leading | self.given.nullable
        for way in sorted(self.relation[name]):
            if way[0] == _SETTLED or not is_plain:
                ways[way] = self._copy((name, width, way))
                if is_plain:
                    ways |= self._from_each_state(width, ways[way], way[1])
        return {_INSIDE: self._copy((name, None, _INSIDE)), **ways}

    def _joined(self, width: int | None, expr: Expr, parts: list[_Ways]) -> _Ways:
        """One after the other. What follows in several ways is a rule, to be written once."""
        *before, found = parts
        # Where it is no block that may come first, what comes before it is the blanks.
        is_plain = not (self._may_be_empty(expr) or self._begins(expr))
        for number, part in reversed([*enumerate(before)]):
            ends = {_SETTLED} if is_plain else {*_STATES}
            if number:
                ends = {end for (_, end), _ in _between_states(before[number - 1])}
            made: dict[Any, list[Expr]] = defaultdict(list)
            lefts = [each for each in _between_states(part) if each[0][0] in ends]
            times = Counter(b for (_, b), _ in lefts)
            for (a, b), left in lefts:
                for (b2, c), right in _between_states(found):
                    if b == b2:
                        shared = self._once(right) if times[b] > 1 else right
                        made[a, c].append(_unfolded([left, shared], left.span))
            inside = _unfolded([self._inside(part), self._inside(found)], self.place)
            found = {_INSIDE: inside, **{way: either(made[way]) for way in sorted(made)}}
            if is_plain and not number:
                for way, whole in [*_between_states(found)]:
                    found |= self._from_each_state(width, whole, way[1])
        return found

    def _once(self, expr: Expr) -> Expr:
        if isinstance(expr, Reference | Literal):
            return expr
        if id(expr) not in self.shared:
            name = f"rest {len(self.shared)}"
            self.shared[id(expr)] = self._use(name)
            self._write(name, expr)
        return self.shared[id(expr)]


def _between_states(ways: _Ways) -> Iterator[tuple[tuple[str, str], Expr]]:
    return ((way, expr) for way, expr in ways.items() if not isinstance(way, str))


def _unfolded(items: list[Expr], place: Span) -> Expr:
    """Of all items but empty ones, unfolded."""
    flat = [i for item in items for i in (item.items if isinstance(item, Sequence) else (item,))]
    return joined([i for i in flat if not isinstance(i, Literal) or i.data], place)


def _never(place: Span) -> Expr:
    return Pattern(regex.NOTHING, "", place)
