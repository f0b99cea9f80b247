"""The members of an object: from a conjunction of literals to rules.

    every value of "a" in A, some "b", other keys in C    ->   "{" member … "}"

Named keys come in one order, or in any, by a state that knows what has been written; other keys are
distinguished by which sets of keys they are in (cells). No named key is written twice. Another key
may be, and readers keep the last value, so a member that something rests on is the last one of its
cell, and of other keys those count that are surely different.
"""

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial

from ...grammar import tree
from ..formulas import BY_PROPERTIES, Conjunction, Every, Keys, Order, Some, bounds
from ..goals import Goal
from ..keywords.objects import is_among
from ..normal import Normal
from ..notes import ORDER, Refused
from ..options import ANY_ORDER, PERMUTED
from ..sets import Ends, Others, Texts
from .in_turn import before_value, in_turn, written
from .key_parts import is_one_key, key_parts, label
from .witnesses import Member, Witnesses
from .writer import Writer

# Other keys that there must be: each set of parts that keys were of is a state.
_MOST_NEEDED = 8

# Cells of other keys, literals about some other key, and states of one object.
_MOST_CELLS, _MOST_OPEN, _MOST_STATES = 64, 6, 20_000


@dataclass(frozen=True, slots=True)
class _State:
    """What has been written: ``named``: how many named keys were passed, or in any order a bit for
    each that is written; ``count`` of them, and ``others``, as far as counts matter; a bit for each
    cell that was ``used``, or -1 where there are members enough; for each open literal that has its
    witness, and for each cell that is closed."""

    named: int = 0
    count: int = 0
    others: int = 0
    used: int = 0
    found: int = 0
    closed: int = 0


def objects(
    found: Iterable[Conjunction], goal: Goal, normal: Normal, writer: Writer
) -> list[tree.Expr]:
    """The objects that satisfy one of some conjunctions, as alternatives of the goal's rule. Those
    that begin with the same key, as a tag is, are one, which branches after it. Raises ``Refused``
    and ``LimitError``."""
    alike: dict[object, list[_Object]] = {}
    for each in found:
        built = _Object(each, goal, normal, writer)
        if not built.is_empty:
            alike.setdefault(built.first_key or built, []).append(built)
    written = []
    for first, same in alike.items():
        if isinstance(first, str) and len(same) > 1:
            key = (writer.text(first), writer.colon())
            behind = writer.choice([writer.reference(each.write(has_key=True)) for each in same])
            inside = writer.sequence(*key, behind)
        else:
            inside = writer.choice([writer.reference(each.write()) for each in same])
        written.append(writer.bracketed("{", inside, "}"))
    return written


