"""Read an artifact: from a path by mapping the file, or from bytes. Nothing in it is trusted."""

import mmap
from os import PathLike, fspath
from pathlib import Path

from .artifact import Artifact
from .container.manifest import Manifest
from .container.sections import decode
from .errors import ArtifactError
from .tokens.memo import DEFAULT_CACHE_BYTES


def load(
    path: str | PathLike[str], *, verify: bool = False, cache_bytes: int = DEFAULT_CACHE_BYTES
) -> Artifact:
    """Map the file at ``path``.

    Version, sizes, offsets, dtypes and structural bounds are always checked; ``verify``
    also checks the SHA-256 of every section, in time linear in the file. ``cache_bytes``: how
    much the caches of what is computed while decoding may hold together, 256 MiB if not said.
    Raises ``ArtifactError`` (naming the file), ``OSError``, and ``ValueError`` for negative
    ``cache_bytes``.
    """
    with Path(path).open("rb") as file:
        if file.seek(0, 2) == 0:
            raise ArtifactError(f"{fspath(path)}: the file is empty")
        mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    return load_bytes(memoryview(mapped), verify=verify, name=fspath(path), cache_bytes=cache_bytes)


def load_bytes(
    data: bytes | memoryview,
    *,
    verify: bool = False,
    name: str = "-",
    cache_bytes: int = DEFAULT_CACHE_BYTES,
) -> Artifact:
    """The same for a file's bytes; ``name`` is what errors call it."""
    try:
        sections = decode(data, verify=verify)
        return Artifact(Manifest.from_json(sections.manifest), sections.arrays, cache_bytes)
    except ArtifactError as error:
        raise ArtifactError(f"{name}: {error}") from None
