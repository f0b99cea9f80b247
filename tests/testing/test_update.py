"""``--update``: expectations are rewritten, and nothing else."""

import random
import re
from dataclasses import replace
from pathlib import Path

import pytest
from support import EXAMPLES
from support.cli import Cli
from support.testing.prepared import FOLDER

from constrain.compiler.testing.cases import Setting
from constrain.compiler.testing.expectations import CLAIMS, EXPECTATIONS, OF_VERDICT
from constrain.compiler.testing.format import parse, write

pytestmark = pytest.mark.quick

CASES = """\ufeff# A comment: at the head.
grammar:   date.ebnf

===
month 13
:reject
===
2024-13-01
---
# A comment: inside.
at:   1:1
expected: [0-1]   \r
rule:

===
wrong verdict
===
2024-13-01
---
at: 1:1

===
claims
:incomplete
===
2024-
---
allowed: 9
refused: 01
count: 1

===
shared, and the same
:lines
:reject
===
2024-13-01
2024-14-01
---
at: 2:2

===
shared, and not the same
:lines
:reject
===
2024-13-01
20x
---
at: 1:3
expected: x
"""


@pytest.fixture
def cases(tmp_path: Path) -> Path:
    """Cases and their grammar."""
    (tmp_path / "date.ebnf").write_text((EXAMPLES / "date.ebnf").read_text())
    path = tmp_path / "date.test"
    path.write_bytes(CASES.encode())
    return path


def test_values_are_rewritten_and_all_other_bytes_stay(cli: Cli, cases: Path) -> None:
    """Also comments, white space, marks and ends of lines; a value that is not there is written."""
    result = cli("test", str(cases), "--update")
    expected = CASES.replace("at:   1:1", "at:   1:7").replace("[0-1]", '#"[0-2]"')
    expected = expected.replace("rule:\n", "rule: month\n").replace("count: 1\n", "count: 12\n")
    expected = expected.replace("at: 2:2", "at: 1:7")

    assert cases.read_bytes().decode() == expected
    assert result.code == 1
    assert result.err == "7 cases: 3 updated, 4 failed\n"


def test_verdicts_and_claims_of_masks_are_never_flipped(cli: Cli, cases: Path) -> None:
    """They fail as before, and so do lines that cases want to be different."""
    cli("test", str(cases), "--update")
    failed = re.findall("error: (.*?):", cli("test", str(cases), "--update").out.decode())

    assert failed == ["wrong verdict", "claims", "claims"] + [
        f"shared, and not the same [{n}]" for n in (1, 2) for _ in range(3 - n)
    ]


def test_a_second_time_changes_nothing(cli: Cli, tmp_path: Path) -> None:
    """Prepared cases whose values are damaged are as they were, and stay so."""
    for path in FOLDER.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    chance = random.Random(2)
    for path in (tmp_path / "time.test", tmp_path / "log.test", tmp_path / "expression.test"):
        whole = path.read_text(encoding="utf-8")
        text = re.sub(
            "^at: .*$",
            lambda _: chance.choice(["at: 7:7", "at:"]),
            whole,
            flags=re.MULTILINE,
        )
        path.write_text(text, encoding="utf-8")

        assert parse(text, path.name).cases != parse(whole, path.name).cases
        assert cli("test", str(path), "--update").code == 0
        assert path.read_text(encoding="utf-8") == whole
        before = path.stat()
        assert cli("test", str(path), "--update").code == 0
        assert path.stat() == before


def test_what_is_filled_in_holds(cli: Cli, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    """Of every key, on texts of all engines: run again, all cases pass, and nothing is written.
    Without --full the masks are those of small grammars."""
    is_full = bool(request.config.getoption("--full"))
    chance = random.Random(3)
    for path in FOLDER.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
        if path.suffix == ".test":
            has_masks = is_full or path.stem in ("time", "log", "call")
            keys = [key for key in (EXPECTATIONS if has_masks else OF_VERDICT) if key not in CLAIMS]
            whole = parse(path.read_text(encoding="utf-8"), path.name)
            cases = [
                replace(case, expectations=tuple(Setting(key, "") for key in keys))
                for case in chance.sample(whole.cases, 8)
            ]
            text = write(cases, whole.settings)
            (tmp_path / path.name).write_text(text, encoding="utf-8")
    assert cli("test", str(tmp_path)).code == 1
    first = cli("test", str(tmp_path), "--update")
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    assert (first.code, first.out.decode()) == (0, "")

    assert cli("test", str(tmp_path), "--update").err.endswith(": 48 passed\n")
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_files_without_expectations_are_not_written(cli: Cli, cases: Path) -> None:
    """Cases that are files, and schemas with instances, say verdicts alone."""
    folder = cases.parent
    (folder / "accept").mkdir()
    (folder / "accept" / "a").write_text("x")
    text = '{"schema": false, "tests": [{"valid": true, "data": 1}]}'
    (folder / "order.json").write_text(text.replace("false", '{"type": "string"}'))
    cases.unlink()
    before = {path: path.stat() for path in folder.rglob("*")}

    assert cli("test", str(folder), "--update").code == 1
    assert {path: path.stat() for path in folder.rglob("*")} == before
