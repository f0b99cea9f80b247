"""Read an artifact: from a path by mapping it, or from bytes. Nothing is trusted."""

import mmap
from os import PathLike, fspath
from pathlib import Path

from .artifact import Artifact
from .container.manifest import Manifest
from .container.sections import decode
from .errors import ArtifactError


def load(path: str | PathLike[str], *, verify: bool = False) -> Artifact:
    """Map the file at ``path``.

    Version, sizes, offsets, dtypes and structural bounds are always checked; ``verify``
    also checks the SHA-256 of every section, in time linear in the file. Raises
    ``ArtifactError`` (naming the file) and ``OSError``.
    """
    with Path(path).open("rb") as file:
        if file.seek(0, 2) == 0:
            raise ArtifactError(f"{fspath(path)}: the file is empty")
        mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    return load_bytes(memoryview(mapped), verify=verify, name=fspath(path))


def load_bytes(data: bytes | memoryview, *, verify: bool = False, name: str = "-") -> Artifact:
    """The same for a file's bytes; ``name`` is what errors call it."""
    try:
        sections = decode(data, verify=verify)
        return Artifact(Manifest.from_json(sections.manifest), sections.arrays)
    except ArtifactError as error:
        raise ArtifactError(f"{name}: {error}") from None
