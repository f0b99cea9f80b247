"""JSON Schemas, tools, structural tags and requests that chance has changed: answers all."""

# Tests here say `expected == actual`.
# ruff: noqa: SIM300

import json
import random
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from support import EXAMPLES
from support.fuzzing import mutations, seeds, small_tokenizer
from support.fuzzing.calls import LIMITS, called, tried
from support.schema import random_schemas
from support.schema.tools import TOOLS

from constrain.compiler import Compiler, Limits, load_tokenizer
from constrain.compiler.serving.requests import request_of

GROUPS = ("json-schema", "tools", "structural-tag", "request")

_SCHEMA = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}
_TAG = {
    "type": "structural_tag",
    "structures": [{"begin": "<f>", "schema": _SCHEMA, "end": "</f>"}],
    "triggers": ["<f"],
}
REQUESTS: tuple[dict[str, Any], ...] = (
    {"response_format": {"type": "json_schema", "json_schema": {"name": "p", "schema": _SCHEMA}}},
    {"response_format": {"type": "json_object"}, "temperature": 0.5},
    {"response_format": _TAG},
    {"text": {"format": {"type": "json_schema", "name": "p", "schema": _SCHEMA}}},
    {"tools": TOOLS, "tool_choice": "required", "parallel_tool_calls": False},
    {"tools": TOOLS, "tool_choice": {"type": "function", "function": {"name": "time"}}},
    {"structured_outputs": {"choice": ["yes", "no"]}},
    {"structured_outputs": {"regex": "[a-z]+@[a-z]+"}},
    {"structured_outputs": {"grammar": 'root ::= "a" | "b" root'}},
    {"structured_outputs": {"json": _SCHEMA, "whitespace_pattern": " ?"}},
    {"format": _SCHEMA, "model": "m"},
    {"ebnf": 'root ::= "a"', "sampling_params": {"regex": "a"}},
)

# Limits of a compilation in the library, as those of the command line.
_LIMITS = Limits(states=5_000, memory=300_000_000, seconds=2)


@pytest.fixture(scope="module")
def room(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a small tokenizer, which schemas are written to."""
    return furnish(tmp_path_factory.mktemp("schemas"))


def furnish(folder: Path) -> Path:
    """Put a small tokenizer into a folder."""
    small_tokenizer(folder)
    (folder / "text").write_bytes(b'{"a": 12}')
    return folder


@cache
def values(group: str) -> list[Any]:
    """The seeds of a group, as JSON values."""
    if group == "json-schema":
        return seeds.schemas()
    if group == "tools":
        return [TOOLS, {"tools": TOOLS, "tool_choice": "required"}, TOOLS[:1]]
    if group == "structural-tag":
        files = sorted(EXAMPLES.rglob("*.structural-tag.json"))
        return [_TAG, *(json.loads(file.read_bytes()) for file in files)]
    return list(REQUESTS)


@cache
def compiler(room: Path) -> Compiler:
    """One for the small tokenizer."""
    return Compiler(load_tokenizer(room / "tokenizer.json"))


def flaws_of(group: str, number: int, room: Path, full: bool) -> dict[str, str]:
    """What is wrong with the answers to one value of a group, and its text."""
    rng = random.Random(f"{group} {number}")
    seed = rng.choice(values(group))
    if group == "json-schema" and rng.random() < 0.4:
        seed = random_schemas.document(rng)
    if group == "request":
        found = mutations.value(rng, seed)
        ended = tried(lambda: answer(rng, found, room))
        return {ended.flaw: f"{number}: {repr(found)[:3000]}"} if ended.flaw else {}
    others = [json.dumps(value).encode() for value in values(group)]
    text = mutations.json_text(rng, seed, others)
    file = room / f"grammar.{group}.json"
    file.write_bytes(text)
    flaws = {}
    calls = commands(rng, str(file), room)
    for call in calls if full else rng.sample(calls, 2):
        if flaw := called(*call, "--dialect", group, *LIMITS).flaw:
            flaws[flaw] = f"{number}: {call}: {text[:3000]!r}"
    return flaws


def answer(rng: random.Random, fields: Any, room: Path) -> None:
    """What a server does with a request: read it, and compile its grammar."""
    found = request_of(fields, tokenization=rng.choice(("any", "canonical")))
    if found is not None:
        artifact = compiler(room).compile(
            found.text, name=found.name, **{**found.changes, "limits": _LIMITS}
        )
        artifact.matcher().mask()


def commands(rng: random.Random, file: str, room: Path) -> list[tuple[str, ...]]:
    """Calls on a file: of reading it in each manner, and of some commands by chance."""
    tokens = ("--tokenizer", str(room / "tokenizer.json"), "--no-cache")
    out = str(room / "out")
    options = rng.choice(
        ((), ("--order", "any"), ("--whitespace", "2"), ("--ascii", "--integer", "decimal"))
    )
    return [
        ("check", file, "--format", rng.choice(("text", "json", "sarif")), *options),
        ("compile", file, "-o", out + ".cst", *tokens, *options, "--tokenization", "any"),
        rng.choice(
            (
                ("compile", file, "-o", out + ".cst", *tokens, "--tokenization", "canonical"),
                ("mask", file, "--prefix", '{"', *tokens, "--tokenization", "any"),
                ("show", file, "--stage", rng.choice(("tree", "lnf", "network")), *tokens),
                ("inspect", file, "-o", out + ".html", *tokens, "--max-page-bytes", "300000"),
            )
        ),
        rng.choice(
            (
                ("explain", file, str(room / "text"), *options),
                ("convert", file, "--to", "gbnf", *options),
                ("sample", file, "--number", "2", *options),
                ("viz", file, "-o", out + ".dot", *tokens),
            )
        ),
    ]


@pytest.mark.parametrize("group", GROUPS)
def test_every_schema_and_request_is_answered(
    group: str, room: Path, full: bool, record_property: Callable[[str, object], None]
) -> None:
    """Compiled, refused with its place, or by a limit: never an exception of another kind."""
    count, flaws = 1_250 if full else 3, {}
    for number in range(count):
        flaws.update(flaws_of(group, number, room, full))
    record_property("schemas and requests", count)

    assert {} == flaws
