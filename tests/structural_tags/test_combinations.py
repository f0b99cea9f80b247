"""Each style with each choice, response, thought and number of calls: texts drawn from the masks
alone are read as a host reads them, and their arguments are valid."""

import json
import random
from collections.abc import Iterator, Sequence
from itertools import product
from types import SimpleNamespace
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from support import spelling_all_bytes
from support.schema.model_outputs import MODELS, Reading, thinking
from support.serving.detectors import DETECTORS, detector_class

from constrain.artifacts import Artifact
from constrain.artifacts.tokens import tokenset
from constrain.compiler import Compiler, SchemaOptions, Tokenizer
from constrain.compiler.options import CompileOptions
from constrain.compiler.structural_tags import STYLES

CITY = {
    "type": "object",
    "properties": {
        "city": {"type": "string", "maxLength": 6},
        "days": {"type": "integer", "minimum": -99, "maximum": 99},
        "near": {
            "type": "object",
            "properties": {"x": {"enum": [1, None]}},
            "additionalProperties": False,
        },
    },
    "required": ["city"],
    "additionalProperties": False,
}
TOOLS = [
    {"type": "function", "function": {"name": "weather", "parameters": CITY, "strict": True}},
    {"type": "function", "function": {"name": "weather_map", "parameters": CITY, "strict": False}},
    {"type": "function", "function": {"name": "time"}},
]
PARAMETERS = {"weather": CITY, "weather_map": CITY, "time": {"maxProperties": 0}}
RESPONSE = {**CITY, "properties": {"ok": {"type": "boolean"}}, "required": ["ok"]}
NAMED = {"type": "function", "function": {"name": "weather_map"}}

CHOICES: dict[str, Any] = {"auto": "auto", "none": "none", "required": "required", "named": NAMED}

# Where masks allow one of these they are often taken, so that strings and texts end.
CLOSERS = frozenset((b'"', b"}", b"]", b"<", b",", b":", b"/"))


# Styles whose marks are tokens of the tokenizer.
OF_TOKENS = [style.name for style in STYLES.values() if style.tokens]


def combinations(style: str) -> Iterator[tuple[str, bool, bool, str]]:
    """A choice, whether there is a schema of texts, whether there may be several calls, and whether
    there is a thought."""
    thoughts = ("disabled", "enabled", "auto") if MODELS[style].thought else ("disabled",)
    for choice, response, parallel in product(CHOICES, (False, True), (False, True)):
        if choice != "none" or parallel:
            yield from ((choice, response, parallel, thought) for thought in thoughts)


def drawn(
    artifact: Artifact, rng: random.Random, marks: Sequence[list[int]], *, calls: bool
) -> str:
    """A text of a walk by masks alone, which ends; ``marks`` are tokens that it tries, and mostly
    where it should have ``calls``."""
    matcher, vocabulary = artifact.matcher(), artifact.vocabulary
    ids: list[int] = []
    while True:
        assert len(ids) < 2_000
        allowed = tokenset.to_ids(matcher.mask()).tolist()
        assert allowed
        ends = [each for each in allowed if each in artifact.manifest.eos]
        if ends and (len(ends) == len(allowed) or rng.random() < (0.03 if calls else 0.3)):
            break
        calls &= len(ids) < 40
        often = 0.3 if len(ids) < 100 else 0.95
        found = [each for each in marks if matcher.validate(each) == len(each)]
        if found and rng.random() < (0.9 if calls else often):
            taken = rng.choice(found)
        else:
            texts = [each for each in allowed if each not in ends]
            closing = [each for each in texts if vocabulary.token(each)[:1] in CLOSERS]
            taken = [rng.choice(closing if closing and rng.random() < often else texts)]
        assert matcher.accept(taken) == len(taken)
        ids += taken
    return b"".join(map(vocabulary.token, ids)).decode("utf-8")


def valid(value: Any, schema: dict[str, Any]) -> bool:
    """Whether a validator takes it."""
    return Draft202012Validator(schema).is_valid(value)


@pytest.fixture(scope="module")
def marked(tmp_path_factory: pytest.TempPathFactory) -> Tokenizer:
    """Has the marks of all styles as tokens; the first of them ends a text."""
    tokens = dict.fromkeys(token for name in OF_TOKENS for token in STYLES[name].tokens)
    letters = "".join(map(chr, (10, *range(32, 127))))
    return spelling_all_bytes(tmp_path_factory.mktemp("marks"), letters, [], ("<eos>", *tokens))


def test_every_style_is_read() -> None:
    """By a reader of its own, and with each model 40 combinations at least."""
    assert set(MODELS) == set(STYLES)
    assert all(
        len(list(combinations(name))) >= 40 for name, model in MODELS.items() if model.thought
    )


