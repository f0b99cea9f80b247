"""Where a store's files are: a folder, or whatever an fsspec URL names, such as S3.

Both write a file once and whole: a name that is there is not written again, and no reader sees a
part of a file. A folder's files are mapped where they are; others are fetched to a folder first.
"""

import os
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from stat import S_ISREG
from typing import Any, Protocol

from ..container.write import TEMPORARY, temporary_beside
from ..errors import visible
from .folders import VARIABLE
from .keys import StoreError

# Files of temporary names that are older are left from a process that was killed.
_ABANDONED_SECONDS = 3600

# A use is marked again when the last mark is older.
MARKED_SECONDS = 3600

# What is below it are empty files, named after objects, that say when these were used.
_USES = "used/"


@dataclass(frozen=True, slots=True)
class Stored:
    """A file of a store. ``name``: below the store, with ``/``. ``used``: when it was written or
    read last, in seconds since 1970."""

    name: str
    bytes: int
    used: float


class Place(Protocol):
    """Files by name. All methods raise ``OSError``."""

    def path(self, name: str) -> Path | None:
        """A local file with the content of a name, which is marked as used; None if there is
        none."""
        ...

    def write(self, name: str, chunks: Iterable[bytes]) -> bool:
        """Write a file whole, unless one of that name is there; whether it was written."""
        ...

    def has(self, name: str) -> bool:
        """Whether there is a file of a name."""
        ...

    def size(self, name: str) -> int | None:
        """The bytes of a file; None if there is none. It is not fetched."""
        ...

    def files(self) -> Iterator[Stored]:
        """All files."""
        ...

    def delete(self, name: str) -> None:
        """Take a file away, if there is one."""
        ...

    def forget(self, name: str) -> bool:
        """Take away a copy of a file; whether there was one, so that ``path`` fetches another."""
        ...

    def tidy(self) -> None:
        """Take away what killed processes left."""
        ...


