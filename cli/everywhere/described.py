"""What options and arguments are for stands in the docstring of what declares them, as items:

    def fmt(check: Annotated[bool, typer.Option("--check")] = False) -> int:
        '''Lay out grammars.

        - ``check``: Write nothing; exit code 1 if a file would change.
        '''

The help shows each item beside its option, and of the docstring what stands before them.
"""

import re
from collections.abc import Callable, Container, Iterable
from copy import copy
from dataclasses import fields
from inspect import Parameter, Signature, cleandoc, getdoc
from typing import Annotated, Any, TypeVar, get_args

R = TypeVar("R")

_ITEM = re.compile(r"^- ``(\w+)``: (.*(?:\n  .*)*)", re.MULTILINE)
_DEFAULT = re.compile(r" (?=\[default: )")


def items_of(documented: object) -> dict[str, str]:
    """The items of a docstring by name; a default stands apart, as in Typer's own words."""
    found = _ITEM.finditer(getdoc(documented) or "")
    return {item[1]: _DEFAULT.sub("  ", " ".join(item[2].split())) for item in found}


def without_items(docstring: str | None) -> str | None:
    """What a docstring says before its items."""
    return docstring and _ITEM.split(cleandoc(docstring), maxsplit=1)[0].rstrip()


def parameters(command: Callable[..., Any], listed: Iterable[Parameter]) -> list[Parameter]:
    """Parameters of a command, each with what the command's docstring says of it."""
    items = items_of(command)
    return [p.replace(annotation=_described(p.annotation, items.get(p.name))) for p in listed]


def option_parameters(options: type, names: Container[str]) -> list[Parameter]:
    """Those fields of a dataclass as parameters, with what it and its bases say of each."""
    items = {name: text for base in options.__mro__ for name, text in items_of(base).items()}
    return [
        Parameter(
            field.name,
            Parameter.KEYWORD_ONLY,
            default=field.default,
            annotation=_described(field.type, items.get(field.name)),
        )
        for field in fields(options)
        if field.name in names
    ]


def with_parameters(command: Callable[..., R], taken: list[Parameter]) -> Callable[..., R]:
    """A command that says of itself that it takes these; Typer reads both."""
    command.__signature__ = Signature(taken)  # type: ignore[attr-defined]
    command.__annotations__ = {p.name: p.annotation for p in taken}
    return command


def _described(annotation: Any, text: str | None) -> Any:
    """``Annotated[type, option]`` with this help."""
    if text is None:
        return annotation
    kind, option = get_args(annotation)
    option = copy(option)
    option.help = text
    return Annotated[kind, option]
