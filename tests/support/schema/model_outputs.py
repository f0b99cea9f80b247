"""What hosts read of texts that models write: thoughts, calls and the text around, by the chat
template of each model."""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any


@dataclass(frozen=True)
class Reading:
    """The name and the arguments of each call, the text around, and the thought before all."""

    calls: list[tuple[str, Any]]
    text: str
    thought: str | None = None


@dataclass(frozen=True)
class Model:
    """How a model's texts are read. ``marks``: texts that a walk tries, so that it has some calls
    and ends, and ``end`` one where there are no calls; ``thought``: what stands around a thought,
    and after it."""

    read: Callable[[str], Reading]
    marks: tuple[str, ...]
    thought: tuple[str, str, str] | None = None
    end: str = ""


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


def read_objects(before: str, behind: str, text: str) -> Reading:
    """Objects with a name and arguments between marks."""
    parts = re.split(f"{re.escape(before)}(.*?){re.escape(behind)}", text, flags=re.DOTALL)
    calls = [json.loads(each) for each in parts[1::2]]
    return Reading([(each["name"], each["arguments"]) for each in calls], "".join(parts[::2]))


def read_named(
    section: str, call: str, between: str, arguments: Callable[[str], Any], text: str
) -> Reading:
    """Sections of calls, each of a name and arguments; patterns with groups for them. An empty
    ``section`` is a call by itself."""
    calls: list[tuple[str, Any]] = []
    around, at = [], 0
    for found in re.finditer(section or call, text, re.DOTALL):
        around.append(text[at : found.start()])
        at, inside = found.end(), found[1] if section else found[0]
        place = 0
        while place < len(inside):
            place += len(between) * bool(place and inside.startswith(between, place))
            one = re.compile(call, re.DOTALL).match(inside, place)
            assert one, inside
            calls.append((one[1], arguments(one[2])))
            place = one.end()
    return Reading(calls, "".join([*around, text[at:]]))


# The types of arguments, by which hosts read those that do not say them.
TEXTS = ("city",)


def parameters(pattern: str, edge: str, text: str) -> dict[str, Any]:
    """Arguments in tags of which nothing says the type. One ``edge`` on either side of a text is no
    part of it, as hosts read it; white space around other values is none."""
    found = re.findall(pattern, text, re.DOTALL)
    assert not re.sub(pattern, "", text, flags=re.DOTALL).strip(), text
    return {
        key: value.removeprefix(edge).removesuffix(edge) if key in TEXTS else json.loads(value)
        for key, value in found
    }


def dsml(space: str, text: str) -> dict[str, Any]:
    """DeepSeek's: each says whether it is a string."""
    mark = f"｜DSML｜{space}parameter"
    pattern = f'<{mark} name="([^"]*)" string="(true|false)">(.*?)</{mark}>'
    assert not re.sub(pattern, "", text, flags=re.DOTALL).strip(), text
    found = re.findall(pattern, text, re.DOTALL)
    return {key: value if kind == "true" else json.loads(value) for key, kind, value in found}


def cohere(text: str) -> dict[str, Any]:
    """Cohere's: objects have tags inside."""

    def values(end: int) -> Iterator[tuple[str, Any]]:
        nonlocal place
        opening = re.compile(r'\s*<cofl:value name="([^"]*)" type="(\w+)">')
        while found := opening.match(text, place, end):
            place = found.end()
            if found[2] == "dict":
                value: Any = dict(values(end))
                place = re.compile(r"\s*").match(text, place).end()  # type: ignore[union-attr]
            else:
                last = text.index("</cofl:value>", place)
                value, place = text[place:last], last
                value = value if found[2] == "raw" else json.loads(value)
            assert text.startswith("</cofl:value>", place)
            place += len("</cofl:value>")
            yield found[1], value

    place = 0
    found = dict(values(len(text)))
    assert not text[place:].strip()
    return found


