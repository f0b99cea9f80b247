"""The mask rows of all states of a byte DFA at once, by what each token does to the states.

    DFA, token trie   ->   classes of tokens that are the same function of the states
    row of a state    =    the classes whose function maps it to a live state

Tokens are many and functions few (for ``[a-z]{0,10000}`` Qwen 2.5 has 19), and states that have the
same classes have one row.
"""

from collections.abc import Iterator, Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from constrain.artifacts.dfa.byte_dfa import DEAD, ByteDfa
from constrain.artifacts.tokens.subtrees import Subtrees
from constrain.artifacts.tokens.trie import Trie, ranges

from ..automata.token_functions import TokenFunctions, token_functions
from ..limits import Limits
from .row_table import DistinctRows, RowTable

_STAGE = "the mask table"

# States between two looks at the limits.
_STRIDE = 256


def byte_rows(
    dfa: ByteDfa,
    trie: Trie,
    live: NDArray[np.bool_],
    eos: Sequence[int],
    vocab_size: int,
    limits: Limits | None = None,
    most_bytes: int | None = None,
    subtrees: Subtrees | None = None,
) -> RowTable | None:
    """The row of every state of a byte DFA: all tokens whose bytes lead to a live state, those of
    terminals that do, and ``eos`` where a text may end.

    ``live``: bool (S,). None if the rows have more than ``most_bytes``. ``subtrees``: of
    the trie, for many times the speed where states loop. Raises ``LimitError``.
    """
    limits = (limits or Limits()).started()
    distinct = DistinctRows(vocab_size, limits)
    others = _OtherTokens(dfa, live, eos)
    numbers = np.zeros(dfa.states, dtype=np.int64)
    numbers[DEAD] = distinct.of_ids(np.zeros(0, dtype=np.int32))
    states = np.delete(np.arange(dfa.states), DEAD)
    for functions in token_functions(trie, dfa.table, dfa.classes, states, subtrees=subtrees):
        sets = _TokenSets(functions, distinct.words)
        known: dict[tuple[bytes, bytes], int] = {}
        for done, (state, classes) in enumerate(_classes_of_states(functions, live)):
            key = classes.tobytes(), others.key(state)
            if key not in known:
                known[key] = sets.number(classes, others.ids(state), distinct)
            numbers[state] = known[key]
            if done % _STRIDE == 0:
                limits.check_resources(_STAGE)
            if most_bytes is not None and distinct.bytes > most_bytes:
                return None
    return distinct.table(numbers)


def _classes_of_states(
    functions: TokenFunctions, live: NDArray[np.bool_]
) -> Iterator[tuple[int, NDArray[np.int32]]]:
    """Each state of ``functions`` with the functions that map it to a live one, int32,
    ascending."""
    kept = live[functions.targets]
    owners = np.repeat(
        np.arange(len(functions.offsets) - 1, dtype=np.int32), np.diff(functions.offsets)
    )[kept]
    sources = functions.sources[kept]
    order = np.argsort(sources, kind="stable")
    owners, sources = owners[order], sources[order]
    bounds = np.searchsorted(sources, np.append(functions.starts, len(live))).tolist()
    for state, low, high in zip(functions.starts.tolist(), bounds, bounds[1:], strict=False):
        yield state, owners[low:high]


class _OtherTokens:
    """What a state allows besides the tokens that it reads as bytes: terminals, end of text."""

    def __init__(self, dfa: ByteDfa, live: NDArray[np.bool_], eos: Sequence[int]) -> None:
        first = dfa.table.shape[1] - len(dfa.terminals)
        self._terminals = dfa.terminals
        self._reached = live[dfa.table[:, first:]]
        self._ends = dfa.accepting != 0
        self._eos = np.array(eos, dtype=np.int32)
        both = np.concatenate([self._reached, self._ends[:, None]], axis=1)
        packed = np.packbits(both, axis=1)
        self._keys, self._length = packed.tobytes(), packed.shape[1]

    def key(self, state: int) -> bytes:
        """Equal for states that have the same of these tokens."""
        return self._keys[state * self._length : (state + 1) * self._length]

    def ids(self, state: int) -> NDArray[np.int32]:
        """These tokens, int32, in any order."""
        ids, _ = self._terminals.select(self._reached[state])
        return np.concatenate([ids, self._eos]) if self._ends[state] else ids


class _TokenSets:
    """Unions of classes of tokens, as rows."""

    def __init__(self, functions: TokenFunctions, words: int) -> None:
        count = len(functions.offsets) - 1
        self._sizes = np.bincount(functions.classes, minlength=count)
        self._sizes[0] = 0  # Function 0 is defined nowhere.
        self._bounds = np.cumsum(self._sizes) - self._sizes
        self._ids, self._classes, self._words = functions.ids, functions.classes, words

    def number(
        self, classes: NDArray[np.int32], more: NDArray[np.int32], distinct: DistinctRows
    ) -> int:
        """The number of the row of the tokens of ``classes`` and ``more``."""
        sizes = self._sizes[classes]
        if int(sizes.sum()) + len(more) < self._words:
            found = self._tokens[ranges(self._bounds[classes], sizes)]
            # No token has two functions.
            ids = np.unique(np.concatenate([found, more])) if len(more) else np.sort(found)
            return distinct.of_ids(ids)
        is_member = np.zeros(len(self._sizes), dtype=np.bool_)
        is_member[classes] = True
        flags = is_member.take(self._flags)
        flags[more] = True
        return distinct.of_flags(flags)

    @cached_property
    def _tokens(self) -> NDArray[np.int32]:
        """The tokens that some state reads, by class; made when the first list needs them."""
        read = np.flatnonzero(self._classes)
        classes = self._classes[read]
        if len(self._sizes) <= np.iinfo(np.uint16).max:
            classes = classes.astype(np.uint16)  # Sorted by radix, several times faster.
        found: NDArray[np.int32] = self._ids[read[np.argsort(classes, kind="stable")]]
        return found

    @cached_property
    def _flags(self) -> NDArray[np.intp]:
        """The class of each id, made when the first packed row needs it."""
        found = np.zeros(32 * self._words, dtype=np.intp)
        found[self._ids] = self._classes
        return found