class _Object:
    def __init__(self, found: Conjunction, goal: Goal, normal: Normal, writer: Writer) -> None:
        self.literals, self.goal, self.normal, self.writer = found.literals, goal, normal, writer
        self.is_empty = False
        self.least, self.most = bounds(found.literals)
        # Literals about some key that is not one named key.
        self.open = [
            literal
            for literal in found.literals
            if isinstance(literal, Some) and not self._is_named(literal.keys)
        ]
        if len(self.open) > _MOST_OPEN:
            raise self._refused(f"more than {_MOST_OPEN} conditions on some key")
        names = self._names(found.orders)
        self.named = list(self._named(names))
        self.cells = [] if self.is_empty else list(self._cells(names))
        required = sum(member.is_required for member in self.named)
        if self.cells and self.least > required + 1:
            self.cells = self._told_apart(self.least - required)
        self._bound()
        if any(len(cell.witnesses) > 1 for cell in self.cells) and not self.is_empty:
            message = "what several conditions ask of some additional key is asked of the same one"
            writer.notes.narrowed(writer.goals.pointer_of(goal), message)
        if self.open and not self.is_empty:
            self.is_empty = not self.witnesses.can_end(0, 0)
        self.rules: dict[_State, str] = {}
        self.pending: list[_State] = []
        self.behind: dict[tuple[int, int], list[int]] = {}

    @staticmethod
    def _is_named(keys: Keys) -> bool:
        return keys.texts is None and len(keys.names) == 1

    def _refused(self, message: str) -> Refused:
        at = self.writer.goals.pointer_of(self.goal)
        return Refused(at, message, "ask for less at one place")

    # --- keys

    def _names(self, orders: Sequence[Order]) -> list[str]:
        """All keys that are named, in the order in which they are written."""
        places = self.writer.order_of_places(self.goal)
        behind = len(places)
        ranked = sorted(orders, key=lambda o: (o.rank, places.get(o.place, behind), o.place))
        names = [name for order in ranked for name in order.names]
        for literal in self.literals:
            if isinstance(literal, Some | Every):
                names += literal.keys.names
        names = list(dict.fromkeys(names))
        asked = {name for order in ranked if order.rank == BY_PROPERTIES for name in order.names}
        if len(asked) == len(names):
            return names
        # Names without a schema that asks for them here may have one in a branch that fails.
        of_text = [name for name in self.writer.names_of_places(places) if name in set(names)]
        placed = [name for name in of_text if name in asked]
        if placed != [name for name in names if name in asked]:
            return names
        return list(dict.fromkeys(of_text + names))

    def _named(self, names: Sequence[str]) -> Iterator[Member]:
        required = {
            literal.keys.names[0]
            for literal in self.literals
            if isinstance(literal, Some) and self._is_named(literal.keys)
        }
        for name in names:
            goal = self.normal.goal_of(name, self.literals)
            if not self.normal.is_surely_empty(goal):
                witnesses = tuple(
                    i
                    for i, literal in enumerate(self.open)
                    if is_among(name, literal.keys, self.normal.texts)
                )
                yield Member(name, goal, name in required, witnesses)
            elif name in required:
                self.is_empty = True

    def _cells(self, names: Sequence[str]) -> Iterator[Member]:
        """Other keys, by which sets of keys they are in."""
        algebra = self.normal.texts
        if self.normal.is_surely_empty(self._goal_inside((Ends.ALL,))):
            # Nothing may be in any of them.
            return
        rest: Texts = Others(tuple(sorted(names))) if names else Ends.ALL
        sets: dict[Texts, None] = {}
        for literal in self.literals:
            if isinstance(literal, Every | Some) and literal.keys.texts is not None:
                sets.setdefault(literal.keys.texts)
        sets.pop(Ends.ALL, None)
        cells: list[tuple[Texts, tuple[Texts, ...]]] = [(rest, (Ends.ALL,))]
        for texts in sets:
            split: list[tuple[Texts, tuple[Texts, ...]]] = []
            for cell, inside in cells:
                within = algebra.meet(cell, texts)
                if within is not Ends.NONE:
                    split.append((within, (*inside, texts)))
                without = algebra.meet(cell, algebra.complement(texts))
                if without is not Ends.NONE:
                    split.append((without, inside))
            cells = split
            if len(cells) > _MOST_CELLS:
                raise self._refused(f"more than {_MOST_CELLS} kinds of keys")
        for cell, inside in cells:
            goal = self._goal_inside(inside)
            if not self.normal.is_surely_empty(goal):
                witnesses = tuple(
                    i for i, literal in enumerate(self.open) if literal.keys.texts in inside
                )
                yield Member(cell, goal, False, witnesses)

    def _goal_inside(self, inside: Sequence[Texts]) -> Goal:
        """What the values of other keys in these sets must satisfy."""
        goals = (
            literal.goal
            for literal in self.literals
            if isinstance(literal, Every) and literal.keys.texts in inside
        )
        return self.writer.goals.both(*goals)

    def _told_apart(self, needed: int) -> list[Member]:
        """The cells in parts: keys of two parts are different keys."""
        algebra = self.normal.texts
        if needed > _MOST_NEEDED:
            raise self._refused(f"more than {_MOST_NEEDED} additional keys that must be there")
        most = max(needed, (16 - 3 * needed) // len(self.cells))
        parts = [
            (cell, part)
            for cell in self.cells
            if not isinstance(cell.key, str)
            for part in key_parts(cell.key, most, algebra)
        ]
        if not all(is_one_key(part) for _, part in parts):
            at = self.writer.goals.pointer_of(self.goal, "minProperties")
            groups = ", ".join(label(part) for _, part in parts)
            message = f"of additional keys one of each kind counts, by how they begin: {groups}"
            self.writer.notes.narrowed(at, message)
        return [replace(cell, key=part) for cell, part in parts]

    def _bound(self) -> None:
        """Drop bounds that say nothing, and see those that cannot be kept."""
        required = sum(member.is_required for member in self.named)
        if self.least <= required:
            self.least = 0
        if self.most is not None:
            if self.most >= len(self.named) and not self.cells:
                self.most = None
            elif self.most < required:
                self.is_empty = True
        # Readers drop keys that are repeated, so of those in one cell one counts.
        if self.least > len(self.named) + len(self.cells):
            self.is_empty = True

    # --- states

    @cached_property
    def witnesses(self) -> Witnesses:
        """Which members may be there for the literals about some key."""
        return Witnesses(self.named, self.cells, self.open, self.normal)

    @property
    def _is_any_order(self) -> bool:
        options = self.writer.options
        if options.order != ANY_ORDER:
            return False
        if self._is_permutation:
            return len(self.named) + bool(self.cells) <= options.most_permuted
        return len(self.named) <= (options.any_limit or PERMUTED)

    @property
    def _is_permutation(self) -> bool:
        """Whether members depend on no others but in which of them are there."""
        return not self.open and not (self.cells and self._is_counting)

    @property
    def _is_sequence(self) -> bool:
        """Whether each key has its turn, and nothing else is to be known of those before it."""
        return not (self._is_any_order or self._is_counting or self.open)

    @property
    def first_key(self) -> str | None:
        """The key that all of them begin with, where it is one and has its turn."""
        if not (self._is_sequence and self.named and self.named[0].is_required):
            return None
        key = self.named[0].key
        return key if isinstance(key, str) else None

    def write(self, *, has_key: bool = False) -> str:
        """The rules of what stands between the brackets; the name of the first one. ``has_key``:
        the ``first_key`` was written already."""
        options = self.writer.options
        if options.order == ANY_ORDER and not self._is_any_order and len(self.named) > 1:
            message = f"{len(self.named)} keys come in the order of the schema"
            hint = "--any-limit allows more, with twice the states for each"
            self.writer.notes.narrowed(self.writer.goals.pointer_of(self.goal), message, hint)
        if not self._is_any_order and len(self.named) + bool(self.cells) > 1:
            self.writer.notes.respelled(ORDER)
        if self._is_any_order and self._is_permutation and self.named:
            return self._permuted()
        if self._is_sequence:
            first = self.writer.helper()
            write = partial(in_turn, first, has_key, self.named, self.cells, self.writer)
            if self._may_wait:
                self._leave(first, write)
            elif has_key and self.writer.defers_all:
                self.writer.rule_later(first, (), ((),), write)
            else:
                write()
            return first
        first = self._name_of(_State())
        while self.pending:
            state = self.pending.pop()
            if self._may_wait:
                self._leave(first, partial(self._write_alone, state))
            else:
                self._write_state(state)
        return first

    @property
    def _may_wait(self) -> bool:
        """Whether rules are written when they are asked for: if states are surely not too many."""
        if self._is_counting or self._is_any_order or not self.writer.defers_objects:
            return False
        most = len(self.named) + 1 + (1 << sum(bool(cell.witnesses) for cell in self.cells))
        return most << len(self.open) + 1 <= _MOST_STATES

    def _leave(self, name: str, write: Callable[[], None]) -> None:
        """Leave the first rule until it is asked for. What may be refused is made now."""
        for cell in self.cells:
            if not isinstance(cell.key, str):
                self.writer.texts(cell.key)
        self.writer.rule_later(name, self.witnesses.goals, self.witnesses.ways(), write)

    def _write_state(self, state: _State) -> None:
        self.writer.rule(self.rules[state], list(self._options(state)))

    def _write_alone(self, state: _State) -> None:
        """The same without the rules of the states that it names, which wait."""
        self._write_state(state)
        while self.pending:
            following = self.pending.pop()
            write = partial(self._write_alone, following)
            self.writer.rule_later(self.rules[following], (), ((),), write)

    def _permuted(self) -> str:
        """In any order, other keys anywhere between the named ones."""
        writer = self.writer
        parts = [tree.Part(written(m, writer), m.is_required) for m in self.named]
        if self.cells:
            other = writer.choice([written(cell, writer) for cell in self.cells])
            parts.append(tree.Part(other, is_required=False, is_repeated=True))
        first = writer.helper()
        writer.rule(first, [writer.permutation(parts, writer.comma(), self.least, self.most)])
        return first

    def _name_of(self, state: _State) -> str:
        counts = state.count if self._is_counting else min(state.count, 1)
        others = state.others if self.most is not None else min(state.others, 1)
        if not self._is_counting and others:
            # Then only matters whether there is a member already.
            counts, others = 1, 0
        used = state.used
        if used < 0 or state.count + used.bit_count() >= self.least:
            used = -1
            # Which of them are named no longer matters.
            counts, others = (min(counts, 1), others) if self.most is None else (counts + others, 0)
        if (counts, others, used) != (state.count, state.others, state.used):
            state = replace(state, count=counts, others=others, used=used)
        if state not in self.rules:
            if len(self.rules) >= _MOST_STATES:
                raise self._refused(f"an object of more than {_MOST_STATES:,} states")
            left = self._left(state)
            known = self.writer.shared.get(left)
            self.rules[state] = known or self.writer.helper()
            if known is None:
                self.writer.shared[left] = self.rules[state]
                self.pending.append(state)
        return self.rules[state]

    def _left(self, state: _State) -> Hashable:
        """What may follow, which other conjunctions of the goal may have, too: as alternatives of
        a union do that exclude each other by conditions on some key. As far as it is looked at."""
        if self._is_counting or self._is_any_order:
            return self, state
        passed, found, closed = state.named, state.found, state.closed
        if (found, closed) not in self.behind:
            self.behind[found, closed] = self._behind(found, closed)
        return state.count > 0, self.behind[found, closed][passed]

    def _behind(self, found: int, closed: int) -> list[int]:
        """Numbers of what may follow, by how many named keys were passed."""
        number = self.writer.number_of
        missing = {i: number(each) for i, each in enumerate(self.open) if not found >> i & 1}

        def of(member: Member) -> Hashable:
            witnesses = tuple(missing[i] for i in member.witnesses if i in missing)
            return member.key, member.goal, member.is_required, witnesses

        cells = tuple(of(c) for i, c in enumerate(self.cells) if not closed >> i & 1)
        behind = [number((self.goal, cells, *missing.values()))]
        for member in reversed(self.named):
            behind.append(number((of(member), behind[-1])))
        return behind[::-1]

    @property
    def _is_counting(self) -> bool:
        return self.least > 0 or self.most is not None

    def _options(self, state: _State) -> Iterator[tree.Expr]:
        writer = self.writer
        has_room = self.most is None or state.count + state.others < self.most
        is_any = self._is_any_order
        passed = not is_any and state.named < len(self.named)
        if passed:
            member = self.named[state.named]
            following = replace(state, named=state.named + 1)
            if not member.is_required and self.witnesses.can_end(following.named, state.found):
                yield writer.reference(self._name_of(following))
            if has_room:
                written = replace(following, count=state.count + 1)
                yield from self._written(member, None, state, written)
            return
        if self.cells and self.most is not None and state.used < 0 and not (is_any or self.open):
            members = state.count + state.others
            yield from self._others_up_to(self.most - members, is_first=not members)
            return
        missing = [i for i, m in enumerate(self.named) if is_any and not state.named >> i & 1]
        if (
            state.used < 0
            and state.found == (1 << len(self.open)) - 1
            and not any(self.named[i].is_required for i in missing)
        ):
            yield writer.literal(b"")
        if not has_room:
            return
        for i in missing:
            written = replace(state, named=state.named | 1 << i, count=state.count + 1)
            yield from self._written(self.named[i], None, state, written)
        for i, cell in enumerate(self.cells):
            if not state.closed >> i & 1:
                used = state.used if state.used < 0 else state.used | 1 << i
                written = replace(state, others=state.others + 1, used=used)
                yield from self._written(cell, i, state, written)

    def _others_up_to(self, most: int, *, is_first: bool) -> Iterator[tree.Expr]:
        """Other keys alone, so many of them at most: a repetition, which may be counted."""
        writer = self.writer
        other = writer.choice([written(cell, writer) for cell in self.cells])
        turn = writer.sequence(writer.comma(), other)
        yield writer.literal(b"")
        if most > 0 and is_first:
            yield writer.sequence(other, writer.repetition(turn, 0, most - 1))
        elif most > 0:
            yield writer.sequence(turn, writer.repetition(turn, 0, most - 1))

    def _written(
        self, member: Member, cell: int | None, before: _State, after: _State
    ) -> Iterator[tree.Expr]:
        """A member, whose value is there for one of some sets of literals, and what may follow."""
        writer = self.writer
        is_first = not (before.count or before.others)
        ways: list[tuple[Goal, str]] = []
        for chosen, goal in self.witnesses.of(member):
            if chosen & before.found:
                continue
            closed = after.closed | 1 << cell if chosen and cell is not None else after.closed
            found = after.found | chosen
            if self._is_any_order or self.witnesses.can_end(after.named, found, closed):
                ways.append((goal, self._name_of(replace(after, found=found, closed=closed))))
        # What states have in common: a member with the rules after it.
        key = (self.goal, is_first, member.key, *ways)
        name = writer.shared.get(key)
        if name is None and ways:
            name = writer.shared[key] = writer.helper()
            comma = writer.literal(b"") if is_first else writer.comma()
            values = (
                writer.sequence(writer.value(goal), writer.reference(behind))
                for goal, behind in ways
            )
            turn = (comma, *before_value(member, writer), writer.choice([*values]))
            writer.rule(name, [writer.sequence(*turn)])
        if name is not None:
            yield writer.reference(name)
