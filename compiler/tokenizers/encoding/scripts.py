"""The script of each character as the library ``tokenizers`` has it, in data by ``make_scripts``.

as_scripts("Да, ok")     two marks of Cyrillic, one of what all scripts share, a space, and two
                         of Latin
"""

import json
from functools import cache
from importlib.resources import files

import numpy as np
from numpy.typing import NDArray

# The mark of a script is this character and those after it; a space is that of none.
_FIRST_MARK, _NONE = 0xE000, ord(" ")


@cache
def script_numbers() -> NDArray[np.uint8]:
    """The number of each code point's script, uint8 (0x110000,); 0 for a space and for what has
    none."""
    packed = json.loads(files(__package__).joinpath("scripts.json").read_text("utf-8"))["runs"]
    lengths, numbers = np.array([int(n, 36) for n in packed.split()]).reshape(-1, 2).T
    return np.repeat(numbers.astype(np.uint8), lengths)


@cache
def _marks() -> NDArray[np.uint16]:
    numbers = script_numbers()
    return np.where(numbers, _FIRST_MARK + numbers.astype(np.uint16), _NONE).astype("<u2")


def as_scripts(text: str) -> str:
    """A mark of its script for each character, so that places in both are the same."""
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), "<u4")
    marks: bytes = _marks()[codes].tobytes()
    return marks.decode("utf-16-le")


@cache
def runs_pattern() -> str:
    """A pattern, over marks, of one script's characters with what has none after the first."""
    marks = map(chr, _FIRST_MARK + np.arange(1, int(script_numbers().max()) + 1))
    return "|".join(f"{mark}[{mark} ]*" for mark in marks)
