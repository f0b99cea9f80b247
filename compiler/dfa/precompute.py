"""Rows of the masks of regular grammars: of a byte DFA and of a token DFA, computed in bulk.

    DFA over bytes, token trie   ->   for each state the tokens that lead to a live state
    DFA over tokens              ->   for each state the tokens that it has an edge for

``constrain.artifacts.dfa.mask_rows`` computes the same rows one by one; a test compares them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from constrain.artifacts.dfa.byte_dfa import DEAD, ByteDfa
from constrain.artifacts.tokens import tokenset
from constrain.artifacts.tokens.trie import Trie, walk

from ..diagnostics import TokenizerError
from ..limits import Limits
from ..options import ArtifactRequest

if TYPE_CHECKING:
    from ..cartesian.cartesian_merge import CartesianDfa
    from ..merge.direct_merge import CanonicalDfa
    from ..token_ids import TokenColumns
    from ..tokenizers import Tokenizer

_STAGE = "the mask table"

# Booleans that one block of unpacked rows may hold.
_BLOCK = 1 << 25


@dataclass(frozen=True, slots=True, eq=False)
class RowTable:
    """``rows``: uint32 (R, ceil(V / 32)), all different. ``row_of``: int32 (S,)."""

    rows: NDArray[np.uint32]
    row_of: NDArray[np.int32]


@dataclass(frozen=True, slots=True, eq=False)
class Masks:
    """What masks are looked up in, or what they are computed from lazily.

    ``sections``: of the artifact. ``counts``: of its manifest. ``notes``: for the user.
    """

    sections: Mapping[str, NDArray[Any]]
    counts: Mapping[str, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


def precompute(columns: "TokenColumns", request: ArtifactRequest["Tokenizer"], taken: int) -> Masks:
    """Rows of a byte DFA if they fit, else which states are live, for walks while decoding.

    ``taken``: bytes that the artifact's other sections have. Raises ``TokenizerError`` if the
    tokenizer can spell no member, and ``LimitError``.
    """
    dfa, size = columns.dfa, request.vocab_size
    tables = dfa.tables(columns.classes)
    trie = Trie.from_vocabulary(request.tokenizer.vocabulary(size))
    live = live_states(tables, trie)
    if not live[dfa.start]:
        base = request.tokenizer.base
        lost = [f"0x{o:02X}" for o in np.flatnonzero(dfa.used_bytes()).tolist() if base[o] < 0]
        raise TokenizerError(
            f"{request.tokenizer.name}: the tokenizer can spell no member: it has no token for "
            f"{', '.join(lost[:8])}"
        )
    if not _fits(dfa.states, request, taken):
        return Masks({"dfa.live": live.astype(np.uint8)}, notes=(_left_out(request),))
    return _stored(byte_rows(tables, trie, live, request.eos, size, request.limits))


def precompute_tokens(
    canonical: "CanonicalDfa | CartesianDfa", request: ArtifactRequest["Tokenizer"], taken: int
) -> Masks:
    """Rows of a token DFA if they fit, else the packed bits that they can be unpacked from.

    A product has rows of its own, so nothing is added for it.
    """
    from ..cartesian.cartesian_merge import CartesianDfa

    if isinstance(canonical, CartesianDfa):
        return Masks({})
    if _fits(canonical.dfa.states, request, taken):
        size = request.vocab_size
        return _stored(token_rows(canonical, request.eos, size, request.limits))
    sections: dict[str, NDArray[Any]] = {
        "tokens.allowed": canonical.allowed,
        "tokens.allowed_offsets": canonical.allowed_offsets,
    }
    return Masks(sections, notes=(_left_out(request),))


def _stored(table: RowTable) -> Masks:
    return Masks({"rows": table.rows, "row_of": table.row_of}, {"rows": len(table.rows)})


def _fits(rows: int, request: ArtifactRequest["Tokenizer"], taken: int) -> bool:
    """Whether a file with one row a state would keep its size; equal rows only shrink it."""
    size = taken + rows * tokenset.word_count(request.vocab_size) * 4
    return size <= request.options.max_artifact_bytes


def _left_out(request: ArtifactRequest["Tokenizer"]) -> str:
    return (
        f"the mask rows would make the artifact larger than "
        f"{request.options.max_artifact_bytes:,} bytes: they are left out and computed at run "
        f"time (--max-artifact-bytes)"
    )


class _Distinct:
    """Collects rows, each once."""

    def __init__(self, words: int, limits: Limits) -> None:
        self._known: dict[bytes, int] = {}
        self._row_of: list[int] = []
        self._words = words
        self._limits = limits

    def add(self, flags: NDArray[np.bool_]) -> None:
        for row in tokenset.from_flags(flags):
            self._row_of.append(self._known.setdefault(row.tobytes(), len(self._known)))
        self._limits.check_memory(len(self._known) * self._words * 4, _STAGE)
        self._limits.check_resources(_STAGE)

    def table(self) -> RowTable:
        rows = np.frombuffer(b"".join(self._known), dtype="<u4").reshape(-1, self._words)
        return RowTable(rows, np.array(self._row_of, dtype=np.int32))


def token_rows(
    canonical: "CanonicalDfa", eos: Sequence[int], vocab_size: int, limits: Limits | None = None
) -> RowTable:
    """The row of every state of a token DFA. Raises ``LimitError``."""
    dfa = canonical.dfa
    width = tokenset.word_count(vocab_size) * 32
    distinct = _Distinct(width // 32, (limits or Limits()).started())
    step = max(1, _BLOCK // width)
    for first in range(0, dfa.states, step):
        states = range(first, min(first + step, dfa.states))
        flags = np.zeros((len(states), width), dtype=np.bool_)
        for i, state in enumerate(states):
            flags[i, dfa.edges_of(state)[0]] = canonical.flags(state)
            if dfa.accepting[state]:
                flags[i, list(eos)] = True
        distinct.add(flags)
    return distinct.table()


def byte_rows(
    dfa: ByteDfa,
    trie: Trie,
    live: NDArray[np.bool_],
    eos: Sequence[int],
    vocab_size: int,
    limits: Limits | None = None,
) -> RowTable:
    """The row of every state of a byte DFA: all tokens whose bytes lead to a live state.

    Raises ``LimitError``.
    """
    width = tokenset.word_count(vocab_size) * 32
    distinct = _Distinct(width // 32, (limits or Limits()).started())
    first_terminal = dfa.table.shape[1] - len(dfa.terminals)
    step = max(1, _BLOCK // width)
    for first in range(0, dfa.states, step):
        states = np.arange(first, min(first + step, dfa.states))
        flags = np.zeros((len(states), width), dtype=np.bool_)
        for hits in walk(trie, dfa.table, dfa.classes, states):
            kept = live[hits.states]
            flags[hits.rows[kept], hits.tokens[kept]] = True
        targets = live[dfa.table[states, first_terminal:]]
        flags[:, dfa.terminals.ids] |= np.repeat(targets, dfa.terminals.sizes, axis=1)
        flags[np.ix_(dfa.accepting[states] != 0, eos)] = True
        distinct.add(flags)
    return distinct.table()


def live_states(dfa: ByteDfa, trie: Trie) -> NDArray[np.bool_]:
    """States from which whole tokens reach an accepting state, shape (S,).

    All states but the dead one wherever every byte has a token of its own; a vocabulary
    that lacks bytes can leave a state that no token leads out of.
    """
    singles = trie.octets[trie.first[0] : trie.first[1]]
    has_token = np.diff(trie.held)[trie.first[0] : trie.first[1]] > 0
    spelled = np.zeros(256, dtype=np.bool_)
    spelled[singles[has_token]] = True
    used = (dfa.table != DEAD).any(axis=0)[dfa.classes]
    if not (used & ~spelled).any():
        every: NDArray[np.bool_] = np.arange(dfa.states) != DEAD
        return every
    live: NDArray[np.bool_] = dfa.accepting != 0
    edges = [(h.rows, h.states) for h in walk(trie, dfa.table, dfa.classes, np.arange(dfa.states))]
    terminals = dfa.table[:, dfa.table.shape[1] - len(dfa.terminals) :]
    while True:
        before = int(live.sum())
        for rows, targets in edges:
            live[rows[live[targets]]] = True
        live |= live[terminals].any(axis=1)
        live[DEAD] = False
        if int(live.sum()) == before:
            return live
