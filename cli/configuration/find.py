"""Which project file holds: the first one from a folder upwards.

In each folder ``constrain.toml`` goes before a ``pyproject.toml``, which counts only with a table
``[tool.constrain]``. Files further up add nothing to the one that is found.
"""

import re
from pathlib import Path

from .bounded_toml import MOST_BYTES, read_most, toml_of

OWN, SHARED = "constrain.toml", "pyproject.toml"

# All ways to write the table's name begin so.
_MAY_HAVE_SECTION = rb"""(?m)tool["']?\s*\.\s*["']?constrain|^\s*\[?\s*["']?tool["']?\s*[]=]"""


def find(folder: Path) -> Path | None:
    """The project file of a folder, or of the nearest one above it."""
    for place in (folder, *folder.parents):
        if (place / OWN).is_file():
            return place / OWN
        if (place / SHARED).is_file() and _has_section(place / SHARED):
            return place / SHARED
    return None


def _has_section(path: Path) -> bool:
    """Whether the file has the table; one that is no TOML is others' to complain about."""
    try:
        data = read_most(path)
        # Reading TOML takes milliseconds, which commands outside of projects do not spend.
        if not re.search(_MAY_HAVE_SECTION, data):
            return False
        return len(data) > MOST_BYTES or "constrain" in toml_of(data).get("tool", {})
    except (OSError, ValueError, AttributeError, TypeError):
        return False
