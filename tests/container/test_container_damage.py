"""No damage to the artifact's sections gets past the reader, or it does no harm."""

# Tests here say `expected == actual`.

import random
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from support import encoded, opened
from support.container import KINDS, VARIANTS, Arrays, Change, changed, exercise, refused

from constrain.artifacts import Artifact, ArtifactError
from constrain.artifacts.read import load_bytes

I64_MAX, I64_MIN = 2**63 - 1, -(2**63)


@pytest.mark.parametrize("verify", [True, False])
@pytest.mark.parametrize("kind", KINDS)
def test_a_truncated_file_is_refused(dates: dict[str, Artifact], kind: str, verify: bool) -> None:
    """No beginning of a file is taken for a file: 200 lengths, and each around the header."""
    data = dates[kind].to_bytes()
    header_end = 8 + int.from_bytes(data[:8], "little")
    lengths = {*random.Random(7).sample(range(len(data)), 200), *range(64), len(data) - 1}
    lengths.update(range(header_end - 64, header_end + 64))

    for length in sorted(lengths):
        refused(data[:length], verify)


@pytest.mark.parametrize("verify", [True, False])
def test_a_file_with_more_behind_it_is_refused(dates: dict[str, Artifact], verify: bool) -> None:
    """Bytes after the last section are damage."""
    assert "more than its sections" in refused(dates["any"].to_bytes() + b"\0", verify)


@pytest.mark.parametrize("kind", KINDS)
def test_every_flipped_bit_is_found(
    tiny: dict[tuple[str, int], Artifact], kind: str, full: bool
) -> None:
    """Whatever bit of a file changes, reading it with ``verify`` refuses it; without --full one
    bit of each byte."""
    data = bytearray(tiny[kind, 1_000_000].to_bytes())

    for place in range(len(data)):
        for bit in range(8) if full else [place % 8]:
            data[place] ^= 1 << bit
            with pytest.raises(ArtifactError):
                load_bytes(bytes(data), verify=True)
            data[place] ^= 1 << bit


@pytest.mark.parametrize("kind", KINDS)
def test_flipped_bits_of_the_header_are_found_without_verifying(
    tiny: dict[tuple[str, int], Artifact], kind: str, full: bool
) -> None:
    """The header has a checksum that is always looked at: one bit of each byte, in full all."""
    data = bytearray(tiny[kind, 1_000_000].to_bytes())

    for place in range(8 + int.from_bytes(data[:8], "little")):
        for bit in range(8) if full else (place % 8,):
            data[place] ^= 1 << bit
            with pytest.raises(ArtifactError):
                load_bytes(bytes(data))
            data[place] ^= 1 << bit


SECTIONS = (
    "dfa.accepting",
    "dfa.classes",
    "dfa.table",
    "origins.ids",
    "origins.offsets",
    "pairs.begin",
    "pairs.bound",
    "pairs.class",
    "pairs.end",
    "pairs.index",
    "pairs.offsets",
    "pairs.order",
    "pairs.part",
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
    ("the highest number", "dfa.table", changed((1, 0), 0xFFFF)),
    ("the dead state has a way out", "dfa.table", changed((0, 0), 1)),
    ("a column past the last", "dfa.classes", changed(7, 200)),
    ("an unknown kind", "vocab.kinds", changed(0, 3)),
    ("a family past the last", "tokens.family", changed(0, 99)),
    ("a negative family", "tokens.family", changed(0, -1)),
    ("a state past the last", "tokens.edge_targets", changed(0, 99)),
    ("a negative state", "tokens.edge_targets", changed(0, -1)),
    ("a token past the last", "tokens.edge_tokens", changed(0, 99)),
    ("out of order", "tokens.edge_tokens", swapped),
    ("a row past the last", "row_of", changed(0, 99)),
    ("a negative row", "row_of", changed(0, -1)),
    ("a token past the last", "pairs.part", changed(0, 99)),
    ("a negative token", "pairs.part", changed(0, -2)),
    ("a token made of itself", "pairs.part", changed(2, 2)),
    ("a token past the last", "pairs.order", changed(0, 99)),
    ("an interval past the last", "pairs.end", changed(0, 99)),
    ("an empty interval", "pairs.begin", changed(0, 3)),
    ("an origin past the last", "origins.ids", changed(0, 99)),
    *(
        (f"offsets that {what}", section, change)
        for section in (
            "origins.offsets",
            "pairs.offsets",
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
        (lambda array: array.astype("<u4" if array.itemsize == 2 else "<u2"), "does not fit"),
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
