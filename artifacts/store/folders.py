"""Where a user's files are: those of the cache, and those that are no other's to give."""

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
    home = _home()
    if home is None:
        return None
    if sys.platform == "win32":
        return _local_data(home) / "Cache"
    if sys.platform == "darwin":
        return home / "Library" / "Caches" / "constrain"
    return _base("XDG_CACHE_HOME", home / ".cache")


def state_folder() -> Path | None:
    """The system's place for what is the user's own, and is not restored with a cache.

    None if the user has no home, or one that depends on the current folder.
    """
    home = _home()
    if home is None or not home.is_absolute():
        return None
    if sys.platform == "win32":
        return _local_data(home)
    if sys.platform == "darwin":
        return home / "Library" / "Application Support" / "constrain"
    return _base("XDG_STATE_HOME", home / ".local" / "state")


def _home() -> Path | None:
    try:
        return Path.home()
    except RuntimeError:
        return None


def _local_data(home: Path) -> Path:
    return Path(os.environ.get("LOCALAPPDATA") or home / "AppData" / "Local", "constrain")


def _base(variable: str, default: Path) -> Path:
    # XDG Base Directory Specification: a relative path is to be ignored.
    named = os.environ.get(variable, "")
    return Path(named if os.path.isabs(named) else default, "constrain")  # noqa: PTH117
