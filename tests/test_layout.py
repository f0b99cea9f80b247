"""The artifact's file: what the container is, and that no damage gets past the reader."""

# Tests here say `expected == actual`.
# ruff: noqa: SIM300

import io
import os
import random
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from safetensors import numpy as safetensors_numpy
from safetensors import safe_open
from support import EXAMPLES, compiled, encoded, opened, python, sealed, tokenizer_of

from constrain.artifacts import Artifact, ArtifactError, TokenRefusedError, layout, load
from constrain.artifacts.prefix import boundaries
from constrain.artifacts.read import load_bytes
from constrain.artifacts.write import write_atomically
from constrain.compiler import Tokenizer

KINDS = ("canonical", "any")

# Each kind with its rows in the file, and with the rows left to the run time.
VARIANTS = tuple((kind, limit) for kind in KINDS for limit in (1_000_000, 0))

I64_MAX, I64_MIN = 2**63 - 1, -(2**63)

Arrays = dict[str, NDArray[Any]]
Change = Callable[[Arrays, str], NDArray[Any]]


@pytest.fixture(scope="module")
def letters(tmp_path_factory: pytest.TempPathFactory) -> Tokenizer:
    """The tokens a, b, ab and an end of text."""
    return tokenizer_of(
        tmp_path_factory.mktemp("letters"), "ab", ["a b"], added=[(3, "<eos>", True)]
    )


@pytest.fixture(scope="module")
def tiny(letters: Tokenizer) -> dict[tuple[str, int], Artifact]:
    """Artifacts small enough to try every bit of."""
    return {
        (kind, limit): compiled(
            's ::= "ab" | "b" s;', letters, kind, eos=["<eos>"], max_artifact_bytes=limit
        )
        for kind, limit in VARIANTS
    }


@pytest.fixture(scope="module")
def date(default_tokenizer: Tokenizer) -> dict[str, Artifact]:
    """The example grammar of dates with the default tokenizer, by kind."""
    text = (EXAMPLES / "date.ebnf").read_text(encoding="utf-8")
    return {kind: compiled(text, default_tokenizer, kind) for kind in KINDS}


def refused(data: bytes, verify: bool = True) -> str:
    """The message of the ``ArtifactError`` that reading ``data`` gives."""
    with pytest.raises(ArtifactError) as found:
        load_bytes(data, verify=verify, name="file.cst")
    message = str(found.value)
    assert message.startswith("file.cst: ")
    assert "\n" not in message
    return message


def exercise(artifact: Artifact) -> None:
    """All that a matcher does, from the start and one token further, with every id there is."""
    ids = range(-1, artifact.vocab_size + 33)
    for first in ids:
        matcher = artifact.matcher()
        if not taken(matcher.advance, first):
            continue
        assert isinstance(matcher.is_accepting, bool)
        matcher.fill(np.zeros(4, dtype=np.uint32))
        matcher.forced_tokens(8)
        for second in ids:
            if taken(matcher.advance, second):
                matcher.mask()
                matcher.rollback(1)
    boundaries(artifact, b"bab")
    for state in range(artifact.byte_dfa.states):
        artifact.origins_of(state)


def taken(advance: Callable[[int], None], token_id: int) -> bool:
    """Whether a token was taken."""
    try:
        advance(token_id)
    except TokenRefusedError:
        return False
    return True


# --- what is written


@pytest.mark.parametrize("kind", KINDS)
def test_the_real_library_reads_every_section(
    date: dict[str, Artifact], kind: str, tmp_path: Path
) -> None:
    """safetensors itself loads the file and sees the same arrays."""
    path = tmp_path / "date.cst"
    date[kind].save(path)

    found = safetensors_numpy.load_file(path)

    assert sorted(date[kind].arrays) == sorted(found)
    for name, array in date[kind].arrays.items():
        assert array.dtype == found[name].dtype
        assert np.array_equal(array, found[name])


def test_the_real_library_reads_the_metadata(date: dict[str, Artifact], tmp_path: Path) -> None:
    """safe_open shows the manifest and the header's checksum as metadata."""
    path = tmp_path / "date.cst"
    date["any"].save(path)

    with safe_open(path, framework="numpy") as file:
        metadata = file.metadata()

    assert ["constrain", "header_sha256"] == sorted(metadata)


