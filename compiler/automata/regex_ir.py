"""The intermediate representation of regular expressions, and functions that build it simplified.

    seq(Lit(b"a"), seq(), Lit(b"b"))  ->  Lit(b"ab")
    optional(optional(x))             ->  optional(x)

No later pass meets a sequence in a sequence or an option of an option. ε is ``Seq(())``, the empty
language ``Alt(())``. Source: "Compiling IR to NFA", with two departures: literals are bytes and may
be empty, and a class holds its code points instead of a pattern to be matched again. ``And``,
``Not``, ``Look`` and ``Around`` are added to it; ``assertions`` turns them into automata before
Thompson's construction.
"""

from collections.abc import Iterable, Iterator, Sequence
from enum import Enum
from typing import TYPE_CHECKING, TypeAlias

from .folding import fold, node_class
from .utf8 import ANY, encodable
from .utf8 import CodePoints as CodePoints
from .utf8 import complement as complement
from .utf8 import normalized as normalized

if TYPE_CHECKING:
    from .nfa import Nfa


@node_class
class Lit:
    """These bytes, one after the other; not empty (that is ``Seq(())``)."""

    data: bytes


@node_class
class CharClass:
    """One character out of ``ranges`` (code points, ascending, disjoint, not adjacent).

    ``kind``: ANY, DIGIT, NOT_DIGIT, WHITESPACE, NOT_WHITESPACE, WORD, NOT_WORD or BRACKET,
    for people who read a drawing.
    """

    ranges: CodePoints
    kind: str = "BRACKET"


@node_class
class ByteClass:
    """One byte out of ``ranges``, whether or not the text is UTF-8 then."""

    ranges: tuple[tuple[int, int], ...]


@node_class
class TokenTerminal:
    """The token with index ``index`` in the grammar's list of token terminals."""

    index: int


@node_class
class Seq:
    """``parts`` one after the other; ε if there are none."""

    parts: tuple["Node", ...]


@node_class
class Alt:
    """One of ``options``; the empty language if there are none."""

    options: tuple["Node", ...]


@node_class
class Repeat:
    """``min_times`` to ``max_times`` (None: any number) times ``node``; ``text`` is how the
    author wrote that, for messages. ``lazy``: a search tries fewer times first, which says
    nothing about the language but something about a lexer; see ``preferred_matches``."""

    node: "Node"
    min_times: int
    max_times: int | None
    text: str = ""
    lazy: bool = False


@node_class
class Optional:
    """``node`` or ε."""

    node: "Node"


@node_class
class Embedded:
    """What a finished automaton accepts."""

    automaton: "Nfa"


@node_class
class And:
    """What all of ``parts`` match; at least two. ``text`` as for ``Repeat``."""

    parts: tuple["Node", ...]
    text: str = ""


@node_class
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


@node_class
class Look:
    """ε where the assertion holds; see ``LookKind``."""

    kind: LookKind


@node_class
class Around:
    """ε where what follows begins with a match of ``node`` (``is_ahead``), or what is before ends
    with one; or where it does not (``is_negative``). The text is as for ``LookKind``. ``place``:
    where it stands in the expression's text."""

    is_ahead: bool
    is_negative: bool
    node: "Node"
    place: int = 0

    @property
    def opening(self) -> str:
        """``(?=``, ``(?!``, ``(?<=`` or ``(?<!``."""
        return f"(?{'' if self.is_ahead else '<'}{'!' if self.is_negative else '='}"


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
    | Around
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
        case Repeat() | Optional() | Not() | Around():
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


EPSILON = Seq(())
NOTHING = Alt(())
ANY_CHARACTER = CharClass(ANY, "ANY")
EVERYTHING = Repeat(ANY_CHARACTER, 0, None)

# In the empty text there is no word, so none begins or ends.
_NEVER_IN_EMPTY = frozenset(
    kind
    for kind in LookKind
    if kind.name.removeprefix("ASCII_") in ("WORD", "WORD_START", "WORD_END")
)


