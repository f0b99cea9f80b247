"""The members of a grammar as a tokenizer cuts them: a byte DFA and a marked one in step."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from constrain.artifacts.pretokenizer.dfa import begins_character

from ..automata.dfa import Dfa
from ..limits import Limits
from ..pretokenizer.boundary_tables import PretokenizerTables
from ..pretokenizer.marked_dfa import DEAD, reaching, synchronous_product
from ..pretokenizer.prefix_and_replacement import members_behind

_STAGE = "the product with the tokenizer's cuts"


@dataclass(frozen=True, slots=True, eq=False)
class Product:
    """A trimmed automaton over (plane, byte); state 0 is dead (``pretokenizer.marked_dfa`` names
    the planes).

    ``table``: int32 (N, P, J), by plane and byte class. ``classes``: uint8 (256,), byte to one
    of J classes. ``accepting``: bool (N,). ``byte_state``, ``cut_state``: int32 (N,), what each
    state is a pair of. ``start``: the state at the start of a text. ``after_cut``: int32 (S,),
    for each state of the cuts the one in which a member begins there, 0 for none.
    """

    table: NDArray[np.int32]
    classes: NDArray[np.uint8]
    accepting: NDArray[np.bool_]
    byte_state: NDArray[np.int32]
    cut_state: NDArray[np.int32]
    start: int
    after_cut: NDArray[np.int32]

    @property
    def states(self) -> int:
        """Number of states, the dead one included."""
        return len(self.table)

    @property
    def is_open(self) -> NDArray[np.bool_]:
        """States where the text may end or a piece may start: whatever token came before."""
        opened: NDArray[np.bool_] = (self.table[:, 1::2] != DEAD).any(axis=(1, 2))
        return opened | self.accepting


def build_product(
    dfa: Dfa,
    tables: PretokenizerTables,
    limits: Limits | None = None,
) -> Product:
    """All pairs that lie on a way from a start to an accepting pair, breadth first.

    A text begins with the prefix of ``tables`` if it is not empty; behind a prompt, in whatever
    state of the cuts, without it. Raises ``LimitError``.
    """
    limits = (limits or Limits()).started()
    cuts, continued = tables.dfa, dfa.start
    if tables.prefix:
        once = tables.unless_begun
        dfa, continued = members_behind(dfa, tables.prefix, limits, unless_begun=once)
    joint, classes = _joint_classes(dfa, tables.classes)
    ends = np.flatnonzero(begins_character(cuts.table, tables.classes) | cuts.final)
    # Behind some prompts ("don't") the cuts are where they were before any text. Without a prefix
    # that pair is the start's own.
    begins = np.setdiff1d(ends, [DEAD, cuts.start] if continued == dfa.start else [DEAD])
    width = np.int64(cuts.states)

    def check(count: int) -> None:
        limits.check_states(count, _STAGE)
        limits.check_time(_STAGE)

    pairs, table = synchronous_product(
        dfa.table[:, dfa.classes[joint]][:, None, :],
        cuts.table[:, :, tables.classes[joint]],
        np.append(dfa.start * width + cuts.start, continued * width + begins),
        check,
    )
    byte_state, cut_state = np.divmod(pairs, width)
    accepting = dfa.accepting[byte_state] & cuts.final[cut_state]
    accepting[DEAD] = False
    after_cut = np.zeros(cuts.states, dtype=np.int32)
    after_cut[cuts.start] = 1
    after_cut[begins] = 2 + np.arange(len(begins))
    return _trimmed(table, classes, accepting, byte_state, cut_state, after_cut)


def _joint_classes(
    dfa: Dfa, cut_classes: NDArray[np.uint8]
) -> tuple[NDArray[np.int64], NDArray[np.uint8]]:
    """A byte of each class that neither automaton divides, and the class of each byte.

    Bytes that no member has are one class.
    """
    keys = dfa.classes.astype(np.int64) * 256 + cut_classes
    keys[~dfa.used_bytes()] = -1
    _, joint, classes = np.unique(keys, return_index=True, return_inverse=True)
    return joint, classes.reshape(-1).astype(np.uint8)


def _trimmed(
    table: NDArray[np.int32],
    classes: NDArray[np.uint8],
    accepting: NDArray[np.bool_],
    byte_state: NDArray[np.int64],
    cut_state: NDArray[np.int64],
    after_cut: NDArray[np.int32],
) -> Product:
    """Only states from which the end can be reached (all were reached); the start is 1."""
    live = reaching(table, accepting)
    live[DEAD] = False
    kept = np.flatnonzero(live)
    number = np.zeros(len(table), dtype=np.int32)
    number[kept] = np.arange(1, len(kept) + 1)
    kept = np.concatenate([[DEAD], kept])
    return Product(
        table=number[table[kept]],
        classes=classes,
        accepting=accepting[kept],
        byte_state=byte_state[kept].astype(np.int32),
        cut_state=cut_state[kept].astype(np.int32),
        start=int(number[1]),
        after_cut=number[after_cut],
    )
