"""The tables of Earley's recogniser: productions, terminals as minimal DFAs, and rule paths.

    v ::= 'true' | 'false' | '[' v ']';   ->   v ::= #DFA{true,false} | '[' v ']';

"Implementing a Constrained Decoding Engine": a set of terminals that one nonterminal chooses from
becomes a single automaton ("Use regular expression for large sets of terminals"), and equal
terminals share one. ``RulePaths`` finds in which of the author's rules a production lies, though
its rule may have been replaced: from ``v ::= a | 'x';  a ::= '[' v ']';`` the normal form has ``v
::= '[' v ']'``, whose path is v > a. The rules that its origins name are put in order by how far
they are from the production's own, as the author's rules use each other.
"""

import json
from collections import deque
from collections.abc import Sequence, Set
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from constrain.artifacts.dfa.stacked_dfas import StackedDfas
from constrain.artifacts.earley.tables import END, EarleyTables

from ..automata import regex_ir as regex
from ..automata.assertions import resolved
from ..automata.determinize import determinize
from ..automata.dfa import DEAD, Dfa
from ..automata.minimize import minimize
from ..automata.nfa import FIRST_TERMINAL
from ..automata.thompson import thompson
from ..limits import Limits
from ..lnf.form import Lnf, Production, Symbol, Terminal

# How many rules a search for others looks at: a component may have thousands.
_NEAR = 100


class RulePaths:
    """The author's rules that productions lie in, as numbers. ``names``: by number."""

    def __init__(self, lnf: Lnf) -> None:
        self._owners = lnf.owners
        found = {rule for p in lnf.productions for rule, _, _ in p.origins} | {*lnf.owners}
        self.names = tuple(sorted(found))
        self._number = {name: number for number, name in enumerate(self.names)}
        authored = lnf.authored or lnf
        self._uses: dict[str, set[str]] = {}
        for production in authored.productions:
            used = {authored.owners[symbol] for symbol in production.body if symbol >= 0}
            self._uses.setdefault(authored.owners[production.head], set()).update(used)
        # Searches from rules, as far as they were needed: distances, and what is yet to follow.
        self._searches: dict[str, tuple[dict[str, int], deque[str]]] = {}

    def of(self, production: Production) -> list[int]:
        """The rules that a production lies in, the outermost first."""
        owner = self._owners[production.head]
        others = {rule for rule, _, _ in production.origins} - {owner}
        ordered = [owner]
        if others:
            distance = self._distances_from(owner, others)
            ordered += sorted(others, key=lambda rule: (distance.get(rule, len(distance)), rule))
        return [self._number[rule] for rule in ordered]

    def _distances_from(self, rule: str, wanted: Set[str]) -> dict[str, int]:
        """How many uses lead to other rules, to those that are ``wanted`` if they are near."""
        found, pending = self._searches.setdefault(rule, ({rule: 0}, deque([rule])))
        missing = wanted - found.keys()
        while missing and pending and len(found) < _NEAR:
            name = pending.popleft()
            for other in sorted(self._uses.get(name, ())):
                if other not in found:
                    found[other] = found[name] + 1
                    pending.append(other)
                    missing.discard(other)
        return found


_STAGE = "the terminals' automata"

# The most texts of a set of terminals that a message shows.
_MOST_TEXTS = 6


# Dialects of JSON, in which nobody writes terminals: what some are called, by the end of their
# rule's name, and how much of the text of others is shown.
_OF_JSON = frozenset({"structural-tag", "tools"})
_KINDS = {
    "text": "any text",
    "string": "a string",
    "number": "a number",
    "integer": "an integer",
    "space": "white space",
}
_SHOWN = 60


@dataclass(frozen=True, eq=False)
class Layout:
    """``tables``: the productions. ``nodes``: what each of their terminals matches."""

    tables: EarleyTables
    nodes: Sequence[regex.Node]


def layout(lnf: Lnf, limits: Limits | None = None, *, join: bool = True) -> Layout:
    """The productions of ``normalize_without_nullable``'s result, concatenated.

    Productions of one terminal are joined if they lie in the same rules, which messages name, but
    for ``join=False``.
    Raises ``LimitError``.
    """
    numbers: dict[object, int] = {}
    contents: list[tuple[Terminal, ...]] = []

    def number_of(terminals: tuple[Terminal, ...]) -> Symbol:
        key = tuple(t.key for t in terminals)
        if key not in numbers:
            numbers[key] = len(contents)
            contents.append(terminals)
        return ~numbers[key]

    rule_paths = RulePaths(lnf)
    symbols: list[int] = []
    bodies: list[int] = []
    first = [0]
    paths: list[list[int]] = []
    limits = (limits or Limits()).started()
    for head, productions in enumerate(lnf.by_head):
        limits.check_resources("the tables of Earley's recogniser", [lnf.owners[head]])
        alone: dict[tuple[int, ...], list[Terminal]] = {}
        for production in productions:
            body = production.body
            if len(body) == 1 and body[0] < 0:
                path = tuple(rule_paths.of(production))
                alone.setdefault(path, []).append(lnf.terminals[~body[0]])
        for path, terminals in alone.items():
            for group in [terminals] if join else [[terminal] for terminal in terminals]:
                bodies.append(len(symbols))
                symbols += [number_of(tuple(group)), END]
                paths.append(list(path))
        for production in productions:
            body = production.body
            if len(body) != 1 or body[0] >= 0:
                bodies.append(len(symbols))
                symbols += [s if s >= 0 else number_of((lnf.terminals[~s],)) for s in body]
                symbols.append(END)
                paths.append(rule_paths.of(production))
        first.append(len(bodies))
    tables = EarleyTables(
        np.array(symbols, dtype=np.int32),
        np.array(bodies, dtype=np.int32),
        np.array(first, dtype=np.int32),
        lnf.start,
        lnf.nullable_start,
        rule_paths.names,
        tuple(_text(lnf, terminals) for terminals in contents),
        np.array([rule for path in paths for rule in path], dtype=np.int32),
        np.cumsum([0, *map(len, paths)]).astype(np.int64),
        np.array([n in lnf.suffixes for n in range(len(lnf.names))], dtype=np.uint8),
    )
    return Layout(tables, [regex.alt(*map(_node, terminals)) for terminals in contents])


