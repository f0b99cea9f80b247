"""The container: arrays by name and a manifest as one safetensors file, and back.

The container is safetensors: an 8-byte little-endian header length, a JSON header,
then raw arrays without holes. Arrays are ordered by item size (largest first, then
by name), so that every one is aligned without padding. ``README.md`` of ``artifacts``
is the byte-level description.

``encode`` and ``decode`` are inverse; ``decode`` trusts nothing but the length of the
buffer it is given. Each room declares its sections for ``check_sections``; ``require`` is for what
a declaration does not say. Both raise ``ArtifactError`` that names the section.
"""

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from math import prod
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..errors import ArtifactError
from .json_text import MOST_VALUES, object_of, values_of
from .sparse import filled_cells, sparse_names, whole_tables

Arrays: TypeAlias = Mapping[str, NDArray[Any]]


def check_types(arrays: Arrays, declared: Mapping[str, str]) -> None:
    """All sections are there, with the dtype and the number of axes that they are declared with."""
    for name, text in declared.items():
        if name not in arrays:
            raise ArtifactError(f"section {name!r} is missing")
        dtype, shape, _ = _declaration(text)
        require(arrays[name].dtype == dtype and arrays[name].ndim == len(shape), name)


def require(condition: bool, name: str) -> None:
    """A condition on section ``name``."""
    if not condition:
        raise ArtifactError(f"section {name!r} is damaged: it does not fit the others")


def check_sections(arrays: Arrays, declared: Mapping[str, str], **sizes: int) -> dict[str, int]:
    """Check sections by their declarations; returns the sizes that these name.

        "int32 (states, columns) 0..states dead"    dtype, shape, values from 0 to below ``states``
        "int32 (pairs, 2) 0..states,-1..2"          values by column; ``0..`` has no upper bound
        "int64 (states+1) to:calls"                 offsets: ascending from 0 to ``calls``

    Upper bounds are exclusive: ``1..129`` is 1 to 128. ``sizes``: sizes that are known. The first
    section with another name sets its size; later ones must have the same.
    ``ascending``: each number is above the one before; of offsets, that no list is empty.
    ``dead``: a table of transitions, neither empty nor leading anywhere from state 0. ``optional``,
    at the end: the section may be missing. Raises ``ArtifactError`` naming the first section that
    is missing or does not fit.
    """
    there = {n: t for n, t in declared.items() if n in arrays or not t.endswith(" optional")}
    check_types(arrays, there)
    for name, text in there.items():
        for (size, more), extent in zip(_declaration(text)[1], arrays[name].shape, strict=True):
            wanted = int(size) if size.isdecimal() else sizes.setdefault(size, extent - more)
            require(0 <= wanted == extent - more, name)
    for name, text in there.items():
        for rule in _declaration(text)[2]:
            require(_holds(rule, arrays[name], sizes), name)
    return sizes


@cache
def _declaration(text: str) -> tuple[np.dtype[Any], list[tuple[str, int]], list[str]]:
    """Dtype, of each axis its size and how much longer it is, and rules."""
    dtype, _, rest = text.removesuffix(" optional").partition(" (")
    shape, _, rules = rest.partition(")")
    axes = [axis.partition("+") for axis in shape.split(", ")]
    sizes = [(size, int(more or 0)) for size, _, more in axes]
    return np.dtype(dtype).newbyteorder("<"), sizes, rules.split()


def _holds(rule: str, values: NDArray[Any], sizes: Mapping[str, int]) -> bool:
    """Whether the values of a section keep to one rule of its declaration."""

    def number(text: str) -> int:
        if "+" in text:
            return sum(map(number, text.split("+")))
        return sizes[text] if text in sizes else int(text)

    if rule == "dead":
        return bool(values.size) and not values[0].any()
    if rule == "ascending":
        return bool((values[1:] > values[:-1]).all())
    if rule.startswith("to:"):
        ends = int(values[0]) == 0 and int(values[-1]) == number(rule[3:])
        return ends and bool((values[1:] >= values[:-1]).all())
    bounds = [each.split("..") for each in rule.split(",")]
    columns = [values] if len(bounds) == 1 else values.T
    for column, (low, high) in zip(columns, bounds, strict=True):
        least, most = number(low), number(high) if high else np.iinfo(values.dtype).max + 1
        # As an unsigned number one below zero is larger than all others: one pass is enough.
        seen = column.view(f"u{column.itemsize}") if least == 0 else column
        if column.size and (int(seen.max()) >= most or (least and int(seen.min()) < least)):
            return False
    return True


