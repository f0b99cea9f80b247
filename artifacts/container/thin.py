"""Thin artifacts: sections that are the tokenizer's own, in a file that all its artifacts map.

    date.cst, 7.6 MB     ->     date.cst, 26 kB     and, once, <digest>.tok, 7.5 MB

A file of tables is a container like an artifact's; its name is the digest of its header, which has
the checksums of all its sections. A thin artifact's manifest names it and what it takes from it:

    "shared": {"file": "<digest>.tok", "sections": ["pairs.begin", …, "vocab.offsets"]}

Artifacts of one tokenizer that need the same tables name the same file, whatever their grammars
are, if they were compiled to be thin (``CompileOptions.thin``).
"""

from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike, fspath
from pathlib import Path
from threading import Lock
from typing import Any, TypeAlias

from ..errors import ArtifactError, visible
from .opening import VERIFIED, FileKey, contents_of, key_of
from .regular import regular
from .sections import Arrays, Sections, decode, encode

SUFFIX = ".tok"

# What the manifest of a file of tables says it is.
_KIND = "tokenizer-tables"

# Names of sections that another grammar leaves as they are, or how they begin where these end with
# a dot (``compiler/inspection/sizes.py`` says of all sections whose they are).
_TOKENIZER_SECTIONS = (
    *("apart_trie.", "cuts.", "merged_trie.", "pairs.", "stable.classes", "stable.start"),
    *("stable.table", "trie.", "vocab.", "words.indicator", "words.normalizer"),
)

# Where files of tables are: a folder, or what gives the path of the one of a name.
Shared: TypeAlias = str | PathLike[str] | Callable[[str], str | PathLike[str]]

# Files of tables that stay mapped, those used last.
_MOST_MAPPED = 8


def is_of_tokenizer(name: str) -> bool:
    """Whether a section is the tokenizer's own, and may be shared."""
    return any(
        name == own or (own.endswith(".") and name.startswith(own)) for own in _TOKENIZER_SECTIONS
    )


@dataclass(frozen=True, slots=True)
class Thin:
    """The two files of a thin artifact, as chunks. ``name``: that of the file of tables."""

    chunks: Sequence[bytes]
    name: str
    tables: Sequence[bytes]


def encode_thin(manifest: Mapping[str, Any], arrays: Arrays) -> Thin:
    """An artifact without the tokenizer's own sections, and these; the same input gives the same
    bytes."""
    shared = {name: array for name, array in arrays.items() if is_of_tokenizer(name)}
    own = {name: array for name, array in arrays.items() if name not in shared}
    name, tables = _encoded(shared)
    said = {"file": name, "sections": sorted(shared)}
    return Thin(encode(manifest, own, shared=said), name, tables)


# The tables that were encoded last, by their arrays: those of a tokenizer are the same objects.
_ENCODED: "OrderedDict[tuple[tuple[str, int], ...], tuple[Arrays, str, Sequence[bytes]]]"
_ENCODED = OrderedDict()
_MOST_ENCODED = 4


def _encoded(shared: Arrays) -> tuple[str, Sequence[bytes]]:
    """The name of a file of tables, and its chunks. Nobody writes to the arrays."""
    key = tuple((name, id(array)) for name, array in sorted(shared.items()))
    found = _ENCODED.pop(key, None)
    if found is None:
        tables = encode({"kind": _KIND}, shared)
        name = decode(b"".join(tables), verify=False).digest + SUFFIX
        # subtle: the arrays are kept, so that no others have their places.
        found = shared, name, tables
    _ENCODED[key] = found
    while len(_ENCODED) > _MOST_ENCODED:
        _ENCODED.popitem(last=False)
    return found[1:]


def is_thin(sections: Sections) -> bool:
    """Whether sections are elsewhere."""
    return "shared" in sections.manifest


def tables_name(sections: Sections) -> str:
    """The name of the file of tables that a thin artifact needs. Raises ``ArtifactError``."""
    return _named(sections.manifest)[0]


def _named(manifest: Mapping[str, Any]) -> tuple[str, list[str]]:
    said = manifest.get("shared")
    if isinstance(said, dict):
        file, names = said.get("file"), said.get("sections")
        digest = file.removesuffix(SUFFIX) if isinstance(file, str) else ""
        # subtle: what a stranger's file names is a path below no other folder.
        is_name = len(digest) == 64 and set(digest) <= set("0123456789abcdef")
        found = [name for name in names if isinstance(name, str)] if isinstance(names, list) else []
        if is_name and found == names and all(map(is_of_tokenizer, found)):
            return digest + SUFFIX, found
    raise ArtifactError("the manifest is damaged: bad 'shared'")


def completed(
    sections: Sections, shared: Shared | None, *, verify: bool, copy: bool = False
) -> Sections:
    """The sections of a thin artifact with those that it shares; of another as they are.

    ``verify``: the checksums of the tables, unless they were when this process opened the file.
    ``copy``: the file is read into memory and not mapped. Raises ``ArtifactError`` if there is no
    such file of tables, or it is another one.
    """
    if not is_thin(sections):
        return sections
    file, names = _named(sections.manifest)
    if shared is None:
        raise ArtifactError(
            f"it is thin, and its tokenizer's tables are in {visible(file)}: say by 'shared' "
            "where that is"
        )
    path = Path(shared(file) if callable(shared) else Path(fspath(shared), file))
    tables = read_tables(path, file, verify=verify, copy=copy)
    found = dict(sections.arrays)
    for name in names:
        if name in found or name not in tables.arrays:
            raise ArtifactError(f"section {name!r} is not in {visible(path)}, or twice there")
        found[name] = tables.arrays[name]
    return Sections(sections.manifest, found, sections.digest)


def read_tables(path: Path, file: str, *, verify: bool, copy: bool = False) -> Sections:
    """The file of tables of a name, mapped; those used last are not read, nor verified, again.
    ``copy``: in memory and not mapped.

    Raises ``ArtifactError`` if it is damaged, cannot be read, or is another one.
    """
    tables = _mapped(path, verify, copy)
    if tables.digest + SUFFIX != file:
        raise ArtifactError(f"{path} holds other tables than its name says")
    return tables


class _Mapped:
    """Files of tables that are open, mapped or in memory; threads share them."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._files: OrderedDict[tuple[FileKey, bool], Sections] = OrderedDict()

    def get(self, path: Path, verify: bool, copy: bool) -> Sections:
        """The file's sections, read once."""
        with regular(path).open("rb") as file, self._lock:
            key = key_of(file, path)
            found = self._files.pop((key, copy), None)
            wanted = verify and VERIFIED.needs(key, None)
            if found is None or wanted:
                found = decode(contents_of(file, copy=copy), verify=wanted)
                if wanted:
                    VERIFIED.add(key)
            self._files[key, copy] = found
            if len(self._files) > _MOST_MAPPED:
                self._files.popitem(last=False)
            return found


_FILES = _Mapped()


def _mapped(path: Path, verify: bool, copy: bool) -> Sections:
    try:
        found = _FILES.get(path, verify, copy)
    except ArtifactError as error:
        raise ArtifactError(f"{visible(path)}: {error}") from None
    except OSError as error:
        raise ArtifactError(
            f"its tokenizer's tables cannot be read: {visible(path)}: {error.strerror or error}; a "
            "file of that name is written beside each thin artifact"
        ) from None
    if found.manifest.get("kind") != _KIND:
        raise ArtifactError(f"{visible(path)} holds no tables of a tokenizer")
    return found
