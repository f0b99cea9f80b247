"""From a pre-tokenizer's pattern to the automaton of its boundaries: which marking is its own.

    pattern  ->  compile_program: an ordered program  ->  boundary_automaton: a DFA over marks

A pattern is an ordered regex: the first alternative that matches is taken, and repetitions take as
much as they can. The program is that of a Thompson or Pike machine, whose threads are ordered: the
first that reaches ``MATCH`` is the match that a backtracking matcher finds.

    ``ab?``  ->  0: CHAR a   1: FORK 2, 3   2: CHAR b   3: MATCH

Supported is what pre-tokenizers use: sets of characters, groups, ``(?i:…)``, greedy counts, and a
look at one character ahead, ``(?!\\S)`` or ``(?=…)``.

Whether a match ends at a place depends on the text behind it, so the automaton over marked
characters guesses and verifies. A state is (ordered threads of the current match, threads that must
fail). Where the symbol says that

    a pre-token starts (mark 1) and the match ends:  the threads before MATCH would have been
        preferred, so they must fail from now on; those behind it are dropped
    none starts (mark 0) though the match could end: a thread before MATCH must match later; the
        others are dropped
    a thread that must fail reaches MATCH:           the guess was wrong

Text between two matches is a *gap*: at each of its characters all threads must fail. The subset
construction of all guesses gives a DFA that accepts exactly one marking of each text.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import TypeAlias

from ..diagnostics import TokenizerError
from ..tokenizers.definition import Behaviour, Split
from ..tokenizers.patterns import check_pattern
from .character_classes import Alphabet, CharSet
from .marked_dfa import MarkedDfa, subset_automaton

CONTINUE, MATCH, GAP = range(3)

_Threads: TypeAlias = tuple[int, ...]

# The largest count of a repetition: larger ones make programs too long.
_MAX_COPIES = 1000


class Op(Enum):
    """What an instruction does.

    CHAR: read a character of the set. FORK: go on at both targets, the first one preferred.
    AHEAD, NOT_AHEAD: go on if a character of the set follows, or does not. MATCH: done.
    """

    CHAR = "char"
    FORK = "fork"
    AHEAD = "ahead"
    NOT_AHEAD = "not ahead"
    MATCH = "match"


@dataclass(frozen=True, slots=True)
class Instruction:
    """One step. ``targets``: of a FORK two, of others that go on one."""

    op: Op
    chars: CharSet | None = None
    targets: tuple[int, ...] = ()


Program = tuple[Instruction, ...]


@dataclass(slots=True)
class _Node:
    """A parsed subpattern: a set, or ``kind`` applied to ``parts``."""

    kind: str
    chars: CharSet | None = None
    parts: "list[_Node]" = field(default_factory=list)
    least: int = 0
    most: int | None = None


def compile_program(pattern: str) -> Program:
    """The program of a pattern. Raises ``TokenizerError`` naming what is not supported."""
    check_pattern(pattern)
    parser = _Parser(pattern)
    tree = parser.alternatives(False)
    if parser.place < len(parser.pattern):
        raise parser.error("an unmatched ')'")
    code: list[Instruction] = []
    _emit(tree, code)
    code.append(Instruction(Op.MATCH))
    return tuple(code)


class _Parser:
    """Recursive descent over a pattern that ``check_pattern`` has accepted."""

    def __init__(self, pattern: str) -> None:
        self.pattern, self.place = pattern, 0

    def error(self, what: str) -> TokenizerError:
        return TokenizerError(
            f"the tokenizer's pattern {self.pattern!r} has {what} at character {self.place}, "
            f"which canonical masks do not support; use --tokenization any"
        )

    def peek(self, text: str) -> bool:
        return self.pattern.startswith(text, self.place)

    def take(self, text: str) -> bool:
        found = self.peek(text)
        if found:
            self.place += len(text)
        return found

    def alternatives(self, ignore_case: bool) -> _Node:
        parts = [self.sequence(ignore_case)]
        while self.take("|"):
            parts.append(self.sequence(ignore_case))
        return parts[0] if len(parts) == 1 else _Node("either", parts=parts)

    def sequence(self, ignore_case: bool) -> _Node:
        parts = []
        while self.place < len(self.pattern) and not self.peek("|") and not self.peek(")"):
            parts.append(self.counted(self.atom(ignore_case)))
        return _Node("sequence", parts=parts)

    def counted(self, node: _Node) -> _Node:
        least: int
        most: int | None
        if self.take("?"):
            least, most = 0, 1
        elif self.take("*"):
            least, most = 0, None
        elif self.take("+"):
            least, most = 1, None
        elif not self.take("{"):
            return node
        else:
            end = self.pattern.find("}", self.place)
            low, comma, high = self.pattern[self.place : end].partition(",")
            if end < 0 or not low.isdecimal() or not (high or "0").isdecimal():
                raise self.error("a '{' that is no count")
            least, most = int(low), int(high) if high else None if comma else int(low)
            if max(least, most or 0) > _MAX_COPIES:
                raise self.error(f"a count above {_MAX_COPIES}")
            self.place = end + 1
        if self.peek("?") or self.peek("+") or self.peek("*") or node.kind == "look":
            raise self.error("a lazy, possessive or doubled repetition")
        return _Node("repeat", parts=[node], least=least, most=most)

    def atom(self, ignore_case: bool) -> _Node:
        if self.take("(?:"):
            return self.group(ignore_case)
        if self.take("(?i:"):
            return self.group(True)
        for sign, kind in (("(?!", Op.NOT_AHEAD), ("(?=", Op.AHEAD)):
            if self.take(sign):
                inner = self.group(ignore_case)
                while inner.kind == "sequence" and len(inner.parts) == 1:
                    inner = inner.parts[0]
                if inner.kind != "set":
                    raise self.error("a look ahead at more than one character")
                return _Node("look", inner.chars, [inner] if kind is Op.AHEAD else [])
        if self.peek("(?") or any(self.peek(sign) for sign in "^$*+?{"):
            raise self.error(repr(self.pattern[self.place : self.place + 3]))
        if self.take("("):
            return self.group(ignore_case)
        return _Node("set", CharSet(self.one_set(), ignore_case))

    def group(self, ignore_case: bool) -> _Node:
        inner = self.alternatives(ignore_case)
        if not self.take(")"):
            raise self.error("a group without its end")
        return inner

    def one_set(self) -> str:
        """The text of a class, an escape, a dot or a literal, as it stands."""
        start = self.place
        if self.take("["):
            self.take("^")
            self.take("]")
            while not self.take("]"):
                if self.place >= len(self.pattern) or self.peek("[") or self.peek("&&"):
                    raise self.error("a class that is not closed, or is nested")
                self.escape() if self.peek("\\") else self.skip()
            return self.pattern[start : self.place]
        if self.peek("\\"):
            return self.escape()
        self.skip()
        char = self.pattern[start]
        return r"[^\n]" if char == "." else f"\\{char}" if not char.isalnum() else char

    def skip(self) -> None:
        self.place += 1

    def escape(self) -> str:
        start = self.place
        self.skip()
        letter = self.pattern[self.place : self.place + 1]
        self.skip()
        if (letter in "pP" and letter and self.peek("{")) or (letter == "x" and self.peek("{")):
            self.place = self.pattern.find("}", self.place) + 1 or len(self.pattern)
        elif letter and letter in "xu":
            self.place += 2 if letter == "x" else 4
        elif not letter or (letter not in "nrtfvsSdDwW" and letter.isalnum()):
            self.place = start
            raise self.error(f"the escape {self.pattern[start : start + 2]!r}")
        return self.pattern[start : self.place]


def _emit(node: _Node, code: list[Instruction]) -> None:
    """Append the code of ``node``; it goes on behind its last instruction.

    ``check_pattern`` bounds the brackets, and with them the recursion, and the copies.
    """
    match node.kind:
        case "set":
            code.append(Instruction(Op.CHAR, node.chars, (len(code) + 1,)))
        case "look":
            op = Op.AHEAD if node.parts else Op.NOT_AHEAD
            code.append(Instruction(op, node.chars, (len(code) + 1,)))
        case "sequence":
            for part in node.parts:
                _emit(part, code)
        case "either":
            jumps = []
            for part in node.parts[:-1]:
                fork = len(code)
                code.append(Instruction(Op.FORK))
                _emit(part, code)
                jumps.append(len(code))
                code.append(Instruction(Op.FORK))
                code[fork] = Instruction(Op.FORK, None, (fork + 1, len(code)))
            _emit(node.parts[-1], code)
            for jump in jumps:
                code[jump] = Instruction(Op.FORK, None, (len(code),))
        case _:
            _emit_repeat(node, code)


def _emit_repeat(node: _Node, code: list[Instruction]) -> None:
    for _ in range(node.least):
        _emit(node.parts[0], code)
    forks = []
    for _ in range((node.most or node.least) - node.least) if node.most is not None else (0,):
        forks.append(len(code))
        code.append(Instruction(Op.FORK))
        _emit(node.parts[0], code)
    if node.most is None:
        code.append(Instruction(Op.FORK, None, (forks[0],)))
    for fork in forks:
        code[fork] = Instruction(Op.FORK, None, (fork + 1, len(code)))


def sets_of(program: Program) -> Iterator[CharSet]:
    """The sets of characters that a program's instructions look at."""
    for instruction in program:
        if instruction.chars is not None:
            yield instruction.chars


