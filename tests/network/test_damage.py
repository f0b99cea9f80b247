"""No damage to a network's or Earley's artifact gets past the reader, or does harm."""

# Tests here say `expected == actual`.

from dataclasses import asdict
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from support import encoded, opened, sealed, tokenizer_of
from support.container import (
    Arrays,
    Change,
    changed,
    check_every_bit_counts,
    check_flipped_bits_do_no_harm,
    refused,
    walk_two_deep,
)
from support.network import ENGINES

from constrain.artifacts import Artifact, ArtifactError
from constrain.artifacts.prefix import boundaries
from constrain.artifacts.read import load_bytes
from constrain.compiler import compile_grammar
from constrain.compiler.explain.earley import explain_parser

pytestmark = pytest.mark.quick


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Artifact]:
    """Artifacts small enough to try much with: a call, a frame, a nullable rule, a token."""
    folder = tmp_path_factory.mktemp("tiny")
    tokenizer = tokenizer_of(folder, "ab", ["a b", "b b"], added=[(4, "<eos>", True)])
    text = 'root ::= "a" root "b" opt | "ab" | <[3]>\nopt ::= "a"?'
    return {
        engine: compile_grammar(
            text,
            dialect="gbnf",
            tokenizer=tokenizer,
            tokenization="any",
            engine=engine,
            eos=["<eos>"],
        ).completed
        for engine in ENGINES
    }


def exercise(artifact: Artifact) -> None:
    """All that a matcher does, with every id there is, two tokens deep; and a verdict."""
    walk_two_deep(artifact)
    boundaries(artifact, b"aabb")
    explain_parser(artifact.runtime.recogniser(), b"aab")


@pytest.mark.parametrize("engine", ENGINES)
def test_whole_files_work(tiny: dict[str, Artifact], engine: str) -> None:
    """What the other tests damage is sound."""
    exercise(load_bytes(tiny[engine].to_bytes(), verify=True))


@pytest.mark.parametrize("engine", ENGINES)
def test_truncated_files_are_refused(tiny: dict[str, Artifact], engine: str) -> None:
    """Wherever the file ends."""
    data = tiny[engine].to_bytes()
    for length in {*range(0, len(data), 97), len(data) - 1}:
        refused(data[:length], verify=False)


@pytest.mark.parametrize("engine", ENGINES)
def test_flipped_bits_are_found(tiny: dict[str, Artifact], engine: str, full: bool) -> None:
    """Checksums cover every bit."""
    check_every_bit_counts(tiny[engine], None if full else 80)


@pytest.mark.parametrize("engine", ENGINES)
def test_flipped_bits_do_no_harm_unverified(
    tiny: dict[str, Artifact], engine: str, full: bool
) -> None:
    """A section with a flipped bit is refused, or it can be walked to an ``ArtifactError`` at
    worst: no other error, and no walk without end."""
    check_flipped_bits_do_no_harm(tiny[engine], exercise, 3000 if full else 35)


def ends(value: int) -> Change:
    """The last value replaced."""
    return changed(-1, value)


def calling_itself(arrays: Arrays, name: str) -> NDArray[Any]:
    """The first call begins in the state that makes it."""
    array = arrays[name].copy()
    array[0] = np.flatnonzero(np.diff(arrays["network.call_offsets"]))[0]
    return array


NETWORK_DAMAGE: list[tuple[str, Change]] = [
    ("network.table", changed((0, 0), 1)),
    ("network.table", changed((1, 0), -1)),
    ("network.table", changed((1, 0), 99)),
    ("network.classes", changed(97, 77)),
    ("network.accepting", changed(0, 1)),
    ("network.accepting", changed(1, 2)),
    ("network.call_offsets", changed(1, 1)),
    ("network.call_offsets", ends(9)),
    ("network.call_starts", changed(0, 0)),
    ("network.call_starts", calling_itself),
    ("network.call_returns", changed(0, 0)),
    ("network.call_returns", changed(0, 99)),
    ("network.entries", changed(0, 99)),
    ("network.entries", lambda a, n: a[n][1:]),
    ("network.entries", lambda a, n: np.append(a[n], a[n][:1])),
    ("memo.rows", changed((0, 0), 1)),
    ("memo.keys", changed((0, 0), 99)),
    ("memo.keys", changed((0, 0), -1)),
    ("memo.keys", changed((-1, 1), 99)),
    ("memo.keys", lambda a, n: a[n][::-1]),
    ("memo.answers", changed((0, 0), 99)),
    ("memo.answers", changed((0, 1), -1)),
]
COMMON_DAMAGE: list[tuple[str, Change]] = [
    ("earley.symbols", changed(0, 99)),
    ("earley.symbols", changed(0, -99)),
    ("earley.symbols", ends(0)),
    ("earley.bodies", changed(0, 1)),
    ("earley.bodies", ends(0)),
    ("earley.first", ends(0)),
    ("earley.paths", changed(0, 99)),
    ("earley.path_offsets", ends(99)),
    ("earley.rests", lambda a, n: a[n][1:]),
    ("lexer.table", changed((0, 0), 1)),
    ("lexer.table", changed((1, 0), 99)),
    ("lexer.columns", changed(97, 200)),
    ("lexer.columns", lambda a, n: a[n][1:]),
    ("lexer.accepting", changed(0, 1)),
    ("lexer.starts", changed(0, 0)),
    ("lexer.starts", changed(0, 99)),
    ("terminals.ids", changed(0, 99)),
    ("terminals.offsets", ends(9)),
    ("vocab.kinds", changed(0, 9)),
]


