"""Where a name is defined and used, over imports; and another name in all of these places.

A rule's home is the file that defines it. Files that import it from there may call it otherwise:
renaming the rule leaves such an alias as it is, and renaming the alias leaves the rule.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from .jobs import Stop
from .texts import Document, RequestError
from .workspace import Workspace, is_same

if TYPE_CHECKING:
    from constrain.compiler.diagnostics import Span
    from constrain.compiler.dialects.names import Names


@dataclass(frozen=True)
class Located:
    """A place in a document."""

    document: Document
    span: "Span"


@dataclass(frozen=True)
class _Home:
    """A rule at home: its file, its name there, and the names of that file."""

    document: Document
    name: str
    names: "Names"


def definition(document: Document, offset: int, workspace: Workspace, stop: Stop) -> list[Located]:
    """Where the name at an offset is defined; in an import where it stands in the other file."""
    home = _home(document, offset, workspace, stop)
    if home is None:
        return []
    return [Located(home.document, each.span) for each in home.names.defined(home.name)]


def references(
    document: Document, offset: int, workspace: Workspace, stop: Stop, *, defines: bool = True
) -> list[Located]:
    """Where the rule at an offset stands, in all files that can be found; ``defines``: also where
    it is defined."""
    home = _home(document, offset, workspace, stop)
    if home is None:
        return []
    found = list(_everywhere(home, workspace, stop))
    if not defines:
        own = {each.span for each in home.names.defined(home.name)}
        found = [each for each in found if each.document != home.document or each.span not in own]
    return found


def renamed(
    document: Document, offset: int, workspace: Workspace, stop: Stop, *, new: str
) -> list[Located]:
    """The places that a new name is written to. Raises ``RequestError`` where it cannot be."""
    names = workspace.names(document, stop)
    found = names.at(offset)
    home = _home(document, offset, workspace, stop)
    if home is None or not home.names.defined(home.name):
        raise RequestError("there is no rule's name here that could be changed")
    if home.name.startswith("#"):
        raise RequestError("a definition of a schema is renamed by its key and all references")
    imported = names.imported(found[0]) if found else None
    if found is not None and imported is not None and imported.alias_span != imported.span:
        places = [Located(document, span) for span in names.places(found[0])]
    else:
        path, own = Path(home.document.path), (Path(document.path).parent, *workspace.folders)
        if not any(path.is_relative_to(folder) for folder in own):
            raise RequestError(f"{home.name!r} is defined outside of this workspace")
        places = [
            each
            for each in _everywhere(home, workspace, stop)
            if _text(each).strip("<>") == home.name or each.document == home.document
        ]
    for each in {place.document.uri: place.document for place in places}.values():
        _check(each, [p.span for p in places if p.document == each], new, workspace, stop)
    return places


def written(place: Located, new: str) -> str:
    """What is written there: names in angle brackets keep them."""
    text = _text(place)
    return f"<{new}>" if text.startswith("<") and text.endswith(">") else new


def _text(place: Located) -> str:
    return place.document.text[place.span.start : place.span.end]


def _home(document: Document, offset: int, workspace: Workspace, stop: Stop) -> _Home | None:
    names = workspace.names(document, stop)
    imported, found = names.original_at(offset), names.at(offset)
    if found is None and imported is None:
        return None
    if imported is None and found is not None:
        if names.defined(found[0]):
            return _Home(document, found[0], names)
        imported = names.imported(found[0])
        if imported is None:
            return _Home(document, found[0], names)
    if imported is None or imported.file is None:
        return None
    try:
        other = workspace.file(imported.file)
    except OSError:
        return None
    return _Home(other, imported.name, workspace.names(other, stop))


def _everywhere(home: _Home, workspace: Workspace, stop: Stop) -> Iterator[Located]:
    """All places of a rule: at home, and in the files that import it."""
    for span in home.names.places(home.name):
        yield Located(home.document, span)
    path = Path(home.document.path)
    for document, names in workspace.importers(path, stop):
        spans = set["Span"]()
        for each in names.imports:
            if each.name == home.name and is_same(each.file, path):
                spans |= {each.span, *names.places(each.alias)}
        yield from (Located(document, span) for span in sorted(spans))


def _check(
    document: Document, spans: "list[Span]", new: str, workspace: Workspace, stop: Stop
) -> None:
    """Raise ``RequestError`` unless the text with the new name has it in just these places."""
    from dataclasses import replace

    names = workspace.names(document, stop)
    if names.places(new):
        raise RequestError(f"there is a {new!r} in {Path(document.path).name} already")
    text, end = [], 0
    for span in spans:
        text += [document.text[end : span.start], written(Located(document, span), new)]
        end = span.end
    changed = replace(document, text="".join([*text, document.text[end:]]))
    after = workspace.read_names(changed, stop)
    there = {*after.places(new), *(each.span for each in after.imports if each.name == new)}
    if len(there) != len(spans) or len(after.tokens) != len(names.tokens):
        raise RequestError(f"{new!r} is no name in {document.dialect}")
