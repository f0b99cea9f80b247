"""Documents that the engines are compared on; made here, with fixed seeds."""

import json
import random
from typing import Any

# An object of typed fields, as a schema would give it.
SCHEMA = r"""
start: "{" id "," name "," email "," status "," score "," active "," tags "," home "," children "}"
id: "\"id\"" ":" INT
name: "\"name\"" ":" STRING
email: "\"email\"" ":" STRING
status: "\"state\"" ":" state
score: "\"score\"" ":" NUMBER
active: "\"active\"" ":" BOOL
tags: "\"tags\"" ":" "[" [STRING ("," STRING)*] "]"
home: "\"address\"" ":" "{" street "," zip "," city "}"
street: "\"street\"" ":" STRING
zip: "\"zip\"" ":" STRING
city: "\"city\"" ":" STRING
children: "\"children\"" ":" "[" [start ("," start)*] "]"
state: "\"new\"" | "\"open\"" | "\"closed\"" | "\"rejected\""
STRING: /"([^"\\\x00-\x1f]|\\(["\\\/bfnrt]|u[0-9a-fA-F]{4}))*"/
INT: /0|[1-9][0-9]*/
NUMBER: /-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?/
BOOL: /true|false/
%ignore /[ \t\n\r]+/
"""

_WORDS = ["hello ", "wörld", "a", "B c", "\n", '"', "x_1", "größe", " and the ", "日本"]
_KEYS = ["name", "id", "list", "values", "x", "key one", "url"]
_NAMES = ["count", "i", "buffer", "node", "size", "value", "tmp_2", "next", "result"]
_OPERATORS = ["+", "-", "*", "/", "<", "==", "&&", "||", ">="]


def json_document(seed: int, length: int = 4000) -> str:
    """A JSON text of at least ``length`` characters."""
    rng = random.Random(seed)
    values: list[Any] = []
    while len(json.dumps(values)) < length:
        values.append(_value(rng, 0))
    indent = rng.choice([None, 2])
    return json.dumps(values, ensure_ascii=bool(seed % 2), indent=indent)


def _value(rng: random.Random, depth: int) -> Any:
    kind = rng.random()
    if depth > 4 or kind < 0.3:
        numbers = [rng.randint(-1000, 10**6), rng.random() * 100, 1e-7]
        return rng.choice([*numbers, True, False, None])
    if kind < 0.55:
        return "".join(rng.choice(_WORDS) for _ in range(rng.randint(0, 6)))
    count = rng.randint(0, 5)
    if kind < 0.8:
        keys = [f"{rng.choice(_KEYS)}{rng.randint(0, 9)}" for _ in range(count)]
        return {key: _value(rng, depth + 1) for key in keys}
    return [_value(rng, depth + 1) for _ in range(count)]


def schema_document(seed: int) -> str:
    """A text of the schema grammar."""
    rng = random.Random(seed)
    return json.dumps(_record(rng, 0), ensure_ascii=bool(seed % 2), indent=rng.choice([None, 2]))


def _record(rng: random.Random, depth: int) -> dict[str, Any]:
    def text() -> str:
        return "".join(rng.choice(_WORDS) for _ in range(rng.randint(1, 5)))

    return {
        "id": rng.randint(0, 10**6),
        "name": text(),
        "email": text(),
        "state": rng.choice(["new", "open", "closed", "rejected"]),
        "score": rng.choice([0, 1.5, -3e-7, 12345]),
        "active": rng.random() < 0.5,
        "tags": [text() for _ in range(rng.randint(0, 4))],
        "address": {"street": text(), "zip": str(rng.randint(1000, 99999)), "city": text()},
        "children": [_record(rng, depth + 1) for _ in range(3 - depth if depth < 3 else 0)],
    }


def code_document(seed: int, length: int = 4000) -> str:
    """A text of the C-like grammar of at least ``length`` characters."""
    rng = random.Random(seed)
    text = "int total;\n"
    while len(text) < length:
        body = "".join(_statement(rng, 0, 1) for _ in range(rng.randint(2, 6)))
        text += f"void f{rng.randint(0, 99)}(int a, char *b) {{\n{body}}}\n"
    return text


def _expression(rng: random.Random, depth: int) -> str:
    kind = rng.random()
    if depth > 3 or kind < 0.35:
        return rng.choice(_NAMES)
    if kind < 0.6:
        return rng.choice([str(rng.randint(0, 500)), f'"text {rng.randint(0, 99)}\\n"', "'c'"])
    left, right = _expression(rng, depth + 1), _expression(rng, depth + 1)
    if kind < 0.75:
        return f"{left} {rng.choice(_OPERATORS)} {right}"
    name = rng.choice(_NAMES)
    shapes = [f"({left})", f"{name}({left}, {right})", f"{name}()", f"{name}[{left}]"]
    return rng.choice([*shapes, f"{name}->{rng.choice(_NAMES)}", f"!{name}"])


def _statement(rng: random.Random, depth: int, indent: int) -> str:
    pad = "    " * indent
    kind = rng.random()
    name, e = rng.choice(_NAMES), _expression(rng, 0)
    if kind < 0.5 or depth > 4:
        return pad + rng.choice([f"{name} = {e};\n", f"int {name} = {e};\n", f"{name}({e});\n"])
    inside = [_statement(rng, depth + 1, indent + 1) for _ in range(rng.randint(1, 3))]
    block = "{\n" + "".join(inside) + pad + "}"
    if kind < 0.68:
        tail = f" else {{\n{inside[0]}{pad}}}\n" if rng.random() < 0.4 else "\n"
        return f"{pad}if ({e}) {block}{tail}"
    if kind < 0.78:
        return f"{pad}while ({e})\n{inside[0]}"
    if kind < 0.88:
        return f"{pad}for (i = 0; i < {name}; i++) {block}\n"
    return rng.choice([f"{pad}return {e};\n", f"{pad}// {name} and the rest\n{pad};\n"])
