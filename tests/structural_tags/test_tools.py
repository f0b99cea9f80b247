"""Lists of tools as a dialect: who may be called, how, and with which arguments."""

# Tests here say `expected == actual`.
# ruff: noqa: SIM300

import json
import random
from pathlib import Path
from time import process_time
from typing import Any

import pytest
from support import tokenizer_of
from support.cli import Cli
from support.schema.tools import TOOLS, accepts
from workloads.tools import call, tools

from constrain.compiler import SchemaOptions, compile_grammar
from constrain.compiler.diagnostics import CheckError, Source
from constrain.compiler.structural_tags import STYLES
from constrain.compiler.structural_tags.calls import tools_grammar
from constrain.compiler.structural_tags.tools import tools_in

pytestmark = pytest.mark.quick

WEATHER = '{"name": "weather", "arguments": {"city": "Ulm"}}'
TIME = '{"name": "time", "arguments": {}}'


def hermes(*calls: str) -> str:
    """Calls as Hermes and Qwen write them."""
    return "\n".join(f"<tool_call>\n{each}\n</tool_call>" for each in calls)


def llama(text: str) -> str:
    """A call as Llama 3 writes it."""
    return text.replace("arguments", "parameters")


# Of each style and choice: texts that are members, and texts that are none.
CASES: dict[tuple[str, str], tuple[list[str], list[str]]] = {
    ("json", "required"): (
        [f"[{WEATHER}]", f"[{TIME},{WEATHER}]", '[{"name":"time","arguments":{}}]'],
        ["", "Hello", WEATHER, "[]", f"[{TIME}", f"[{TIME}] ", f"[{TIME}  ,{TIME}]"],
    ),
    ("json", "auto"): (
        ["", "Hello [1]", " \n Hello {}", f"[{WEATHER}]"],
        ["[", "{}", WEATHER, " [1]", f"[{TIME}] Hello"],
    ),
    ("json", "none"): (["", "Hello {}"], ["[", f"[{WEATHER}]", f" {TIME}"]),
    ("hermes", "required"): (
        [hermes(WEATHER), hermes(TIME, WEATHER)],
        ["", "Hello", f"Hello {hermes(TIME)}", f"{hermes(TIME)}\n", f"<tool_call>{TIME}"],
    ),
    ("hermes", "auto"): (
        ["", "Hello", "a <tool", f"Hello.\n{hermes(WEATHER)}\n", f"{hermes(TIME, TIME)} <"],
        ["<tool_call>", "a <tool_call> b", f"{hermes(TIME)}<tool_call>", hermes("{}")],
    ),
    ("hermes", "none"): (["", "a <tool_call", WEATHER], [hermes(WEATHER), "<tool_call>"]),
    ("llama3_json", "required"): (
        [llama(WEATHER), f"{llama(WEATHER)}; {llama(TIME)}"],
        ["", WEATHER, f"{llama(WEATHER)}; ", f"[{llama(TIME)}]", "Hello"],
    ),
    ("llama3_json", "auto"): (["Hello", llama(TIME)], [TIME, "{}"]),
    ("llama3_json", "none"): (["Hello"], [llama(TIME)]),
    ("function", "required"): (
        ['<function=weather>{"city": "Ulm"}</function>', "<function=time>{}</function>" * 2],
        ["", "<function=time></function>", "<function=other>{}</function>", "Hello"],
    ),
    ("function", "auto"): (
        ["Hello", "Hello <function=time>{}</function> <function"],
        ["<function=", "<function=time>{}</function", "a <function=>"],
    ),
    ("function", "none"): (["Hello"], ["<function=time>{}</function>", "<function="]),
}

TEXTS = sorted({style for style, _ in CASES})


@pytest.mark.parametrize(("style", "choice"), CASES)
def test_a_choice_says_whether_there_are_calls_and_a_style_how_they_are_written(
    style: str, choice: str
) -> None:
    """Each style with auto, none and required; auto has free text, too."""
    asked = {"tools": TOOLS, "tool_choice": choice, "style": style}
    members, others = CASES[style, choice]

    assert (members, []) == (
        [text for text in members if accepts(asked, text)],
        [text for text in others if accepts(asked, text)],
    )


@pytest.mark.parametrize("style", TEXTS)
def test_a_text_without_calls_may_have_a_schema(style: str) -> None:
    """Then calls stand alone, where there may be some."""
    response = {"$ref": "#/$defs/c", "$defs": {"c": {"const": 7}}}
    asked = {"tools": TOOLS, "style": style, "response": response}
    calls = [text for text in CASES[style, "required"][0] if text]
    for choice, members, others in (
        ("auto", ["7", *calls], ["", "Hello", "8"]),
        ("none", ["7"], ["", "Hello", *calls]),
        ("required", calls, ["", "7"]),
    ):
        found = {**asked, "tool_choice": choice}
        assert all(accepts(found, text) for text in members)
        assert not any(accepts(found, text) for text in others)


