"""From a pre-tokenizer's program to the automaton of its boundaries: which marking is its own.

    pattern  ->  pattern_program.py: an ordered program  ->  boundary_automaton: a DFA over marks

Whether a match ends at a place depends on the text after it, so the automaton over marked
characters guesses and verifies. A state is (ordered threads of the current match, threads that must
fail, and what the program's looks behind see). Where the symbol says that

    a pre-token starts (mark 1) and the match ends:  the threads before MATCH would have been
        preferred, so they must fail from now on; those after it are dropped
    none starts (mark 0) though the match could end: a thread before MATCH must match later; the
        others are dropped
    a thread that must fail reaches MATCH:           the guess was wrong

Text between two matches is a *gap*: at each of its characters all threads must fail. The subset
construction of all guesses gives a DFA that accepts exactly one marking of each text.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product
from typing import TypeAlias

from constrain.artifacts.tokens.memo import memoised

from ..diagnostics import TokenizerError
from ..tokenizers.definition import Behaviour, Split
from ..tokenizers.encoding.pattern_program import Op, Program, ends
from .character_classes import Alphabet
from .marked_dfa import MarkedDfa, subset_automaton

CONTINUE, MATCH, GAP = range(3)

_Threads: TypeAlias = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class State:
    """A state of the guessing automaton.

    ``threads``: of the current match, in order; None inside a gap and at the start. ``failing``:
    threads that must not reach MATCH. ``last``: the kind of the current segment, MATCH or GAP, -1
    at the start. ``behind``: the instructions that look behind and find their set there.
    """

    threads: _Threads | None
    failing: frozenset[int]
    last: int
    behind: frozenset[int] = frozenset()


def boundary_automaton(split: Split, program: Program, alphabet: Alphabet) -> MarkedDfa:
    """The automaton of one splitting step over the atoms of ``alphabet``.

    ``program``: of the step's pattern. Raises ``TokenizerError`` if it matches the empty text or
    needs too many states.
    """
    machine = Machine(program, alphabet)
    start = State(None, frozenset(), -1)
    step = cache(machine.step)

    def successors(state: State, mark: int, atom: int) -> Iterable[State]:
        for label in (CONTINUE, MATCH, GAP):
            boundary = _is_boundary(split, state.last, label)
            if boundary == bool(mark):
                target = step(state, label, atom)
                if target is not None:
                    yield target

    return subset_automaton(start, successors, machine.may_end, alphabet.count)


def _is_boundary(split: Split, last: int, label: int) -> bool | None:
    """Whether a pre-token starts with a segment of kind ``label`` after one of kind ``last``.

    None if the text of that segment would be dropped: such a text is not spelled by its tokens.
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
    """Steps the states of one pattern by (kind of segment, atom); a wrong guess leads to None."""

    def __init__(self, program: Program, alphabet: Alphabet) -> None:
        self.program, self.alphabet = program, alphabet
        # By instruction the atoms that its set holds.
        self._held: list[list[bool]] = [
            alphabet.members[found.chars].tolist() if found.chars is not None else []
            for found in program
        ]
        self.entry = self.closure([0])
        looks = [pc for pc, found in enumerate(program) if found.op in (Op.BEHIND, Op.NOT_BEHIND)]
        # By atom the looks behind that find it.
        self.behind = [
            frozenset(pc for pc in looks if self.holds(pc, atom)) for atom in range(alphabet.count)
        ]
        around = product({frozenset[int](), *self.behind}, (None, *range(1, alphabet.count)))
        if any(self.match_at(self.resolved(self.entry, *each)) is not None for each in around):
            raise TokenizerError(
                "a pattern of the tokenizer matches the empty text, which canonical masks do not "
                "support; use --tokenization any"
            )

    def closure(self, threads: Iterable[int]) -> _Threads:
        """The threads after all forks, in order, each once (the ε-closure)."""

        def onward(pc: int) -> tuple[int, ...] | None:
            return self.program[pc].targets if self.program[pc].op is Op.FORK else None

        return ends(threads, onward)

    @memoised
    def resolved(
        self, threads: _Threads | frozenset[int], behind: frozenset[int], atom: int | None
    ) -> _Threads:
        """The threads after all looks, given those that find what they look for before, and what
        follows: an atom, or the end (None)."""

        def onward(pc: int) -> tuple[int, ...] | None:
            match self.program[pc].op:
                case Op.AHEAD | Op.NOT_AHEAD as op:
                    passes = self.holds(pc, atom) == (op is Op.AHEAD)
                case Op.BEHIND | Op.NOT_BEHIND as op:
                    passes = (pc in behind) == (op is Op.BEHIND)
                case _:
                    return None
            return self.closure(self.program[pc].targets) if passes else ()

        return ends(threads, onward)

    def holds(self, pc: int, atom: int | None) -> bool:
        """Whether the set of an instruction holds an atom; no set holds the end (None)."""
        return atom is not None and bool(self._held[pc]) and self._held[pc][atom]

    def match_at(self, threads: Sequence[int]) -> int | None:
        """The index of the first MATCH among resolved threads, None if there is none."""
        places = [i for i, pc in enumerate(threads) if self.program[pc].op is Op.MATCH]
        return places[0] if places else None

    def read(self, threads: Iterable[int], atom: int) -> _Threads:
        """The threads after a character, from resolved ones."""
        return self.closure(
            target
            for pc in threads
            if self.program[pc].op is Op.CHAR and self.holds(pc, atom)
            for target in self.program[pc].targets
        )

    def step(self, state: State, label: int, atom: int) -> State | None:
        """The state after a character, None if the guess is wrong.

        ``label``: CONTINUE, the character goes on with the current segment; MATCH or GAP, it
        starts a segment of that kind.
        """
        failing = set(self.resolved(state.failing, state.behind, atom))
        entry = self.resolved(self.entry, state.behind, atom)
        threads: _Threads | None = None
        ends = None
        if state.threads is not None:
            threads = self.resolved(state.threads, state.behind, atom)
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
            threads = entry if label == MATCH else None
        if kind == GAP:
            failing.update(entry)
        if self.match_at(tuple(failing)) is not None:
            return None
        after = None
        if threads is not None:
            after = self.read(threads, atom)
            if not after:
                return None
        still = frozenset(self.read(failing, atom))
        return State(after, still, kind, self.behind[atom])

    def may_end(self, state: State) -> bool:
        """Whether the guesses hold if the text ends here."""
        if self.match_at(self.resolved(state.failing, state.behind, None)) is not None:
            return False
        return state.threads is None or (
            self.match_at(self.resolved(state.threads, state.behind, None)) is not None
        )
