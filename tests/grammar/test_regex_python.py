"""Against Python's `re` and the `regex` package: their suite, and random expressions.

The common subset that the random ones are drawn from: literals and escapes, classes with ranges
and negation, \\d \\w \\s, groups, alternation, counts greedy and lazy, the flags i, m, s and x,
^ and \\Z, $ under m, \\b and \\B; against `regex` set operators, POSIX classes and properties.
Left out for what they mean differently: $ without m (Python's also stands in front of a last line
feed), \\B in the empty text (there is none in Python before 3.14), \\s on U+001C to U+001F, İ and
ı under i, marks (a \\w here, as UTS #18 says, not in Python), non-ASCII members of POSIX
classes, and characters newer than Python's Unicode.
"""

# Tests here say `expected == actual`.
# ruff: noqa: SIM300

import json
import re
import warnings
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest
import regex
from support import ROOT, assert_in_order, reasons
from support.regexes import accepts, automaton_of, node_of

from constrain.compiler.diagnostics import DialectError

RATCHET = ROOT / "tests" / "ratchets" / "regex_python.txt"

LETTERS = "aabbAB1_ -\n\t.éÉſKkKsSßΔσςΣ٣中😀"
SETS = [
    ".",
    r"\d",
    r"\w",
    r"\s",
    r"\D",
    r"\W",
    r"\S",
    "[ab]",
    "[^ab]",
    "[a-f]",
    "[^é\\n]",
    r"[\w-]",
]
SETS += [r"[^\W\d]", "[]a]", "[^]a]", "[a\\-b]", r"[\x41-\u03c3]", r"[\t-\r]", "[-a]", r"\u00e9"]
LOOKS = ["^", r"\A", r"\Z", r"\b", r"\B"]
COUNTS = ["*", "+", "?", "{2}", "{1,2}", "{0,3}", "{2,}", "*?", "+?", "??", "{1,3}?"]
RICH = [
    "[a-f&&[^b]]",
    r"[\w--a]",
    "[[ab]~~[bA]]",
    r"[[:alpha:]&&[\x00-\x7f]]",
    r"[[:^digit:]&&[ab1-9]]",
    r"\p{Lu}",
]
RICH += [r"\P{L}", r"\p{Greek}", r"\p{White_Space}", r"[\p{Ll}--[a-z]]", r"\p{^Lu}", r"[\P{Lu}b]"]


def ratchet() -> dict[str, str]:
    """What is known to differ, with the reason."""
    return reasons(RATCHET)


def test_the_ratchet_is_in_order() -> None:
    """Sorted, each name once, each with a reason, and at most sixty."""
    assert_in_order(RATCHET)
    assert len(ratchet()) <= 60


def outcome(pattern: str, text: str) -> str:
    """What the suite calls it."""
    try:
        node_of(pattern)
        found = accepts(f"(?s:.*)(?:{pattern})(?s:.*)", text)
    except DialectError:
        return "syntax_error"
    return "succeed" if found else "fail"


def test_the_suite(data: Callable[[str], Path]) -> None:
    """CPython's table of searches: found, not found, or refused, but for the ratchet's."""
    lines = data("suites/python-re/re_tests.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    failed = {
        f"{number:03} {row['pattern']}": got
        for number, row in enumerate(rows)
        if (got := outcome(row["pattern"], row["input"])) != row["outcome"]
    }

    assert 403 == len(rows)
    assert {} == {name: got for name, got in failed.items() if name not in ratchet()}
    assert [] == [name for name in ratchet() if name not in failed]


def expression(random: Random, depth: int, sets: list[str]) -> str:
    """A random expression."""
    kind = random.random()
    if depth == 0 or kind < 0.2:
        return re.escape(random.choice(LETTERS))
    if kind < 0.4:
        return random.choice(sets)
    if kind < 0.5:
        return random.choice([*LOOKS, "(?m:$)", "(?m:^)"])
    if kind < 0.75:
        return "".join(expression(random, depth - 1, sets) for _ in range(random.randint(1, 4)))
    if kind < 0.85:
        options = [expression(random, depth - 1, sets) for _ in range(random.randint(2, 3))]
        return f"(?:{'|'.join(options)})"
    opening = random.choice(["(", "(?:", "(?i:", "(?s:", "(?m-i:", "(?P<g>", "(?a:"])
    inner = expression(random, depth - 1, sets)
    if "(?P<g>" in inner and opening == "(?P<g>":
        opening = "("
    return f"{opening}{inner})" + random.choice([*COUNTS, ""])


def text(random: Random) -> str:
    """A random text, not empty."""
    return "".join(random.choice(LETTERS) for _ in range(random.randint(1, 6)))


@pytest.mark.parametrize("engine", ["re", "regex"])
def test_random_expressions(engine: str, full: bool) -> None:
    """Whole matches of 100,000 random pairs under --full, half of them against each engine."""
    random = Random(17)
    compile_: Callable[[str], re.Pattern[str]] = re.compile
    sets = SETS
    if engine == "regex":
        sets = [*(s for s in SETS if s != "[]a]"), *RICH]

        def compile_(pattern: str) -> re.Pattern[str]:
            compiled: re.Pattern[str] = regex.compile(pattern, regex.VERSION1)
            return compiled

    different, compared = [], 0
    while compared < (50_000 if full else 410):
        pattern = expression(random, 4, sets)
        if engine == "regex":
            # In this version of the syntax (?i) folds one character to several, (?a: is an error
            # here and there, and names may be used twice.
            pattern = pattern.replace("(?i:", "(?:").replace("(?a:", "(?:")
            pattern = pattern.replace("(?P<g>", "(")
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                theirs = compile_(pattern)
        except (re.error, regex.error):
            continue
        ours = automaton_of(pattern)
        for _ in range(20):
            sample = text(random)
            compared += 1
            if bool(theirs.fullmatch(sample)) != ours.accepts(sample.encode("utf-8")):
                different.append((pattern, sample))

    assert [] == different
