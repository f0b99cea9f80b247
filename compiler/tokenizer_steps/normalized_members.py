"""The members of a grammar that are in normal form, and the normal-form DFA of a tokenizer.

    readable_characters     the characters that the grammar reads anywhere
    normal_form_automaton   the texts of these in normal form, over classes of characters
    normal_form_bytes       the same over bytes
    normalized_members      the grammar's automaton in synchronous product with it

Only the grammar's own characters count, so that for most grammars there is nothing to do: ASCII is
in every normal form. Where the product would grow too much, only characters that are changed
wherever they stand are taken out of the grammar, and the normal-form DFA of all characters is
followed while decoding (``artifacts/tokenizer_steps``).

    (e|x)(\u0301|\u0323)    four members; with NFC two of them, e after which either mark composes
                            is left out
"""

from dataclasses import dataclass
from operator import add

import numpy as np
from numpy.typing import NDArray

from constrain.artifacts.tokenizer_steps.normal_form_dfa import NormalFormDfa
from constrain.artifacts.tokenizer_steps.split_characters import SplitCharacters
from constrain.artifacts.tokens.distinct import numbered_keys, row_keys
from constrain.artifacts.tokens.memo import memoised

from ..automata.dfa import DEAD, Dfa
from ..automata.minimize import minimize
from ..limits import Limits
from ..tokenizers import Tokenizer
from .character_classes import code_point_blocks
from .character_properties import (
    CHANGED,
    CharacterProperties,
    character_properties,
    first_characters,
    readable_characters,
    text_normalizers,
)
from .inert_tokens import is_inert, not_plain, split_characters
from .marked_dfa import MarkedDfa, minimal
from .spellable_members import members_beside, shortest_outside

# A normal-form automaton of so many states over characters becomes part of the grammar's automaton
# if that grows by no more than this factor.
_FEW_STATES, _GROWTH = 16, 2

_STAGE = "leaving out what the tokenizer's normalizers change"

# Bits of a continuation byte.
_TAIL = 64

# Codes of kinds of several partitions are as many at most.
_MOST_CODES = 1 << 62


@dataclass(frozen=True, slots=True, eq=False)
class NormalFormTables:
    """The normal-form DFA of a tokenizer, over all characters.

    ``table``: uint16 (S, J), over byte classes, state 0 dead; states below ``between`` lie between
    two characters and accept. ``classes``: uint8 (256,). ``tokens``: int32, the boundary tokens
    (``NormalFormDfa``). ``split``: those that end inside a character. ``inert``,
    ``inert_classes``, ``inert_start``: as ``table``, ``classes`` and ``start``, of the texts of
    inert characters. ``bound``: int32, the tokens that hold other characters, beside one that they
    end. ``restarts``: bytes that no text has, and after which another
    one begins. ``prefixes``: a byte that is read as another one is, and that one; or none.
    """

    characters: CharacterProperties
    table: NDArray[np.uint16]
    classes: NDArray[np.uint8]
    start: int
    between: int
    tokens: NDArray[np.int32]
    split: SplitCharacters
    inert: NDArray[np.uint16]
    inert_classes: NDArray[np.uint8]
    inert_start: int
    bound: NDArray[np.int32]
    restarts: bytes = b""
    prefixes: bytes = b""


@dataclass(frozen=True, slots=True, eq=False)
class NormalizedMembers:
    """``dfa``: the members in normal form, if ``beside`` is None; else maybe those of which
    each character by itself is, and ``beside`` says what may follow what. ``changed``: the shortest
    other member.
    """

    dfa: Dfa
    changed: bytes | None
    beside: NormalFormTables | None = None


def build_normal_form_tables(tokenizer: Tokenizer) -> NormalFormTables:
    """The normal-form DFA of a tokenizer; some of its normalizers are forms or lower case."""
    characters = character_properties(text_normalizers(tokenizer.normalizers))
    whole = normal_form_automaton(characters, np.arange(len(characters.combining)))
    table, classes, start = _over_byte_classes(whole, characters)
    free = np.flatnonzero(characters.is_inert)
    inert = _over_byte_classes(normal_form_automaton(characters.each_alone, free), characters)
    plain = characters.is_inert[characters.classes]
    tokens = tokenizer.tokens
    others = [(i, tokens[i]) for i in not_plain(tokens, plain)]
    may_begin = plain | (characters.classes == CHANGED)
    bound = [i for i, octets in others if not is_inert(octets, plain, may_begin)]
    none = np.zeros(0, dtype=np.int32)
    wide = {i: octets for i, octets in others if not octets.isascii()}
    dfa = NormalFormDfa(table, classes, start, none, none)
    boundary, split = split_characters(dfa, whole.states, wide)
    return NormalFormTables(
        characters,
        table,
        classes,
        start,
        whole.states,
        boundary,
        split,
        *inert,
        np.array(bound, dtype=np.int32),
    )


