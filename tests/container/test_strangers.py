"""Artifacts that a stranger wrote, with right checksums, are refused by name or do no harm."""

# Tests here say `expected == actual`.
# ruff: noqa: SIM300

import json
import os
import resource
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support import encoded, opened, sealed, tokenizer_of
from support.container import refused
from support.wordpiece import compiled as compiled_by_words
from support.wordpiece import tokenizer_of as words_of

from constrain.artifacts import Artifact, ArtifactError, load
from constrain.artifacts.container import opening
from constrain.artifacts.container.sections import MOST_TOKEN_BYTES, decode, encode
from constrain.artifacts.container.sparse import filled_cells
from constrain.artifacts.dfa.stacked_dfas import StackedDfas
from constrain.artifacts.errors import TokenRefusedError
from constrain.artifacts.read import load_bytes
from constrain.compiler import Tokenizer, compile_grammar
from constrain.compiler.inspection.density import density_of

pytestmark = pytest.mark.quick


@pytest.fixture(scope="module")
def tokenizer(tmp_path_factory: pytest.TempPathFactory) -> Tokenizer:
    """Four tokens."""
    folder = tmp_path_factory.mktemp("few")
    return tokenizer_of(folder, "ab", ["a b"], added=[(3, "<eos>", True)])


@pytest.fixture(scope="module")
def artifact(tokenizer: Tokenizer) -> Artifact:
    """With mask rows in the file."""
    made = compile_grammar("(ab)*", dialect="regex", tokenizer=tokenizer, tokenization="any")
    assert "rows" in made.arrays
    return made


def resident() -> int:
    """The most bytes that were resident so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def with_header(data: bytes, text: bytes) -> bytes:
    """A file with another header."""
    end = 8 + int.from_bytes(data[:8], "little")
    return len(text).to_bytes(8, "little") + text + data[end:]


def header_of(data: bytes) -> bytes:
    return data[8 : 8 + int.from_bytes(data[:8], "little")]


def test_sections_that_are_not_aligned_are_refused(artifact: Artifact) -> None:
    """By one more space after the header, and by sections that stand in another order."""
    data = artifact.to_bytes()
    assert "multiple of 8" in refused(with_header(data, header_of(data) + b" "))
    assert artifact.manifest == load_bytes(with_header(data, header_of(data) + b" " * 8)).manifest

    manifest, described, body = opened(data)
    shift = len(artifact.arrays["dfa.accepting"])
    first = described["dfa.accepting"]["data_offsets"][0]
    for entry in described.values():
        if entry["data_offsets"][0] < first:
            entry["data_offsets"] = [place + shift for place in entry["data_offsets"]]
    described["dfa.accepting"]["data_offsets"] = [0, shift]
    moved = body[first : first + shift] + body[:first] + body[first + shift :]
    assert "is not aligned" in refused(sealed(manifest, described, moved), verify=False)


def test_bytes_that_are_not_aligned_are_read_as_others(artifact: Artifact) -> None:
    """As those inside a larger message are."""
    row = artifact.matcher().mask().tolist()
    for begin in range(1, 9):
        data = memoryview(b"x" * begin + artifact.to_bytes())[begin:]
        assert row == load_bytes(data).matcher().mask().tolist()


@pytest.mark.parametrize("bit", [31, 4])
def test_rows_with_bits_at_or_beyond_v_are_refused_when_they_are_used(
    artifact: Artifact, bit: int
) -> None:
    """The first row is used where a matcher begins, each time."""
    rows = artifact.arrays["rows"].copy()
    rows |= np.uint32(1 << bit)
    damaged = load_bytes(encoded(artifact, {"rows": rows}))
    for _ in range(2):
        with pytest.raises(ArtifactError, match="section 'rows' is damaged"):
            damaged.matcher()


def test_a_token_of_megabytes_is_refused(artifact: Artifact) -> None:
    """A walk takes a step for each byte of the longest; one that is no text may be longer."""
    vocabulary = {
        "vocab.data": np.full(2_000_000, 97, dtype=np.uint8),
        "vocab.offsets": np.array([0, 2_000_000, *[2_000_000] * 3], dtype=np.int64),
    }
    message = refused(encoded(artifact, vocabulary))
    assert f"a token has 2,000,000 bytes, and {MOST_TOKEN_BYTES:,} are the most" in message
    vocabulary["vocab.kinds"] = np.array([1, 0, 0, 1], dtype=np.uint8)
    assert 4 == load_bytes(encoded(artifact, vocabulary)).vocab_size


@pytest.mark.parametrize(
    "change",
    [
        {"words.longest": np.array([-1], dtype=np.int32)},
        {"words.longest": np.array([2**31 - 1], dtype=np.int32)},
        {"pieces.spans": None},
    ],
)
def test_word_pieces_without_a_length_or_with_crossed_spans_are_refused(
    change: dict[str, Any],
) -> None:
    """By the section's name."""
    words = words_of(["a", "b", "##a", "##b", "ab"])
    artifact = compiled_by_words("[ab]{1,6}", words)
    ((name, array),) = change.items()
    if array is None:
        array = artifact.arrays[name][:, ::-1].copy()
        assert (array[:, 0] > array[:, 1]).any()
    assert f"section '{name}' is damaged" in refused(encoded(artifact, {name: array}))


