"""LinMaxMatch: one word to tokens, each the longest that fits, in linear time.

Song et al. (2021): the trie of section 3.1, failure links by Algorithm 2, matching by Algorithm 1.

    V = {a, abcd, ##b, ##c}, the word abcb: a, b, c are read below the root of words, where b is
    not read next. The failure pops of abc, a and ##b, are the first tokens; its failure link is
    the node ##c, which does not read b either: it pops ##c and leads to the root of suffixes,
    which reads b. At the end of the word what is left is popped: a ##b ##c ##b

The paper builds one trie of V as strings, in which the node r♯ of the suffix indicator hangs
below the root r. Then a word that begins with ♯ after a shorter token is matched wrongly (♯ =
``##``, V = {``#``, ``###c``}: ``##c`` is ``# ###c``, and the paper's Algorithm 1 finds none). Here
r has all of V as it is written and r♯, a root of its own, has the suffix tokens without ♯. That
also removes Algorithm 1's special case for the word ♯. If ♯ is empty the two roots are one.
"""

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass

NO_TOKEN = -1
ROOT = 0
# No node: where there is no failure link.
NULL = -1


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


@dataclass(frozen=True, slots=True, eq=False)
class FailureLinks:
    """``link[v]`` is f(v), ``NULL`` where there is none; ``pops[v]`` is F(v), token ids."""

    link: list[int]
    pops: list[tuple[int, ...]]


def precompute(trie: SuffixTrie) -> FailureLinks:
    """Algorithm 2: breadth-first from both roots, each node from its parent.

    O(M) steps for M characters in all tokens, O(Mm) for the pops of tokens of m characters.
    """
    link = [NULL] * len(trie.children)
    pops: list[tuple[int, ...]] = [()] * len(trie.children)
    queue = deque(trie.roots)
    while queue:
        u = queue.popleft()
        for c, v in trie.children[u].items():
            queue.append(v)
            if trie.tokens[v] != NO_TOKEN:
                link[v], pops[v] = trie.suffix_root, (trie.tokens[v],)
                continue
            z, found = link[u], pops[u]
            while z != NULL and c not in trie.children[z]:
                found, z = found + pops[z], link[z]
            if z != NULL:
                link[v], pops[v] = trie.children[z][c], found
    return FailureLinks(link, pops)


def match_loop(
    trie: SuffixTrie, links: FailureLinks, s: str, start: int
) -> tuple[list[int], int, int]:
    """``MatchLoop`` of Algorithm 1: read ``s`` from ``start`` until a character cannot be read.

    Returns the tokens popped, the node reached and the place of that character.
    """
    children, link, pops = trie.children, links.link, links.pops
    tokens: list[int] = []
    u = ROOT
    for i in range(start, len(s)):
        c = s[i]
        v = children[u].get(c)
        while v is None:
            if link[u] == NULL:
                return tokens, u, i
            tokens.extend(pops[u])
            u = link[u]
            v = children[u].get(c)
        u = v
    return tokens, u, len(s)


def flush(links: FailureLinks, u: int, tokens: list[int]) -> int:
    """Pop what is left at the end of a word into ``tokens``; a root if all of it can be popped."""
    while links.link[u] != NULL:
        tokens.extend(links.pops[u])
        u = links.link[u]
    return u
