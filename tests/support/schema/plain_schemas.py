"""Random schemas as programs write them, nearly all of which have a value."""

import random
from collections.abc import Callable
from typing import Any

# Names as rules may have them, too.
KEYS = ("a", "b", "a 1", "a string", "é/~", "", "name", "kind", "1")
DEFINED = ("one", "two words", "Three[int]", "fo/ur~")
FORMATS = ("date", "uuid", "ipv4", "date-time", "email", "unknown-format")
TEXTS = ("x", "y z", "é", "a/b", '"', "\n", "😀", "", "red", "green", "blue", "white", "long text")
PATTERNS = ("^[0-9]{3}$", "^a", "b$", "[xy]", "^(?!a)", "^é+$", "(", "(?!)", "(a)\\1")
IDS = ("http://a.b/c.json", "c", "/x/y#", "#x", "urn:a:b", "http://[", "", 3)
DRAFTS = (
    "https://json-schema.org/draft/2020-12/schema",
    "https://json-schema.org/draft/2019-09/schema#",
    "http://json-schema.org/draft-07/schema#",
    "http://json-schema.org/draft-04/schema#",
    "http://example.com/other",
    "http://json-schema.org/schema#",
    7,
)

# What is seldom right: the keyword and a value.
ODD: tuple[tuple[str, Any], ...] = (
    *(("type", value) for value in ([], "text", {"string": 1}, None, ["string", 3])),
    *(("minimum", value) for value in (None, "1", True, 1e300, 10**200)),
    *(("maxItems", value) for value in (-1, 2.5, None, True, 10**9)),
    *(("maxLength", value) for value in (-1, 0, None, "3", 10**9)),
    *(("required", value) for value in ("a", ["zz"], [1], None, ["a", "a"])),
    *(("properties", value) for value in ([], None, {"a": False}, {"a": 3})),
    *(("items", value) for value in (False, [], [{}], None)),
    *(("enum", value) for value in ([], None, [[1]], [{"a": 1}], [1.5], [1.0, "x"])),
    *(("$ref", value) for value in ("#", "#/", "one", "#/$defs/none", "#/$defs/one%20", 3)),
    *(("$ref", value) for value in ("#/properties", "#/properties/a", "#/$defs", "#/title")),
    *(("anyOf", value) for value in ([], {}, [True], [False], [{"$ref": "#"}])),
    *(("allOf", value) for value in ([{}, {}], [{"type": "string"}, {"type": "null"}])),
    *(("oneOf", [{"type": "string"}]), ("not", {}), ("if", {}), ("$id", "http://a/b")),
    *(("$anchor", "one"), ("$dynamicAnchor", "x"), ("id", "#x"), ("uniqueItems", True)),
    *(("minProperties", 1), ("propertyNames", {"maxLength": 2}), ("patternProperties", {"a": {}})),
    *(("prefixItems", []), ("prefixItems", [{"type": "null"}]), ("additionalItems", False)),
    *(("contentEncoding", "base64"), ("multipleOf", 3), ("contains", {"type": "null"})),
    *(("format", 3), ("format", "date"), ("pattern", 3), ("pattern", "^a"), ("const", [1])),
    *(("unevaluatedProperties", False), ("dependentRequired", {"a": ["b"]}), ("$schema", "x")),
    *(("nullable", True), ("discriminator", {"propertyName": "a"}), ("titel", 1), ("x-own", {})),
    *(("definitions", {"one": {"type": "text"}}), ("$defs", []), ("exclusiveMinimum", True)),
)


def document(rng: random.Random, odd: float = 0.02, depth: int = 3) -> dict[str, Any]:
    """An object, or now and then something else; ``odd``: how often a keyword has a strange
    value."""
    defined = rng.sample(DEFINED, rng.choice((0, 1, 2, 4)))
    made = _Made(rng, odd, defined)
    found = made.object(depth) if rng.random() < 0.8 else made.schema(depth)
    if defined:
        key = rng.choice(("$defs", "$defs", "definitions"))
        found = {**found, key: {name: made.schema(2) for name in defined}}
        _refer(found, f"#/{key}/")
    if rng.random() < 0.1:
        found["$schema"] = rng.choice(DRAFTS)
    if rng.random() < 0.1:
        found[rng.choice(("$id", "id"))] = rng.choice(IDS)
    return found


def _refer(schema: Any, place: str) -> None:
    """Let references lead to where definitions stand."""
    pending = [schema]
    while pending:
        current = pending.pop()
        if isinstance(current, dict):
            name = current.get("$ref")
            if isinstance(name, str) and name in DEFINED:
                current["$ref"] = place + name.replace("~", "~0").replace("/", "~1")
            pending += current.values()
        elif isinstance(current, list):
            pending += current