@pytest.mark.parametrize("kind", KINDS)
def test_sections_stand_by_item_size_and_aligned(date: dict[str, Artifact], kind: str) -> None:
    """Larger items come first, then by name; data starts at a multiple of 8, items of theirs."""
    data = date[kind].to_bytes()
    _, described, body = opened(data)
    sizes = {name: array.dtype.itemsize for name, array in date[kind].arrays.items()}
    position = 0

    assert (len(data) - len(body)) % 8 == 0
    for name in sorted(sizes, key=lambda name: (-sizes[name], name)):
        start, end = described[name]["data_offsets"]
        assert position == start
        assert start % sizes[name] == 0
        position = end
    assert len(body) == position


@pytest.mark.parametrize("kind", KINDS)
def test_the_same_input_gives_the_same_bytes(
    default_tokenizer: Tokenizer, date: dict[str, Artifact], kind: str
) -> None:
    """Compiling twice gives one file."""
    text = (EXAMPLES / "date.ebnf").read_text(encoding="utf-8")

    assert date[kind].to_bytes() == compiled(text, default_tokenizer, kind).to_bytes()


@pytest.mark.parametrize("kind", KINDS)
def test_the_bytes_do_not_depend_on_the_hash_seed(date: dict[str, Artifact], kind: str) -> None:
    """Processes that hash strings in other ways write the same file."""
    grammar = str(EXAMPLES / "date.ebnf")
    command = ["-m", "constrain.cli", "compile", grammar, "--tokenization", kind, "-o", "-"]

    for seed in ("0", "1", "4242"):
        ran = python(*command, variables={"PYTHONHASHSEED": seed})
        assert date[kind].to_bytes() == ran.stdout


@pytest.mark.parametrize("kind", KINDS)
def test_reading_undoes_writing(date: dict[str, Artifact], kind: str, tmp_path: Path) -> None:
    """A file read and written again is the same file, mapped or from memory."""
    data = date[kind].to_bytes()
    path = tmp_path / "date.cst"
    path.write_bytes(data)

    assert data == load_bytes(data, verify=True).to_bytes()
    assert data == load(path, verify=True).to_bytes()
    assert date[kind].manifest == load(path).manifest


def test_arrays_of_any_byte_order_and_stride_are_written_alike() -> None:
    """The file is little-endian and dense whatever the arrays in memory are."""
    dense = np.arange(6, dtype="<i4").reshape(2, 3)
    others = (dense.astype(">i4"), np.asfortranarray(dense), np.repeat(dense, 2, axis=1)[:, ::2])

    for other in others:
        assert layout.encode({}, {"a": dense}) == layout.encode({}, {"a": other})


def test_a_type_that_the_format_lacks_is_not_written() -> None:
    """Arrays without a file type are a mistake of the caller."""
    with pytest.raises(TypeError, match="'a'"):
        layout.encode({}, {"a": np.zeros(1, dtype=np.float64)})


# --- damage


@pytest.mark.parametrize("verify", [True, False])
@pytest.mark.parametrize("kind", KINDS)
def test_a_truncated_file_is_refused(date: dict[str, Artifact], kind: str, verify: bool) -> None:
    """No beginning of a file is taken for a file: 200 lengths, and each around the header."""
    data = date[kind].to_bytes()
    header_end = 8 + int.from_bytes(data[:8], "little")
    lengths = {*random.Random(7).sample(range(len(data)), 200), *range(64), len(data) - 1}
    lengths.update(range(header_end - 64, header_end + 64))

    for length in sorted(lengths):
        refused(data[:length], verify)


@pytest.mark.parametrize("verify", [True, False])
def test_a_file_with_more_behind_it_is_refused(date: dict[str, Artifact], verify: bool) -> None:
    """Bytes behind the last section are damage."""
    assert "more than its sections" in refused(date["any"].to_bytes() + b"\0", verify)


