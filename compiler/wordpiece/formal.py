"""Appendix A's definitions, as written, on strings. Slow; oracles of the fast algorithms.

Song et al. (2021), Definitions 3 to 7. A string is a pair (``suffix``, ``text``): whether it
stands behind ♯, and what follows, which is the two roots' way to write ``♯text``. Nodes of
the trie are such pairs too; None is the null node.
"""

from collections.abc import Mapping
from functools import cached_property
from typing import NamedTuple

# A character outside Unicode's text: it ends words in the augmented trie of Lemma 2.
END = "\udfff"


class Marked(NamedTuple):
    """A string, behind ♯ or not."""

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
        """q_w: w without p_w, behind ♯ (Def. 4); w itself where p_w is empty."""
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
