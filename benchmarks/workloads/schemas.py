"""JSON Schemas, the grammars that say the same, and an instance of each.

The grammars allow white space as JSON does and properties in the order of the schema. An optional
property is a rule that has the next ones after it, so a grammar is as long as its schema.
"""

import json
from typing import Any

from .objects import chain, comma, pair, quoted, quoted_text, with_basics
from .request import Request

_STRING: dict[str, Any] = {"type": "string"}
_INTEGER: dict[str, Any] = {"type": "integer"}
_BOOLEAN: dict[str, Any] = {"type": "boolean"}
_KINDS = (("string", _STRING, "abc def"), ("integer", _INTEGER, 12), ("boolean", _BOOLEAN, True))


def requests() -> list[Request]:
    """One of each shape that schemas in use have."""
    return [
        _any(),
        _person(),
        _tree(),
        _optional(30),
        _optional(100),
        _optional_open(100),
        _formats(),
        _enumeration(500),
        _one_of(20),
        _patterns(),
        max_length(100),
        _max_items(100),
        _max_items(1_000),
        _max_objects(1_000),
    ]


def optional_keys(count: int) -> str:
    """An object of ``count`` optional properties and no others."""
    return with_basics(*chain("root", [(f"field_{i}", _KINDS[i % 3][0]) for i in range(count)]))


def _any() -> Request:
    instance = {"a": [1, 2.5, {"b": None, "c": "xyz"}]}
    return _request("any JSON", {}, with_basics("root ::= value"), instance)


def _person() -> Request:
    address = _object(street=_STRING, zip={"type": "string", "pattern": "^[0-9]{5}$"})
    schema = _object(
        name=_STRING,
        age={"type": "integer", "minimum": 0, "maximum": 150},
        tags={"type": "array", "items": _STRING},
        address={**address, "required": ["street"]},
    )
    grammar = with_basics(
        f'root ::= "{{" ws {pair("name", "string")} {comma("age", "age")} '
        f'({comma("tags", "tags")})? ({comma("address", "address")})? ws "}}"',
        'age ::= [0-9] | [1-9] [0-9] | "1" [0-4] [0-9] | "150"',
        'tags ::= "[" ws (string (ws "," ws string)*)? ws "]"',
        f'address ::= "{{" ws {pair("street", "string")} ({comma("zip", "zip")})? ws "}}"',
        r'zip ::= "\"" [0-9]{5} "\""',
    )
    home = {"street": "Main St 1", "zip": "12345"}
    instance = {"name": "Ada Lovelace", "age": 36, "tags": ["a", "b c"], "address": home}
    return _request("person", {**schema, "required": ["name", "age"]}, grammar, instance)


def _tree() -> Request:
    children = {"type": "array", "items": {"$ref": "#/$defs/node"}}
    node = {**_object(value=_INTEGER, children=children), "required": ["value"]}
    grammar = with_basics(
        f'root ::= "{{" ws {pair("value", "integer")} ({comma("children", "children")})? ws "}}"',
        'children ::= "[" ws (root (ws "," ws root)*)? ws "]"',
    )
    leaves = [{"value": 2, "children": [{"value": 3}]}, {"value": 4}]
    schema = {"$defs": {"node": node}, "$ref": "#/$defs/node"}
    return _request("tree", schema, grammar, {"value": 1, "children": leaves})


def _optional(count: int) -> Request:
    properties = {f"field_{i}": _KINDS[i % 3][1] for i in range(count)}
    instance = {f"field_{i}": _KINDS[i % 3][2] for i in range(0, count, 3 if count > 30 else 2)}
    return _request(f"{count} optional", _object(**properties), optional_keys(count), instance)


def _optional_open(count: int) -> Request:
    properties = {f"field_{i}": _KINDS[i % 3][1] for i in range(count)}
    names = [(f"field_{i}", _KINDS[i % 3][0]) for i in range(count)]
    others = '(other ws ":" ws value)'
    rules = chain("root", names, tail=f'{others} (ws "," ws {others})*')
    known = " | ".join(f"'\"{name}\"'" for name, _ in names)
    # This dialect has exceptions, no counts, and the text between quotes is as it stands.
    grammar = "\n".join(
        [
            *[_as_w3c(rule) for rule in rules],
            f"other ::= string - ({known})",
            "ws ::= [ #x9#xA#xD]*",
            r"""char ::= [^"\#x0-#x1F] | "\" (["\/bfnrt] | "u" hex hex hex hex)""",
            "hex ::= [0-9a-fA-F]",
            "string ::= '\"' char* '\"'",
            'integer ::= "-"? ("0" | [1-9] [0-9]*)',
            'number ::= integer ("." [0-9]+)? ([eE] [-+]? [0-9]+)?',
            'boolean ::= "true" | "false"',
            'value ::= string | number | boolean | "null" | object | array',
            'object ::= "{" ws (pair (ws "," ws pair)*)? ws "}"',
            'pair ::= string ws ":" ws value',
            'array ::= "[" ws (value (ws "," ws value)*)? ws "]"',
        ]
    )
    schema = {"type": "object", "properties": properties}
    instance: dict[str, Any] = {f"field_{i}": _KINDS[i % 3][2] for i in range(0, count, 3)}
    instance["other"] = [1, {"x": None}]
    return _request(f"{count} optional, open", schema, grammar, instance, dialect="w3c")


