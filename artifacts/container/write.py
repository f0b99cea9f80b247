"""Write a file whole or not at all: under a temporary name, then renamed.

    target of a link -> its mode, refused if read-only -> .name.<random>.tmp beside it -> renamed

All commands write so. A process that is killed leaves what was there before, and perhaps a
temporary file, which no other process ever opens.
"""

import errno
import os
from collections.abc import Iterable
from contextlib import suppress
from os import PathLike
from pathlib import Path
from stat import S_ISDIR, S_ISREG

# What temporary names end in.
TEMPORARY = ".tmp"

# Bytes of a file's own name that a temporary one has; file systems allow 255 in all.
_MOST_OF_NAME = 100


def temporary_beside(path: Path) -> Path:
    """A name in the same folder that no other process or thread takes, on whatever machine."""
    own = os.fsencode(path.name)[:_MOST_OF_NAME].decode("utf-8", "ignore")
    return path.with_name(f".{own}.{os.urandom(8).hex()}{TEMPORARY}")


def write_atomically(path: str | PathLike[str], chunks: Iterable[bytes]) -> None:
    """Write ``chunks`` to a temporary name in the same folder, then rename it to ``path``.

    A symbolic link stays, and what it leads to is written. The mode of a file that is there stays,
    and its owner where the process may set that; a new file's is that of the umask. Pipes and
    devices are written to. Raises ``OSError`` that names ``path``, also for a file that is
    read-only, and then the file is as it was.
    """
    named = Path(path)
    try:
        _write(named, chunks)
    except OSError as error:
        raise _about(named, error) from None


def _write(named: Path, chunks: Iterable[bytes]) -> None:
    try:
        found = named.stat()
    except FileNotFoundError:
        found = None
    # subtle: what is open as /dev/stdout may have no name any more, or another one.
    target = Path(os.path.realpath(named)) if named.is_symlink() else named
    is_elsewhere = found is not None and not (target.exists() and target.samefile(named))
    if found is not None and S_ISDIR(found.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    if found is not None and (is_elsewhere or not S_ISREG(found.st_mode)):
        with named.open("wb") as file:
            file.writelines(chunks)
        return
    if found is not None and not (found.st_mode & 0o222 and os.access(target, os.W_OK)):
        raise PermissionError(errno.EACCES, "it is read-only, and stays as it is")
    _replace(target, chunks, found)


def replace_atomically(path: Path, chunks: Iterable[bytes], mode: int = 0o666) -> None:
    """Write ``chunks`` to a new file of this name, whatever has the name now: a link is not
    followed, a pipe is not opened. ``mode``: of which the umask takes away. Raises ``OSError``,
    also where a folder has the name."""
    _replace(path, chunks, None, mode)


def _replace(
    target: Path, chunks: Iterable[bytes], like: os.stat_result | None, mode: int = 0o666
) -> None:
    temporary = temporary_beside(target)
    try:
        _write_new(temporary, chunks, like, mode)
        temporary.replace(target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def _write_new(
    temporary: Path, chunks: Iterable[bytes], like: os.stat_result | None, mode: int
) -> None:
    """Write a file that is not there yet, with the mode and the owner of another if there is one,
    else with ``mode``."""
    # Nobody else may read what was not to be read, not for a moment.
    mode = mode if like is None else like.st_mode & 0o600
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    with os.fdopen(os.open(temporary, flags, mode), "wb") as file:
        if like is not None and os.name == "posix":
            with suppress(OSError):
                os.fchown(file.fileno(), like.st_uid, like.st_gid)
            os.fchmod(file.fileno(), like.st_mode & 0o777)
        file.writelines(chunks)


def _about(target: Path, error: OSError) -> OSError:
    """The same error, naming the file to be written and not the temporary one."""
    if error.errno is None:
        return error
    return OSError(error.errno, error.strerror, str(target))
