"""The key-values of a GGUF file that its tokenizer is in; no tensor is read.

    "GGUF"  version  tensors  n  |  n times: key, type, value  |  tensors, which are not read

Numbers are little-endian. A string is its length, 8 bytes, and its bytes; an array is the type of
its items, their number and the items. Other keys than those of the tokenizer are passed over.

Source: *GGUF*, the specification in the repository of ggml, versions 2 and 3.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from constrain.artifacts.container.regular import regular

from ..diagnostics import TokenizerError
from .bounded import MOST_FILE_BYTES

MAGIC = b"GGUF"
_VERSIONS = (2, 3)

# The types of values: numbers by their dtype, and the two others.
_NUMBERS = {0: "u1", 1: "i1", 2: "<u2", 3: "<i2", 4: "<u4", 5: "<i4", 6: "<f4", 7: "?"}
_NUMBERS |= {10: "<u8", 11: "<i8", 12: "<f8"}
_STRING, _ARRAY = 8, 9

# Models have some dozens of keys, the specification names none of more bytes, and the largest
# tokenizers have 450,000 merges.
_MOST_KEYS, _MOST_KEY_BYTES, _MOST_STRINGS = 65_536, 65_535, 4_000_000

_PREFIX = b"tokenizer."

# Bytes that are read at once.
_CHUNK = 1 << 20

Value = bytes | int | float | bool | list[bytes] | NDArray[Any]


@dataclass(frozen=True, slots=True, eq=False)
class KeyValues:
    """``values``: those whose key begins with ``tokenizer.``; strings as bytes. ``sha256``: of all
    key-values."""

    values: Mapping[str, Value]
    sha256: str


def is_gguf(file: Path) -> bool:
    """Whether a file begins as GGUF does."""
    try:
        with regular(file).open("rb") as opened:
            return opened.read(len(MAGIC)) == MAGIC
    except (OSError, ValueError):
        return False


def read_key_values(file: Path) -> KeyValues:
    """The tokenizer's key-values of a file. Raises ``TokenizerError``, whose message does not name
    the file, and ``OSError``."""
    with regular(file).open("rb") as opened:
        reader = _Reader(opened)
        reader.take(len(MAGIC))
        version = reader.number("<u4")
        if version not in _VERSIONS:
            swapped = int.from_bytes(version.to_bytes(4, "little"), "big")
            what = f"version {version}" if swapped not in _VERSIONS else "big-endian numbers"
            raise TokenizerError(f"a GGUF file with {what} is not supported; versions 2 and 3 are")
        reader.number("<u8")
        count = reader.number("<u8")
        if count > _MOST_KEYS:
            raise reader.damaged(f"{count:,} keys, where {_MOST_KEYS:,} are the most")
        values: dict[str, Value] = {}
        for _ in range(count):
            key = reader.string(_MOST_KEY_BYTES)
            value = reader.value(key.startswith(_PREFIX))
            if value is not None:
                values[key.decode("utf-8", "replace")] = value
        return KeyValues(values, reader.digest())


class _Reader:
    """Reads the parts of a file one after the other, within bounds."""

    def __init__(self, file: BinaryIO) -> None:
        self._file, self._digest, self._strings = file, sha256(), 0
        # Bytes of the file, those before ``_at`` read; how many came before them.
        self._buffer, self._at, self._before = b"", 0, 0

    @property
    def _place(self) -> int:
        return self._before + self._at

    def digest(self) -> str:
        """The SHA-256 of what has been read."""
        self._digest.update(self._buffer[: self._at])
        self._before, self._buffer, self._at = self._place, self._buffer[self._at :], 0
        return self._digest.hexdigest()

    def damaged(self, found: str) -> TokenizerError:
        """The error of what cannot be at this place."""
        return TokenizerError(f"the GGUF file is damaged: at byte {self._place:,} it has {found}")

    def take(self, size: int) -> bytes:
        """The next bytes."""
        if self._at + size > len(self._buffer):
            self._fill(size)
        begin, self._at = self._at, self._at + size
        return self._buffer[begin : self._at]

    def _fill(self, size: int) -> None:
        """Have so many bytes in the buffer."""
        if self._place + size > MOST_FILE_BYTES:
            raise self.damaged(
                f"a value of {size:,} bytes; all have {MOST_FILE_BYTES:,} together at most"
            )
        self.digest()
        self._buffer += self._file.read(max(size - len(self._buffer), _CHUNK))
        if len(self._buffer) < size:
            lacking = size - len(self._buffer)
            raise TokenizerError(
                f"the GGUF file is cut off: at byte {self._place:,} it lacks {lacking:,}"
            )

    def number(self, dtype: str) -> Any:
        """The next number."""
        return np.frombuffer(self.take(np.dtype(dtype).itemsize), dtype)[0].item()

    def _size(self) -> int:
        return int.from_bytes(self.take(8), "little")

    def string(self, most: int = MOST_FILE_BYTES) -> bytes:
        """The next string, of ``most`` bytes at most."""
        size = self._size()
        if size > most:
            raise self.damaged(f"a string of {size:,} bytes, where {most:,} are the most")
        return self.take(size)

    def value(self, is_wanted: bool) -> Value | None:
        """The next value with its type, None unless it is wanted."""
        kind = self.number("<u4")
        if kind != _ARRAY:
            found: Value = self._single(kind)()
        else:
            kind, count = self.number("<u4"), self._size()
            if kind in _NUMBERS:
                size = count * np.dtype(_NUMBERS[kind]).itemsize
                found = np.frombuffer(self.take(size), _NUMBERS[kind])
            else:
                self._strings += count
                if self._strings > _MOST_STRINGS:
                    raise self.damaged(f"{count:,} strings: {_MOST_STRINGS:,} are the most")
                found = self._strings_of(kind, count)
        return found if is_wanted else None

    def _strings_of(self, kind: int, count: int) -> list[bytes]:
        """The next strings: those in the buffer at once, as there are hundreds of thousands."""
        if kind != _STRING:
            raise self._unknown(kind)
        found = list[bytes]()
        while len(found) < count:
            buffer, at, end = self._buffer, self._at, len(self._buffer)
            while len(found) < count and at + 8 <= end:
                stop = at + 8 + int.from_bytes(buffer[at : at + 8], "little")
                if stop > end:
                    break
                found.append(buffer[at + 8 : stop])
                at = stop
            self._at = at
            if len(found) < count:
                found.append(self.string())
        return found

    def _unknown(self, kind: int) -> TokenizerError:
        return self.damaged(f"the type {kind}, which no value has here")

    def _single(self, kind: int) -> Callable[[], Any]:
        """What reads a value of a type that is no array."""
        if kind == _STRING:
            return self.string
        if kind not in _NUMBERS:
            raise self._unknown(kind)
        return lambda: self.number(_NUMBERS[kind])