def read_harmony(text: str) -> Reading:
    """Messages of channels: analysis, calls to a recipient in either place, final."""
    calls, final, thought = [], "", None
    pattern = (
        r"(?: to=functions\.(\w+))?<\|channel\|>(\w+)(?: to=functions\.(\w+))? ?"
        r"(?:(?:<\|constrain\|>)?json)?<\|message\|>(.*?)(?:<\|end\|>|<\|call\|>|\Z)"
    )
    for message in text.split("<|start|>assistant"):
        found = re.fullmatch(pattern, message, re.DOTALL)
        assert found, message
        name = found[1] or found[3]
        if found[2] == "commentary":
            calls.append((name, json.loads(found[4])))
        elif found[2] == "final":
            final = found[4]
        else:
            assert found[2] == "analysis"
            thought = found[4]
    return Reading(calls, final, thought)


def read_kimi_k3(text: str) -> Reading:
    """A message: a response and, after it, calls; beside calls it is not looked at."""
    argument = (
        r'<\|open\|>argument key="([^"]*)" type="(\w+)"<\|sep\|>(.*?)<\|close\|>argument<\|sep\|>'
    )
    call = r'<\|open\|>call tool="(\w+)" index="\d+"<\|sep\|>(.*?)<\|close\|>call<\|sep\|>'
    found = re.fullmatch(
        r"(?:<\|open\|>response<\|sep\|>)?(.*?)<\|close\|>response<\|sep\|>"
        r"(?:<\|open\|>tools<\|sep\|>(.*)<\|close\|>tools<\|sep\|>)?<\|close\|>message<\|sep\|>",
        text,
        re.DOTALL,
    )
    assert found, text
    if found[2] is None:
        return Reading([], found[1])
    assert not re.sub(call, "", found[2], flags=re.DOTALL), text
    calls = []
    for name, inside in re.findall(call, found[2], re.DOTALL):
        assert not re.sub(argument, "", inside, flags=re.DOTALL).strip(), inside
        values = re.findall(argument, inside, re.DOTALL)
        calls.append((name, {k: v if t == "string" else json.loads(v) for k, t, v in values}))
    return Reading(calls, "")


def thinking(
    opening: str, closing: str, behind: str, in_prompt: bool, read: Callable[[str], Reading]
) -> Callable[[str], Reading]:
    """The reader of texts with a thought before all else, whose first mark the prompt may have."""

    def whole(text: str) -> Reading:
        if not in_prompt and not text.startswith(opening):
            return read(text)
        thought, mark, rest = text.partition(closing)
        assert mark
        assert rest.startswith(behind)
        rest = rest.removeprefix(behind)
        found = read(rest)
        return Reading(found.calls, found.text, thought.removeprefix(opening))

    return whole


THINK = ("<think>", "</think>", "")
LINES = ("<think>", "</think>", "\n\n")
START = ("<|START_THINKING|>", "<|END_THINKING|>", "")

QWEN = partial(parameters, r"<parameter=([^>]*)>(.*?)</parameter>", "\n")
MIMO = partial(parameters, r"<parameter=([^>]*)>(.*?)</parameter>", "")
GLM = partial(parameters, r"<arg_key>(.*?)</arg_key>\s*<arg_value>(.*?)</arg_value>", "")
MINIMAX = partial(parameters, r'<parameter name="([^"]*)">(.*?)</parameter>', "")


def _deepseek(call: str, between: str) -> Callable[[str], Reading]:
    section = "<｜tool▁calls▁begin｜>(.*?)<｜tool▁calls▁end｜>"
    whole = f"<｜tool▁call▁begin｜>{call}<｜tool▁call▁end｜>"
    return partial(read_named, section, whole, between, json.loads)


def _invoked(calls: str, mark: str, arguments: Callable[[str], Any]) -> Callable[[str], Reading]:
    call = f'<{mark}invoke name="([^"]*)">\n(.*?)</{mark}invoke>\n'
    return partial(read_named, f"<{calls}>\n(.*?)</{calls}>", call, "", arguments)


