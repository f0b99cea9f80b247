"""The tables of conjunctions: a DFA of all that is small together, bounds of the length, and NFAs.

    {[a-z.]{1,253}, labels}    ->    DFA of [a-z.]* & labels, 1 to 253 characters
    {not .*a.{20}}             ->    DFA of all texts, and the NFA of .*a.{20}, which is excluded

What has a DFA of few states is part of the conjunction's own; of other operands the states are made
while decoding.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
from numpy.typing import NDArray

from constrain.artifacts.dfa.conjunctions import CONTINUES, UNBOUNDED, Conjunction, Operand
from constrain.artifacts.dfa.emptiness import MOST_VISITED, UndecidedError
from constrain.artifacts.dfa.walked import Walked
from constrain.artifacts.tokens.watch import Watch

from ..automata import regex_ir as regex
from ..automata.assertions import resolved
from ..automata.boolean import common, difference
from ..automata.determinize import byte_intervals, determinize
from ..automata.dfa import DEAD, Dfa, as_nfa
from ..automata.graphs import reached
from ..automata.minimize import minimize
from ..automata.nfa import Nfa
from ..automata.thompson import thompson
from ..diagnostics import LimitError
from ..limits import Effort, Limits
from .beginnings import following_its_beginnings
from .json_lengths import json_length, phased
from .signed_parts import Parts, TooManyError, conjunctions_of, repeated_character

_STAGE = "a search for a member"

# An operand has a DFA if that has at most so many states, or so many times those of its NFA.
_FEW_STATES, _TIMES_NFA = 512, 2

# The DFA of a conjunction has at most so many states.
MOST_STATES = 5_000

# Cells of an operand's NFA at most.
_MOST_CELLS = 1 << 22


@dataclass(frozen=True, slots=True, eq=False)
class Operation:
    """Conjunctions whose union are the members. ``states``: about how many a DFA of all would
    have; with operands that have none it would have more than any limit. ``what``: of the grammar,
    for reasons."""

    conjunctions: tuple[Conjunction, ...]
    states: int
    what: str = "an intersection or a complement"


# More states than any limit.
_ENDLESS = 1 << 62


def operation_of(node: regex.Node, limits: Limits) -> Operation | None:
    """The conjunctions of an expression of text, of those that have a member; None where they are
    too many or too large. Raises ``LimitError``."""
    try:
        forms = conjunctions_of(node)
        made = [each for parts in forms if (each := _Making(limits).made(parts)) is not None]
    except TooManyError:
        return None
    if not made:
        return Operation((), 0)
    classes = _common_classes(made)
    found = tuple(_followed(each, each.table(classes), limits) for each in made)
    live = tuple(each for each in found if _has_member(each, limits))
    if any(not Walked(each).lengths.is_bounded for each in live):
        return None
    return Operation(live, sum(map(_states_if_built, live)))


def joined(conjunctions: Sequence[Conjunction]) -> tuple[Conjunction, ...]:
    """The same over the coarsest columns that refine those of all."""
    classes, representatives = _refined([each.classes for each in conjunctions])
    return tuple(_over(each, classes, representatives) for each in conjunctions)


def without_bytes_of(operation: Operation, missing: NDArray[np.bool_], limits: Limits) -> Operation:
    """The members that hold none of the bytes ``missing``, bool (256,); without conjunctions if
    there is none. Raises ``LimitError``."""
    found = []
    for each in operation.conjunctions:
        classes, representatives = _refined([each.classes, missing.astype(np.uint8)])
        whole = _over(each, classes, representatives)
        table = np.where(missing[representatives], DEAD, whole.table).astype(np.int32)
        # subtle: what begins a text need not begin one without these bytes.
        operands = tuple(replace(operand, is_followed=False) for operand in whole.operands)
        less = replace(whole, table=table, operands=operands)
        if _has_member(less, limits):
            found.append(less)
    return replace(operation, conjunctions=tuple(found))


def is_nullable(operation: Operation) -> bool:
    walked = map(Walked, operation.conjunctions)
    return any(each.accepts(*each.first) for each in walked)


def without_empty(operation: Operation, limits: Limits) -> Operation:
    """The members of at least one character. Raises ``LimitError``."""
    found = [
        replace(each, least=max(each.least, 1))
        for each in operation.conjunctions
        if each.most == UNBOUNDED or each.most > 0
    ]
    live = tuple(each for each in found if _has_member(each, limits))
    return replace(operation, conjunctions=live)


def _over(
    conjunction: Conjunction, classes: NDArray[np.uint8], representatives: NDArray[np.intp]
) -> Conjunction:
    """A conjunction over classes that refine its own; ``representatives``: a byte of each."""
    width, columns = conjunction.table.shape[1], conjunction.classes[representatives]
    operands = tuple(_with_columns(operand, width, columns) for operand in conjunction.operands)
    return replace(
        conjunction, table=conjunction.table[:, columns], classes=classes, operands=operands
    )


def _with_columns(operand: Operand, width: int, columns: NDArray[np.integer]) -> Operand:
    """An operand over other columns, each of which was one of ``width``."""
    states = len(operand.accepting)
    lengths = np.diff(operand.offsets).reshape(states, width)[:, columns]
    starts = operand.offsets[:-1].reshape(states, width)[:, columns].ravel()
    counts = lengths.ravel()
    offsets = np.concatenate(([0], np.cumsum(counts))).astype(np.int64)
    inside = np.arange(int(offsets[-1])) - offsets[:-1].repeat(counts)
    targets = operand.targets[starts.repeat(counts) + inside]
    return replace(operand, offsets=offsets, targets=targets)


@dataclass(frozen=True, slots=True, eq=False)
class _Made:
    """A conjunction before its columns are those of all."""

    dfa: Dfa
    phases: NDArray[np.uint8]
    least: int
    most: int
    operands: Sequence[tuple[Nfa, bool]]
    has_others: bool

    def table(self, common: tuple[NDArray[np.uint8], NDArray[np.intp]]) -> Conjunction:
        classes, representatives = common
        dfa = self.dfa
        return Conjunction(
            np.ascontiguousarray(dfa.table[:, dfa.classes[representatives]]),
            classes,
            np.where(self.phases > 0, self.phases + 1, dfa.accepting).astype(np.uint8),
            dfa.start,
            self.least,
            self.most,
            tuple(_operand(nfa, excludes, representatives) for nfa, excludes in self.operands),
        )


class _Making:
    def __init__(self, limits: Limits) -> None:
        self._limits = limits

    def made(self, parts: Parts) -> _Made | None:
        """None if it is seen to have no member."""
        least, most = 0, UNBOUNDED
        has_escapes: bool | None = None
        required: list[Dfa] = []
        excluded: list[Dfa] = []
        operands: list[tuple[Nfa, bool]] = []
        for part in parts:
            node = part.node
            bounds = self._bounds(node) if part.is_required else None
            if bounds is not None:
                node, low, above, escapes = bounds
                if has_escapes is not None and has_escapes != escapes:
                    raise TooManyError
                has_escapes = escapes
                least = max(least, low)
                if above is not None:
                    most = above if most == UNBOUNDED else min(most, above)
            automaton = self._automaton(node)
            if isinstance(automaton, Nfa):
                operands.append((automaton, not part.is_required))
            else:
                (required if part.is_required else excluded).append(automaton)
        if most != UNBOUNDED and most < least:
            return None
        required.sort(key=lambda dfa: dfa.states)
        whole = required[0] if required else self._dfa(regex.EVERYTHING)
        for dfa in required[1:]:
            try:
                whole = common(whole, dfa, self._limits.within(MOST_STATES))
            except LimitError as error:
                self._pass_on(error)
                operands.append((as_nfa(dfa, keep_origins=False), False))
        for dfa in excluded:
            try:
                whole = difference(whole, dfa, self._limits.within(MOST_STATES))
            except LimitError as error:
                self._pass_on(error)
                operands.append((as_nfa(dfa, keep_origins=False), True))
        has_others = bool(required or excluded)
        if whole.is_empty:
            return None
        phases = np.zeros(whole.states, dtype=np.uint8)
        if has_escapes:
            whole, phases = phased(whole)
        return _Made(whole, phases, least, most, operands, has_others)

    def _bounds(self, node: regex.Node) -> tuple[regex.Node, int, int | None, bool] | None:
        """Of repetitions of one character what is repeated freely, the bounds, and whether escapes
        of JSON are one character."""
        repeated = repeated_character(node)
        if repeated is not None:
            freely = regex.Repeat(repeated.node, 0, None)
            return freely, repeated.min_times, repeated.max_times, False
        found = json_length(node, self._limits)
        return None if found is None else (*found, True)

    def _automaton(self, node: regex.Node) -> Dfa | Nfa:
        nfa = thompson(resolved(node, self._limits), self._limits)
        few = self._limits.within(max(_FEW_STATES, _TIMES_NFA * nfa.states))
        try:
            return minimize(determinize(nfa, few), self._limits)
        except LimitError as error:
            self._pass_on(error)
            return nfa

    def _dfa(self, node: regex.Node) -> Dfa:
        return minimize(determinize(thompson(node, self._limits), self._limits), self._limits)

    def _pass_on(self, error: LimitError) -> None:
        """Raise unless it is the number of states, which another way does without."""
        if error.limit != "states" or error.is_measured:
            raise error


def _followed(made: _Made, conjunction: Conjunction, limits: Limits) -> Conjunction:
    """The same, by a DFA that says what begins a member where one operand is all there is."""
    is_alone = len(made.operands) == 1 and not made.has_others and not conjunction.counts
    if not is_alone or made.operands[0][1]:
        return conjunction
    return following_its_beginnings(conjunction, limits)


def _common_classes(made: Sequence[_Made]) -> tuple[NDArray[np.uint8], NDArray[np.intp]]:
    """The coarsest classes that refine all, and a byte of each."""
    found: list[NDArray[np.integer]] = []
    for each in made:
        found.append(each.dfa.classes)
        found += [np.array(byte_intervals(nfa)) for nfa, _ in each.operands]
    return _refined(found)


def _refined(
    classes: Sequence[NDArray[np.integer]],
) -> tuple[NDArray[np.uint8], NDArray[np.intp]]:
    continues = np.zeros(256, dtype=np.int64)
    continues[CONTINUES] = 1
    rows = np.stack([continues, *classes]).T
    _, first, inverse = np.unique(rows, axis=0, return_index=True, return_inverse=True)
    # Columns are numbered by their first bytes.
    order = np.argsort(first)
    numbers = np.empty_like(order)
    numbers[order] = np.arange(len(order))
    return numbers[inverse.reshape(-1)].astype(np.uint8), first[order]


def _operand(nfa: Nfa, excludes: bool, representatives: NDArray[np.intp]) -> Operand:
    """An NFA without ε, of states that read or accept and from which a text is accepted."""
    useful = _useful(nfa)
    number = {state: i for i, state in enumerate(sorted(useful))}

    @cache
    def closure(state: int) -> list[int]:
        return sorted(number[s] for s in nfa.epsilon_closure({state}) & useful)

    columns = representatives.tolist()
    if len(number) * len(columns) > _MOST_CELLS:
        raise TooManyError
    targets: list[int] = []
    offsets = [0]
    for state in number:
        for octet in columns:
            reached: set[int] = set()
            for arc in nfa.arcs[state]:
                if arc.low <= octet <= arc.high:
                    reached.update(closure(arc.target))
            targets.extend(sorted(reached))
            offsets.append(len(targets))
    accepting = np.zeros(len(number), dtype=np.uint8)
    accepting[[number[state] for state in nfa.finals if state in number]] = 1
    return Operand(
        excludes,
        np.array(offsets, dtype=np.int64),
        np.array(targets, dtype=np.int32),
        accepting,
        np.array(closure(nfa.start), dtype=np.int32),
    )


def _useful(nfa: Nfa) -> set[int]:
    """The states with arcs, or final, that lead to a final one."""
    before: list[list[int]] = [[] for _ in range(nfa.states)]
    for state in range(nfa.states):
        for target in nfa.targets(state):
            before[target].append(state)
    live = reached(nfa.finals, before.__getitem__)
    return {state for state in live if nfa.arcs[state] or state in nfa.finals}


@contextmanager
def searching(limits: Limits) -> Iterator[Watch]:
    """What is told of each state that a search in this block visits; one that ends undecided is a
    ``LimitError``, too."""
    try:
        yield Effort(limits, (), stage=_STAGE).spend
    except UndecidedError:
        raise LimitError(_STAGE, "states", MOST_VISITED, is_fixed=True) from None


def _has_member(conjunction: Conjunction, limits: Limits) -> bool:
    with searching(limits) as watch:
        walked = Walked(conjunction, watch=watch)
        return walked.is_live(*walked.first)


def _states_if_built(conjunction: Conjunction) -> int:
    if conjunction.operands:
        return _ENDLESS
    bound = conjunction.least if conjunction.most == UNBOUNDED else conjunction.most
    return len(conjunction.table) * (bound + 1)
