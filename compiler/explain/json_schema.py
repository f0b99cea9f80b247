"""Where in an instance a text stops, and which schemas say what could stand there.

    {"name": "x", "age": "3"}  ->  at /age: expected an integer, by #/properties/age

Rules of a schema's grammar are named by pointers into the schema, and the place in the instance is
found in its text, of which all before the place is the beginning of some JSON.
"""

import re
from dataclasses import replace

from constrain.artifacts.earley.recogniser import Earley

from .earley import path_of, with_items
from .machines import TextMachine
from .report import Status, Verdict, some

# Schemas and expectations that are listed at most.
_MOST = 8

# Parts of a schema's grammar that no schema says.
_SPACE = "white space"

# What helpers and automata are called after the pointer of their schema.
_BEHIND = re.compile(r"( (string|number|\d+))+$")

_KINDS = {"string": "a string", "number": "a number", "integer": "an integer"}

_TOKEN = re.compile(rb'[ \t\n\r]+|("(?:[^"\\]|\\.)*"?)|[][{},:]|[^][{},: \t\n\r"]+', re.DOTALL)


def explain_instance(
    earley: Earley, text: bytes, machine: TextMachine | None = None, *, follows: bool = True
) -> Verdict:
    """The verdict on an instance. ``earley``: of a schema's grammar, before any text; ``machine``
    and ``follows``: as for ``explain_parser``."""
    verdict, items = with_items(earley, text, (), machine, follows=follows)
    if verdict.status is Status.ACCEPTED:
        return verdict
    spoken, offset = earley.tables, verdict.offset
    schemas: dict[str, None] = {}
    expected: dict[str, None] = {}
    around: dict[str, None] = {}
    for item in items:
        terminal = ~int(spoken.symbols[item[0]])
        path = path_of(earley, item)
        named = [_BEHIND.sub("", name) for name in path if "#" in name or name == "value"]
        is_fresh = item[1] == earley.terminals.start(terminal)
        if _SPACE in path[-1:] or not is_fresh:
            around.update(dict.fromkeys(named[-1:]))
            continue
        kind = path[-1].rpartition(" ")[2]
        expected[_KINDS.get(kind, spoken.texts[terminal])] = None
        schemas.update(dict.fromkeys(named[-1:]))
    if "" in expected:
        # An artifact whose grammar's text was left out does not know how literals were written.
        expected.clear()
    by_bytes = verdict.expected or verdict.following
    return replace(
        verdict,
        path=(),
        begun=(),
        expected=() if expected else by_bytes,
        terminals=some(expected, _MOST),
        instance=pointer_at(text[:offset]),
        schemas=some(schemas or around, _MOST),
    )


def pointer_at(before: bytes) -> str:
    """The pointer of the value at the end of what JSON begins with.

    ``{"a": [1,`` is at ``/a/1``, and ``{"a"`` at the root, for no value of that key has begun.
    """
    # Of each object that is open the key, and of each array how many items are complete.
    steps: list[str | int | None] = []
    key = ""
    for found in _TOKEN.finditer(before):
        token = found.group()
        if found[1] is not None:
            key = token[1:-1].decode("utf-8", "replace")
        elif token == b"{":
            steps.append(None)
        elif token == b"[":
            steps.append(0)
        elif token in (b"}", b"]"):
            steps[-1:] = []
        elif token == b":" and steps:
            steps[-1] = key
        elif token == b"," and steps:
            last = steps[-1]
            steps[-1] = last + 1 if isinstance(last, int) else None
    named = (str(step) for step in steps if step is not None)
    return "".join("/" + step.replace("~", "~0").replace("/", "~1") for step in named)
