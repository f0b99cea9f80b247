"""The JSON of a file's header, which may be anyone's: of bounded content, and read in one way.

    object_of(text, "manifest", MOST_VALUES)    the object, or ``ArtifactError``

A value of JSON takes up to 72 bytes of memory where the text has two, so values are counted first.
"""

import json
import re
from itertools import islice
from typing import Any

from ..errors import ArtifactError

# Of a manifest: 200,000 rules have a million.
MOST_VALUES = 2_000_000

# Each value stands after one of these.
_BEFORE_VALUES = ",:[{"

# What is before the next one, strings among it, of which one may have no end, and that one, or the
# end of the text: any text is read once.
_TO_THE_NEXT = re.compile(
    r'(?:[^",:\[{]++|"[^"\\]*+(?:\\.[^"\\]*+)*+"?)*+(?:([,:\[{])|\Z)', re.DOTALL
)

# How the escape of half a character begins in JSON.
_HALF_CHARACTER = "\\ud"


def values_of(text: str, most: int) -> int:
    """How many values a JSON text has beside the outermost one, or some more; no further than
    ``most`` and one."""
    found = sum(map(text.count, _BEFORE_VALUES))
    if found <= most:
        return found
    # Some of them are in strings.
    return sum(each[1] is not None for each in islice(_TO_THE_NEXT.finditer(text), most + 1))


def object_of(text: str, what: str, most: int) -> dict[str, Any]:
    """The object of a JSON text that has at most so many values. Raises ``ArtifactError``."""
    if values_of(text, most) > most:
        raise ArtifactError(f"the {what} is damaged: it has more than {most:,} values")
    try:
        value = json.loads(text, object_pairs_hook=_once_each, parse_constant=_no_number)
        if _HALF_CHARACTER in text.lower():
            # Halves of characters stand for one in pairs alone: nothing could print a lone one.
            json.dumps(value, ensure_ascii=False).encode("utf-8")
    except (ValueError, RecursionError):
        raise ArtifactError(f"the {what} is damaged: it is not valid JSON") from None
    if not isinstance(value, dict):
        raise ArtifactError(f"the {what} is damaged: it is not a JSON object")
    return value


def _once_each(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object none of whose keys stands twice: readers would not agree on what it says."""
    value = dict(pairs)
    if len(value) < len(pairs):
        raise ValueError
    return value


def _no_number(name: str) -> None:
    """``NaN`` and ``Infinity`` are no JSON."""
    raise ValueError(name)
