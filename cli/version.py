"""The line that ``constrain --version`` prints."""

import sys


def version_line() -> str:
    """Name and number, and what runs it."""
    from importlib.metadata import version

    from constrain.artifacts.walk.forms import is_compiled

    walk = "compiled" if is_compiled() else "in Python"
    return (
        f"constrain {version('constrain-grammar')} (Python {sys.version.split()[0]}, walk {walk})\n"
    )