class Folder:
    """A folder of this machine, or one that machines share."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def path(self, name: str) -> Path | None:
        path = self.root / name
        try:
            found = path.stat()
        except (FileNotFoundError, NotADirectoryError):
            return None
        if not S_ISREG(found.st_mode):
            return None
        now = time.time()
        if now - found.st_mtime > MARKED_SECONDS:
            with suppress(OSError):  # One that others write.
                os.utime(path, (now, now))
        return path

    def is_marked(self, name: str) -> bool:
        """Whether a use of a file was marked a short while ago."""
        with suppress(OSError):
            return time.time() - (self.root / name).stat().st_mtime <= MARKED_SECONDS
        return False

    def write(self, name: str, chunks: Iterable[bytes]) -> bool:
        path = self.root / name
        if path.exists():
            return False
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary = temporary_beside(path)
        try:
            with temporary.open("xb") as file:
                file.writelines(chunks)
            return placed(temporary, path)
        finally:
            temporary.unlink(missing_ok=True)

    def has(self, name: str) -> bool:
        return (self.root / name).is_file()

    def size(self, name: str) -> int | None:
        try:
            return (self.root / name).stat().st_size
        except (FileNotFoundError, NotADirectoryError):
            return None

    def files(self) -> Iterator[Stored]:
        for path in sorted(self.root.glob("*/*")):
            if path.suffix != TEMPORARY and path.is_file():
                with suppress(FileNotFoundError):
                    found = path.stat()
                    name = path.relative_to(self.root).as_posix()
                    yield Stored(name, found.st_size, found.st_mtime)

    def delete(self, name: str) -> None:
        (self.root / name).unlink(missing_ok=True)

    def forget(self, name: str) -> bool:
        return False

    def tidy(self) -> None:
        for path in self.root.glob(f"*/.*{TEMPORARY}"):
            with suppress(OSError):
                if time.time() - path.stat().st_mtime > _ABANDONED_SECONDS:
                    path.unlink()


def placed(temporary: Path, path: Path) -> bool:
    """Give a file a name, unless another has that; whether it was given."""
    try:
        os.link(temporary, path)  # Refuses a name that there is, as renaming does not.
    except FileExistsError:
        return False
    except OSError:  # A file system without links: two writers of one key write the same bytes.
        temporary.replace(path)
    return True


class Remote:
    """What an fsspec URL names. ``folder``: where files are fetched to, and mapped from."""

    def __init__(self, url: str, folder: Path) -> None:
        try:
            digest = sha256(url.encode("utf-8")).hexdigest()
        except UnicodeEncodeError:
            raise StoreError(f"{visible(url)}: a URL is UTF-8, and this is none") from None
        try:
            from fsspec.core import url_to_fs
        except ImportError:
            raise StoreError(
                f"{visible(url)}: a store that is no folder needs fsspec: "
                "pip install 'constrain-grammar[store]', and what it needs for such URLs, as s3fs "
                "for s3://"
            ) from None
        try:
            fs, root = url_to_fs(url)
        except (ImportError, ValueError) as error:
            raise StoreError(f"{visible(url)}: {visible(error)}") from None
        self._fs: Any = fs
        self._root: str = root.rstrip("/")
        self._local = Folder(folder / digest[:16])

    def path(self, name: str) -> Path | None:
        is_marked = self._local.is_marked(name)
        if not self._local.has(name):
            try:
                data = self._fs.cat_file(self._at(name))
            except FileNotFoundError:
                return None
            self._local.write(name, [data])
        if not is_marked:
            with suppress(Exception):  # Credentials that read alone: whatever the host raises.
                self._fs.pipe_file(self._at(_USES + name), b"")
        return self._local.path(name)

    def write(self, name: str, chunks: Iterable[bytes]) -> bool:
        if self.has(name):
            return False
        try:
            # One request: an object is there whole or not at all.
            self._fs.pipe_file(self._at(name), b"".join(chunks), mode="create")
        except FileExistsError:
            return False
        return True

    def has(self, name: str) -> bool:
        self._fs.invalidate_cache()
        return bool(self._fs.isfile(self._at(name)))

    def size(self, name: str) -> int | None:
        self._fs.invalidate_cache()
        try:
            return int(self._fs.info(self._at(name))["size"] or 0)
        except FileNotFoundError:
            return None

    def files(self) -> Iterator[Stored]:
        self._fs.invalidate_cache()
        found = self._fs.find(self._root, detail=True)
        listed = {path[len(self._root) + 1 :]: info for path, info in found.items()}
        for name, info in sorted(listed.items()):
            if not name.startswith(_USES):
                times = [_changed(each) for each in (info, listed.get(_USES + name)) if each]
                yield Stored(name, int(info.get("size") or 0), max(times))

    def delete(self, name: str) -> None:
        for each in (name, _USES + name):
            with suppress(FileNotFoundError):
                self._fs.rm_file(self._at(each))
        self._local.delete(name)

    def forget(self, name: str) -> bool:
        had = self._local.has(name)
        self._local.delete(name)
        return had

    def tidy(self) -> None:
        self._local.tidy()

    def _at(self, name: str) -> str:
        return f"{self._root}/{name}"


def _changed(info: dict[str, Any]) -> float:
    """When an object was written, which file systems call differently; 0 if they do not say."""
    for name in ("LastModified", "mtime", "updated", "last_modified", "created"):
        found = info.get(name)
        if found is not None:
            return float(found.timestamp() if hasattr(found, "timestamp") else found)
    return 0.0


def place_of(url: str, cache: Path | None) -> Place:
    """The place that a URL or the path of a folder names; copies of what is after a URL are kept
    in ``cache``. Raises ``StoreError``."""
    if url.startswith("file://"):
        from urllib.parse import urlsplit
        from urllib.request import url2pathname

        return Folder(Path(url2pathname(urlsplit(url).path)))
    if "://" not in url:
        return Folder(Path(url))
    if cache is None:
        raise StoreError(
            f"{visible(url)}: there is no home folder for copies of what is stored there; name a "
            f"folder, or set {VARIABLE}"
        )
    return Remote(url, cache / "store")