@pytest.mark.parametrize("kind", KINDS)
def test_every_flipped_bit_is_found(tiny: dict[tuple[str, int], Artifact], kind: str) -> None:
    """Whatever bit of a file changes, reading it with ``verify`` refuses it."""
    data = bytearray(tiny[kind, 1_000_000].to_bytes())

    for place in range(len(data)):
        for bit in range(8):
            data[place] ^= 1 << bit
            with pytest.raises(ArtifactError):
                load_bytes(bytes(data), verify=True)
            data[place] ^= 1 << bit


@pytest.mark.parametrize("kind", KINDS)
def test_flipped_bits_of_the_header_are_found_without_verifying(
    tiny: dict[tuple[str, int], Artifact], kind: str
) -> None:
    """The header has a checksum that is always looked at."""
    data = bytearray(tiny[kind, 1_000_000].to_bytes())

    for place in range(8 + int.from_bytes(data[:8], "little")):
        for bit in range(8):
            data[place] ^= 1 << bit
            with pytest.raises(ArtifactError):
                load_bytes(bytes(data))
            data[place] ^= 1 << bit


SECTIONS = (
    "dfa.accepting",
    "dfa.classes",
    "dfa.live",
    "dfa.table",
    "origins.ids",
    "origins.offsets",
    "row_of",
    "rows",
    "tokens.accepting",
    "tokens.allowed",
    "tokens.allowed_offsets",
    "tokens.edge_offsets",
    "tokens.edge_targets",
    "tokens.edge_tokens",
    "tokens.family",
    "vocab.data",
    "vocab.kinds",
    "vocab.offsets",
)


@pytest.mark.parametrize("section", SECTIONS)
def test_flipped_bits_of_a_section_do_no_harm_unverified(
    tiny: dict[tuple[str, int], Artifact], section: str
) -> None:
    """Without ``verify`` a changed array is refused, or used without any other error."""
    chance = random.Random(section)
    found = [artifact for artifact in tiny.values() if section in artifact.arrays]
    assert found
    for artifact in found:
        data = bytearray(artifact.to_bytes())
        _, described, body = opened(bytes(data))
        start, end = described[section]["data_offsets"]
        first = len(data) - len(body)
        bits = range((first + start) * 8, (first + end) * 8)
        for bit in chance.sample(bits, min(len(bits), 64)):
            data[bit // 8] ^= 1 << bit % 8
            with suppress(ArtifactError):
                exercise(load_bytes(bytes(data)))
            data[bit // 8] ^= 1 << bit % 8


def changed(place: Any, value: int) -> Change:
    """A change: a section with ``value`` at ``place``."""

    def change(arrays: Arrays, name: str) -> NDArray[Any]:
        array = arrays[name].copy()
        array[place] = value
        return array

    return change


def wrapped(arrays: Arrays, name: str) -> NDArray[Any]:
    """Offsets that leave 64 bits at one end and come back at the other."""
    array = arrays[name].copy()
    array[1:4] = I64_MAX, I64_MIN, -1
    return array


def swapped(arrays: Arrays, name: str) -> NDArray[Any]:
    """A section backwards."""
    return arrays[name][::-1]


BAD_VALUES: tuple[tuple[str, str, Change], ...] = (
    ("a state past the last", "dfa.table", changed((1, 0), 99)),
    ("a negative state", "dfa.table", changed((1, 0), -1)),
    ("the dead state has a way out", "dfa.table", changed((0, 0), 1)),
    ("a column past the last", "dfa.classes", changed(7, 200)),
    ("no flag", "dfa.live", changed(1, 2)),
    ("an unknown kind", "vocab.kinds", changed(0, 3)),
    ("a family past the last", "tokens.family", changed(0, 99)),
    ("a negative family", "tokens.family", changed(0, -1)),
    ("a state past the last", "tokens.edge_targets", changed(0, 99)),
    ("a negative state", "tokens.edge_targets", changed(0, -1)),
    ("a token past the last", "tokens.edge_tokens", changed(0, 99)),
    ("out of order", "tokens.edge_tokens", swapped),
    ("a row past the last", "row_of", changed(0, 99)),
    ("a negative row", "row_of", changed(0, -1)),
    ("a token past the last", "merges", changed((0, 0), 99)),
    ("a negative token", "merges", changed((0, 2), -1)),
    ("a token made of itself", "merges", changed((0, 0), 2)),
    ("an origin past the last", "origins.ids", changed(0, 99)),
    *(
        (f"offsets that {what}", section, change)
        for section in (
            "origins.offsets",
            "tokens.allowed_offsets",
            "tokens.edge_offsets",
            "vocab.offsets",
        )
        for what, change in (
            ("begin late", changed(0, 1)),
            ("fall", changed(1, 77)),
            ("end early", changed(-1, 0)),
            ("are negative", changed(1, -1)),
            ("wrap round", wrapped),
        )
        if (section, what) != ("tokens.allowed_offsets", "wrap round")  # It has too few.
    ),
)


@pytest.mark.parametrize(
    ("section", "change"),
    [
        pytest.param(section, change, id=f"{section}: {what}")
        for what, section, change in BAD_VALUES
    ],
)
def test_values_that_do_not_fit_are_refused(
    tiny: dict[tuple[str, int], Artifact],
    section: str,
    change: Change,
) -> None:
    """Right checksums do not help tables that lead out of themselves."""
    found = [artifact for artifact in tiny.values() if section in artifact.arrays]
    assert found
    for artifact in found:
        data = encoded(artifact, {section: change(dict(artifact.arrays), section)})
        refused(data)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("word", [0xFFFFFFFF, 0xF, 1 << 31], ids=["all", "tokens", "past them"])
def test_rows_that_allow_too_much_do_no_harm(
    tiny: dict[tuple[str, int], Artifact], kind: str, word: int
) -> None:
    """A row with tokens that the automaton cannot take is refused, at the latest when used."""
    artifact = tiny[kind, 1_000_000]
    rows = np.full_like(artifact.arrays["rows"], word)

    with suppress(ArtifactError):
        exercise(load_bytes(encoded(artifact, {"rows": rows})))


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda array: None, "is missing"),
        (lambda array: array.astype("<u2"), "does not fit"),
        (lambda array: array[np.newaxis], "does not fit"),
    ],
    ids=["missing", "another type", "another shape"],
)
def test_each_section_is_needed_as_it_is(
    tiny: dict[tuple[str, int], Artifact],
    variant: tuple[str, int],
    change: Callable[[NDArray[Any]], NDArray[Any] | None],
    message: str,
) -> None:
    """A section that is missing or of another type or shape is named."""
    for name, array in tiny[variant].arrays.items():
        assert message in refused(encoded(tiny[variant], {name: change(array)}))


