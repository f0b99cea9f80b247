"""What ``test`` tests: the grammars of case files, with the options of the command line and theirs.

The command line goes before what a case file says, that before the project file, and that before
defaults.
"""

import re
from collections.abc import Sequence
from dataclasses import fields, replace
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_origin

from constrain.artifacts.container.regular import regular
from constrain.artifacts.errors import ConstrainError, visible

from .compiling import subject_of
from .configuration.current import WITHOUT_PROJECT
from .configuration.keys import reader, said_by
from .console import UsageError, note
from .inputs import REMOTE, STDIN, read_bytes, tokenizer_at
from .options import Given, project

if TYPE_CHECKING:
    from constrain.artifacts import Artifact
    from constrain.compiler.bpe.shared_tables import SharedTables
    from constrain.compiler.testing.cases import CaseFile, CaseFileError, Setting
    from constrain.compiler.testing.subject import Subject

# The longest member that is drawn, in bytes.
_DRAWN_BYTES = 64

# Longer ones are no count of anything.
_NUMBER = re.compile("[0-9]{1,100}")

_WORDS = {"yes": True, "true": True, "no": False, "false": False}


class Subjects:
    """One automaton for each grammar, its options and start; one tokenizer for all that name it."""

    def __init__(self, given: Given) -> None:
        self._given, self._limits = given, given.limits()
        self._grammar: tuple[str, Artifact | str] | None = None
        self._made: dict[tuple[object, ...], Subject] = {}

    @property
    def has_time(self) -> bool:
        """Whether half of the time of its limits is left, for cases that are run again."""
        meter = self._limits.meter
        return meter is not None and meter.clock.left() > self._limits.seconds / 2

    def divided(self, paths: Sequence[str]) -> "list[CaseFile | CaseFileError]":
        """The case files of what the command line names, of which the first may be a grammar."""
        from constrain.compiler.testing.collect import beside, collected, from_bytes, is_cases

        cases = list(paths)
        if paths[0] == STDIN or not is_cases(paths[0]):
            self._grammar = paths[0], subject_of(paths[0], self._given.of(paths[0]))
            named = project()
            if not (cases := cases[1:] or (named.cases_of(paths[0]) if named else [])):
                found = None if paths[0] == STDIN else beside(paths[0])
                if found is None:
                    raise UsageError(
                        f"{visible(paths[0])}: there are no cases of the same name beside this "
                        "grammar; name their files or folders after it"
                    )
                cases = [found]
        if STDIN in cases and paths[0] == STDIN:
            raise UsageError("the grammar and the cases cannot both come from standard input")
        return [
            file
            for path in cases
            for file in (collected(path) if path != STDIN else [from_bytes(read_bytes(path))])
        ]

    def name_of(self, file: "CaseFile") -> str | None:
        """The grammar that a file's cases are about."""
        from constrain.compiler.testing.collect import grammar_of

        if self._grammar is not None:
            return self._grammar[0]
        if file.schema is not None:
            return file.path
        named = file.setting("grammar")
        if named is not None:
            return str(file.folder / named.value)
        return grammar_of(file)

    def subject_of(self, file: "CaseFile", start: str | None) -> "Subject":
        """What a file's case with this start is about. Raises ``ConstrainError``."""
        from constrain.compiler.testing.subject import Source, Subject, SubjectError

        name = self.name_of(file)
        if name is None:
            raise UsageError(
                f"{visible(file.path)}: no grammar is named, and none of its name is beside it; "
                "say it on the command line, or by a line 'grammar: FILE' at the head of the file"
            )
        given = with_settings(self._given, file, name)
        if start is not None:
            given = replace(given, start=start)
        # Schemas in one file are distinguished by their text.
        said = (getattr(given, field.name) for field in fields(given))
        options = tuple(tuple(each) if isinstance(each, list) else each for each in said)
        key = name, file.schema, options
        if key in self._made:
            return self._made[key]
        found = self._text(name, file)
        if isinstance(found, str) and file.schema is not None and self._grammar is None:
            given = replace(given, dialect=given.dialect or "json-schema")
        tokens = partial(_shared, given.tokenizer, given.no_cache)
        draw = partial(self._drawn, name, given)
        if not isinstance(found, str):
            if start not in (None, found.manifest.start):
                raise SubjectError(
                    f"{visible(name)} is an artifact that starts with "
                    f"'{visible(found.manifest.start)}': the case starts with '{visible(start)}'"
                )
            own = None if given.tokenizer is None else tokens
            source = Source(name, artifact=found, tokens=own, draw=draw)
        else:
            wanted = given.compile_options(name, self._limits)
            source = Source(name, wanted, found, tokens=tokens, draw=draw, note=note)
        self._made[key] = Subject(source)
        return self._made[key]

    def _text(self, name: str, file: "CaseFile") -> "Artifact | str":
        if self._grammar is not None:
            return self._grammar[1]
        if file.schema is not None:
            return file.schema
        named = file.setting("grammar")
        if named is not None and "\0" in name:
            raise _wrong(file, named, "no file has a name with a NUL")
        try:
            if named is not None:
                regular(name)
            return subject_of(name, replace(with_settings(self._given, file, name), tokenizer=None))
        except OSError as error:
            if named is None:
                raise
            raise _wrong(file, named, f"{visible(name)}: {error.strerror or error}") from None

    def _drawn(self, name: str, given: Given, number: int, seed: int) -> list[bytes]:
        """Members of a grammar, by a seed."""
        from .sampling import source_of

        if name == STDIN:
            raise UsageError("members are drawn of a grammar in a file, not of standard input")
        source = source_of(name, given, self._limits)
        if why := source.nothing(_DRAWN_BYTES):
            raise UsageError(f"{visible(name)}: {why}")
        return list(source.draws(number, _DRAWN_BYTES, seed))


