"""Options of the project file for what the command line does not say."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from constrain.artifacts.container.signature import SUFFIX

from ..inputs import STDIN, is_artifact
from .project import Project

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


def values_for(
    project: Project, path: str | None, takes: frozenset[str], said: frozenset[str]
) -> dict[str, Any]:
    """The options of the file that hold for a grammar (None: for all) in a command that takes some
    options, of which the command line says some."""
    if path is not None and not applies_to(path):
        return {}
    over = {other for name in said for other in _INSTEAD.get(name, ())} | said
    found = project.settings_of(path)
    return {name: each.value for name, each in found.items() if name in takes - over}
