"""Deterministic automata by derivatives of expressions, built lazily or as a whole.

The derivative of a language by a symbol is what its words with that symbol in front go on with
(Brzozowski 1964). The states are expressions, the transitions derivatives:

    ∂ [S] = ε if the symbol is in S          ∂ (r | s) = ∂r | ∂s        ∂ ¬r = ¬∂r
    ∂ (r s) = ∂r s, | ∂s if r matches ε      ∂ (r & s) = ∂r & ∂s        ∂ r{m,n} = ∂r r{m-1,n-1}

Symbols by which all derivatives are the same are found beforehand, approximately: a partition for
each expression (Owens, Reppy and Turon 2009, section 4.2), so that one derivative a class does.
Partitions and derivatives are computed lazily, and cached.
"""

from collections import Counter
from typing import TypeAlias

import numpy as np

from constrain.compiler.automata.dfa import DEAD, Dfa, trimmed
from constrain.compiler.automata.minimize import minimize
from constrain.compiler.automata.nfa import FIRST_TERMINAL
from constrain.compiler.automata.regex_ir import Node
from constrain.compiler.limits import Limits

from .byte_expressions import (
    EPSILON,
    NONE,
    STAGE,
    Alt,
    And,
    At,
    Expressions,
    Id,
    Not,
    Rep,
    Seq,
    Symbols,
)
from .lowering import lowered

# Disjoint, not empty sets of symbols, as bits; together all symbols.
Partition: TypeAlias = tuple[int, ...]