@pytest.mark.parametrize("style", MODELS)
def test_texts_are_read_as_calls_that_are_valid(
    default_tokenizer: Tokenizer, marked: Tokenizer, style: str, full: bool
) -> None:
    """As many calls as were asked for, of tools that there are, a response by its schema, and a
    thought before all where there must be one."""
    tokenizer = marked if style in OF_TOKENS else default_tokenizer
    for asked in requests(style, full):
        check_texts(tokenizer, asked, 16 if full else 3)


# Where SGLang reads otherwise: strings without the white space that DeepSeek's encoding has in
# them; and after "; " calls of Llama that begin as it looks for them.
STRIPPED = ("deepseek_v3_2", "deepseek_v4", "deepseek_v4_1")
BEGINS = {"llama3_json": '{"name":'}


@pytest.mark.parametrize("style", DETECTORS)
def test_sglang_reads_the_same_calls(
    default_tokenizer: Tokenizer, marked: Tokenizer, style: str, full: bool
) -> None:
    """By its own readers, of what stands after a thought."""
    tokenizer, thought = marked if style in OF_TOKENS else default_tokenizer, MODELS[style].thought
    tools = [
        SimpleNamespace(type="function", function=SimpleNamespace(**of))
        for of in ({"parameters": None, **each["function"]} for each in TOOLS)
    ]
    with detector_class(style) as detector:
        for asked in requests(style, full):
            for text, found in texts(tokenizer, asked, 6):
                if asked["tool_choice"] == "none" or asked.get("reasoning") == "auto":
                    continue
                rest = text.partition(thought[1])[2] if thought and found.thought else text
                host = detector()
                read = host.detect_and_parse(rest, tools).calls if host.has_tool_call(rest) else []
                calls = [(each.name, json.loads(each.parameters)) for each in read]
                expected = found.calls
                if style in STRIPPED:
                    expected = [(name, stripped(value)) for name, value in expected]
                    calls = [(name, stripped(value)) for name, value in calls]
                if rest.count(BEGINS.get(style, "")) >= len(expected):
                    assert expected == calls, text


def stripped(value: dict[str, Any]) -> dict[str, Any]:
    """Arguments whose texts are without white space around."""
    return {k: each.strip() if isinstance(each, str) else each for k, each in value.items()}


def requests(style: str, full: bool) -> Iterator[dict[str, Any]]:
    """The requests of combinations, all or some."""
    every = list(combinations(style))
    chosen = every if full else random.Random(style).sample(every, 4)
    for choice, response, parallel, thought in chosen:
        asked: dict[str, Any] = {"tools": TOOLS, "tool_choice": CHOICES[choice], "style": style}
        asked |= {"parallel_tool_calls": parallel}
        asked |= {"response": RESPONSE} if response else {}
        yield asked | ({"reasoning": thought} if thought != "disabled" else {})


def texts(tokenizer: Tokenizer, asked: Any, count: int) -> Iterator[tuple[str, Reading]]:
    """Texts of a request, and what the reader of the model's template reads."""
    options = CompileOptions(
        dialect="tools",
        tokenization="any",
        precompute="none",
        schema=SchemaOptions(whitespace="1"),
    )
    artifact = Compiler(tokenizer, options=options).compile(json.dumps(asked))
    rng = random.Random(json.dumps(asked))
    model, choice = MODELS[asked["style"]], asked["tool_choice"]
    read, marks, reasoning = model.read, model.marks, asked.get("reasoning", "disabled")
    if model.thought is not None and reasoning != "disabled":
        marks = (*marks, model.thought[1], "".join(model.thought[1:]))
        if asked["style"] != "harmony":
            read = thinking(*model.thought, reasoning == "enabled", read)
    if choice == "none":
        marks = tuple(mark for mark in marks if mark in (model.thought or ()))
    marks = (*marks, model.end) if model.end else marks
    encoded = [tokenizer.encode(mark) for mark in marks]
    for number in range(count):
        text = drawn(artifact, rng, encoded, calls=number % 2 == 0)
        yield text, read(text)


def check_texts(tokenizer: Tokenizer, asked: Any, count: int) -> None:
    """What texts of a request are read as."""
    choice, reasoning = asked["tool_choice"], asked.get("reasoning", "disabled")
    most, thoughts = 0, 0
    for text, found in texts(tokenizer, asked, count):
        most, thoughts = max(most, len(found.calls)), thoughts + (found.thought is not None)
        assert all(valid(value, PARAMETERS[name]) for name, value in found.calls), text
        if choice == NAMED:
            assert [name for name, _ in found.calls] == ["weather_map"], text
        if choice in ("required", NAMED):
            assert found.calls, text
            assert not found.text.strip(), text
        if choice == "none":
            assert not found.calls, text
        if not asked["parallel_tool_calls"]:
            assert len(found.calls) <= 1, text
        if "response" in asked and not found.calls:
            assert valid(json.loads(found.text), RESPONSE), text
    assert (most > 0) == (choice != "none"), asked
    assert reasoning != "enabled" or thoughts == count
    assert reasoning != "disabled" or thoughts == 0
