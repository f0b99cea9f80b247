"""The line that ``constrain --version`` prints."""

import os
import sys
from contextlib import suppress

# What the folder of the distribution's metadata is called, but for the version.
_BEGIN, _END = "constrain_grammar-", ".dist-info"


def version_line() -> str:
    """Name and number, and what runs it."""
    from constrain.artifacts.walk.forms import is_compiled

    walk = "compiled" if is_compiled() else "in Python"
    return f"constrain {_number()} (Python {sys.version.split()[0]}, walk {walk})\n"


def _number() -> str:
    """The version, by a folder's name: what reads metadata takes longer to import than all else."""
    for folder in sys.path:
        with suppress(OSError), os.scandir(folder or os.curdir) as entries:
            for name in (entry.name for entry in entries):
                if name.startswith(_BEGIN) and name.endswith(_END):
                    return name[len(_BEGIN) : -len(_END)]
    from importlib.metadata import version

    return version("constrain-grammar")