def test_a_small_file_does_not_become_gigabytes() -> None:
    """Tables that are written by their cells have a limit together, and lists one each; the writer
    keeps to both."""
    cells = np.arange(1 << 17, dtype=np.uint32)
    bomb = {"a": 1 << 26, "b": 1 << 26, "c": 1 << 17}
    arrays: dict[str, Any] = {}
    for name, size in bomb.items():
        arrays[name + ":shape"] = np.array([size >> 6, 64], dtype=np.int64)
        arrays[name + ":places"] = cells[: max(size >> 10, 1 << 14)]
        arrays[name + ":values"] = arrays[name + ":places"].astype(np.int32) + 1
    data = b"".join(encode({}, arrays))
    assert len(data) < 2_000_000
    with pytest.raises(ArtifactError, match=r"section 'c' .* at most 536,870,912 bytes together"):
        decode(data, verify=True)
    # A list of so many items would become Python's own objects.
    arrays["a:shape"] = np.array([1 << 25, 2], dtype=np.int64)
    with pytest.raises(ArtifactError, match=r"section 'a' .* fewer than 8 columns 4,194,304 bytes"):
        decode(b"".join(encode({}, arrays)), verify=True)
    twice = filled_cells("t", np.eye(600, dtype=np.int32)) | {"t": np.zeros(3, dtype=np.int32)}
    with pytest.raises(ArtifactError, match="section 't' is damaged: it is there twice"):
        decode(b"".join(encode({}, twice)), verify=True)


@pytest.mark.parametrize(
    "text",
    [
        '"eos": [3]',
        '"x": NaN',
        '"x": -Infinity',
        '"x": "\\ud800"',
        '"x": {"\\uDFFF": 1}',
        '"x": ' + "[" * 100_000,
        '"x": ' + "1" * 5_000,
    ],
    ids=["a key twice", "NaN", "Infinity", "half a character", "in a key", "deep", "long"],
)
def test_what_is_no_plain_json_is_refused(artifact: Artifact, text: str) -> None:
    """In the manifest: readers would not agree on it, or could not print it."""
    manifest, described, body = opened(artifact.to_bytes())
    whole = json.dumps(manifest)[:-1] + f", {text}}}"
    assert "the manifest is damaged: it is not valid JSON" in refused(
        sealed(whole, described, body)
    )


def test_pairs_of_halves_are_characters(artifact: Artifact) -> None:
    """As JSON writes those beyond the first 65,536."""
    data = encoded(artifact, manifest={"start": "\U0001f600"})
    assert b"ud83d" in data
    assert "\U0001f600" == load_bytes(data).manifest.start


def damage(path: Path, artifact: Artifact) -> None:
    """One bit of the tokens' bytes, in the same file; it is given another time of change."""
    data = bytearray(path.read_bytes())
    data[data.rindex(artifact.arrays["vocab.data"].tobytes())] ^= 1
    path.write_bytes(data)
    before = path.stat().st_mtime_ns
    os.utime(path, ns=(before, before + 10**9))


