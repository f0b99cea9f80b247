"""Write a file whole or not at all: under a temporary name, then renamed."""

import os
from collections.abc import Iterable
from os import PathLike
from pathlib import Path
from threading import get_ident


def write_atomically(path: str | PathLike[str], chunks: Iterable[bytes]) -> None:
    """Write ``chunks`` to a temporary name in the same folder, then rename it to ``path``.

    ``OSError`` names ``path``.
    """
    target = Path(path)
    if target.exists() and not target.is_file() and not target.is_dir():
        try:
            with target.open("wb") as file:  # A pipe or a device is written to, not replaced.
                file.writelines(chunks)
        except OSError as error:
            raise _about(target, error) from None
        return
    temporary = target.with_name(f".{target.name}.{os.getpid()}.{get_ident()}.tmp")
    try:
        with temporary.open("xb") as file:
            file.writelines(chunks)
        temporary.replace(target)
    except BaseException as error:
        if not isinstance(error, FileExistsError):
            temporary.unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise _about(target, error) from None
        raise


def _about(target: Path, error: OSError) -> OSError:
    """The same error, naming the file to be written and not the temporary one."""
    if error.errno is None:
        return error
    return OSError(error.errno, error.strerror, str(target))
