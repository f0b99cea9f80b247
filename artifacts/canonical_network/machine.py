"""The canonical machine of an artifact of the kind ``network``, from its sections."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..bpe.forbidden_pairs import ForbiddenPairs
from ..errors import ArtifactError
from ..network.configurations import BOTTOM, Network
from ..network.lazy_token_effects import LazyTokenEffects
from ..network.tables import NetworkTables
from ..pretokenizer.dfa import PretokenizerDfa, whole_pieces
from ..tokens.memo import CacheBudget
from ..tokens.vocabulary import Vocabulary
from .masks import CanonicalMasks
from .precomputed_rows import PrecomputedRows

Arrays = Mapping[str, NDArray[Any]]


class CanonicalNetwork(CanonicalMasks):
    """``tables``: of the grammar; texts begin behind the prefix of the cuts. ``arrays``: the
    tokenizer's sections, and the rows that were worked out ahead, if there are any."""

    def __init__(
        self,
        tables: NetworkTables,
        arrays: Arrays,
        eos: Sequence[int],
        vocabulary: Vocabulary,
        caches: CacheBudget | None = None,
    ) -> None:
        prefix = arrays["cuts.prefix"].tobytes()
        whole = behind_prefix(tables, prefix) if prefix else tables
        # Where a member begins behind a prompt.
        self._begin = whole.states - 1 if prefix else whole.start
        network = Network(whole)
        start = int(arrays["cuts.start"][0])
        cuts = PretokenizerDfa(
            arrays["cuts.table"],
            arrays["cuts.classes"],
            arrays["cuts.fallback"],
            start,
            whole_pieces(arrays),
        )
        super().__init__(
            network,
            LazyTokenEffects(network, lambda token: [vocabulary.token(token)]).step,
            cuts,
            arrays["cuts.final"].astype(np.bool_),
            ForbiddenPairs.from_arrays(arrays, "pairs."),
            vocabulary,
            eos,
            vocabulary.size,
            self._begin,
            PrecomputedRows(arrays, whole.states, len(cuts.table))
            if "closed.keys" in arrays
            else None,
            caches,
        )

    def state_after(self, after: Sequence[int]) -> int:
        """Where a member begins behind a prompt. Raises ``ArtifactError`` if none can."""
        states, last = self.cuts.after(after, self.vocabulary, self.pairs)
        if last is None:
            return self.start
        # The network's own start knows of the empty member, too.
        begin = self.network.start
        if self._begin != self.network.tables.start:
            begin = self.network.configuration({self._begin: BOTTOM})
        state = self.state_of(begin, states, last)
        if not self.row(state).any():
            raise ArtifactError(
                f"no member of the grammar continues token {last}: the tokenizer would join "
                f"each first token to it"
            )
        return state


def behind_prefix(tables: NetworkTables, prefix: bytes) -> NetworkTables:
    """The members that are not empty behind ``prefix``, and the empty one.

    The states added are those that read the prefix, the first of which is the start, and last
    one where a member begins at once.
    """
    size, columns = tables.table.shape
    classes, joint = _with_own_classes(tables, prefix)
    table = np.zeros((size + len(prefix) + 1, columns + len(joint)), dtype=np.int32)
    byte_columns = int(tables.classes.max()) + 1
    table[:size, :byte_columns] = tables.table[:, :byte_columns]
    for column, octet in joint.items():
        table[:size, column] = tables.table[:, tables.classes[octet]]
    table[-1] = table[tables.start]
    for place, octet in enumerate(prefix):
        after = size + place + 1 if place + 1 < len(prefix) else tables.start
        table[size + place, classes[octet]] = after
    more = np.zeros(len(prefix) + 1, dtype=np.uint8)
    more[[0, -1]] = tables.nullable_start
    low, high = tables.call_offsets[tables.start : tables.start + 2].tolist()
    end = int(tables.call_offsets[-1])
    offsets = [*[end] * len(prefix), end + high - low]
    return replace(
        tables,
        table=table,
        classes=classes,
        accepting=np.append(tables.accepting, more),
        call_offsets=np.append(tables.call_offsets, offsets).astype(np.int64),
        call_starts=np.append(tables.call_starts, tables.call_starts[low:high]),
        call_returns=np.append(tables.call_returns, tables.call_returns[low:high]),
        start=size,
        nullable_start=False,
    )


def _with_own_classes(
    tables: NetworkTables, prefix: bytes
) -> tuple[NDArray[np.uint8], dict[int, int]]:
    """Byte classes in which each byte of the prefix has a column of its own; the new columns,
    each with its byte. (``tables`` have no token terminals.)"""
    classes = tables.classes.astype(np.int64)
    joint: dict[int, int] = {}
    for octet in sorted(set(prefix)):
        if np.count_nonzero(classes == classes[octet]) > 1:
            column = int(classes.max()) + 1
            joint[column] = octet
            classes[octet] = column
    return classes.astype(np.uint8), joint
