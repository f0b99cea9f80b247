"""How many tokens the masks of an artifact allow.

Of automata that have all their states in a table it is of all states. The states of others have no
end: there it is of a walk that begins with the first mask and chooses by a fixed seed, first one of
the bytes that may come next, then one of its tokens, so that brackets are met as well as letters.
"""

import random
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from constrain.artifacts.artifact import Artifact
from constrain.artifacts.tokens import tokenset
from constrain.artifacts.tokens.tokenset import Words
from constrain.artifacts.tokens.vocabulary import TEXT

from ..limits import Limits

STATES, WALK = "states", "walk"

# Masks of a walk, and of its longest text.
_MASKS, _LENGTH = 128, 32


@dataclass(frozen=True, slots=True)
class Density:
    """Tokens that masks allow. ``masks``: how many masks there were. ``single``: those of them with
    one token. The shares are of the vocabulary, padding included."""

    masks: int
    single: int
    min: int
    median: float
    max: int
    min_share: float
    median_share: float
    max_share: float


@dataclass(frozen=True, slots=True)
class MaskFacts:
    """``first``: tokens that may begin a text. ``over``: ``states`` or ``walk``, what the density
    is of."""

    first: int
    over: str
    density: Density


def mask_facts(artifact: Artifact, tabulated: Artifact | None, limits: Limits) -> MaskFacts:
    """The first mask and the density of the others. ``tabulated``: the same masks with all states
    in a table, if there are such. A walk ends where the time does."""
    first = count_of(artifact.matcher().mask())
    found = _of_states(tabulated if tabulated is not None else artifact)
    if found is not None:
        return MaskFacts(first, STATES, density_of(found.tolist(), artifact.vocab_size))
    return MaskFacts(first, WALK, density_of(_walked(artifact, limits), artifact.vocab_size))


def count_of(mask: Words) -> int:
    """How many tokens a mask holds."""
    return int(np.count_nonzero(tokenset.to_flags(mask)))


def density_of(counts: Iterable[int], vocab_size: int) -> Density:
    """The density of masks with these numbers of tokens; there is none in damaged files alone."""
    found = sorted(counts) or [0]
    low, middle, high = found[0], float(np.median(found)), found[-1]
    return Density(
        masks=len(found),
        single=found.count(1),
        min=low,
        median=middle,
        max=high,
        min_share=low / vocab_size,
        median_share=middle / vocab_size,
        max_share=high / vocab_size,
    )


def _of_states(artifact: Artifact) -> NDArray[np.int64] | None:
    """Tokens that each state allows, where all states have rows in the file."""
    arrays = artifact.arrays
    if "row_of" not in arrays:
        return None
    packed = [count_of(row) for row in arrays["rows"]]
    sizes = np.concatenate((np.array(packed, dtype=np.int64), np.diff(arrays["row_offsets"])))
    # State 0 of a DFA over bytes is dead; those of DFAs over tokens are all live.
    states = arrays["row_of"] if "tokens.family" in arrays else arrays["row_of"][1:]
    found: NDArray[np.int64] = sizes[states]
    # A DFA over bytes has states inside tokens that no token ends in front of.
    return found[found > 0] if len(found) else None


def _walked(artifact: Artifact, limits: Limits) -> list[int]:
    """Tokens that the masks of a walk allow, as far as there is time."""
    chance, counts = random.Random(0), list[int]()
    vocabulary, matcher = artifact.vocabulary, artifact.matcher()
    firsts = np.full(vocabulary.size, -1, dtype=np.int16)
    is_text = (vocabulary.kinds == TEXT) & (vocabulary.lengths > 0)
    firsts[is_text] = vocabulary.data[vocabulary.offsets[:-1][is_text]]
    while len(counts) < _MASKS and not (counts and limits.is_over()):
        mask = matcher.mask()
        ids = tokenset.to_ids(mask)
        if len(ids):
            counts.append(len(ids))
        if not len(ids) or matcher.position >= _LENGTH:
            if not counts:
                break
            matcher.reset()
            continue
        of_id = firsts[ids]
        byte = chance.choice(np.unique(of_id).tolist())
        matcher.advance(chance.choice(ids[of_id == byte].tolist()))
        if matcher.is_finished:
            matcher.reset()
    return counts
