"""Texts as the chat templates of models have them, and how requests reach each style."""

# Tests here say `expected == actual`.
# ruff: noqa: SIM300

import json
from pathlib import Path
from typing import Any

import pytest
from support import spelling_all_bytes
from support.schema.tools import TOOLS, accepts

from constrain.compiler import compile_grammar
from constrain.compiler.diagnostics import CheckError, Source
from constrain.compiler.serving.requests import RequestError, request_of
from constrain.compiler.structural_tags import STYLES
from constrain.compiler.structural_tags.calls import tools_grammar

pytestmark = pytest.mark.quick

ARGUMENTS = '{"city": "Ulm", "days": 3}'

# Of each style: a call of two arguments and one without any, as its model's template writes them.
CALLS: dict[str, str] = {
    "exaone": f'<tool_call>{{"name": "weather", "arguments": {ARGUMENTS}}}</tool_call>\n'
    '<tool_call>{"name": "time", "arguments": {}}</tool_call>',
    "qwen_3_coder": "<tool_call>\n<function=weather>\n<parameter=city>\nUlm\n</parameter>\n"
    "<parameter=days>\n3\n</parameter>\n</function>\n</tool_call>\n"
    "<tool_call>\n<function=time>\n\n</function>\n</tool_call>",
    "mimo": "<tool_call><function=weather><parameter=city>Ulm</parameter>"
    "<parameter=days>3</parameter></function></tool_call>"
    "<tool_call><function=time></function></tool_call>",
    "glm_4_7": "<tool_call>weather<arg_key>city</arg_key><arg_value>Ulm</arg_value>"
    "<arg_key>days</arg_key><arg_value>3</arg_value></tool_call><tool_call>time</tool_call>",
    "kimi": "<|tool_calls_section_begin|>"
    f"<|tool_call_begin|>functions.weather:0<|tool_call_argument_begin|>{ARGUMENTS}"
    "<|tool_call_end|><|tool_call_begin|>functions.time:1<|tool_call_argument_begin|>{}"
    "<|tool_call_end|><|tool_calls_section_end|>",
    "deepseek_r1": "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>weather\n"
    f"```json\n{ARGUMENTS}\n```<｜tool▁call▁end｜>\n<｜tool▁call▁begin｜>function<｜tool▁sep｜>time\n"
    "```json\n{}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
    "deepseek_v3_1": "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>weather<｜tool▁sep｜>"
    f"{ARGUMENTS}<｜tool▁call▁end｜><｜tool▁call▁begin｜>time<｜tool▁sep｜>{{}}<｜tool▁call▁end｜>"
    "<｜tool▁calls▁end｜>",
    "minimax": '\n<minimax:tool_call>\n<invoke name="weather">\n<parameter name="city">Ulm'
    '</parameter>\n<parameter name="days">3</parameter>\n</invoke>\n<invoke name="time">\n'
    "</invoke>\n</minimax:tool_call>",
    "cohere": '<cofl:tool_calls><cofl:tool_call id="0" name="weather">'
    '<cofl:value name="city" type="raw">Ulm</cofl:value>'
    '<cofl:value name="days" type="json">3</cofl:value></cofl:tool_call>'
    '<cofl:tool_call id="1" name="time"></cofl:tool_call></cofl:tool_calls>',
}
DSML = (
    '\n\n<｜DSML｜{calls}>\n<｜DSML｜{space}invoke name="weather">\n'
    '<｜DSML｜{space}parameter name="city" string="true">Ulm</｜DSML｜{space}parameter>\n'
    '<｜DSML｜{space}parameter name="days" string="false">3</｜DSML｜{space}parameter>\n'
    '</｜DSML｜{space}invoke>\n<｜DSML｜{space}invoke name="time">\n</｜DSML｜{space}invoke>\n'
    "</｜DSML｜{calls}>"
)
for name, calls, space in (
    ("deepseek_v3_2", "function_calls", ""),
    ("deepseek_v4", "tool_calls", ""),
    ("deepseek_v4_1", " calls", " "),
):
    CALLS[name] = DSML.format(calls=calls, space=space)


@pytest.mark.parametrize("style", CALLS)
def test_calls_are_those_of_the_models_template(style: str) -> None:
    """Alone and after other text; a tool that there is not, and arguments of another type, not."""
    text = CALLS[style]
    for choice, expected in (("required", True), ("auto", True), ("none", False)):
        asked = {"tools": TOOLS, "tool_choice": choice, "style": style}
        assert expected == accepts(asked, text)
        assert (choice == "auto") == accepts(asked, f"Let me see.{text}")
        assert (choice != "required") == accepts(asked, "Hello")
        for old, new in (("weather", "whether"), ("3", "x"), ("city", "town")):
            assert text.replace(old, new) != text
            assert not accepts(asked, text.replace(old, new))
    one = {"tools": TOOLS, "tool_choice": "required", "style": style, "parallel_tool_calls": False}
    assert not accepts(one, text)


@pytest.mark.parametrize("style", CALLS)
def test_a_thought_stands_before_all_else(style: str) -> None:
    """It must, or may; its first mark may stand in the prompt."""
    thought = STYLES[style].thought
    assert thought is not None
    closing = thought.closing + thought.behind
    texts = {"": False, f"Hm.{closing}": True, f"{thought.opening}Hm.{closing}": True}
    for reasoning in ("disabled", "enabled", "auto"):
        asked = {"tools": TOOLS, "tool_choice": "required", "style": style}
        asked |= {"reasoning": reasoning}
        found = [accepts(asked, f"{before}{CALLS[style]}") for before in texts]
        match reasoning:
            case "enabled":
                assert [False, True, True] == found
            case "auto":
                assert [True, False, True] == found
            case _:
                assert [True, False, False] == found
        free = {**asked, "tool_choice": "none"}
        assert (reasoning == "disabled") == accepts(free, f"{thought.opening}a")


