"""Entries of the cache that others wrote, with checksums that are right, change no mask."""

# Tests here say `expected == actual`.
# ruff: noqa: SIM300

import json
import os
import random
import shutil
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, ClassVar, TypeVar

import numpy as np
import pytest
from numpy.typing import NDArray
from support import encoded, sampled, written
from support.fuzzing import all_bytes_tokenizer, mutations
from support.fuzzing.calls import tried

from constrain.artifacts.container import sections
from constrain.compiler import compile_grammar, load_tokenizer
from constrain.compiler.files.cache import Cache
from constrain.compiler.files.cache_key import CacheKey

pytestmark = pytest.mark.quick

T = TypeVar("T")

CODE = 32

NESTED = 'start ::= "(" (start (", " start)*)? ")" | #"[a-c]{1,4}" | " xyz";'
SEQUENCE = '#"(abc|xyz| a[0-9]{2}| bc)*"'

# Normalizer, grammar, how it is compiled. Together their tables are of all kinds.
JOBS: dict[str, tuple[str | None, str, dict[str, Any]]] = {
    "canonical DFA": (None, f"start ::= {SEQUENCE};", {"method": "cartesian"}),
    "network": (None, NESTED, {"engine": "network", "prewarm": 0}),
    # Its table has megabytes.
    "normalized": ("NFC", NESTED, {"engine": "network", "prewarm": 0}),
}
KINDS = ["normal-form", "pairs", "pretokenizer", "tokenizer", "vocabulary"]


