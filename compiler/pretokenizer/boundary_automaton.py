"""Where a pre-tokenizer cuts, as an automaton over characters with marks.

A text with marks says of each character whether a piece starts there. The automaton accepts
exactly one marking of each text, the tokenizer's own. It guesses and verifies (an ordered
regex cannot be followed otherwise: whether a match ends here depends on what follows):

    a state is (ordered threads of the current match, threads that must fail)

    a mark where a match ends:  the threads before it would have been preferred, so they must
                                fail from now on; those behind it are dropped
    no mark where one ends:     a thread before it must match later; the others are dropped
    a thread that must fail reaches MATCH:  the guess was wrong

Text between two matches is a *gap*: at each of its characters all threads must fail.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from ..diagnostics import TokenizerError
from ..tokenizers.definition import Behaviour, Split
from .character_classes import Alphabet
from .marked_dfa import MarkedDfa, subset_automaton
from .pattern_program import Op, Program

CONTINUE, MATCH, GAP = range(3)

_Threads: TypeAlias = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class State:
    """``threads``: of the current match in order, None inside a gap and at the start.

    ``failing``: threads that must not reach MATCH. ``last``: kind of the current segment, -1
    at the start.
    """

    threads: _Threads | None
    failing: frozenset[int]
    last: int


def boundary_automaton(split: Split, program: Program, alphabet: Alphabet) -> MarkedDfa:
    """The automaton of one step. Raises ``TokenizerError`` where a pattern is not supported."""
    machine = Machine(program, alphabet)
    start = State(None, frozenset(), -1)

    def successors(state: State, mark: int, atom: int) -> Iterable[State]:
        for label in (CONTINUE, MATCH, GAP):
            cut = _is_cut(split, state.last, label)
            if cut == bool(mark):
                target = machine.step(state, label, atom)
                if target is not None:
                    yield target

    return subset_automaton(start, successors, machine.may_end, alphabet.count)


def _is_cut(split: Split, last: int, label: int) -> bool | None:
    """Whether a piece begins with a segment of kind ``label`` after one of kind ``last``.

    None if that segment's text would be dropped: such a text is not spelled by its tokens.
    """
    if label == CONTINUE:
        return False
    if split.behaviour is Behaviour.CONTIGUOUS:
        return label != last
    if split.invert:
        swap = {MATCH: GAP, GAP: MATCH, -1: -1}
        label, last = swap[label], swap[last]
    match split.behaviour:
        case Behaviour.REMOVED:
            return None if label == MATCH else True
        case Behaviour.MERGED_WITH_PREVIOUS:
            return not (label == MATCH and last == GAP)
        case Behaviour.MERGED_WITH_NEXT:
            return not (label == GAP and last == MATCH)
    return True


class Machine:
    """Steps the states of one pattern: ``step`` guesses, a wrong guess leads to None."""

    def __init__(self, program: Program, alphabet: Alphabet) -> None:
        self.program, self.alphabet = program, alphabet
        self.entry = self.closure([0])
        if any(program[pc].op is Op.MATCH for pc in self.resolved(self.entry, None)):
            raise TokenizerError(
                "a pattern of the tokenizer matches the empty text, which canonical masks do not "
                "support; use --tokenization any"
            )

    def closure(self, threads: Iterable[int]) -> _Threads:
        """The threads after all forks, in order, each once."""
        found: dict[int, None] = {}
        pending = list(threads)[::-1]
        seen = set()
        while pending:
            pc = pending.pop()
            if pc in seen:
                continue
            seen.add(pc)
            if self.program[pc].op is Op.FORK:
                pending.extend(reversed(self.program[pc].targets))
            else:
                found[pc] = None
        return tuple(found)

    def resolved(self, threads: Iterable[int], atom: int | None) -> _Threads:
        """The threads once it is known what follows: an atom, or the end (None)."""
        pending = list(threads)
        while True:
            for i, pc in enumerate(pending):
                instruction = self.program[pc]
                if instruction.op in (Op.AHEAD, Op.NOT_AHEAD):
                    passes = self.holds(pc, atom) == (instruction.op is Op.AHEAD)
                    after = self.closure(instruction.targets) if passes else ()
                    pending[i : i + 1] = after
                    break
            else:
                return tuple(dict.fromkeys(pending))

    def holds(self, pc: int, atom: int | None) -> bool:
        chars = self.program[pc].chars
        return atom is not None and chars is not None and bool(self.alphabet.members[chars][atom])

    def match_at(self, threads: Sequence[int]) -> int | None:
        """The place of MATCH among resolved threads."""
        places = [i for i, pc in enumerate(threads) if self.program[pc].op is Op.MATCH]
        return places[0] if places else None

    def read(self, threads: Iterable[int], atom: int) -> _Threads:
        """The resolved threads after a character."""
        return self.closure(
            target
            for pc in threads
            if self.program[pc].op is Op.CHAR and self.holds(pc, atom)
            for target in self.program[pc].targets
        )

    def step(self, state: State, label: int, atom: int) -> State | None:
        """The state after a character whose segment is marked ``label``; None if wrong."""
        failing = set(self.resolved(state.failing, atom))
        threads: _Threads | None = None
        ends = None
        if state.threads is not None:
            threads = self.resolved(state.threads, atom)
            ends = self.match_at(threads)
        if label == CONTINUE:
            if state.last < 0:
                return None
            if threads is not None:
                threads = threads if ends is None else threads[:ends]
                if not threads:
                    return None
            kind = state.last
        else:
            if threads is not None:
                if ends is None:
                    return None
                failing.update(threads[:ends])
            elif label == GAP and state.last == GAP:
                return None
            kind = label
            threads = self.resolved(self.entry, atom) if label == MATCH else None
        if kind == GAP:
            failing.update(self.resolved(self.entry, atom))
        if self.match_at(tuple(failing)) is not None:
            return None
        after = None
        if threads is not None:
            after = self.read(threads, atom)
            if not after:
                return None
        still = frozenset(self.read(failing, atom))
        return State(after, still, kind)

    def may_end(self, state: State) -> bool:
        """Whether the guesses hold if the text ends here."""
        if self.match_at(self.resolved(state.failing, None)) is not None:
            return False
        return state.threads is None or (
            self.match_at(self.resolved(state.threads, None)) is not None
        )
