"""The artifacts of services in a folder: files by their keys, a limit, and what a killed one left.

    ab/ab12….cst     an artifact, thin
    tok/34cd….tok    the tokenizer's tables, once for all artifacts
    own/…            a folder of each service at work, beside it a file that it has locked

Files are written in the service's own folder, and get their names when they are whole. So what a
service leaves that was killed is its own folder, which the next one to start removes, for nobody
has its lock.
"""

import logging
import os
import shutil
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from errno import EPERM
from pathlib import Path
from secrets import token_hex
from typing import BinaryIO

from constrain.artifacts.artifact import Artifact
from constrain.artifacts.errors import ArtifactError
from constrain.artifacts.read import load
from constrain.artifacts.store.places import placed

_LOG = logging.getLogger(__name__)

# Of the limit, what may be written until sizes are looked at again, for which there must be room
# until then, and what is left where there is not.
_BETWEEN, _LEFT = 1 / 16, 7 / 8


class Folder:
    """``root``: None for a temporary one. ``limit``: bytes of all artifacts; those that were not
    used for the longest time go when there are more. Threads may share it. Raises ``OSError``."""

    def __init__(self, root: Path | None, limit: int) -> None:
        base = Path(tempfile.gettempdir(), f"constrain-{_user()}") if root is None else root / "own"
        base.mkdir(mode=0o700, parents=True, exist_ok=True)
        if root is None and hasattr(os, "getuid") and base.lstat().st_uid != os.getuid():
            raise PermissionError(EPERM, "it is another user's, who may change what is in it", base)
        _remove_left_ones(base)
        self.own, self._lock_file = _locked_folder(base)
        self.root = self.own / "artifacts" if root is None else root
        self.tables = self.root / "tok"
        self.tables.mkdir(parents=True, exist_ok=True)
        self._limit, self._written, self._lock = limit, 0, threading.Lock()
        self.make_room()

    def path(self, key: str) -> Path:
        """Where the artifact of a key is."""
        return path_in(self.root, key)

    def open(self, key: str, *, verify: bool, cache_bytes: int) -> tuple[Artifact, int] | None:
        """The artifact and the size of its file; None if there is none, or a damaged one, which
        goes."""
        path = self.path(key)
        try:
            found = load(path, verify=verify, cache_bytes=cache_bytes, shared=self.tables)
            stat = path.stat()
            # Used now, as far as files that are forgotten are asked; not changed.
            os.utime(path, ns=(max(stat.st_atime_ns, time.time_ns()), stat.st_mtime_ns))
        except ArtifactError:
            with suppress(OSError):
                path.unlink()
            return None
        except OSError:
            return None
        return found, stat.st_size

    def wrote(self, size: int) -> None:
        """A file of this size was written here."""
        with self._lock:
            self._written += size
            is_due = self._written > self._limit * _BETWEEN
        if is_due:
            self.make_room()

    def make_room(self, *, is_full: bool = False) -> None:
        """Remove the files that were not used for the longest time, if all are near the limit, or
        the disk ``is_full``."""
        with self._lock:
            self._written = 0
        found = sorted(self._files())
        total = sum(size for _, size, _ in found)
        limit = min(total, self._limit) if is_full else self._limit
        if total <= limit * (1 - _BETWEEN):
            return
        for _, size, path in found:
            if total <= limit * _LEFT:
                return
            with suppress(OSError):
                path.unlink()
                total -= size

    def _files(self) -> Iterator[tuple[int, int, Path]]:
        """When each was last used, its size and its path."""
        for path in self.root.glob("[0-9a-f][0-9a-f]/*.cst"):
            with suppress(OSError):
                stat = path.stat()
                yield max(stat.st_atime_ns, stat.st_mtime_ns), stat.st_size, path

    def close(self) -> None:
        """Remove the service's own folder."""
        shutil.rmtree(self.own, ignore_errors=True)
        with suppress(OSError):
            Path(self._lock_file.name).unlink()
        self._lock_file.close()


def path_in(root: Path, key: str) -> Path:
    """Where the artifact of a key is in a folder."""
    return root / key[:2] / f"{key}.cst"


def put(artifact: Artifact, key: str, root: Path, own: Path) -> int:
    """Write an artifact into a folder by way of a service's own one; the size of its file. Raises
    ``OSError``."""
    written, target = own / f"{key}.{os.getpid()}", path_in(root, key)
    # Whoever cleans up temporary files may have removed these folders.
    own.mkdir(mode=0o700, exist_ok=True)
    name = artifact.save_thin(written, own)
    tables = root / "tok" / name
    tables.parent.mkdir(exist_ok=True)
    if not tables.is_file():
        placed(own / name, tables)
    target.parent.mkdir(parents=True, exist_ok=True)
    size = written.stat().st_size
    written.replace(target)
    return size


def _user() -> str:
    return str(os.getuid()) if hasattr(os, "getuid") else "user"


def _locked_folder(base: Path) -> tuple[Path, BinaryIO]:
    """A new folder, and the open file beside it that says it is in use as long as it is locked."""
    while True:
        own = base / token_hex(8)
        file = own.with_suffix(".lock").open("xb")
        # subtle: between the two, another service may have found it without its lock.
        if _lock(file) and _is_still_there(file):
            own.mkdir(mode=0o700)
            return own, file
        file.close()


def _is_still_there(file: BinaryIO) -> bool:
    with suppress(OSError):
        return os.path.samestat(Path(file.name).stat(), os.fstat(file.fileno()))
    return False


def _lock(file: BinaryIO) -> bool:
    """Whether nobody else had the lock of a file; where the system has none, somebody had."""
    try:
        import fcntl
    except ImportError:
        return True
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _remove_left_ones(base: Path) -> None:
    """Remove the folders of services that were killed."""
    if os.name != "posix":
        return
    for path in base.glob("*.lock"):
        with suppress(OSError), path.open("rb") as file:
            if _lock(file):
                shutil.rmtree(path.with_suffix(""), ignore_errors=True)
                path.unlink()
                _LOG.info("removed what a service left that was killed: %s", path.stem)
