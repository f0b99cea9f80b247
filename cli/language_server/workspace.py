"""The documents that are open, the options of each, and the names of all files that imports lead
to."""

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit
from urllib.request import url2pathname

from .. import inputs, options
from ..configuration.current import choice
from ..configuration.find import find
from .jobs import Stop
from .texts import CASES, Document, kind_of

if TYPE_CHECKING:
    from constrain.compiler.dialects.names import Names

# Files of a folder in which uses of a rule are looked for.
_MOST_FILES = 2_000


class Workspace:
    """``folders``: what the editor has open, in which importing files are looked for."""

    def __init__(self) -> None:
        from constrain.compiler.lnf.remembered import Memory

        # Automata of what lints have looked at.
        self.memory = Memory()
        self.folders: list[Path] = []
        self.documents: dict[str, Document] = {}
        self._names: dict[str, tuple[str, Names]] = {}

    # --- documents

    def open(self, uri: str, text: str, version: int | None, language: str | None = None) -> None:
        """A document was opened or edited; commands read it instead of its file from here on."""
        before = self.documents.get(uri)
        path = path_of(uri)
        dialect = before.dialect if before and language is None else kind_of(path, language)
        self.documents[uri] = Document(uri, path, text, version, dialect)
        inputs.held[path] = text.encode("utf-8", "surrogatepass")

    def close(self, uri: str) -> None:
        """Its file counts again."""
        if self.documents.pop(uri, None) is not None:
            inputs.held.pop(path_of(uri), None)
            self._names.pop(path_of(uri), None)

    def document(self, uri: str) -> Document:
        """An open document, else the file as it is. Raises ``OSError``."""
        if uri in self.documents:
            return self.documents[uri]
        path = path_of(uri)
        text = inputs.decoded(Path(path).read_bytes(), path)
        return Document(uri, path, text, None, kind_of(path))

    # --- options

    def given(
        self, document: Document, stop: Stop, *, seconds: float | None = None
    ) -> options.Given:
        """What the project file of a document's folder says of all commands' options."""
        folder = Path(document.path).parent
        path = find(folder) if folder.is_dir() else None
        choice.set(path, isolated=path is None)
        takes = frozenset(options.ALL)
        said = frozenset(["dialect"]) if self._is_named(document) else frozenset[str]()
        dialect = document.dialect if said else None
        given = options.Given(takes=takes, said=said, watch=stop.watch(seconds), dialect=dialect)
        return given.of(document.path)

    @staticmethod
    def _is_named(document: Document) -> bool:
        """Whether the editor alone knows what a document is."""
        return document.dialect not in (None, CASES, kind_of(document.path))

    # --- names

    def names(self, document: Document, stop: Stop) -> "Names":
        """The names of a document, read once for each text."""
        known = self._names.get(document.path)
        if known is None or known[0] != document.text:
            known = self._names[document.path] = document.text, self.read_names(document, stop)
        return known[1]

    def read_names(self, document: Document, stop: Stop) -> "Names":
        """The names of a text."""
        from constrain.compiler.diagnostics import Source
        from constrain.compiler.dialects import EBNF
        from constrain.compiler.dialects.names import names_of

        source = Source(document.text, document.path, document.dialect or "")
        given = self.given(document, stop)
        folder, include = Path(document.path).parent, given.include or ()
        found = names_of(source, given.limits(), imports=folder, include=include)
        if not found.is_whole and given.guesses(document.path):
            # Files of this suffix may be EBNF of another kind.
            other = names_of(replace(source, dialect=EBNF), given.limits())
            found = other if other.is_whole and other.definitions else found
        return found

    def file(self, path: Path) -> Document:
        """The document of a file, open or not. Raises ``OSError``."""
        return self.document(path.resolve().as_uri())

    def importers(self, path: Path, stop: Stop) -> Iterator[tuple[Document, "Names"]]:
        """The grammars beside a file and in the folders of the workspace that import from it."""
        folders = {path.parent, *self.folders}
        tops = [f for f in folders if not any(f != o and f.is_relative_to(o) for o in folders)]
        for place in sorted({file for top in tops for file in _grammars(top)}):
            stop.check()
            try:
                document = self.file(place)
                names = self.names(document, stop)
            except OSError:
                continue
            if any(is_same(each.file, path) for each in names.imports):
                yield document, names


def _grammars(folder: Path) -> list[Path]:
    """The grammars that may import others below a folder, hidden ones left out."""
    found = list[Path]()
    for here, inner, names in os.walk(folder):
        inner[:] = sorted(n for n in inner if not n.startswith(".") and n != "node_modules")
        found += [Path(here, name) for name in sorted(names) if name.endswith(".lark")]
        if len(found) >= _MOST_FILES:
            break
    return found[:_MOST_FILES]


def is_same(one: Path | None, other: Path | None) -> bool:
    """Whether two paths are of one file."""
    return one is not None and other is not None and one.resolve() == other.resolve()


def path_of(uri: str) -> str:
    """The path of a file's URI; of what is no file yet its name."""
    parts = urlsplit(uri)
    if parts.scheme != "file":
        return parts.path or uri
    return url2pathname(parts.path)
