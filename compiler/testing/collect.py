"""Files and folders to case files.

date.test                          a case file
accept/* reject/* incomplete/*     a case a file, in a folder
order.json                         a schema and instances
tests/                             all of these, at any depth
"""

import os
from collections.abc import Container, Iterator
from pathlib import Path

from constrain.artifacts.container.regular import is_stream, regular
from constrain.artifacts.errors import ConstrainError, visible

from ..diagnostics import Diagnostic, Source, Span
from ..dialects import dialect_of
from ..limits import check_size_in_force
from .cases import Case, CaseFile, CaseFileError, Kind
from .format import parse
from .schema_cases import is_schema_file, schema_files

SUFFIX = ".test"

# What these folders hold is a case a file.
FOLDERS = tuple(kind.value for kind in Kind)

# The largest case, and the largest file of cases, in bytes.
_MOST_BYTES = 1 << 26


class CollectError(ConstrainError):
    """A path without cases."""


class TooLargeError(ConstrainError):
    """A case file of more bytes than are read."""

    exit_code = 3


def is_cases(path: str) -> bool:
    """Whether a path is of cases, and not of a grammar: a folder, ``*.test``, or JSON with a schema
    and tests."""
    return Path(path).is_dir() or path.endswith(SUFFIX) or _is_schema_file(Path(path))


def collected(path: str) -> Iterator[CaseFile | CaseFileError]:
    """The case files at a path, by name; those that cannot be read as errors. Raises ``OSError``,
    also for a link that leads out of a folder, and ``CollectError`` for one without cases."""
    place = Path(path)
    if not place.is_dir():
        yield from _of_file(place, path)
        return
    found = False
    if place.name in FOLDERS:
        found = True
        yield _of_folder(place.parent, [place])
    for folder, inner, names in os.walk(place):
        inner[:] = sorted(name for name in inner if not name.startswith("."))
        here = Path(folder)
        if kinds := [here / name for name in inner if name in FOLDERS]:
            found = True
            yield _of_folder(here, kinds)
            inner[:] = [name for name in inner if name not in FOLDERS]
        for name in sorted(names):
            file = here / name
            if name.startswith(".") or is_stream(file):
                continue
            if file.suffix in (SUFFIX, ".json"):
                regular(file, below=place)
            if name.endswith(SUFFIX) or _is_schema_file(file):
                found = True
                yield from _of_file(file, str(file))
    if not found:
        raise CollectError(
            f"{visible(path)}: there is no case in this folder: no *{SUFFIX}, no accept/* and "
            "reject/*, no JSON with a schema and tests"
        )


def beside(path: str) -> str | None:
    """The cases of a grammar: of the same name beside it; None if there are none."""
    place = Path(path)
    for stem in _stems(place):
        for found in (place.with_name(stem + SUFFIX), place.with_name(stem)):
            if found.exists() and not is_stream(found) and found != place:
                return str(regular(found, below=place.parent))
    return None


def grammar_of(file: CaseFile) -> str | None:
    """The grammar of cases that do not name it: of the same name beside them, and of a folder the
    one beside accept and reject. Raises ``CollectError`` where there are several."""
    place = Path(file.path)
    if place.is_dir():
        stem, folder = "", place
    else:
        stem, folder = place.name.removesuffix(SUFFIX), place.parent
    found = [
        each
        for each in sorted(folder.iterdir())
        if each.is_file()
        and dialect_of(each.name)
        and not each.name.startswith(".")
        and (not stem or stem in _stems(each))
    ]
    if len(found) > 1:
        names = " and ".join(each.name for each in found)
        raise CollectError(
            f"{visible(file.path)}: {visible(names)} are grammars; say which on the command line"
        )
    return str(regular(found[0], below=folder)) if found else None


def orphans(folder: Path, known: Container[str]) -> Iterator[str]:
    """The case files in a folder, but those ``known``, that name no grammar and have none beside
    them, as after it was deleted."""
    stems = {stem for each in folder.iterdir() if dialect_of(each.name) for stem in _stems(each)}
    for place in sorted(folder.glob(f"[!.]*{SUFFIX}")):
        path = str(place)
        if path in known or place.name.removesuffix(SUFFIX) in stems or is_stream(place):
            continue
        for file in collected(path):
            if isinstance(file, CaseFile) and file.setting("grammar") is None:
                yield path


def _stems(path: Path) -> list[str]:
    """``a.schema.json -> a.schema, a``"""
    stems, name = list[str](), path.name
    while "." in name.lstrip("."):
        name = name.rpartition(".")[0]
        stems.append(name)
    return stems


def from_bytes(data: bytes, path: str = "<stdin>") -> CaseFile | CaseFileError:
    """A case file, or what is wrong with it."""
    try:
        return parse(_decoded(data, path), path)
    except CaseFileError as error:
        return error


def _of_file(place: Path, path: str) -> Iterator[CaseFile | CaseFileError]:
    data = _read(place, path)
    if place.suffix != ".json":
        yield from_bytes(data, path)
        return
    try:
        text = _decoded(data, path)
        if not is_schema_file(text):
            message = "this is no JSON with a 'schema' and 'tests'"
            raise CaseFileError(Source(text, path, ""), [Diagnostic(message)])
        yield from schema_files(text, path)
    except CaseFileError as error:
        yield error


def _decoded(data: bytes, path: str) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        begin = len(data[: error.start].decode("utf-8"))
        message = f"byte 0x{data[error.start]:02X} is not UTF-8"
        source = Source(data.decode("utf-8", "replace"), path, "")
        help_ = r"a case with bytes that are no UTF-8 is written with ':escape' or ':hex'"
        found = Diagnostic(message, Span(begin, begin + 1), help_)
        raise CaseFileError(source, [found]) from None


def _of_folder(folder: Path, kinds: list[Path]) -> CaseFile:
    cases = list[Case]()
    for kind in kinds:
        for inner, names, files in os.walk(kind):
            names[:] = sorted(name for name in names if not name.startswith("."))
            for name in sorted(files):
                file = Path(inner) / name
                if not name.startswith(".") and not is_stream(file):
                    inside = regular(file, below=folder)
                    cases.append(_of_one(inside, folder, Kind(kind.name)))
    return CaseFile(Source("", str(folder), ""), tuple(cases))


def _of_one(path: Path, folder: Path, kind: Kind) -> Case:
    body = _read(path, str(path))
    try:
        text, start = body.decode("utf-8"), 0
    except UnicodeDecodeError:
        text, start = body.decode("latin-1"), None
    return Case(
        path.relative_to(folder).as_posix(),
        body,
        kind,
        source=Source(text, str(path), ""),
        place=Span(0, 1),
        body_start=start,
    )


def _read(place: Path, path: str) -> bytes:
    check_size_in_force(place.stat().st_size, f"reading {visible(path)}")
    with place.open("rb") as file:
        data = file.read(_MOST_BYTES + 1)
    if len(data) > _MOST_BYTES:
        raise TooLargeError(f"{visible(path)}: there are more than {_MOST_BYTES:,} bytes")
    return data


def _is_schema_file(path: Path) -> bool:
    """Whether a file is JSON with a schema and tests; those whose suffix says what they are are
    not."""
    if path.suffix != ".json" or dialect_of(path.name) or not path.is_file():
        return False
    try:
        return is_schema_file(_read(path, str(path)).decode("utf-8-sig"))
    except (OSError, UnicodeDecodeError):
        return False
