"""How calls are written: one row for each style that models were taught.

json          {"name": "f", "arguments": {…}}, several: [{…}, {…}]
hermes        <tool_call>\\n{"name": "f", "arguments": {…}}\\n</tool_call>
qwen          the same, where <tool_call> and </tool_call> are tokens of the tokenizer
llama3_json   {"name": "f", "parameters": {…}}, several: {…}; {…}
function      <function=f>{…}</function>
"""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Style:
    """``opening`` and ``closing`` stand around a call, ``between`` two; ``marks`` are tokens around
    all of it, by their names.

    ``arguments``: the key of the arguments in a call that is an object; None where the name ends
    with ``behind_name`` and the arguments follow. ``is_array``: calls are an array where there may
    be several. ``trigger``: what a call begins with wherever it stands, a text or the name of a
    token; None if a text is a call, or several, if it begins as one, and else is none.
    """

    name: str
    opening: str = ""
    closing: str = ""
    marks: tuple[str, str] | None = None
    between: str = ""
    arguments: str | None = "arguments"
    behind_name: str = ""
    is_array: bool = False
    trigger: str | None = None


STYLES: Mapping[str, Style] = {
    row.name: row
    for row in (
        Style(name="json", is_array=True),
        Style(
            name="hermes",
            opening="<tool_call>\n",
            closing="\n</tool_call>",
            between="\n",
            trigger="<tool_call>",
        ),
        Style(
            name="qwen",
            marks=("<tool_call>", "</tool_call>"),
            opening="\n",
            closing="\n",
            between="\n",
            trigger="<tool_call>",
        ),
        Style(name="llama3_json", between="; ", arguments="parameters"),
        Style(
            name="function",
            opening="<function=",
            closing="</function>",
            arguments=None,
            behind_name=">",
            trigger="<function=",
        ),
    )
}