def test_marks_of_harmony_are_tokens(tmp_path: Path) -> None:
    """A call is the last thing in a text, and what stops the model may stand for its end."""
    tokens = STYLES["harmony"].tokens
    letters = "".join(map(chr, range(32, 127)))
    tokenizer = spelling_all_bytes(tmp_path, letters, [], ("<eos>", *tokens))
    analysis = "<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant"
    call = f"<|channel|>commentary to=functions.weather <|constrain|>json<|message|>{ARGUMENTS}"
    other = f" to=functions.weather<|channel|>commentary json<|message|>{ARGUMENTS}<|call|>"
    final = "<|channel|>final<|message|>Hello"
    for reasoning, choice, members, others in (
        ("enabled", "auto", [analysis + call, analysis + other, analysis + final], [call, final]),
        ("auto", "required", [call, f"{call}<|call|>", analysis + other], [final, "Hello"]),
        ("disabled", "auto", [call, final, other], [analysis + final, "Hello", other + other]),
        ("enabled", "none", [analysis + final], [final, analysis + call]),
    ):
        asked = {"tools": TOOLS, "tool_choice": choice, "style": "harmony", "reasoning": reasoning}
        artifact = compile_grammar(
            json.dumps(asked),
            tokenizer=tokenizer,
            dialect="tools",
            tokenization="any",
            precompute="none",
        )
        for text in (*members, *others):
            ids = [*tokenizer.encode(text), *tokenizer.encode("<eos>")]
            assert (text in members) == (len(ids) == artifact.matcher().accept(ids)), text


def test_messages_have_a_text_and_calls_behind_it() -> None:
    """As Kimi K3 writes them; the text is there with calls, too."""
    end = "<|close|>response<|sep|>"
    call = (
        '<|open|>tools<|sep|><|open|>call tool="weather" index="1"<|sep|>'
        '<|open|>argument key="city" type="string"<|sep|>Ulm<|close|>argument<|sep|>'
        "<|close|>call<|sep|><|close|>tools<|sep|>"
    )
    last = "<|close|>message<|sep|>"
    for choice, plain, calling in (
        ("auto", True, True),
        ("required", False, True),
        ("none", True, False),
    ):
        asked: dict[str, Any] = {"tools": TOOLS, "tool_choice": choice, "style": "kimi_k3"}
        for text in ("", "Hello"):
            assert plain == accepts(asked, f"{text}{end}{last}")
            assert calling == accepts(asked, f"{text}{end}{call}{last}")
            assert not accepts(asked, f"{text}{call}{last}")
        thinking = {**asked, "reasoning": "enabled", "response": {"const": 7}}
        opened = f"Hm.<|close|>think<|sep|><|open|>response<|sep|>7{end}"
        assert plain == accepts(thinking, f"{opened}{last}")
        assert calling == accepts(thinking, f"{opened}{call}{last}")
        assert not accepts(thinking, f"7{end}{last}")


def test_a_style_without_thoughts_refuses_them() -> None:
    """By its name."""
    asked = {"tools": TOOLS, "style": "llama3_json", "reasoning": "enabled"}
    with pytest.raises(CheckError, match="'llama3_json' has no marks of thoughts"):
        tools_grammar(Source(json.dumps(asked), "t.json", "tools"))


@pytest.mark.parametrize("style", STYLES)
def test_requests_reach_each_style(style: str) -> None:
    """With its tools, its choice, a schema of the answer, and a thought where there are some."""
    schema = {"type": "json_schema", "json_schema": {"schema": {"const": 7}}}
    body: dict[str, Any] = {"tools": TOOLS, "tool_choice": "required", "response_format": schema}
    has_thoughts = STYLES[style].thought is not None
    reasoning = "auto" if has_thoughts else "disabled"
    request = request_of(body, style=style, reasoning=reasoning)

    assert request is not None
    asked = json.loads(request.text)
    assert ("tools", style, {"const": 7}) == (request.dialect, asked["style"], asked["response"])
    assert asked.get("reasoning") == ("auto" if has_thoughts else None)


def test_answers_without_tools_may_follow_a_thought() -> None:
    """Where there are no tools, or none is chosen; other formats than schemas are refused."""
    formats = {"response_format": {"type": "json_object"}}
    for body in (formats, {**formats, "tools": TOOLS, "tool_choice": "none"}):
        request = request_of(body, style="hermes", reasoning="enabled")
        assert request is not None
        asked = json.loads(request.text)
        assert accepts(asked, "<think>Hm.</think>\n\n{}")
        assert accepts(asked, "Hm.</think>\n\n{}")
        assert not accepts(asked, "{}")
    assert request_of({}, style="hermes", reasoning="enabled") is None
    written = {"type": "grammar", "syntax": "regex", "definition": "a"}
    custom = {"type": "custom", "name": "c", "format": written}
    for body in (
        {"regex": "a"},
        {"tools": TOOLS, "tool_choice": "none", "regex": "a"},
        {"tools": [custom], "tool_choice": custom},
        {"tools": [custom], "tool_choice": custom, **formats},
    ):
        with pytest.raises(RequestError, match="beside tools and thoughts"):
            request_of(body, style="hermes", reasoning="enabled")
    with pytest.raises(ValueError, match="reasoning must be one of"):
        request_of({}, reasoning="high")