LETTERS = "".join(map(chr, (10, *range(32, 127))))


@pytest.mark.parametrize("tokenization", ["any", "canonical"])
def test_marks_of_calls_may_be_tokens(tmp_path: Path, tokenization: str) -> None:
    """As Qwen has them: what the tokenizer encodes is taken, and the same text without them not."""
    added = [(200, "<end>", True), (201, "<tool_call>", False), (202, "</tool_call>", False)]
    tokenizer = tokenizer_of(tmp_path, LETTERS, ["a m", "am e"], added=added)
    members: dict[str, tuple[list[str], list[str]]] = {
        "required": ([hermes(TIME), hermes(TIME, WEATHER)], ["Hello", f"a {hermes(TIME)}", TIME]),
        "auto": (["", "a <tool", f"a {hermes(TIME)} b"], ["<tool_call>", f"a {hermes('{}')}"]),
        "none": (["Hello"], [hermes(TIME)]),
    }
    for choice, (accepted, refused) in members.items():
        text = json.dumps({"tools": TOOLS, "tool_choice": choice, "style": "qwen"})
        artifact = compile_grammar(
            text,
            tokenizer=tokenizer,
            dialect="tools",
            tokenization=tokenization,
            prewarm=0,
            eos=[200],
            schema=SchemaOptions(whitespace="1"),
        )
        for each in (*accepted, *refused):
            ids = [*tokenizer.encode(each), 200]
            assert (each in accepted) == (len(ids) == artifact.matcher().accept(ids)), each
        bytewise = [LETTERS.index(letter) for letter in hermes(TIME)]
        assert artifact.matcher().accept([*bytewise, 200]) <= len(bytewise)


@pytest.mark.parametrize("style", TEXTS)
def test_without_parallel_calls_there_is_one(style: str) -> None:
    """So it is of a tool that is chosen by its name, and of that tool alone."""
    one = {
        "json": WEATHER,
        "hermes": hermes(WEATHER),
        "llama3_json": llama(WEATHER),
        "function": '<function=weather>{"city": "Ulm"}</function>',
    }[style]
    named: dict[str, Any] = {"type": "function", "function": {"name": "weather"}}
    flat = {"type": "function", "name": "weather"}
    for changes in (
        {"tool_choice": "required", "parallel_tool_calls": False},
        {"tool_choice": "auto", "parallel_tool_calls": False},
        {"tool_choice": named},
        {"tool_choice": flat, "parallel_tool_calls": True},
    ):
        asked = {"tools": TOOLS, "style": style, **changes}
        assert accepts(asked, one)
        assert not accepts(asked, f"{one}{STYLES[style].between}{one}")
        is_open = changes["tool_choice"] in ("auto", "required")
        assert is_open == accepts(
            asked, one.replace("weather", "time").replace('"city": "Ulm"', "")
        )


def test_allowed_tools_are_called_alone() -> None:
    """As responses have them, and as chat completions do."""
    listed = [{"type": "function", "name": "time"}]
    inner = [{"type": "function", "function": {"name": "time"}}]
    for choice in (
        {"type": "allowed_tools", "mode": "required", "tools": listed},
        {"type": "allowed_tools", "allowed_tools": {"mode": "required", "tools": inner}},
    ):
        asked = {"tools": TOOLS, "tool_choice": choice}
        assert accepts(asked, f"[{TIME}]")
        assert not accepts(asked, f"[{WEATHER}]")


def test_thousands_of_allowed_tools_are_found_by_their_names() -> None:
    """And not by comparing each with all tools, which took 4 seconds."""
    kind = {"type": "function"}
    listed = [{**kind, "name": f"a name of a function {i}"} for i in range(20_000)]
    choice = {"type": "allowed_tools", "tools": listed[::-1]}
    value = {"tools": listed, "tool_choice": choice}
    start = process_time()
    found = tools_in(value)

    assert len(listed) == len(found.tools)
    assert process_time() - start < 1


def test_a_list_alone_asks_for_calls_and_definitions_may_be_flat() -> None:
    """As responses have them: without an object around."""
    flat = [{"type": "function", **TOOLS[0]["function"], "strict": True}]

    assert accepts(flat, f"[{WEATHER}]")
    assert not accepts(flat, "Hello")


