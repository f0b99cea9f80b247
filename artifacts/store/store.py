"""Artifacts by key, in a folder or an object store: written once, verified on the way in.

    store = Store("s3://bucket/grammars")     or a folder
    store.put(key, artifact)                  False if there was one of that key already
    store.get(key)                            the artifact, mapped from a local file, or None

A key says all that an artifact's bytes depend on (``compiler.serving.artifact_key``), so two
writers of one key write the same. A file is served if it is whole, its checksums hold, and it
says itself that it is of the key; any other is taken away, and compiled again by whoever asks.
Whoever may write to a store is trusted not to lie about keys: sign files, or keep writers out.
"""

import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from os import PathLike, fspath
from pathlib import Path

from ..artifact import Artifact
from ..container.sections import decode, encode
from ..container.thin import encode_thin, is_thin, read_tables
from ..container.thin import tables_name as tables_file
from ..errors import ArtifactError, visible
from ..read import load, load_bytes
from ..tokens.memo import DEFAULT_CACHE_BYTES
from .folders import default_folder
from .keys import artifact_name, is_tables, key_of, tables_name
from .places import MARKED_SECONDS, Stored, place_of


@dataclass(frozen=True, slots=True)
class Entry:
    """An artifact in a store. ``bytes``: of its file, without shared tables. ``used``: when it was
    written or read last, in seconds since 1970."""

    key: str
    bytes: int
    used: float


@dataclass(frozen=True, slots=True)
class Collected:
    """What was taken away, and what is left."""

    files: int
    bytes: int
    files_left: int
    bytes_left: int


