"""What LinMaxMatch and the machine of masks compute, by its definitions, as written. Slow; oracles.

Song et al. (2021): the naive match, Definition 1, Definitions 3 to 8 of appendix A on strings, and
Algorithm 4, the transducer. Of the machine: which tokens cannot follow at a node, and the trie's
arrays, node by node.

A string of the definitions is a pair (``suffix``, ``text``): whether it stands after ♯, and what
follows, which is the two roots' way to write ``♯text``. Nodes are such pairs too; None is the null
node.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from constrain.artifacts.wordpiece.trie import NONE, SUFFIX_ROOT, Pops, WordTrie
from constrain.compiler.wordpiece.trie_layout import TrieLayout, plain_characters
from support.oracles.linmaxmatch import (
    NO_TOKEN,
    NULL,
    ROOT,
    FailureLinks,
    SuffixTrie,
    precompute,
)

# A character outside Unicode's text: it ends words in the augmented trie of Lemma 2.
END = "\udfff"


class Marked(NamedTuple):
    """A string, after ♯ or not."""

    suffix: bool
    text: str


Match = tuple[Marked | None, list[int]]


class Formal:
    """The definitions for one vocabulary; ``augmented`` adds the nodes ␣ and ♯␣ of Lemma 2."""

    def __init__(
        self, vocabulary: Mapping[str, int], indicator: str, *, augmented: bool = True
    ) -> None:
        self.initial = {token: i for token, i in vocabulary.items() if token}
        self.suffixes = {
            token.removeprefix(indicator): i
            for token, i in vocabulary.items()
            if token.startswith(indicator) and token != indicator
        }
        self._augmented = augmented

    @cached_property
    def nodes(self) -> frozenset[Marked]:
        """The strings on the trie."""
        found = {Marked(False, ""), Marked(True, "")}
        for suffix, tokens in ((False, self.initial), (True, self.suffixes)):
            found |= {Marked(suffix, t[:k]) for t in tokens for k in range(1, len(t) + 1)}
        if self._augmented:
            found |= {Marked(False, END), Marked(True, END)}
        return frozenset(found)

    def gamma(self, w: Marked) -> Marked | None:
        """γ_w: the node that stands for w."""
        return w if w in self.nodes else None

    def p(self, w: Marked) -> str:
        """p_w: the longest prefix of w in V, without ♯; empty if there is none (Def. 3)."""
        tokens = self.suffixes if w.suffix else self.initial
        return next((w.text[:k] for k in range(len(w.text), 0, -1) if w.text[:k] in tokens), "")

    def q(self, w: Marked) -> Marked:
        """q_w: w without p_w, after ♯ (Def. 4); w itself where p_w is empty."""
        popped = self.p(w)
        return Marked(True, w.text[len(popped) :]) if popped else w

    def token(self, w: Marked) -> int:
        """The id of p_w."""
        return (self.suffixes if w.suffix else self.initial)[self.p(w)]

    def max_match(self, w: Marked) -> list[int] | None:
        """M(w) (Def. 5); None for the unknown token."""
        tokens: list[int] = []
        while w.text:
            if not self.p(w):
                return None
            tokens.append(self.token(w))
            w = self.q(w)
        return tokens

    def g(self, w: Marked) -> Match:
        """g(w) and G(w), MinPop matching (Def. 6)."""
        tokens: list[int] = []
        while self.gamma(w) is None:
            if not self.p(w):
                # Equation 2 puts the tokens popped so far before the null node.
                return None, tokens
            tokens.append(self.token(w))
            w = self.q(w)
        return w, tokens

    def h(self, u: Marked | None, c: str) -> Match:
        """h(u, c) and H(u, c), one step of MinPop matching (Def. 7)."""
        return (None, []) if u is None else self.g(Marked(u.suffix, u.text + c))

    def failure(self, v: Marked) -> Match:
        """f(v) and F(v) (Def. 8)."""
        if not self.p(v):
            return None, []
        node, tokens = self.g(self.q(v))
        return (node, [self.token(v), *tokens]) if node is not None else (None, [])


Step = tuple[int, tuple[int, ...]]

_NOWHERE: Step = (NULL, ())


@dataclass(frozen=True, slots=True, eq=False)
class Transducer:
    """LinMaxMatch as a finite-state transducer: one transition for each character.

    Section 3.6 and appendix A.7, Algorithm 4. δ′(u, c) is where Algorithm 1 stands after reading
    c at node u, σ′(u, c) what it pops before that; they are h and H of Definition 7. Erratum: as
    printed, Algorithm 4 answers <unk> to every word, because on the plain trie nothing reads the
    end of a word. Here the nodes ␣ and ♯␣ of Lemma 2 do, the last of the trie (one if ♯ is
    empty), and a word is known if one of them is reached.

    Entries are computed lazily: all of them together are as many as nodes times characters.
    """

    trie: SuffixTrie
    links: FailureLinks
    finals: frozenset[int]
    _steps: dict[tuple[int, str], Step] = field(default_factory=dict)

    @classmethod
    def of_trie(cls, plain: SuffixTrie) -> "Transducer":
        """Add the nodes ␣ and ♯␣, which are no tokens, and compute the links of that trie."""
        children = [dict(edges) for edges in plain.children]
        finals = []
        for root in plain.roots:
            finals.append(len(children))
            children[root][END] = len(children)
            children.append({})
        tokens = plain.tokens + [NO_TOKEN] * len(finals)
        trie = SuffixTrie(children, tokens, plain.suffix_root)
        return cls(trie, precompute(trie), frozenset(finals))

    def step(self, u: int, c: str) -> Step:
        """δ′(u, c) and σ′(u, c); ``NULL`` where the word is unknown."""
        nodes = [u]
        while True:
            found = self._steps.get((nodes[-1], c))
            if found is None and c in self.trie.children[nodes[-1]]:
                found = (self.trie.children[nodes[-1]][c], ())
            elif found is None and self.links.link[nodes[-1]] == NULL:
                found = _NOWHERE
            if found is not None:
                break
            nodes.append(self.links.link[nodes[-1]])
        self._steps[nodes[-1], c] = found
        for node in reversed(nodes[:-1]):
            target, popped = found
            found = _NOWHERE if target == NULL else (target, self.links.pops[node] + popped)
            self._steps[node, c] = found
        return found

    def table(self, alphabet: Iterable[str]) -> dict[tuple[int, str], Step]:
        """Every entry for the characters of ``alphabet`` and ``END`` that leads somewhere."""
        chars = [*sorted(alphabet), END]
        entries = {(u, c): self.step(u, c) for u in range(len(self.trie.children)) for c in chars}
        return {key: step for key, step in entries.items() if step[0] != NULL}

    def tokenize(self, word: str) -> list[int] | None:
        """Algorithm 4: the word's token ids; None if it is unknown. n + 1 transitions."""
        tokens: list[int] = []
        u = ROOT
        for c in (*word, END):
            u, popped = self.step(u, c)
            if u == NULL:
                return None
            tokens.extend(popped)
        return tokens if u in self.finals else None


