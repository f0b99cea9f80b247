"""Work out what every token does in every state of a network, and lay it out.

The tokens are read from their ends to their beginnings, all at once, byte by byte
(``string_classes``): so those that end alike share the work.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from constrain.artifacts.network_tables import NetworkTables
from constrain.artifacts.token_effects import TokenEffects
from constrain.artifacts.vocabulary import Vocabulary

from ..limits import Limits
from .effects import UNKNOWN, Numbers
from .string_classes import EMPTY, REFUSED, StringClasses


def token_effects(
    tables: NetworkTables,
    vocabulary: Vocabulary,
    terminals: Sequence[NDArray[np.integer]],
    memory: int,
    limits: Limits,
) -> TokenEffects:
    """The effects of all tokens; ``terminals``: the ids of each token terminal.

    A table of more than ``memory`` bytes is not made: tokens for whose classes there is no room
    are unknown in all states, those that end rarely first. Raises ``LimitError`` on time alone.
    """
    most = memory // (2 * tables.states)
    if most < 4 or not 1 < tables.states < UNKNOWN:
        return TokenEffects.empty()
    found = StringClasses(tables, most, limits)
    classes = _classes(found, tables, vocabulary)
    for number, named in enumerate(terminals):
        classes[named] = found.union(classes[named], found.of_terminal(number))
    return _laid_out(found, classes, tables.states)


def _classes(found: StringClasses, tables: NetworkTables, vocabulary: Vocabulary) -> Numbers:
    """The class of each token as a text, shape (V,)."""
    octets = tables.classes[vocabulary.data]
    ids = vocabulary.text_ids()
    classes = np.full(vocabulary.size, REFUSED, dtype=np.uint16)
    classes[ids] = EMPTY
    place = vocabulary.offsets[ids + 1] - 1
    while len(ids):
        classes[ids] = found.before(octets[place], classes[ids])
        left = place > vocabulary.offsets[ids]
        ids, place = ids[left], place[left] - 1
    return classes


def _laid_out(found: StringClasses, classes: Numbers, states: int) -> TokenEffects:
    """The classes that tokens have, and all that is reached from them, numbered anew."""
    used, of_token = np.unique(classes, return_inverse=True)
    table = found.columns[used].T
    effects = found.effects
    pending = np.unique(table).tolist()
    reached, rests = set(pending), set[int]()
    for number in pending:
        for rest in effects.known[number][1] if number != UNKNOWN else ():
            if rest not in rests:
                rests.add(rest)
                new = set(effects.rests[rest]) - reached
                reached |= new
                pending.extend(sorted(new))
    kept_rests = {rest: number for number, rest in enumerate(sorted(rests))}
    renumbered = np.arange(UNKNOWN + 1, dtype=np.uint16)
    own: list[list[int]] = []
    first = states + len(kept_rests)
    for number in sorted(reached - {0, UNKNOWN}):
        codes = effects.codes(number, kept_rests)
        # A thread alone that pushes nothing, or a rest alone, are numbers as they are codes.
        renumbered[number] = codes[0] if len(codes) == 1 else first + len(own)
        if len(codes) > 1:
            own.append(codes)
    renumbered[UNKNOWN] = first + len(own)
    in_frames = np.array([effects.rests[rest] for rest in kept_rests], dtype=np.uint16)
    return TokenEffects.of(
        of_token.astype(np.uint16),
        np.ascontiguousarray(renumbered[table]),
        renumbered[in_frames.reshape(len(kept_rests), len(effects.frames))],
        own,
    )
