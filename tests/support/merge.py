"""Automata over token strings, merged by families and as the source prints it."""

import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from itertools import pairwise

import numpy as np
import pytest
import tokenizers
from numpy.typing import NDArray

from constrain.artifacts import Artifact
from constrain.compiler.bpe.derivations import Derivations, derive
from constrain.compiler.merge.direct_merge import direct_merge
from constrain.compiler.merge.families import FamilyAutomaton, with_letters
from support.oracles.merge import PlainDfa, direct_merge_via_listing, tokenize_via_merges

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


class Pairs:
    """A grammar's byte DFA read by whole tokens, and Algorithm 4's test of pairs."""

    def __init__(self, artifact: Artifact, library: tokenizers.Tokenizer) -> None:
        self.library = library
        self.dfa, self.vocabulary = artifact.byte_dfa, artifact.vocabulary
        self.known_pairs: dict[tuple[int, int], bool] = {}
        self.lifted: dict[int, dict[int, int]] = {}
        self.by_first: dict[bytes, list[int]] = {}
        for token in self.vocabulary.text_ids().tolist():
            self.by_first.setdefault(self.vocabulary.token(token)[:1], []).append(token)

    def lift(self, state: int) -> dict[int, int]:
        """Every token that the byte DFA reads from a state."""
        if state not in self.lifted:
            targets = {
                t: self.dfa.run(state, self.vocabulary.token(t))
                for first, tokens in self.by_first.items()
                if self.dfa.run(state, first)
                for t in tokens
            }
            self.lifted[state] = {t: q for t, q in targets.items() if q}
        return self.lifted[state]

    def pair(self, first: int, second: int) -> bool:
        """Algorithm 4's test, by the library."""
        key = (first, second)
        if key not in self.known_pairs:
            text = self.vocabulary.token(first) + self.vocabulary.token(second)
            self.known_pairs[key] = self.library.encode(text.decode()).ids == [first, second]
        return self.known_pairs[key]

    def is_dead_end(self, state: int, last: int) -> bool:
        """Whether no canonical sequence leads from here to the end."""
        seen = {(state, last)}
        pending = [(state, last)]
        while pending:
            here, before = pending.pop()
            if self.dfa.accepting[here]:
                return False
            for token, target in self.lift(here).items():
                if (target, token) not in seen and self.pair(before, token):
                    seen.add((target, token))
                    pending.append((target, token))
        return True


class Oracle(Pairs):
    """The canonical sequences of a grammar's members by (byte state, last token)."""

    def __init__(self, artifact: Artifact, library: tokenizers.Tokenizer) -> None:
        super().__init__(artifact, library)
        start = (self.dfa.start, -1)
        edges: dict[tuple[int, int], list[tuple[int, int]]] = {}
        pending = [start]
        while pending:
            node = pending.pop()
            if node not in edges:
                edges[node] = [
                    (target, token)
                    for token, target in self.lift(node[0]).items()
                    if node[1] < 0 or self.pair(node[1], token)
                ]
                pending.extend(edges[node])
        before: dict[tuple[int, int], list[tuple[int, int]]] = {}
        for node, targets in edges.items():
            for target in targets:
                before.setdefault(target, []).append(node)
        live = {node for node in edges if self.dfa.accepting[node[0]]}
        pending = list(live)
        while pending:
            for node in before.get(pending.pop(), ()):
                if node not in live:
                    live.add(node)
                    pending.append(node)
        self.start = start
        self.edges = {n: {t: (q, t) for q, t in edges[n] if (q, t) in live} for n in live}

    def boundaries(self, prefix: bytes) -> Iterator[tuple[int, tuple[int, ...], set[int]]]:
        """What ``boundaries`` should answer: length, ids, allowed text tokens."""
        pending: list[tuple[int, tuple[int, int], tuple[int, ...]]] = [(0, self.start, ())]
        while pending:
            position, node, ids = pending.pop()
            rest = prefix[position:]
            texts = {t: self.vocabulary.token(t) for t in self.edges[node]}
            allowed = {t for t, b in texts.items() if b.startswith(rest) and len(b) > len(rest)}
            if not rest or allowed:
                yield position, ids, allowed
            for token, octets in texts.items():
                if rest and rest.startswith(octets):
                    target = self.edges[node][token]
                    pending.append((position + len(octets), target, (*ids, token)))


def random_table(
    rng: random.Random, merges: int
) -> tuple[dict[str, int], list[tuple[int, int, int]]]:
    """A merge list over two letters; results may have several decompositions."""
    names = {"a": 0, "b": 1}
    found = []
    for _ in range(rng.randrange(1, merges)):
        a, b = rng.choice(list(names)), rng.choice(list(names))
        if len(a + b) < 9:
            names.setdefault(a + b, len(names))
            if (names[a], names[b], names[a + b]) not in found:
                found.append((names[a], names[b], names[a + b]))
    return names, found


@dataclass(frozen=True, eq=False)
class MergeList:
    """``merges``: int32 (n, 3), left, right and result, in rank order."""

    merges: NDArray[np.int32]

    @cached_property
    def ranks(self) -> Mapping[tuple[int, int], tuple[int, int]]:
        """From a pair of ids its rank and result."""
        return {(a, b): (k, t) for k, (a, b, t) in enumerate(self.merges.tolist())}

    def encode(self, letters: Sequence[int]) -> tuple[list[int], int]:
        """Merge the leftmost pair of lowest rank until no pair has one: the tokens, and the rank of
        the last merge made, -1 for none.

        Quadratic in the number of letters: tokens are short.
        """
        ids, last = list(letters), -1
        find = self.ranks.get
        while True:
            lowest, result, place = -1, -1, -1
            for i, pair in enumerate(pairwise(ids)):
                found = find(pair)
                if found is not None and (place < 0 or found[0] < lowest):
                    (lowest, result), place = found, i
            if place < 0:
                return ids, last
            last = lowest
            ids[place : place + 2] = [result]


@dataclass(frozen=True, slots=True, eq=False)
class Derived(Derivations):
    """Derivations with the merges that they are of."""

    listed: MergeList

    def encode(self, tokens: Iterable[int]) -> list[int]:
        """The encoding of the text of ``tokens``, as one pre-token."""
        return self.listed.encode([letter for t in tokens for letter in self.spelled[t]])[0]


def derived(names: Mapping[str, int], merges: Sequence[tuple[int, ...]]) -> Derived:
    """The derivations of a small table."""
    texts = {i: [names[c] for c in text] for text, i in names.items()}
    rows = np.array(merges, dtype=np.int32).reshape(-1, 3)
    found = derive(texts, rows)
    values = {each.name: getattr(found, each.name) for each in fields(found)}
    return Derived(**values, listed=MergeList(rows))
