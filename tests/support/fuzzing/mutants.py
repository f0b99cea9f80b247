"""Artifacts with something wrong: bytes, the header, the manifest, sections, or a pair of files.

Half of them have all checksums made right again, as whoever means harm would make them.
"""

import copy
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

import numpy as np
from numpy.typing import NDArray

from constrain.artifacts import Artifact
from constrain.artifacts.container.sections import encode
from constrain.artifacts.container.thin import SUFFIX, encode_thin
from support import opened, sealed
from support.fuzzing.tables import grown, with_plausible_values

Arrays = dict[str, NDArray[Any]]

# How many changes of a section keep its values in range.
_PLAUSIBLE = 0.6

# What numbers and texts of a manifest are replaced by.
ODD: tuple[Any, ...] = (
    None, True, False, 0, 1, -1, 2, 7, 255, 2**31 - 1, 2**31, -(2**31), 2**63 - 1, 2**63, 2**64,
    10**30, 1.5, 1e308, "", "x", "\ud800", "\x1b[31m", "a" * 5000, [], [0], [-1], [[]], {},
    {"a": 1}, "earley", "product", "network", "greedy", "token-dfa", "canonical", "any",
)  # fmt: skip

# Text that stands for a value of the header or the manifest.
BOMBS = (
    "[" * 3000,
    "1" * 5000,
    "1e999",
    "NaN",
    "[" * 200 + "]" * 200,
    '{"a":1,"a":2}',
    "-0",
    '"\\ud800"',
)


@dataclass(frozen=True, slots=True)
class Mutant:
    """``data``: of the file. ``tables``: files beside it, by name. ``how``: what was done to what,
    for whoever finds a fault."""

    data: bytes
    tables: Mapping[str, bytes]
    how: str


