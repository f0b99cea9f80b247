"""Case files, suites of schemas, project files and jobs that chance has changed: answers all."""

# Tests here say `expected == actual`.
# ruff: noqa: SIM300

import json
import random
from collections.abc import Callable
from pathlib import Path

import pytest
from support import EXAMPLES
from support.fuzzing import mutations, seeds, small_tokenizer
from support.fuzzing.calls import LIMITS, called

pytestmark = pytest.mark.quick

GROUPS = ("cases", "suite", "project", "jobs")

GRAMMARS = ("date.ebnf", "words.ebnf", "person.ebnf", "ipv4.regex", "json.lark", "code.lark")

# Every attribute and every expectation that there is.
CASES = rb"""# a comment
grammar: date.ebnf
tokenizer: tokenizer.json
tokenization: any
max-depth: 3

===|x
a day
:escape
===|x
2024-\x30\u0031-29
---|x
at: 1:11
tokens: 2 0 2 4 - 0 1 - 2 9
path: date > day

===|x
bytes
:hex
:start year
===|x
32 30 32 34
---|x

===|x
too early
:incomplete
===|x
2024-
---|x
count: 12
allowed: 0 1
refused: 9 "\n"
forced: ""
expected: [0-9] or "-"
rule: month
message: more

===|x
lines
:lines
:invalid
:todo later
===|x
1
---|x

===|x
drawn
:sample 3 7
:skip for now
===|x
---|x

===|x
ids
:tokens
:fail-fast
===|x
#18 #16 "2" <eos>
---|x

===|x
by a program
:command cat
===|x
2024-01-01
---|x
"""

SUITE = [
    {
        "description": "integers",
        "schema": {"type": "object", "properties": {"a": {"type": "integer"}}},
        "tests": [
            {"description": "one", "data": {"a": 1}, "valid": True},
            {"description": "a text", "data": {"a": "x"}, "valid": False},
        ],
    }
]

JOBS = [
    {"path": "date.ebnf", "tokenizer": ["tokenizer.json"], "tokenization": "any", "prewarm": 0},
    {"name": "p", "dialect": "json-schema", "grammar": {"type": "object"}, "max-states": 500},
    {"name": "a.regex", "grammar": "[a-z]+", "tokenizer": "tokenizer.json", "eos": ["<eos>"]},
    {"name": "c", "request": {"response_format": {"type": "json_object"}}},
    {"request": {"structured_outputs": {"choice": ["yes", "no"]}}, "tokenizer": []},
]

PROJECT = b"""# How grammars here are compiled.
tokenization = "any"
tokenizer = "small"
max-states = 5000
max-seconds = 2
whitespace = "one"
min_coverage = 50.5
lazy = true
allow = ["unused-rule"]

[tokenizers]
small = "tokenizer.json"

[grammars]
"date.ebnf" = { max-depth = 2, tests = ["date.test"], eos = ["<eos>"] }
"*.lark" = {}

[grammars."words.ebnf"]
start = "start"
dialect = "kbnf"
min-coverage = 10
"""


@pytest.fixture(scope="module")
def room(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a small tokenizer and the examples' grammars."""
    return furnish(tmp_path_factory.mktemp("cases"))


def furnish(folder: Path) -> Path:
    """Put grammars and a small tokenizer into a folder."""
    small_tokenizer(folder)
    for name in GRAMMARS:
        (folder / name).write_bytes((EXAMPLES / name).read_bytes())
    (folder / "date.test").write_bytes(CASES)
    return folder


def flaws_of(group: str, number: int, room: Path, full: bool) -> dict[str, str]:
    """What is wrong with the answers to one file of a group, and the file."""
    rng = random.Random(f"{group} {number}")
    tests = [CASES, CASES, *(text for _, text in seeds.case_files())]
    if group == "suite":
        text = mutations.json_text(rng, SUITE, [json.dumps(SUITE).encode(), *tests])
        file = room / "suite.json"
    elif group == "cases":
        text, file = mutations.text(rng, rng.choice(tests), tests), room / "mutated.test"
    elif group == "jobs":
        lines = [mutations.json_text(rng, rng.choice(JOBS), [CASES]) for _ in range(3)]
        text, file = b"\n".join(lines), room / "jobs.jsonl"
    else:
        text = mutations.text(rng, PROJECT, [PROJECT, CASES])
        file = room / "changed.toml"
    file.write_bytes(text)
    flaws = {}
    for call in commands(rng, group, file):
        if flaw := called(*call).flaw:
            flaws[flaw] = f"{number}: {call}: {text[:3000]!r}"
    return flaws


def commands(rng: random.Random, group: str, file: Path) -> list[tuple[str, ...]]:
    """Calls on a file. No case may run its command, and nothing but the file is rewritten."""
    output = ("--format", rng.choice(("text", "json", "junit", "tap", "github")), *LIMITS)
    if group == "project":
        grammar = str(file.parent / rng.choice(GRAMMARS[:2]))
        return [
            ("config", "--config", str(file), "--format", rng.choice(("text", "json"))),
            rng.choice(
                (
                    ("check", "--config", str(file)),
                    ("check", grammar, "--config", str(file)),
                    ("compile", grammar, "--config", str(file), "-o", str(file.parent / "o.cst")),
                    ("test", grammar, "--config", str(file), "--max-seconds", "2"),
                )
            ),
        ]
    if group == "jobs":  # Of so many shares the first has none: all is read, nothing compiled.
        tokens = ("--tokenizer", str(file.parent / "tokenizer.json"))
        share = ("--store", str(file.parent / "store"), "--shard", "0/999999999")
        return [("compile-many", str(file), *tokens, *share, *LIMITS)]
    if group == "cases" and rng.random() < 0.2:
        return [("test", str(file), "--update", *output)]
    more = rng.choice(((), (), ("--coverage",), ("--filter", "a")))
    return [("test", str(file), *more, *output)]


@pytest.mark.parametrize("group", GROUPS)
def test_every_file_of_cases_and_every_project_file_is_answered(
    group: str, room: Path, full: bool, record_property: Callable[[str, object], None]
) -> None:
    """Passed, failed, a message or a limit: never an exception, nothing endless, nothing raw."""
    count, flaws = 700 if full else 4, {}
    for number in range(count):
        flaws.update(flaws_of(group, number, room, full))
    record_property("files", count)

    assert {} == flaws


def test_no_changed_case_file_runs_a_command(room: Path, full: bool) -> None:
    """Without --allow-commands, whatever the file says."""
    marker = room / "was-run"
    seed = CASES.replace(b":command cat", f":command touch {marker}".encode())
    for number in range(300 if full else 10):
        rng = random.Random(f"command {number}")
        file = room / "command.test"
        file.write_bytes(mutations.text(rng, seed, [seed]))
        called("test", str(file), *LIMITS)
        assert not marker.exists(), file.read_bytes()
