"""A cache of tables on disk, between runs of the program.

    cached(kind, key, build)       ->   the arrays of an entry, built if there are none
    made(kind, key, build, read)   ->   what ``read`` makes of them

A key says all that an entry depends on: the content of the files, the options, the version of the
format. Entries are safetensors files (``artifacts`` describes the container), mapped when they
are read. They are written whole or not at all, so that several processes can share a folder, and
the least recently used ones are evicted when all together exceed a limit. They are read as the
artifacts of strangers are: what has the name of an entry and is none, is damaged, or does not fit
(which ``read`` finds, kind by kind) is built again and replaced.
"""

import mmap
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from stat import S_ISREG
from typing import Any, Literal, TypeAlias, TypeVar

from numpy.typing import NDArray

from constrain.artifacts.container import sections as layout
from constrain.artifacts.container.write import replace_atomically
from constrain.artifacts.store.folders import default_folder

T = TypeVar("T")

# Bytes that all entries together may take.
MAX_BYTES = 1_000_000_000

# Files of temporary names that are older are left from a process that was killed.
_ABANDONED_SECONDS = 3600

_SUFFIX = ".tables"

_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)

Tables = Mapping[str, NDArray[Any]]


class Cache:
    """A folder of tables; without a folder, nothing is cached.

    Trouble with the folder (read-only, full) is no error: what was built is used all the same.
    """

    def __init__(self, folder: Path | None, max_bytes: int = MAX_BYTES) -> None:
        self.folder, self.max_bytes = folder, max_bytes

    def cached(self, kind: str, key: str, build: Callable[[], Tables]) -> Tables:
        """The tables of ``key``, built if there are none.

        ``kind`` is a short name of what they are. ``key`` says all that they depend on. The
        arrays have the types of an artifact's sections: uint8, uint16, int32, uint32, int64.
        Those that come from the disk are read-only.
        """
        return self.made(kind, key, build, lambda found: found)

    def made(
        self,
        kind: str,
        key: str,
        build: Callable[[], Tables],
        read: Callable[[Tables], T],
        check: Callable[[Tables], object] = lambda found: None,
    ) -> T:
        """What ``read`` makes of the tables of ``key``. ``check`` looks at those that were found on
        the disk before, at all that makes a difference to whoever uses them, and raises some
        exception for arrays of another type, shape or range."""
        if self.folder is None:
            return read(build())
        path = self.folder / f"{kind}-{sha256(key.encode('utf-8')).hexdigest()[:32]}{_SUFFIX}"
        found = _read(path, key)
        if found is not None:
            try:
                check(found)
                return read(found)
            except Exception:
                pass  # Whatever is wrong in an entry, it is built again.
        built = build()
        self._write(path, key, built)
        return read(built)

    def entries(self) -> list[Path]:
        """All files of entries, that used last first."""
        return [path for _, path, _ in sorted(self._files(), reverse=True)]

    def clean(self) -> tuple[int, int]:
        """Delete all entries; how many files and bytes that were."""
        files = size = 0
        for _, path, length in self._files():
            with suppress(OSError):
                path.unlink()
                files, size = files + 1, size + length
        return files, size

    def _files(self) -> Iterator[tuple[float, Path, int]]:
        """When each file was used last, its path and its bytes."""
        for path in self.folder.glob(f"*{_SUFFIX}*") if self.folder is not None else ():
            with suppress(OSError):
                found = path.stat()
                yield found.st_mtime, path, found.st_size

    def _write(self, path: Path, key: str, tables: Tables) -> None:
        with suppress(OSError):
            path.parent.mkdir(parents=True, exist_ok=True)
            replace_atomically(path, layout.encode({"key": key}, tables))
            self._shrink(path)

    def _shrink(self, written: Path) -> None:
        """Evict what was used longest ago until all others are within the limit."""
        total = 0
        for used, path, size in sorted(self._files(), reverse=True):
            total += size
            abandoned = (
                path.suffix == ".tmp" and used < written.stat().st_mtime - _ABANDONED_SECONDS
            )
            if abandoned or (total > self.max_bytes and path.suffix == _SUFFIX and path != written):
                with suppress(OSError):
                    path.unlink()


# Where a caller's tables are kept: in a cache, in none, or by default in the user's.
CacheChoice: TypeAlias = Cache | Literal["default"] | None


def cache_of(choice: CacheChoice) -> Cache | None:
    """The cache that a caller means."""
    return Cache(default_folder()) if choice == "default" else choice


def _read(path: Path, key: str) -> Tables | None:
    """The tables in a file, with all checksums verified; None if there are none to be had."""
    try:
        # A pipe is not waited for.
        with os.fdopen(os.open(path, _FLAGS), "rb") as file:
            if not S_ISREG(os.fstat(file.fileno()).st_mode):
                return None
            mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        sections = layout.decode(memoryview(mapped), verify=True)
    except Exception:
        return None
    if sections.manifest.get("key") != key:
        return None
    with suppress(OSError):
        os.utime(path)
    return sections.arrays
