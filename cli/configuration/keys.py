"""What a project file may say: the keys, their types, and what is wrong with a value.

Options of grammars have the names and bounds that the command line has: they are read from the
fields that describe those.
"""

import math
from collections.abc import Callable, Iterable
from dataclasses import Field, dataclass
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin

TESTS, ALLOW, MIN_COVERAGE = "tests", "allow", "min_coverage"
GRAMMARS, TOKENIZERS, STORE, FORMAT = "grammars", "tokenizers", "store", "format"


@dataclass(frozen=True, slots=True)
class Key:
    """A key: ``read`` returns its value, or what was expected as a ``TypeError`` or
    ``ValueError``."""

    name: str
    read: Callable[[Any], Any]


def of_formatting() -> dict[str, Key]:
    """What the table ``format`` may say, by the names of the fields of ``FormatOptions``."""
    return {
        "line-length": Key("line_length", lambda value: _number(value, int, 20, 1_000)),
        "align-definitions": Key("align", lambda value: _of_type(value, bool)),
    }


def of_a_grammar(options: Iterable[Field[Any]]) -> dict[str, Key]:
    """What may be said of one grammar, or at the top of all, by the names in the file; ``options``
    are fields with the command line's annotations."""
    found = {f.name.replace("_", "-"): Key(f.name, reader(f.name, f.type)) for f in options}
    found[MIN_COVERAGE.replace("_", "-")] = Key(
        MIN_COVERAGE, lambda value: _number(value, float, 0, 100)
    )
    return {**found, TESTS: Key(TESTS, _texts), ALLOW: Key(ALLOW, _lints)}


def said_by(annotation: Any) -> tuple[Any, Any]:
    """The type of what an option says, where it says anything, and its bounds."""
    kind, option = get_args(annotation)
    if get_origin(kind) in (Union, UnionType):
        (kind,) = (inner for inner in get_args(kind) if inner is not NoneType)
    return kind, option


def reader(name: str, annotation: Any) -> Callable[[Any], Any]:
    """What reads the value of an option, as ``Key.read``; ``annotation``: the command line's."""
    kind, option = said_by(annotation)
    if name == "dialect":
        return _dialect
    if get_origin(kind) is list:
        return _texts
    if get_origin(kind) is Literal:
        return lambda value: _choice(value, get_args(kind))
    if kind in (int, float):
        return lambda value: _number(value, kind, option.min, option.max)
    return lambda value: _of_type(value, kind)


def _of_type(value: Any, kind: type) -> Any:
    if type(value) is not kind:
        raise TypeError("true or false" if kind is bool else "a text in quotes")
    return value


def _number(value: Any, kind: type, least: float | None, most: float | None) -> Any:
    if type(value) not in ((int,) if kind is int else (int, float)):
        raise TypeError("a whole number" if kind is int else "a number")
    try:
        found = kind(value)
    except OverflowError:
        raise ValueError("a number that is not as large") from None
    if isinstance(found, float) and math.isnan(found):
        raise ValueError("a number, not nan")
    if least is not None and value < least:
        raise ValueError(f"at least {least:,}")
    if most is not None and value > most:
        raise ValueError(f"at most {most:,}")
    return found


def _choice(value: Any, known: Iterable[str]) -> str:
    if value not in known:
        raise ValueError(f"one of {', '.join(known)}")
    return str(value)


def _texts(value: Any) -> list[str]:
    if not (isinstance(value, list) and all(isinstance(item, str) for item in value)):
        raise TypeError("a list of texts in quotes")
    return value


def _lints(value: Any) -> list[str]:
    from constrain.compiler.lints import LINTS

    found = _texts(value)
    for name in found:
        if name not in LINTS:
            raise ValueError(f"names of lints, which are {', '.join(LINTS)}")
    return found


def _dialect(value: Any) -> str:
    from constrain.compiler.dialects import DIALECTS

    return _choice(value, DIALECTS)
