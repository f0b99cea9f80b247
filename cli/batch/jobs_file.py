"""Jobs as lines of JSON.

    {"path": "date.ebnf", "tokenizer": ["gpt2.json", "qwen.json"]}
    {"name": "person", "dialect": "json-schema", "grammar": {"type": "object"}, "prewarm": 0}
    {"name": "call 7", "request": {"response_format": {"type": "json_schema", …}}}

A line has a ``grammar`` (its text, or for JSON Schema and the like the JSON itself), the ``path``
of one, or a ``request``, the body of a request to a server, which is compiled as a server's
``CompileService`` would. ``name``: what errors and reports call it. ``tokenizer``: one or several,
else those of the command line. All other keys are options as in the project file. Paths are from
the folder of the file.
"""

import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import fields, replace
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any

from constrain.artifacts.container.regular import is_stream, regular
from constrain.artifacts.errors import ConstrainError

from .. import options
from ..configuration.apply import INSTEAD
from ..console import PlacedError
from ..inputs import REMOTE, STDIN, decoded, grammar_text, read_bytes, shown_name

if TYPE_CHECKING:
    from ..configuration.keys import Key
    from .jobs import Jobs

# What a grammar comes as; a line has one of them.
_FORMS = ("grammar", "path", "request")
_OWN = (*_FORMS, "name", "tokenizer")


class JobsError(PlacedError):
    """What is wrong with a file of jobs, with the places."""


def add_lines(jobs: "Jobs", path: str) -> None:
    """Add the jobs of a file, or of standard input for ``-``. Raises ``JobsError``."""
    from constrain.compiler.diagnostics import Diagnostic, Source, Span

    name = shown_name(path)
    text = decoded(read_bytes(path), name)
    reader = _Reader(jobs, Path() if path == STDIN else Path(path).parent)
    wrong, start = list[Diagnostic](), 0
    for number, line in enumerate(text.split("\n"), 1):
        try:
            if line.strip():
                reader.add(line, f"{name}:{number}")
        except _LineError as error:
            at = line.find(json.dumps(error.key)) if error.key else error.column
            place = start + min(max(at, 0), max(len(line) - 1, 0))
            wrong.append(Diagnostic(str(error), Span(place, place + 1)))
        start += len(line) + 1
    if wrong:
        raise JobsError(Source(text, name, ""), wrong)


class _LineError(Exception):
    """What is wrong with a line, at a ``column`` from 0 or at the ``key`` of a value."""

    def __init__(self, message: str, column: int = 0, key: str = "") -> None:
        super().__init__(message)
        self.column, self.key = column, key


class _Reader:
    def __init__(self, jobs: "Jobs", folder: Path) -> None:
        self.jobs, self.folder = jobs, folder
        self.keys: Mapping[str, Key] = {
            name: key for name, key in options.keys().items() if key.name in options.ALL
        }

    def add(self, line: str, place: str) -> None:
        """Add the jobs of a line."""
        try:
            said = json.loads(line)
        except json.JSONDecodeError as error:
            raise _LineError(f"this is no JSON: {error.msg}", error.colno - 1) from None
        except (ValueError, RecursionError) as error:
            raise _LineError(f"this is no JSON: {error}") from None
        if not isinstance(said, dict):
            raise _LineError("a job is an object")
        forms = [form for form in _FORMS if form in said]
        if len(forms) != 1:
            raise _LineError("a job has one of 'grammar', 'path' and 'request'")
        try:
            self._add(said, forms[0], place)
        except (ConstrainError, ValueError) as error:
            raise _LineError(str(error)) from None

    def _add(self, said: dict[str, Any], form: str, place: str) -> None:
        path = None
        if form == "path":
            path = os.path.normpath(self.folder / self._text(said, "path"))
        name = self._text(said, "name") if "name" in said else path or place
        given = self._given(said, path)
        own: list[str | None] = [*self._tokenizers(said)]
        tokenizers = own or self.jobs.tokenizers(path)
        if form == "request":
            self._add_request(said, name, tokenizers)
            return
        if path is not None:
            try:
                text = grammar_text(str(regular(path)))
            except OSError as error:
                raise _LineError(f"{path}: {error.strerror or error}", key="path") from None
            wanted = given.compile_options(path, given.bounds())
        else:
            grammar = said["grammar"]
            text = grammar if isinstance(grammar, str) else json.dumps(grammar, ensure_ascii=False)
            # A name may end in a dialect's suffix.
            wanted = given.compile_options(name, given.bounds())
            wanted = replace(wanted, imports=None)
        self.jobs.add(text, wanted, tokenizers, name)

    def _add_request(
        self, said: Mapping[str, Any], name: str, tokenizers: "list[str | None]"
    ) -> None:
        from constrain.compiler.serving.requests import request_of
        from constrain.compiler.serving.service import SERVER_OPTIONS

        if others := [key for key in said if key not in _OWN]:
            raise _LineError(
                f"a request says all itself, beside it is no {others[0]!r}", key=others[0]
            )
        found = request_of(said["request"], options=SERVER_OPTIONS)
        if found is None:
            raise _LineError("the request asks for no format", key="request")
        self.jobs.add(found.text, found.options, tokenizers, name)

    def _given(self, said: Mapping[str, Any], path: str | None) -> options.Given:
        """The options of a line, which go before those of the command line."""
        values: dict[str, Any] = {}
        for name, value in said.items():
            if name in _OWN:
                continue
            if name not in self.keys:
                known = [*_OWN, *self.keys]
                close = get_close_matches(name.replace("_", "-"), known, n=1)
                hint = f"did you mean {close[0]!r}?" if close else f"known are {', '.join(known)}"
                raise _LineError(f"there is no key {name!r}; {hint}", key=name)
            try:
                values[self.keys[name].name] = self.keys[name].read(value)
            except (TypeError, ValueError) as error:
                raise _LineError(f"{name!r} takes {error}", key=name) from None
        given = self.jobs.given.of(path)
        usual: dict[str, Any] = {each.name: each.default for each in fields(options.Given)}
        over = {other for name in values for other in INSTEAD.get(name, ())} - {*values}
        return replace(given, **{name: usual[name] for name in over}, **values)

    def _tokenizers(self, said: Mapping[str, Any]) -> Iterator[str]:
        found = said.get("tokenizer", [])
        named = found if isinstance(found, list) else [found]
        for name in named:
            if not isinstance(name, str):
                raise _LineError("'tokenizer' takes a text, or a list of texts", key="tokenizer")
            project = options.project()
            known = name if project is None else project.tokenizer(name) or name
            is_path = known == name and not name.startswith(REMOTE)
            path = os.path.normpath(self.folder / name) if is_path else known
            if is_path and is_stream(path):
                message = f"{path}: it is no regular file, which a job's tokenizer has to be"
                raise _LineError(message, key="tokenizer")
            yield path

    def _text(self, said: Mapping[str, Any], key: str) -> str:
        if not isinstance(said[key], str) or not said[key]:
            raise _LineError(f"{key!r} takes a text", key=key)
        return str(said[key])