@dataclass(frozen=True, slots=True)
class State:
    """A state of the guessing automaton.

    ``threads``: of the current match, in order; None inside a gap and at the start. ``failing``:
    threads that must not reach MATCH. ``last``: the kind of the current segment, MATCH or GAP, -1
    at the start.
    """

    threads: _Threads | None
    failing: frozenset[int]
    last: int


def boundary_automaton(split: Split, program: Program, alphabet: Alphabet) -> MarkedDfa:
    """The automaton of one splitting step over the atoms of ``alphabet``.

    ``program``: of the step's pattern. Raises ``TokenizerError`` if it matches the empty text or
    needs too many states.
    """
    machine = Machine(program, alphabet)
    start = State(None, frozenset(), -1)

    def successors(state: State, mark: int, atom: int) -> Iterable[State]:
        for label in (CONTINUE, MATCH, GAP):
            boundary = _is_boundary(split, state.last, label)
            if boundary == bool(mark):
                target = machine.step(state, label, atom)
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
        self.entry = self.closure([0])
        if any(program[pc].op is Op.MATCH for pc in self.resolved(self.entry, None)):
            raise TokenizerError(
                "a pattern of the tokenizer matches the empty text, which canonical masks do not "
                "support; use --tokenization any"
            )

    def closure(self, threads: Iterable[int]) -> _Threads:
        """The threads behind all forks, in order, each once (the ε-closure)."""
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
        """The threads behind all looks ahead, given what follows: an atom, or the end (None)."""
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
        """Whether the set of an instruction holds an atom; no set holds the end (None)."""
        chars = self.program[pc].chars
        return atom is not None and chars is not None and bool(self.alphabet.members[chars][atom])

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