def _over_byte_classes(
    whole: MarkedDfa, characters: CharacterProperties
) -> tuple[NDArray[np.uint16], NDArray[np.uint8], int]:
    """``normal_form_bytes`` with one column for bytes alike, the class of each byte, the start."""
    table, start = normal_form_bytes(whole, characters.classes)
    table = table.astype(np.uint16)
    # States inside a character read continuation bytes alone.
    keys = row_keys(np.ascontiguousarray(table[: whole.states].T))
    inside = row_keys(np.ascontiguousarray(table[whole.states :, 0x80:0xC0].T))
    keys[0x80:0xC0] = map(add, keys[0x80:0xC0], inside)
    first, numbers = numbered_keys(keys)
    return np.ascontiguousarray(table[:, first]), numbers.astype(np.uint8), start


def normalized_members(
    dfa: Dfa, tables: NormalFormTables, limits: Limits | None = None, *, whole: bool = False
) -> NormalizedMembers:
    """The members that the tokenizer's normalizers do not change, minimal.

    ``whole``: with nothing ``beside``, however large. Raises ``LimitError``.
    """
    limits = (limits or Limits()).started()
    characters = tables.characters
    present = characters.classes_of(readable_characters(dfa))
    if characters.is_inert[present].all():
        return NormalizedMembers(dfa, None)
    final = np.arange(len(tables.table)) < tables.between
    final[DEAD] = False
    lost = shortest_outside(dfa, tables.table, tables.classes, final, tables.start, limits=limits)
    # The last character of a prompt may compose with what members begin with.
    begins = characters.classes_of(readable_characters(first_characters(dfa)))
    prompts = None if characters.is_inert[begins].all() else tables
    if lost is None:
        return NormalizedMembers(dfa, None, prompts)
    if whole or _least_states(characters, present) <= _FEW_STATES:
        automaton = normal_form_automaton(characters, present)
        if whole or automaton.states <= _FEW_STATES:
            found = _members(dfa, automaton, tables, limits)
            if whole or found.states <= _GROWTH * dfa.states:
                return NormalizedMembers(found, lost, prompts)
    alone = normal_form_automaton(characters.each_alone, present)
    return NormalizedMembers(_members(dfa, alone, tables, limits), lost, tables)


def _members(dfa: Dfa, whole: MarkedDfa, tables: NormalFormTables, limits: Limits) -> Dfa:
    table, start = normal_form_bytes(whole, tables.characters.classes)
    final = np.arange(len(table)) < whole.states
    final[DEAD] = False
    table[np.ix_(final, np.frombuffer(tables.restarts, dtype=np.uint8))] = start
    for octet in tables.prefixes[:1]:
        table[:, octet] = table[:, tables.prefixes[1]]
    return minimize(members_beside(dfa, table, final, start, limits, _STAGE), limits)


def _least_states(characters: CharacterProperties, present: NDArray[np.integer]) -> int:
    """States that ``normal_form_automaton`` has at the least: after starters that different
    characters change."""
    here = np.isin(np.arange(len(characters.seconds)), characters.second[present])
    changes = characters.changes[np.unique(characters.row[present])] & here
    return len(np.unique(np.packbits(changes, axis=1), axis=0))


def normal_form_automaton(
    characters: CharacterProperties, present: NDArray[np.integer]
) -> MarkedDfa:
    """The minimal automaton of the texts in normal form of the classes ``present``, (S, 1, K).

    A state is what changes the last starter, and the combining class of the last character.
    """
    combining, second = characters.combining, characters.second
    present = present[present != CHANGED]
    # Combining classes of characters that are there, 0 first.
    orders = np.unique(np.append(combining[present], 0))
    here = np.isin(np.arange(len(characters.seconds)), second[present])
    # Row d·O + o: of starter d what is after class o and may still be reached unblocked.
    rows = np.unique(np.append(characters.row[present], 0))
    held = (characters.changes[rows] & here)[:, None, :]
    held = held & ((orders[:, None] == 0) | (characters.seconds > orders[:, None]))
    places = len(orders)
    combined = np.searchsorted(orders, combining[present]).astype(np.int32)
    starter = np.searchsorted(rows, characters.row[present]).astype(np.int32) * places
    state = np.arange(len(rows) * places, dtype=np.int32)
    last = state % places
    targets = np.where(combined == 0, starter, (state - last)[:, None] + combined) + 1
    # Classes of marks fall.
    targets[(combined > 0) & (last[:, None] > combined)] = DEAD
    composing = np.flatnonzero(second[present] >= 0)
    found = held.reshape(len(state), -1)[:, second[present][composing]]
    # A starter composes with its neighbour alone.
    near = (last[:, None] == 0) | (combined[composing] > 0)
    targets[:, composing] *= ~(found & near)
    table = np.zeros((len(state) + 1, 1, len(combining)), dtype=np.int32)
    table[1:, 0, present] = targets
    final = np.ones(len(table), dtype=np.bool_)
    final[DEAD] = False
    start = 1 + int(np.searchsorted(rows, 0)) * places
    return _reached(minimal(MarkedDfa(table, final, start)))


