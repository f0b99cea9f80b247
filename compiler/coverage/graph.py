"""A grammar's tree as a recursive transition network whose jumps say which items they use.

    list ::= item (',' item)*;      list: calls item, then calls the repetition, then ends
                                    the repetition: a state for each count up to where counts no
                                    longer matter; it ends with the item "0 times", "1 time" or …

States are made when they are first met, so that neither a count of a million nor the sets of a
permutation cost anything before a text reads so far. Sequences and choices are parts of the
procedure that they stand in; rules, repetitions and permutations are procedures.

An iteration beyond the least number must read something, and so must a part of a permutation that
may be missing: ``(a?)*`` derives ε in one way.
"""

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import TypeAlias

from constrain.artifacts.tokens.memo import memoised

from ..automata.regex_ir import has_lazy
from ..grammar import tree
from ..lazy_dfa.expression import bodies_of
from .items import NO_CASES, Items
from .patterns import Matching

# Where an expression stands: in it nothing is ignored, or before each terminal something may be, or
# its terminals are lexemes.
PLAIN, GAPPED, LEXED = 0, 1, 2

# How a state was entered: a jump with the items that it uses, a leaf, or a call.
JUMP, READ, CALL = 0, 1, 2

# Jumps of one state that are looked at one by one.
_FEW_JUMPS = 8

Marks: TypeAlias = tuple[int, ...]

# How many iterations of a repetition are over; how often each part of a permutation was there, two
# for more.
Done: TypeAlias = int | tuple[int, ...]


class State:
    """What leaves a state, and what enters it.

    ``jumps``: targets; ``by_first``: the same by the byte that is read there first, by -1 those
    where it may be any, if they are many; ``reads``: (leaf, target); ``calls``: (procedure, target,
    whether it must read something); ``ends``: the procedure that ends here, or -1; ``entered``:
    (how, source, marks, leaf or procedure, whether it had to read something)."""

    __slots__ = ("by_first", "calls", "ends", "entered", "jumps", "reads")

    def __init__(self) -> None:
        self.jumps: list[int] = []
        self.by_first: dict[int, list[int]] | None = None
        self.reads: list[tuple[int, int]] = []
        self.calls: list[tuple[int, int, bool]] = []
        self.ends = -1
        self.entered: list[tuple[int, int, Marks | int, bool]] = []


# Gives a state, by its number, all that leaves it.
_Expand: TypeAlias = Callable[[int], None]


