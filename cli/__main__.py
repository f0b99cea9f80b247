"""Entry of the program: ``constrain`` and ``python -m constrain.cli``."""

import gc
import os
import sys
from types import ModuleType
from typing import cast

# New containers between two searches for garbage.
_THRESHOLD = 50_000


def main() -> None:
    """Run the command line and end the process with its exit code."""
    # numpy starts a thread pool when it is imported, which costs more than a whole `mask`;
    # nothing here multiplies matrices.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    # Lark imports it, if it is there, to compare the terminals of grammars that it builds. None is
    # built here: the dialects' tables are data of the package.
    sys.modules.setdefault("interegular", cast(ModuleType, None))
    if sys.argv[1:] in (["--version"], ["-V"]) and _says_version():
        return
    # What the imports make stays: looking for garbage in it again and again costs 10 ms and more.
    gc.set_threshold(_THRESHOLD)
    code: int | str
    try:
        from .app import run

        code = run()
    except ImportError as error:
        if error.name != "constrain":
            raise
        code = f"error: {error}"
    except KeyboardInterrupt:  # While the imports run; commands have an answer of their own.
        code = 130
    # The process ends: a last search of all that there is would find nothing to return.
    gc.freeze()
    sys.exit(code)


def _says_version() -> bool:
    """Print the version, for which nothing else is imported; whether that could be written."""
    from .version import version_line

    if sys.stdout is None:
        return False
    try:
        sys.stdout.write(version_line())
        sys.stdout.flush()
    except OSError:
        return False
    return True


if __name__ == "__main__":
    main()
