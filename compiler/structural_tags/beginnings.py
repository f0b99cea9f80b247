"""Beginnings of texts as a trie with failure links (Aho and Corasick 1975).

    "ab", "b"   ->   root -a-> 1 -b-> 2, root -b-> 3; the failure link of 2 is 3, of others the root

A node is a beginning of some text; its failure link leads to the longest other beginning that it
ends with.
"""

from collections.abc import Iterable, Iterator, Sequence

from ..limits import Limits

_STAGE = "free text"


class Beginnings:
    """The beginnings of texts, none of which is empty; node 0 is the empty one.

    ``ends``: the node of each text; ``depths``: the length of each node's text; ``links``: its
    failure link. Raises ``LimitError``, which names ``rules``, for more nodes than there may be
    states.
    """

    def __init__(self, texts: Iterable[str], limits: Limits, rules: Sequence[str] = ()) -> None:
        self._steps: dict[tuple[int, str], int] = {}
        self.ends: dict[str, int] = {}
        self.depths, self.links = [0], [0]
        for text in sorted(set(texts)):
            node = 0
            for char in text:
                following = self._steps.get((node, char))
                if following is None:
                    following = len(self.depths)
                    limits.check_states(following, _STAGE, rules)
                    limits.check_resources(_STAGE, rules)
                    self._steps[node, char] = following
                    self.depths.append(self.depths[node] + 1)
                    self.links.append(0)
                node = following
            self.ends[text] = node
        # Links lead to shorter ones.
        for (node, char), following in sorted(
            self._steps.items(), key=lambda step: self.depths[step[1]]
        ):
            link = self.links[node]
            while link and (link, char) not in self._steps:
                link = self.links[link]
                limits.check_resources(_STAGE, rules)
            self.links[following] = self._steps.get((link, char), 0) if node else 0

    def path(self, text: str) -> Iterator[int]:
        """The nodes of a text's beginnings, the shortest first, as far as there are any."""
        node = 0
        for char in text:
            following = self._steps.get((node, char))
            if following is None:
                return
            yield (node := following)

    def inner_ends(self, text: str) -> Iterator[int]:
        """The nodes that one of the texts ends with, but for itself and the empty one."""
        node = self.ends[text]
        while node := self.links[node]:
            yield node

    def shortest_ends(self, texts: Iterable[str]) -> list[int]:
        """For each node the length of the shortest of some of the texts that it ends with; 0 for
        none."""
        found = [0] * len(self.depths)
        for text in texts:
            found[self.ends[text]] = len(text)
        for node in sorted(range(1, len(found)), key=self.depths.__getitem__):
            found[node] = found[self.links[node]] or found[node]
        return found