MANIFEST_ERRORS: tuple[dict[str, Any], ...] = (
    {"kind": "earley"},
    {"kind": 1},
    {"tokenization": None},
    {"vocab_size": 0},
    {"vocab_size": 5},
    {"vocab_size": 2**70},
    {"vocab_size": 4.0},
    {"vocab_size": True},
    {"eos": []},
    {"eos": [4]},
    {"eos": [-1]},
    {"eos": "33"},
    {"eos": None},
    {"eos": [3.0]},
    {"source": 5},
    {"splits": 1},
    {"byte_start": 99},
    {"byte_start": -1},
    {"token_start": 99},
    {"token_start": -1},
    {"counts": {"dfa_states": 1.5}},
    {"counts": []},
    {"origins": [{"rule": "s"}]},
    {"origins": [{"rule": "s", "spans": [[1]]}]},
    {"origins": ["s"]},
    {"origins": 3},
    {"origins": []},
    {"format": None},
    {"format": "1.0"},
    {"format": [1]},
    {"format": [1, 0, 0]},
    {"format": [True, 0]},
)


@pytest.mark.parametrize("change", MANIFEST_ERRORS, ids=str)
def test_a_manifest_that_makes_no_sense_is_refused(
    tiny: dict[tuple[str, int], Artifact], change: dict[str, Any]
) -> None:
    """Fields of the wrong type, or that point out of the tables."""
    manifest, described, body = opened(tiny["canonical", 1_000_000].to_bytes())

    refused(sealed({**manifest, **change}, described, body))


def test_an_infinite_offset_is_refused(tiny: dict[tuple[str, int], Artifact]) -> None:
    """JSON can hold numbers that no integer is."""
    manifest, described, body = opened(tiny["any", 1_000_000].to_bytes())
    origins = [{"rule": "s", "spans": [[float("inf"), 1]]}] * len(manifest["origins"])

    refused(sealed({**manifest, "origins": origins}, described, body))


