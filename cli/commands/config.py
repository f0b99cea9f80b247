"""``constrain config``: what the project file says of grammars, and where."""

import json
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Annotated, Any

import typer

from constrain.artifacts.errors import visible

from .. import options
from ..console import UsageError, write_json, write_text

if TYPE_CHECKING:
    from ..configuration.project import Project, Setting

SCHEMA = 1


def config(
    grammars: Annotated[list[str] | None, typer.Argument(metavar="[GRAMMAR…]")] = None,
    format_: Annotated[options.TextOrJson, typer.Option("--format", "-f")] = "text",
) -> None:
    """Print what the project file says, and in which line: tokenizers, and the options of grammars.

    Options that it does not name have their defaults; those of the command line go before.

    \b
    Examples:
      constrain config
      constrain config date.ebnf --format json

    - ``grammars``: Grammars.  [default: all that the project file lists]
    - ``format_``: text or json.
    """
    project = options.project()
    if project is None:
        raise UsageError(
            "no project file holds here: neither here nor above is a constrain.toml, or a "
            "pyproject.toml with a table [tool.constrain]"
        )
    paths = grammars or (project.grammars() if project.entries else [])
    if format_ == "json":
        write_json(SCHEMA, _as_object(project, paths))
    else:
        write_text("".join(f"{line}\n" for line in _as_text(project, paths)))


def _as_text(project: "Project", paths: list[str]) -> Iterator[str]:
    yield f"project file: {visible(project.shown)}"
    if project.store is not None:
        yield from _lines({"store": project.store})
    if project.tokenizers:
        yield "tokenizers"
        yield from _lines(project.tokenizers)
    for path in paths:
        yield visible(path)
        yield from _lines(_options(project, path)) or ["  all defaults"]


def _options(project: "Project", path: str) -> "dict[str, Setting]":
    """By the names that the file has."""
    return {name.replace("_", "-"): s for name, s in project.settings_of(path).items()}


def _lines(settings: "Mapping[str, Setting]") -> list[str]:
    said = {
        visible(
            f"  {name} = {json.dumps(s.value, ensure_ascii=False)}"
        ): f"{visible(s.file)}:{s.line}"
        for name, s in settings.items()
    }
    width = max(map(len, said), default=0)
    return [f"{text:{width}}   {place}" for text, place in said.items()]


def _as_object(project: "Project", paths: list[str]) -> dict[str, Any]:
    def listed(settings: "Mapping[str, Setting]") -> dict[str, Any]:
        return {
            name: {"value": s.value, "file": s.file, "line": s.line} for name, s in settings.items()
        }

    grammars = [{"file": path, "options": listed(_options(project, path))} for path in paths]
    tokenizers = listed(project.tokenizers)
    store = {} if project.store is None else listed({"store": project.store})
    return {"project": project.shown, **store, "tokenizers": tokenizers, "grammars": grammars}
