"""Where files of a user's cache are."""

import os
import sys
from pathlib import Path

VARIABLE = "CONSTRAIN_CACHE_DIR"


def default_folder() -> Path | None:
    """The folder: ``CONSTRAIN_CACHE_DIR``, else the system's place for caches.

    None if the user has no home.
    """
    if named := os.environ.get(VARIABLE):
        return Path(named)
    try:
        home = Path.home()
    except RuntimeError:
        return None
    if sys.platform == "win32":
        return Path(
            os.environ.get("LOCALAPPDATA") or home / "AppData" / "Local", "constrain", "Cache"
        )
    if sys.platform == "darwin":
        return home / "Library" / "Caches" / "constrain"
    # XDG Base Directory Specification: a relative path is to be ignored.
    named = os.environ.get("XDG_CACHE_HOME", "")
    return Path(named if os.path.isabs(named) else home / ".cache", "constrain")  # noqa: PTH117
