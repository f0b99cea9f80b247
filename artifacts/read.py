"""Read an artifact: from a path by mapping the file, or from bytes. Nothing in it is trusted."""

import mmap
from functools import partial
from os import PathLike, fspath
from pathlib import Path
from typing import Any

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
    absolute = str(Path(path).absolute())
    return _opened(memoryview(mapped), verify, fspath(path), cache_bytes, absolute)


def load_bytes(
    data: bytes | memoryview,
    *,
    verify: bool = False,
    name: str = "-",
    cache_bytes: int = DEFAULT_CACHE_BYTES,
) -> Artifact:
    """The same for a file's bytes; ``name`` is what errors call it."""
    return _opened(data, verify, name, cache_bytes, None)


def _opened(
    data: bytes | memoryview, verify: bool, name: str, cache_bytes: int, path: str | None
) -> Artifact:
    try:
        sections = decode(data, verify=verify)
        reload = path and partial(_reloaded, path, sections.manifest, cache_bytes)
        manifest = Manifest.from_json(sections.manifest)
        return Artifact(manifest, sections.arrays, cache_bytes, reload=reload or None)
    except ArtifactError as error:
        raise ArtifactError(f"{name}: {error}") from None


def _reloaded(path: str, manifest: dict[str, Any], cache_bytes: int) -> Artifact:
    """``load``, of a file that held ``manifest`` before. Raises ``ArtifactError`` if it is another
    one now."""
    found = load(path, cache_bytes=cache_bytes)
    if found.manifest != Manifest.from_json(manifest):
        raise ArtifactError(f"{path}: the file holds another artifact than when it was opened")
    return found