class Remembering(Cache):
    """A cache for which each value is built once for all tests; ``built``: the kinds of those that
    it asked for since."""

    values: ClassVar[dict[tuple[str, str], Any]] = {}

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.built: list[str] = []

    def made(self, kind: str, key: str, build: Callable[[], T], classes: Iterable[type] = ()) -> T:
        def remembered() -> T:
            self.built.append(kind)
            if (kind, key) not in self.values:
                self.values[kind, key] = build()
            value: T = self.values[kind, key]
            return value

        return super().made(kind, key, remembered, classes)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two tokenizers that differ in their normalizer."""
    return furnish(tmp_path_factory.mktemp("cache"))


def furnish(folder: Path) -> Path:
    """Write the tokenizers."""
    document = all_bytes_tokenizer()
    for form in (None, "NFC"):
        normalizer = form and {"type": form}
        written(folder / f"{form}.json", {**document, "normalizer": normalizer})
    return folder


def artifact_of(job: str, folder: Path, cache: Cache | None) -> bytes:
    """What a job compiles to, with all tables of the tokenizer out of the cache."""
    form, grammar, given = JOBS[job]
    artifact = compile_grammar(
        grammar,
        dialect="kbnf",
        tokenizer=load_tokenizer(folder / f"{form}.json", cache=cache),
        tokenization="canonical",
        eos=["<end>"],
        cache=cache,
        **given,
    )
    return encoded(artifact)


def flaw_of(job: str, number: int, folder: Path, expected: bytes, kept: Path) -> str:
    """What is wrong with what is compiled with a cache one of whose entries is another's; ``kept``:
    the entries as they are."""
    rng = random.Random(f"{job} {number}")
    place = folder / "used"
    shutil.rmtree(place, ignore_errors=True)
    shutil.copytree(kept, place)
    entries = sorted(place.iterdir())
    chosen = rng.choice(entries)
    content = chosen.read_bytes()
    what = poison(rng, chosen, entries)
    is_same = chosen.is_file() and chosen.read_bytes() == content
    cache, found = Remembering(place), list[bytes]()

    ended = tried(lambda: found.append(artifact_of(job, folder, cache)))

    kind = chosen.name.rpartition("-")[0]
    if ended.flaw:
        return f"{job} {number}, {kind}, {what}: {ended.flaw}"
    if [expected] != found:
        return f"{job} {number}, {kind}, {what}: another artifact"
    if cache.built != [] if is_same else cache.built != [kind]:
        return f"{job} {number}, {kind}, {what}: built {cache.built}"
    if not chosen.is_dir() and (chosen.is_symlink() or chosen.read_bytes() != content):
        return f"{job} {number}, {kind}, {what}: it is not as it was"
    return ""


def poison(rng: random.Random, path: Path, entries: list[Path]) -> str:
    """Let an entry be what somebody else wrote; what that is."""
    content = path.read_bytes()
    way = rng.randrange(12)
    if way < 8:
        found = sections.decode(content[CODE:], verify=True)
        arrays = fitting(rng, {name: np.array(a) for name, a in found.arrays.items()})
        return forge(rng, path, content, found.manifest, arrays)
    if way == 8:
        path.write_bytes(content[: rng.randrange(len(content))])
        return "cut short"
    if way == 9:
        changed = bytearray(content)
        changed[rng.choice((rng.randrange(CODE + 400), rng.randrange(len(content))))] ^= 1
        path.write_bytes(changed)
        return "a bit"
    if way == 10:
        other = rng.choice([entry for entry in entries if entry != path])
        path.write_bytes(other.read_bytes())
        return f"{other.name} by its name"
    return put_what_is_no_file(rng, path, entries)


def fitting(rng: random.Random, arrays: dict[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """Arrays of which some have other values: such as stand in them, or fewer."""
    names = sorted(name for name in arrays if arrays[name].size)
    for name in rng.sample(names, min(len(names), rng.choice((1, 1, 2, 5)))):
        array = arrays[name]
        if name == "about":
            value = mutations.value(rng, json.loads(array.tobytes()))
            arrays[name] = np.frombuffer(json.dumps(value).encode("ascii"), dtype=np.uint8)
            continue
        flat, places = array.ravel(), [rng.randrange(array.size) for _ in range(rng.choice((1, 9)))]
        match rng.randrange(6):
            case 0:
                arrays[name] = array[: rng.randrange(len(array))]
            case 1:
                arrays[name] = array[:-1]
            case 2:
                flat[places] = flat[[rng.randrange(array.size) for _ in places]]
            case 3:
                flat[places] = np.clip(flat[places], 1, None) - 1
            case 4:
                flat[places] = np.minimum(flat[places], flat.max() - 1) + 1 if flat.max() else 0
            case _:
                arrays[name] = array[::-1]
    return arrays


def forge(
    rng: random.Random,
    path: Path,
    content: bytes,
    about: dict[str, Any],
    arrays: dict[str, NDArray[Any]],
) -> str:
    """An entry of these arrays with right checksums, by somebody who does not have the key."""
    plain = b"".join(sections.encode({n: about[n] for n in ("kind", "key")}, arrays))
    match rng.randrange(5):
        case 0:
            path.write_bytes(plain)
            return "no code"
        case 1:
            path.write_bytes(rng.randbytes(CODE) + plain)
            return "a code by chance"
        case 2:
            path.write_bytes(bytes(CODE) + plain)
            return "zeros for a code"
        case 3:
            path.write_bytes(content[:CODE] + plain)
            return "the code of what was there"
        case _:
            theirs = Cache(path.parent.parent / "theirs")
            theirs.key = CacheKey(rng.randbytes(32), "", lasts=rng.random() < 0.5)
            theirs.made(about["kind"], about["key"], lambda: arrays)
            [made] = theirs.entries()
            made.replace(path)
            return "the code of another key"


def put_what_is_no_file(rng: random.Random, path: Path, entries: list[Path]) -> str:
    """Something else by the name of an entry."""
    if sys.platform == "win32":
        path.unlink()
        return "nothing"
    kind = rng.choice(("pipe", "folder", "device", "link", "loop", "unreadable", "nothing"))
    if kind == "unreadable":
        path.write_bytes(b"x" + path.read_bytes()[1:])
        path.chmod(0)
        return kind
    path.unlink()
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    elif kind == "device":
        path.symlink_to(rng.choice(("/dev/zero", "/dev/null", "/dev/random")))
    elif kind == "link":
        path.symlink_to(rng.choice([entry for entry in entries if entry != path]))
    elif kind == "loop":
        path.symlink_to(path)
    return kind


@sampled("job", ["canonical DFA", "network"], list(JOBS))
def test_entries_that_others_wrote_change_no_mask(
    job: str, folder: Path, full: bool, record_property: Callable[[str, object], None]
) -> None:
    """Of all kinds, with values that fit: what is compiled is what is compiled with an empty cache,
    and the entry is replaced by the user's own."""
    count, kept = 700 if full else 4, folder / job
    cache = Remembering(kept)
    expected = artifact_of(job, folder, None) if full else artifact_of(job, folder, cache)
    assert expected == artifact_of(job, folder, cache)
    assert {path.name.rpartition("-")[0] for path in kept.iterdir()} <= {*KINDS}

    flaws = [flaw_of(job, number, folder, expected, kept) for number in range(count)]
    record_property("entries", count)

    assert [] == [flaw for flaw in flaws if flaw]


def test_the_jobs_have_tables_of_all_kinds(folder: Path, full: bool) -> None:
    """So that no kind of entry is left out."""
    found = set()
    for job in JOBS if full else ("canonical DFA", "network"):
        artifact_of(job, folder, Remembering(folder / job))
        found |= {path.name.rpartition("-")[0] for path in (folder / job).iterdir()}

    assert KINDS[0 if full else 1 :] == sorted(found)