def test_arguments_are_objects_even_where_their_schema_does_not_say_so() -> None:
    """A schema that allows anything, one without a type, one that leads elsewhere, and none."""
    anything = '[{"name": "f", "arguments": {"a": [1]}}]'
    nothing = '[{"name": "f", "arguments": {}}]'
    schemas: list[Any] = [{}, True, {"properties": {"a": {"type": "array"}}}, {"$ref": "#/$defs/x"}]
    schemas[-1]["$defs"] = {"x": {"minProperties": 1}}
    for schema in schemas:
        asked = [{"type": "function", "function": {"name": "f", "parameters": schema}}]
        assert accepts(asked, anything)
        assert not accepts(asked, '[{"name": "f", "arguments": [1]}]')
    without = [{"type": "function", "function": {"name": "f"}}]
    assert (False, True) == (accepts(without, anything), accepts(without, nothing))


def test_references_are_those_of_their_own_tool() -> None:
    """Two tools have definitions of one name, and one has a name for its schema."""
    of_text = {"$defs": {"x": {"type": "string"}}, "type": "object", "required": ["a"]}
    of_text["properties"] = {"a": {"$ref": "#/$defs/x"}}
    of_number = {**of_text, "$defs": {"x": {"type": "integer"}}, "$id": "https://example.org/b"}
    functions = [{"name": "f", "parameters": of_text}, {"name": "g", "parameters": of_number}]
    asked = [{"type": "function", "function": each} for each in functions]

    for name, value, expected in (("f", '"x"', True), ("f", "1", False), ("g", "1", True)):
        text = f'[{{"name": "{name}", "arguments": {{"a": {value}}}}}]'
        assert expected == accepts(asked, text)


def test_schemas_that_are_alike_have_one_rule() -> None:
    """Whatever they describe; what is alike but for a constant has not."""
    kinds: list[dict[str, Any]] = [{"maxLength": 3, "title": t} for t in ("A", "B")]
    kinds += [{"const": {"title": t}} for t in ("A", "B")]
    properties = {f"p{i}": kind for i, kind in enumerate(kinds)}
    parameters = {"type": "object", "properties": properties, "required": list(properties)}
    asked = [{"type": "function", "function": {"name": "f", "parameters": parameters}}]
    grammar = tools_grammar(Source(json.dumps(asked), "t", "tools"))
    uses = [use.name for rule in grammar.rules for use in rule.uses if use.name.endswith("/p0")]

    assert 2 == len(uses)
    values = ['"abc"', '"d"', '{"title": "A"}', '{"title": "B"}']
    for chosen, expected in ((values, True), (values[:3] + values[2:3], False)):
        inside = ", ".join(f'"p{i}": {value}' for i, value in enumerate(chosen))
        assert expected == accepts(asked, f'[{{"name": "f", "arguments": {{{inside}}}}}]')


