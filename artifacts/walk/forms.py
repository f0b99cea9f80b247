"""Which form of the walk runs: compiled where that was made of this very source, else as it stands.

    kernel.py             the source, which Python runs
    compiled_kernel.*     what Cython made of it when the package was installed, if it could

Each form can be imported by its name.
"""

from functools import cache
from hashlib import sha256
from importlib import import_module
from importlib.resources import files
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .kernel import Kernel

# What the compiled form is made of, and its name.
SOURCES, COMPILED = ("kernel.py", "kernel.pxd"), ".compiled_kernel"


def source_hash() -> str:
    """SHA-256 of the sources, in hexadecimal digits."""
    parts = (files(__package__).joinpath(name).read_bytes() for name in SOURCES)
    return sha256(b"".join(part.replace(b"\r\n", b"\n") for part in parts)).hexdigest()


@cache
def kernel() -> "type[Kernel]":
    """The walk to use."""
    from .kernel import Kernel

    try:
        compiled = import_module(COMPILED, __package__)
    except ImportError:
        return Kernel
    found: type[Kernel] = compiled.Kernel
    return found if source_hash() == compiled.SOURCE else Kernel


def is_compiled() -> bool:
    """Whether the compiled form is used."""
    return kernel().__module__.endswith(COMPILED)
