"""The canonical sequences of a grammar's members, found by asking a tokenizers library alone.

States are (byte state, last token), and a token may follow another iff the library encodes
the text of the two as the two (Algorithm 4); nothing of DirectMerge is used.
"""

from collections.abc import Iterator

import tokenizers

from constrain.artifacts import Artifact


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
