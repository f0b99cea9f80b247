"""The vocabulary's trie, with one root for the start of a word and one for its rest.

Song et al., "Fast WordPiece Tokenization" (2021), section 3.1, build one trie of V as
strings, in which the node r♯ of the suffix indicator hangs below the root r. Then a word
that begins with ♯ behind a shorter token is cut wrongly (♯ = ``##``, V = {``#``, ``###c``}:
``##c`` is ``# ###c``, and the paper's Algorithm 1 finds none). Here r has all of V as it is
written and r♯, a root of its own, has the suffix tokens without ♯. That also removes
Algorithm 1's special case for the word ♯. If ♯ is empty the two roots are one.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

NO_TOKEN = -1
ROOT = 0


@dataclass(frozen=True, slots=True, eq=False)
class SuffixTrie:
    """Nodes from 0; node 0 is the root r, ``suffix_root`` is r♯.

    ``children[u]``: the edges out of u, by character. ``tokens[u]``: the id of the token
    that ends at u, or ``NO_TOKEN``.
    """

    children: list[dict[str, int]]
    tokens: list[int]
    suffix_root: int

    @classmethod
    def of_vocabulary(cls, vocabulary: Mapping[str, int], indicator: str) -> "SuffixTrie":
        """The trie of a vocabulary as it is written: ``a``, ``##b``."""
        suffixes = (
            (token.removeprefix(indicator), i)
            for token, i in vocabulary.items()
            if indicator and token.startswith(indicator)
        )
        return cls.of_tokens(vocabulary.items(), suffixes, shared=not indicator)

    @classmethod
    def of_tokens(
        cls,
        initial: Iterable[tuple[str, int]],
        suffixes: Iterable[tuple[str, int]],
        *,
        shared: bool,
    ) -> "SuffixTrie":
        """The trie of the tokens that begin a word and of those that continue it, without ♯.

        ``shared``: both are the same (♯ is empty), so that one root serves. Empty tokens
        match nothing and are left out. Grows with the tokens' total length.
        """
        trie = cls([{}], [NO_TOKEN], ROOT) if shared else cls([{}, {}], [NO_TOKEN] * 2, ROOT + 1)
        for text, token_id in initial:
            trie._insert(ROOT, text, token_id)
        if not shared:
            for text, token_id in suffixes:
                trie._insert(trie.suffix_root, text, token_id)
        return trie

    @property
    def roots(self) -> tuple[int, ...]:
        """r and r♯, once if they are one."""
        return (ROOT,) if self.suffix_root == ROOT else (ROOT, self.suffix_root)

    def find(self, node: int, text: str) -> int | None:
        """The node below ``node`` that ``text`` leads to."""
        found: int | None = node
        for char in text:
            if found is None:
                return None
            found = self.children[found].get(char)
        return found

    def _insert(self, node: int, text: str, token_id: int) -> None:
        if not text:
            return
        children, tokens = self.children, self.tokens
        for char in text:
            below = children[node].get(char)
            if below is None:
                below = children[node][char] = len(children)
                children.append({})
                tokens.append(NO_TOKEN)
            node = below
        tokens[node] = token_id
