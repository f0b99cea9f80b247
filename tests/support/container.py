"""What tests of the artifact's file share; the fixtures ``tiny`` and ``dates`` give artifacts."""

import random
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from constrain.artifacts import Artifact, ArtifactError, TokenRefusedError
from constrain.artifacts.prefix import boundaries
from constrain.artifacts.read import load_bytes
from support import encoded

Arrays = dict[str, NDArray[Any]]
Change = Callable[[Arrays, str], NDArray[Any]]

KINDS = ("canonical", "any")

# Each kind with its rows in the file, and with the rows left to the run time.
VARIANTS = tuple((kind, limit) for kind in KINDS for limit in (1_000_000, 0))


def refused(data: bytes, verify: bool = True) -> str:
    """The message of the ``ArtifactError`` that reading ``data`` gives."""
    with pytest.raises(ArtifactError) as found:
        load_bytes(data, verify=verify, name="file.cst")
    message = str(found.value)
    assert message.startswith("file.cst: ")
    assert "\n" not in message
    return message


def exercise(artifact: Artifact) -> None:
    """All that a matcher does, from the start and one token further, with every id there is."""
    ids = range(-1, artifact.vocab_size + 33)
    for first in ids:
        matcher = artifact.matcher()
        if not taken(matcher.advance, first):
            continue
        assert isinstance(matcher.is_accepting, bool)
        matcher.fill(np.zeros(4, dtype=np.uint32))
        matcher.forced_tokens(8)
        for second in ids:
            if taken(matcher.advance, second):
                matcher.mask()
                matcher.rollback(1)
    for last in range(artifact.vocab_size):
        with suppress(ArtifactError):
            artifact.matcher(after=[last]).mask()
    boundaries(artifact, b"bab")
    for state in range(artifact.byte_dfa.states):
        artifact.origins_of(state)


def walk_two_deep(artifact: Artifact) -> None:
    """All that a matcher does, with every id there is, two tokens deep."""
    ids = range(-1, artifact.vocab_size + 33)
    for first in ids:
        matcher = artifact.matcher()
        with suppress(TokenRefusedError):
            matcher.advance(first)
            assert isinstance(matcher.is_accepting, bool)
            matcher.fill(np.zeros(4, dtype=np.uint32))
            matcher.forced_tokens(8)
            for second in ids:
                with suppress(TokenRefusedError):
                    matcher.advance(second)
                    matcher.mask()
                    matcher.rollback(1)


def check_every_bit_counts(artifact: Artifact, count: int | None) -> None:
    """A file with a flipped bit is refused: in so many bytes, or in all of them."""
    data = artifact.to_bytes()
    rng = random.Random(2)
    places = range(len(data)) if count is None else sorted(rng.sample(range(len(data)), count))
    for place in places:
        damaged = bytearray(data)
        damaged[place] ^= 1 << rng.randrange(8)
        refused(bytes(damaged))


def check_flipped_bits_do_no_harm(
    artifact: Artifact, exercise: Callable[[Artifact], None], count: int
) -> None:
    """A section with a flipped bit, whose checksum holds, is refused, or it can be walked to an
    ``ArtifactError`` at worst: no other error, and no walk without end."""
    rng = random.Random(4)
    walked = 0
    for _ in range(count):
        name = rng.choice(sorted(artifact.arrays))
        array = artifact.arrays[name]
        octets = bytearray(array.tobytes())
        if not octets:
            continue
        octets[rng.randrange(len(octets))] ^= 1 << rng.randrange(8)
        flipped = np.frombuffer(bytes(octets), dtype=array.dtype).reshape(array.shape)
        with suppress(ArtifactError):
            exercise(load_bytes(encoded(artifact, {name: flipped})))
            walked += 1
    assert walked > min(5, count // 20)


def taken(advance: Callable[[int], None], token_id: int) -> bool:
    """Whether a token was taken."""
    try:
        advance(token_id)
    except TokenRefusedError:
        return False
    return True


def changed(place: Any, value: int) -> Change:
    """A change: a section with ``value`` at ``place``."""

    def change(arrays: Arrays, name: str) -> NDArray[Any]:
        array = arrays[name].copy()
        array[place] = value
        return array

    return change
