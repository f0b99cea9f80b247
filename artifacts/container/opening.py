"""Open a container's file, mapped or in memory, and remember which files were verified."""

import mmap
import os
from collections import OrderedDict
from os import PathLike
from pathlib import Path
from threading import Lock
from typing import BinaryIO, NamedTuple

from ..errors import ArtifactError


class FileKey(NamedTuple):
    """Which file it is, as long as nobody writes to it: its absolute path, where the system has
    it, its size, and its time of change in nanoseconds."""

    path: str
    device: int
    inode: int
    size: int
    changed: int


def key_of(file: BinaryIO, path: str | PathLike[str]) -> FileKey:
    """The key of an open file."""
    stat = os.fstat(file.fileno())
    absolute = str(Path(path).absolute())
    return FileKey(absolute, stat.st_dev, stat.st_ino, stat.st_size, stat.st_mtime_ns)


def contents_of(file: BinaryIO, *, copy: bool) -> memoryview:
    """The bytes of an open file: mapped, or read into memory. Raises ``ArtifactError`` for a file
    that is empty."""
    if file.seek(0, 2) == 0:
        raise ArtifactError("the file is empty")
    if copy:
        file.seek(0)
        return memoryview(file.read())
    return memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))


# Files that are remembered, those opened last.
_MOST_REMEMBERED = 4096


class Verified:
    """Files whose checksums were right when this process opened them; threads share them."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._keys: OrderedDict[FileKey, None] = OrderedDict()

    def needs(self, key: FileKey, verify: bool | None) -> bool:
        """Whether a file is to be verified now: None, if it was not yet."""
        with self._lock:
            return key not in self._keys if verify is None else verify

    def add(self, key: FileKey) -> None:
        """The file's checksums are right."""
        with self._lock:
            self._keys[key] = None
            self._keys.move_to_end(key)
            if len(self._keys) > _MOST_REMEMBERED:
                self._keys.popitem(last=False)


VERIFIED = Verified()
