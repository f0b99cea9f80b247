"""LinMaxMatch as a finite-state transducer: one transition for each character.

Song et al. (2021), section 3.6 and appendix A.7, Algorithm 4. δ′(u, c) is where Algorithm 1
stands after reading c at node u, σ′(u, c) what it pops before that; they are h and H of
Definition 7. Erratum: as printed, Algorithm 4 answers <unk> to every word, because on the
plain trie nothing reads the end of a word. Here the nodes ␣ and ♯␣ of Lemma 2 do, and a word
is known if one of them is reached.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

from .failure import NULL, FailureLinks, precompute
from .oracle import END
from .trie import NO_TOKEN, ROOT, SuffixTrie

Step = tuple[int, tuple[int, ...]]

_NOWHERE: Step = (NULL, ())


@dataclass(frozen=True, slots=True, eq=False)
class Transducer:
    """δ′ and σ′ over the augmented trie, whose last nodes are ␣ and ♯␣ (once if ♯ is empty).

    Entries are computed when they are asked for and kept: all of them together are as many
    as nodes times characters.
    """

    trie: SuffixTrie
    links: FailureLinks
    finals: frozenset[int]
    _kept: dict[tuple[int, str], Step] = field(default_factory=dict)

    @classmethod
    def of_trie(cls, plain: SuffixTrie) -> "Transducer":
        """Add the nodes ␣ and ♯␣, which are no tokens, and link the trie anew."""
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
        chain = [u]
        while True:
            known = self._kept.get((chain[-1], c))
            if known is None and c in self.trie.children[chain[-1]]:
                known = (self.trie.children[chain[-1]][c], ())
            elif known is None and self.links.link[chain[-1]] == NULL:
                known = _NOWHERE
            if known is not None:
                break
            chain.append(self.links.link[chain[-1]])
        self._kept[chain[-1], c] = known
        for node in reversed(chain[:-1]):
            target, popped = known
            known = _NOWHERE if target == NULL else (target, self.links.pops[node] + popped)
            self._kept[node, c] = known
        return known

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
