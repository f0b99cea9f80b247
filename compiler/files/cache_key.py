"""The key by which a user's own entries of the cache are told from all others.

    CONSTRAIN_CACHE_KEY, any text     what machines or users that share a folder agree on
    the user's file, 32 bytes         made when it is first needed
    of this process                   where there can be no file: others build their entries again

A folder of entries may come from anybody: restored by a service, part of an image, shared. So the
key is never looked for in it, and a file that others could have written or read is none.
"""

import errno
import hmac
import os
from contextlib import suppress
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from stat import S_ISDIR, S_ISREG

from constrain.artifacts.container.write import temporary_beside
from constrain.artifacts.store.folders import state_folder

VARIABLE = "CONSTRAIN_CACHE_KEY"

_NAME = "cache.key"
_BYTES = 32

# A link is not followed, a pipe not waited for.
_FLAGS = (
    os.O_RDONLY
    | getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_BINARY", 0)
)

# What opening says of a file that is not there, or is no key: a link, a socket, one unreadable.
_IS_NONE = {errno.ENOENT, errno.ELOOP, errno.EMLINK, errno.EACCES, errno.ENXIO, errno.EOPNOTSUPP}

# That of this process, and of those that it forks.
_OWN = os.urandom(_BYTES)


@dataclass(frozen=True, slots=True)
class CacheKey:
    """A key. ``origin``: where it is from, or why there is none that lasts, for people.
    ``lasts``: whether other processes of the user have the same."""

    secret: bytes = field(repr=False)
    origin: str
    lasts: bool

    @property
    def id(self) -> bytes:
        """What may be known of it: 32 bytes that are others for another key. Empty if it does not
        last, so that the entries of such processes replace each other and do not pile up."""
        return sha256(b"id" + self.secret).digest() if self.lasts else b""

    def code(self, message: bytes) -> bytes:
        """The authentication code of a message: HMAC-SHA256, 32 bytes."""
        return hmac.digest(self.secret, message, "sha256")


def cache_key(cache: Path) -> CacheKey:
    """The key for the entries of a folder; trouble with the file of the key is no error."""
    if text := os.environ.get(VARIABLE):
        secret = sha256(b"constrain cache key\0" + os.fsencode(text)).digest()
        return CacheKey(secret, VARIABLE, lasts=True)
    reasons = []
    for folder in _folders():
        path = folder / _NAME
        try:
            _require_apart(folder, cache)
            return CacheKey(_key_of(path), str(path), lasts=True)
        except OSError as error:
            reasons.append(f"{path}: {error.strerror}")
    return CacheKey(_OWN, "; ".join(reasons) or "there is no home folder", lasts=False)


def _folders() -> list[Path]:
    """Where the file may be: in the user's home, or else below the folder of temporary files."""
    found = [state_folder()]
    if os.name == "posix":
        # subtle: not tempfile's, which may be the current folder, where anybody's files are.
        temporary = Path(os.environ.get("TMPDIR") or "/tmp")
        found.append(temporary / f"constrain-{os.geteuid()}" if temporary.is_absolute() else None)
    return [folder for folder in found if folder is not None]


def _require_apart(folder: Path, cache: Path) -> None:
    """Raises ``OSError`` if whoever brings the cache's folder brings this one, too."""
    if Path(os.path.realpath(folder)).is_relative_to(os.path.realpath(cache)):
        raise OSError(errno.EPERM, "it would be in the folder of the cache")


def _key_of(path: Path) -> bytes:
    """The key in a file, which is made if it is not there, or is not what this wrote. Of several
    processes that make it at once all have the same. Raises ``OSError``."""
    _make_folder(path.parent)
    found = _read(path)
    if found is None:
        _make(path)
        found = _read(path)  # Perhaps of another process, which was first.
    if found is None:
        raise OSError(errno.EPERM, "it cannot be kept from others")
    return found


def _make_folder(folder: Path) -> None:
    """Make the folder. Raises ``OSError`` if others can put files into it."""
    if os.name != "posix":
        folder.mkdir(parents=True, exist_ok=True)
        return
    if not folder.exists() and os.geteuid() == 0:
        # As by sudo: in the home of another user this would be in that user's way.
        above = next(each for each in folder.parents if each.exists())
        if above.stat().st_uid != 0:
            raise OSError(errno.EPERM, "it would be root's in a folder of another user")
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    found = folder.lstat()
    if not S_ISDIR(found.st_mode) or found.st_uid != os.geteuid() or found.st_mode & 0o022:
        raise OSError(errno.EPERM, "others can write to its folder")


def _read(path: Path) -> bytes | None:
    """The key in a file that nobody else can have written or read; None for any other. Raises
    ``OSError``."""
    try:
        with os.fdopen(os.open(path, _FLAGS), "rb") as file:
            found = os.fstat(file.fileno())
            if not S_ISREG(found.st_mode) or found.st_size != _BYTES:
                return None
            if os.name == "posix" and (found.st_uid != os.geteuid() or found.st_mode & 0o077):
                return None
            key = file.read(_BYTES + 1)
    except OSError as error:
        if error.errno not in _IS_NONE:
            raise  # As where too many files are open: what is there stays.
        return None
    return key if len(key) == _BYTES else None


def _make(path: Path) -> None:
    """Write a new key, unless another process has just written one."""
    temporary = temporary_beside(path)
    try:
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
        with os.fdopen(os.open(temporary, flags, 0o600), "wb") as file:
            file.write(os.urandom(_BYTES))
            file.flush()
            os.fsync(file.fileno())  # Not zeros, should the machine fail.
        if not os.path.lexists(path):
            with suppress(FileExistsError):
                _link(temporary, path)
        elif _read(path) is None:
            temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def _link(temporary: Path, path: Path) -> None:
    """Give a file its name. Raises ``FileExistsError`` if another has it, as renaming does not."""
    try:
        os.link(temporary, path)
    except FileExistsError:
        raise
    except OSError:  # A file system without links.
        temporary.replace(path)
