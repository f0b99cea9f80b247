"""Read an artifact: from a path by mapping the file, or from bytes. Nothing in it is trusted."""

from collections.abc import Callable
from functools import partial
from os import PathLike, fspath
from pathlib import Path

from .artifact import Artifact
from .container.manifest import Manifest
from .container.opening import VERIFIED, contents_of, key_of
from .container.sections import decode
from .container.thin import Shared, completed
from .errors import ArtifactError, visible
from .tokens.memo import DEFAULT_CACHE_BYTES


def load(
    path: str | PathLike[str],
    *,
    verify: bool | None = None,
    copy: bool = False,
    cache_bytes: int = DEFAULT_CACHE_BYTES,
    shared: Shared | None = None,
) -> Artifact:
    """Map the file at ``path``.

    Version, sizes, offsets, dtypes and structural bounds are always checked. ``verify``: whether
    the SHA-256 of every section is, too, in time linear in the file. By default it is the first
    time that this process opens the file, and again when its size or time of change is another;
    True: each time; False: never, for files that one has written oneself.

    ``copy``: the file is read into memory instead. A mapped file must not be written to, nor cut
    short, while the artifact lives: the process would end by a signal (SIGBUS). Whoever replaces
    files by renaming, as ``Artifact.save`` does, need not copy.

    ``cache_bytes``: how much the caches of what is computed while decoding may hold together, 256
    MiB if not said. ``shared``: where the tokenizer's tables of a thin artifact are, a folder or
    what gives the path of a file's name; by default beside it. Such a file is opened once for all
    that name it. Raises ``ArtifactError`` (naming the file), ``OSError``, and ``ValueError`` for
    negative ``cache_bytes``.
    """
    name = fspath(path)
    with Path(path).open("rb") as file:
        key = key_of(file, path)
        try:
            data = contents_of(file, copy=copy)
        except ArtifactError as error:
            raise ArtifactError(f"{name}: {error}") from None
    absolute, wanted = key.path, VERIFIED.needs(key, verify)
    folder = Path(absolute).parent if shared is None else shared
    again = partial(load, absolute, copy=copy, cache_bytes=cache_bytes, shared=shared)
    found = _opened(data, wanted, name, cache_bytes, folder, copy, again)
    if wanted:
        VERIFIED.add(key)
    return found


def load_bytes(
    data: bytes | memoryview,
    *,
    verify: bool = True,
    name: str = "-",
    cache_bytes: int = DEFAULT_CACHE_BYTES,
    shared: Shared | None = None,
) -> Artifact:
    """The same for a file's bytes; ``name`` is what errors call it. Checksums are verified each
    time, unless ``verify`` is False."""
    return _opened(data, verify, name, cache_bytes, shared, False, None)


def _opened(
    data: bytes | memoryview,
    verify: bool,
    name: str,
    cache_bytes: int,
    shared: Shared | None,
    copy: bool,
    again: Callable[[], Artifact] | None,
) -> Artifact:
    try:
        sections = completed(decode(data, verify=verify), shared, verify=verify, copy=copy)
        manifest = Manifest.from_json(sections.manifest)
        reload = None if again is None else partial(_reloaded, name, again, manifest)
        return Artifact(manifest, sections.arrays, cache_bytes, reload=reload)
    except ArtifactError as error:
        raise ArtifactError(f"{visible(name)}: {error}") from None


def _reloaded(name: str, again: Callable[[], Artifact], manifest: Manifest) -> Artifact:
    """What ``again`` opens, of a file that held ``manifest`` before. Raises ``ArtifactError`` if it
    is another one now."""
    found = again()
    if found.manifest != manifest:
        raise ArtifactError(
            f"{visible(name)}: the file holds another artifact than when it was opened"
        )
    return found
