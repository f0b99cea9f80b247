"""The intermediate representation of a regular expression.

Seven kinds of node; the functions in lower case build them simplified, so that no later
pass meets a sequence in a sequence or an option of an option:

    seq(Lit(b"a"), seq(), Lit(b"b"))  ->  Lit(b"ab")
    optional(optional(x))             ->  optional(x)

ε is ``Seq(())``, the empty language ``Alt(())``. Source: "Compiling IR to NFA", with two
departures: literals are bytes and may be empty, and a class holds its code points
instead of a pattern to be matched again.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

from .utf8 import MAX_CODE_POINT, SURROGATES

if TYPE_CHECKING:
    from .nfa import Nfa

CodePoints: TypeAlias = tuple[tuple[int, int], ...]


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
    """``min_times`` to ``max_times`` (None: any number) times ``node``."""

    node: "Node"
    min_times: int
    max_times: int | None


@dataclass(frozen=True, slots=True, eq=False)
class Optional:
    """``node`` or ε."""

    node: "Node"


@dataclass(frozen=True, slots=True, eq=False)
class Embedded:
    """What a finished automaton accepts."""

    automaton: "Nfa"


Node: TypeAlias = Lit | CharClass | TokenTerminal | Seq | Alt | Repeat | Optional | Embedded

EPSILON = Seq(())
NOTHING = Alt(())


def lit(data: bytes) -> Node:
    """A literal; ε if it is empty."""
    return Lit(data) if data else EPSILON


def char_class(ranges: Iterable[tuple[int, int]], kind: str = "BRACKET") -> Node:
    """A class of code points in any order; one code point alone becomes a literal.

    Surrogates are left out: UTF-8 cannot encode them.
    """
    merged = normalized(piece for low, high in ranges for piece in _without_surrogates(low, high))
    if not merged:
        return NOTHING
    if len(merged) == 1 and merged[0][0] == merged[0][1]:
        return Lit(chr(merged[0][0]).encode("utf-8"))
    return CharClass(merged, kind)


def seq(*parts: Node) -> Node:
    """``parts`` in order: sequences inside it unfolded, neighbouring literals joined."""
    flat: list[Node] = []
    for part in parts:
        for inner in part.parts if isinstance(part, Seq) else (part,):
            if inner is NOTHING:
                return NOTHING
            if isinstance(inner, Lit) and flat and isinstance(flat[-1], Lit):
                flat[-1] = Lit(flat[-1].data + inner.data)
            else:
                flat.append(inner)
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


def repeat(node: Node, min_times: int, max_times: int | None) -> Node:
    """``node`` repeated. Raises ``ValueError`` if ``max_times`` is below ``min_times``."""
    if min_times < 0 or (max_times is not None and max_times < min_times):
        raise ValueError(f"cannot repeat from {min_times} to {max_times} times")
    if (isinstance(node, Seq) and not node.parts) or max_times == 0:
        return EPSILON
    if node is NOTHING:
        return NOTHING if min_times else EPSILON
    if (min_times, max_times) == (1, 1):
        return node
    if (min_times, max_times) == (0, 1):
        return optional(node)
    return Repeat(node, min_times, max_times)


def is_nullable(node: Node) -> bool:
    """Whether ``node`` matches ε."""
    return id(node) in _nullable_inside(node)


def without_epsilon(node: Node) -> Node:
    """What ``node`` matches, without ε; ``NOTHING`` if that is all.

    ``(a* b?) -> a+ b? | b``

    In a sequence of nullable parts one of them is the first that is not ε, so a sequence of n
    becomes n sequences; elsewhere the size stays.
    """
    nullable = _nullable_inside(node)
    results: dict[int, Node] = {}
    pending = [node]
    while pending:
        current = pending[-1]
        if id(current) not in nullable:
            results[id(current)] = current
        if id(current) in results:
            pending.pop()
            continue
        inner = _options(current) if isinstance(current, Alt | Optional) else parts_of(current)
        unfinished = [part for part in inner if id(part) not in results]
        if unfinished:
            pending.extend(unfinished)
            continue
        pending.pop()
        parts = [results[id(part)] for part in inner]
        match current:
            case Seq():
                result = alt(*(seq(p, *inner[i + 1 :]) for i, p in enumerate(parts)))
            case Repeat():
                result = repeat(parts[0], 1, current.max_times)
            case Embedded():
                result = _begun(current.automaton)
            case _:
                result = alt(*parts)
        results[id(current)] = result
    return results[id(node)]


def _nullable_inside(node: Node) -> set[int]:
    """The ``id`` of each node in ``node``, itself included, that matches ε."""
    found: set[int] = set()
    done: set[int] = set()
    pending = [node]
    while pending:
        current = pending[-1]
        unfinished = [part for part in parts_of(current) if id(part) not in done]
        if unfinished:
            pending.extend(unfinished)
            continue
        pending.pop()
        done.add(id(current))
        match current:
            case Seq():
                nullable = all(id(part) in found for part in current.parts)
            case Alt():
                nullable = any(id(option) in found for option in current.options)
            case Repeat():
                nullable = current.min_times == 0 or id(current.node) in found
            case Embedded(automaton):
                closure = automaton.epsilon_closure({automaton.start})
                nullable = not automaton.finals.isdisjoint(closure)
            case _:
                nullable = isinstance(current, Optional)
        if nullable:
            found.add(id(current))
    return found


def _begun(automaton: "Nfa") -> Node:
    """The automaton without ε: it starts in a new state, which has read nothing yet."""
    closure = sorted(automaton.epsilon_closure({automaton.start}))
    first = [arc for state in closure for arc in automaton.arcs[state]]
    if not first:
        return NOTHING
    arcs, epsilon = [*automaton.arcs, first], [*automaton.epsilon, []]
    return Embedded(replace(automaton, arcs=arcs, epsilon=epsilon, start=automaton.states))


def parts_of(node: Node) -> tuple[Node, ...]:
    """The nodes directly inside one."""
    match node:
        case Seq():
            return node.parts
        case Alt():
            return node.options
        case Repeat() | Optional():
            return (node.node,)
        case _:
            return ()


def _options(node: Node) -> tuple[Node, ...]:
    """What ``node`` is a choice of, through all options inside options."""
    found: list[Node] = []
    pending = [node]
    while pending:
        current = pending.pop()
        if isinstance(current, Alt | Optional):
            pending.extend(reversed(parts_of(current)))
        else:
            found.append(current)
    return tuple(found)


def normalized(ranges: Iterable[tuple[int, int]]) -> CodePoints:
    """Sorted, disjoint, not adjacent.

    ``[(5, 9), (1, 4), (20, 20)] -> ((1, 9), (20, 20))``
    """
    merged: list[tuple[int, int]] = []
    for low, high in sorted(ranges):
        if merged and low <= merged[-1][1] + 1:
            merged[-1] = (merged[-1][0], max(merged[-1][1], high))
        else:
            merged.append((low, high))
    return tuple(merged)


def _without_surrogates(low: int, high: int) -> Iterable[tuple[int, int]]:
    if low < SURROGATES[0]:
        yield low, min(high, SURROGATES[0] - 1)
    if high > SURROGATES[1]:
        yield max(low, SURROGATES[1] + 1), high


def complement(ranges: Iterable[tuple[int, int]]) -> CodePoints:
    """All other code points."""
    outside: list[tuple[int, int]] = []
    position = 0
    for low, high in normalized(ranges):
        if low > position:
            outside.append((position, low - 1))
        position = high + 1
    if position <= MAX_CODE_POINT:
        outside.append((position, MAX_CODE_POINT))
    return tuple(outside)
