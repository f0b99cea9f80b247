"""Which form of the walk runs: compiled where that was made of this very source, else as it stands.

    rows.py, threads.py, kernel.py    the source, which Python runs
    compiled_kernel.*                 what Cython made of it at installation, if it could

Each form can be imported by its name.
"""

from functools import cache
from hashlib import sha256
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .kernel import Kernel

# What the compiled form is made of, and the modules of both.
SOURCES = ("rows.py", "threads.py", "kernel.py", "kernel.pxd")
COMPILED, PYTHON = ".compiled_kernel", ".kernel"


def source_hash() -> str:
    """SHA-256 of the sources, in hexadecimal digits."""
    parts = (Path(__file__).with_name(name).read_bytes() for name in SOURCES)
    return sha256(b"".join(part.replace(b"\r\n", b"\n") for part in parts)).hexdigest()


def is_compiled() -> bool:
    """Whether a compiled form has the hash of the sources in it. Loads neither form, nor numpy."""
    found = find_spec(COMPILED, __package__)
    if found is None or found.origin is None:
        return False
    try:
        return source_hash().encode() in Path(found.origin).read_bytes()
    except OSError:  # In an archive or a program of one file.
        return False


@cache
def kernel() -> "type[Kernel]":
    """The walk to use."""
    form = COMPILED if is_compiled() else PYTHON
    try:
        module = import_module(form, __package__)
    except ImportError:  # Made for another system.
        module = import_module(PYTHON, __package__)
    found: type[Kernel] = module.Kernel
    return found
