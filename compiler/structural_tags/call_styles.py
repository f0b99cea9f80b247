"""How calls are written: one row for each style that models were taught.

json          {"name": "f", "arguments": {…}}, several: [{…}, {…}]
hermes        <tool_call>\\n{"name": "f", "arguments": {…}}\\n</tool_call>
qwen          the same, where <tool_call> and </tool_call> are tokens of the tokenizer
llama3_json   {"name": "f", "parameters": {…}}, several: {…}; {…}
function      <function=f>{…}</function>
kimi, …       as the models of that name write them: TOOLS.md
"""

from collections.abc import Mapping
from dataclasses import dataclass

# Where the number of a call stands, of digits.
NUMBER = "{number}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Thought:
    """What stands around a thought, and ``behind`` it before the rest of a text. ``in_prompt``:
    prompts may end with the ``opening``, so that a text need not begin with it."""

    opening: str = "<think>"
    closing: str = "</think>"
    behind: str = ""
    in_prompt: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Style:
    """``around`` are texts around all calls, ``opening`` and ``closing`` around each, ``between``
    two. ``tokens``: parts of these texts that are read as tokens, by their names; ``NUMBER`` in
    them is a number.

    ``arguments``: the key of the arguments in a call that is an object; None where the name ends
    with ``behind_name`` and the arguments follow, by ``tags`` in that style of structural tags; at
    once where that is empty, for hosts read white space as a part of the name.
    ``others``: what may stand instead of ``opening`` and ``behind_name``. ``is_array``: calls are
    an array where there may be several. ``is_last``: a call ends a text, and a token that stops the
    model may stand for its ``closing``.

    ``trigger``: what calls begin with wherever they stand; None if a text is a call, or several, if
    it begins as one, and else is none. ``excludes``: marks that stand in no free text and no
    thought. ``text``: what stands around a text that calls nothing.
    ``end``: of messages, which are a text and, after it, calls if there are some; what begins the
    text stands in the prompt where no thought does.
    """

    name: str
    opening: str = ""
    closing: str = ""
    between: str = ""
    around: tuple[str, str] = ("", "")
    tokens: tuple[str, ...] = ()
    arguments: str | None = None
    behind_name: str = ""
    tags: str | None = None
    others: tuple[tuple[str, str], ...] = ()
    is_array: bool = False
    is_last: bool = False
    trigger: str | None = None
    excludes: tuple[str, ...] = ()
    text: tuple[str, str] = ("", "")
    end: str = ""
    thought: Thought | None = None


_JSON, _CALL = "arguments", "<tool_call>"
_LINES = Thought(behind="\n\n")


def _hermes(name: str, opening: str, closing: str, *tokens: str) -> Style:
    return Style(
        name=name,
        opening=f"{_CALL}{opening}",
        closing=f"{closing}</tool_call>",
        between="\n",
        tokens=tokens,
        arguments=_JSON,
        trigger=_CALL,
        thought=_LINES,
    )


def _deepseek(name: str, before: str, behind: str, closing: str, between: str) -> Style:
    calls = "<｜tool▁calls▁begin｜>"
    return Style(
        name=name,
        around=(calls, "<｜tool▁calls▁end｜>"),
        opening=f"<｜tool▁call▁begin｜>{before}",
        behind_name=behind,
        closing=f"{closing}<｜tool▁call▁end｜>",
        between=between,
        trigger=calls,
        thought=Thought(),
    )


def _invoked(
    name: str, tags: str, mark: str, calls: str, before: str, space: str, thought: Thought
) -> Style:
    """Calls with arguments in tags, of which each tag begins with ``mark``."""
    return Style(
        name=name,
        around=(f"{before}<{calls}>\n", f"</{calls}>"),
        opening=f'<{mark}{space}invoke name="',
        behind_name='">\n',
        closing=f"</{mark}{space}invoke>\n",
        tags=tags,
        trigger=f"<{calls}>",
        thought=thought,
    )


_DSML = "｜DSML｜"

