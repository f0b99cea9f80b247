"""Files that other files name, and not their user: regular ones, in the folder that was named.

A named pipe waits for a writer, and a device may have no end. Whoever names one on the command
line, as a shell does by ``<(…)``, means it; a file of a stranger's may not.
"""

import errno
import os
from os import PathLike
from pathlib import Path
from stat import S_ISDIR, S_ISREG

from ..errors import visible


def is_stream(path: str | PathLike[str]) -> bool:
    """Whether a path is there and is neither a regular file nor a folder: it can be read once, and
    may wait for a writer."""
    try:
        mode = os.stat(path).st_mode  # noqa: PTH116
    except (OSError, ValueError):
        return False
    return not (S_ISREG(mode) or S_ISDIR(mode))


def regular(path: str | PathLike[str], below: str | PathLike[str] | None = None) -> Path:
    """The path, to be opened. Raises ``OSError`` for a pipe, a device and whatever else is no
    regular file, and for what does not lie in the folder ``below``, whatever links lead to; what
    is not there, or a folder, is for the reader to find."""
    if below is not None and not Path(os.path.realpath(path)).is_relative_to(
        os.path.realpath(below)
    ):
        reason = f"it leads out of the folder {visible(below)}, in which files are read alone"
        raise OSError(errno.EACCES, reason, os.fspath(path))
    if is_stream(path):
        reason = "it is no regular file; a pipe or a device is named on the command line alone"
        raise OSError(errno.EINVAL, reason, os.fspath(path))
    return Path(path)