def test_an_origin_without_a_name_is_refused(tiny: dict[tuple[str, int], Artifact]) -> None:
    """A rule's name is text."""
    manifest, described, body = opened(tiny["any", 1_000_000].to_bytes())
    origins = [{"rule": [5], "spans": [[0, 1]]}] * len(manifest["origins"])

    refused(sealed({**manifest, "origins": origins}, described, body))


@pytest.mark.parametrize("field", ["kind", "vocab_size", "eos", "origins", "source", "format"])
def test_a_manifest_without_a_field_is_refused(
    tiny: dict[tuple[str, int], Artifact], field: str
) -> None:
    """Every field is needed."""
    manifest, described, body = opened(tiny["any", 1_000_000].to_bytes())
    del manifest[field]

    assert "manifest is damaged" in refused(sealed(manifest, described, body))


@pytest.mark.parametrize("text", ["[]", "{", "7", '"x"', "", "[" * 100_000])
def test_a_manifest_that_is_no_object_is_refused(
    tiny: dict[tuple[str, int], Artifact], text: str
) -> None:
    """The manifest is JSON, and an object."""
    _, described, body = opened(tiny["any", 1_000_000].to_bytes())

    assert "manifest is damaged" in refused(sealed(text, described, body))


SECTION_ERRORS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("negative extent", {"shape": [-1]}),
    ("fraction", {"shape": [0.0]}),
    ("true", {"shape": [False]}),
    ("no list", {"shape": 0}),
    ("no shape", {"shape": None}),
    ("size unlike shape", {"shape": [1]}),
    ("one offset", {"data_offsets": [0]}),
    ("negative offset", {"data_offsets": [-100, 0]}),
    ("backward offsets", {"data_offsets": [5, 4]}),
    ("offset past the end", {"shape": [1], "data_offsets": [0, 1]}),
    ("offsets past 64 bits", {"data_offsets": [2**80, 2**80]}),
    ("overlap", {"shape": [1], "data_offsets": [-1, 0]}),
    ("65 axes", {"shape": [0] * 65}),
    ("extent past 64 bits", {"shape": [0, 2**70]}),
    ("product past 64 bits", {"shape": [0, 2**40, 2**40]}),
)


@pytest.mark.parametrize(
    "change",
    [pytest.param(change, id=what) for what, change in SECTION_ERRORS],
)
def test_a_section_described_wrongly_is_refused(
    tiny: dict[tuple[str, int], Artifact], change: dict[str, Any]
) -> None:
    """Descriptions that are no shape, no place, or no place inside the file."""
    manifest, described, body = opened(tiny["any", 1_000_000].to_bytes())
    end = len(body)
    entry = {"dtype": "U8", "shape": [0], "data_offsets": [end, end], **change}
    entry["data_offsets"] = [end + n if abs(n) < 9 else n for n in entry["data_offsets"]]

    refused(sealed(manifest, {**described, "extra": entry}, body))


def test_sections_that_leave_holes_or_overlap_are_refused(
    tiny: dict[tuple[str, int], Artifact],
) -> None:
    """Every byte of the data belongs to one section."""
    manifest, described, body = opened(tiny["any", 1_000_000].to_bytes())
    twice = {**described, "extra": described["dfa.table"]}
    holes = {name: entry for name, entry in described.items() if name != "dfa.accepting"}

    assert "overlap or leave holes" in refused(sealed(manifest, twice, body))
    assert "overlap or leave holes" in refused(sealed(manifest, holes, body))


@pytest.mark.parametrize("entry", [None, [], 5, "U8", {}])
def test_a_section_that_is_no_description_is_refused(
    tiny: dict[tuple[str, int], Artifact], entry: Any
) -> None:
    """The header maps names to objects."""
    manifest, described, body = opened(tiny["any", 1_000_000].to_bytes())

    assert "no valid description" in refused(sealed(manifest, {**described, "x": entry}, body))