REFUSED: dict[str, tuple[Any, str]] = {
    "no list": ("x", "#: this must be an array of tools"),
    "no tools": ({"tool_choice": "auto"}, "#: this must be an array of tools"),
    "none": ([], "#: there is no tool"),
    "a key": ({"tools": TOOLS, "seed": 1}, "#/seed: 'seed' is not known"),
    "a kind": ([{"type": "web_search"}], "#/0/type: tools of the type 'web_search'"),
    "a custom tool": ([{"type": "custom", "custom": {}}], "#/0/type: tools of the type 'custom'"),
    "no name": ([{"type": "function", "function": {}}], "#/0/function: a function has a name"),
    "a key of a tool": ([{**TOOLS[0], "cache": 1}], "#/0/cache: 'cache' is not known"),
    "two of a name": ([TOOLS[0], TOOLS[0]], "#/1/function: #/0/function has the name 'weather'"),
    "a choice": ({"tools": TOOLS, "tool_choice": "any"}, "#/tool_choice: this must be one of auto"),
    "a name": (
        {"tools": TOOLS, "tool_choice": {"type": "function", "name": "x"}},
        "#/tool_choice: there is no tool 'x'",
    ),
    "a style": ({"tools": TOOLS, "style": "xml"}, "#/style: this must be one of json, hermes"),
    "parallel": ({"tools": TOOLS, "parallel_tool_calls": 1}, "#/parallel_tool_calls: this must be"),
    "a schema": (
        [{"type": "function", "function": {"name": "f", "parameters": {"type": "objct"}}}],
        "#/0/function/parameters/type: there is no type 'objct'",
    ),
    "no arguments": (
        [{"type": "function", "function": {"name": "f", "parameters": {"type": "string"}}}],
        "#/0/function/parameters: no object satisfies this schema",
    ),
    "two of an id": (
        [
            {"type": "function", "name": name, "parameters": {"$id": "urn:a", "required": [name]}}
            for name in ("f", "g")
        ],
        "#/1/parameters: #/0/parameters has the same $id",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_not_enforced_is_refused_at_its_place(case: str) -> None:
    """By its pointer."""
    asked, message = REFUSED[case]
    with pytest.raises(CheckError) as caught:
        tools_grammar(Source(json.dumps(asked), "t.json", "tools"))

    assert caught.value.diagnostics[0].message.startswith(message)


def test_calls_of_many_tools_are_members() -> None:
    """Each tool's, with random ones of the arguments that it does not require; not another's."""
    rng, asked = random.Random(7), tools(10, 4)
    for tool in asked:
        text = call(tool, rng)
        assert accepts(asked, f"[{text}]")
        broken = text.replace(f'"{tool["function"]["parameters"]["required"][0]}"', '"other"')
        assert not accepts(asked, f"[{broken}]")


def test_the_command_line_reads_tools(cli: Cli, tmp_path: Path) -> None:
    """By the dialect or the suffix, with options of schemas; explained like other grammars."""
    (tmp_path / "t.json").write_text(json.dumps(TOOLS))
    (tmp_path / "t.tools.json").write_text(json.dumps(TOOLS))
    options = ("--tokenization", "any", "--lazy", "--whitespace", "compact")

    assert 0 == cli("compile", "t.json", "--dialect", "tools", *options, "-o", "t.cst").code
    assert 0 == cli("compile", "t.tools.json", *options).code
    assert 0 == cli("check", "t.tools.json").code
    compact = json.dumps([json.loads(WEATHER)], separators=(",", ":"))
    (tmp_path / "compact").write_text(compact)
    (tmp_path / "spaced").write_text(f"[{WEATHER}]")
    assert [0, 1] == [cli("explain", "t.cst", name).code for name in ("compact", "spaced")]
    assert 2 == cli("compile", "t.tools.json", "--start", "call").code
    assert "tools" in cli("compile", "t.json").err


def test_white_space_of_calls_is_that_of_the_options() -> None:
    """Between all parts that are JSON."""
    spread = '[ {\n"name" :\t"time" , "arguments" : { } } ]'
    for whitespace, expected in (("1", True), ("compact", False), ("one", False)):
        assert expected == accepts(TOOLS, spread, SchemaOptions(whitespace=whitespace))


@pytest.mark.parametrize(
    ("style", "has_tokens", "code", "message", "help_"),
    [
        ("hermes", True, 0, "warning: this style holds", '"style": "qwen" writes it as that token'),
        ("qwen", False, 2, "error: ", '= help: "style": "hermes" writes it as text'),
        ("qwen", True, 0, "", ""),
        ("hermes", False, 0, "", ""),
    ],
)
def test_marks_that_a_tokenizer_has_or_has_not(
    cli: Cli, tmp_path: Path, style: str, has_tokens: bool, code: int, message: str, help_: str
) -> None:
    """Said once, at the style, with the one that fits."""
    marks = [(201, "<tool_call>", False), (202, "</tool_call>", False)]
    added = [(200, "<|endoftext|>", True), *(marks if has_tokens else [])]
    tokenizer_of(tmp_path, LETTERS, [], added=added)
    text = json.dumps({"tools": TOOLS, "tool_choice": "auto", "style": style})
    (tmp_path / "t.tools.json").write_text(text)
    given = ("-t", str(tmp_path / "tokenizer.json"), "--precompute", "none")
    found = cli("compile", "t.tools.json", *given)
    assert code == found.code
    said = [line for line in found.err.splitlines() if line.startswith("t.tools.json:1:")]
    if not message:
        assert not said
        return
    assert 1 == len(said)
    assert said[0].startswith(f"t.tools.json:1:{text.rindex(json.dumps(style)) + 1}: {message}")
    assert help_ in found.err


def test_no_style_is_noted(cli: Cli, tmp_path: Path) -> None:
    """Where the tokenizer has a token for calls; a style that is named is meant."""
    added = [(200, "<|endoftext|>", True), (201, "<tool_call>", False)]
    tokenizer_of(tmp_path, LETTERS, [], added=added)
    given = ("-t", str(tmp_path / "tokenizer.json"), "--precompute", "none")
    for asked, expected in (
        (TOOLS, True),
        ({"tools": TOOLS}, True),
        ({"tools": TOOLS, "style": "json"}, False),
    ):
        (tmp_path / "t.tools.json").write_text(json.dumps(asked))
        found = cli("compile", "t.tools.json", *given)
        assert expected == ('"style": "qwen", "tool_choice": "auto"' in found.err)
        assert expected == ("look at: end-of-text, style, of-the-text;" in found.err)
