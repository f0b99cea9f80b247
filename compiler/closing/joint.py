"""A network's own edges in step with the cuts, as one table over pairs of states."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from constrain.artifacts.cuts import Cuts
from constrain.artifacts.endings import Endings
from constrain.artifacts.network_tables import DEAD, NetworkTables


@dataclass(frozen=True, slots=True, eq=False)
class Joint:
    """``table``: int32 (planes · n, J), the pair (of ``Endings``) after a byte of each class, 0
    dead; row plane · n + pair where the byte is the first of a token. ``classes``: int64
    (256,), the class of each byte. ``octets``: a byte of each class. ``stops``: bool (n,),
    pairs in which a call begins or ends.
    """

    table: NDArray[np.int32]
    classes: NDArray[np.int64]
    octets: list[int]
    stops: NDArray[np.bool_]

    @property
    def pairs(self) -> int:
        """Number of pairs, n, pair 0 included."""
        return len(self.stops)


def joint_table(tables: NetworkTables, cuts: Cuts, endings: Endings) -> Joint:
    """All pairs of ``endings``; bytes that lead nowhere are one class."""
    used = (tables.table != DEAD).any(axis=0)[tables.classes]
    keys = np.where(used, tables.classes.astype(np.int64) * 256 + cuts.classes, -1)
    _, octets, classes = np.unique(keys, return_index=True, return_inverse=True)
    after = tables.table[endings.states][:, tables.classes[octets]].astype(np.int64)
    planes = [
        endings.pair[after, cuts.table[endings.cut_of, plane][:, cuts.classes[octets]]]
        for plane in range(cuts.table.shape[1])
    ]
    stops = ((tables.accepting != 0) | (np.diff(tables.call_offsets) > 0))[endings.states]
    return Joint(np.concatenate(planes), classes.reshape(-1), octets.tolist(), stops)
