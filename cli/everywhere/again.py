"""Do a command's work again whenever a file that it has read changes (``--watch``).

    listed() -> names        work(name) -> a result, and the files that were opened for it
    a file changes           -> work on the names alone whose files it is among; show all results

Which files a result depends on is not told but seen: imports, schemas, settings and cases are what
was opened meanwhile. Whether a file has changed its size and time say; watchfiles only wakes this.
"""

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Generic, TypeVar

import typer

from constrain.artifacts.errors import ConstrainError

from ..configuration.current import choice
from ..console import check_installed, is_terminal, status, write_raw, write_text
from . import panels

T = TypeVar("T")

# Milliseconds in which several changes are one, between two looks for them, and after which
# files are looked at whatever the system tells.
_TOGETHER, _STEP, _PATIENCE = 50, 10, 1_000

# Home, to the end of a line, and all below.
_HOME, _LINE, _BELOW = b"\x1b[H", b"\x1b[K\n", b"\x1b[J"

Watched = Annotated[
    bool,
    panels.of_all(
        "--watch",
        help="Go on, and do again what a changed file needs (extra watch); Ctrl-C ends it.",
    ),
]

# What tells one state of a file from another; None where there is none.
Mark = tuple[int, int] | None


class Again(Generic[T]):
    """``listed``: the names to work on, as they are now. ``work``: on one of them. ``shown``: all
    results as text for people, and a line about them."""

    def __init__(
        self,
        listed: Callable[[], Sequence[str]],
        work: Callable[[str], T],
        shown: Callable[[list[T]], tuple[str, str]],
    ) -> None:
        self._listed, self._work, self._shown = listed, work, shown
        self._results: dict[str, T] = {}
        self._marks: dict[str, dict[str, Mark]] = {}

    def run(self) -> int:
        """Work until somebody interrupts. Raises ``UsageError`` where watchfiles is missing."""
        check_installed("watchfiles", "watch", "--watch")
        try:
            names = self._refreshed(self._names())
            while True:
                names = self._next(names)
        except KeyboardInterrupt:
            return 0

    def _names(self) -> list[str]:
        """What there is to work on, and the files that say so."""
        choice.read_again()
        with opened() as files:
            try:
                return list(dict.fromkeys(self._listed()))
            finally:
                self._marks[""] = marked(files)

    def _refreshed(self, names: list[str]) -> list[str]:
        """Work on what has no result, and show all."""
        kept = {"": self._marks[""]}
        kept |= {name: self._marks[name] for name in names if name in self._results}
        self._marks, self._results = kept, {n: self._results[n] for n in kept if n}
        for name in names:
            if name not in self._results:
                with opened() as files:
                    self._results[name] = self._work(name)
                self._marks[name] = marked([*files, name])
        show(*self._shown([self._results[name] for name in names]))
        return names

    def _next(self, names: list[str]) -> list[str]:
        """Wait for a change, and do what it needs."""
        from watchfiles import watch

        folders = {str(Path(file).parent) for marks in self._marks.values() for file in marks}
        folders |= {str(place) for name in names for place in _below(name)}
        there = [folder for folder in sorted(folders) if Path(folder).is_dir()]
        for _ in watch(
            *there,
            watch_filter=None,
            debounce=_TOGETHER,
            step=_STEP,
            rust_timeout=_PATIENCE,
            yield_on_timeout=True,
            recursive=False,
        ):
            changed = [name for name, marks in self._marks.items() if marks != marked(marks)]
            if "" in changed:
                # The project file says something else, of all of them.
                changed = list(self._results)
            for name in changed:
                self._results.pop(name, None)
            try:
                listed = self._names()
            except (ConstrainError, OSError) as error:
                # Of a file that is being replaced, or of a project that is being written.
                if changed:
                    show(f"{error}\n", "watching")
                continue
            if changed or listed != names:
                return self._refreshed(listed)
        return names


def _below(name: str) -> Iterator[Path]:
    """A folder and those in it, without hidden ones."""
    for folder, inner, _ in os.walk(name):
        inner[:] = [each for each in inner if not each.startswith(".")]
        yield Path(folder)


def marked(files: Iterable[str]) -> dict[str, Mark]:
    """Files and what tells their states from others."""
    return {file: _mark(file) for file in files}


def _mark(file: str) -> Mark:
    try:
        found = Path(file).stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size


def show(text: str, line: str) -> None:
    """All that there is to say, in the place of what was said before where that is a terminal."""
    if not is_terminal(sys.stdout):
        write_text(text)
        status(line)
        return
    write_raw(_HOME)
    for each in [*text.splitlines(), line]:
        write_text(each, in_colour=True)
        write_raw(_LINE)
    write_raw(_BELOW)


# The lists of the blocks at work; whether there is the hook, which no one can take out again.
_noting: list[list[str]] = []
_hooked: list[bool] = []


@contextmanager
def opened() -> Iterator[list[str]]:
    """The files that are opened in this block, but for those of Python and its packages; blocks
    around note them as well."""
    if not _hooked:
        sys.addaudithook(_note)
        _hooked.append(True)
    files = list[str]()
    _noting.append(files)
    try:
        yield files
    finally:
        _noting.pop()


def _note(event: str, arguments: tuple[object, ...]) -> None:
    if event == "open" and _noting and isinstance(arguments[0], str | bytes | os.PathLike):
        path = os.path.abspath(os.fsdecode(arguments[0]))  # noqa: PTH100 - no links are followed
        for files in _noting if not path.startswith(_OWN) else ():
            if path not in files:
                files.append(path)


_OWN = (
    *(str(Path(each).parent) for each in (os.__file__, Path(typer.__file__).parent)),
    *(str(Path(__file__).parents[2] / folder) for folder in ("artifacts", "cli", "compiler")),
    *("/proc/", "/dev/"),
)