class Store:
    """Artifacts below a folder's path or an fsspec URL (``s3://…``, ``gs://…``, ``memory://…``).

    ``folder``: where files of a URL are fetched to; by default in the user's cache. Any number of
    processes and machines may use a store at once. Methods raise ``StoreError``, also for trouble
    with the place, and ``OSError`` for a full or read-only one.
    """

    def __init__(self, url: str | PathLike[str], *, folder: str | PathLike[str] | None = None):
        self.url = fspath(url)
        local = default_folder() if folder is None else Path(folder)
        self._place = place_of(self.url, local)

    def get(self, key: str, *, cache_bytes: int = DEFAULT_CACHE_BYTES) -> Artifact | None:
        """The artifact of a key, or None if there is none. One that is damaged, or says that it is
        of another key, is taken away; one without its tables stays, for ``put`` of any artifact
        of the tokenizer writes them again."""
        name = artifact_name(key)
        for _ in range(2):
            try:
                path = self._place.path(name)
                return None if path is None else self._opened(key, path, cache_bytes)
            except FileNotFoundError:  # Collected since.
                return None
            except _TablesError:
                return None
            except ArtifactError:
                # What is damaged may be a copy alone: it is fetched again, once.
                if not self._place.forget(name):
                    break
        with suppress(OSError):
            self._place.delete(name)
        return None

    def has(self, key: str) -> bool:
        """Whether there is an artifact of a key; it is not read."""
        return self._place.has(artifact_name(key))

    def size(self, key: str) -> int | None:
        """The bytes of the file of a key, without shared tables; None if there is none."""
        return self._place.size(artifact_name(key))

    def flaw(self, key: str) -> str | None:
        """Why the artifact of a key is none to be served: damaged, of another key, or without its
        tables; None if it is as written, or if there is none. It is read, but not opened."""
        name, found = artifact_name(key), None
        for _ in range(2):
            try:
                path = self._place.path(name)
                if path is not None:
                    self._checked(key, path)
                return None
            except FileNotFoundError:
                return None
            except ArtifactError as error:
                found = str(error)
                # What is damaged may be a copy alone.
                if isinstance(error, _TablesError) or not self._place.forget(name):
                    break
        return found

    def put(self, key: str, artifact: Artifact, *, thin: bool = False) -> bool:
        """Write an artifact under a key; False if there is one already, which stays as it is.

        ``thin``: with the tokenizer's tables in a file that all share. It is read again and
        verified before it is written.
        """
        name, whole = artifact_name(key), artifact.keyed(key).completed
        manifest = whole.manifest.to_json()
        if not thin:
            chunks = encode(manifest, whole.arrays)
            load_bytes(b"".join(chunks), verify=True, name=name)
            return self._place.write(name, chunks)
        files = encode_thin(manifest, whole.arrays)
        # First: who finds the artifact finds its tables.
        self._place.write(tables_name(files.name), files.tables)
        try:
            tables = self._tables(files.name)
        except _TablesError:
            self._place.delete(tables_name(files.name))
            self._place.write(tables_name(files.name), files.tables)
            tables = self._tables(files.name)
        load_bytes(b"".join(files.chunks), verify=True, name=name, shared=lambda _: tables)
        return self._place.write(name, files.chunks)

    def entries(self) -> Iterator[Entry]:
        """All artifacts, by key."""
        for file in self._place.files():
            key = key_of(file.name)
            if key is not None:
                yield Entry(key, file.bytes, file.used)

    def collect(
        self, *, most_bytes: int | None = None, unused_seconds: float | None = None
    ) -> Collected:
        """Take away artifacts that were not used for so long, then those used longest ago until
        all together have at most so many bytes; and tables whose artifacts are gone with them."""
        files = [file for file in self._place.files() if _is_ours(file)]
        now = time.time()
        # Tables are used with their artifacts, which may have been marked since.
        files.sort(key=lambda file: (_last_use(file), is_tables(file.name), file.name))
        left, gone = sum(file.bytes for file in files), [0, 0]
        for file in files:
            is_old = unused_seconds is not None and now - _last_use(file) > unused_seconds
            if is_old or (most_bytes is not None and left > most_bytes):
                self._place.delete(file.name)
                left -= file.bytes
                gone = [gone[0] + 1, gone[1] + file.bytes]
        self._place.tidy()
        return Collected(gone[0], gone[1], len(files) - gone[0], left)

    def verify(self) -> Iterator[tuple[str, str]]:
        """Each file that is not what its name says, and why. Nothing is taken away."""
        for file in self._place.files():
            key = key_of(file.name)
            if key is None:
                if not is_tables(file.name):
                    yield file.name, "the name is none of a store's"
                continue
            path = self._place.path(file.name)
            try:
                if path is not None:
                    self._opened(key, path, DEFAULT_CACHE_BYTES)
            except ArtifactError as error:
                yield file.name, str(error)

    def delete(self, key: str) -> None:
        """Take the artifact of a key away, if there is one."""
        self._place.delete(artifact_name(key))

    def _opened(self, key: str, path: Path, cache_bytes: int) -> Artifact:
        without: list[_TablesError] = []

        def tables(file: str) -> Path:
            try:
                return self._tables(file)
            except _TablesError as error:
                without.append(error)
                raise

        try:
            found = load(path, verify=True, cache_bytes=cache_bytes, shared=tables)
        except ArtifactError:
            if without:
                raise without[0] from None
            raise
        if found.manifest.key != key:
            raise ArtifactError(f"{visible(path)}: the file is of another key than its name says")
        return found

    def _checked(self, key: str, path: Path) -> None:
        """Raises ``ArtifactError`` unless the file is as it was written under the key."""
        try:
            found = decode(path.read_bytes(), verify=True)
            tables = tables_file(found) if is_thin(found) else None
        except ArtifactError as error:
            raise ArtifactError(f"{visible(path)}: {error}") from None
        if tables is not None:
            self._tables(tables)
        if found.manifest.get("key") != key:
            raise ArtifactError(f"{visible(path)}: the file is of another key than its name says")

    def _tables(self, file: str) -> Path:
        """A file of tables, whole. Raises ``_TablesError``."""
        name, wrong = tables_name(file), f"its tokenizer's tables, {file}, are not in the store"
        for _ in range(2):
            found = self._place.path(name)
            if found is None:
                break
            try:
                read_tables(found, file, verify=True)
                return found
            except ArtifactError as error:
                wrong = f"its tokenizer's tables are damaged: {error}"
                if not self._place.forget(name):
                    break
        raise _TablesError(wrong)


class _TablesError(ArtifactError):
    """The tables of a thin artifact are not there, or not whole."""


def _is_ours(file: Stored) -> bool:
    return key_of(file.name) is not None or is_tables(file.name)


def _last_use(file: Stored) -> float:
    return file.used + (MARKED_SECONDS if is_tables(file.name) else 0)