class Graph:
    """The network of a grammar whose whole is ``use``, of the start rule. ``empty``: the items that
    a leaf uses which is ε. ``lexed``: of each leaf of the rules, by its ``id``, the lexeme (None if
    it has no text) and whether it may be missing; None where texts are read without a lexer."""

    def __init__(
        self,
        grammar: tree.Grammar,
        use: tree.Reference,
        items: Items,
        matcher: Matching,
        empty: Callable[[tree.Expr], Iterable[int]],
        lexed: Mapping[int, tuple[int | None, bool]] | None = None,
    ) -> None:
        self.grammar, self.use, self.items = grammar, use, items
        self.matcher, self._empty, self.lexed = matcher, empty, lexed
        self.bodies = bodies_of(grammar)
        self._shared = _shared(grammar)
        self._plain = grammar.terminals | grammar.embedded_rules
        self._single = grammar.terminals | {each.name for each in grammar.embedded}
        self._states: list[State] = []
        self._todo: dict[int, _Expand] = {}
        # What is read first in states of no context.
        self._read_first: dict[int, tree.Expr] = {}
        self._uses: dict[str, tree.Reference] = {}
        self._numbers: dict[tuple[object, ...], int] = {}
        # Of each procedure the states in which it begins and ends.
        self.entries: list[int] = []
        self.exits: list[int] = []
        self.leaves: list[tree.Expr] = []
        # Those that are as long as possible: without a lexer what is ignored, unless lazy
        # quantifiers say where it ends.
        self.longest: set[int] = set()
        patterns = (p for rule in grammar.rules for p in rule.expressions)
        nodes = [p.node for p in (*patterns, *grammar.ignored) if isinstance(p, tree.Pattern)]
        self._has_lazy = any(map(has_lazy, nodes))
        self._leaf_numbers: dict[int, int] = {}
        self._procedures: dict[tuple[object, ...], int] = {}
        # How many texts are being read, each for a leaf of the one before.
        self.reading = 0

    # --- states

    def state(self, number: int) -> State:
        """A state with all that leaves it."""
        expand = self._todo.pop(number, None)
        found = self._states[number]
        if expand is not None:
            expand(number)
            if len(found.jumps) > _FEW_JUMPS:
                found.by_first = self._by_first(found.jumps)
        return found

    def _by_first(self, targets: Iterable[int]) -> dict[int, list[int]]:
        """Targets by the byte that is read there first; by -1 those where it may be any."""
        found: dict[int, list[int]] = {}
        for target in targets:
            expr = self._read_first.get(target) if target in self._todo else None
            while isinstance(expr, tree.Sequence):
                expr = expr.items[0]
            first = expr.data[0] if isinstance(expr, tree.Literal) and expr.data else -1
            found.setdefault(first, []).append(target)
        return found

    @memoised
    def end_behind(self, number: int) -> int:
        """The procedure that ends after a state in which nothing follows; -1 where more may."""
        way = self.way_to_end(number)
        return self.state(way[-1]).ends if way else -1

    def way_to_end(self, number: int) -> list[int]:
        """The states from one in which nothing follows to the end; none where more may follow."""
        way = [number]
        while True:
            state = self.state(way[-1])
            if state.reads or state.calls or len(state.jumps) != (state.ends < 0):
                return []
            if state.ends >= 0:
                return way
            way.append(state.jumps[0])

    def _new(self, expand: _Expand | None = None) -> int:
        self._states.append(State())
        number = len(self._states) - 1
        if expand is not None:
            self._todo[number] = expand
        return number

    def _within(self, expr: tree.Expr, target: int, context: int) -> int:
        """The state in which an expression is to be read, then ``target`` follows."""
        number = self._new(partial(self._expand_expression, expr, target, context))
        if context == PLAIN:
            self._read_first[number] = expr
        return number

    def _after(
        self, expand: Callable[..., None], expr: tree.Expr, done: Done, target: int, context: int
    ) -> int:
        """The state in which so much of a repetition or of a permutation is over."""
        key = id(expr), target, done
        if key not in self._numbers:
            self._numbers[key] = self._new(partial(expand, expr, done, target, context))
        return self._numbers[key]

    def _jump(self, source: int, target: int, marks: Marks = ()) -> None:
        self._states[source].jumps.append(target)
        self._states[target].entered.append((JUMP, source, marks, False))

    def _read(self, source: int, expr: tree.Expr, target: int) -> None:
        leaf = self._leaf_numbers.get(id(expr))
        if leaf is None:
            leaf = self._leaf_numbers[id(expr)] = len(self.leaves)
            self.leaves.append(expr)
        self._states[source].reads.append((leaf, target))
        self._states[target].entered.append((READ, source, leaf, False))

    def _call(self, source: int, procedure: int, target: int, *, with_text: bool = False) -> None:
        self._states[source].calls.append((procedure, target, with_text))
        self._states[target].entered.append((CALL, source, procedure, with_text))

    # --- procedures

    def _procedure(self, key: tuple[object, ...], entry: Callable[[int], int]) -> int:
        """The procedure of a key; ``entry``: makes its first state, of its last one."""
        if key not in self._procedures:
            number = self._procedures[key] = len(self.entries)
            end = self._new()
            self._states[end].ends = number
            self.exits.append(end)
            self.entries.append(-1)  # Other procedures may be made on the way.
            self.entries[number] = entry(end)
        return self._procedures[key]

    def rule(self, name: str) -> int:
        """The procedure of a rule."""
        return self._procedure(
            ("rule", name), lambda end: self._new(partial(self._expand_bodies, name, end))
        )

    def expression(self, expr: tree.Expr, context: int = PLAIN) -> int:
        """The procedure of an expression."""
        if isinstance(expr, tree.Reference) and not self._is_single(expr, context):
            return self.rule(expr.name)
        if isinstance(expr, tree.Repetition):
            return self._repeated(expr, context)
        key = id(expr), context
        return self._procedure(key, lambda end: self._within(expr, end, context))

    def start(self, name: str | None = None) -> int:
        """The procedure of the whole: the start rule, by default the grammar's, and where texts are
        ignored that after it."""
        use = self.use
        if name not in (None, use.name):
            use = self._uses.setdefault(name, tree.Reference(name, use.span))
        context = LEXED if self.lexed is not None else GAPPED if self.grammar.ignored else PLAIN

        def begin(end: int) -> int:
            last = end
            if context == GAPPED:
                last = self._new()
                self._call(last, self.ignored(), end)
            return self._within(use, last, context)

        return self._procedure(("whole", use.name), begin)

    def ignored(self) -> int:
        """The procedure of ignored text."""
        return self._procedure(
            ("ignored",), lambda end: self._new(partial(self._expand_ignored, end))
        )

    def _repeated(self, expr: tree.Repetition | tree.Permutation, context: int) -> int:
        """The procedure of a repetition or of a permutation."""
        if isinstance(expr, tree.Repetition):
            begin = partial(self._after, self._expand_count, expr, 0)
        else:
            begin = partial(self._after, self._expand_permutation, expr, (0,) * len(expr.parts))
        return self._procedure(("repeated", id(expr), context), lambda end: begin(end, context))

    def _context_of(self, rule: str) -> int:
        if self.lexed is not None:
            return PLAIN if rule in self._plain else LEXED
        return GAPPED if self.grammar.ignored and rule not in self._plain else PLAIN

    def _is_single(self, expr: tree.Expr, context: int) -> bool:
        """Whether an expression stands for one terminal where it stands."""
        if isinstance(expr, tree.Reference):
            return context != PLAIN and expr.name in self._single
        return not isinstance(
            expr, tree.Sequence | tree.Choice | tree.Repetition | tree.Permutation
        )

    # --- expressions

    def _expand_ignored(self, target: int, number: int) -> None:
        """Any number of ignored texts."""
        for body, mark in zip(self.grammar.ignored, self.items.ignored, strict=True):
            behind = self._new()
            self._read(number, body, behind)
            if not self._has_lazy:
                self.longest.add(self._leaf_numbers[id(body)])
            self._jump(behind, number, (mark,))
        self._jump(number, target)

    def _expand_bodies(self, name: str, target: int, number: int) -> None:
        """The definitions of a rule."""
        items, context = self.items, self._context_of(name)
        used = items.rules.get(name)
        for k, rule in enumerate(self.bodies[name]):
            found = (used, items.definitions.get((name, k)))
            marks = tuple(mark for mark in found if mark is not None)
            self._jump(number, self._within(rule.body, target, context), marks)

    def _expand_expression(self, expr: tree.Expr, target: int, context: int, number: int) -> None:
        if id(expr) in self._shared:
            key = id(expr), context
            done = key in self._procedures
            procedure = self._procedure(key, lambda end: self._within(expr, end, context))
            if not done or self.exits[procedure] != target:
                self._call(number, procedure, target)
                return
        match expr:
            case tree.Sequence():
                for item in reversed(expr.items):
                    target = self._within(item, target, context)
                self._jump(number, target)
            case tree.Choice():
                for k, option in enumerate(expr.options):
                    mark = self.items.options.get((id(expr), k))
                    inside = self._within(option, target, context)
                    self._jump(number, inside, () if mark is None else (mark,))
            case tree.Repetition() | tree.Permutation():
                self._call(number, self._repeated(expr, context), target)
            case _ if not self._is_single(expr, context):
                assert isinstance(expr, tree.Reference)
                self._call(number, self.rule(expr.name), target)
            case _:
                self._expand_terminal(number, expr, target, context)

    def _expand_terminal(self, number: int, expr: tree.Expr, target: int, context: int) -> None:
        key = self.items.keys.get(id(expr))
        if key is not None:
            behind = self._new()
            self._jump(behind, target, (key,))
            target = behind
        if context == LEXED:
            assert self.lexed is not None
            lexeme, is_optional = self.lexed[id(expr)]
            if is_optional:
                self._jump(number, target, tuple(self._empty(expr)))
            if lexeme is not None:
                self._read(number, expr, target)
            return
        if context == GAPPED:
            if isinstance(expr, tree.Literal) and not expr.data:
                self._jump(number, target)
            else:
                inside = self._within(expr, target, PLAIN)
                self._call(number, self.ignored(), inside)
            return
        inner = self.matcher.tree_of(expr)
        if inner is not None:
            self._call(number, self.expression(inner), target)
            return
        if self.matcher(expr).nullable:
            self._jump(number, target, tuple(self._empty(expr)))
        self._read(number, expr, target)

    def _expand_count(
        self, expr: tree.Repetition, count: int, target: int, context: int, number: int
    ) -> None:
        low, high = expr.min_times, expr.max_times
        if count >= low:
            mark = self.items.counts.get(id(expr), NO_CASES)[min(count, 2)]
            self._jump(number, target, () if mark < 0 else (mark,))
        if high is None or count < high:
            most = max(low, 2) if high is None else high
            done = min(count + 1, most)
            following = self._after(self._expand_count, expr, done, target, context)
            item, with_text = expr.item, count >= low
            is_leaf = context == PLAIN and self._is_single(item, PLAIN)
            is_leaf &= id(item) not in self.items.keys and self.matcher.tree_of(item) is None
            if is_leaf and with_text:
                self._read(number, item, following)
                return
            self._call(number, self.expression(item, context), following, with_text=with_text)

    def _expand_permutation(
        self, expr: tree.Permutation, taken: tuple[int, ...], target: int, context: int, number: int
    ) -> None:
        begun = [n > 0 for n in taken]
        counted = [p.is_required or not p.is_repeated for p in expr.parts]
        most = len(expr.parts) if expr.most is None else expr.most
        done = sum(b and c for b, c in zip(begun, counted, strict=True))
        room = most - done
        missing = sum(p.is_required and not b for p, b in zip(expr.parts, begun, strict=True))
        separator = expr.separator if any(begun) else None
        for i, part in enumerate(expr.parts):
            if not part.is_repeated and (
                begun[i] or room <= 0 or (missing >= room and not part.is_required)
            ):
                continue
            grown = (*taken[:i], min(taken[i] + 1, 2), *taken[i + 1 :])
            following = self._after(self._expand_permutation, expr, grown, target, context)
            source = number
            if separator is not None:
                source = self._new()
                self._call(number, self.expression(separator, context), source)
            part_of, with_text = self.expression(part.item, context), not part.is_required
            self._call(source, part_of, following, with_text=with_text or begun[i])
        if not missing and done >= expr.least:
            cases = (self.items.parts.get((id(expr), i), NO_CASES) for i in range(len(taken)))
            marks = [case[n] for case, n in zip(cases, taken, strict=True)]
            self._jump(number, target, tuple(mark for mark in marks if mark >= 0))


def _shared(grammar: tree.Grammar) -> set[int]:
    """The ``id`` of each sequence and choice that stands in several places."""
    seen: set[int] = set()
    shared: set[int] = set()
    pending = [rule.body for rule in grammar.rules]
    while pending:
        expr = pending.pop()
        if id(expr) in seen:
            if isinstance(expr, tree.Sequence | tree.Choice):
                shared.add(id(expr))
            continue
        seen.add(id(expr))
        pending.extend(tree.children(expr))
    return shared
