"""Write a grammar's rules as automata that call one another.

    a rule that is called        a call, and an ε edge beside it where the rule may be missing
    a rule after which nothing  a jump to where the rule is written with that end: once for each
    but one state follows        rule and state, which copies it
    a repetition that is counted a call of its item, with the bounds
    a permutation                a call of each part that it may begin with

A rule that ends its component so becomes states of it, whether others call it or not. Rules are
written in the order in which they are first named, so that of a chain of optional parts the later
ones have larger numbers (see ``components``).
"""

from collections.abc import Container, Iterator, Sequence
from itertools import islice
from typing import TypeAlias

from constrain.artifacts.machine.permutations import Permutations
from constrain.artifacts.machine.positions import END, NOWHERE, Positions
from constrain.artifacts.machine.repetitions import MOST_PLACES, Item, Repetitions, Times
from constrain.artifacts.network.sets import MOST_PARTS, NO_SEPARATOR, REQUIRED, SetRule

from ..automata.graphs import reached
from ..automata.nfa import FIRST_TERMINAL, Nfa
from ..limits import Limits
from .counter_tables import PartOf, Permuted, Procedure, flags_of_equal
from .leaves import write_automaton, write_character, write_text
from .tree_counts import Items
from .tree_expressions import ALL, ANY, AUTOMATON, CHARACTER, LITERAL, ORDERS, RULE, RUNS, TIMES
from .tree_rules import Rules

_STAGE = "the grammar's network"

# The number of an item, and the least and the most that there are.
_Counted: TypeAlias = tuple[int, int, int | None]

# What a state with its edges takes, roughly.
_STATE_BYTES = 450

# So many copies and parts are written together where rules are written when they are met.
_FEW_COPIES, _FEW_PARTS = 8, 4

# So many literals in one choice share their beginnings.
_MANY_WORDS = 8


