"""What schemas that may be plain say: texts, numbers, and the scalars that they list."""

from collections.abc import Mapping
from decimal import Decimal

from ..read import Json

# Digits of a number before the point and after it.
_MOST_DIGITS = 30


class NotPlainError(Exception):
    """A schema is not plain."""


def require(holds: object) -> None:
    """Raise ``NotPlainError`` where something does not hold of a schema."""
    if not holds:
        raise NotPlainError


def values_of(schema: Mapping[str, Json]) -> list[Json] | None:
    """The values that a schema lists; None where it lists none. Raises ``NotPlainError``."""
    found = schema["enum"] if "enum" in schema else [schema["const"]] if "const" in schema else None
    require(found is None or type(found) is list)
    return found


def texts_of(schema: Mapping[str, Json]) -> list[str]:
    """The distinct texts that a schema lists. Raises ``NotPlainError`` for other values."""
    found = values_of(schema) or []
    require(found and all(map(is_text, found)))
    return list(dict.fromkeys(found))


def mapping_of(value: Json) -> Mapping[str, Json]:
    """An object. Raises ``NotPlainError`` for another value."""
    found: Mapping[str, Json] = value
    require(type(found) is dict)
    return found


def is_text(value: Json) -> bool:
    """Whether a value is a text."""
    return type(value) is str


def is_number(value: Json) -> bool:
    """Whether a value is a number of few digits."""
    if type(value) is int:
        return value.bit_length() < 3 * _MOST_DIGITS
    if type(value) is not Decimal:
        return False
    _, digits, exponent = value.as_tuple()
    is_finite = isinstance(exponent, int) and -_MOST_DIGITS <= exponent <= _MOST_DIGITS
    return is_finite and len(digits) <= _MOST_DIGITS


def scalar_type(value: Json) -> str:
    """The type of a scalar. Raises ``NotPlainError`` for other values."""
    if type(value) is str:
        return "string"
    if value is None:
        return "null"
    if type(value) is bool:
        return "boolean"
    require(is_number(value))
    return "integer" if type(value) is int else "number"
