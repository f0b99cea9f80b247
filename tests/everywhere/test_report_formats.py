"""Each format is what it is called, whatever is in the names and texts that it reports."""

import json
import os
import random
import re
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote_to_bytes
from xml.etree import ElementTree

import pytest
from support.cli import Cli, Leaf, content, leaves
from support.fuzzing.lines import FORGED, NAME, RAW, Lines, pool_of

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such names")

# Of CPU, after which a format is not tried again: some commands start processes.
_SECONDS, _SECONDS_IN_FULL = 0.2, 20.0

# What would write elsewhere than to standard output, or say the format.
_WITHOUT = ("color", "format_", "output", "viz", "plot", "suggest", "update", "shows_coverage")

# The characters of a URI's path (RFC 3986), as SARIF has the names of files.
_URI = re.compile(r"(?:[A-Za-z0-9._~!$&'()*+,;=:@/-]|%[0-9A-F]{2})+")


def _formats(leaf: Leaf) -> list[str]:
    found = [each for each in leaf.parameters if "--format" in each.opts]
    return [str(choice) for each in found for choice in each.type.choices]


_ALL = [(leaf, form) for leaf in leaves() for form in _formats(leaf)]

# Those that start no processes.
_QUICK = [(leaf, form) for leaf, form in _ALL if leaf.words[0] not in ("bench", "compile-many")]


@pytest.fixture(scope="module")
def pool(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    """The hostile files, in a folder of a hostile name."""
    return pool_of(tmp_path_factory.mktemp("all") / f"f{NAME}")


def _json(text: str) -> object:
    def refuse(name: str) -> None:
        raise AssertionError(f"{name} is no JSON")

    return json.loads(text, parse_constant=refuse)


def _has_surrogate(value: object) -> bool:
    return re.search("[\ud800-\udfff]", json.dumps(value, ensure_ascii=False)) is not None


def checked_format(form: str, out: bytes) -> None:
    """Read it strictly. Foreign text has nothing raw, and begins no line."""
    if form in ("raw0", "bits"):
        return  # Their own bytes.
    text = out.decode("utf-8")
    match form:
        case "json":
            _json(text)
            text = text.replace("\x7f", "")  # As JSON has it.
        case "jsonl":
            lines = text.removesuffix("\n").split("\n")
            assert all(isinstance(_json(line), dict) for line in lines)
            text = text.replace("\x7f", "")
        case "sarif":
            _checked_sarif(_json(text))
            text = text.replace("\x7f", "")
        case "junit":
            ElementTree.fromstring(out)
        case "html":
            HTMLParser().feed(text)
            assert "attacker" not in text
        case "github":
            assert all(line.startswith("::") for line in text.split("\n") if line)
        case "tap":
            assert text.startswith("TAP version 14\n")
    found = RAW.search(text) or FORGED.search(text)
    assert found is None, repr(text[max(found.start() - 100, 0) : found.end() + 100])


def _checked_sarif(log: object) -> None:
    assert isinstance(log, dict)
    assert not _has_surrogate(log)
    for result in log["runs"][0]["results"]:
        assert result["level"] in ("none", "note", "warning", "error")
        assert result["message"]["text"]
        for location in result["locations"]:
            place = location["physicalLocation"]
            assert _URI.fullmatch(place["artifactLocation"]["uri"]), place
            region = place.get("region", {"startLine": 1})
            assert min(region.values()) >= 1, place


@pytest.mark.sampled(("leaf", "form"), _QUICK, _ALL)
def test_reports_of_hostile_input_are_read_strictly(
    cli: Cli,
    tmp_path: Path,
    pool: dict[str, list[str]],
    monkeypatch: pytest.MonkeyPatch,
    leaf: Leaf,
    form: str,
    full: bool,
) -> None:
    """JSON, SARIF, XML, HTML and the rest, of every command that has formats."""
    monkeypatch.setenv("CONSTRAIN_CACHE_DIR", pool["cache"][0])
    (tmp_path / "w").mkdir()
    monkeypatch.chdir(tmp_path / "w")
    lines = Lines(random.Random(f"{leaf.words} {form}"), pool)
    begun = sum(os.times()[:4])
    for _ in range(150 if full else 2):
        line = lines.of(leaf, without=_WITHOUT)
        line[len(leaf.words) : len(leaf.words)] = ["--format", form]
        done = cli(*line)
        assert done.code in (0, 1, 2, 3), (line, done)
        if done.out:
            checked_format(form, done.out)
        if sum(os.times()[:4]) - begun > (_SECONDS if not full else _SECONDS_IN_FULL):
            break


def test_sarif_names_files_by_uris(cli: Cli, tmp_path: Path) -> None:
    """Spaces, marks of URIs, line breaks and bytes that are no UTF-8 are percent-encoded."""
    text = '{"type": "\\ud800"}'
    names = [
        b"a b.schema.json",
        b"a#b?c%20.schema.json",
        b"a\nb:\\.schema.json",
        b"\xff.schema.json",
    ]
    for octets in names:
        content(tmp_path / os.fsdecode(octets), text)
    done = cli("check", *map(os.fsdecode, names), "-f", "sarif")
    assert done.code == 2
    log = json.loads(done.out)
    _checked_sarif(log)
    found = log["runs"][0]["results"]
    uris = [r["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for r in found]
    assert [unquote_to_bytes(uri) for uri in uris] == names