def _formats() -> Request:
    formats = {"id": "uuid", "at": "date-time", "mail": "email", "page": "uri"}
    schema = _object(**{name: {"type": "string", "format": f} for name, f in formats.items()})
    grammar = with_basics(
        f'root ::= "{{" ws {pair("id", "uuid")} {comma("at", "moment")} '
        f'({comma("mail", "email")})? ({comma("page", "uri")})? ws "}}"',
        r'uuid ::= "\"" hex{8} ("-" hex{4}){3} "-" hex{12} "\""',
        "hex ::= [0-9a-fA-F]",
        r'moment ::= "\"" day [Tt ] time "\""',
        'day ::= [0-9]{4} "-" ("0" [1-9] | "1" [0-2]) "-" ("0" [1-9] | [12] [0-9] | "3" [01])',
        'time ::= ([01] [0-9] | "2" [0-3]) (":" [0-5] [0-9]){2} ("." [0-9]+)? zone',
        'zone ::= [Zz] | [-+] ([01] [0-9] | "2" [0-3]) ":" [0-5] [0-9]',
        r'email ::= "\"" atom ("." atom)* "@" label ("." label)* "\""',
        "atom ::= [a-zA-Z0-9!#$%&'*+/=?^_`{|}~-]+",
        "label ::= [a-zA-Z0-9] ([a-zA-Z0-9-]{0,61} [a-zA-Z0-9])?",
        r'uri ::= "\"" [a-zA-Z] [a-zA-Z0-9+.-]* ":" mark* ("?" mark*)? ("#" mark*)? "\""',
        'mark ::= [a-zA-Z0-9._~!$&\'()*+,;=:@/-] | "%" hex hex',
    )
    instance = {
        "id": "123e4567-e89b-12d3-a456-426614174000",
        "at": "2024-02-29T12:00:00Z",
        "mail": "a.b@example.org",
        "page": "https://example.org/a?b=c",
    }
    return _request("formats", {**schema, "required": ["id", "at"]}, grammar, instance)


def _enumeration(count: int) -> Request:
    names = [f"value-{i * 7919 % 1000:04d}" for i in range(count)]
    grammar = "root ::= " + " | ".join(f'"\\"{name}\\""' for name in names)
    return _request(f"enumeration of {count}", {"enum": names}, grammar, names[0])


def _one_of(count: int) -> Request:
    branches, rules = [], []
    for i in range(count):
        branch = _object(kind={"const": f"k{i}"}, a=_INTEGER, **{f"p{i}": _STRING})
        branches.append({**branch, "required": ["kind", f"p{i}"]})
        rules.append(
            f'case{i} ::= "{{" ws {pair("kind", quoted(quoted_text(f"k{i}")))} '
            f'({comma("a", "integer")})? {comma(f"p{i}", "string")} ws "}}"'
        )
    cases = " | ".join(f"case{i}" for i in range(count))
    grammar = with_basics(f"root ::= {cases}", *rules)
    instance = {"kind": "k7", "a": 3, "p7": "zz"}
    return _request(f"one of {count} objects", {"oneOf": branches}, grammar, instance)


def _patterns() -> Request:
    schema = _object(id=_INTEGER, name=_STRING)
    schema["patternProperties"] = {"^x-": _STRING, "^[0-9]+$": _INTEGER}
    schema["required"] = ["id"]
    grammar = with_basics(
        f'root ::= "{{" ws {pair("id", "integer")} ({comma("name", "string")})? '
        '(ws "," ws other)* ws "}"',
        r'other ::= "\"x-" char* "\"" ws ":" ws string | "\"" [0-9]+ "\"" ws ":" ws integer',
    )
    instance = {"id": 1, "name": "n", "x-foo": "bar", "17": 4}
    return _request("pattern properties", schema, grammar, instance)


def max_length(most: int) -> Request:
    """A string of so many characters at most, in an object."""
    schema = {**_object(a={"type": "string", "maxLength": most}), "required": ["a"]}
    text = f'"\\"" char{{0,{most}}} "\\""'
    grammar = with_basics(f'root ::= "{{" ws {pair("a", f"({text})")} ws "}}"')
    instance = {"a": "The quick brown fox jumps over the lazy dog, again."}
    return _request(f"maxLength {most:,}", schema, grammar, instance)


def _max_items(most: int) -> Request:
    schema = {"type": "array", "items": _INTEGER, "maxItems": most}
    grammar = with_basics(_array_of("integer", most))
    return _request(f"maxItems {most:,}", schema, grammar, list(range(50)))


def _max_objects(most: int) -> Request:
    item = {**_object(a=_INTEGER, b=_STRING), "required": ["a"]}
    schema = {"type": "array", "items": item, "maxItems": most}
    rule = f'item ::= "{{" ws {pair("a", "integer")} ({comma("b", "string")})? ws "}}"'
    grammar = with_basics(_array_of("item", most), rule)
    instance = [{"a": i, "b": "x y z"} for i in range(10)]
    return _request(f"maxItems {most:,}, objects", schema, grammar, instance)


def _array_of(item: str, most: int) -> str:
    return f'root ::= "[" ws ({item} (ws "," ws {item}){{0,{most - 1}}})? ws "]"'


def _object(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "additionalProperties": False}


def _as_w3c(rule: str) -> str:
    """The same rule where quotes of one kind stand between those of the other."""
    parts = rule.split('"\\"')
    return parts[0] + "".join("'\"" + part.replace('\\""', "\"'", 1) for part in parts[1:])


def _request(name: str, schema: Any, grammar: str, instance: Any, dialect: str = "gbnf") -> Request:
    return Request(name, dialect, grammar, (json.dumps(instance),), json.dumps(schema))
