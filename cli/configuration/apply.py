"""Options of the project file for what the command line does not say."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from constrain.artifacts.container.signature import SUFFIX

from ..inputs import STDIN, is_artifact
from ..schema_options import SCHEMA
from .project import Project

# Options that the command line says, and those of the file that have nothing to say beside them.
INSTEAD: Mapping[str, tuple[str, ...]] = {
    "precompute": ("prewarm", "lazy"),
    "prewarm": ("precompute", "lazy"),
    "lazy": ("precompute", "prewarm"),
    "engine": ("max_depth",),
    "max_depth": ("engine",),
    "dialect": ("extended",),
}

# Options that the command line refuses for other dialects than these: said of many grammars, they
# are about those of them that have these dialects.
_OF_DIALECTS: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(SCHEMA, ("json-schema", "structural-tag", "tools", "lark")),
    "extended": ("regex", "regex-extended"),
}


def applies_to(path: str) -> bool:
    """Whether options of the file are for this subject: an artifact has its own, and a stream has
    no place in the project."""
    if path == STDIN or path.endswith(SUFFIX) or not Path(path).is_file():
        return False
    return not is_artifact(path)


def values_for(
    project: Project, path: str | None, takes: frozenset[str], said: Mapping[str, Any]
) -> dict[str, Any]:
    """The options of the file that hold for a grammar (None: for all) in a command that takes some
    options, of which the command line says some."""
    if path is not None and not applies_to(path):
        return {}
    chosen = [name for name, value in said.items() if value is not False]
    over = {other for name in chosen for other in INSTEAD.get(name, ())} | {*said}
    settings = project.settings_of(path)
    found = {name: each.value for name, each in settings.items() if name in takes - over}
    if path is not None and any(name in _OF_DIALECTS for name in found):
        from constrain.compiler.dialects import dialect_of

        dialect = said.get("dialect") or found.get("dialect") or dialect_of(path)
        for name, dialects in _OF_DIALECTS.items():
            if name in found and dialect not in dialects:
                del found[name]
    return found
