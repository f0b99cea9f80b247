"""The items of an array: from a conjunction of literals to rules.

    item 0 in A, items from 1 on in B, 2 to 4 of them    ->   "[" A "," B {0 to 2 times more} "]"

Counts of what an array contains are states: each item satisfies a goal and is counted, or it is
not counted, and fails the goal where there is a bound above.
"""

from collections.abc import Callable, Hashable, Iterator, Sequence
from functools import partial
from itertools import product
from typing import TypeAlias, TypeVar

from constrain.artifacts.machine.equal_items import MARK

from ...grammar import tree
from ..formulas import Conjunction, Contains, Item, Items, Type, Unique, bounds
from ..goals import Goal
from ..normal import Normal
from ..notes import Refused
from ..options import HOLD, IGNORE, PERMUTED
from ..sets import Ends, Names, Values, decimal_text, quoted
from .writer import Writer


class MarksNeeded(Exception):  # noqa: N818
    """Items of an array must differ, and texts have no marks after equal ones."""


State = TypeVar("State", bound=Hashable)

# The use of the rule of a state.
_Use: TypeAlias = Callable[[State], tree.Expr]

_STAGE = "the items of an array"

_MEND = "--unique ignore leaves it to the reader; --tokenization any compares items while decoding"

# States of an array with counts.
_MOST_STATES = 4_000

# Values that items may have where no two are equal, beyond those that come in any order: so many
# where places differ, or so many in one order.
_MOST_DISTINCT, _IN_ORDER = 10, 64


def array(found: Conjunction, normal: Normal, writer: Writer) -> list[tree.Expr]:
    """The arrays that satisfy a conjunction, as an alternative of the goal's rule; none where there
    is surely no such array. Raises ``Refused`` and ``LimitError``."""
    inside = _Array(found, normal, writer).inside()
    return [] if inside is None else [writer.bracketed("[", inside, "]")]