def test_a_header_nested_beyond_the_stack_is_refused(
    tiny: dict[tuple[str, int], Artifact],
) -> None:
    """Depths around the recursion limit are no way out of the reader."""
    manifest, described, body = opened(tiny["any", 1_000_000].to_bytes())
    end = [len(body), len(body)]
    limit = sys.getrecursionlimit()
    for depth in range(limit - 200, limit + 50):
        nested: list[Any] = []
        for _ in range(depth):
            nested = [nested]
        extra = {"dtype": "U8", "shape": [0], "data_offsets": end, "more": nested}
        sys.setrecursionlimit(limit * 3)
        data = sealed(manifest, {**described, "extra": extra}, body)
        sys.setrecursionlimit(limit)
        with suppress(ArtifactError):
            load_bytes(data)


# --- other files, other versions


def other_files() -> Iterator[tuple[str, bytes, str]]:
    """Name, content, and what the message says."""
    yield "safetensors", safetensors_numpy.save({"weight": np.zeros(3)}), "something else"
    metadata = {"constrain": "1"}
    yield "metadata", safetensors_numpy.save({"w": np.zeros(3)}, metadata), "manifest is damaged"
    yield "text", b"start ::= 'a';\n" * 9, "no safetensors header"
    yield "short", b"abc", "3 bytes, too few"
    yield "zeros", bytes(100), "not valid JSON"
    yield "binary", random.Random(3).randbytes(5000), "no safetensors header"
    yield "long header", (50).to_bytes(8, "little") + b"{}", "truncated"
    yield "not UTF-8", (2).to_bytes(8, "little") + b"\xff\xfe", "not UTF-8"
    yield "a list", (2).to_bytes(8, "little") + b"[]", "not a JSON object"
    yield "no metadata", (2).to_bytes(8, "little") + b"{}", "something else"


@pytest.mark.parametrize(
    ("content", "message"), [pytest.param(c, m, id=name) for name, c, m in other_files()]
)
def test_other_files_are_refused(content: bytes, message: str, tmp_path: Path) -> None:
    """What is no artifact is called so in one line with the file's name."""
    path = tmp_path / "other.cst"
    path.write_bytes(content)

    assert message in refused(content)
    with pytest.raises(ArtifactError, match=r"^\S*other\.cst: [^\n]+$"):
        load(path)


def test_an_empty_file_is_refused(tmp_path: Path) -> None:
    """Nothing cannot be mapped; it is refused as an artifact, not as a system error."""
    path = tmp_path / "empty.cst"
    path.touch()

    with pytest.raises(ArtifactError, match=r"empty\.cst: the file is empty"):
        load(path)
    assert "0 bytes" in refused(b"")


def test_a_file_that_is_not_there_is_a_system_error(tmp_path: Path) -> None:
    """A missing file and a folder are what the system calls them."""
    with pytest.raises(FileNotFoundError):
        load(tmp_path / "no.cst")
    with pytest.raises(OSError, match=str(tmp_path.name)):
        load(tmp_path)


@pytest.mark.parametrize("version", [[0, 9], [2, 0], [77, 5]])
def test_another_major_version_is_refused(
    tiny: dict[tuple[str, int], Artifact], version: list[int]
) -> None:
    """The message names both versions and what to do."""
    manifest, described, body = opened(tiny["any", 1_000_000].to_bytes())

    message = refused(sealed({**manifest, "format": version}, described, body))

    assert f"format version {version[0]}.{version[1]}" in message
    assert "reads 1.x" in message
    assert "compile the grammar again" in message


@pytest.mark.parametrize("variant", VARIANTS)
def test_what_a_later_minor_version_adds_is_ignored(
    tiny: dict[tuple[str, int], Artifact], variant: tuple[str, int]
) -> None:
    """Unknown sections, types and fields of the manifest change nothing."""
    artifact = tiny[variant]
    manifest, described, body = opened(artifact.to_bytes())
    end = len(body)
    later = {
        **described,
        "zz.flags": {"dtype": "U8", "shape": [3], "data_offsets": [end, end + 3]},
        "zz.weights": {"dtype": "F16", "shape": [2], "data_offsets": [end + 3, end + 7]},
    }
    data = sealed({**manifest, "format": [1, 99], "hints": {}}, later, body + b"abcdefg")

    found = load_bytes(data, verify=True)

    assert artifact.manifest == found.manifest
    for state in range(len(artifact.arrays["dfa.accepting"])):
        if variant[0] == "any":
            assert artifact.rows.row(state).tolist() == found.rows.row(state).tolist()
    exercise(found)


