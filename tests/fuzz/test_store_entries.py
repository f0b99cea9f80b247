"""Entries of stores and shared tables that strangers changed are served right, or not at all."""

# Tests here say `expected == actual`.
# ruff: noqa: SIM300

import random
import shutil
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

import pytest
from support import opened, sealed
from support.fuzzing import mutations, small_tokenizer
from support.fuzzing.calls import Ended, called, tried
from support.stores import masks_of

from constrain.artifacts.store.store import Store
from constrain.compiler import compile_grammar, load_tokenizer

pytestmark = pytest.mark.quick

GROUPS = ("whole", "thin", "tables", "others")

PATTERN = "(abc|a[0-9]{2})*"


@pytest.fixture(scope="module")
def room(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a store of two artifacts, one of them with shared tables."""
    return furnish(tmp_path_factory.mktemp("stores"))


def key_of(number: int) -> str:
    """A key."""
    return sha256(bytes([number])).hexdigest()


WHOLE, THIN = key_of(0), key_of(1)


def furnish(folder: Path) -> Path:
    """Fill a store, and note the masks of its artifacts."""
    tokenizer = load_tokenizer(small_tokenizer(folder))
    artifact = compile_grammar(PATTERN, dialect="regex", tokenizer=tokenizer, tokenization="any")
    store = Store(folder / "filled", folder=folder / "copies")
    store.put(WHOLE, artifact)
    store.put(THIN, artifact, thin=True)
    return folder


def flaws_of(group: str, number: int, room: Path, full: bool) -> dict[str, str]:
    """What is wrong with what a store does with one changed file."""
    del full
    rng = random.Random(f"{group} {number}")
    place = room / "store"
    shutil.rmtree(place, ignore_errors=True)
    shutil.copytree(room / "filled", place)
    files = [path for path in sorted(place.rglob("*")) if path.is_file()]
    chosen = next(
        path
        for path in files
        if (path.suffix == ".tok") == (group == "tables")
        and (group != "whole" or WHOLE in path.name)
        and (group != "thin" or THIN in path.name)
    )
    is_sealed = rng.random() < 0.5
    contents = [path.read_bytes() for path in files]
    data = (sealed_again if is_sealed else changed)(rng, chosen.read_bytes(), contents)
    if group == "others":  # Names and files that are none of a store's.
        chosen = (
            place
            / rng.choice(("xx", "..x", "\u202e", "a\nb"))
            / rng.choice(
                ("y.cst", "\x1b[31m.cst", "z" * 64 + ".cst", key_of(3) + ".cst", ".tok", "no")
            )
        )
        chosen.parent.mkdir(exist_ok=True)
    is_harmless = group == "others" or chosen.read_bytes() == data
    chosen.write_bytes(data)
    flaws = {}
    for what, ended in answers(rng, place, room, is_harmless, is_sealed and not is_harmless):
        if ended.flaw:
            flaws[ended.flaw] = f"{group} {number}: {what}"
    return flaws


def changed(rng: random.Random, data: bytes, others: list[bytes]) -> bytes:
    """A file that has become another."""
    return mutations.text(rng, data, others) if rng.random() < 0.5 else flipped(rng, data)


def sealed_again(rng: random.Random, data: bytes, others: list[bytes]) -> bytes:
    """A file with another manifest or other sections, and a header that its checksum holds for."""
    manifest, described, body = opened(data)
    match rng.randrange(3):
        case 0:
            manifest = mutations.value(rng, manifest)
        case 1:
            described = mutations.value(rng, described)
        case _:
            body = flipped(rng, body)
    try:
        return sealed(manifest, described, body)
    except (TypeError, UnicodeError):  # What is no header at all.
        return changed(rng, data, others)


def flipped(rng: random.Random, data: bytes) -> bytes:
    """Some bytes others."""
    found = bytearray(data)
    for _ in range(rng.choice((1, 1, 3, 20))):
        found[rng.randrange(len(found))] = rng.randrange(256)
    return bytes(found)


def answers(
    rng: random.Random, place: Path, room: Path, is_harmless: bool, may_lie: bool
) -> list[tuple[str, Ended]]:
    """What the library and the command line say of both artifacts. One that says what it is not,
    with right checksums, need not be found out (``may_lie``)."""

    copies = room / "copies"

    def get() -> None:
        store, filled = Store(place, folder=copies), Store(room / "filled", folder=copies)
        for key in (WHOLE, THIN):
            whole, found = filled.get(key), store.get(key)
            assert whole is not None
            assert found is not None or not is_harmless
            assert found is None or may_lie or masks_of(whole) == masks_of(found)
            store.put(key, whole, thin=key == THIN)
            found = store.get(key)
            assert found is not None
            assert may_lie or masks_of(whole) == masks_of(found)

    store = ("--store", str(place))
    call: tuple[str, ...] = rng.choice(
        (
            ("verify", *store),
            ("verify", *store, "--format", "json"),
            ("ls", *store),
            ("get", THIN, *store, "-o", str(room / "got.cst")),
            ("gc", *store, "--max-bytes", "10"),
        )
    )
    return [("get", tried(get)), (" ".join(call), called("store", *call))]


@pytest.mark.parametrize("group", GROUPS)
def test_a_store_serves_what_was_put_or_nothing(
    group: str, room: Path, full: bool, record_property: Callable[[str, object], None]
) -> None:
    """A changed entry, or one with changed tables, is not served, and written again by the next."""
    count, flaws = 1_000 if full else 4, {}
    for number in range(count):
        flaws.update(flaws_of(group, number, room, full))
    record_property("files", count)

    assert {} == flaws
