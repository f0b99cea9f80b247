"""Values of a request's fields, each by its pointer, and the error of what they must not be."""

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TypeAlias

from constrain.artifacts.errors import ConstrainError, visible

from ..schema.read import escaped

Json: TypeAlias = Any

# Characters of a value, and of a pointer, that a message shows.
_SHOWN, _SHOWN_POINTER = 60, 200


class RequestError(ConstrainError):
    """A request that cannot be read, or that asks for what would not be enforced: the text of an
    HTTP 400. ``pointer``: of the field at fault (RFC 6901), empty for the whole request."""

    def __init__(self, pointer: str, message: str, hint: str = "") -> None:
        shown = pointer or "the request"
        if len(shown) > _SHOWN_POINTER:
            shown = f"{shown[: _SHOWN_POINTER // 2]}…{shown[-_SHOWN_POINTER // 2 :]}"
        said = f"{shown}: {message}{hint and f'; {hint}'}"
        super().__init__(visible(said))
        self.pointer, self.message, self.hint = pointer, message, hint


def json_text(value: Json, pointer: str) -> str:
    """The text of a JSON value, its keys in their order."""
    try:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise RequestError(pointer, f"this is no JSON: {error}") from None


def value_of(value: Json, pointer: str) -> Json:
    """The value of a JSON text; of what is no text, itself."""
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError) as error:
        raise RequestError(pointer, f"this is no JSON: {error}") from None


def shown(value: Json) -> str:
    try:
        text = repr(value)
    except (RecursionError, ValueError):  # Of numbers of thousands of digits.
        return f"that {type(value).__name__}"
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…"


def string(value: Json, pointer: str) -> str:
    if not isinstance(value, str):
        raise RequestError(pointer, f"this must be a string, not {shown(value)}")
    return value


def object_of(value: Json, pointer: str) -> Mapping[str, Json]:
    if not isinstance(value, Mapping):
        raise RequestError(pointer, f"this must be an object, not {shown(value)}")
    return value


def listed(value: Json, pointer: str) -> Iterator[Json]:
    if not isinstance(value, list | tuple):
        raise RequestError(pointer, "this must be an array")
    return iter(value)


def typed(value: Json, pointer: str) -> Json:
    """The ``type`` of an object."""
    if "type" not in object_of(value, pointer):
        raise RequestError(pointer, "there is no 'type'")
    return value["type"]


def only(value: Mapping[str, Json], known: Iterable[str], pointer: str) -> None:
    """Raise ``RequestError`` for a key that nothing would be done about."""
    kept = tuple(known)
    for key in value:
        if key not in kept:
            hint = f"known are {', '.join(kept)}"
            step = escaped(key if isinstance(key, str) else shown(key))
            raise RequestError(f"{pointer}/{step}", "this is not known, nor enforced", hint)