STYLES: Mapping[str, Style] = {
    row.name: row
    for row in (
        Style(name="json", is_array=True, arguments=_JSON),
        _hermes("hermes", "\n", "\n"),
        _hermes("qwen", "\n", "\n", _CALL, "</tool_call>", "<think>", "</think>"),
        _hermes("exaone", "", ""),
        Style(name="llama3_json", between="; ", arguments="parameters"),
        Style(
            name="function",
            opening="<function=",
            behind_name=">",
            closing="</function>",
            trigger="<function=",
        ),
        Style(
            name="qwen_3_coder",
            opening=f"{_CALL}\n<function=",
            behind_name=">\n",
            closing="\n</function>\n</tool_call>",
            between="\n",
            tags="qwen_xml",
            trigger=_CALL,
            thought=_LINES,
        ),
        Style(
            name="mimo",
            opening=f"{_CALL}<function=",
            behind_name=">",
            closing="</function></tool_call>",
            tags="mimo_xml",
            trigger=_CALL,
            excludes=("</tool_call>", "<function="),
            thought=Thought(),
        ),
        Style(
            name="glm_4_7",
            opening=_CALL,
            closing="</tool_call>",
            tags="glm_xml",
            trigger=_CALL,
            excludes=("</tool_call>", "<arg_key>", "</arg_key>", "<arg_value>", "</arg_value>"),
            thought=Thought(),
        ),
        Style(
            name="kimi",
            around=("<|tool_calls_section_begin|>", "<|tool_calls_section_end|>"),
            opening="<|tool_call_begin|>functions.",
            behind_name=f":{NUMBER}<|tool_call_argument_begin|>",
            closing="<|tool_call_end|>",
            trigger="<|tool_calls_section_begin|>",
            thought=Thought(),
        ),
        _deepseek("deepseek_r1", "function<｜tool▁sep｜>", "\n```json\n", "\n```", "\n"),
        _deepseek("deepseek_v3_1", "", "<｜tool▁sep｜>", "", ""),
        _invoked(
            "deepseek_v3_2",
            "deepseek_xml",
            _DSML,
            f"{_DSML}function_calls",
            "\n\n",
            "",
            Thought(),
        ),
        _invoked("deepseek_v4", "deepseek_xml", _DSML, f"{_DSML}tool_calls", "\n\n", "", Thought()),
        _invoked(
            "deepseek_v4_1", "deepseek_v4_1_xml", _DSML, f"{_DSML} calls", "\n\n", " ", Thought()
        ),
        _invoked("minimax", "minimax_xml", "", "minimax:tool_call", "\n", "", _LINES),
        Style(
            name="cohere",
            around=("<cofl:tool_calls>", "</cofl:tool_calls>"),
            opening=f'<cofl:tool_call id="{NUMBER}" name="',
            behind_name='">',
            closing="</cofl:tool_call>",
            tags="cohere_xml",
            trigger="<cofl:tool_calls>",
            thought=Thought(opening="<|START_THINKING|>", closing="<|END_THINKING|>"),
        ),
        Style(
            name="kimi_k3",
            around=("<|open|>tools<|sep|>", "<|close|>tools<|sep|>"),
            opening='<|open|>call tool="',
            behind_name=f'" index="{NUMBER}"<|sep|>',
            closing="<|close|>call<|sep|>",
            tags="kimi_k3_xml",
            excludes=("<|open|>", "<|close|>"),
            text=("<|open|>response<|sep|>", "<|close|>response<|sep|>"),
            end="<|close|>message<|sep|>",
            thought=Thought(opening="<|open|>think<|sep|>", closing="<|close|>think<|sep|>"),
        ),
        Style(
            name="harmony",
            opening="<|channel|>commentary to=functions.",
            behind_name=" <|constrain|>json<|message|>",
            closing="<|call|>",
            others=(
                ("<|channel|>commentary to=functions.", "<|constrain|>json<|message|>"),
                (" to=functions.", "<|channel|>commentary <|constrain|>json<|message|>"),
                (" to=functions.", "<|channel|>commentary json<|message|>"),
            ),
            tokens=tuple(
                f"<|{name}|>"
                for name in ("channel", "message", "constrain", "start", "end", "call")
            ),
            is_last=True,
            text=("<|channel|>final<|message|>", ""),
            thought=Thought(
                opening="<|channel|>analysis<|message|>",
                closing="<|end|>",
                behind="<|start|>assistant",
                in_prompt=False,
            ),
        ),
    )
}