class Mutants:
    """Mutated artifacts by number: the same number gives the same bytes."""

    def __init__(self, samples: Mapping[str, Artifact]) -> None:
        self._samples = {name: artifact.completed for name, artifact in samples.items()}
        self._names = sorted(samples)
        self._files = {name: artifact.to_bytes() for name, artifact in self._samples.items()}
        self._parts = {name: opened(data) for name, data in self._files.items()}
        self._thin = {
            name: encode_thin(artifact.manifest.to_json(), artifact.arrays)
            for name, artifact in self._samples.items()
        }

    def __getitem__(self, number: int) -> Mutant:
        rng = Random(number)
        name = self._names[number % len(self._names)]
        ways: Sequence[tuple[int, Callable[[str, Random], Mutant]]] = (
            (24, self._of_bytes),
            (8, self._of_header),
            (14, self._of_manifest),
            (48, self._of_sections),
            (6, self._of_thin),
        )
        way = rng.choices([way for _, way in ways], [weight for weight, _ in ways])[0]
        made = way(name, rng)
        return Mutant(made.data, made.tables, f"{number}: {name}: {made.how}")

    def _of_bytes(self, name: str, rng: Random) -> Mutant:
        """Bytes flipped, lost or doubled; no checksum is right any more."""
        return _damaged(bytearray(self._files[name]), rng)

    def _of_header(self, name: str, rng: Random) -> Mutant:
        """Descriptions of sections that say something else, sealed."""
        manifest, described, body = self._parts[name]
        described = json.loads(json.dumps(described))
        section = rng.choice(sorted(described))
        match rng.randrange(6):
            case 0:
                how = f"spaces after the header, {section}"
                data = sealed(manifest, described, body)
                length = int.from_bytes(data[:8], "little")
                spaces = rng.choice((1, 2, 3, 4, 7, 8))
                size = (length + spaces).to_bytes(8, "little")
                return Mutant(
                    size + data[8 : 8 + length] + b" " * spaces + data[8 + length :], {}, how
                )
            case 1:
                entry = described[section]
                entry["shape"] = rng.choice((
                    [], [0], [0, 2**63], [2**62, 4], [2**32, 2**32], [1] * 40, [-1], [0, 0],
                    [*entry["shape"], 1], [1, *entry["shape"]], entry["shape"][::-1],
                ))  # fmt: skip
                how = f"shape of {section}: {entry['shape']}"
            case 2:
                described[section]["dtype"] = rng.choice(("U8", "I8", "F32", "I64", "U32", 7, None))
                how = f"dtype of {section}: {described[section]['dtype']}"
            case 3:
                other = rng.choice(sorted(described))
                described[section], described[other] = described[other], described[section]
                how = f"{section} and {other} swapped"
            case 4:
                how = f"description of {section}: {_replace(described, rng, (section,))}"
            case _:
                described["rows:shape"] = described.pop(section)
                how = f"{section} renamed to rows:shape"
        return Mutant(sealed(manifest, described, body), {}, how)

    def _of_manifest(self, name: str, rng: Random) -> Mutant:
        """Values of the manifest replaced or left out, sealed."""
        manifest, described, body = self._parts[name]
        manifest = json.loads(json.dumps(manifest))
        if rng.random() < 0.1:
            text = json.dumps(manifest)
            key = rng.choice(sorted(manifest))
            bomb = rng.choice(BOMBS)
            text = text[:-1] + f', "{key}": {bomb}' + "}"
            return Mutant(sealed(text, described, body), {}, f"{key}: {bomb[:20]}")
        hows = [_replace(manifest, rng) for _ in range(rng.choice((1, 1, 1, 2, 3)))]
        return Mutant(sealed(manifest, described, body), {}, f"manifest: {', '.join(hows)}")

    def _of_sections(self, name: str, rng: Random) -> Mutant:
        """Sections with other values or of other sizes, sealed."""
        whole = self._samples[name]
        arrays = dict(whole.arrays)
        hows = [self._edit(arrays, rng) for _ in range(rng.choice((1, 1, 1, 1, 2, 3)))]
        data = b"".join(encode(whole.manifest.to_json(), arrays))
        return Mutant(data, {}, ", ".join(hows))

    def _of_thin(self, name: str, rng: Random) -> Mutant:
        """A thin artifact or its tables with something wrong; the tables' name is right or not."""
        thin, whole = self._thin[name], self._samples[name]
        tables, own = b"".join(thin.tables), b"".join(thin.chunks)
        match rng.randrange(4):
            case 0:
                damaged = _damaged(bytearray(tables), rng)
                return Mutant(own, {thin.name: damaged.data}, f"tables: {damaged.how}")
            case 1:
                damaged = _damaged(bytearray(own), rng)
                return Mutant(damaged.data, {thin.name: tables}, f"thin: {damaged.how}")
            case 2:
                manifest, described, body = opened(own)
                how = _replace(manifest, rng, ("shared",))
                data = sealed(manifest, described, body)
                return Mutant(data, {thin.name: tables}, f"thin: {how}")
        shared = {n: a for n, a in whole.arrays.items() if n in self._shared(name)}
        how = self._edit(shared, rng)
        changed = b"".join(encode({"kind": "tokenizer-tables"}, shared))
        header = json.loads(changed[8 : 8 + int.from_bytes(changed[:8], "little")])
        named = header["__metadata__"]["header_sha256"] + SUFFIX
        said = {"file": named, "sections": sorted(shared)}
        rest = {n: a for n, a in whole.arrays.items() if n not in self._shared(name)}
        data = b"".join(encode(whole.manifest.to_json(), rest, shared=said))
        return Mutant(data, {named: changed}, f"tables: {how}")

    def _shared(self, name: str) -> list[str]:
        found: list[str] = opened(b"".join(self._thin[name].chunks))[0]["shared"]["sections"]
        return found

    def _edit(self, arrays: Arrays, rng: Random) -> str:
        """Change one section, and say how."""
        if not arrays:
            return "nothing"
        section = rng.choice(sorted(arrays))
        array = np.atleast_1d(arrays[section])
        if rng.random() < _PLAUSIBLE:
            arrays[section], how = with_plausible_values(array, rng)
            return f"{section} {how}"
        match rng.randrange(17):
            case 0 | 1 | 2 | 3 | 4 | 5 | 6:
                changed, how = _with_values(array, rng)
                arrays[section] = changed
                return f"{section} {how}"
            case 7:
                arrays[section] = np.full_like(array, _extreme(array, rng))
                return f"{section} all {arrays[section].flat[:1]}"
            case 8:
                flat = array.reshape(-1).copy()
                np.random.default_rng(rng.randrange(1 << 30)).shuffle(flat)
                arrays[section] = flat.reshape(array.shape)
                return f"{section} shuffled"
            case 9:
                cut = rng.randrange(len(array) + 1)
                arrays[section] = array[:cut] if rng.random() < 0.5 else array[cut:]
                return f"{section} cut to {arrays[section].shape}"
            case 10:
                times = rng.choice((1, 2, 5, 40))
                arrays[section] = np.concatenate([array, *([array[-1:]] * times)])
                return f"{section} longer by {times}"
            case 11:
                shape = rng.choice(((0,), (0, 0), (0, 5), (3, 0), (0, 2, 0), (1,), ()))
                arrays[section] = np.zeros(shape, dtype=array.dtype)
                return f"{section} of shape {shape}"
            case 12:
                alike = [n for n in sorted(arrays) if arrays[n].dtype == array.dtype]
                other = rng.choice(alike)
                arrays[section], arrays[other] = arrays[other], array
                return f"{section} and {other} swapped"
            case 13:
                del arrays[section]
                return f"{section} left out"
            case 14:
                donor = self._samples[rng.choice(self._names)].arrays
                alien = rng.choice(sorted(donor))
                arrays[alien] = donor[alien]
                return f"{alien} of another kind"
            case 15:
                return f"{section} {grown(arrays, section, rng)}"
        return f"{section} {_sparse(arrays, section, rng)}"