def is_acyclic(size: int, sources: NDArray[np.integer], targets: NDArray[np.integer]) -> bool:
    """Whether the graph of ``size`` nodes with the edges ``sources[i] -> targets[i]`` has no cycle.

    Edges into nodes that none leaves are taken away, round by round; after some rounds, node by
    node: a round costs what is left, and a path may have as many edges as there are.
    """
    for _ in range(_ROUNDS):
        if not len(sources):
            return True
        going_on = np.zeros(size, dtype=np.bool_)
        going_on[sources] = True
        left = going_on[targets]
        if left.all():
            return False
        sources, targets = sources[left], targets[left]
    return _is_acyclic_node_by_node(sources, targets)


# Rounds before nodes are looked at one by one: few graphs have longer paths.
_ROUNDS = 64


def _is_acyclic_node_by_node(sources: NDArray[np.integer], targets: NDArray[np.integer]) -> bool:
    """The same in time linear in the edges (Kahn 1962)."""
    left, into = Counter[int](sources.tolist()), dict[int, list[int]]()
    for source, target in zip(sources.tolist(), targets.tolist(), strict=True):
        into.setdefault(target, []).append(source)
    pending = [target for target in into if not left[target]]
    while pending:
        for source in into.pop(pending.pop(), ()):
            left[source] -= 1
            if not left[source]:
                pending.append(source)
    return not into


# Sections of a trie (``artifacts/tokens/trie.py``), after a prefix.
_TRIE = {
    "octets": "uint8 (nodes)",
    "first": "int32 (nodes+1)",
    "held": "int32 (nodes+1) to:ids",
    "ids": "int32 (ids) 0..vocab",
}


def check_trie_types(arrays: Arrays, prefix: str) -> None:
    """Raise ``ArtifactError`` naming the first section of a trie that is missing, or of another
    type."""
    check_types(arrays, {prefix + name: text for name, text in _TRIE.items()})


# Tokens of text are at most so many bytes long: walks take a step for each level of a trie. Real
# ones have some hundreds at most.
MOST_TOKEN_BYTES = 4096


def _levels(first: NDArray[np.integer]) -> int:
    """How many levels a trie has, whose children lie behind their parents; more than the most that
    there may be are not counted."""
    levels, low, high = 1, 0, 1
    while low < high < len(first) - 1 and levels <= MOST_TOKEN_BYTES + 1:
        low, high, levels = high, int(first[high]), levels + 1
    return levels


def check_trie(arrays: Arrays, prefix: str, vocab_size: int) -> None:
    """Every walk of a trie stays in it, and ends: children have higher numbers; leaves have tokens.
    Raises ``ArtifactError`` naming the first section that does not fit."""
    declared = {prefix + name: text for name, text in _TRIE.items()}
    nodes = check_sections(arrays, declared, vocab=vocab_size)["nodes"]
    first = arrays[prefix + "first"]
    require(nodes > 0, prefix + "octets")
    require(int(first[0]) == 1 and int(first[-1]) == nodes, prefix + "first")
    require(bool((first[:-1] > np.arange(nodes)).all()), prefix + "first")
    require(bool((first[1:] >= first[:-1]).all()), prefix + "first")
    require(_levels(first) <= MOST_TOKEN_BYTES + 1, prefix + "first")
    # What no token ends at leads to one.
    held = arrays[prefix + "held"]
    leads = (held[1:] > held[:-1]) | (first[1:] > first[:-1])
    require(bool(leads[1:].all()), prefix + "held")


FORMAT_MAJOR = 5
FORMAT_MINOR = 1

# The first minor version with sections in another file; a file without such is of version 0.
_SHARED_MINOR = 1

_DTYPES: dict[str, np.dtype[Any]] = {
    "U8": np.dtype("u1"),
    "U16": np.dtype("<u2"),
    "I32": np.dtype("<i4"),
    "U32": np.dtype("<u4"),
    "I64": np.dtype("<i8"),
}
_NAMES = {dtype: name for name, dtype in _DTYPES.items()}

# More than any section has; numpy refuses far more.
_MAX_AXES = 8

