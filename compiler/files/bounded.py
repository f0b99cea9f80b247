"""Read files of tokenizers, which may be anyone's: of bounded size, and JSON of bounded content.

    read_bounded(path)         the bytes of a file
    bounded_json(raw, what)    the value of a JSON text

A value of JSON takes up to 72 bytes of memory where the text has two, so values are counted first.
"""

import json
from pathlib import Path
from typing import Any

from ..diagnostics import TokenizerError

# Real tokenizers have 35 MB at most, with 3 million values.
MOST_FILE_BYTES = 100_000_000
MOST_VALUES = 8_000_000


def read_bounded(path: Path) -> bytes:
    """The content of a file. Raises ``TokenizerError`` if it has more than ``MOST_FILE_BYTES`` or
    cannot have such a name, and ``OSError``."""
    try:
        file = path.open("rb")
    except ValueError as error:
        raise TokenizerError(f"no file has this name ({error})") from None
    with file:
        raw = file.read(MOST_FILE_BYTES + 1)
    if len(raw) > MOST_FILE_BYTES:
        raise TokenizerError(
            f"{path.name} has more than {MOST_FILE_BYTES:,} bytes, the most that a tokenizer's "
            f"file may have"
        )
    return raw


def bounded_json(raw: bytes, what: str) -> Any:
    """The value of a JSON text; ``what``: the file that it should be, for messages. Raises
    ``TokenizerError`` for what is no JSON or has more than ``MOST_VALUES`` values."""
    # Each value stands after one of these. Some may be in strings, which real ones have few of.
    if sum(map(raw.count, (b",", b":", b"[", b"{"))) > MOST_VALUES:
        raise TokenizerError(
            f"not a {what}: it has more than {MOST_VALUES:,} values, the most that a tokenizer's "
            f"file may have"
        )
    try:
        return json.loads(raw)
    except (ValueError, RecursionError) as error:
        raise TokenizerError(f"not a {what}: it is not valid JSON ({error})") from None
