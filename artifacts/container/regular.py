"""Files that other files name, and not their user: they are regular ones, so that nothing waits.

A named pipe waits for a writer, and a device may have no end. Whoever names one on the command
line, as a shell does by ``<(…)``, means it; a file of a stranger's may not.
"""

import errno
import os
from os import PathLike
from pathlib import Path
from stat import S_ISDIR, S_ISREG


def is_stream(path: str | PathLike[str]) -> bool:
    """Whether a path is there and is neither a regular file nor a folder: it can be read once, and
    may wait for a writer."""
    try:
        mode = os.stat(path).st_mode  # noqa: PTH116
    except (OSError, ValueError):
        return False
    return not (S_ISREG(mode) or S_ISDIR(mode))


def regular(path: str | PathLike[str]) -> Path:
    """The path, to be opened. Raises ``OSError`` for a pipe, a device and whatever else is no
    regular file; what is not there, or a folder, is for the reader to find."""
    if is_stream(path):
        reason = "it is no regular file; a pipe or a device is named on the command line alone"
        raise OSError(errno.EINVAL, reason, os.fspath(path))
    return Path(path)
