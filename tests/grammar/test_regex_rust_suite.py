"""The test suite of Rust's `regex`, as membership: what a search finds, and what matches whole."""

# Tests here say `expected == actual`.
# ruff: noqa: SIM300

import re
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from support import ROOT, assert_in_order, reasons
from support.regexes import accepts

from constrain.compiler.diagnostics import DialectError

SUITE = "suites/rust-regex/testdata"
RATCHET = ROOT / "tests" / "ratchets" / "regex_rust.txt"

# How many cases a run without --full looks at, every nth of the list.
_STEP = 5

_ESCAPED = re.compile(rb"\\(?:x([0-9A-Fa-f]{2})|(.))", re.DOTALL)
_CONTROL = {b"n": b"\n", b"r": b"\r", b"t": b"\t", b"0": b"\0", b"\\": b"\\"}


def cases(folder: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """(file/name, the test's table) of the whole suite."""
    for file in sorted(folder.rglob("*.toml")):
        for number, test in enumerate(tomllib.loads(file.read_text(encoding="utf-8"))["test"]):
            yield f"{file.relative_to(folder).as_posix()}/{number}/{test['name']}", test


def haystack(test: dict[str, Any]) -> bytes:
    """The text that is searched."""
    data: bytes = test["haystack"].encode("utf-8")
    if not test.get("unescape"):
        return data
    return _ESCAPED.sub(
        lambda m: bytes.fromhex(m[1].decode()) if m[1] else _CONTROL.get(m[2], m[2]), data
    )


def wrapped(expression: str, test: dict[str, Any], text: bytes) -> str:
    """The expression so that it matches the whole text if a search finds it in the bounds."""
    start, end = bounds(test, text)
    flags = ("i" if test.get("case-insensitive") else "") + (
        "-u" if not test.get("unicode", True) else ""
    )
    one = "(?s-u:.)"
    before, behind = start, len(text) - end
    if test.get("utf8", True):
        # A match begins and ends between two characters.
        one = "(?s:.)"
        begins = [i for i, octet in enumerate(text) if not 0x80 <= octet < 0xC0]
        before = sum(begin < start for begin in begins)
        behind = sum(last > end for last in [*begins[1:], len(text)] if begins)
    most = "" if not test.get("anchored") else before
    inner = f"(?{flags}:{expression})" if flags else f"(?:{expression})"
    return f"{one}{{{before},{most}}}{inner}{one}{{{behind},}}"


def bounds(test: dict[str, Any], text: bytes) -> tuple[int, int]:
    """Where the search may look."""
    found = test.get("bounds", [0, len(text)])
    if isinstance(found, dict):
        return found["start"], found["end"]
    return found[0], found[1]


def matched_ids(test: dict[str, Any]) -> set[int]:
    """The expressions of a list that are found."""
    return {m["id"] if isinstance(m, dict) else 0 for m in test["matches"]}


def check(test: dict[str, Any]) -> str:
    """What goes wrong with a test, nothing if it passes."""
    expressions = test["regex"] if isinstance(test["regex"], list) else [test["regex"]]
    text = haystack(test)
    if not test.get("compiles", True):
        for expression in expressions:
            try:
                accepts(expression, text)
            except DialectError:
                continue
            return "compiles"
        return ""
    start, _ = bounds(test, text)
    if test.get("utf8", True) and test.get("anchored") and not _at_character(text, start):
        return "found" if test["matches"] else ""
    found = {i for i, e in enumerate(expressions) if accepts(wrapped(e, test, text), text)}
    if bool(found) != bool(test["matches"]):
        return f"found {found}"
    if not matched_ids(test) <= found:
        return f"found {found}, not {matched_ids(test)}"
    for match in test["matches"]:
        span = match["span"] if isinstance(match, dict) and "span" in match else match
        if isinstance(span, list) and span == [0, len(text)]:
            number = match["id"] if isinstance(match, dict) else 0
            bare = {**test, "bounds": [0, len(text)]}
            pattern = wrapped(expressions[number], bare, text)
            inner = pattern[pattern.index("}") + 1 : pattern.rindex("(?s")]
            if not accepts(inner, text):
                return "does not match as a whole"
    return ""


def _at_character(text: bytes, place: int) -> bool:
    return place >= len(text) or not 0x80 <= text[place] < 0xC0


def ratchet() -> dict[str, str]:
    """What is known to fail, with the reason."""
    return reasons(RATCHET)


def test_the_ratchet_is_in_order() -> None:
    """Sorted, each name once, each with a reason, and at most sixty."""
    assert_in_order(RATCHET)
    assert len(ratchet()) <= 60


def test_the_suite(data: Callable[[str], Path], full: bool) -> None:
    """A search finds something if and only if the wrapped expression matches the whole text; an
    expression that does not compile there is refused here. All but the ratchet's, which fail."""
    every = list(cases(data(SUITE)))
    failed = {}
    for name, test in every if full else every[::_STEP]:
        try:
            wrong = check(test)
        except DialectError as error:
            wrong = error.diagnostics[0].message
        if wrong:
            failed[name] = wrong
    looked = {name for name, _ in (every if full else every[::_STEP])}

    assert len(every) == 1203
    assert {} == {name: wrong for name, wrong in failed.items() if name not in ratchet()}
    assert [] == [name for name in ratchet() if name in looked and name not in failed]
