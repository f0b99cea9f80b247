"""TOML of strangers: read within bounds, which real project files are far from.

toml_of(b"a = 1")   ->   {"a": 1}
"""

import re
from pathlib import Path
from typing import Any

# The largest project file, in bytes: real ones have some kilobytes, Python projects dozens.
MOST_BYTES = 1_000_000

# A key of more than so many parts: to read one takes the square of their number.
_PART = r"""(?:[\w-]++|"[^"\n]*+"|'[^'\n]*+')"""
_LONG_KEY = re.compile(rf"(?m)(?:^|[\[{{,])[ \t]*+{_PART}(?:[ \t]*+\.[ \t]*+{_PART}){{64}}")
_TOO_DEEP = "keys or values nest too deep"


def read_most(path: Path) -> bytes:
    """The content of a file, and of a larger one than ``MOST_BYTES`` one byte more than that.
    Raises ``OSError``."""
    with path.open("rb") as file:
        return file.read(MOST_BYTES + 1)


def toml_of(data: bytes) -> dict[str, Any]:
    """The tables of a text. Raises ``ValueError`` for what is no TOML or nests too deep."""
    # Reading TOML takes milliseconds, which commands outside of projects do not spend.
    import tomllib

    text = data.decode("utf-8")
    if _LONG_KEY.search(text):
        raise ValueError(_TOO_DEEP)
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise ValueError(_TOO_DEEP) from None
