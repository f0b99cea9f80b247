"""The members of a grammar as a tokenizer splits them: byte DFA × pre-tokenizer DFA.

The synchronous product reads marked bytes (``pretokenizer.marked_dfa`` has the marks). It begins
in the pair of both start states, and, for prompts, in the pairs of the state in which a member
begins there with each state of the pre-tokenizer DFA in which a character may begin. Only states on
a path to an accepting one are in it: these are found as for networks, by the sets of pre-tokenizer
states beside each state of the byte DFA, and then all of the table is filled in at once.
"""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from constrain.artifacts.canonical_network.byte_edges import reached, reading_of
from constrain.artifacts.canonical_network.live_sets import LiveSets
from constrain.artifacts.kinds.without_calls import network_without_calls
from constrain.artifacts.tokenizer_steps.byte_sets import ByteSets, of_flags
from constrain.artifacts.tokenizer_steps.pretokenizer import PretokenizerDfa
from constrain.artifacts.tokens.sharing import recent

from ..automata.dfa import Dfa
from ..limits import Limits
from ..progress import Progress, silent
from ..tokenizer_steps.boundary_tables import PretokenizerTables
from ..tokenizer_steps.marked_dfa import DEAD, PairNumbers

# States that are renumbered at a time.
_STRIDE = 4096

_STAGE = "the product with the pre-tokenizer"


@dataclass(frozen=True, slots=True, eq=False)
class Product:
    """A trimmed automaton over (mark, byte); state 0 is dead.

    ``table``: int32 (N, M, J), next state by mark and byte class. ``classes``: uint8 (256,), byte
    to one of J classes. ``accepting``: bool (N,). ``byte_state``, ``pre_state``: int32 (N,), the
    states of both that each is of. ``start``: the state at the start of a text. ``begins``: int32,
    those in which a member begins after a prompt. ``texts``: the byte DFA. ``numbers``: the states
    of pairs ``byte_state * Q + pre_state``. ``at_boundary``: bool (N,), states at a free boundary:
    the text may end or a pre-token may start here, whatever the token before it was.
    """

    table: NDArray[np.int32]
    classes: NDArray[np.uint8]
    accepting: NDArray[np.bool_]
    byte_state: NDArray[np.int32]
    pre_state: NDArray[np.int32]
    start: int
    begins: NDArray[np.int32]
    texts: Dfa
    numbers: PairNumbers
    at_boundary: NDArray[np.bool_] = field(init=False)

    def __post_init__(self) -> None:
        found = self.accepting.copy()
        for mark in range(1, self.table.shape[1], 2):
            found |= self.table[:, mark].max(axis=1, initial=DEAD) > DEAD
        object.__setattr__(self, "at_boundary", found)

    @property
    def states(self) -> int:
        """Number of states, the dead one included."""
        return len(self.table)


def build_product(
    dfa: Dfa,
    tables: PretokenizerTables,
    limits: Limits | None = None,
    progress: Progress = silent,
    continued: int | None = None,
) -> Product:
    """All pairs on a path from a start to an accepting pair, numbered by the states of ``dfa``.

    ``dfa``: of the texts with what the tokenizer puts before them. ``continued``: its state in
    which a member begins after a prompt; None without prompts. Raises ``LimitError``.
    """
    limits = (limits or Limits()).started()
    pretokenizer, width = tables.dfa, tables.dfa.states
    joint, classes = _joint_classes(dfa, tables.classes)
    row_bytes = 4 * pretokenizer.table.shape[1] * len(joint)

    def check(count: int) -> None:
        limits.check_states(count, _STAGE)
        limits.check_memory(count * row_bytes, _STAGE)
        limits.check_resources(_STAGE)
        # How many there will be is not known: at least as many as the DFA's.
        progress(_STAGE, count, max(count, dfa.states))

    network = network_without_calls(dfa.tables())
    marked = PretokenizerDfa(
        pretokenizer.table, tables.classes, tables.fallback, pretokenizer.start
    )
    sets, reading = recent(ByteSets, pretokenizer.table), reading_of(network, marked)
    prompted = 0
    if continued is not None:
        prompted = of_flags(sets.between(tables.classes) | pretokenizer.final) & sets.all
    begun = {continued or DEAD: prompted}
    begun[dfa.start] = begun.get(dfa.start, 0) | 1 << pretokenizer.start
    live = LiveSets(network, reading, sets, sets.all)
    ends = live.number(of_flags(pretokenizer.final) & sets.all)
    found, all_met = [np.zeros((2, 1), dtype=np.int32)], reached(network, reading, sets, begun)
    check(sum(map(int.bit_count, all_met)))
    for state, met in enumerate(all_met):
        if met and (both := met & live.of(ends, state)):
            pre_states = np.flatnonzero(sets.flags(both)).astype(np.int32)
            found.append(np.stack([np.full_like(pre_states, state), pre_states]))
    byte_state, pre_state = np.concatenate(found, axis=1)
    numbers = PairNumbers(dfa.states * width)
    numbers.add(byte_state * np.int64(width) + pre_state)
    kind = np.int32 if dfa.states * width <= np.iinfo(np.int32).max else np.int64
    first = dfa.table[:, dfa.classes[joint]][:, None] * np.array(width, dtype=kind)
    second = pretokenizer.table[:, :, tables.classes[joint]]
    table = np.empty((len(byte_state), *second.shape[1:]), dtype=np.int32)
    for low in range(0, len(table), _STRIDE):
        some = slice(low, low + _STRIDE)
        pairs = first[byte_state[some]] + second[pre_state[some]]
        np.maximum(numbers.of(pairs), DEAD, out=table[some])
        check(len(table))
    accepting = dfa.accepting[byte_state] & pretokenizer.final[pre_state]
    accepting[DEAD] = False
    is_begin = (byte_state == continued) & sets.flags(prompted)[pre_state]
    is_start = (byte_state == dfa.start) & (pre_state == pretokenizer.start)
    start = int(np.flatnonzero(is_start).max(initial=DEAD))
    begins = np.flatnonzero(is_begin & ~is_start).astype(np.int32)
    return Product(table, classes, accepting, byte_state, pre_state, start, begins, dfa, numbers)


def _joint_classes(
    dfa: Dfa, other_classes: NDArray[np.uint8]
) -> tuple[NDArray[np.int64], NDArray[np.uint8]]:
    """One byte of each class that neither automaton divides, and the class of each byte, (256,).

    ``other_classes``: the class of each byte in the second. Bytes of no member are one class.
    """
    keys = dfa.classes.astype(np.int64) * 256 + other_classes
    keys[~dfa.used_bytes()] = -1
    _, joint, classes = np.unique(keys, return_index=True, return_inverse=True)
    return joint, classes.reshape(-1).astype(np.uint8)
