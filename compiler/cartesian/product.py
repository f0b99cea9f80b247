"""The members of a grammar as a tokenizer splits them: byte DFA × pre-tokenizer DFA.

The synchronous product reads marked bytes (``pretokenizer.marked_dfa`` has the marks). It begins
in the pair of both start states, and, for prompts, in the pairs of the state in which a member
begins there with each state of the pre-tokenizer DFA in which a character may begin. Only states on
a path to an accepting one are in it.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from constrain.artifacts.canonical_network.contexts import TEXT_END
from constrain.artifacts.canonical_network.pretokenized import PretokenizedNetwork
from constrain.artifacts.pretokenizer.dfa import begins_character

from ..automata.dfa import Dfa
from ..limits import Limits
from ..pretokenizer.boundary_tables import PretokenizerTables
from ..pretokenizer.marked_dfa import DEAD, PairNumbers, reaching, synchronous_product
from ..progress import Progress, silent

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


def product_of(
    network: PretokenizedNetwork,
    tables: PretokenizerTables,
    limits: Limits | None = None,
    progress: Progress = silent,
) -> Product:
    """The product of a network without calls, also for what begins after a prompt, numbered by the
    network's states. Raises ``LimitError``."""
    limits = (limits or Limits()).started()
    t, pretokenizer = network.network.tables, tables.dfa
    accepting = t.accepting != 0
    accepting[t.start] |= t.nullable_start
    dfa = Dfa(t.table, t.classes, accepting, t.start, ())
    width, sets = pretokenizer.states, network.sets
    # Which pairs texts lead to, and lead from to an end, the contexts know.
    found = [np.zeros((2, 1), dtype=np.int32)]
    for state, met in enumerate(network.reached):
        if live := met & network.contexts.live(state, TEXT_END):
            pre_states = np.flatnonzero(sets.flags(live)).astype(np.int32)
            found.append(np.stack([np.full_like(pre_states, state), pre_states]))
    byte_state, pre_state = np.concatenate(found, axis=1)
    joint, classes = _joint_classes(dfa, tables.classes)
    check = _checked(dfa, 4 * pretokenizer.table.shape[1] * len(joint), limits, progress)
    check(len(byte_state))
    numbers = PairNumbers(dfa.states * width)
    numbers.add(byte_state * np.int64(width) + pre_state)
    first = dfa.table[:, dfa.classes[joint]].astype(np.int64)[:, None] * width
    second = pretokenizer.table[:, :, tables.classes[joint]]
    table = np.empty((len(byte_state), *second.shape[1:]), dtype=np.int32)
    for low in range(0, len(table), _STRIDE):
        some = slice(low, low + _STRIDE)
        pairs = first[byte_state[some]] + second[pre_state[some]]
        np.maximum(numbers.of(pairs), DEAD, out=table[some])
        check(low)
    ends = accepting[byte_state] & pretokenizer.final[pre_state]
    ends[DEAD] = False
    prompted = t.start if network.continued is None else network.continued
    between = sets.between(tables.classes) | pretokenizer.final
    begins = numbers.of(prompted * np.int64(width) + np.flatnonzero(between))
    start = int(numbers.of(np.array([t.start * np.int64(width) + pretokenizer.start]))[0])
    begins = begins[(begins > DEAD) & (begins != start)]
    return Product(
        table, classes, ends, byte_state, pre_state, max(start, DEAD), begins, dfa, numbers
    )


def build_product(
    dfa: Dfa,
    tables: PretokenizerTables,
    limits: Limits | None = None,
    progress: Progress = silent,
    continued: int | None = None,
) -> Product:
    """All pairs on a path from a start to an accepting pair, numbered breadth first.

    ``dfa``: of the texts with what the tokenizer puts before them. ``continued``: its state in
    which a member begins after a prompt; None without prompts. Raises ``LimitError``.
    """
    limits = (limits or Limits()).started()
    pretokenizer = tables.dfa
    joint, classes = _joint_classes(dfa, tables.classes)
    width = np.int64(pretokenizer.states)
    starts = np.array([dfa.start * width + pretokenizer.start])
    if continued is not None:
        ends = begins_character(pretokenizer.table, tables.classes) | pretokenizer.final
        ends[DEAD] = False
        begins = continued * width + np.flatnonzero(ends)
        starts = np.append(starts, np.setdiff1d(begins, starts))

    check = _checked(dfa, 4 * pretokenizer.table.shape[1] * len(joint), limits, progress)
    pairs, table = synchronous_product(
        dfa.table[:, dfa.classes[joint]][:, None, :],
        pretokenizer.table[:, :, tables.classes[joint]],
        starts,
        check,
    )
    byte_state, pretokenizer_state = np.divmod(pairs, width)
    accepting = dfa.accepting[byte_state] & pretokenizer.final[pretokenizer_state]
    accepting[DEAD] = False
    return _trimmed(table, classes, accepting, byte_state, pretokenizer_state, len(starts), dfa, width)


def _checked(dfa: Dfa, row_bytes: int, limits: Limits, progress: Progress) -> Callable[[int], None]:
    """Looks at the limits of a product with so many states; ``row_bytes``: of each."""

    def check(count: int) -> None:
        limits.check_states(count, _STAGE)
        limits.check_memory(count * row_bytes, _STAGE)
        limits.check_resources(_STAGE)
        # How many there will be is not known: at least as many as the DFA's.
        progress(_STAGE, count, max(count, dfa.states))

    return check


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


def _trimmed(
    table: NDArray[np.int32],
    classes: NDArray[np.uint8],
    accepting: NDArray[np.bool_],
    byte_state: NDArray[np.int64],
    pre_state: NDArray[np.int64],
    starts: int,
    dfa: Dfa,
    width: int,
) -> Product:
    """The product without states that reach no accepting one; all are reached. Those that texts
    begin in are the first, from 1 on."""
    live = reaching(table, accepting)
    live[DEAD] = False
    kept = np.flatnonzero(live)
    number = np.zeros(len(table), dtype=np.int32)
    number[kept] = np.arange(1, len(kept) + 1)
    kept = np.concatenate([[DEAD], kept])
    # In place: a state's new number is at most its old one.
    for low in range(0, len(kept), _STRIDE):
        table[low : low + _STRIDE][: len(kept) - low] = number[table[kept[low : low + _STRIDE]]]
    byte_state, pre_state = byte_state[kept], pre_state[kept]
    numbers = PairNumbers(dfa.states * width)
    numbers.add(byte_state * np.int64(width) + pre_state)
    return Product(
        table=table[: len(kept)],
        classes=classes,
        accepting=accepting[kept],
        byte_state=byte_state.astype(np.int32),
        pre_state=pre_state.astype(np.int32),
        start=int(number[1]),
        begins=number[2 : starts + 1],
        texts=dfa,
        numbers=numbers,
    )
