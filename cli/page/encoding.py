"""Data inside a page: arrays as base64, JSON that no script element ends in, hashes for the CSP."""

import base64
import hashlib
import json
import re
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

# By the largest value: how the page reads an array.
_TYPES = ((0xFF, "u1"), (0xFFFF, "u2"), (0x7FFFFFFF, "u4"))


def packed(values: NDArray[Any] | Sequence[int]) -> dict[str, str]:
    """Numbers from 0 on in the narrowest type, little-endian: ``{"t": "u2", "b": base64}``."""
    array = np.asarray(values).reshape(-1)
    largest = int(array.max(initial=0))
    name = next(name for most, name in _TYPES if largest <= most)
    data = array.astype(f"<{name}").tobytes()
    return {"t": name, "b": base64.b64encode(data).decode("ascii")}


def runs(ids: Iterable[int]) -> list[int]:
    """Ascending ids as (ids left out, ids in a row) pairs: ``[1, 2, 3, 7] -> [1, 3, 3, 1]``."""
    found: list[int] = []
    end = 0
    for each in ids:
        if found and each == end:
            found[-1] += 1
        else:
            found += [each - end, 1]
        end = each + 1
    return found


# What HTML may obey, line ends of JavaScript, what turns the direction of text, and what a terminal
# would obey in the page's source.
_NOT_RAW = re.compile("[<>&\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")


def script_json(value: object) -> str:
    """JSON that may stand in a script element: nothing in it ends or begins one, or a comment, or
    turns around how the page's source is shown."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    # Lone surrogates, which a file's name may have, are no UTF-8.
    text = "".join(f"\\u{ord(c):04x}" if "\ud800" <= c <= "\udfff" else c for c in text)
    return _NOT_RAW.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def source_hash(text: str) -> str:
    """What a content security policy calls an inline script or style."""
    digest = hashlib.sha256(text.encode("utf-8")).digest()
    return f"'sha256-{base64.b64encode(digest).decode('ascii')}'"