class NaiveMatch(NamedTuple):
    """``tokens``: ids, or None if the word is unknown. ``lookups``: substrings looked up."""

    tokens: list[int] | None
    lookups: int


def max_match_via_substrings(
    word: str, vocabulary: Mapping[str, int], indicator: str, longest: int | None = None
) -> NaiveMatch:
    """The original WordPiece: try the longest substring first. O(nm), the oracle.

    ``longest``: m, the most characters that a token has, ♯ apart (None: try all lengths).
    """
    tokens: list[int] = []
    lookups = start = 0
    while start < len(word):
        stop = len(word) if longest is None else min(len(word), start + longest)
        for end in range(stop, start, -1):
            lookups += 1
            token = (indicator if start else "") + word[start:end]
            if token in vocabulary:
                tokens.append(vocabulary[token])
                start = end
                break
        else:
            return NaiveMatch(None, lookups)
    return NaiveMatch(tokens, lookups)


def precompute_via_definition(trie: SuffixTrie) -> FailureLinks:
    """Definition 1, node by node: pop longest tokens until the rest is on the trie. Slow."""
    link = [NULL] * len(trie.children)
    pops: list[tuple[int, ...]] = [()] * len(trie.children)
    pending = [(root, root, "") for root in trie.roots]
    for root, v, text in pending:
        pending.extend((root, below, text + c) for c, below in trie.children[v].items())
        found: list[int] = []
        start, rest = root, text
        while popped := longest_token(trie, start, rest):
            length, token_id = popped
            found.append(token_id)
            start, rest = trie.suffix_root, rest[length:]
            node = trie.find(start, rest)
            if node is not None:
                link[v], pops[v] = node, tuple(found)
                break
    return FailureLinks(link, pops)


def longest_token(trie: SuffixTrie, root: int, text: str) -> tuple[int, int] | None:
    """Length and id of the longest token below ``root`` that ``text`` begins with."""
    found = None
    node = root
    for length, char in enumerate(text, 1):
        if char not in trie.children[node]:
            break
        node = trie.children[node][char]
        if trie.tokens[node] != NO_TOKEN:
            found = (length, trie.tokens[node])
    return found