class _Array:
    def __init__(self, found: Conjunction, normal: Normal, writer: Writer) -> None:
        self.normal, self.writer, self.goals = normal, writer, writer.goals
        self.items = [x for x in found.literals if isinstance(x, Item)]
        self.rests = [x for x in found.literals if isinstance(x, Items)]
        self.contained = [x for x in found.literals if isinstance(x, Contains)]
        self.unique = [x for x in found.literals if isinstance(x, Unique)]
        self._of_index: dict[int, list[Goal]] = {}
        for item in self.items:
            self._of_index.setdefault(item.index, []).append(item.goal)
        self.least, self.most = bounds(found.literals)
        self.is_marked = writer.options.marks_equal and not self.unique
        # How the values are written that must differ, by their JSON.
        self.written: dict[str, Callable[[], tree.Expr]] = {}
        # From here on all items are alike.
        self.alike = max(
            [item.index + 1 for item in self.items] + [rest.first for rest in self.rests] + [0]
        )

    def at(self, index: int) -> Goal:
        """What item ``index`` must satisfy."""
        goals = list(self._of_index.get(index, ()))
        goals += [rest.goal for rest in self.rests if index >= rest.first]
        return self.goals.both(*goals)

    def inside(self) -> tree.Expr | None:
        """What stands between the brackets."""
        for i in range(self.alike + 1):
            self.goals.limits.check_resources(_STAGE)
            if self.normal.is_surely_empty(self.at(i)):
                # There is no such item, so no later one either.
                self.most = i if self.most is None else min(i, self.most)
                break
        if self.most is not None and self.most < self.least:
            return None
        if self.unique and (self.most is None or self.most > 1):
            found = self._unique()
            if found is not None:
                return found
        options = self.writer.options
        self._narrow(options.longest_copied if self.contained else options.longest)
        if self.most is not None and self.most < self.least:
            return None
        return self._counted() if self.contained else self._plain()

    def _item(self, goal: Goal) -> tree.Expr:
        """An item that satisfies a goal, and where texts are read with marks the one after it if
        it is equal to an earlier one."""
        item = self.writer.value(goal)
        if not self.is_marked:
            return item
        mark = self.writer.repetition(self.writer.literal(bytes((MARK,))), 0, 1)
        return self.writer.sequence(item, mark)

    def _narrow(self, longest: int | None) -> None:
        if longest is None:
            return
        if self.most is not None and self.most > longest:
            message = f"arrays of more than {longest:,} items are left out"
            self.writer.notes.narrowed(self._pointer("maxItems"), message)
            self.most = longest
        if self.least > longest:
            hint = "--max-count counts further"
            raise Refused(self._pointer("minItems"), f"more than {longest:,} items", hint)

    def _pointer(self, keyword: str) -> str:
        for goal in (*(x.goal for x in self.rests), *(x.goal for x in self.items)):
            place = self.goals.nearest(goal)
            if place is not None:
                return place.pointer
        return f"#/{keyword}"

    # --- without counts

    def _plain(self) -> tree.Expr:
        """Items one by one as far as they differ, then a counted repetition."""
        writer = self.writer
        if self.most == 0:
            return writer.literal(b"")
        single = max(self.alike, 1)
        if self.most is not None:
            single = min(single, self.most)
        tail: tree.Expr = writer.literal(b"")
        if self.most is None or self.most > single:
            more = writer.sequence(writer.comma(), self._item(self.at(self.alike)))
            most = None if self.most is None else self.most - single
            tail = writer.repetition(more, max(self.least - single, 0), most)
        for i in range(single, 0, -1):
            item = self._item(self.at(i - 1))
            if i > 1:
                item = writer.sequence(writer.comma(), item)
            tail = writer.sequence(item, tail)
            if self.least < i:
                name = writer.helper()
                writer.rule(name, [writer.literal(b""), tail])
                tail = writer.reference(name)
        return tail

    # --- with counts of what is contained

    def _counted(self) -> tree.Expr:
        """States: how many items there are and how many of them satisfy each goal, as far as that
        matters."""
        tops = [
            each.least if each.most is None else max(each.least, each.most)
            for each in self.contained
        ]
        firsts = [each.first for each in self.contained]
        top = max(1, self.alike, self.least, *firsts, self.most or 0)
        size = top + 1
        for count in tops:
            size *= count + 1
        if size > _MOST_STATES:
            pointer = self.goals.pointer_of(self.contained[0].goal)
            raise Refused(pointer, f"counts that take more than {_MOST_STATES:,} states")

        def options(state: tuple[int, ...], use: _Use[tuple[int, ...]]) -> list[tree.Expr]:
            found: list[tree.Expr] = []
            length, counts = state[0], state[1:]
            if length >= self.least and all(
                each.least <= count for each, count in zip(self.contained, counts, strict=True)
            ):
                found.append(self.writer.literal(b""))
            if self.most is None or length < self.most:
                for goal, following in self._following(length, counts, tops):
                    behind = use((min(length + 1, top), *following))
                    found.append(self._turn(length, self._item(goal), behind))
            return found

        return rules_of_states(self.writer, (0, *(0 for _ in tops)), options)

    def _turn(self, before: int, item: tree.Expr, behind: tree.Expr) -> tree.Expr:
        """An item after so many others, and what follows."""
        comma = self.writer.comma() if before else self.writer.literal(b"")
        return self.writer.sequence(comma, item, behind)

    def _following(
        self, length: int, counts: Sequence[int], tops: Sequence[int]
    ) -> Iterator[tuple[Goal, list[int]]]:
        """What the next item may satisfy, and the counts after it."""
        for chosen in product((False, True), repeat=len(self.contained)):
            parts = [self.at(min(length, self.alike))]
            following = list(counts)
            for i, (is_counted, each) in enumerate(zip(chosen, self.contained, strict=True)):
                if length < each.first:
                    if is_counted:
                        break
                elif is_counted:
                    if each.most is not None and counts[i] >= each.most:
                        break
                    parts.append(each.goal)
                    following[i] = min(counts[i] + 1, tops[i])
                elif each.most is not None:
                    parts.append(self.goals.negated(each.goal))
            else:
                goal = self.goals.both(*parts)
                if not self.normal.is_surely_empty(goal):
                    yield goal, following

    # --- no two equal

    def _unique(self) -> tree.Expr | None:
        """Arrays of finitely many values, each at most once; None where it is to be ignored."""
        pointer = self.unique[0].pointer
        values: list[list[str]] = []
        is_simple = not self.contained and len(self.unique) == 1 and not self.unique[0].is_negated
        last = self.alike + 1 if self.most is None else min(self.alike + 1, self.most)
        for i in range(last if is_simple else 0):
            found = self._values(self.at(i))
            if found is None:
                break
            values.append(found)
        distinct = list(dict.fromkeys(value for each in values for value in each))
        is_held = self.writer.options.unique == HOLD
        if len(values) < last or (is_held and len(values) > 1 and len(distinct) > _MOST_DISTINCT):
            is_asked = not any(u.is_negated for u in self.unique)
            if is_held and is_asked:
                self._leave_some(pointer)
                if not self.writer.options.marks_equal:
                    raise MarksNeeded
                return None
            if self.writer.options.unique == IGNORE and is_asked:
                self.writer.notes.add(pointer, "equal items are not kept out")
                return None
            message = "uniqueItems of items without finitely many values"
            if not is_asked:
                message = "uniqueItems below a negation"
            raise Refused(pointer, message, _MEND)
        most = len(distinct) if self.most is None else min(self.most, len(distinct))
        if len(values) == 1 and len(distinct) <= self._most_permuted:
            if most < self.least:
                return self.writer.choice([])
            parts = [tree.Part(self.written[value](), is_required=False) for value in distinct]
            return self.writer.permutation(parts, self.writer.comma(), self.least, most)
        if len(values) == 1:
            self.writer.notes.narrowed(pointer, "the values come in the order of the schema")
            return self._in_order(distinct, most)
        if len(distinct) > _MOST_DISTINCT:
            raise Refused(pointer, f"uniqueItems of more than {_MOST_DISTINCT} values by places")
        return self._each_once(values, distinct, most)

    def _leave_some(self, pointer: str) -> None:
        """Where items are compared while decoding there must be a value left for each, whatever
        stands before it. Raises ``Refused``."""
        for place in range(self.alike + 1):
            values = self._values(self.at(place))
            if values is None or (self.most is not None and place >= self.most):
                continue
            goals = (self.goals.both(self.at(each), self.at(place)) for each in range(place))
            taken = sum(not self.normal.is_surely_empty(both) for both in goals)
            if place == self.alike:
                most = place + len(values)
                self.most = most if self.most is None else min(self.most, most)
                taken += self.most - place - 1
            if taken >= len(values):
                message = f"uniqueItems where the few values of item {place} may be taken before it"
                raise Refused(pointer, message, "--unique ignore leaves it to the reader")

    def _values(self, goal: Goal) -> list[str] | None:
        """The JSON of all values that satisfy a goal, None where they are too many to tell."""
        normal = self.normal
        if normal.conjunctions(goal, Type.ARRAY) or normal.conjunctions(goal, Type.OBJECT):
            return None
        truths = normal.scalars(goal, Type.BOOLEAN)
        assert isinstance(truths, int)
        words = ["null"] if normal.scalars(goal, Type.NULL) else []
        words += [word for i, word in enumerate(("false", "true")) if truths >> i & 1]
        found: dict[str, Callable[[], tree.Expr]] = {
            word: partial(self.writer.literal, word) for word in words
        }
        numbers, texts = normal.scalars(goal, Type.NUMBER), normal.texts_of(goal)
        if isinstance(numbers, Values):
            for value in numbers.values:
                found[decimal_text(value)] = partial(self.writer.number, value)
        elif numbers is not Ends.NONE:
            return None
        if isinstance(texts, Names):
            for text in texts.texts:
                found[quoted(text, ascii=False)] = partial(self.writer.text, text)
        elif texts is not Ends.NONE:
            return None
        self.written |= found
        return list(found) if len(found) <= max(_IN_ORDER, self._most_permuted) else None

    @property
    def _most_permuted(self) -> int:
        return max(PERMUTED, self.writer.options.most_permuted)

    def _each_once(
        self, values: Sequence[Sequence[str]], distinct: Sequence[str], most: int
    ) -> tree.Expr | None:
        """In any order: a state for each place and each set of values that are written.

        ``values``: of each place, the last ones of all places after.
        """

        def options(state: tuple[int, int], use: _Use[tuple[int, int]]) -> list[tree.Expr]:
            place, written = state
            count = written.bit_count()
            found: list[tree.Expr] = [self.writer.literal(b"")] if count >= self.least else []
            for value in values[place] if count < most else ():
                bit = 1 << distinct.index(value)
                if not written & bit:
                    item = self.written[value]()
                    behind = use((min(count + 1, len(values) - 1), written | bit))
                    found.append(self._turn(written, item, behind))
            return found

        return rules_of_states(self.writer, (0, 0), options)

    def _in_order(self, values: Sequence[str], most: int) -> tree.Expr | None:
        """In the order of the schema: a state for each value and count."""
        top = max(1, self.least, most if most < len(values) else 0)

        def options(state: tuple[int, int], use: _Use[tuple[int, int]]) -> list[tree.Expr]:
            place, count = state
            found: list[tree.Expr] = [self.writer.literal(b"")] if count >= self.least else []
            if place < len(values):
                found.append(use((place + 1, count)))
                if not (most < len(values) and count >= most):
                    item = self.written[values[place]]()
                    behind = use((place + 1, min(count + 1, top)))
                    found.append(self._turn(count, item, behind))
            return found

        return rules_of_states(self.writer, (0, 0), options)


def rules_of_states(
    writer: Writer,
    first: State,
    options: Callable[[State, Callable[[State], tree.Expr]], list[tree.Expr]],
) -> tree.Expr:
    """A rule for each state that the first one leads to; the use of its own. ``options``: of a
    state, with what gives the use of another one's rule."""
    names: dict[State, str] = {}
    pending: list[State] = []

    def use(state: State) -> tree.Expr:
        if state not in names:
            names[state] = writer.helper()
            pending.append(state)
        return writer.reference(names[state])

    found = use(first)
    while pending:
        state = pending.pop()
        writer.rule(names[state], options(state, use))
    return found
