"""The command ``constrain test``: verdicts, exit codes, and what a run reads."""

from pathlib import Path

import pytest
from support import EXAMPLES
from support.cli import Cli

pytestmark = pytest.mark.quick

DATES = """grammar: date.ebnf

===
a leap day
===
2024-02-29
---
tokens: 2024 - 02 - 29

===
month 13
:reject
===
2024-13-01
---
at: 1:7
expected: [0-2]
rule: month

===
a year
:incomplete
===
2024-
---
count: 12
refused: 9
"""


@pytest.fixture
def dates(tmp_path: Path) -> Path:
    """A grammar and its cases beside it."""
    (tmp_path / "date.ebnf").write_text((EXAMPLES / "date.ebnf").read_text())
    cases = tmp_path / "date.test"
    cases.write_text(DATES)
    return cases


def test_cases_that_are_right_end_with_0_and_a_summary(cli: Cli, dates: Path) -> None:
    """A case file names its grammar; a grammar alone has the cases beside it."""
    for paths in ([str(dates)], [str(dates.with_suffix(".ebnf"))], [str(dates.parent)]):
        result = cli("test", *paths)

        assert (result.code, result.out, result.err) == (0, b"", "3 cases: 3 passed\n")


def test_a_case_that_fails_ends_with_1_and_its_place(cli: Cli, dates: Path) -> None:
    """The place in the case file, what was said, what is, and why."""
    dates.write_text(DATES.replace("2024-02-29", "2024-22-29").replace("at: 1:7", "at: 1:5"))
    result = cli("test", str(dates))

    assert result.code == 1
    assert result.out.decode().startswith(
        f'{dates}:6:6: error: a leap day: should be accepted, and is rejected at 1:6, at "2" in '
        "month; expected [01]\n"
    )
    assert f"{dates}:16:5: error: month 13: 'at' is 1:7, not 1:5\n" in result.out.decode()
    assert result.err == "3 cases: 1 passed, 2 failed\n"


def test_no_case_is_an_error(cli: Cli, dates: Path) -> None:
    """A filter that finds nothing, or a folder without cases, is no success."""
    assert cli("test", str(dates), "--filter", "no such name").code == 2
    (dates.parent / "empty").mkdir()
    assert cli("test", str(dates.parent / "empty")).code == 2
