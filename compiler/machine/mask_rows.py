"""Rows of the masks of regular grammars: of a byte DFA and of a token DFA, computed in bulk.

    DFA over bytes, token trie   ->   for each state the tokens that lead to a live state
    DFA over tokens              ->   for each state the tokens that it has an edge for

``byte_rows`` has the rows of the first. They are left out only if tokens lead from every state to
the end: then a network's machine computes the same rows one at a time. A test compares them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from constrain.artifacts.dfa.byte_dfa import DEAD, ByteDfa
from constrain.artifacts.errors import visible
from constrain.artifacts.tokens import tokenset
from constrain.artifacts.tokens.subtrees import subtrees_of
from constrain.artifacts.tokens.trie import Trie, trie_arrays, walk

from ..diagnostics import LimitError, TokenizerError
from ..limits import Limits
from ..options import ArtifactRequest
from ..progress import Step
from .byte_rows import byte_rows
from .row_table import DistinctRows, RowTable
from .unspelled_members import shortest_unspelled

if TYPE_CHECKING:
    from ..merge.direct_merge import CanonicalDfa
    from ..token_ids import TokenColumns
    from ..tokenizers import Tokenizer

_STAGE = "the mask table"


@dataclass(frozen=True, slots=True, eq=False)
class Masks:
    """What masks are looked up in, or what they are computed from lazily.

    ``sections``: of the artifact. ``counts``: of its manifest. ``notes``: for the user.
    ``is_complete``: not where rows are left out that were wanted.
    """

    sections: Mapping[str, NDArray[Any]]
    counts: Mapping[str, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    is_complete: bool = True


@Step("precompute")
def precompute(columns: "TokenColumns", request: ArtifactRequest["Tokenizer"], taken: int) -> Masks:
    """Rows of a byte DFA: if they fit and are wanted, and whenever masks without them could lead
    into a dead end.

    ``taken``: bytes that the artifact's other sections have. Raises ``TokenizerError`` if the
    tokenizer can spell no member, and ``LimitError`` for rows that are needed.
    """
    dfa, size = columns.dfa, request.vocab_size
    tables = dfa.tables(columns.classes)
    trie = request.trie
    live = live_states(tables, trie)
    if not live[dfa.start]:
        base, known = request.tokenizer.base, request.tokenizer.tokens
        used = np.flatnonzero(dfa.used_bytes()).tolist()
        lost = [f"0x{o:02X}" for o in used if base[o] not in known]
        raise TokenizerError(
            f"{visible(request.tokenizer.name)}: the tokenizer can spell no member: it has no "
            f"token for {', '.join(lost[:8])}"
        )
    notes = _unspelled(columns, request)
    most: int | None = request.options.rows_bytes(request.options.max_artifact_bytes - taken)
    if not np.delete(live, DEAD).all():
        most = None
    elif request.options.prewarm == 0:
        return Masks(for_lazy_masks(taken, request), notes=notes)
    subtrees = subtrees_of(request.trie)
    limits = request.limits if most is None else request.options.rows_limits
    try:
        table = byte_rows(tables, trie, live, request.eos, size, limits, most, subtrees)
    except LimitError as error:
        if most is None or not error.is_measured:
            raise
        table = None
    if table is None:
        return Masks({}, notes=notes, is_complete=False)
    return replace(_stored(table), notes=notes)


def _unspelled(columns: "TokenColumns", request: ArtifactRequest["Tokenizer"]) -> tuple[str, ...]:
    """A note that names the shortest member that no tokens spell, if there is one."""
    lost = columns.dfa.used_bytes() & ~request.vocabulary.spelled_bytes
    text = shortest_unspelled(columns.dfa, request.trie) if lost.any() else None
    if text is None:
        return ()
    name = repr(visible(text.decode("utf-8", "backslashreplace")))
    return (
        f"members that no tokens spell are left out, the shortest is {name}: the tokenizer has no "
        f"token for a part of it",
    )


def for_lazy_masks(taken: int, request: ArtifactRequest["Tokenizer"]) -> dict[str, NDArray[Any]]:
    """The sections of the token trie, where masks are computed while decoding and there is room
    beside ``taken`` bytes."""
    found = trie_arrays(request.trie, "trie.")
    size = taken + sum(array.nbytes for array in found.values())
    return found if size <= request.options.max_artifact_bytes else {}


@Step("precompute")
def precompute_tokens(
    canonical: "CanonicalDfa", request: ArtifactRequest["Tokenizer"], taken: int
) -> Masks:
    """Rows of a token DFA if they fit, else the packed bits that they can be unpacked from."""
    size = request.vocab_size
    # With one row a state it would keep its size; equal and short rows only shrink it.
    largest = canonical.dfa.states * tokenset.word_count(size) * 4
    if largest <= request.options.rows_bytes(request.options.max_artifact_bytes - taken):
        return _stored(token_rows(canonical, request.eos, size, request.limits))
    sections: dict[str, NDArray[Any]] = {
        "tokens.allowed": canonical.allowed,
        "tokens.allowed_offsets": canonical.allowed_offsets,
    }
    return Masks(sections, is_complete=False)


def _stored(table: RowTable) -> Masks:
    sections: dict[str, NDArray[Any]] = {
        "rows": table.rows,
        "row_of": table.row_of,
        "row_ids": table.ids,
        "row_offsets": table.offsets,
    }
    return Masks(sections, {"rows": table.count})


def token_rows(
    canonical: "CanonicalDfa", eos: Sequence[int], vocab_size: int, limits: Limits | None = None
) -> RowTable:
    """The row of every state of a token DFA. Raises ``LimitError``."""
    dfa = canonical.dfa
    limits = (limits or Limits()).started()
    distinct = DistinctRows(vocab_size, limits)
    flags = np.zeros(distinct.words * 32, dtype=np.bool_)
    numbers = np.zeros(dfa.states, dtype=np.int64)
    for state in range(dfa.states):
        tokens = dfa.edges_of(state)[0]
        flags[tokens] = canonical.flags(state)
        flags[list(eos)] |= bool(dfa.accepting[state])
        numbers[state] = distinct.of_flags(flags)
        flags[tokens] = False
        flags[list(eos)] = False
        limits.check_resources(_STAGE)
    return distinct.table(numbers)


def live_states(dfa: ByteDfa, trie: Trie) -> NDArray[np.bool_]:
    """States from which whole tokens reach an accepting state, shape (S,).

    All states but the dead one wherever every byte has a token of its own; a vocabulary
    that lacks bytes can leave a state that no token leads out of.
    """
    singles = trie.octets[trie.first[0] : trie.first[1]]
    has_token = np.diff(trie.held[trie.first[0] : trie.first[1] + 1]) > 0
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