# A header is a few kilobytes plus the grammar's text; beyond this it is damage. As Python's own
# objects it takes up to some twenty times as much.
_MAX_HEADER_BYTES = 40_000_000

# A file has a hundred sections or two; each is described by nine values of JSON.
_MOST_SECTIONS, _VALUES_OF_A_SECTION = 4096, 16

# The header is padded to a multiple of it, so that all sections are aligned.
_ALIGNMENT = 8


@dataclass(frozen=True, slots=True)
class Sections:
    """A decoded file: the manifest and its arrays by name (views into the buffer). ``digest``: of
    the header, which has the checksums of all sections."""

    manifest: dict[str, Any]
    arrays: dict[str, NDArray[Any]]
    digest: str


def encode(
    manifest: Mapping[str, Any],
    arrays: Mapping[str, NDArray[Any]],
    shared: Mapping[str, Any] | None = None,
) -> list[bytes]:
    """The file as a list of chunks; the same input gives the same bytes.

    ``manifest`` is JSON-serialisable; the checksums of all sections are added to it. ``shared``:
    what it says of sections in another file (``thin``). Raises ``ArtifactError`` for a manifest of
    more than 40 MB, or of more values than ``MOST_VALUES``, which no reader would take.
    """
    written = dict(arrays)
    for name in sparse_names(arrays):
        written |= filled_cells(name, written.pop(name))
    ordered = sorted(written.items(), key=lambda item: (-item[1].dtype.itemsize, item[0]))
    described: dict[str, Any] = {}
    chunks: list[bytes] = []
    checksums: dict[str, str] = {}
    end = 0
    for name, array in ordered:
        dtype = array.dtype.newbyteorder("<")
        if dtype not in _NAMES:
            raise TypeError(f"section {name!r}: no file type for dtype {array.dtype}")
        chunk = np.ascontiguousarray(array, dtype=dtype).tobytes()
        start, end = end, end + len(chunk)
        described[name] = {
            "dtype": _NAMES[dtype],
            "shape": list(array.shape),
            "data_offsets": [start, end],
        }
        checksums[name] = sha256(chunk).hexdigest()
        chunks.append(chunk)
    minor = 0 if shared is None else _SHARED_MINOR
    full = {**manifest, "format": [FORMAT_MAJOR, minor], "checksums": checksums}
    if shared is not None:
        full["shared"] = shared
    text = _canonical_json(full)
    header: dict[str, Any] = {
        "__metadata__": {"constrain": text, "header_sha256": _header_digest(text, described)},
        **described,
    }
    header_bytes = _canonical_json(header).encode("utf-8")
    header_bytes += b" " * (-len(header_bytes) % _ALIGNMENT)
    if len(header_bytes) > _MAX_HEADER_BYTES:
        raise ArtifactError(
            f"the artifact's header has {len(header_bytes):,} bytes, and {_MAX_HEADER_BYTES:,} are "
            f"the most: leave out the grammar's source"
        )
    if values_of(text, MOST_VALUES) > MOST_VALUES:
        raise ArtifactError(
            f"the artifact's manifest has more than {MOST_VALUES:,} values, the most: the grammar "
            "has too many rules"
        )
    return [len(header_bytes).to_bytes(8, "little"), header_bytes, *chunks]


def decode(buffer: bytes | memoryview, *, verify: bool) -> Sections:
    """Check the container's structure and return its sections.

    ``verify`` also recomputes every section's SHA-256. Raises ``ArtifactError``.
    """
    data = memoryview(buffer)
    if len(data) and np.frombuffer(data, dtype=np.uint8).ctypes.data % _ALIGNMENT:
        data = memoryview(bytes(data))
    header, body = _split(data)
    metadata = header.pop("__metadata__", None)
    if not isinstance(metadata, dict) or not isinstance(metadata.get("constrain"), str):
        raise ArtifactError("it is a safetensors file of something else, not a compiled grammar")
    text = metadata["constrain"]
    manifest = object_of(text, "manifest", MOST_VALUES)
    _check_version(manifest.get("format"))
    digest = _header_digest(text, header)
    if metadata.get("header_sha256") != digest:
        raise ArtifactError("the header is damaged: its checksum does not match")
    if (len(data) - len(body)) % _ALIGNMENT:
        raise ArtifactError(
            f"the header is damaged: its length is no multiple of {_ALIGNMENT}, so that sections "
            f"are not aligned"
        )
    arrays = _view_arrays(header, body)
    if verify:
        _verify(manifest.get("checksums"), arrays)
    return Sections(manifest, whole_tables(arrays), digest)


