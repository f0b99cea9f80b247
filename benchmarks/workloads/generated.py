"""Any number of different schemas as grammars, with an instance of each: what a server meets.

They have names and terminals in common (strings, numbers, dates), and no two are the same.
"""

import json
import random
from collections.abc import Iterator
from typing import Any

from .objects import comma, pair, quoted, quoted_text, with_basics
from .request import Request

NAMES = [
    "id",
    "name",
    "title",
    "text",
    "kind",
    "state",
    "city",
    "street",
    "country",
    "price",
    "amount",
    "count",
    "total",
    "unit",
    "date",
    "start",
    "end",
    "author",
    "owner",
    "email",
    "phone",
    "url",
    "tags",
    "items",
    "notes",
    "color",
    "size",
    "weight",
    "width",
    "height",
    "level",
    "rank",
]
_WORDS = [
    "new",
    "open",
    "closed",
    "red",
    "green",
    "blue",
    "small",
    "large",
    "north",
    "south",
    "paid",
    "sent",
    "draft",
    "final",
]
_TEXTS = ("The quick brown fox", "Zürich", "a b c", "see https://example.org/x?y=1", "42 % off")

_DATE = r'date ::= "\"" [0-9]{4} "-" ("0" [1-9] | "1" [0-2]) "-" [0-3] [0-9] "\""'


def requests(count: int, seed: int = 1) -> Iterator[Request]:
    """``count`` requests, the same ones for the same seed."""
    rng = random.Random(seed)
    for number in range(count):
        made = _Made(rng)
        kind, instance = made.object(0)
        grammar = with_basics(f"root ::= {kind}", *made.rules, _DATE)
        yield Request(f"schema {number}", "gbnf", grammar, (json.dumps(instance),))


class _Made:
    """The rules of one schema."""

    def __init__(self, rng: random.Random) -> None:
        self.rng, self.rules = rng, list[str]()

    def rule(self, body: str) -> str:
        name = f"part{len(self.rules)}"
        self.rules.append(f"{name} ::= {body}")
        return name

    def object(self, depth: int) -> tuple[str, dict[str, Any]]:
        names = self.rng.sample(NAMES, self.rng.randint(2, 9 - 2 * depth))
        body, instance = '"{" ws ', {}
        for place, name in enumerate(names):
            kind, value = self.value(depth + 1)
            required = place == 0 or self.rng.random() < 0.6
            member = pair(name, kind) if place == 0 else comma(name, kind)
            body += f"{member} " if required else f"({member})? "
            if required or self.rng.random() < 0.5:
                instance[name] = value
        return self.rule(body + 'ws "}"'), instance

    def value(self, depth: int) -> tuple[str, Any]:
        rng = self.rng
        shape = rng.random()
        if shape < 0.3:
            return "string", rng.choice(_TEXTS)
        if shape < 0.45:
            return "integer", rng.randint(-1000, 10**6)
        if shape < 0.55:
            return "number", rng.choice([0.5, -1.25e-7, 100.0])
        if shape < 0.65:
            return "boolean", rng.random() < 0.5
        if shape < 0.72:
            return "date", "2024-02-29"
        if shape < 0.85 or depth > 2:
            words = rng.sample(_WORDS, rng.randint(2, 5))
            body = " | ".join(quoted(quoted_text(word)) for word in words)
            return self.rule(body), words[0]
        kind, value = self.object(depth) if shape < 0.93 else self.value(depth)
        if shape < 0.93:
            return kind, value
        return self.rule(f'"[" ws ({kind} (ws "," ws {kind})*)? ws "]"'), [value] * rng.randint(
            0, 3
        )