def _models() -> Iterator[tuple[str, Model]]:
    yield "json", Model(read_json, ("[", '{"name'))
    yield "llama3_json", Model(read_llama, ('{"name',))
    hermes = partial(read_objects, "<tool_call>\n", "\n</tool_call>")
    yield "hermes", Model(hermes, ("<tool_call>",), LINES)
    yield "qwen", Model(hermes, ("<tool_call>",), LINES)
    exaone = partial(read_objects, "<tool_call>", "</tool_call>")
    yield "exaone", Model(exaone, ("<tool_call>",), LINES)
    function = r"<function=([^>]*)>(.*?)</function>"
    found = partial(read_named, "", function, "", json.loads)
    yield "function", Model(found, ("<function=",))
    marks = ("<tool_call>", "</parameter>", "\n</function>\n</tool_call>")
    coder = r"<tool_call>\n<function=([^>]*)>\n(.*?)\n</function>\n</tool_call>"
    yield "qwen_3_coder", Model(partial(read_named, "", coder, "\n", QWEN), marks, LINES)
    mimo = r"<tool_call><function=([^>]*)>(.*?)</function></tool_call>"
    yield (
        "mimo",
        Model(partial(read_named, "", mimo, "", MIMO), (*marks, "</function></tool_call>"), THINK),
    )
    glm = r"<tool_call>(\w+)((?:<arg_key>.*?)?)</tool_call>"
    marks = ("<tool_call>", "</arg_value>", "</tool_call>")
    yield "glm_4_7", Model(partial(read_named, "", glm, "", GLM), marks, THINK)
    section = r"<\|tool_calls_section_begin\|>(.*?)<\|tool_calls_section_end\|>"
    kimi = r"<\|tool_call_begin\|>functions\.(\w+):\d+<\|tool_call_argument_begin\|>(.*?)"
    kimi_read = partial(read_named, section, rf"{kimi}<\|tool_call_end\|>", "", json.loads)
    marks = ("<|tool_calls_section_begin|>", "<|tool_call_end|><|tool_calls_section_end|>")
    yield "kimi", Model(kimi_read, marks, THINK)
    marks = ("<｜tool▁calls▁begin｜>", "<｜tool▁call▁end｜><｜tool▁calls▁end｜>")
    r1 = _deepseek("function<｜tool▁sep｜>(\\w+)\n```json\n(.*?)\n```", "\n")
    yield "deepseek_r1", Model(r1, marks, THINK)
    v3_1 = _deepseek(r"(\w+)<｜tool▁sep｜>(.*?)", "")
    yield "deepseek_v3_1", Model(v3_1, marks, THINK)
    for name, calls, space in (
        ("deepseek_v3_2", "｜DSML｜function_calls", ""),
        ("deepseek_v4", "｜DSML｜tool_calls", ""),
        ("deepseek_v4_1", "｜DSML｜ calls", " "),
    ):
        read = _invoked(calls, f"｜DSML｜{space}", partial(dsml, space))
        yield (
            name,
            Model(read, (f"<{calls}>", f"</｜DSML｜{space}parameter>", f"</{calls}>"), THINK),
        )
    marks = ("<minimax:tool_call>", "</parameter>", "</invoke>\n</minimax:tool_call>")
    yield "minimax", Model(_invoked("minimax:tool_call", "", MINIMAX), marks, LINES)
    one = r'<cofl:tool_call id="\d+" name="(\w+)">(.*?)</cofl:tool_call>'
    section = "<cofl:tool_calls>(.*?)</cofl:tool_calls>"
    found = partial(read_named, section, one, "", cohere)
    yield (
        "cohere",
        Model(
            found,
            ("<cofl:tool_calls>", "</cofl:value>", "</cofl:tool_call></cofl:tool_calls>"),
            START,
        ),
    )
    marks = ("<|close|>response<|sep|><|open|>tools<|sep|>", "<|close|>argument<|sep|>")
    marks = (*marks, "<|close|>call<|sep|><|close|>tools<|sep|>")
    think = ("<|open|>think<|sep|>", "<|close|>think<|sep|>", "")
    yield "kimi_k3", Model(read_kimi_k3, marks, think, "<|close|>response<|sep|>")
    parts = ("<|channel|>analysis<|message|>", "<|end|>", "<|start|>assistant")
    yield "harmony", Model(read_harmony, ("<|channel|>commentary", " to="), parts)


MODELS: Mapping[str, Model] = dict(_models())
