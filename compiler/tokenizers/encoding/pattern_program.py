r"""From a pre-tokenizer's pattern to an ordered program, that of a Thompson or Pike machine.

A pattern is an ordered regex: the first alternative that matches is taken, and repetitions take as
much as they can (lazy ones as little). The threads of the program are ordered in the same way: the
first that reaches ``MATCH`` is the match that a backtracking matcher finds.

    ``ab?``  ->  0: CHAR a   1: FORK 2, 3   2: CHAR b   3: MATCH

Supported is what pre-tokenizers use: sets of characters, groups, ``(?i:…)``, counts, possessive
ones of one set, and looks at one character: ``(?!\S)``, ``(?<=…)``, and all anchors (``patterns``).
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum

from ...diagnostics import TokenizerError
from .patterns import Item, check_pattern, compile_pattern, items, shown

# The largest count of a repetition: larger ones make programs too long.
_MAX_COPIES = 1000


@dataclass(frozen=True, slots=True)
class CharSet:
    """A set of characters as a pattern for one of them, as in ``\\p{L}`` or ``[^a]``."""

    pattern: str
    ignore_case: bool = False

    @property
    def pattern_of_one(self) -> str:
        """A pattern that matches one character of the set."""
        return f"(?i:{self.pattern})" if self.ignore_case else f"(?:{self.pattern})"

    def holds(self, char: str) -> bool:
        """Whether a character is in the set."""
        return compile_pattern(self.pattern_of_one).fullmatch(char) is not None


class Op(Enum):
    """What an instruction does.

    CHAR: read a character of the set. FORK: go on at both targets, the first one preferred.
    AHEAD, NOT_AHEAD: go on if a character of the set follows, or does not. BEHIND, NOT_BEHIND: the
    same of the character before. MATCH: done.
    """

    CHAR = "char"
    FORK = "fork"
    AHEAD = "ahead"
    NOT_AHEAD = "not ahead"
    BEHIND = "behind"
    NOT_BEHIND = "not after"
    MATCH = "match"


_LOOKS = {"(?=": Op.AHEAD, "(?!": Op.NOT_AHEAD, "(?<=": Op.BEHIND, "(?<!": Op.NOT_BEHIND}


@dataclass(frozen=True, slots=True)
class Instruction:
    """One step. ``targets``: of a FORK two, of others that go on one."""

    op: Op
    chars: CharSet | None = None
    targets: tuple[int, ...] = ()


Program = tuple[Instruction, ...]


@dataclass(slots=True)
class Node:
    """A parsed subpattern: a ``set``, a ``look`` at one (``op``), or one of ``sequence``,
    ``either`` and ``repeat`` of ``parts``."""

    kind: str
    chars: CharSet | None = None
    op: Op = Op.CHAR
    parts: "list[Node]" = field(default_factory=list)
    least: int = 0
    most: int | None = None
    is_lazy: bool = False


def compile_program(pattern: str) -> Program:
    """The program of a pattern. Raises ``TokenizerError`` naming what is not supported."""
    code: list[Instruction] = []
    _emit(parsed(pattern), code)
    code.append(Instruction(Op.MATCH))
    return tuple(code)


def parsed(pattern: str) -> Node:
    """The tree of a pattern. Raises ``TokenizerError`` naming what is not supported."""
    check_pattern(pattern)
    return _Parser(pattern).alternatives(False)


class _Parser:
    """Recursive descent over the items of a pattern that ``check_pattern`` has accepted."""

    def __init__(self, pattern: str) -> None:
        self.pattern, self.place = pattern, 0
        self.items = list(items(pattern))

    def error(self, what: str) -> TokenizerError:
        return TokenizerError(
            f"the tokenizer's pattern {shown(self.pattern)} has {what}, which canonical masks do "
            f"not support; use --tokenization any"
        )

    def peek(self, *kinds: Item) -> bool:
        return self.place < len(self.items) and self.items[self.place][0] in kinds

    def take(self) -> str:
        self.place += 1
        return self.items[self.place - 1][1]

    def alternatives(self, ignore_case: bool) -> Node:
        parts = [self.sequence(ignore_case)]
        while self.peek(Item.OR):
            self.take()
            parts.append(self.sequence(ignore_case))
        return parts[0] if len(parts) == 1 else Node("either", parts=parts)

    def sequence(self, ignore_case: bool) -> Node:
        parts = []
        while self.place < len(self.items) and not self.peek(Item.OR, Item.CLOSE):
            parts.append(self.counted(self.atom(ignore_case)))
        return parts[0] if len(parts) == 1 else Node("sequence", parts=parts)

    def counted(self, node: Node) -> Node:
        if not self.peek(Item.QUANTIFIER):
            return node
        sign = self.take()
        if sign[0] == "{":
            low, comma, high = sign[1:-1].partition(",")
            least, most = int(low), int(high) if high else None if comma else int(low)
            if max(least, most or 0) > _MAX_COPIES:
                raise self.error(f"a count above {_MAX_COPIES}")
        else:
            least, most = int(sign[0] == "+"), 1 if sign[0] == "?" else None
        if self.peek(Item.QUANTIFIER) or node.kind == "look":
            raise self.error(f"a repetition {sign!r} of what is no text, or of another")
        found = Node("repeat", parts=[node], least=least, most=most, is_lazy=sign[1:] == "?")
        return self.possessive(found) if sign[1:] == "+" else found

    def atom(self, ignore_case: bool) -> Node:
        if not self.peek(Item.OPEN):
            return Node("set", CharSet(self.take(), ignore_case))
        opening = self.take()
        inner = self.alternatives(ignore_case or opening == "(?i:")
        self.take()
        if opening in _LOOKS:
            if inner.kind != "set":
                raise self.error(f"a look {opening!r} at more than one character")
            return Node("look", inner.chars, op=_LOOKS[opening])
        return self.possessive(inner) if opening == "(?>" else inner

    def possessive(self, node: Node) -> Node:
        """What gives nothing back once it has matched: of one set, repeated, as many as there are.

        ``a{1,3}+  ->  a{3}|a{1,2}(?!a)``
        """
        if node.kind == "set":
            return node
        if node.kind != "repeat" or node.parts[0].kind != "set" or node.is_lazy:
            raise self.error("a possessive repetition of more than one character")
        most, chars = node.most, node.parts[0].chars
        none_left = Node("look", chars, op=Op.NOT_AHEAD)
        fewer = replace(node, most=None if most is None else max(node.least, most - 1))
        ended = Node("sequence", parts=[fewer, none_left])
        if most is None:
            return ended
        whole = replace(node, least=most)
        return whole if node.least == most else Node("either", parts=[whole, ended])


def _emit(node: Node, code: list[Instruction]) -> None:
    """Append the code of ``node``; it goes on after its last instruction.

    ``check_pattern`` bounds the brackets, and with them the recursion, and the copies.
    """
    match node.kind:
        case "set" | "look":
            code.append(Instruction(node.op, node.chars, (len(code) + 1,)))
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


def _emit_repeat(node: Node, code: list[Instruction]) -> None:
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
        targets = (fork + 1, len(code))
        code[fork] = Instruction(Op.FORK, None, targets[::-1] if node.is_lazy else targets)


def ends(starts: Iterable[int], onward: Callable[[int], Sequence[int] | None]) -> tuple[int, ...]:
    """The instructions from which nothing leads ``onward`` (None), depth first from some on, each
    once."""
    found: dict[int, None] = {}
    pending, seen = list(starts)[::-1], set[int]()
    while pending:
        place = pending.pop()
        if place in seen:
            continue
        seen.add(place)
        following = onward(place)
        if following is None:
            found[place] = None
        else:
            pending.extend(reversed(following))
    return tuple(found)


def sets_of(program: Program) -> Iterator[CharSet]:
    """The sets of characters that a program's instructions look at."""
    for instruction in program:
        if instruction.chars is not None:
            yield instruction.chars
