"""Each style with each choice, response and number of calls: texts drawn from the masks alone are
read as a host reads them, and their arguments are valid."""

import json
import random
import re
from collections.abc import Callable
from dataclasses import dataclass
from itertools import product
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from constrain.artifacts import Artifact
from constrain.artifacts.tokens import tokenset
from constrain.compiler import Compiler, Tokenizer
from constrain.compiler.options import CompileOptions

CITY = {
    "type": "object",
    "properties": {"city": {"type": "string", "maxLength": 12}, "days": {"type": "integer"}},
    "required": ["city"],
    "additionalProperties": False,
}
TOOLS = [
    {"type": "function", "function": {"name": "weather", "parameters": CITY, "strict": True}},
    {"type": "function", "function": {"name": "weather_map", "parameters": CITY, "strict": False}},
    {"type": "function", "function": {"name": "time"}},
]
PARAMETERS = {"weather": CITY, "weather_map": CITY, "time": {"type": "object"}}
RESPONSE = {"type": "object", "properties": {"ok": {"type": "boolean"}}, "required": ["ok"]}
NAMED = {"type": "function", "function": {"name": "weather_map"}}

CHOICES: dict[str, Any] = {"auto": "auto", "none": "none", "required": "required", "named": NAMED}

# Where masks allow one of these they are often taken, so that strings and texts end.
CLOSERS = frozenset((b'"', b"}", b"]", b"<", b",", b":"))


@dataclass(frozen=True)
class Reading:
    """What a host reads of a text: the name and the arguments of each call, and the text around."""

    calls: list[tuple[str, Any]]
    text: str


def read_json(text: str) -> Reading:
    """An array, or one object; any other text calls nothing."""
    found = json.loads(text) if text.lstrip().startswith(("[", "{")) else {}
    if isinstance(found, dict) and "name" not in found:
        return Reading([], text)
    found = found if isinstance(found, list) else [found]
    return Reading([(each["name"], each["arguments"]) for each in found], "")


def read_llama(text: str) -> Reading:
    """Objects with a semicolon between them."""
    decoder, found, at = json.JSONDecoder(), [], 0
    while text.startswith("{", at):
        value, at = decoder.raw_decode(text, at)
        if "name" not in value:
            return Reading([], text)
        found.append((value["name"], value["parameters"]))
        at += 2 * text.startswith("; ", at)
    assert at == len(text) or not found
    return Reading(found, text[at:])


def read_hermes(text: str) -> Reading:
    """What stands between marks, and what around them."""
    parts = re.split(r"<tool_call>\n(.*?)\n</tool_call>", text, flags=re.DOTALL)
    calls = [json.loads(each) for each in parts[1::2]]
    return Reading([(each["name"], each["arguments"]) for each in calls], "".join(parts[::2]))


def read_function(text: str) -> Reading:
    """The same of other marks, with the name in them."""
    parts = re.split(r"<function=([^>]*)>(.*?)</function>", text, flags=re.DOTALL)
    calls = [(name, json.loads(each)) for name, each in zip(parts[1::3], parts[2::3], strict=True)]
    return Reading(calls, "".join(parts[::3]))


READERS: dict[str, Callable[[str], Reading]] = {
    "json": read_json,
    "llama3_json": read_llama,
    "hermes": read_hermes,
    "function": read_function,
}
# What a call begins with, where there may be other texts.
BEGINNINGS = {
    "json": "[",
    "llama3_json": '{"name',
    "hermes": "<tool_call>",
    "function": "<function=",
}

COMBINATIONS = [
    (style, choice, response, parallel)
    for style, choice, response, parallel in product(READERS, CHOICES, (False, True), (False, True))
    if choice != "none" or parallel
]


def drawn(artifact: Artifact, rng: random.Random, begun: list[int]) -> str:
    """A text of a walk by masks alone, which ends, behind the tokens ``begun``."""
    matcher, vocabulary = artifact.matcher(), artifact.vocabulary
    ids = list(begun)
    for each in begun:
        matcher.advance(each)
    while True:
        assert len(ids) < 2_000
        allowed = tokenset.to_ids(matcher.mask()).tolist()
        assert allowed
        ends = [each for each in allowed if each in artifact.manifest.eos]
        if ends and (len(ends) == len(allowed) or rng.random() < 0.3):
            break
        texts = [each for each in allowed if each not in ends]
        closing = [each for each in texts if vocabulary.token(each)[:1] in CLOSERS]
        often = 0.3 if len(ids) < 100 else 0.95
        ids.append(rng.choice(closing if closing and rng.random() < often else texts))
        matcher.advance(ids[-1])
    return b"".join(map(vocabulary.token, ids)).decode("utf-8")


def valid(value: Any, schema: dict[str, Any]) -> bool:
    """Whether a validator takes it."""
    return Draft202012Validator(schema).is_valid(value)


@pytest.mark.parametrize(("style", "choice", "response", "parallel"), COMBINATIONS)
def test_texts_are_read_as_calls_that_are_valid(
    default_tokenizer: Tokenizer,
    style: str,
    choice: str,
    response: bool,
    parallel: bool,
    full: bool,
) -> None:
    """As many calls as were asked for, of tools that there are, and a response by its schema."""
    asked: dict[str, Any] = {"tools": TOOLS, "tool_choice": CHOICES[choice], "style": style}
    asked |= {"parallel_tool_calls": parallel}
    asked |= {"response": RESPONSE} if response else {}
    options = CompileOptions(dialect="tools", tokenization="any", precompute="none")
    artifact = Compiler(default_tokenizer, options=options).compile(json.dumps(asked))
    rng = random.Random(f"{style}{choice}{response}{parallel}")

    most = 0
    beginning = BEGINNINGS["llama3_json" if style == "json" and not parallel else style]
    begun = default_tokenizer.encode(beginning) if choice == "auto" else []
    for number in range(200 if full else 6):
        text = drawn(artifact, rng, begun if number % 2 else [])
        found = READERS[style](text)
        most = max(most, len(found.calls))
        assert all(valid(value, PARAMETERS[name]) for name, value in found.calls), text
        if choice == "named":
            assert [name for name, _ in found.calls] == ["weather_map"]
        if choice in ("required", "named"):
            assert found.calls
            assert not found.text.strip()
        if choice == "none":
            assert not found.calls
        if not parallel:
            assert len(found.calls) <= 1
        if response and not found.calls:
            assert valid(json.loads(text), RESPONSE), text
    assert (most > 0) == (choice != "none")
