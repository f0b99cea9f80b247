"""Unicode properties as data: made by ``make_classes.py``, never scanned at run time."""

import json
from functools import cache
from importlib.resources import files

CodePoints = tuple[tuple[int, int], ...]


@cache
def _table() -> dict[str, CodePoints]:
    text = files(__name__).joinpath("classes.json").read_text(encoding="utf-8")
    return {
        name: tuple((low, high) for low, high in ranges)
        for name, ranges in json.loads(text).items()
        if name != "unicode"
    }


def class_ranges(name: str) -> CodePoints:
    """The ranges of ``digit`` (Nd), ``space`` (White_Space) or ``word`` (UTS #18's \\w)."""
    return _table()[name]