@pytest.mark.parametrize(
    ("engine", "name", "change"),
    [("network", *row) for row in NETWORK_DAMAGE + COMMON_DAMAGE]
    + [("earley", *row) for row in COMMON_DAMAGE],
)
def test_values_that_do_not_fit_are_refused(
    tiny: dict[str, Artifact], engine: str, name: str, change: Change
) -> None:
    """Right checksums, wrong contents: the section is named, also without verifying."""
    artifact = tiny[engine]
    arrays = dict(artifact.arrays)
    assert name.split(".")[0] in refused(encoded(artifact, {name: change(arrays, name)}), False)


@pytest.mark.parametrize("is_last", [True, False])
def test_rows_that_allow_what_is_no_token_are_refused_when_they_are_used(
    tiny: dict[str, Artifact], is_last: bool
) -> None:
    """Any bit after the last token; `load` would read a page of the file for each row."""
    artifact = tiny["network"]
    size = artifact.vocab_size
    assert size % 32
    rows = artifact.arrays["memo.rows"].copy()
    rows[1:, -1] |= np.uint32(1 << (31 if is_last else size % 32))
    damaged = load_bytes(encoded(artifact, {"memo.rows": rows}))
    with pytest.raises(ArtifactError, match=r"memo\.rows"):
        damaged.matcher().mask()


def test_single_nonterminals_in_a_circle_are_refused(tiny: dict[str, Artifact]) -> None:
    """a ::= b; b ::= a would be completed for ever."""
    artifact = tiny["earley"]
    end = np.iinfo(np.int32).max
    circle = {
        "earley.symbols": np.array([1, end, 0, end], dtype=np.int32),
        "earley.bodies": np.array([0, 2], dtype=np.int32),
        "earley.first": np.array([0, 1, 2], dtype=np.int32),
        "earley.path_offsets": np.array([0, 1, 2], dtype=np.int64),
        "earley.paths": np.array([0, 0], dtype=np.int32),
        "earley.rests": np.zeros(2, dtype=np.uint8),
    }
    parser = {**asdict(artifact.manifest.parser), "start": 0}  # type: ignore[arg-type]
    assert "earley.symbols" in refused(encoded(artifact, circle, {"parser": parser}), False)


@pytest.mark.parametrize("engine", ENGINES)
def test_each_section_is_needed(tiny: dict[str, Artifact], engine: str) -> None:
    """Without one of them, or with another type, the file is refused by its name. (Without a first
    mask, or a trie at all, these are made.)"""
    artifact = tiny[engine]
    for name, array in artifact.arrays.items():
        if name not in ("first.row", "trie.octets"):
            assert f"section {name!r} is missing" in refused(encoded(artifact, {name: None}))
        other = array.astype("<u4" if array.dtype != np.dtype("<u4") else "<i4")
        assert f"section {name!r} is damaged" in refused(encoded(artifact, {name: other}))


@pytest.mark.parametrize(
    "parser",
    [
        None,
        7,
        {},
        {"start": "0", "nullable_start": False, "rules": [], "texts": [], "called": []},
        {"start": 0, "nullable_start": 1, "rules": [], "texts": [], "called": []},
        {"start": 0, "nullable_start": False, "rules": [3], "texts": [], "called": []},
        {"start": 99, "nullable_start": False, "rules": ["root"], "texts": [], "called": []},
    ],
)
def test_names_that_make_no_sense_are_refused(tiny: dict[str, Artifact], parser: object) -> None:
    """The field parser is checked as closely as the arrays."""
    manifest, described, body = opened(tiny["network"].to_bytes())
    refused(sealed({**manifest, "parser": parser}, described, body))


def test_another_kind_is_refused(tiny: dict[str, Artifact]) -> None:
    """A reader that does not know a kind says so."""
    manifest, described, body = opened(tiny["network"].to_bytes())
    message = refused(sealed({**manifest, "kind": "pushdown"}, described, body))
    assert "an artifact of kind 'pushdown' cannot be read by this release" in message
