"""What readers of artifacts are held to: one error class, masks inside the vocabulary, an end."""

import resource
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from random import Random
from types import FrameType

from constrain.artifacts import Artifact, ArtifactError, TokenRefusedError
from constrain.artifacts.prefix import boundaries
from constrain.artifacts.read import load_bytes
from constrain.artifacts.tokens import tokenset
from support.fuzzing.mutants import Mutant

STEPS, SECONDS, MEMORY = 30, 5.0, 1_000_000_000


class SlowError(Exception):
    """More CPU time than any answer may take."""


@contextmanager
def at_most(seconds: float) -> Iterator[None]:
    """Raise ``SlowError`` inside it after so much CPU time."""

    def late(number: int, frame: FrameType | None) -> None:
        raise SlowError(f"more than {seconds} s of CPU")

    before = signal.signal(signal.SIGPROF, late)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def resident() -> int:
    """The most bytes that were resident so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def walked(artifact: Artifact, rng: Random) -> None:
    """A random text by the masks, and all that a matcher is asked on the way."""
    size = artifact.vocab_size
    matcher = artifact.matcher()
    for step in range(STEPS):
        ids = tokenset.to_ids(matcher.mask())
        assert not len(ids) or int(ids[-1]) < size, f"bit {ids[-1]} of {size}"
        if matcher.is_finished:
            break
        assert isinstance(matcher.is_accepting, bool)
        outside = rng.choice((-1, size, size + 31, rng.randrange(size)))
        matcher.validate([outside])
        if step % 8 == 3:
            matcher.forced_tokens(4)
            matcher.forced_bytes()
        if step % 8 == 5:
            matcher.rollback(2)
        if not len(ids):
            break
        matcher.advance(int(rng.choice(ids)))
    with suppress(ArtifactError):
        ids = tokenset.to_ids(artifact.matcher(after=[rng.randrange(size)]).mask())
        assert not len(ids) or int(ids[-1]) < size, f"bit {ids[-1]} of {size}"
    artifact.viable_bytes(b"(ab,(a")
    boundaries(artifact, b"(ab, a")


def opened_and_walked(mutant: Mutant, folder: Path, seed: int) -> bool:
    """Whether a file was read, and walked to its end or to an ``ArtifactError``. Raises whatever
    else happens."""
    for name, data in mutant.tables.items():
        (folder / name).write_bytes(data)
    rng = Random(seed)
    try:
        with at_most(SECONDS):
            artifact = load_bytes(mutant.data, verify=rng.random() < 0.5, shared=folder)
            with suppress(ArtifactError, TokenRefusedError):
                walked(artifact, rng)
                if rng.random() < 0.1:
                    artifact.precompute(answers=4)
                    walked(artifact, rng)
            return True
    except ArtifactError:
        return False
    finally:
        for name in mutant.tables:
            (folder / name).unlink()


def faults(
    mutants: Callable[[int], Mutant], numbers: range, folder: Path
) -> Iterator[tuple[str, BaseException]]:
    """What went wrong with which."""
    for number in numbers:
        mutant, before = mutants(number), resident()
        try:
            opened_and_walked(mutant, folder, number)
            assert resident() - before < MEMORY, f"{resident() - before:,} bytes"
        except Exception as error:
            yield mutant.how, error
