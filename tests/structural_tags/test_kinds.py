"""Each kind of structural tag takes what it should, and nothing else."""

# Tests here say `expected == actual`.
# ruff: noqa: SIM300

import pytest
from support.structural_tags import CASES, accepts, of

pytestmark = pytest.mark.quick


@pytest.mark.parametrize("name", CASES)
def test_each_kind_takes_its_texts_and_no_others(name: str) -> None:
    """Ten of each (a constant has one), by the published description."""
    case = CASES[name]
    found = of(case.format)

    assert [] == [text for text in case.accepts if not accepts(found, text)]
    assert [] == [text for text in case.rejects if accepts(found, text)]
    assert 10 == len(set(case.rejects))
    assert len(set(case.accepts)) == (1 if case.format["type"] == "const_string" else 10)
