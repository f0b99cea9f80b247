"""Options of the project file for what the command line does not say."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from constrain.artifacts.container.signature import SUFFIX

from ..inputs import STDIN, is_artifact
from ..options import Given
from .project import Project, Setting

# Options that the command line says, and those of the file that have nothing to say beside them.
_INSTEAD: Mapping[str, tuple[str, ...]] = {
    "prewarm": ("lazy",),
    "lazy": ("prewarm",),
    "engine": ("max_depth",),
    "max_depth": ("engine",),
    "dialect": ("extended",),
}


def applies_to(path: str) -> bool:
    """Whether options of the file are for this subject: an artifact has its own, and a stream has
    no place in the project."""
    if path == STDIN or path.endswith(SUFFIX) or not Path(path).is_file():
        return False
    return not is_artifact(path)


def settings_for(given: Given, project: Project, path: str | None) -> dict[str, Setting]:
    """The options of the file that hold for a grammar (None: for all) in a command."""
    if path is not None and not applies_to(path):
        return {}
    over = {other for name in given.said for other in _INSTEAD.get(name, ())} | given.said
    found = project.settings_of(path)
    return {name: said for name, said in found.items() if name in given.takes - over}


def applied(given: Given, project: Project, path: str | None) -> Given:
    """The options for a grammar: those of the command line before those of the file."""
    settings = settings_for(given, project, path)
    values: dict[str, Any] = {name: said.value for name, said in settings.items()}
    if "tokenizer" in given.said:
        values["tokenizer"] = project.tokenizer(given.tokenizer)
    return replace(given, **values)
