"""The fields of a Protocol Buffers message, as far as SentencePiece's models have them.

    b"\\x0a\\x01a\\x18\\x02"  ->  (1, b"a"), (3, 2)

Source: *Protocol Buffers, Encoding*: a field is a tag, number and type of its value, and the value.
"""

from collections.abc import Iterator

from ..diagnostics import TokenizerError

_VARINT, _EIGHT_BYTES, _LENGTH, _FOUR_BYTES = 0, 1, 2, 5
_SIZES = {_EIGHT_BYTES: 8, _FOUR_BYTES: 4}

# A varint has 64 bits at most, seven in each byte.
_MOST_OCTETS = 10


def fields(raw: bytes) -> Iterator[tuple[int, int | bytes]]:
    """The numbers and values of a message's fields in order: numbers, or bytes of all other types.

    Raises ``TokenizerError`` where the bytes are no message.
    """
    place, length = 0, len(raw)
    while place < length:
        begin = place
        tag, place = _varint(raw, place)
        kind = tag & 7
        if kind == _VARINT:
            value, place = _varint(raw, place)
            yield tag >> 3, value
            continue
        size = _SIZES.get(kind, -1)
        if kind == _LENGTH:
            size, place = _varint(raw, place)
        if size < 0 or place + size > length:
            raise TokenizerError(f"the model is cut off or damaged, in the field at byte {begin:,}")
        yield tag >> 3, raw[place : place + size]
        place += size


def _varint(raw: bytes, place: int) -> tuple[int, int]:
    """A number, and the place after it."""
    value = 0
    for shift, octet in enumerate(raw[place : place + _MOST_OCTETS]):
        value |= (octet & 0x7F) << 7 * shift
        if octet < 0x80:
            return value, place + shift + 1
    raise TokenizerError(f"the model is cut off or damaged, in the number at byte {place:,}")
