"""A section's declaration says all that its values may be."""

from typing import Any

import numpy as np
import pytest

from constrain.artifacts import ArtifactError
from constrain.artifacts.container.sections import check_sections

pytestmark = pytest.mark.quick

DECLARED = {
    "table": "int32 (states, columns) 0..states dead",
    "offsets": "int64 (states+1) to:pairs ascending",
    "pairs": "int32 (pairs, 2) -1..states+1,0..",
    "flags": "uint8 (2) 0..2 optional",
}
SOUND: dict[str, Any] = {
    "table": np.array([[0, 0, 0], [1, 0, 1]], np.int32),
    "offsets": np.array([0, 1, 3], np.int64),
    "pairs": np.array([[-1, 0], [2, 9], [0, 2**31 - 1]], np.int32),
}
DAMAGED: list[tuple[str, Any]] = [
    ("table", [[0, 0, 1], [1, 0, 1]]),
    ("table", [[0, 0, 0], [1, 0, 2]]),
    ("table", [[0, 0, 0], [1, 0, -1]]),
    ("table", np.zeros((2, 0))),
    ("table", [0, 0]),
    ("offsets", [0, 3]),
    ("offsets", [0, 3, 3]),
    ("offsets", [0, 4, 3]),
    ("offsets", [1, 2, 3]),
    ("offsets", [0, 1, 2]),
    ("offsets", np.array([0, 1, 3], np.int32)),
    ("pairs", [[-2, 0], [2, 9], [0, 0]]),
    ("pairs", [[3, 0], [2, 9], [0, 0]]),
    ("pairs", [[-1, -1], [2, 9], [0, 0]]),
    ("pairs", [[-1, 0, 0], [2, 9, 0], [0, 0, 0]]),
    ("flags", np.array([0, 2], np.uint8)),
    ("flags", np.array([0], np.uint8)),
]


def test_sizes_are_returned() -> None:
    """Those that are known, and those that sections have."""
    sizes = check_sections(SOUND, DECLARED, columns=3)
    assert sizes == {"states": 2, "columns": 3, "pairs": 3}
    flags = {"flags": np.array([0, 1], np.uint8)}
    assert check_sections(SOUND | flags, DECLARED) == sizes


@pytest.mark.parametrize(("name", "value"), DAMAGED)
def test_what_does_not_fit_is_refused(name: str, value: Any) -> None:
    """By the section's name."""
    array = value
    if isinstance(value, list) or name == "table":
        array = np.array(value, SOUND[name].dtype)
    with pytest.raises(ArtifactError, match=f"section '{name}' is damaged"):
        check_sections(SOUND | {name: array}, DECLARED)


def test_other_sizes_are_refused() -> None:
    """That of a section is another than the one that is known."""
    with pytest.raises(ArtifactError, match="section 'table' is damaged"):
        check_sections(SOUND, DECLARED, columns=4)
    with pytest.raises(ArtifactError, match="section 'pairs' is missing"):
        check_sections({n: a for n, a in SOUND.items() if n != "pairs"}, DECLARED)