class Layout:
    """The automata of a grammar whose rules ``called`` are called.

    ``components``: the automata. ``procedures``: the start, and what is called. ``repetitions``:
    those whose copies are written when they are met. ``copied``: the rules of which there are
    copies. ``owners``: of each state the rule whose text leaves it. ``slack``: how often as many
    states as the limits allow there may be, most of which read nothing. ``when_met``: rules are
    written when ``lay`` is told to, of states in the automata's ``unlaid``. Raises ``LimitError``,
    as ``lay`` does.
    """

    def __init__(
        self,
        rules: Rules,
        called: Container[int],
        limits: Limits,
        slack: int = 1,
        *,
        when_met: bool = False,
    ) -> None:
        self._rules, self._called, self._limits = rules, called, limits
        self.components, self._when_met = Positions(), when_met
        self.repetitions = Repetitions(self.components)
        self.permutations = Permutations(self.components)
        self._slack = slack
        self._most = min(slack * limits.states, limits.memory // _STATE_BYTES)
        self.copied: set[int] = set()
        self.owners = [rules.start]
        self._first_call = FIRST_TERMINAL + rules.terminals
        # (rule, the state after it) -> the state in front of it, in the automata's order.
        self._starts: dict[tuple[int, int], int] = {}
        # In front of what is not written yet: the rule, and the state after it.
        self._unlaid: dict[int, tuple[int, int]] = {}
        self._waiting: list[int] = []
        # In front of parts of a sequence: these, the last first, the state after, and the rule.
        self._rests: dict[int, tuple[list[int], int, int]] = {}
        # Calls that may turn out to be tail calls: state, rule, the state after it.
        self._calls: list[tuple[int, int, int]] = []
        self._calling: set[int] = set()
        # What is called: rules, items with their bounds, and parts of permutations.
        self._numbers: dict[int | _Counted | PartOf, int] = {}
        self._items = Items(rules)
        # By the number of an item or a part where it starts, and the rule that it was first met in.
        self._item_starts: dict[int, tuple[int, int]] = {}
        self._items_waiting: list[tuple[int, int, int]] = []
        self._repeated_items: dict[int, Item] = {}
        # Whether an item is written, whose rules are parts of it.
        self._is_apart = False
        self._number(rules.start)
        if not when_met:
            self._lay_out()

    @property
    def procedures(self) -> list[Procedure]:
        """The start, and what is called by what was written so far."""
        return [self._procedure(called) for called in self._numbers]

    def called(self, number: int) -> "int | _Counted | PartOf":
        """What is called by a number: a rule, or a part of one."""
        return next(islice(self._numbers, number, None))

    def procedure(self, number: int) -> Procedure:
        """The same with where it starts."""
        return self._procedure(self.called(number))

    def start_of(self, number: int) -> int:
        """The state that a procedure starts in."""
        return self.procedure(number).start

    def _number(self, rule: int) -> int:
        """The number of a procedure, which is written."""
        if rule not in self._numbers:
            self._numbers[rule] = len(self._numbers)
            self._start(rule, END)
        return self._numbers[rule]

    def _procedure(self, called: "int | _Counted | PartOf") -> Procedure:
        if isinstance(called, int):
            return Procedure(self._rules.names[called], self._starts[called, END])
        if isinstance(called, PartOf):
            item = called.whole.separator
            if called.place is not None:
                item = called.whole.parts[called.place][0]
            assert item is not None
            start, owner = self._item_starts[item]
            return Procedure(self._rules.names[owner], start, called)
        item, least, most = called
        start, owner = self._item_starts[item]
        return Procedure(self._rules.names[owner], start, (least, most))

    def _start(self, rule: int, end: int) -> int:
        """The state in front of a rule after which there is ``end``."""
        key = rule, end
        if key not in self._starts:
            state = self._starts[key] = self.components.new_state()
            self._unlaid[state] = key
            if self._when_met:
                self.components.unlaid[state] = self
            self._waiting.append(state)
            if end != END:
                self.copied.add(rule)
        return self._starts[key]

    def _lay_out(self) -> None:
        done = 0
        while done < len(self._waiting):
            while done < len(self._waiting):
                self._lay_at(self._waiting[done])
                done += 1
            self._lay_calls()

    def lay(self, state: int) -> None:
        """Write what begins in a state: a rule, or a call of one, or what is left of a sequence."""
        if state in self._rests:
            left, end, owner = self._rests.pop(state)
            self._lay([*map(self._again, self._in_a_row(left, state, end, owner))][::-1], owner)
            self._lay_items(owner)
            return
        rule, end = self._unlaid[state]
        if end == END or rule not in self._called:
            self._lay_at(state)
            return
        del self._unlaid[state]
        if self._rules.is_nullable(rule):
            self.components.add_epsilon(state, end)
        self._calls.append((state, rule, end))
        self._calling.add(state)
        self._lay_calls()

    def _lay_at(self, state: int) -> None:
        rule, end = self._unlaid.pop(state)
        self._lay_rule(rule, end)
        self._lay_items(rule)
        self.owners[state] = rule

    def _lay_items(self, owner: int) -> None:
        """Write the items of what was written for a rule."""
        self.owners += [owner] * (self.components.states - len(self.owners))
        while self._items_waiting:
            part, start, owner = self._items_waiting.pop()
            self._lay([(part, start, END)], owner)
            self.owners += [owner] * (self.components.states - len(self.owners))

    def _lay_calls(self) -> None:
        calls, self._calls = self._calls, []
        for state, rule, end in calls:
            if self._only_ends(end):
                self.components.add_epsilon(state, self._start(rule, END))
            else:
                symbol = self._first_call + self._number(rule)
                self.components.arcs[state] += (symbol, symbol, end)

    def _only_ends(self, state: int) -> bool:
        """Whether nothing can follow a state but the end."""
        components, ends = self.components, False
        for current in reached([state], components.epsilon.__getitem__):
            # What matches no text but ε is no rule.
            if components.arcs[current] or current in self._calling or current in self._unlaid:
                return False
            if current in components.unlaid:
                return False
            ends |= current == END
        return ends

    def _lay_rule(self, rule: int, end: int) -> None:
        components, loop = self.components, self._rules.loops[rule]
        if not self._when_met:
            # While texts are read the process is not the compiler's.
            self._limits.check_resources(_STAGE, [self._rules.names[rule]])
        start = self._starts[rule, end]
        if not loop.tails:
            heads = self._not_words(loop.heads, start, end, rule)
            self._lay([(head, start, end) for head in heads], rule)
            return
        again = components.new_state()
        components.add_epsilon(again, end)
        # Any number of tails after the rule are tails of the rule itself.
        self._starts[rule, again] = start
        tails = [(tail, again, again) for tail in reversed(loop.tails)]
        heads = self._not_words(loop.heads, start, again, rule)
        self._lay(tails + [(head, start, again) for head in heads], rule)

    def _lay(self, pending: list[tuple[int, int, int]], owner: int) -> None:
        """Write expressions, the last first, between two states each."""
        rules, components = self._rules, self.components
        arcs = components.arcs
        while pending:
            e, start, end = pending.pop()
            kind, content, parts = rules.kinds[e], rules.contents[e], rules.parts[e]
            if kind == LITERAL:
                assert isinstance(content, bytes)
                self._check_room(len(content), owner)
                write_text(components, content, start, end)
            elif kind == RUNS:
                assert isinstance(content, tuple)
                for low, high in zip(content[::2], content[1::2], strict=True):
                    arcs[start] += (low, high, end)
            elif kind == RULE and self._is_apart:
                heads = rules.loops[rules.rule(e)].heads
                pending.extend((head, start, end) for head in reversed(heads))
            elif kind == RULE:
                self._lay_use(rules.rule(e), start, end)
            elif kind == ALL:
                row = self._in_a_row([*reversed(parts)], start, end, owner)
                pending.extend(reversed([next(row), *map(self._again, row)]))
            elif kind == ANY:
                others = self._not_words(parts, start, end, owner)
                pending.extend((part, start, end) for part in others)
            elif kind == CHARACTER:
                assert isinstance(content, list)
                write_character(components, content, start, end)
            elif kind == AUTOMATON:
                assert isinstance(content, Nfa)
                self._check_room(content.states, owner)
                write_automaton(components, content, start, end)
            elif kind == ORDERS:
                self._lay_orders(e, start, end, owner)
            elif self._when_met and self._repeats_often(e):
                self._lay_repeated(e, start, end, owner)
            elif e in rules.counted and not self._when_met:
                self._lay_counted(e, start, end, owner)
            else:
                pending.extend(reversed(self._times(e, start, end, owner)))
            self._check_room(0, owner)

    def _in_a_row(
        self, left: list[int], start: int, end: int, owner: int
    ) -> Iterator[tuple[int, int, int]]:
        """The parts of a sequence, the last first, between two states each. Where rules are written
        when they are met, the first parts: what is left is written when a text comes to it."""
        components, rules, parts = self.components, self._rules, list[int]()
        is_whole = self._is_apart or not self._when_met
        while left and (is_whole or len(parts) < _FEW_PARTS):
            part = left.pop()
            if not is_whole and rules.kinds[part] == ALL:
                left += reversed(rules.parts[part])
            else:
                parts.append(part)
        states = [start, *(components.new_state() for _ in parts[1:])]
        if left:
            rest = components.new_state()
            self._rests[rest] = left, end, owner
            components.unlaid[rest], end = self, rest
        return zip(parts, states, [*states[1:], end], strict=True)

    def _again(self, step: tuple[int, int, int]) -> tuple[int, int, int]:
        """What is left to write between two states where only what is before leads to the first:
        any number of parts go back to it. So in "x (y x)*" both have the same end, and one copy."""
        e, start, end = step
        rules = self._rules
        if rules.kinds[e] != TIMES or e in rules.counted or rules.times(e)[:2] != (0, None):
            return step
        self.components.add_epsilon(start, end)
        return rules.parts[e][0], start, start

    def _check_room(self, more: int, owner: int, part: str = "") -> None:
        """Raise ``LimitError`` if there are too many states with so many more."""
        states = len(self.components.arcs) + more
        if states <= self._most:
            return
        if states > self._slack * self._limits.states:
            self._limits.check_states(states, _STAGE, [self._rules.names[owner]], part)
        if states * _STATE_BYTES > self._limits.memory:
            names = [self._rules.names[owner]]
            self._limits.check_memory(states * _STATE_BYTES, _STAGE, names, part)

    def _lay_use(self, rule: int, start: int, end: int) -> None:
        components = self.components
        is_copied = self._when_met or rule not in self._called or end == END
        if is_copied or (rule, end) in self._starts:
            components.add_epsilon(start, self._start(rule, end))
            return
        self._calls.append((start, rule, end))
        self._calling.add(start)
        if self._rules.is_nullable(rule):
            components.add_epsilon(start, end)

    def _not_words(self, options: Sequence[int], start: int, end: int, owner: int) -> list[int]:
        """The options that are no literals, the last first; literals are written as a trie if
        there are many, and are among them if not."""
        rules, components = self._rules, self.components
        words = [e for e in options if rules.kinds[e] == LITERAL]
        if len(words) < _MANY_WORDS:
            return list(reversed(options))
        # By node and byte the node after it.
        behind: dict[int, int] = {}
        for e in words:
            word, node = rules.contents[e], start
            assert isinstance(word, bytes)
            self._check_room(len(word), owner)
            for octet in word:
                key = node << 8 | octet
                if key not in behind:
                    behind[key] = components.new_state()
                    components.arcs[node] += (octet, octet, behind[key])
                node = behind[key]
            if end not in components.epsilon[node]:
                components.add_epsilon(node, end)
        return [e for e in reversed(options) if rules.kinds[e] != LITERAL]

    def _lay_repeated(self, e: int, start: int, end: int, owner: int) -> None:
        """An ε edge to copies that are written one by one."""
        low, high, _ = self._rules.times(e)
        (part,) = self._rules.parts[e]
        low = 0 if self._rules.nullable[part] else low
        times = Times(self._repeated_item(part, owner), low, high, end)
        self.components.add_epsilon(start, self.repetitions.begin(times))

    def _repeated_item(self, part: int, owner: int) -> Item:
        """An item as an automaton of its own: of few states, or a call."""
        number = self._items.number(part)
        if number not in self._repeated_items:
            found = self._closed(part, owner)
            if found is None:
                symbol = self._symbol((self._item(part, owner), 1, 1))
                found = Positions([[], [symbol, symbol, END]], [NOWHERE, NOWHERE])
            self._repeated_items[number] = Item.of(found.arcs, found.epsilon)
        return self._repeated_items[number]

    def _closed(self, part: int, owner: int) -> Positions | None:
        """An expression as an automaton of few states that calls nothing, and does not match ε."""
        rules, pending = self._rules, [part]
        for e in pending:
            kind = rules.kinds[e]
            if kind == ORDERS or (kind == TIMES and self._repeats_often(e)):
                return None
            pending += rules.parts[e]
            if kind == RULE:
                loop = rules.loops[rules.rule(e)]
                if loop.tails:
                    return None
                pending += loop.heads
            # Rules that name themselves go on for ever.
            if len(pending) > MOST_PLACES:
                return None
        if rules.nullable[part]:
            return None
        whole, self.components, self._is_apart = self.components, Positions(), True
        self._lay([(part, self.components.new_state(), END)], owner)
        found, self.components, self._is_apart = self.components, whole, False
        return found if found.states <= MOST_PLACES else None

    def _symbol(self, called: "_Counted | PartOf") -> int:
        """The symbol of a call of what is no rule."""
        return self._first_call + self._numbers.setdefault(called, len(self._numbers))

    def _repeats_often(self, e: int) -> bool:
        """Whether a repetition has copies that are better written when a text comes to them."""
        low, high, _ = self._rules.times(e)
        return max(low, high or 0) > _FEW_COPIES

    def _lay_counted(self, e: int, start: int, end: int, owner: int) -> None:
        """A call of the item, which counts; where there may be no item, an ε edge beside it."""
        components = self.components
        low, high, _ = self._rules.times(e)
        (part,) = self._rules.parts[e]
        if low == 0 or self._rules.nullable[part]:
            components.add_epsilon(start, end)
            low = 1
        symbol = self._symbol((self._item(part, owner), low, high))
        components.arcs[start] += (symbol, symbol, end)

    def _item(self, part: int, owner: int) -> int:
        """The number of what is called for a part of a rule, which is written once."""
        item = self._items.number(part)
        if item not in self._item_starts:
            begin = self.components.new_state()
            self._item_starts[item] = begin, owner
            self._items_waiting.append((part, begin, owner))
        return item

    def _lay_orders(self, e: int, start: int, end: int, owner: int) -> None:
        """A call of each part, which holds a set; where none may be there, an ε edge beside it."""
        rules, orders = self._rules, self._rules.orders(e)
        uses = rules.parts[e]
        separator = rules.parts[uses[-1]][0] if orders.has_separator else None
        alike: dict[int, list[tuple[bool, bool]]] = {}
        for use in uses[:-1] if orders.has_separator else uses:
            (part,) = rules.parts[use]
            low, high, _ = rules.times(use)
            is_required = low > 0 and not rules.nullable[part]
            alike.setdefault(self._item(part, owner), []).append((is_required, high is None))
        parts = tuple((item, f) for item, found in alike.items() for f in flags_of_equal(found))
        required = tuple((item, flags) for item, flags in parts if flags & REQUIRED)
        if orders.most is not None and len(required) >= orders.most:
            parts = required
        whole = Permuted(
            parts,
            None if separator is None else self._item(separator, owner),
            separator is None or bool(rules.nullable[separator]),
            orders.least,
            len(parts) if orders.most is None else min(orders.most, len(parts)),
        )
        if len(parts) > MOST_PARTS:
            names = [rules.names[owner]]
            self._limits.within(MOST_PARTS).check_states(len(parts), "a permutation", names)
        if rules.nullable[e] and not orders.least:
            self.components.add_epsilon(start, end)
        if not parts:  # None may stand.
            return
        if self._when_met:
            front = self.permutations.begin(self._set_rule(whole, end))
            self.components.add_epsilon(start, front)
            return
        if separator is not None:
            self._symbol(PartOf(whole, None))
        places: dict[int, int] = {}
        for place, (item, _) in enumerate(parts):
            if places.setdefault(item, place) == place:
                symbol = self._symbol(PartOf(whole, place))
                self.components.arcs[start] += (symbol, symbol, end)

    def _set_rule(self, whole: Permuted, end: int) -> SetRule:
        """What a permutation does, over the symbols of calls."""
        between = NO_SEPARATOR
        if whole.separator is not None:
            between = self._symbol((whole.separator, 1, 1))
        parts = [self._symbol((item, 1, 1)) for item, _ in whole.parts]
        flags = [each for _, each in whole.parts]
        bounds = whole.is_adjoining, whole.least, whole.most
        return SetRule(parts, flags, between, *bounds, end)

    def _times(self, e: int, start: int, end: int, owner: int) -> list[tuple[int, int, int]]:
        """The copies of a repetition, the first one first."""
        components = self.components
        low, high, text = self._rules.times(e)
        (part,) = self._rules.parts[e]
        found = []

        def following() -> int:
            self._check_room(1, owner, text)
            return components.new_state()

        for copy in range(low if high is None else high):
            if copy >= low:
                components.add_epsilon(start, end)
            behind = end if copy + 1 == high else following()
            found.append((part, start, behind))
            start = behind
        if high is None:
            again = following()
            components.add_epsilon(start, again)
            components.add_epsilon(again, end)
            found.append((part, again, again))
        return found
