"""Where tokens may end lexemes that were begun: the trie nodes whose byte may begin the next one.

    in a host name that "/" or ")" follows     the nodes of these two bytes, a few hundred

All others are refused wherever a lexeme ends before them, so that only the paths to these are
walked. What may follow is a local relation of the network, whatever frames lie below.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..dfa.stacked_dfas import DEAD
from ..dfa.token_walks import TrieParts
from ..maximal_munch.tables import MaximalMunchTables
from ..tokens.memo import memoised, top_down
from ..walk.node_sets import Nodes

# Bytes of a node of such a trie, roughly.
_NODE_BYTES = 40


class Exits(NamedTuple):
    """``nodes``: int32 (M,), ascending. ``parts``: of the trie of the paths to them, in which they
    are ``places``, int32 (M,)."""

    nodes: Nodes
    parts: TrieParts
    places: NDArray[np.int32]

    @property
    def nbytes(self) -> int:
        """About the size of all arrays."""
        return 4 * len(self.nodes) + _NODE_BYTES * len(self.parts.trie.octets)


class Following:
    """The bytes after lexemes, of one grammar."""

    def __init__(self, tables: MaximalMunchTables) -> None:
        self._tables = tables
        dfas = tables.lexer.dfas
        self._firsts = (dfas.table[dfas.starts] != DEAD)[:, dfas.columns[:256]]
        self._ignored = frozenset(np.flatnonzero(tables.lexer.ignored).tolist())

    def exits(self, lexeme: int | None, parts: TrieParts) -> Exits:
        """The exits of a lexeme, or of any; ``parts``: of the token trie."""
        lexemes = range(self._tables.lexer.lexemes) if lexeme is None else [lexeme]
        follows = np.zeros(256, dtype=np.bool_)
        for lexeme in lexemes:
            follows |= self.behind(lexeme)
        follows_node = follows[parts.trie.octets]
        follows_node[0] = False
        nodes = np.flatnonzero(follows_node).astype(np.int32)
        small = TrieParts(parts.trie.leading_to(nodes))
        return Exits(nodes, small, small.nodes)

    @memoised
    def behind(self, lexeme: int) -> NDArray[np.bool_]:
        """The bytes with which something may begin after a lexeme, bool (256,), or some more."""
        firsts = self._firsts
        # What is ignored changes nothing; counters and sets go on in ways of their own.
        if lexeme not in self._ignored and self._tables.network.counters is None:
            firsts = firsts[sorted(self._behind(lexeme) | self._ignored)]
        found: NDArray[np.bool_] = firsts.any(axis=0)
        return found

    def _behind(self, lexeme: int) -> frozenset[int]:
        network = self._tables.network
        edges = network.table[:, 1:] != DEAD
        seen = set(network.table[:, 1 + lexeme].tolist()) - {DEAD}
        if any(network.ends[state] for state in seen):
            # Where a call ends, any other may go on.
            seen |= set(network.call_returns.tolist())
        states = top_down(seen, lambda state: [start for start, _ in network.calls[state]])
        return frozenset(np.flatnonzero(edges[sorted(states)].any(axis=0)).tolist())