def forbidden_via_definition(
    trie: WordTrie, suffixes: Mapping[bytes, int], node: int
) -> tuple[set[int], dict[int, int]]:
    """The tokens that cannot follow at ``node``, and the nodes of those that can.

    A token t may follow if reading its text pops, and leaves to be flushed, the tokens of
    ``node``'s text and then t.
    """
    expected = trie.flush(node)
    forbidden, led = set(), {}
    for text, token_id in suffixes.items():
        target, popped = _read(trie, node, text)
        rest = trie.flush(target) if target != NONE else None
        if expected is None or rest is None or popped + rest != (*expected, token_id):
            forbidden.add(token_id)
        else:
            led[token_id] = target
    return forbidden, led


def _read(trie: WordTrie, node: int, text: bytes) -> tuple[int, Pops]:
    popped: Pops = ()
    for octet in text:
        node, found = trie.step(node, octet)
        popped += found
        if node == NONE:
            break
    return node, popped


def lay_out_via_suffix_trie(
    initial: Mapping[bytes, int], suffixes: Mapping[bytes, int], vocab_size: int
) -> TrieLayout:
    """``trie_layout.lay_out``, node by node, by way of ``linmaxmatch``'s trie and Algorithm 2."""
    # Bytes as characters, one for one: the trie is built of strings.
    plain = SuffixTrie.of_tokens(
        ((text.decode("latin-1"), i) for text, i in initial.items()),
        ((text.decode("latin-1"), i) for text, i in suffixes.items()),
        shared=False,
    )
    links = precompute(plain)
    order, octets, counts = _level_order(plain)
    number = np.empty(len(order) + 1, dtype=np.int32)
    number[order] = np.arange(len(order), dtype=np.int32)
    number[-1] = -1  # Where a link is null (-1) it stays null.
    ordered = np.array(order)
    tokens = np.array(plain.tokens, dtype=np.int32)[ordered]
    found = [links.pops[node] for node in order]
    by_text = [suffixes[text] for text in sorted(suffixes) if text]
    nodes = np.full(vocab_size, -1, dtype=np.int32)
    nodes[tokens[tokens >= 0]] = np.flatnonzero(tokens >= 0)
    first = np.concatenate(([2], 2 + np.cumsum(counts)))
    trie = WordTrie(
        octets=np.frombuffer(bytes(octets), dtype=np.uint8),
        first=first.astype(np.int32),
        tokens=tokens,
        links=number[np.array(links.link)[ordered]],
        pops=np.array([i for pops in found for i in pops], dtype=np.int32),
        pop_offsets=np.concatenate(([0], np.cumsum([len(pops) for pops in found]))).astype(
            np.int64
        ),
        order=np.array(by_text, dtype=np.int32),
        spans=_spans(plain, number),
    )
    return TrieLayout(trie, nodes, _plain_nodes(plain, number, plain_characters(initial, suffixes)))


def _level_order(trie: SuffixTrie) -> tuple[list[int], bytearray, list[int]]:
    """The nodes level by level, the byte into each, and how many children each has."""
    order = [ROOT, SUFFIX_ROOT]
    octets, counts = bytearray(2), []
    for node in order:
        edges = sorted(trie.children[node].items())
        counts.append(len(edges))
        order.extend(below for _, below in edges)
        octets.extend(ord(char) for char, _ in edges)
    return order, octets, counts


def _spans(trie: SuffixTrie, number: NDArray[np.int32]) -> NDArray[np.int32]:
    """For nodes below the suffix root the run of tokens, sorted by text, in their subtree."""
    spans = np.zeros((len(trie.children), 2), dtype=np.int32)
    count = 0
    pending = [(SUFFIX_ROOT, False)]
    while pending:
        node, is_left = pending.pop()
        if is_left:
            spans[number[node], 1] = count
            continue
        spans[number[node], 0] = count
        count += trie.tokens[node] >= 0
        pending.append((node, True))
        edges = sorted(trie.children[node].items(), reverse=True)
        pending.extend((below, False) for _, below in edges)
    return spans


def _plain_nodes(
    trie: SuffixTrie, number: NDArray[np.int32], characters: frozenset[bytes]
) -> NDArray[np.uint8]:
    """Which nodes stand for plain characters alone."""
    flags = np.zeros(len(trie.children), dtype=np.uint8)
    pending = [(ROOT, b""), (SUFFIX_ROOT, b"")]
    for node, begun in pending:
        if not begun:
            flags[number[node]] = 1
        for char, below in trie.children[node].items():
            text = begun + char.encode("latin-1")
            if text in characters:
                pending.append((below, b""))
            elif len(text) < 4:
                pending.append((below, text))
    return flags