def lit(data: bytes) -> Node:
    """A literal; ε if it is empty."""
    return Lit(data) if data else EPSILON


def char_class(ranges: Iterable[tuple[int, int]], kind: str = "BRACKET") -> Node:
    """A class of code points in any order; one code point alone becomes a literal.

    Surrogates are left out: UTF-8 cannot encode them.
    """
    merged = encodable(normalized(ranges))
    if not merged:
        return NOTHING
    if len(merged) == 1 and merged[0][0] == merged[0][1]:
        return Lit(chr(merged[0][0]).encode("utf-8"))
    return CharClass(merged, kind)


def character_of(node: Node) -> int | None:
    """The code point of a literal that is one character."""
    text = node.data.decode("utf-8", "replace") if isinstance(node, Lit) else ""
    return ord(text) if len(text) == 1 else None


def byte_class(ranges: Iterable[tuple[int, int]]) -> Node:
    """A class of bytes in any order; one byte alone becomes a literal."""
    merged = normalized(ranges)
    if not merged:
        return NOTHING
    if len(merged) == 1 and merged[0][0] == merged[0][1]:
        return Lit(bytes([merged[0][0]]))
    return ByteClass(merged)


def seq(*parts: Node) -> Node:
    """``parts`` in order: sequences inside it unfolded, neighbouring literals joined."""
    flat: list[Node] = []
    # The literals at the end of ``flat``, which stand there as one.
    run: list[bytes] = []
    for part in parts:
        for inner in part.parts if isinstance(part, Seq) else (part,):
            if inner is NOTHING:
                return NOTHING
            if isinstance(inner, Lit):
                run.append(inner.data)
                if len(run) > 1:
                    continue
            elif run:
                if len(run) > 1:
                    flat[-1] = Lit(b"".join(run))
                run = []
            flat.append(inner)
    if len(run) > 1:
        flat[-1] = Lit(b"".join(run))
    return flat[0] if len(flat) == 1 else Seq(tuple(flat)) if flat else EPSILON


def alt(*options: Node) -> Node:
    """One of ``options``: alternations inside it unfolded."""
    flat: list[Node] = []
    for option in options:
        flat.extend(option.options if isinstance(option, Alt) else (option,))
    return flat[0] if len(flat) == 1 else Alt(tuple(flat)) if flat else NOTHING


def optional(node: Node) -> Node:
    """``node`` or ε."""
    if node is NOTHING or node is EPSILON or (isinstance(node, Seq) and not node.parts):
        return EPSILON
    if isinstance(node, Optional) or (isinstance(node, Repeat) and node.min_times == 0):
        return node
    return Optional(node)


def repeat(
    node: Node, min_times: int, max_times: int | None, text: str = "", *, lazy: bool = False
) -> Node:
    """``node`` repeated. Raises ``ValueError`` if ``max_times`` is below ``min_times``."""
    if min_times < 0 or (max_times is not None and max_times < min_times):
        raise ValueError(f"cannot repeat from {min_times} to {max_times} times")
    if (isinstance(node, Seq) and not node.parts) or max_times == 0:
        return EPSILON
    if node is NOTHING:
        return NOTHING if min_times else EPSILON
    if (min_times, max_times) == (1, 1):
        return node
    if lazy and min_times != max_times:
        return Repeat(node, min_times, max_times, text, lazy=True)
    if _is_star(node):
        return node
    if (min_times, max_times) == (0, 1):
        return optional(node)
    return Repeat(node, min_times, max_times, text)


def intersection(*parts: Node, text: str = "") -> Node:
    """What all of ``parts`` (at least one) match: intersections inside it unfolded."""
    flat: dict[int, Node] = {}
    for part in parts:
        for inner in part.parts if isinstance(part, And) else (part,):
            flat[id(inner)] = inner
    if any(part is NOTHING for part in flat.values()):
        return NOTHING
    return parts[0] if len(flat) == 1 else And(tuple(flat.values()), text)


