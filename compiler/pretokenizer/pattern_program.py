"""The pattern of a pre-tokenizer as a small program over sets of characters.

A pattern is an ordered regex: the first alternative that matches wins, repetitions take as
much as they can. The program is that of a Thompson or Pike machine: its threads are ordered,
the first one that reaches ``MATCH`` is the match that a backtracking matcher finds.

    ``ab?``  ->  0: CHAR a   1: FORK 2, 3   2: CHAR b   3: MATCH

Supported is what pre-tokenizers use: sets of characters, groups, ``(?i:…)``, greedy counts,
and a look at one character ahead, ``(?!\\S)`` or ``(?=…)``.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum

from ..diagnostics import TokenizerError
from ..tokenizers.patterns import check_pattern

# A count beyond this makes programs too long.
_MOST_COPIES = 1000


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
class CharSet:
    """A set of characters as a pattern for one of them, as in ``\\p{L}`` or ``[^a]``."""

    pattern: str
    ignore_case: bool = False

    @property
    def pattern_of_one(self) -> str:
        """A pattern that matches one character of the set."""
        return f"(?i:{self.pattern})" if self.ignore_case else f"(?:{self.pattern})"


@dataclass(frozen=True, slots=True)
class Instruction:
    """One step. ``targets``: of a FORK two, of others that go on one."""

    op: Op
    chars: CharSet | None = None
    targets: tuple[int, ...] = ()


Program = tuple[Instruction, ...]


@dataclass(slots=True)
class _Node:
    """A parsed piece: a set, or ``kind`` applied to ``parts``."""

    kind: str
    chars: CharSet | None = None
    parts: "list[_Node]" = field(default_factory=list)
    least: int = 0
    most: int | None = None


def compile_pattern(pattern: str) -> Program:
    """Parse and translate. Raises ``TokenizerError`` naming what is not supported."""
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
            if max(least, most or 0) > _MOST_COPIES:
                raise self.error(f"a count above {_MOST_COPIES}")
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
            exits = []
            for part in node.parts[:-1]:
                fork = len(code)
                code.append(Instruction(Op.FORK))
                _emit(part, code)
                exits.append(len(code))
                code.append(Instruction(Op.FORK))
                code[fork] = Instruction(Op.FORK, None, (fork + 1, len(code)))
            _emit(node.parts[-1], code)
            for jump in exits:
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
    """The sets that a program looks at."""
    for instruction in program:
        if instruction.chars is not None:
            yield instruction.chars
