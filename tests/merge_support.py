"""Automata over token strings, merged by families and as the source prints it."""

from collections.abc import Callable, Sequence

import pytest

from constrain.compiler.merge.direct import direct_merge
from constrain.compiler.merge.families import FamilyAutomaton, with_letters
from constrain.compiler.merge.oracle import (
    PlainDfa,
    direct_merge_via_listing,
    tokenize_via_merges,
)

Delta = dict[int, dict[str, int]]

Run = Callable[[Delta, int, set[int], Sequence[tuple[str, str]]], "Result"]


class Names:
    """Token strings to numbers and back."""

    def __init__(self) -> None:
        self.number: dict[str, int] = {}
        self.text: list[str] = []

    def __getitem__(self, text: str) -> int:
        if text not in self.number:
            self.number[text] = len(self.text)
            self.text.append(text)
        return self.number[text]

    def merges(self, pairs: Sequence[tuple[str, str]]) -> list[tuple[int, int, int]]:
        """(left, right, result) of pairs of strings."""
        return [(self[a], self[b], self[a + b]) for a, b in pairs]


class Result:
    """An automaton with token strings on its edges."""

    def __init__(self, dfa: PlainDfa, names: Names) -> None:
        self.start, self.final = dfa.start, dfa.final
        self.delta = {
            s: {names.text[t]: to for t, to in out.items()} for s, out in dfa.delta.items()
        }

    def edges(self) -> set[tuple[int, str, int]]:
        """All transitions."""
        return {(s, t, to) for s, out in self.delta.items() for t, to in out.items()}

    def looks_like(self, edges: set[tuple[int, str, int]]) -> bool:
        """Whether the transitions are ``edges`` but for the names of states (start 0)."""
        return renamed(self.edges(), self.start) == renamed(edges, 0)

    def words(self, longest: int) -> set[tuple[str, ...]]:
        """Members that spell at most ``longest`` letters."""
        pending: list[tuple[int, tuple[str, ...]]] = [(self.start, ())]
        found = set()
        for state, word in pending:
            if state in self.final:
                found.add(word)
            for token, target in self.delta.get(state, {}).items():
                if len("".join(word)) + len(token) <= longest:
                    pending.append((target, (*word, token)))
        return found


def renamed(edges: set[tuple[int, str, int]], start: int) -> set[tuple[int, str, int]]:
    """Edges with states numbered breadth-first, tokens in order; all states can be reached."""
    order = [start]
    for source in order:
        for _, target in sorted((t, to) for s, t, to in edges if s == source):
            if target not in order:
                order.append(target)
    return {(order.index(s), t, order.index(to)) for s, t, to in edges}


def plain(automaton: FamilyAutomaton) -> PlainDfa:
    """The automaton of families as a plain table; its counters are checked on the way."""
    delta: dict[int, dict[int, int]] = {}
    for family in automaton.families:
        for place, state in enumerate(family.members):
            if not family.gone[place]:
                delta[state] = {
                    t: to for t, to in family.targets.items() if automaton.has(state, t)
                }
                assert automaton.degree(state) == len(delta[state])
    dfa = PlainDfa(delta, automaton.start, {s for s in delta if automaton.accepting[s]})
    assert (automaton.states, automaton.transitions) == (len(delta), dfa.transitions())
    return dfa


def via_families(
    delta: Delta, start: int, final: set[int], pairs: Sequence[tuple[str, str]]
) -> Result:
    """Merge on families."""
    names = Names()
    edges = [(s, names[t], to) for s, out in delta.items() for t, to in out.items()]
    automaton = with_letters(len(delta), start, final, edges)
    for merge in names.merges(pairs):
        direct_merge(automaton, *merge)
    return Result(plain(automaton), names)


def via_listing(
    delta: Delta, start: int, final: set[int], pairs: Sequence[tuple[str, str]]
) -> Result:
    """Merge as printed."""
    names = Names()
    table = {s: {names[t]: to for t, to in out.items()} for s, out in delta.items()}
    dfa = PlainDfa(table, start, set(final))
    for merge in names.merges(pairs):
        direct_merge_via_listing(dfa, *merge)
    return Result(dfa, names)


both = pytest.mark.parametrize("run", [via_families, via_listing])


def all_words(letters: set[str], longest: int) -> list[str]:
    """All words over letters."""
    words = [""]
    for word in words:
        if len(word) < longest:
            words.extend(word + letter for letter in sorted(letters))
    return words


def tokenized(
    letters: set[str], longest: int, pairs: Sequence[tuple[str, str]]
) -> set[tuple[str, ...]]:
    """tokenize(Σ*) up to a length, by the definition."""
    names = Names()
    merges = names.merges(pairs)
    found = set()
    for word in all_words(letters, longest):
        tokens = tokenize_via_merges([names[letter] for letter in word], merges)
        found.add(tuple(names.text[t] for t in tokens))
    return found
