"""Values as arrays and one JSON text, for the cache, and back.

    packed(value)                ->   arrays by name: ``about``, the text, and those in the value
    unpacked(arrays, classes)    ->   an equal value

In the text numbers, strings and None stand for themselves, and all else as a list of what it is and
of what it is made of:

    Pair(left=(1, "a"), right=array)   ->   ["Pair", ["tuple", 1, "a"], ["array", 0, "<i4"]]

Only what is named in ``classes`` is made of a text: dataclasses, by their fields, and enumerations.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from typing import Any

import numpy as np
from numpy.typing import NDArray

Tables = Mapping[str, NDArray[Any]]

_ABOUT = "about"

# Types that files lack, and those of the same size that they have.
_STORED = {"|b1": "|u1", "<f8": "<i8", "<u8": "<i8"}


def packed(value: object) -> dict[str, NDArray[Any]]:
    """A value of dataclasses, enumerations, mappings, sequences, arrays, bytes and what JSON has.
    Raises ``TypeError`` for other ones."""
    arrays = dict[str, NDArray[Any]]()
    text = json.dumps(_said(value, arrays))
    return {_ABOUT: np.frombuffer(text.encode("ascii"), dtype=np.uint8), **arrays}


def unpacked(arrays: Tables, classes: Iterable[type]) -> Any:
    """The value. Raises some exception for arrays that ``packed`` has not made of such classes."""
    known = {each.__name__: each for each in classes}
    return _value(json.loads(arrays[_ABOUT].tobytes()), arrays, known)


def _said(value: object, arrays: dict[str, NDArray[Any]]) -> object:
    name = type(value).__name__
    match value:
        case Enum():
            return [name, value.value]
        case None | bool() | int() | float() | str():
            return value
        case bytes():
            return ["bytes", value.decode("latin-1")]
        case np.ndarray():
            kind, place = value.dtype.str, str(len(arrays))
            arrays[place] = np.ascontiguousarray(value).view(_STORED.get(kind, kind))
            return ["array", place, kind]
        case _ if is_dataclass(value):
            inside = [getattr(value, field.name) for field in fields(value)]
            return [name, *(_said(each, arrays) for each in inside)]
        case Mapping():
            return ["dict", _said([*value], arrays), _said([*value.values()], arrays)]
        case range():
            return ["tuple", *value]
        case list() | tuple():
            return [name, *(_said(each, arrays) for each in value)]
    raise TypeError(f"{name} is no value that can be packed")


def _value(said: Any, arrays: Tables, classes: Mapping[str, type]) -> Any:
    if not isinstance(said, list):
        return said
    kind, *parts = said
    match kind:
        case "bytes":
            return parts[0].encode("latin-1")
        case "array":
            return arrays[parts[0]].view(parts[1])
    inside = [_value(part, arrays, classes) for part in parts]
    match kind:
        case "dict":
            return dict(zip(*inside, strict=True))
        case "list":
            return inside
        case "tuple":
            return tuple(inside)
    return classes[kind](*inside)