def _reached(dfa: MarkedDfa) -> MarkedDfa:
    """Only states that a text leads to."""
    seen = np.arange(dfa.states) == DEAD
    frontier = np.array([dfa.start])
    while len(frontier):
        seen[frontier] = True
        is_target = np.zeros(dfa.states, dtype=np.bool_)
        is_target[dfa.table[frontier]] = True
        frontier = np.flatnonzero(is_target & ~seen)
    number = np.cumsum(seen) - 1
    table = number[dfa.table[seen]].astype(np.int32)
    return MarkedDfa(table, dfa.final[seen], int(number[dfa.start]))


def normal_form_bytes(
    whole: MarkedDfa, classes: NDArray[np.uint16]
) -> tuple[NDArray[np.int32], int]:
    """The same over bytes, int32 (S', 256), and its start; states keep their numbers."""
    blocks = code_point_blocks(classes)
    by_class = np.ascontiguousarray(whole.table[:, 0])
    rows: dict[bytes, int] = {bytes(4 * _TAIL): DEAD}

    def numbered(found: NDArray[np.int32]) -> NDArray[np.int32]:
        """For each of the rows (n, 64) the state that has it."""
        first = whole.states - 1
        numbers = [rows.setdefault(key, len(rows)) for key in row_keys(found)]
        return np.array([n and first + n for n in numbers], dtype=np.int32)

    # For each block what it is read to by each state, (blocks, S), and its partition.
    partitions = _Partitions(whole.states)
    before = np.ascontiguousarray(by_class.T)
    parts = list(map(partitions.of, before))
    levels = []
    for level in blocks.levels:
        states, joint = np.empty((len(level), whole.states), dtype=np.int32), []
        for place, block in enumerate(level):
            distinct, inverse = np.unique(block, return_inverse=True)
            valid = distinct >= 0
            joint.append(partitions.joined(frozenset(parts[i] for i in distinct[valid].tolist())))
            first, kind = partitions.first[joint[-1]], partitions.kinds[joint[-1]]
            columns = np.where(valid, before[distinct[:, None], first].T, DEAD)
            states[place] = numbered(columns[:, inverse.reshape(-1)])[kind]
        levels.append(states)
        before, parts = states, joint
    table = np.zeros((whole.states, 256), dtype=np.int32)
    table[:, :0x80] = by_class[:, classes[:0x80]]
    for lead, (depth, block) in blocks.leads.items():
        table[:, lead] = levels[depth][block]
    inside = np.zeros((len(rows) - 1, 256), dtype=np.int32)
    packed = np.frombuffer(b"".join(list(rows)[1:]), dtype=np.int32)
    inside[:, 0x80:0xC0] = packed.reshape(-1, _TAIL)
    return np.concatenate([table, inside]), whole.start


class _Partitions:
    """Partitions of S states into *kinds*, numbered by the first state of each, as they are met.

    ``kinds``: int64 (S,), of each state, partition after partition. ``first``: int64, the first
    states of its kinds.
    """

    def __init__(self, states: int) -> None:
        self.kinds: list[NDArray[np.int64]] = []
        self.first: list[NDArray[np.int64]] = []
        self._numbers: dict[bytes, int] = {}
        # Of all states together.
        self._all = self.of(np.zeros(states, dtype=np.int64))

    def of(self, values: NDArray[np.integer]) -> int:
        """The number of the partition by some value of each state, (S,)."""
        _, first, kinds = np.unique(values, return_index=True, return_inverse=True)
        order = np.argsort(first)
        kinds = np.argsort(order)[kinds.reshape(-1)]
        number = self._numbers.setdefault(kinds.tobytes(), len(self.kinds))
        if number == len(self.kinds):
            self.kinds.append(kinds)
            self.first.append(first[order])
        return number

    @memoised
    def joined(self, numbers: frozenset[int]) -> int:
        """The coarsest partition that is finer than some others."""
        finer = sorted(numbers - {self._all})
        if len(finer) < 2:
            return max(finer, default=self._all)
        codes, size = np.zeros(len(self.kinds[0]), dtype=np.int64), 1
        for number in finer:
            if size * len(self.first[number]) > _MOST_CODES:
                codes = self.kinds[self.of(codes)]
                size = int(codes.max()) + 1
            codes = codes * len(self.first[number]) + self.kinds[number]
            size *= len(self.first[number])
        return self.of(codes)