# --- writing


def test_a_failed_write_leaves_the_old_file(tmp_path: Path) -> None:
    """When the content ends in an error, the file keeps what it held, and nothing is left."""
    path = tmp_path / "a.cst"
    path.write_bytes(b"old")

    def chunks() -> Iterator[bytes]:
        yield b"new"
        raise OSError("no space left")

    with pytest.raises(OSError, match="no space left"):
        write_atomically(path, chunks())

    assert b"old" == path.read_bytes()
    assert [path] == list(tmp_path.iterdir())


def test_an_interrupted_write_leaves_nothing(tmp_path: Path) -> None:
    """An interruption is cleaned up like an error."""

    def chunks() -> Iterator[bytes]:
        yield b"new"
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_atomically(tmp_path / "a.cst", chunks())

    assert [] == list(tmp_path.iterdir())


def test_a_failed_rename_leaves_the_old_file(
    tiny: dict[tuple[str, int], Artifact], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The last step may fail too."""
    path = tmp_path / "a.cst"
    path.write_bytes(b"old")

    def refuse(*_: object) -> None:
        raise PermissionError(13, "not now")

    monkeypatch.setattr(Path, "replace", refuse)
    monkeypatch.setattr(os, "replace", refuse)

    with pytest.raises(PermissionError):
        tiny["any", 0].save(path)

    monkeypatch.undo()
    assert b"old" == path.read_bytes()
    assert [path] == list(tmp_path.iterdir())


def test_a_folder_that_is_not_there_is_a_system_error(
    tiny: dict[tuple[str, int], Artifact], tmp_path: Path
) -> None:
    """Folders are not made on the way."""
    with pytest.raises(FileNotFoundError):
        tiny["any", 0].save(tmp_path / "no" / "a.cst")

    assert [] == list(tmp_path.iterdir())


def test_writing_replaces_the_file_whole(
    tiny: dict[tuple[str, int], Artifact], tmp_path: Path
) -> None:
    """A reader that has mapped the old file keeps it."""
    path = tmp_path / "a.cst"
    tiny["any", 0].save(path)
    before = load(path)

    tiny["canonical", 1_000_000].save(path)

    assert tiny["any", 0].to_bytes() == before.to_bytes()
    assert "token-dfa" == load(path).manifest.kind
    assert [path] == list(tmp_path.iterdir())


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such permissions")
def test_files_get_the_usual_permissions(
    tiny: dict[tuple[str, int], Artifact], tmp_path: Path
) -> None:
    """Who may read the file is what the umask says."""
    before = os.umask(0o027)
    try:
        tiny["any", 0].save(tmp_path / "a.cst")
    finally:
        os.umask(before)

    assert 0o640 == (tmp_path / "a.cst").stat().st_mode & 0o777


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no named pipes in folders")
def test_a_target_that_is_no_file_is_not_replaced(tmp_path: Path) -> None:
    """A pipe or a device (as /dev/null) is written to or refused, but stays what it is."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        with suppress(OSError, ArtifactError):
            write_atomically(pipe, [b"data"])
    finally:
        os.close(reader)

    assert pipe.is_fifo()


# --- in memory


def test_arrays_of_an_artifact_are_read_only(
    tiny: dict[tuple[str, int], Artifact], tmp_path: Path
) -> None:
    """Neither a compiled nor a loaded artifact can be changed by accident."""
    path = tmp_path / "a.cst"
    tiny["any", 0].save(path)
    for artifact in (tiny["any", 0], load(path), load_bytes(path.read_bytes())):
        for array in artifact.arrays.values():
            assert array.flags.writeable is False


def test_bytes_of_other_buffers_are_read(tiny: dict[tuple[str, int], Artifact]) -> None:
    """A view and a buffer that can be written are as good as bytes."""
    artifact = tiny["any", 1_000_000]
    data = artifact.to_bytes()

    assert artifact.manifest == load_bytes(memoryview(data), verify=True).manifest
    assert artifact.manifest == load_bytes(io.BytesIO(data).getbuffer(), verify=True).manifest
