"""The canonical machine of an artifact of the kind ``network``, from its sections.

Where a normalizer comes before the tokenizer, the cuts are those of texts whose characters are
stable each by itself: some rows of their table are others (``alone``), and of the inert cuts
some of those again (``inert``, see ``doubts``).
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .canonical_masks import CanonicalMasks
from .closed_rows import ClosedRows
from .cuts import Cuts, whole_pieces
from .errors import ArtifactError
from .moves import Moves
from .network import Network
from .network_tables import NetworkTables
from .rectangles import ForbiddenPairs
from .stacks import BOTTOM
from .vocabulary import Vocabulary

Arrays = Mapping[str, NDArray[Any]]


class CanonicalNetwork(CanonicalMasks):
    """``tables``: of the grammar; texts begin behind the prefix of the cuts. ``arrays``: the
    tokenizer's sections, and the rows that were worked out ahead, if there are any."""

    def __init__(
        self, tables: NetworkTables, arrays: Arrays, eos: Sequence[int], vocabulary: Vocabulary
    ) -> None:
        prefix = arrays["cuts.prefix"].tobytes()
        whole = behind_prefix(tables, prefix) if prefix else tables
        # Where a member begins behind a prompt.
        self._begin = whole.states - 1 if prefix else whole.start
        network = Network(whole)
        self._prompts = cuts_of_sections(arrays)
        final = arrays["cuts.final"].astype(np.bool_)
        cuts, final = patched(self._prompts, final, arrays, "alone")
        super().__init__(
            network,
            Moves(network, lambda token: [vocabulary.token(token)]).step,
            cuts,
            final,
            ForbiddenPairs.from_arrays(arrays, "pairs."),
            vocabulary,
            eos,
            vocabulary.size,
            self._begin,
            ClosedRows(arrays, whole.states, len(cuts.table)) if "closed.keys" in arrays else None,
        )

    def state_after(self, after: Sequence[int]) -> int:
        """Where a member begins behind a prompt. Raises ``ArtifactError`` if none can."""
        states, last = self._prompts.after(after, self.vocabulary, self.pairs)
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


def cuts_of_sections(arrays: Arrays) -> Cuts:
    """The cuts of all texts."""
    return Cuts(
        arrays["cuts.table"],
        arrays["cuts.classes"],
        arrays["cuts.fallback"],
        int(arrays["cuts.start"][0]),
        whole_pieces(arrays),
    )


def patched(
    cuts: Cuts, final: NDArray[np.bool_], arrays: Arrays, name: str
) -> tuple[Cuts, NDArray[np.bool_]]:
    """Cuts with the rows of a patch in place of theirs and behind them, if there is one."""
    if f"{name}.states" not in arrays:
        return cuts, final
    states, rows = arrays[f"{name}.states"], arrays[f"{name}.rows"]
    size = max(len(cuts.table), int(states.max(initial=0)) + 1)
    table = np.zeros((size, *cuts.table.shape[1:]), dtype=np.int32)
    table[: len(cuts.table)] = cuts.table
    table[states] = rows
    return replace(cuts, table=table), np.append(final, np.zeros(size - len(final), np.bool_))


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