class LazyDfa:
    """The automaton of an expression, built as far as texts were read.

    States are expressions' numbers; 0 is dead. ``terminals``: T, how many token terminals the
    alphabet has. All methods raise ``LimitError``.
    """

    def __init__(self, node: Node, limits: Limits | None = None, terminals: int = 0) -> None:
        self._limits = (limits or Limits()).started()
        self._expressions = Expressions(FIRST_TERMINAL + terminals, self._limits)
        self._everything = (1 << self._expressions.width) - 1
        self._classes: dict[Id, int] = {}
        self._partitions: list[Partition] = []
        self._numbers: dict[Partition, int] = {}
        self._representatives: list[list[int]] = []
        self._meets: dict[tuple[int, int], int] = {}
        self._derivatives: dict[tuple[Id, int], Id] = {}
        self._whole = self._interned((self._everything,))
        self.start: Id = lowered(node, self._expressions, self._limits)

    def is_accepting(self, state: Id) -> bool:
        """Whether the words that lead to ``state`` are members."""
        return self._expressions.nullable[state]

    def step(self, state: Id, symbol: int) -> Id:
        """The state after a byte or a token terminal: the derivative of an expression."""
        found, classes, first = self._derivatives, self._classes, self._representatives
        self.classes(state)
        pending = [state]
        while pending:
            current = pending[-1]
            key = (current, first[classes[current]][symbol])
            if key not in found:
                inner = self._inside(current)
                derived = [found.get((part, first[classes[part]][symbol])) for part in inner]
                if None in derived:
                    pending.extend(p for p, d in zip(inner, derived, strict=True) if d is None)
                    continue
                found[key] = self._derived(current, symbol, [d for d in derived if d is not None])
            pending.pop()
        return found[key]

    def accepts(self, word: bytes) -> bool:
        """Whether ``word`` is a member."""
        state = self.start
        for octet in word:
            state = self.step(state, octet)
        return self.is_accepting(state)

    def whole(self) -> Dfa:
        """All of it as a table, trimmed; not minimal, though seldom far from it."""
        numbers: dict[Id, int] = {NONE: DEAD}
        states = [NONE]
        if self.start != NONE:
            numbers[self.start] = 1
            states.append(self.start)
        rows: list[list[int]] = []
        used: list[int] = []
        for state in states:
            classes = self.classes(state)
            row = []
            for mask in self._partitions[classes]:
                target = self.step(state, _first(mask))
                number = numbers.setdefault(target, len(states))
                if number == len(states):
                    states.append(target)
                    if len(states) > self._limits.states:
                        part = self._part_of(state)
                        self._limits.check_states(len(states), STAGE, (), part)
                row.append(number)
            rows.append(row)
            used.append(classes)
        return self._table(states, rows, used)

    def _table(self, states: list[Id], rows: list[list[int]], used: list[int]) -> Dfa:
        """One row a state, over the coarsest classes that refine those of every state."""
        common = self._whole
        for classes in dict.fromkeys(used):
            common = self._meet(common, classes)
        of_byte = np.array(self._representatives[common][:FIRST_TERMINAL])
        firsts, columns = np.unique(of_byte, return_inverse=True)
        symbols = [*firsts.tolist(), *range(FIRST_TERMINAL, self._expressions.width)]
        position = {
            classes: np.array([self._place(classes, symbol) for symbol in symbols])
            for classes in dict.fromkeys(used)
        }
        table = np.array(
            [np.array(row)[position[classes]] for row, classes in zip(rows, used, strict=True)],
            dtype=np.int32,
        )
        nullable = self._expressions.nullable
        return trimmed(
            Dfa(
                table=table,
                classes=columns.astype(np.uint8),
                accepting=np.array([nullable[state] for state in states], dtype=np.bool_),
                start=int(len(states) > 1),
                origins=(frozenset(),) * len(states),
            )
        )

    def classes(self, state: Id) -> int:
        """The number of the partition of an expression."""
        found = self._classes
        pending = [state]
        while pending:
            current = pending[-1]
            if current not in found:
                inner = self._inside(current)
                missing = [part for part in inner if part not in found]
                if missing:
                    pending.extend(missing)
                    continue
                found[current] = self._classes_of(current, inner)
            pending.pop()
        return found[state]

    def _classes_of(self, current: Id, inner: tuple[Id, ...]) -> int:
        """The approximation of section 4.2: the meet of the partitions of ``inner``."""
        match self._expressions.keys[current]:
            case Symbols(mask):
                others = self._everything & ~mask
                return self._interned((mask, others) if others else (mask,))
            case At(number, _):
                return self._interned(_columns_of(self._expressions.dfas[number]))
        meet = self._whole
        for part in inner:
            meet = self._meet(meet, self._classes[part])
        return meet

    def _inside(self, current: Id) -> tuple[Id, ...]:
        """The expressions whose derivatives one is made of."""
        match self._expressions.keys[current]:
            case Seq(head, tail):
                return (head, tail) if self._expressions.nullable[head] else (head,)
            case Alt(options):
                return options
            case And(parts):
                return parts
            case Rep(body) | Not(body):
                return (body,)
            case _:
                return ()

    def _derived(self, current: Id, symbol: int, inner: list[Id]) -> Id:
        """Brzozowski's rules, given the derivatives of the parts."""
        build = self._expressions
        match build.keys[current]:
            case Symbols(mask):
                return EPSILON if mask >> symbol & 1 else NONE
            case At(number, state):
                dfa = build.dfas[number]
                return build.at(number, int(dfa.table[state, dfa.column(symbol)]))
            case Seq(_, tail):
                first = build.seq(inner[0], tail)
                return first if len(inner) == 1 else build.alt((first, inner[1]))
            case Rep(body, low, high):
                others = build.rep(body, max(low - 1, 0), None if high is None else high - 1)
                return build.seq(inner[0], others)
            case Alt():
                return build.alt(inner)
            case And():
                # The empty intersection stands for ε here, which goes on with nothing.
                return build.intersection(inner) if inner else NONE
            case Not():
                return build.negation(inner[0])

    def _part_of(self, state: Id) -> str:
        """The repetition that most parts of a state came from."""
        counted: Counter[str] = Counter()
        pending = [state]
        while pending:
            current = pending.pop()
            key = self._expressions.keys[current]
            if isinstance(key, Rep) and key.body in self._expressions.texts:
                counted[self._expressions.texts[key.body]] += 1
            pending.extend([key.head, key.tail] if isinstance(key, Seq) else self._inside(current))
        return min(counted, key=lambda text: (-counted[text], text), default="")

    def _meet(self, one: int, other: int) -> int:
        """The coarsest partition that refines both."""
        if one == other or other == self._whole:
            return one
        if one == self._whole:
            return other
        key = (one, other)
        if key not in self._meets:
            left, right = self._partitions[one], self._partitions[other]
            self._meets[key] = self._interned(tuple(a & b for a in left for b in right if a & b))
        return self._meets[key]

    def _interned(self, classes: Partition) -> int:
        classes = tuple(sorted(classes, key=_first))
        number = self._numbers.setdefault(classes, len(self._partitions))
        if number == len(self._partitions):
            self._partitions.append(classes)
            first = [0] * self._expressions.width
            for mask in classes:
                left = mask
                while left:
                    first[_first(left)] = _first(mask)
                    left &= left - 1
            self._representatives.append(first)
        return number

    def _place(self, classes: int, symbol: int) -> int:
        """Which class of a partition a symbol is in."""
        return next(i for i, m in enumerate(self._partitions[classes]) if m >> symbol & 1)


def minimal_via_derivatives(node: Node, limits: Limits | None = None, terminals: int = 0) -> Dfa:
    """The minimal DFA of an expression by derivatives, without origins.

    Equal to ``minimize(determinize(thompson(node)))`` but for these. Raises ``LimitError``.
    """
    limits = (limits or Limits()).started()
    return minimize(LazyDfa(node, limits, terminals).whole(), limits)


def _first(mask: int) -> int:
    """The first symbol of a set."""
    return (mask & -mask).bit_length() - 1


def _columns_of(dfa: Dfa) -> Partition:
    """The byte classes and terminals of a finished automaton as sets of symbols."""
    masks = [0] * dfa.table.shape[1]
    for octet, column in enumerate(dfa.classes.tolist()):
        masks[column] |= 1 << octet
    for place in range(dfa.byte_columns, len(masks)):
        masks[place] = 1 << (FIRST_TERMINAL + place - dfa.byte_columns)
    return tuple(masks)
