"""No damage to the header of the artifact's file gets past the reader."""

# Tests here say `expected == actual`.

import sys
from contextlib import suppress
from typing import Any

import pytest
from support import opened, sealed
from support.container import refused

from constrain.artifacts import Artifact, ArtifactError
from constrain.artifacts.read import load_bytes

pytestmark = pytest.mark.quick

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
