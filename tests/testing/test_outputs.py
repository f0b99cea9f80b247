"""The formats of ``constrain test``, each read by a reader of its own."""

import json
import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from support import EXAMPLES
from support.cli import Cli

pytestmark = pytest.mark.quick

# Names and texts that mean something to each of the formats.
HOSTILE = 'a # b \\ %0A ::error::x, y: <z> & "q" \x1b[31m é'
CASES = f"""grammar: date.ebnf

===
right
===
2024-01-01
---

===
{HOSTILE}
===
2024-13-01
---

===
two problems
:reject
===
2024-13-01
---
at: 1:1
rule: day

===
left out
:skip not # yet
===
x
---

===
later
:todo some day
===
x
---

===
too early
:todo
===
2024-01-01
---

===
another start
:start month
===
12
---

===
no such start
:start moon
===
12
---
"""

# What becomes of the cases above, in their order.
STATES = ["passed", "failed", "failed", "skipped", "todo", "passed", "passed", "error"]
NAMES = re.findall(r"===\n(.*)\n(?::.*\n)?===\n", CASES)


@pytest.fixture
def cases(tmp_path: Path) -> Path:
    """A file with a case of each state, and one that cannot be read."""
    (tmp_path / "date.ebnf").write_text((EXAMPLES / "date.ebnf").read_text())
    (tmp_path / "wrong.test").write_text("===\na\n:regect\n===\n---\n")
    path = tmp_path / "date.test"
    path.write_text(CASES)
    return path


def output(cli: Cli, cases: Path, name: str) -> str:
    """What is written of both files; the exit code is that of what cannot be read."""
    target = cases.parent / "out"
    result = cli("test", str(cases.parent), "--format", name, "-o", str(target))

    assert (result.code, result.out) == (2, b"")
    assert result.err == (
        "8 cases: 3 passed, 2 failed, 1 not run, 1 todo, 1 skipped, 1 file with errors\n"
    )
    return target.read_text(encoding="utf-8")


def test_json_is_one_object_with_all_cases(cli: Cli, cases: Path) -> None:
    """Each with its state, its verdict, and what is wrong where."""
    found = json.loads(output(cli, cases, "json"))
    dates, wrong = found["files"]

    assert found["schema"] == 1
    assert found["summary"]["failed"] == 2
    assert [case["status"] for case in dates["cases"]] == STATES
    assert [case["name"] for case in dates["cases"]] == NAMES
    assert dates["cases"][1]["verdict"]["status"] == "rejected"
    assert [p["key"] for p in dates["cases"][2]["problems"]] == ["at", "rule"]
    assert [(p["line"], p["column"]) for p in dates["cases"][2]["problems"]] == [(21, 5), (22, 7)]
    assert [(e["file"], e["line"]) for e in wrong["errors"]] == [
        (str(cases.parent / "wrong.test"), 3)
    ]


def test_junit_is_xml_of_suites_and_cases(cli: Cli, cases: Path) -> None:
    """Counts are those of the elements, as readers of CI servers check them."""
    root = ElementTree.fromstring(output(cli, cases, "junit").encode())
    suites = root.findall("testsuite")
    inside = {"failures": "failure", "errors": "error", "skipped": "skipped"}

    assert root.tag == "testsuites"
    assert set(root) == set(suites)
    for element, tested in [(root, root.findall("*/testcase"))] + [
        (suite, suite.findall("testcase")) for suite in suites
    ]:
        assert element.get("tests") == str(len(tested))
        for attribute, tag in inside.items():
            count = sum(case.find(tag) is not None for case in tested)
            assert element.get(attribute) == str(count), attribute
    for case in root.findall("*/testcase"):
        assert case.get("name")
        assert case.get("classname")
        assert [child.tag for child in case] in ([], ["failure"], ["error"], ["skipped"])
    names = [case.get("name") for case in suites[0]]
    assert names == [name.replace("\x1b", "␛") for name in NAMES]
    failure = suites[0][2].find("failure")
    assert failure is not None
    assert failure.get("type") == "at rule"
    assert "date.test:21:5: error: " in (failure.text or "")


POINT = re.compile(r"(not )?ok (\d+) - ((?:[^\\#]|\\[\\#])*?)(?: # (SKIP|TODO)(?: (.*))?)?")


def read_tap(text: str) -> list[dict[str, Any]]:
    """The test points of TAP 14 with their directives and YAML, by the grammar of its document."""
    lines = text.splitlines()
    assert lines[0] == "TAP version 14"
    plan = re.fullmatch(r"1\.\.(\d+)", lines[1])
    found: list[dict[str, Any]] = []
    rest = iter(lines[2:])
    for line in rest:
        if line == "  ---":
            assert next(rest) == "  problems:"
            problems = []
            while (inner := next(rest)) != "  ...":
                assert inner.startswith("    - ")
                problems.append(json.loads(inner.removeprefix("    - ")))
            found[-1]["problems"] = problems
            continue
        match = POINT.fullmatch(line)
        assert match is not None, line
        assert int(match[2]) == len(found) + 1
        name = re.sub(r"\\([\\#])", r"\1", match[3])
        found.append({"ok": match[1] is None, "name": name, "is": match[4], "why": match[5]})
    assert plan is not None
    assert int(plan[1]) == len(found)
    return found


def test_tap_has_a_point_for_each_case(cli: Cli, cases: Path) -> None:
    """With directives, escapes and what is wrong."""
    found = read_tap(output(cli, cases, "tap"))

    assert [point["ok"] for point in found] == [s in ("passed", "skipped") for s in STATES] + [
        False
    ]
    assert [point["is"] for point in found][3:6] == ["SKIP", "TODO", "TODO"]
    assert [point["why"] for point in found][3:5] == ["not \\# yet", "some day"]
    assert found[1]["name"] == f"{cases}:10: {HOSTILE}".replace("\x1b", "␛")
    assert [p["key"] for p in found[2]["problems"]] == ["at", "rule"]


COMMAND = re.compile(r"::error ((?:[a-z]+=[^,:]*,?)+)::(.*)")


def test_github_gets_a_command_for_each_problem(cli: Cli, cases: Path) -> None:
    """One a line, with its place, and escapes of all that would end it."""
    found = []
    for line in output(cli, cases, "github").splitlines():
        match = COMMAND.fullmatch(line)
        assert match is not None, line
        found.append(dict(each.split("=", 1) for each in match[1].split(",")))

    places = [(Path(each["file"]).name, each.get("line"), each.get("col")) for each in found]
    assert places == [
        *[("date.test", line, col) for line, col in (("12", "7"), ("21", "5"), ("22", "7"))],
        ("date.test", "53", "1"),
        ("wrong.test", "3", "1"),
    ]
    unescaped = found[0]["title"].replace("%3A", ":").replace("%2C", ",").replace("%25", "%")
    assert unescaped == HOSTILE.replace("\x1b", "␛")


def test_no_format_writes_control_characters_of_others(cli: Cli, cases: Path) -> None:
    """A name may hold what a terminal obeys."""
    for name in ("text", "json", "junit", "tap", "github"):
        assert "\x1b" not in output(cli, cases, name)


def test_results_never_overwrite_what_is_tested(cli: Cli, cases: Path) -> None:
    """Neither a case file nor a grammar is a place for results."""
    for paths in ([str(cases)], [str(cases.with_suffix(".ebnf")), str(cases)]):
        for target in paths:
            assert cli("test", *paths, "-o", target).code == 2
    assert cases.read_text() == CASES