class _Made:
    def __init__(self, rng: random.Random, odd: float, defined: list[str]) -> None:
        self.rng, self.odd, self.defined = rng, odd, defined

    def schema(self, depth: int) -> dict[str, Any]:
        """A schema of any kind."""
        rng = self.rng
        kinds: list[Callable[[int], dict[str, Any]]] = [
            *(self.text, self.text, self.number, self.values, self.simple),
            *((self.object, self.object, self.array, self.choice) if depth > 0 else ()),
            *((self.tagged,) if depth > 0 and self.rng.random() < 0.2 else ()),
            *((self.reference,) if self.defined else ()),
        ]
        found = rng.choice(kinds)(depth - 1)
        if rng.random() < 0.2:
            found |= rng.choice(({"title": "T"}, {"description": "d"}, {"default": None}))
        if rng.random() < self.odd:
            found |= dict([rng.choice(ODD)])
        return found

    def object(self, depth: int) -> dict[str, Any]:
        rng = self.rng
        keys = rng.sample(KEYS, rng.randint(0, 5))
        found: dict[str, Any] = {
            "type": rng.choice(("object", "object", "object", ["object", "null"])),
            "properties": {key: self.schema(depth) for key in keys},
        }
        if rng.random() < 0.6:
            found["required"] = rng.sample(keys, rng.randint(0, len(keys)))
        if rng.random() < 0.1:
            found["minProperties"] = rng.choice((0, 1, 1, 1, 2))
        if rng.random() < 0.5:
            found["additionalProperties"] = rng.random() < 0.2 or (
                False if rng.random() < 0.7 else self.schema(depth)
            )
        return found

    def array(self, depth: int) -> dict[str, Any]:
        found: dict[str, Any] = {"type": "array", "items": self.schema(depth)}
        found |= self.bounds("minItems", "maxItems", 0, 4)
        if self.rng.random() < 0.2:
            found["prefixItems"] = [self.schema(depth) for _ in range(self.rng.randint(1, 3))]
        return found

    def choice(self, depth: int) -> dict[str, Any]:
        count = self.rng.choice((1, 2, 2, 3))
        keyword = "anyOf" if count > 1 or self.rng.random() < 0.5 else "allOf"
        return {keyword: [self.schema(depth) for _ in range(count)]}

    def tagged(self, depth: int) -> dict[str, Any]:
        """Branches of different types, or objects with a text of their own each, nearly always."""
        rng = self.rng
        if rng.random() < 0.4:
            makers = (self.text, self.number, self.array, self.object, self.values, self.reference)
            makers = makers if self.defined else makers[:-1]
            return {"oneOf": [make(depth) for make in rng.sample(makers, rng.randint(1, 3))]}
        key, texts = rng.choice(KEYS), rng.sample(TEXTS, 6)
        branches = []
        for i in range(rng.randint(1, 3)):
            found = self.object(depth)
            if rng.random() < 0.95:
                found["type"] = "object"
            count = 2 if rng.random() < 0.9 else 3
            tag: Any = (
                {"const": texts[2 * i]}
                if rng.random() < 0.5
                else {"enum": texts[2 * i : 2 * i + count]}
            )
            found["properties"][key] = tag
            found["required"] = [*found.get("required", ()), key]
            branches.append(found)
        return {"oneOf": branches}

    def reference(self, _: int) -> dict[str, Any]:
        return {"$ref": self.rng.choice(self.defined)}

    def text(self, _: int) -> dict[str, Any]:
        rng = self.rng
        asked = rng.choice(({}, {}, "format", "pattern", "length"))
        found: dict[str, Any] = {"type": "string"}
        if asked == "format":
            found["format"] = rng.choice(FORMATS)
        elif asked == "pattern":
            found["pattern"] = rng.choice(PATTERNS[: 6 if rng.random() < 0.9 else None])
        elif asked == "length":
            found |= self.bounds("minLength", "maxLength", 0, 6)
        return found

    def number(self, _: int) -> dict[str, Any]:
        rng = self.rng
        low, high = rng.choice((("minimum", "maximum"), ("exclusiveMinimum", "exclusiveMaximum")))
        found = {"type": rng.choice(("integer", "number"))}
        return found | self.bounds(low, high, rng.choice((-3, 0, 0.5, -1.25)), 40)

    def bounds(self, first: str, last: str, least: float, room: int) -> dict[str, Any]:
        """None, one or two bounds, nearly always in order."""
        rng = self.rng
        low = least + rng.randint(0, 2)
        high = low + rng.randint(-1 if rng.random() < 0.1 else 0, room)
        return rng.choice(({}, {first: low}, {last: high}, {first: low, last: high}))

    def values(self, _: int) -> dict[str, Any]:
        rng = self.rng
        listed: list[Any] = rng.sample(TEXTS, rng.randint(1, len(TEXTS)))
        found: dict[str, Any] = {"const": listed[0]} if rng.random() < 0.3 else {"enum": listed}
        if rng.random() < 0.3:
            listed += [rng.choice((None, True, 1, 2.5, -3))]
        elif rng.random() < 0.5:
            found["type"] = "string" if rng.random() < 0.95 else "integer"
        return found

    def simple(self, _: int) -> dict[str, Any]:
        kinds = ("string", "integer", "number", "boolean", "null", ["string", "null"])
        return self.rng.choice(({}, *({"type": kind} for kind in kinds)))
