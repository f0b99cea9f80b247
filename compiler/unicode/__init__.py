"""Unicode: sets of code points, their UTF-8 automata, and properties as data.

    code_points    sets of code points as ranges: union, intersection, complement
    utf8           a set of code points -> a minimal automaton over bytes
    properties     \\p{…} by name, and simple case folding (properties.json)
    class_ranges   \\d, \\s and \\w (classes.json)

The data is Unicode 18.0.0, made by ``generators.make_properties`` and ``generators.make_classes``
from the files of the standard, and never scanned at run time.
"""

import json
from functools import cache
from importlib.resources import files

from .utf8 import CodePoints, normalized


@cache
def _table() -> dict[str, CodePoints]:
    text = files(__name__).joinpath("classes.json").read_text(encoding="utf-8")
    return {
        name: normalized((low, high) for low, high in ranges)
        for name, ranges in json.loads(text).items()
        if name != "unicode"
    }


def class_ranges(name: str) -> CodePoints:
    """The ranges of ``digit`` (Nd), ``space`` (White_Space) or ``word`` (UTS #18's \\w)."""
    return _table()[name]
