"""What calls add to rows, found once for all grammars of a tokenizer that make the same calls.

    string ::= '"' char* '"'      inside of it tokens lead on inside; those with a quotation mark to
                                  its end, and on in the frame below, which each grammar has its own

Which tokens are live that end inside of a call depends, of all that lies below it, on two sets of
pre-tokenizer states (``Contexts``), and of these only on states in which the call may end. So they
are kept by a structure (``CallStructures``) and these states, unless a search looks at what may
follow the call; with the trie nodes at which it ends.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from ..tokens.memo import ENTRY_BYTES, BoundedCache, CacheBudget
from ..tokens.sharing import recent
from ..tokens.tokenset import Words
from ..walk.node_sets import Nodes
from .trie_walk import Walk, WalkKey

if TYPE_CHECKING:
    from .pretokenized import PretokenizedNetwork

# A structure, trie nodes, a pre-tokenizer state and a plane; and the sets of a context.
Key: TypeAlias = tuple[bytes, bytes, int, int, int, int]

# What is kept of a tokenizer's calls.
_MOST_BYTES = 1 << 26

# So many keys are kept that other grammars do not share.
_MOST_LEFT = 1 << 12


@dataclass(frozen=True, slots=True, eq=False)
class CallRow:
    """``live``: tokens, uint32 (W,). ``suspended``: as of a walk, with trie nodes as they are."""

    live: Words
    suspended: tuple[tuple[int, Nodes, int], ...]


class _Kept:
    """Of calls beside two pre-tokenizer DFAs: the states in which they may end, as sets, and rows.
    ``made_of``: what the tokenizer has for all of them."""

    def __init__(self, *made_of: object) -> None:
        self._made_of = made_of
        ends, rows = CacheBudget(_MOST_BYTES).divide(1, 15)
        self.ends: BoundedCache[bytes, int] = ends.cache()
        self.rows: BoundedCache[Key, CallRow] = rows.cache()


class ClosedCalls:
    """Those that one network makes. ``network``: says what is live."""

    def __init__(self, network: "PretokenizedNetwork") -> None:
        reader = network.reader or network
        self._network, self._reader = network, reader
        own, forbidden = network.pretokenizer, network.forbidden
        tables = reader.pretokenizer.table, own.table, own.classes
        made_of = *tables, forbidden, network.vocabulary, *reader.walks.tries
        self._kept = recent(_Kept, *made_of)
        self._left: set[Key] = set()

    def key(self, walk: WalkKey, context: int) -> Key | None:
        """Of a walk over stacks of a context. None where other grammars have no such call."""
        nodes, state, pre_state, plane = walk
        structure = self._reader.structures.of(state)
        if structure is None:
            return None
        ends = self._kept.ends.get(structure)
        if ends is None:
            ends = self._kept.ends.keep(structure, self._ends(state))
        live, at_boundary = self._network.contexts.sets_of(context)
        held = self._reader.walks.sets[nodes].tobytes()
        key = structure, held, pre_state, plane, live & ends, at_boundary & ends
        return None if key in self._left else key

    def leave(self, key: Key) -> None:
        """It takes a look at what follows the call, and is not asked for again."""
        if len(self._left) >= _MOST_LEFT:
            self._left.clear()
        self._left.add(key)

    def find(self, key: Key | None) -> CallRow | None:
        """What is known."""
        return None if key is None else self._kept.rows.get(key)

    def keep(self, key: Key, live: Words, walk: Walk) -> None:
        """Know this from now on; ``walk``: of these tokens. Nobody writes to ``live`` any more."""
        live.flags.writeable = False
        sets = self._reader.walks.sets
        suspended = tuple((q, sets[nodes], plane) for q, nodes, plane in walk.suspended)
        size = live.nbytes + sum(ENTRY_BYTES + nodes.nbytes for _, nodes, _ in suspended)
        self._kept.rows.keep(key, CallRow(live, suspended), size)

    def walk(self, row: CallRow) -> Walk:
        """Where the tokens of a row's call leave it."""
        number = self._reader.walks.sets.number
        return Walk(suspended=tuple((q, number(nodes), p) for q, nodes, p in row.suspended))

    def _ends(self, state: int) -> int:
        """Pre-tokenizer states in which the call may end, and maybe others."""
        tables, sets = self._network.network.tables, self._network.sets
        states, found = self._reader.structures.states(state), 0
        for each in states:
            for target, columns in self._reader.byte_edges[each]:
                if tables.ends[target]:
                    found |= sets.after(columns, sets.all)
        return found
