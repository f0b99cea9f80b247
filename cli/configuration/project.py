"""What a project file says.

    read(path, keys)             -> Project; ``ProjectError`` with the places of all that is wrong
    project.grammars()           -> the files that it lists
    project.settings_of(path)    -> the options of a grammar, and where each comes from

Options at the top hold for all grammars; those of an entry of ``grammars`` for the files that its
pattern matches, and of several entries that do, the later one goes before. Paths and patterns are
those of the file's folder.
"""

import os
import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from constrain.artifacts.container.regular import is_stream, regular
from constrain.artifacts.errors import ConstrainError, visible

from ..console import PlacedError, UsageError
from ..inputs import REMOTE, grammar_files
from .bounded_toml import MOST_BYTES, read_most, toml_of
from .find import SHARED
from .keys import FORMAT, GRAMMARS, MIN_COVERAGE, STORE, TESTS, TOKENIZERS, Key, of_formatting
from .toml_places import Place, places

if TYPE_CHECKING:
    from constrain.compiler.diagnostics import Diagnostic


class ProjectError(PlacedError):
    """What is wrong with a project file, with its places."""


@dataclass(frozen=True, slots=True)
class Setting:
    """A value, and where it was said: file and line."""

    value: Any
    file: str
    line: int


@dataclass(frozen=True)
class Entry:
    """What holds for the files that a pattern matches; ``line`` is that of the pattern."""

    pattern: str
    line: int
    settings: Mapping[str, Setting] = field(default_factory=dict)

    @cached_property
    def _matches(self) -> re.Pattern[str]:
        try:
            return re.compile(_regex(self.pattern))
        except re.error:
            # Such as [z-a], which no name has a character of.
            return re.compile(r"(?!)")

    def matches(self, name: str) -> bool:
        """Whether a path with slashes from the project's folder is meant."""
        return self._matches.fullmatch(name) is not None


@dataclass(frozen=True)
class Project:
    """A project file: ``shown`` is its path for people, ``folder`` what its paths begin at.
    ``store``: where artifacts are by key, a folder or a URL. ``format``: what the layout of
    grammars is to be."""

    shown: str
    folder: Path
    settings: Mapping[str, Setting]
    entries: tuple[Entry, ...]
    tokenizers: Mapping[str, Setting]
    store: Setting | None = None
    format: Mapping[str, Setting] = field(default_factory=dict)

    def settings_of(self, path: str | None) -> dict[str, Setting]:
        """What holds for a grammar, by the names of the fields of ``Given``, ``tests``,
        ``allow`` and ``min_coverage``; None is for what holds for all."""
        found = {name: said for name, said in self.settings.items() if name != TESTS}
        for entry in () if path is None else self.entries_of(path):
            found |= entry.settings
        return found

    def entries_of(self, path: str) -> list[Entry]:
        """Those whose pattern matches a file."""
        name = Path(os.path.relpath(path, self.folder)).as_posix()
        return [entry for entry in self.entries if entry.matches(name)]

    def grammars(self) -> list[str]:
        """The files that it lists, each once, in the order of the entries and then by name.

        Raises ``UsageError`` for an entry without a file."""
        patterns = ((entry.pattern, entry.line) for entry in self.entries)
        return self._all_files(patterns, f", which '{GRAMMARS}' lists", grammars=True)

    def cases(self) -> list[list[str]]:
        """What ``test`` is to run, as its arguments: each grammar with its cases, which those
        without ``tests`` may have beside them; and the cases of the file's own ``tests``, which say
        what they are about. Raises ``UsageError``."""
        runs = [[path, *self.cases_of(path)] for path in self.grammars()]
        own = self.settings.get(TESTS)
        return [*runs, *([self._cases(own)] if own else [])]

    def cases_of(self, path: str) -> list[str]:
        """The cases of a grammar, empty where nothing is said of it."""
        said = self.settings_of(path).get(TESTS)
        return self._cases(said) if said else []

    def least_coverage(self, path: str) -> float | None:
        """The percentage of a grammar that its cases are to cover."""
        said = self.settings_of(path).get(MIN_COVERAGE)
        return None if said is None else float(said.value)

    @property
    def asks_for_coverage(self) -> bool:
        """Whether any grammar is to be covered."""
        return any(MIN_COVERAGE in s for s in (self.settings, *(e.settings for e in self.entries)))

    def _cases(self, said: Setting) -> list[str]:
        return self._all_files(((pattern, said.line) for pattern in said.value), " of cases")

    def _all_files(
        self, patterns: Iterable[tuple[str, int]], what: str, *, grammars: bool = False
    ) -> list[str]:
        """The files of all patterns, each once; each comes with its line."""
        found: dict[str, None] = {}
        for pattern, line in patterns:
            files = list(self.files(pattern, grammars=grammars))
            if not files:
                place = f"{visible(self.shown)}:{line}"
                raise UsageError(f"{place}: there is no file {pattern!r}{what}")
            found |= dict.fromkeys(files)
        return list(found)

    def files(self, pattern: str, *, grammars: bool = False) -> Iterator[str]:
        """The files that a pattern means, hidden ones only if it names them; a folder is itself,
        or with ``grammars`` the grammars in it. Raises ``UsageError``, and ``OSError`` for what a
        name does not say and a link does: files that are found lead nowhere outside."""
        whole = self.folder / pattern
        if not any(char in pattern for char in "*?["):
            if whole.is_dir() and grammars:
                yield from grammar_files(shown(whole))
            elif whole.exists():
                yield shown(regular(whole))
            return
        is_hidden = re.compile(r"(^|/)\.")
        try:
            paths = sorted(self.folder.glob(pattern))
        except (ValueError, NotImplementedError) as error:
            raise UsageError(
                f"{visible(self.shown)}: {pattern!r} is no pattern of files in the project's "
                f"folder: {error}"
            ) from None
        for path in paths:
            name = path.relative_to(self.folder).as_posix()
            if path.is_file() and (is_hidden.search(pattern) or not is_hidden.search(name)):
                yield shown(regular(path, below=self.folder))

    def tokenizer(self, name: str | None) -> str | None:
        """The tokenizer of this name, or what is not a name of this file as it is."""
        known = self.tokenizers.get(name or "")
        return name if known is None else str(known.value)


