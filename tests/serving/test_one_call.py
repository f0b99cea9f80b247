"""``constrain.compile``: types and objects of Python, options by name, and errors in its words."""

import inspect
import json
import re
from dataclasses import dataclass, fields
from enum import Enum
from typing import Any, Literal, Unpack

import numpy as np
import pytest
from support import python

import constrain
from constrain.compiler.limits import Limits
from constrain.compiler.options import CompileOptions
from constrain.compiler.schema import SchemaOptions
from constrain.compiler.serving.one_call import Options
from constrain.compiler.serving.python_grammars import written

pydantic = pytest.importorskip("pydantic")

pytestmark = pytest.mark.quick


class Colour(Enum):
    RED = "red"
    BLUE = "blue"


@dataclass
class Point:
    x: int
    y: int


class Person(pydantic.BaseModel):  # type: ignore[misc, name-defined]
    name: str
    age: int


SCHEMA = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}
OPENAI = [{"type": "function", "function": {"name": "f", "parameters": SCHEMA}}]
CASES: list[tuple[Any, str, str]] = [
    (SCHEMA, '{"a":1}', '{"a":"1"}'),
    (Person, '{"name":"Ann","age":3}', '{"name":"Ann"}'),
    (pydantic.TypeAdapter(list[int]), "[1,2]", '["1"]'),
    (list[int], "[1,2]", '["1"]'),
    (Point, '{"x":1,"y":2}', '{"x":1}'),
    (Colour, '"red"', '"green"'),
    (Literal["yes", "no"], '"yes"', '"maybe"'),
    (int | None, "null", "true"),
    (re.compile("[a-c]+", re.IGNORECASE), "aBc", "abd"),
    (re.compile("[a[]+\n"), "a[\n", "b"),
    (OPENAI, '[{"name":"f","arguments":{"a":1}}]', '[{"name":"f","arguments":{}}]'),
    (
        [{"name": "f", "input_schema": SCHEMA, "cache_control": {"type": "ephemeral"}}],
        '[{"name":"f","arguments":{"a":1}}]',
        '[{"name":"f","arguments":{}}]',
    ),
    (
        [{"name": "f", "title": "F", "inputSchema": SCHEMA, "annotations": {"x": 1}}],
        '[{"name":"f","arguments":{"a":1}}]',
        '[{"name":"f","arguments":{}}]',
    ),
]


@pytest.mark.parametrize(("grammar", "member", "other"), CASES)
def test_what_stands_for_texts_is_compiled(grammar: Any, member: str, other: str) -> None:
    """Of a member all can be read, and of another text not."""
    artifact = constrain.compile(grammar, tokenization="any", prewarm=0)

    assert artifact.viable_bytes(member.encode()) == len(member)
    matcher = artifact.matcher()
    for token in constrain.load_tokenizer().encode(member):
        matcher.advance(token)
    assert matcher.is_accepting
    assert artifact.viable_bytes(other.encode()) < len(other) or other == '{"name":"Ann"}'


def test_a_class_of_tools_of_mcp_is_asked_for_its_fields() -> None:
    """By their aliases."""

    class Tool(pydantic.BaseModel):  # type: ignore[misc, name-defined]
        name: str
        arguments: dict[str, Any] = pydantic.Field(alias="inputSchema")

    text, dialect = written([Tool(name="f", inputSchema=SCHEMA)])

    assert dialect == "tools"
    assert json.loads(text) == [{"name": "f", "parameters": SCHEMA}]


def test_options_are_those_of_the_library_by_name() -> None:
    """Each with its type, and none that only the compiler itself sets."""
    said = inspect.get_annotations(Options)
    known = {each.name: each.type for each in (*fields(CompileOptions), *fields(SchemaOptions))}
    for name in ("is_guessed", "schema", "limits", "keeps_counts", "lazy_from", "marks_equal"):
        del known[name]
    known |= {f"max_{each.name}": each.type for each in fields(Limits) if each.name != "meter"}
    parameter = inspect.signature(constrain.compile).parameters["options"]

    assert said == known
    assert parameter.annotation == Unpack[Options]


def test_options_of_schemas_hold() -> None:
    """Without a ``SchemaOptions`` around them."""
    compact = constrain.compile(SCHEMA, tokenization="any", prewarm=0, whitespace="compact")

    assert compact.viable_bytes(b'{ "a":1}') == 1


@pytest.mark.parametrize(
    ("given", "options", "error", "said"),
    [
        ("x", {}, TypeError, "dialect="),
        (SCHEMA, {"white_space": "compact"}, TypeError, "no option 'white_space'"),
        (SCHEMA, {"dialect": "gbnf"}, ValueError, "of the dialect 'json-schema'"),
        (3, {}, TypeError, "int is no grammar"),
        (re.compile(b"a"), {}, TypeError, "bytes"),
        (["f"], {}, TypeError, "a tool is a dict"),
        (SCHEMA, {"max_states": 1, "engine": "dfa"}, constrain.ConstrainError, "max_states="),
        ({"uniqueItems": True}, {"prewarm": 1}, constrain.ConstrainError, 'unique="ignore" leaves'),
    ],
)
def test_errors_are_in_the_words_of_the_library(
    given: Any, options: dict[str, Any], error: type[Exception], said: str
) -> None:
    """What was given, and the argument that helps."""
    with pytest.raises(error) as raised:
        constrain.compile(given, **options)

    assert said in str(raised.value)
    assert "--" not in str(raised.value)


def test_matchers_say_what_they_take() -> None:
    """No id, and no array."""
    artifact = constrain.compile({"type": "integer"}, tokenization="any", prewarm=0)
    matcher = artifact.matcher()

    for wrong in ("1", None, 1.5):
        with pytest.raises(TypeError, match="id of a token is wanted"):
            matcher.advance(wrong)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="NumPy array or to a tensor of PyTorch, not list"):
        matcher.apply([0.0])  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="not list"):
        matcher.fill([0])  # type: ignore[arg-type]
    matcher.apply(np.zeros(artifact.manifest.vocab_size, np.float32))


def test_tensors_of_pytorch_are_written_to() -> None:
    """As arrays of NumPy are."""
    torch = pytest.importorskip("torch")
    artifact = constrain.compile({"type": "integer"}, tokenization="any", prewarm=0)
    matcher, size = artifact.matcher(), artifact.manifest.vocab_size
    logits, expected = torch.zeros(size), np.zeros(size, np.float32)
    matcher.apply(logits)
    matcher.apply(expected)

    assert logits.numpy().tolist() == expected.tolist()
    with pytest.raises(TypeError, match="apply_torch"):
        matcher.apply(torch.zeros(size, dtype=torch.bfloat16))


def test_each_name_fits_a_line() -> None:
    """Of what a prompt shows."""
    tokenizer = constrain.load_tokenizer()
    artifact = constrain.compile({"type": "integer"}, tokenizer, tokenization="any", prewarm=0)
    shown = [repr(each) for each in (artifact, tokenizer, constrain.Compiler(tokenizer))]

    assert all(len(text) < 100 for text in shown), shown


def test_the_package_loads_nothing_before_it_is_used() -> None:
    """All names are there, and what decodes loads no compiler."""
    program = """
import sys, constrain
assert {"compile", "load", "Compiler", "__version__"} <= set(dir(constrain))
import constrain.artifacts
constrain.load
assert constrain.__version__[0].isdigit()
print([name for name in sys.modules if name.startswith("constrain.compiler")])
"""
    ran = python("-c", program)

    assert ran.stdout.decode().strip() == "[]", ran.stderr
