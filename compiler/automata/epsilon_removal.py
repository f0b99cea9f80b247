"""Take ε out of what an expression matches."""

from dataclasses import replace

from .nfa import Nfa
from .regex_ir import (
    NOTHING,
    Alt,
    And,
    ByteClass,
    Embedded,
    Look,
    Node,
    Not,
    Optional,
    Repeat,
    Seq,
    alt,
    intersection,
    nullable_inside,
    parts_of,
    repeat,
    seq,
    walk,
)


def without_epsilon(node: Node) -> Node:
    """What ``node`` matches, without ε; ``NOTHING`` if that is all.

    ``(a* b?) -> a+ b? | b``

    In a sequence of nullable parts one of them is the first that is not ε, so a sequence of n
    becomes n sequences; elsewhere the size stays. Around assertions, intersections and
    complements, the longer texts are cut out instead: ``x & any byte+``.
    """
    if any(isinstance(part, And | Not | Look) for part in walk(node)):
        return intersection(node, repeat(ByteClass(((0, 255),)), 1, None))
    nullable = nullable_inside(node)
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


def _begun(automaton: Nfa) -> Node:
    """The automaton without ε: it starts in a new state, which has read nothing yet."""
    closure = sorted(automaton.epsilon_closure({automaton.start}))
    first = [arc for state in closure for arc in automaton.arcs[state]]
    if not first:
        return NOTHING
    arcs, epsilon = [*automaton.arcs, first], [*automaton.epsilon, []]
    return Embedded(replace(automaton, arcs=arcs, epsilon=epsilon, start=automaton.states))


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