def stacked(
    nodes: Sequence[regex.Node], limits: Limits | None = None, terminals: int = 0
) -> StackedDfas:
    """The minimal DFAs of all terminals in one table, 1 for the first one's start.

    ``terminals``: T, the grammar's token terminals. Raises ``LimitError`` if they have too
    many states together.
    """
    limits = (limits or Limits()).started()
    dfas = []
    states = 1
    for node in nodes:
        nfa = thompson(resolved(node, limits), limits)
        dfas.append(minimize(determinize(nfa, limits, terminals), limits))
        states += dfas[-1].states - 1
        limits.check_states(states, _STAGE)
    return stacked_dfas(dfas, limits, terminals)


def stacked_dfas(dfas: Sequence[Dfa], limits: Limits, terminals: int = 0) -> StackedDfas:
    """The same of minimal DFAs. Raises ``LimitError`` for too many states, or too much memory."""
    ends = np.cumsum([0, *(dfa.states - 1 for dfa in dfas)])
    states = 1 + int(ends[-1])
    limits.check_states(states, _STAGE)
    # Of bytes that no automaton distinguishes the first.
    octets = np.stack([np.zeros(FIRST_TERMINAL, dtype=np.uint8), *(dfa.classes for dfa in dfas)])
    first, alike = _distinct(octets)
    # The table, the same by its columns, and its distinct columns.
    limits.check_allocation(states * (len(first) + terminals) * 4 * 3, _STAGE)
    table = np.zeros((states, len(first) + terminals), dtype=np.int32)
    for dfa, columns, begin, end in zip(dfas, octets[1:, first], ends, ends[1:], strict=False):
        rows = table[begin + 1 : end + 1]
        rows[:, : len(first)] = dfa.table[1:].take(columns, axis=1)
        if terminals:
            rows[:, len(first) :] = dfa.table[1:, dfa.byte_columns :]
        np.add(rows, begin, out=rows, where=rows != DEAD)
    accepting = np.concatenate([np.zeros(1, bool), *(dfa.accepting[1:] for dfa in dfas)])
    starts = np.array([dfa.start for dfa in dfas], dtype=np.int32) + ends[:-1].astype(np.int32)
    distinct, columns = _distinct(table.astype(">u4"))
    by_symbol = np.concatenate((columns[alike], columns[len(first) :])).astype(np.uint16)
    stacked = np.ascontiguousarray(table[:, distinct])
    return StackedDfas(stacked, by_symbol, accepting.astype(np.uint8), starts)


def _distinct(table: NDArray[Any]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """The distinct columns of unsigned numbers whose highest byte comes first, in their order: the
    first place of each, and of each column which it is."""
    columns = [column.tobytes() for column in np.ascontiguousarray(table.T)]
    first = {column: place for place, column in reversed([*enumerate(columns)])}
    number = {column: i for i, column in enumerate(sorted(first))}
    return (
        np.array([first[column] for column in number], dtype=np.intp),
        np.array([number[column] for column in columns], dtype=np.intp),
    )


def _node(terminal: Terminal) -> regex.Node:
    content = terminal.content
    return regex.lit(content) if isinstance(content, bytes) else content


def _text(lnf: Lnf, terminals: Sequence[Terminal]) -> str:
    """The terminals as the author wrote them."""
    shown = [_written(lnf, terminal) for terminal in terminals[:_MOST_TEXTS]]
    return " or ".join(shown) + (" or …" if len(terminals) > _MOST_TEXTS else "")


def _written(lnf: Lnf, terminal: Terminal) -> str:
    if isinstance(terminal.content, bytes):
        return json.dumps(terminal.content.decode("utf-8", "backslashreplace"), ensure_ascii=False)
    rule, start, end = min(terminal.origins, key=lambda origin: (*origin[1:], origin[0]))
    text = lnf.source.text[start:end]
    if lnf.source.dialect not in _OF_JSON:
        return text
    known = _KINDS.get(rule.rpartition(" ")[2])
    shown = " ".join(text.split())
    return known or (shown if len(shown) <= _SHOWN else f"{shown[: _SHOWN - 1]}…")
