"""Distinct requests of six kinds, as hosts of models get them, by a seed."""

import random
from collections.abc import Iterator
from typing import Any

from . import generated
from .tools import tools

_WORDS = ("north", "south", "paid", "open", "draft", "green", "invoice", "ticket", "planet")


def bodies(count: int, seed: int = 1) -> Iterator[tuple[str, dict[str, Any]]]:
    """The kind of each request, and the fields of its body."""
    rng = random.Random(seed)
    grammars = generated.requests(count, seed)
    for number in range(count):
        kind = ("schema", "choice", "regex", "grammar", "tag", "tools")[number % 6]
        functions = tools(rng.randint(1, 4), rng.randint(3, 8), rng.randrange(1 << 30))
        yield kind, _body(kind, number, functions, next(grammars).grammar, rng)


def _body(
    kind: str, number: int, functions: list[dict[str, Any]], grammar: str, rng: random.Random
) -> dict[str, Any]:
    match kind:
        case "schema":
            schema = {"name": "answer", "schema": functions[0]["function"]["parameters"]}
            return {"response_format": {"type": "json_schema", "json_schema": schema}}
        case "choice":
            words = [f"{rng.choice(_WORDS)} {i}" for i in range(rng.randint(2, 20))]
            return {"structured_outputs": {"choice": [*words, f"none of {number}"]}}
        case "regex":
            parts = rng.choices(("[A-Z]{3}", r"\d{4}-\d{2}-\d{2}", r"[\w.]+@[\w.]+", "(a|b)*"), k=2)
            return {"structured_outputs": {"regex": f"{parts[0]}-{number}-{parts[1]}"}}
        case "grammar":
            return {"structured_outputs": {"grammar": grammar}}
        case "tag":
            tags = [_tag(each["function"]) for each in functions]
            form = {"type": "triggered_tags", "triggers": ["<function="], "tags": tags}
            return {"response_format": {"type": "structural_tag", "format": form}}
    return {"tools": functions, "tool_choice": rng.choice(("required", "auto"))}


def _tag(function: dict[str, Any]) -> dict[str, Any]:
    content = {"type": "json_schema", "json_schema": function["parameters"]}
    begin = f"<function={function['name']}>"
    return {"type": "tag", "begin": begin, "content": content, "end": "</function>"}
