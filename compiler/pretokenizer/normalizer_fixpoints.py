"""The texts that a normalizer leaves as they are: ``Strip``, and ``Replace`` by a regex.

    Strip      a text with no white space at the ends in question
    Replace    a text in which each match is the content that would replace it

Matches are those of ``pretokenizer.boundary_automaton``, which marks them in one way: a state is a
state of that
machine and how much of the content the current match has been found to be.
"""

from collections.abc import Iterator

import numpy as np

from ..diagnostics import TokenizerError
from ..tokenizers.definition import Replace, Strip
from ..tokenizers.unicode_versions import WHITE_SPACE
from .boundary_automaton import CONTINUE, GAP, MATCH, Machine, State
from .character_classes import Alphabet, alphabet_of
from .marked_dfa import MarkedDfa, subset_automaton
from .pattern_program import CharSet, compile_pattern, sets_of
from .prefix_and_replacement import Change
from .to_bytes import as_seen, flags_of, plain_alphabet, with_marks

# The atoms of ``Strip`` and the states of its automaton: the start, behind another character,
# behind white space.
_OTHER, _WHITE = 1, 2
_START, _BEHIND_OTHER, _BEHIND_WHITE = 1, 2, 3


def unchanged(change: Change) -> tuple[MarkedDfa, Alphabet]:
    """The automaton over characters, whatever the marks, and its alphabet.

    Raises ``TokenizerError`` for patterns that are not supported.
    """
    if isinstance(change.step, Strip):
        return _unstripped(change.step, change)
    return _unreplaced(change.step, change)


def _unstripped(step: Strip, change: Change) -> tuple[MarkedDfa, Alphabet]:
    white = as_seen(flags_of(WHITE_SPACE), change.space)
    table = np.zeros((4, 3), dtype=np.int32)
    table[1:, _OTHER], table[1:, _WHITE] = _BEHIND_OTHER, _BEHIND_WHITE
    if step.left and not change.seen:
        table[_START, _WHITE] = 0
    final = np.array([False, True, True, not step.right])
    alphabet = plain_alphabet(np.where(white, _WHITE, _OTHER))
    return with_marks(table, final, _START), alphabet


def _unreplaced(step: Replace, change: Change) -> tuple[MarkedDfa, Alphabet]:
    try:
        program = compile_pattern(step.pattern)
        content = [CharSet(rf"\x{{{ord(char):X}}}") for char in step.content]
        alphabet = alphabet_of([*sets_of(program), *content], space=change.space)
        machine = Machine(program, alphabet)
    except TokenizerError as error:
        raise TokenizerError(f"the normalizer 'Replace': {error}") from None
    wanted = [alphabet.members[char] for char in content]

    def successors(state: tuple[State, int], mark: int, atom: int) -> Iterator[tuple[State, int]]:
        before, found = state
        for label in (CONTINUE, MATCH, GAP):
            if label != CONTINUE and before.last == MATCH and found < len(wanted):
                continue
            after = machine.step(before, label, atom)
            if after is None:
                continue
            if after.last != MATCH:
                yield after, 0
            else:
                place = found if label == CONTINUE else 0
                if place < len(wanted) and wanted[place][atom]:
                    yield after, place + 1

    def may_end(state: tuple[State, int]) -> bool:
        before, found = state
        whole = before.last != MATCH or found == len(wanted)
        return whole and machine.may_end(before)

    start = State(None, frozenset(), -1), 0
    return subset_automaton(start, successors, may_end, alphabet.count), alphabet
