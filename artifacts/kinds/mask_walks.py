"""Masks that are found before decoding needs them, by texts that the masks themselves allow.

For kinds whose answers are many, and where a text shows which are needed: each mask that a walk
meets is cached by the machine, with all that was found for it.
"""

from collections.abc import Callable, Sequence
from hashlib import blake2b
from random import Random

import numpy as np
from numpy.typing import NDArray

from ..matcher import Begun, Matcher
from ..tokens import tokenset
from ..tokens.allowance import Allowance, Ended, Precomputed
from ..tokens.vocabulary import Vocabulary

# Walks are given up after so many that met no new mask, and each after so many tokens.
_IDLE_WALKS, _WALK_TOKENS = 32, 64


class MaskWalks:
    """Random texts by the masks of an artifact, which caches the masks on the way. A first byte is
    drawn, then a token that begins with it: so brackets and quotes come as often as letters.

    ``begin``: where a text begins.
    """

    def __init__(
        self,
        begin: Callable[[], Begun],
        vocabulary: Vocabulary,
        eos: Sequence[int],
        vocab_size: int,
    ) -> None:
        self._begin, self._eos, self._vocab_size = begin, eos, vocab_size
        firsts = np.full(vocab_size, 256, dtype=np.int64)
        begins = vocabulary.offsets[:-1][vocabulary.text_ids()]
        filled = vocabulary.lengths[vocabulary.text_ids()] > 0
        firsts[vocabulary.text_ids()[filled]] = vocabulary.data[begins[filled]]
        self._firsts = firsts
        self._random = Random(0)
        self._seen: set[bytes] = set()

    def precompute(self, allowance: Allowance, found: int = 0) -> Precomputed:
        """Walk until that is spent, or nothing new is met; so many answers were ``found``
        before."""
        before, idle = len(self._seen) - found, 0
        while idle < _IDLE_WALKS:
            matcher = Matcher(self._begin, self._eos, self._vocab_size)
            known = len(self._seen)
            for _ in range(_WALK_TOKENS):
                ended = allowance.spent(len(self._seen) - before)
                if ended is not None:
                    return Precomputed(len(self._seen) - before, ended)
                mask = matcher.mask()
                self._seen.add(blake2b(mask.tobytes(), digest_size=16).digest())
                token = self._drawn(tokenset.to_ids(mask))
                if token is None:
                    break
                matcher.advance(token)
                if matcher.is_finished:
                    break
            idle = 0 if len(self._seen) > known else idle + 1
        return Precomputed(len(self._seen) - before, Ended.NOTHING_NEW)

    def _drawn(self, ids: NDArray[np.int64]) -> int | None:
        if not len(ids):
            return None
        firsts = self._firsts[ids]
        octets = np.flatnonzero(np.bincount(firsts, minlength=257))
        octet = octets[self._random.randrange(len(octets))]
        fitting = ids[firsts == octet]
        return int(fitting[self._random.randrange(len(fitting))])
