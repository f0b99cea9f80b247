"""JSON-Schema-Test-Suite, all drafts: how many cases of each file a grammar decides as they say.

``ratchets/json_schema.txt`` has a line for each file and way to read it (``READINGS``): the cases
that pass, those of schemas that are refused, valid instances that are no members, and invalid ones
that are. The last number is 0.
"""

# Tests here say `expected == actual`.
# ruff: noqa: SIM300

import json
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest
from support import ROOT
from support.schema import members

from constrain.artifacts.errors import ConstrainError

SUITE = "suites/json-schema-test-suite"
RATCHET = ROOT / "tests" / "ratchets" / "json_schema.txt"
DRAFTS = ("draft4", "draft6", "draft7", "draft2019-09", "draft2020-12")

# Spellings of values as the suite has them, and keys in either order; and what is so by default.
READINGS = {
    "fixed": {"formats": "ignore"},
    "any": {"formats": "ignore", "order": "any"},
    "defaults": {"integer": "plain", "whitespace": "flexible"},
}
VERDICTS = ("pass", "refused", "false negative", "false positive")

# Remote schemas of the suite are found below this URI.
REMOTES = "http://localhost:1234/"

# Files of which a run without --full looks at every nth.
_STEP = 120

# Optional tests that assert what else is ignored.
_ASSERTED = ("/optional/format", "/optional/content.json")


def files(suite: Path) -> list[str]:
    """The files of all drafts, by their paths below the suite's tests."""
    tests = suite / "tests"
    found = (
        path.relative_to(tests) for draft in DRAFTS for path in (tests / draft).rglob("*.json")
    )
    return sorted(path.as_posix() for path in found)


def verdicts(suite: Path, file: str, reading: str) -> Iterator[tuple[str, str]]:
    """What comes of each case of a file, and which case it is."""
    draft = file.partition("/")[0].removeprefix("draft")
    is_asserted = any(part in file for part in _ASSERTED)
    for group in json.loads((suite / "tests" / file).read_text(encoding="utf-8")):
        text = json.dumps(group["schema"])
        remotes = ((REMOTES, str(suite / "remotes")),) if REMOTES in text else ()
        found = None
        try:
            found = members(
                text,
                draft=draft,
                schemas=remotes,
                unique="hold",
                **READINGS[reading] | ({"formats": "assert"} if is_asserted else {}),
            )
            allows = partial(found.allows)
            _ = found.network
        except ConstrainError:
            found = None
        for case in group["tests"]:
            verdict = "refused"
            if found is not None:
                allowed = allows(case["data"])
                wrong = "false positive" if allowed else "false negative"
                verdict = "pass" if allowed == case["valid"] else wrong
            yield verdict, f"{file}: {group['description']}: {case['description']} ({reading})"


def line(suite: Path, file: str, reading: str, wrong: list[str]) -> str:
    """The line of a file, and the cases of it that are allowed wrongly."""
    counts: Counter[str] = Counter()
    for verdict, case in verdicts(suite, file, reading):
        counts[verdict] += 1
        if verdict == "false positive":
            wrong.append(case)
    numbers = "\t".join(str(counts[verdict]) for verdict in VERDICTS)
    return f"{file}\t{reading}\t{numbers}"


def test_each_file_is_decided_as_the_ratchet_says_and_nothing_invalid_is_a_member(
    data: Callable[[str], Path], full: bool, update: bool
) -> None:
    """The counts of a file are those of its lines; no false positive."""
    suite = data(SUITE)
    chosen = files(suite) if full or update else files(suite)[7::_STEP]
    wrong: list[str] = []
    found = [line(suite, file, reading, wrong) for file in chosen for reading in READINGS]
    if update:
        RATCHET.write_text("".join(f"{each}\n" for each in found), encoding="utf-8")
    recorded = RATCHET.read_text(encoding="utf-8").splitlines()

    assert [] == wrong
    assert [] == sorted(set(found) - set(recorded))
    assert not full or sorted(recorded) == sorted(found)


@pytest.mark.quick
def test_the_suite_is_decided_as_far_as_is_promised() -> None:
    """All required cases of drafts 4 to 7 in any order, all but four of the others."""
    passed: Counter[tuple[str, str]] = Counter()
    for recorded in RATCHET.read_text(encoding="utf-8").splitlines():
        file, reading, count, *_ = recorded.split("\t")
        if "/optional/" not in file:
            passed[file.partition("/")[0], reading] += int(count)
    promised = {"draft4": 618, "draft6": 839, "draft7": 927, "draft2019-09": 1_255}

    assert passed["draft2020-12", "any"] >= 1_295
    assert passed["draft2020-12", "fixed"] >= 1_291
    assert passed["draft2020-12", "defaults"] >= 1_263
    assert all(passed[draft, "any"] >= least for draft, least in promised.items())