def read(path: Path, keys: Mapping[str, Key]) -> Project:
    """What the file says; ``keys`` are those of a grammar. Raises ``ProjectError`` and
    ``OSError``."""
    return _Reader(path).project(keys)


def shown(path: Path) -> str:
    """A path as messages name it: from the current folder where it is inside."""
    try:
        # Links are named as they are written.
        return str(Path(os.path.abspath(path)).relative_to(Path.cwd()))  # noqa: PTH100
    except ValueError:
        return str(path)


def _regex(pattern: str) -> str:
    """Of a pattern in which ``**`` stands for any folders; a folder means all files in it."""
    found, place = "", 0
    for match in re.finditer(r"\*\*/|\*\*|\*|\?|\[!?[^\]]+\]", pattern):
        found += re.escape(pattern[place : match.start()])
        part, place = match[0], match.end()
        known = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
        found += known.get(part) or part.replace("[!", "[^")
    return f"{found}{re.escape(pattern[place:]).rstrip('/')}(?:/.*)?"


class _Reader:
    def __init__(self, path: Path) -> None:
        self.path, self.shown = path, shown(path)
        data = read_most(path)
        if len(data) > MOST_BYTES:
            raise UsageError(
                f"{visible(self.shown)}: it has more than {MOST_BYTES:,} bytes, the most that a "
                "project file may have"
            )
        self.text = data.decode("utf-8", "replace")
        self.errors: list[Diagnostic] = []
        try:
            self.value: Any = toml_of(data)
        except ValueError as error:
            raise self._not_toml(error) from None
        self.prefix: tuple[str, ...] = ()
        if path.name == SHARED:
            for name in ("tool", "constrain"):
                self.prefix = (*self.prefix, name)
                self.value = self.value.get(name, {})
                if not isinstance(self.value, dict):
                    self._wrong((), f"expected a table [{'.'.join(self.prefix)}]")
                    self.value = {}

    def project(self, keys: Mapping[str, Key]) -> Project:
        self.tokenizers = self._table(self.value.get(TOKENIZERS, {}), TOKENIZERS)
        named = self._tokenizers(self.tokenizers)
        own = (GRAMMARS, TOKENIZERS, STORE, FORMAT)
        tops = {k: v for k, v in self.value.items() if k not in own}
        settings = self._settings(tops, (), (*keys, *own), keys)
        store = self._store()
        layout = self._table(self.value.get(FORMAT, {}), FORMAT)
        known = of_formatting()
        formatting = self._settings(layout, (FORMAT,), known, known)
        entries = tuple(self._entries(self.value.get(GRAMMARS, {}), keys))
        if self.errors:
            from constrain.compiler.diagnostics import Source

            source = Source(self.text, self.shown, "")
            found = sorted(self.errors, key=lambda e: e.span.start if e.span else 0)
            raise ProjectError(source, found)
        folder = self.path.parent
        project = Project(self.shown, folder, settings, entries, named, store, formatting)
        for each in (settings, *(entry.settings for entry in entries)):
            self._resolve(each, named)
        return project

    def _store(self) -> Setting | None:
        value = self.value.get(STORE)
        if value is None:
            return None
        if not (isinstance(value, str) and value):
            self._wrong((STORE,), f"'{STORE}' takes a folder or a URL, a text in quotes")
            return None
        return self._setting(value if "://" in value else self._path_of(value), (STORE,))

    def _tokenizers(self, table: Mapping[str, Any]) -> dict[str, Setting]:
        found = {}
        for name, value in table.items():
            path = (TOKENIZERS, name)
            if isinstance(value, str):
                found[name] = self._setting(self._tokenizer_at(value, path), path)
            else:
                self._wrong(path, "expected the file of a tokenizer, a text in quotes")
        return found

    def _entries(self, given: Any, keys: Mapping[str, Key]) -> Iterator[Entry]:
        if isinstance(given, list):
            for place, pattern in enumerate(given):
                path = (GRAMMARS, str(place))
                if isinstance(pattern, str):
                    yield Entry(pattern, self._line(path))
                else:
                    self._wrong(path, "expected a file or a pattern, a text in quotes")
            return
        for pattern, table in self._table(given, GRAMMARS, "a list of files, or a table").items():
            path = (GRAMMARS, pattern)
            if isinstance(table, dict):
                yield Entry(pattern, self._line(path), self._settings(table, path, keys, keys))
            else:
                self._wrong(path, "expected a table of options, such as {start = 'rule'}")

    def _table(self, given: Any, name: str, what: str = "a table") -> dict[str, Any]:
        if isinstance(given, dict):
            return given
        self._wrong((name,), f"expected {what}")
        return {}

    def _settings(
        self, table: dict[str, Any], path: tuple[str, ...], known: Any, keys: Mapping[str, Key]
    ) -> dict[str, Setting]:
        from constrain.compiler.diagnostics import MOST_SHOWN, closest

        found = {}
        for name, value in table.items():
            if name not in keys:
                hint = f"known are {', '.join(known)}"
                # Those after them are not shown.
                if len(self.errors) < MOST_SHOWN:
                    close = closest(name, known) or closest(name.replace("_", "-"), known)
                    hint = f"did you mean '{close}'?" if close else hint
                self._wrong((*path, name), f"there is no key '{name}'", hint, of_key=True)
                continue
            try:
                read = keys[name].read(value)
            except (TypeError, ValueError) as error:
                self._wrong((*path, name), f"'{name}' takes {error}")
            else:
                if name == "tokenizer" and read not in self.tokenizers:
                    self._tokenizer_at(read, (*path, name))
                found[keys[name].name] = self._setting(read, (*path, name))
        return found

    def _resolve(self, settings: Mapping[str, Setting], named: Mapping[str, Setting]) -> None:
        """Make the paths among the values those of the current folder."""
        assert isinstance(settings, dict)
        for name, said in settings.items():
            value = said.value
            if name == "tokenizer":
                value = named[value].value if value in named else self._path_of(value)
            elif name == "schemas":
                parts = [item.rpartition("=") for item in value]
                value = [f"{uri}{sign}{self._path_of(folder)}" for uri, sign, folder in parts]
            settings[name] = Setting(value, said.file, said.line)

    def _path_of(self, value: str) -> str:
        return value if value.startswith(REMOTE) else shown(self.path.parent / value)

    def _tokenizer_at(self, value: str, path: tuple[str, ...]) -> str:
        found = self._path_of(value)
        if is_stream(found):
            self._wrong(path, f"{value}: it is no regular file, which a tokenizer has to be")
        return found

    def _setting(self, value: Any, path: tuple[str, ...]) -> Setting:
        return Setting(value, self.shown, self._line(path))

    def _line(self, path: tuple[str, ...]) -> int:
        place = self._places.get((*self.prefix, *path))
        return 0 if place is None else bisect_left(self._line_ends, place.key[0]) + 1

    @cached_property
    def _line_ends(self) -> list[int]:
        return [match.start() for match in re.finditer("\n", self.text)]

    @cached_property
    def _places(self) -> dict[tuple[str, ...], Place]:
        return places(self.text)

    def _wrong(
        self, path: tuple[str, ...], message: str, hint: str | None = None, *, of_key: bool = False
    ) -> None:
        from constrain.compiler.diagnostics import Diagnostic, Span

        place = self._places.get((*self.prefix, *path))
        where = None if place is None else Span(*(place.key if of_key else place.value))
        self.errors.append(Diagnostic(message, where, hint))

    def _not_toml(self, error: ValueError) -> ConstrainError:
        """What tomllib says, which has the place in words."""
        from constrain.compiler.diagnostics import Diagnostic, Source, Span

        message, span = str(error), None
        if isinstance(error, UnicodeDecodeError):
            return UsageError(f"{visible(self.shown)}: byte {error.start} is not UTF-8")
        if found := re.search(r" \((?:at line (\d+), column (\d+)|at end of document)\)$", message):
            message = message[: found.start()]
            start = len(self.text)
            if found[1]:
                lines = self.text.split("\n")[: int(found[1]) - 1]
                start = sum(len(line) + 1 for line in lines) + int(found[2]) - 1
            span = Span(start, start + 1)
        what = Diagnostic(f"this is no TOML: {message[:1].lower()}{message[1:]}", span)
        return ProjectError(Source(self.text, self.shown, ""), [what])