def negation(node: Node, text: str = "") -> Node:
    """The texts of valid UTF-8 that ``node`` does not match.

    ``negation(NOTHING) -> any character, any number of times``
    """
    if node is NOTHING:
        return EVERYTHING
    # ~~x may be less than x, which may match more than UTF-8; ~~~x is ~x all the same.
    if isinstance(node, Not) and isinstance(node.node, Not):
        return node.node
    return Not(node, text)


def with_parts(node: Node, parts: Sequence[Node]) -> Node:
    """A node with other nodes inside, in as small a form; one without any as it is."""
    match node:
        case Seq():
            return seq(*parts)
        case Alt():
            return alt(*parts)
        case Repeat(_, low, high, text):
            return repeat(parts[0], low, high, text, lazy=node.lazy)
        case Optional():
            return optional(parts[0])
        case And():
            return intersection(*parts, text=node.text)
        case Not():
            return negation(parts[0], node.text)
        case Around():
            return Around(node.is_ahead, node.is_negative, parts[0], node.place)
        case _:
            return node


def _is_star(node: Node) -> bool:
    if not isinstance(node, Repeat) or node.lazy:
        return False
    return node.min_times == 0 and node.max_times is None


def looks(node: Node) -> bool:
    """Whether an assertion is inside."""
    return any(isinstance(part, Look | Around) for part in walk(node))


def looks_around(node: Node) -> bool:
    """Whether a look-ahead or look-behind is inside."""
    return any(isinstance(part, Around) for part in walk(node))


def outside_looks(node: Node) -> list[str]:
    """How the look-around and the assertions are written that may find something outside of the
    text of ``node``. ``^`` and ``$`` do not: they are its edges."""
    edges = LookKind.START_TEXT, LookKind.END_TEXT
    return [
        f"{part.opening}…)" if isinstance(part, Around) else part.kind.value
        for part in walk(node)
        if isinstance(part, Around) or (isinstance(part, Look) and part.kind not in edges)
    ]


def has_lazy(node: Node) -> bool:
    """Whether a repetition inside prefers fewer times."""
    return any(isinstance(part, Repeat) and part.lazy for part in walk(node))


def without_outer_anchors(node: Node) -> Node:
    """``^abc$|^d -> abc|d``: at the ends of a whole expression these always hold."""
    options = node.options if isinstance(node, Alt) else (node,)
    return alt(*map(_without_outer_anchors, options))


def _without_outer_anchors(node: Node) -> Node:
    parts = list(node.parts) if isinstance(node, Seq) else [node]
    while parts and isinstance(parts[0], Look) and parts[0].kind is LookKind.START_TEXT:
        del parts[0]
    while parts and isinstance(parts[-1], Look) and parts[-1].kind is LookKind.END_TEXT:
        del parts[-1]
    return seq(*parts)


def is_nullable(node: Node) -> bool:
    """Whether ``node`` matches ε, as a whole text."""
    return id(node) in nullable_inside(node)


def nullable_inside(node: Node) -> set[int]:
    """The ``id`` of each node in ``node``, itself included, that matches ε."""
    found: set[int] = set()

    def note(current: Node, inside: list[bool]) -> bool:
        match current:
            case Seq() | And():
                nullable = all(inside)
            case Alt():
                nullable = any(inside)
            case Repeat():
                nullable = current.min_times == 0 or inside[0]
            case Embedded(automaton):
                closure = automaton.epsilon_closure({automaton.start})
                nullable = not automaton.finals.isdisjoint(closure)
            case Not():
                nullable = not inside[0]
            case Look():
                nullable = current.kind not in _NEVER_IN_EMPTY
            case Around():
                nullable = inside[0] != current.is_negative
            case _:
                nullable = isinstance(current, Optional)
        if nullable:
            found.add(id(current))
        return nullable

    fold(node, parts_of, note)
    return found
