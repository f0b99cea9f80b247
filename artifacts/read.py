"""Read an artifact: from a path by mapping the file, or from bytes. Nothing in it is trusted."""

import mmap
from functools import partial
from os import PathLike, fspath
from pathlib import Path
from typing import Any

from .artifact import Artifact
from .container.manifest import Manifest
from .container.sections import decode
from .container.thin import Shared, completed
from .errors import ArtifactError
from .tokens.memo import DEFAULT_CACHE_BYTES


def load(
    path: str | PathLike[str],
    *,
    verify: bool = False,
    cache_bytes: int = DEFAULT_CACHE_BYTES,
    shared: Shared | None = None,
) -> Artifact:
    """Map the file at ``path``.

    Version, sizes, offsets, dtypes and structural bounds are always checked; ``verify``
    also checks the SHA-256 of every section, in time linear in the file. ``cache_bytes``: how
    much the caches of what is computed while decoding may hold together, 256 MiB if not said.
    ``shared``: where the tokenizer's tables of a thin artifact are, a folder or what gives the path
    of a file's name; by default beside it. Such a file is mapped once for all that name it.
    Raises ``ArtifactError`` (naming the file), ``OSError``, and ``ValueError`` for negative
    ``cache_bytes``.
    """
    with Path(path).open("rb") as file:
        if file.seek(0, 2) == 0:
            raise ArtifactError(f"{fspath(path)}: the file is empty")
        mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    absolute = str(Path(path).absolute())
    folder = Path(absolute).parent if shared is None else shared
    return _opened(memoryview(mapped), verify, fspath(path), cache_bytes, absolute, folder)


def load_bytes(
    data: bytes | memoryview,
    *,
    verify: bool = False,
    name: str = "-",
    cache_bytes: int = DEFAULT_CACHE_BYTES,
    shared: Shared | None = None,
) -> Artifact:
    """The same for a file's bytes; ``name`` is what errors call it."""
    return _opened(data, verify, name, cache_bytes, None, shared)


def _opened(
    data: bytes | memoryview,
    verify: bool,
    name: str,
    cache_bytes: int,
    path: str | None,
    shared: Shared | None,
) -> Artifact:
    try:
        sections = completed(decode(data, verify=verify), shared, verify=verify)
        reload = path and partial(_reloaded, path, sections.manifest, cache_bytes, shared)
        manifest = Manifest.from_json(sections.manifest)
        return Artifact(manifest, sections.arrays, cache_bytes, reload=reload or None)
    except ArtifactError as error:
        raise ArtifactError(f"{name}: {error}") from None


def _reloaded(
    path: str, manifest: dict[str, Any], cache_bytes: int, shared: Shared | None
) -> Artifact:
    """``load``, of a file that held ``manifest`` before. Raises ``ArtifactError`` if it is another
    one now."""
    found = load(path, cache_bytes=cache_bytes, shared=shared)
    if found.manifest != Manifest.from_json(manifest):
        raise ArtifactError(f"{path}: the file holds another artifact than when it was opened")
    return found