def _split(data: memoryview) -> tuple[dict[str, Any], memoryview]:
    if len(data) < 8:
        raise ArtifactError(f"the file has {len(data)} bytes, too few for a compiled grammar")
    length = int.from_bytes(data[:8], "little")
    if length > _MAX_HEADER_BYTES:
        raise ArtifactError("this is not a compiled grammar (no safetensors header)")
    if 8 + length > len(data):
        raise ArtifactError(
            f"the file is truncated: its header needs {8 + length} bytes, it has {len(data)}"
        )
    try:
        text = str(data[8 : 8 + length], "utf-8")
    except UnicodeDecodeError:
        raise ArtifactError("this is not a compiled grammar (header is not UTF-8)") from None
    return object_of(text, "header", _MOST_SECTIONS * _VALUES_OF_A_SECTION), data[8 + length :]


def _check_version(version: object) -> None:
    ok = isinstance(version, list) and len(version) == 2 and all(type(v) is int for v in version)
    if not ok:
        raise ArtifactError("the manifest is damaged: it has no format version")
    assert isinstance(version, list)
    if version[0] != FORMAT_MAJOR:
        raise ArtifactError(
            f"format version {version[0]}.{version[1]} cannot be read by this release, which reads "
            f"{FORMAT_MAJOR}.x: compile the grammar again or use a matching release"
        )


def _view_arrays(header: dict[str, Any], body: memoryview) -> dict[str, NDArray[Any]]:
    arrays: dict[str, NDArray[Any]] = {}
    spans: list[tuple[int, int]] = []
    for name, entry in header.items():
        dtype, shape, start, end = _checked_entry(name, entry)
        if end > len(body):
            raise ArtifactError(
                f"the file is truncated: section {name!r} ends at byte {end}, "
                f"the data has {len(body)}"
            )
        if dtype is None:
            spans.append((start, end))
            continue  # A type that a later minor version may use: unknown sections are ignored.
        if len(shape) > _MAX_AXES or prod(shape) * dtype.itemsize != end - start:
            raise ArtifactError(f"section {name!r} is damaged: its size does not fit its shape")
        if start % dtype.itemsize:
            raise ArtifactError(f"section {name!r} is damaged: it is not aligned")
        spans.append((start, end))
        flat = np.frombuffer(body[start:end], dtype=dtype)
        try:
            arrays[name] = flat.reshape(shape)
        except ValueError:  # Extents that numpy cannot count, beside an extent of zero.
            raise ArtifactError(f"section {name!r} is damaged: impossible shape") from None
    position = 0
    for start, end in sorted(spans):
        if start != position:
            raise ArtifactError("the header is damaged: sections overlap or leave holes")
        position = end
    if position != len(body):
        raise ArtifactError(
            f"the file has {len(body) - position} bytes more than its sections: it is damaged"
        )
    return arrays


def _checked_entry(
    name: str, entry: object
) -> tuple[np.dtype[Any] | None, tuple[int, ...], int, int]:
    if isinstance(entry, dict):
        shape, offsets = entry.get("shape"), entry.get("data_offsets")
        if (
            isinstance(shape, list)
            and isinstance(offsets, list)
            and len(offsets) == 2
            and all(type(n) is int and n >= 0 for n in [*shape, *offsets])
            and offsets[0] <= offsets[1]
        ):
            return _DTYPES.get(str(entry.get("dtype"))), tuple(shape), offsets[0], offsets[1]
    raise ArtifactError(f"the header is damaged: section {name!r} has no valid description")


def _verify(checksums: object, arrays: Mapping[str, NDArray[Any]]) -> None:
    stated = checksums if isinstance(checksums, dict) else {}
    for name, array in arrays.items():
        if name in stated and sha256(array.data).hexdigest() != stated[name]:
            raise ArtifactError(f"section {name!r} is damaged: its checksum does not match")


def _header_digest(manifest_text: str, described: Mapping[str, Any]) -> str:
    joined = manifest_text + "\n" + _canonical_json(described)
    return sha256(joined.encode("utf-8", "surrogatepass")).hexdigest()


def _canonical_json(value: Any) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
