"""A cache of tables on disk, between runs of the program.

    made(kind, key, build, classes)   ->   the value of an entry, built if there is none

A key says all that an entry depends on: the content of the files, the options, the version of the
format. Entries are written whole or not at all, so that several processes can share a folder, and
the least recently used ones are evicted when all together exceed a limit.

    32 bytes    the authentication code: HMAC-SHA256 of what the entry is of (``key``)
    the rest    a safetensors file (``artifacts`` describes the container), mapped when it is read,
                of the value's arrays (``packed``)

The code is of kind and key, of the size of the file, and of the header, which has the checksums of
all sections: one bit of another value, and it is another. So nothing is used but what this user
wrote, whoever else writes to the folder: what has the name of an entry and another code is not
even read, but built again and replaced.
"""

import hmac
import mmap
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from stat import S_ISREG
from typing import Literal, TypeAlias, TypeVar

from constrain.artifacts.container import sections as layout
from constrain.artifacts.container.write import replace_atomically
from constrain.artifacts.store.folders import default_folder

from .cache_key import CacheKey, cache_key
from .packed import Tables, packed, unpacked

T = TypeVar("T")

# Bytes that all entries together may take.
MAX_BYTES = 1_000_000_000

# Files of temporary names that are older are left from a process that was killed.
_ABANDONED_SECONDS = 3600

_SUFFIX = ".tables"

_CODE_BYTES = 32
_LENGTH_BYTES = 8

# A header is a few kilobytes.
_MAX_HEADER_BYTES = 1_000_000

# Whoever may write to the folder replaces entries, but does not write into those of others.
_MODE = 0o644

_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)


class Cache:
    """A folder of tables; without a folder, nothing is cached.

    What is used is what this user wrote, or whoever has the same ``CONSTRAIN_CACHE_KEY``.
    Trouble with the folder (read-only, full) is no error: what was built is used all the same.
    """

    def __init__(self, folder: Path | None, max_bytes: int = MAX_BYTES) -> None:
        self.folder, self.max_bytes = folder, max_bytes

    @cached_property
    def key(self) -> CacheKey:
        """What tells this user's entries from all others. It is made when it is first needed."""
        return cache_key(self.folder or Path())

    def made(self, kind: str, key: str, build: Callable[[], T], classes: Iterable[type] = ()) -> T:
        """The value of ``key``, built if there is none.

        ``kind`` is a short name of what it is. ``key`` says all that it depends on. ``classes``:
        those of what is in it (``packed``). Arrays that come from the disk are read-only.
        """
        if self.folder is None:
            return build()
        entry = _Entry(self.folder, self.key, kind, key)
        found = entry.read()
        if found is not None:
            with suppress(Exception):  # Whatever is wrong in an entry, it is built again.
                value: T = unpacked(found, classes)
                return value
        built = build()
        self._write(entry, packed(built))
        return built

    def entries(self) -> list[Path]:
        """All files of entries, that used last first."""
        return [path for _, path, _ in sorted(self._files(), reverse=True)]

    def size(self) -> tuple[int, int]:
        """How many files and bytes all entries are, also those of others."""
        sizes = [size for _, _, size in self._files()]
        return len(sizes), sum(sizes)

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

    def _write(self, entry: "_Entry", tables: Tables) -> None:
        with suppress(OSError):
            entry.write(tables)
            self._shrink(entry.path)

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


class _Entry:
    """The file of what has a kind and a key. Those of another cache key have another name, so
    that users of a folder do not replace each other's."""

    def __init__(self, folder: Path, cache_key: CacheKey, kind: str, key: str) -> None:
        self._cache_key, self._about = cache_key, {"kind": kind, "key": key}
        about = f"{kind}\0{key}".encode()
        self._digest = sha256(about).digest()
        name = sha256(cache_key.id + self._digest).hexdigest()[:32]
        self.path = folder / f"{kind}-{name}{_SUFFIX}"

    def write(self, tables: Tables) -> None:
        """Write the file. Raises ``OSError``."""
        length, header, *data = layout.encode(self._about, tables)
        size = _CODE_BYTES + sum(map(len, (length, header, *data)))
        self.path.parent.mkdir(parents=True, exist_ok=True)
        code = self._code(size, length + header)
        replace_atomically(self.path, [code, length, header, *data], _MODE)

    def read(self) -> Tables | None:
        """The tables in the file, with all checksums verified; None if there are none, or none that
        this user wrote."""
        try:
            # A pipe is not waited for.
            with os.fdopen(os.open(self.path, _FLAGS), "rb") as file:
                found = os.fstat(file.fileno())
                if not S_ISREG(found.st_mode):
                    return None
                start = file.read(_CODE_BYTES + _LENGTH_BYTES)
                length = int.from_bytes(start[_CODE_BYTES:], "little")
                if length > _MAX_HEADER_BYTES:
                    return None
                start += file.read(length)
                code = self._code(found.st_size, start[_CODE_BYTES:])
                if not hmac.compare_digest(code, start[:_CODE_BYTES]):
                    return None
                data: mmap.mmap | bytes
                if _is_fixed(found):
                    data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
                else:
                    file.seek(0)
                    data = file.read(found.st_size)
                    if data[: len(start)] != start:
                        return None
            sections = layout.decode(memoryview(data)[_CODE_BYTES:], verify=True)
        except Exception:
            return None
        with suppress(OSError):
            os.utime(self.path)
        return sections.arrays

    def _code(self, size: int, header: bytes) -> bytes:
        return self._cache_key.code(self._digest + size.to_bytes(8, "little") + header)


def _is_fixed(found: os.stat_result) -> bool:
    """Whether nobody else can change a file while it is mapped."""
    if os.name != "posix":
        return True
    return found.st_uid in (os.geteuid(), 0) and not found.st_mode & 0o022
