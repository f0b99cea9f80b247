"""The nodes of the intermediate representation; ``regex`` builds them simplified."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, TypeAlias

from .code_points import CodePoints

if TYPE_CHECKING:
    from .nfa import Nfa


@dataclass(frozen=True, slots=True, eq=False)
class Lit:
    """These bytes, one after the other; not empty (that is ``Seq(())``)."""

    data: bytes


@dataclass(frozen=True, slots=True, eq=False)
class CharClass:
    """One character out of ``ranges`` (code points, ascending, disjoint, not adjacent).

    ``kind``: ANY, DIGIT, NOT_DIGIT, WHITESPACE, NOT_WHITESPACE, WORD, NOT_WORD or BRACKET,
    for people who read a drawing.
    """

    ranges: CodePoints
    kind: str = "BRACKET"


@dataclass(frozen=True, slots=True, eq=False)
class ByteClass:
    """One byte out of ``ranges``, whether or not the text is UTF-8 then."""

    ranges: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True, eq=False)
class TokenTerminal:
    """The token with index ``index`` in the grammar's list of token terminals."""

    index: int


@dataclass(frozen=True, slots=True, eq=False)
class Seq:
    """``parts`` one after the other; ε if there are none."""

    parts: tuple["Node", ...]


@dataclass(frozen=True, slots=True, eq=False)
class Alt:
    """One of ``options``; the empty language if there are none."""

    options: tuple["Node", ...]


@dataclass(frozen=True, slots=True, eq=False)
class Repeat:
    """``min_times`` to ``max_times`` (None: any number) times ``node``; ``text`` is how the
    author wrote that, for messages."""

    node: "Node"
    min_times: int
    max_times: int | None
    text: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Optional:
    """``node`` or ε."""

    node: "Node"


@dataclass(frozen=True, slots=True, eq=False)
class Embedded:
    """What a finished automaton accepts."""

    automaton: "Nfa"


@dataclass(frozen=True, slots=True, eq=False)
class And:
    """What all of ``parts`` match; at least two. ``text`` as for ``Repeat``."""

    parts: tuple["Node", ...]
    text: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Not:
    """The texts of valid UTF-8, and none else, that ``node`` does not match. ``text`` as for
    ``Repeat``."""

    node: "Node"
    text: str = ""


class LookKind(Enum):
    """What an assertion asks of the characters on both sides of its place.

    Lines end with a line feed, or for the kinds with CRLF with CR LF, a CR or an LF. Words are
    those of Unicode, or of ASCII. The text is all that the whole expression matches, so ``\\A``
    holds where nothing is read before.
    """

    START_TEXT = r"\A"
    END_TEXT = r"\z"
    START_LINE = "(?m:^)"
    END_LINE = "(?m:$)"
    START_CRLF_LINE = "(?mR:^)"
    END_CRLF_LINE = "(?mR:$)"
    WORD = r"\b"
    NOT_WORD = r"\B"
    WORD_START = r"\b{start}"
    WORD_END = r"\b{end}"
    WORD_START_HALF = r"\b{start-half}"
    WORD_END_HALF = r"\b{end-half}"
    ASCII_WORD = r"(?a:\b)"
    ASCII_NOT_WORD = r"(?a:\B)"
    ASCII_WORD_START = r"(?a:\b{start})"
    ASCII_WORD_END = r"(?a:\b{end})"
    ASCII_WORD_START_HALF = r"(?a:\b{start-half})"
    ASCII_WORD_END_HALF = r"(?a:\b{end-half})"


@dataclass(frozen=True, slots=True, eq=False)
class Look:
    """ε where the assertion holds; see ``LookKind``."""

    kind: LookKind


Node: TypeAlias = (
    Lit
    | CharClass
    | ByteClass
    | TokenTerminal
    | Seq
    | Alt
    | Repeat
    | Optional
    | Embedded
    | And
    | Not
    | Look
)


def parts_of(node: Node) -> tuple[Node, ...]:
    """The nodes directly inside one."""
    match node:
        case Seq():
            return node.parts
        case Alt():
            return node.options
        case And():
            return node.parts
        case Repeat() | Optional() | Not():
            return (node.node,)
        case _:
            return ()


def walk(node: Node) -> Iterator[Node]:
    """``node`` and all nodes inside it, each once."""
    seen = {id(node)}
    pending = [node]
    while pending:
        current = pending.pop()
        yield current
        for part in parts_of(current):
            if id(part) not in seen:
                seen.add(id(part))
                pending.append(part)