def test_a_process_verifies_each_file_once_until_it_changes(
    artifact: Artifact, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Unless it is said to do so always, or never."""
    monkeypatch.setattr(opening.VERIFIED, "_keys", type(opening.VERIFIED._keys)())
    path = tmp_path / "a.cst"
    artifact.save(path)
    load(path)
    stat = path.stat()
    damage(path, artifact)
    with pytest.raises(ArtifactError, match=r"section 'vocab\.data' is damaged: its checksum"):
        load(path)
    assert load(path, verify=False).vocab_size
    # A file that says it is as it was is not read again.
    os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    assert load(path).vocab_size
    with pytest.raises(ArtifactError, match="its checksum"):
        load(path, verify=True)


def test_bytes_are_verified_unless_said_otherwise(artifact: Artifact) -> None:
    """Nobody knows where they come from."""
    data = bytearray(artifact.to_bytes())
    data[data.rindex(artifact.arrays["vocab.data"].tobytes())] ^= 1
    with pytest.raises(ArtifactError, match="its checksum does not match"):
        load_bytes(bytes(data))
    assert load_bytes(bytes(data), verify=False).vocab_size


@pytest.mark.parametrize("is_thin", [False, True])
def test_a_copy_outlives_its_file(tokenizer: Tokenizer, tmp_path: Path, is_thin: bool) -> None:
    """Which is cut short in place: one that is mapped would end the process."""
    made = compile_grammar(
        "(ab)*", dialect="regex", tokenizer=tokenizer, tokenization="any", thin=is_thin
    )
    path = tmp_path / "a.cst"
    made.save_thin(path) if is_thin else made.save(path)
    found = load(path, copy=True)
    for file in tmp_path.iterdir():
        os.truncate(file, 0)
    matcher = found.matcher()
    matcher.advance(2)
    assert made.matcher().mask().tolist() == matcher.mask().tolist()
    assert made.to_bytes() == found.to_bytes()


def test_sections_of_another_kind_are_none_of_an_artifact(tokenizer: Tokenizer) -> None:
    """Nobody has checked them: a byte DFA has no terminals of a network."""
    made = compile_grammar("(ab)*", dialect="regex", tokenizer=tokenizer, method="cartesian")
    alien = {"terminals.ids": np.array([99], dtype=np.int32)}
    matcher = load_bytes(encoded(made, alien)).matcher()
    assert made.matcher().mask().tolist() == matcher.mask().tolist()


def test_an_automaton_of_another_kind_is_none_of_an_artifact(tokenizer: Tokenizer) -> None:
    """Of a grammar that names tokens, whose machine is made of two."""
    made = compile_grammar(
        'root ::= "a" <[1]>', dialect="gbnf", tokenizer=tokenizer, method="cartesian"
    )
    alien = {"network.table": np.array([[99]], dtype=np.int32)}
    matcher = load_bytes(encoded(made, alien)).matcher()
    assert (made.manifest.kind, made.is_regular) == ("network", True)
    assert made.matcher().mask().tolist() == matcher.mask().tolist()


def test_masks_beside_named_tokens_have_no_bit_beyond_v(tokenizer: Tokenizer) -> None:
    """The machine of texts has more tokens, which stand for those that the grammar names."""
    made = compile_grammar(
        'root ::= "a" <[1]>', dialect="gbnf", tokenizer=tokenizer, method="cartesian"
    )
    arrays = {}
    for name in ("closed.rows", "closed.ids"):
        arrays[name] = made.arrays[name].copy()
    arrays["closed.rows"][:, 0] |= np.uint32(1 << 4)
    arrays["closed.ids"][:] = 4
    with pytest.raises(ArtifactError, match="a mask allows what is no token"):
        load_bytes(encoded(made, arrays)).matcher().mask()


def test_files_without_any_token_to_take_are_inspected() -> None:
    """Masks that hold nothing have a density, too."""
    assert (0, 0.0, 0) == ((found := density_of([], 4)).min, found.median, found.max)


def test_states_of_terminals_are_made_as_texts_come_to_them() -> None:
    """A table of one column does not become lists of one number for each state and byte."""
    states = 1 << 20
    table = np.minimum(np.arange(states, dtype=np.int32) + 1, states - 1)[:, None]
    columns, ends = np.zeros(256, dtype=np.uint16), np.zeros(states, dtype=np.uint8)
    before = resident()
    dfas = StackedDfas(table, columns, ends, np.array([1], dtype=np.int32))
    assert 3 == dfas.step(2, 97)
    assert (1 << 256) - 1 == dfas.next_symbols(2)
    assert resident() - before < 200_000_000


def test_what_is_forced_ends_where_tokens_have_no_bytes(tmp_path: Path) -> None:
    """A mask that goes on allowing a token whose text is empty, which leads back to the mask."""
    letters = tokenizer_of(tmp_path, "xyz", added=[(3, "<eos>", True)])
    artifact = compile_grammar("xyz", dialect="regex", tokenizer=letters, tokenization="any")
    assert b"xyz" == artifact.matcher().forced_bytes()
    offsets = artifact.arrays["vocab.offsets"].copy()
    [token] = letters.encode("x")
    offsets[token + 1] = offsets[token]
    matcher = load_bytes(encoded(artifact, {"vocab.offsets": offsets})).matcher()
    assert b"" == matcher.forced_bytes()
    with pytest.raises(TokenRefusedError):
        matcher.forced_tokens(9)