def _sparse(arrays: Arrays, section: str, rng: Random) -> str:
    """Write a section by its cells, which may be cells of a huge table."""
    array = arrays[section]
    places = np.flatnonzero(array).astype(np.uint32)
    values = array.reshape(-1)[places].astype(np.int32)
    shape = rng.choice((
        array.shape, (1 << 31,), (1 << 32,), (1 << 16, 1 << 16), (1 << 62, 4), (0, 5), (-1, -4),
        (len(places) * 1024,), (len(places) * 8, 128), (max(len(places), 1) * 1024, 1),
    ))  # fmt: skip
    if rng.random() < 0.3:
        places = np.arange(len(places), dtype=np.uint32)
    if rng.random() < 0.5:
        del arrays[section]
    arrays[section + ":shape"] = np.array(shape, dtype=np.int64)
    arrays[section + ":places"], arrays[section + ":values"] = places, values
    return f"by {len(places)} cells of {shape}"


def _extreme(array: NDArray[Any], rng: Random) -> int:
    """A value that something may not expect."""
    info = np.iinfo(array.dtype)
    size = len(array)
    some = int(array.reshape(-1)[rng.randrange(array.size)]) if array.size else 0
    values = (0, 1, 2, -1, -2, info.min, info.max, info.max - 1, size, size - 1, size + 1, 27, 28,
              29, 31, 32, 255, some, some + 1, some - 1, rng.randrange(64), -rng.randrange(64),
              int(info.max) // 2, 1 << rng.randrange(info.bits - 1))  # fmt: skip
    return min(max(rng.choice(values), int(info.min)), int(info.max))


def _with_values(array: NDArray[Any], rng: Random) -> tuple[NDArray[Any], str]:
    if not array.size:
        return array, "as it is"
    changed = array.copy()
    flat = changed.reshape(-1)
    hows = []
    for _ in range(rng.choice((1, 1, 1, 2, 4))):
        place = rng.choice((0, len(flat) - 1, rng.randrange(len(flat)), rng.randrange(len(flat))))
        flat[place] = _extreme(array, rng)
        hows.append(f"[{place}] = {flat[place]}")
    return changed, " ".join(hows)


def _damaged(data: bytearray, rng: Random) -> Mutant:
    """Bytes flipped, lost or added."""
    match rng.randrange(5):
        case 0:
            end = rng.choice((rng.randrange(len(data)), rng.randrange(40), len(data) - 1))
            return Mutant(bytes(data[:end]), {}, f"cut at {end}")
        case 1:
            place = rng.randrange(len(data))
            more = bytes(rng.randrange(256) for _ in range(rng.choice((1, 8, 100))))
            return Mutant(bytes(data[:place] + more + data[place:]), {}, f"{more!r} at {place}")
        case 2:
            # Inside the header, whose text a stranger may have written by hand.
            length = int.from_bytes(data[:8], "little")
            place = 8 + rng.randrange(length)
            data[place] = rng.choice(b'{}[]",:0123456789-e\\u \xff\x00')
            return Mutant(bytes(data), {}, f"header byte {place} is {data[place]}")
    places = [rng.randrange(len(data)) for _ in range(rng.choice((1, 1, 2, 8)))]
    for place in places:
        data[place] ^= 1 << rng.randrange(8)
    return Mutant(bytes(data), {}, f"bits flipped at {places}")


def _replace(value: Any, rng: Random, path: tuple[str, ...] = ()) -> str:
    """Replace or leave out one value somewhere in a JSON value, and say how."""
    for name in path:
        value = value[name]
    while True:
        keys = sorted(value) if isinstance(value, dict) else range(len(value))
        if not keys:
            return "nothing"
        key = rng.choice(keys)
        below = value[key]
        path = (*path, str(key))
        if isinstance(below, dict | list) and below and rng.random() < 0.7:
            value = below
            continue
        break
    if rng.random() < 0.15:
        del value[key]
        return f"{'.'.join(path)} left out"
    # A copy: lists of one mutant must not be in the next one, nor in themselves.
    odd = copy.deepcopy(rng.choice(ODD))
    if isinstance(below, int) and rng.random() < 0.3:
        odd = below + rng.choice((-1, 1, 31, 32, 64))
    value[key] = odd
    return f"{'.'.join(path)}: {str(odd)[:30]!r}"
