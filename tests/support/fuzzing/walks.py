"""Random texts by the masks of an artifact that may be wrong in any way."""

from contextlib import suppress
from pathlib import Path
from random import Random

from constrain.artifacts import Artifact, ArtifactError
from constrain.artifacts.prefix import boundaries
from constrain.artifacts.read import load_bytes
from constrain.artifacts.tokens import tokenset
from support.fuzzing.mutants import Mutant

STEPS = 30


def opened_and_walked(mutant: Mutant, folder: Path, seed: int) -> None:
    """Read a file, with checksums or without, and walk it; its tables are put into ``folder``.
    Raises ``ArtifactError``, and whatever else happens."""
    for name, data in mutant.tables.items():
        (folder / name).write_bytes(data)
    rng = Random(seed)
    try:
        artifact = load_bytes(mutant.data, verify=rng.random() < 0.5, shared=folder)
        walk(artifact, rng)
        if rng.random() < 0.1:
            artifact.precompute(answers=4)
            walk(artifact, rng)
    finally:
        for name in mutant.tables:
            (folder / name).unlink()


def walk(artifact: Artifact, rng: Random) -> None:
    """A random text by the masks, and all that a matcher is asked on the way."""
    size = artifact.vocab_size
    matcher = artifact.matcher()
    for step in range(STEPS):
        ids = tokenset.to_ids(matcher.mask())
        assert not len(ids) or int(ids[-1]) < size, f"bit {ids[-1]} of {size}"
        if matcher.is_finished or not len(ids):
            break
        assert isinstance(matcher.is_accepting, bool)
        matcher.validate([rng.choice((-1, size, size + 31, rng.randrange(size)))])
        if step % 8 == 3:
            matcher.forced_tokens(4)
            matcher.forced_bytes()
        if step % 8 == 5:
            matcher.rollback(2)
            continue
        matcher.advance(int(rng.choice(ids)))
    with suppress(ArtifactError):
        ids = tokenset.to_ids(artifact.matcher(after=[rng.randrange(size)]).mask())
        assert not len(ids) or int(ids[-1]) < size, f"bit {ids[-1]} of {size}"
    artifact.viable_bytes(b"(ab,(a")
    boundaries(artifact, b"(ab, a")