@cache
def _shared(name: str | None, no_cache: bool) -> "SharedTables":
    """A tokenizer and the tables that are made of it."""
    from constrain.compiler.bpe.shared_tables import SharedTables
    from constrain.compiler.files.cache import cache_of

    tokenizer = tokenizer_at(name, no_cache=no_cache)
    return SharedTables(tokenizer, cache_of(None if no_cache else "default"), None)


def runs_of(
    given: Given, paths: Sequence[str] | None
) -> "list[tuple[Subjects, CaseFile | CaseFileError]]":
    """The case files of what the command line names, else of the project file, each with what it is
    about. Raises ``UsageError``."""
    wanted = _wanted(paths)
    runs = []
    for run in wanted:
        subjects = Subjects(given)
        runs += [(subjects, file) for file in subjects.divided(run)]
    return runs


def _wanted(paths: Sequence[str] | None) -> list[list[str]]:
    """The arguments of each run; of a project, also the cases beside its grammars whose own is
    gone, which then say so. Raises ``UsageError``."""
    from constrain.compiler.testing.collect import beside, is_cases, orphans

    if paths:
        return [list(paths)]
    named = project()
    if named is None:
        raise UsageError(WITHOUT_PROJECT)
    each = named.cases()
    runs = [run for run in each if run[1:] or (run and (is_cases(run[0]) or beside(run[0])))]
    known = {path for run in runs for path in run}
    folders = dict.fromkeys(Path(path).parent for path in named.grammars())
    # A folder that is run has its cases run.
    others = [folder for folder in folders if str(folder) not in known]
    return [*runs, *([path] for folder in others for path in orphans(folder, known))]


def single_runs(given: Given, paths: Sequence[str] | None) -> dict[str, list[str]]:
    """The arguments that run each file of cases alone, by a name of their own."""
    from constrain.compiler.testing.collect import is_cases

    found = dict[str, list[str]]()
    for run in _wanted(paths):
        grammar = [] if is_cases(run[0]) else run[:1]
        for file in Subjects(given).divided(run):
            path = file.source.name
            found[path if not grammar else f"{path} ({grammar[0]})"] = [*grammar, path]
    return found


def with_settings(given: Given, file: "CaseFile", grammar: str | None = None) -> Given:
    """The options for a file: of the command line, else of its head, else of the project file for
    ``grammar``. Raises ``CaseFileError``."""
    named = {field.name: field for field in fields(Given)}
    said, given = given.said, given.of(grammar)
    changes = dict[str, Any]()
    for setting in file.settings:
        field = named.get(setting.key.replace("-", "_"))
        if field is None or field.name in said:
            continue
        changes[field.name] = _value(file, setting, field.type)
    return replace(given, **changes)


def _value(file: "CaseFile", setting: "Setting", annotation: Any) -> Any:
    """What a line says, as the option of the command line has it."""
    text, name = setting.value, setting.key
    if not text:
        raise _wrong(file, setting, f"'{name}' has no value")
    value: Any = text
    kind, _ = said_by(annotation)
    if kind is bool:
        value = _WORDS.get(text, text)
    elif kind is int and _NUMBER.fullmatch(text):
        value = int(text)
    elif get_origin(kind) is list:
        value = text.split()
    try:
        value = reader(name, annotation)(value)
    except (TypeError, ValueError) as error:
        raise _wrong(file, setting, f"'{name}' takes {error}") from None
    if name == "schemas":
        return [_placed(file, each) for each in value]
    if name != "tokenizer":
        return value
    named = project()
    if named is not None and text in named.tokenizers:
        return named.tokenizer(text)
    path = _placed(file, text)
    try:
        regular(path)
    except OSError as error:
        raise _wrong(file, setting, f"{text}: {error.strerror}") from None
    return path


def _placed(file: "CaseFile", path: str) -> str:
    """A path of a case file, which goes from its folder."""
    if path.startswith(REMOTE):
        return path
    uri, equals, folder = path.rpartition("=")
    return f"{uri}{equals}{file.folder / folder}"


def _wrong(file: "CaseFile", setting: "Setting", message: str) -> ConstrainError:
    from constrain.compiler.diagnostics import Diagnostic
    from constrain.compiler.testing.cases import CaseFileError

    span = setting.span if setting.value else setting.key_span
    return CaseFileError(file.source, [Diagnostic(message, span)])
