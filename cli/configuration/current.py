"""The project of the command at work, found and read when something of it is first wanted."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from constrain.artifacts.errors import visible

from ..console import UsageError

if TYPE_CHECKING:
    from .keys import Key
    from .project import Project

    Keys = Callable[[], Mapping[str, Key]]


class Choice:
    """What --config and --isolated say, and the project that follows from it."""

    def __init__(self) -> None:
        self.set(None, isolated=False)

    def set(self, config: Path | None, *, isolated: bool) -> None:
        """Go by a file, by none, or (without either) by the current folder."""
        self._config, self._isolated = config, isolated
        self._known: tuple[Project | None] | None = None

    def read_again(self) -> None:
        """Find and read the project file once more when it is next wanted."""
        self._known = None

    def project(self, keys: "Keys") -> "Project | None":
        """The project, None where there is none; ``keys`` makes those of a grammar. Raises
        ``ProjectError``."""
        if self._known is None:
            self._known = (self._found(keys),)
        return self._known[0]

    def _found(self, keys: "Keys") -> "Project | None":
        from .find import find

        if self._isolated:
            return None
        path = find(Path.cwd()) if self._config is None else self._config
        if path is None:
            return None
        from .project import read

        return read(path, keys())


WITHOUT_PROJECT = (
    "there is no project file here or above: name grammars, or list them under 'grammars' in "
    "constrain.toml or in the table [tool.constrain] of pyproject.toml"
)

# One command is at work in a process.
choice = Choice()


def listed_grammars(project: "Project | None") -> list[str]:
    """The grammars of a project file, for a command that names none. Raises ``UsageError``."""
    if project is None:
        raise UsageError(WITHOUT_PROJECT)
    if not project.entries:
        raise UsageError(
            f"{visible(project.shown)}: it lists no grammars; name some, or list them there"
        )
    return project.grammars()


def allowed_lints(project: "Project | None", path: str) -> tuple[str, ...]:
    """The lints that a project file silences in a grammar."""
    found = None if project is None else project.settings_of(path).get("allow")
    return () if found is None else tuple(found.value)
