"""Every spelling of a valid instance is accepted, or a note says which kind is left out.

JSON has several spellings of a value: escapes of characters, numbers in other digits, keys in
another order. Which of them a grammar has is one of its options.
"""

import json
import random
import re
from collections.abc import Callable, Iterator
from typing import Any

import jsonschema
import jsonschema_rs
import pytest
from support.schema import Members, members
from support.schema.random_schemas import document, instance

from constrain.compiler import CompileOptions, Compiler, SchemaOptions, Tokenizer
from constrain.compiler.diagnostics import CheckError, LimitError
from constrain.compiler.dialects import read_grammar
from constrain.compiler.schema.notes import ESCAPED, EXPONENTS, NUMBERS, ORDER

pytestmark = pytest.mark.quick

TEXTS = ("ab", "é", "a/b", "x\ny", 'q"q', "b\\s", "😀", "\x7f", "\u2028", "a\u0001", "http://a/b")
# An escape of a character that may stand for itself everywhere.
NEEDLESS = re.compile(r"(?<!\\)(?:\\\\)*\\(?:u00(?:[2-6][0-9a-fA-F]|7[0-9a-eA-E])|/)")
# Constructs in which the schema does not say the text itself.
OPEN = ("not", "pattern", "format", "free", "minProperties")


def coded(text: str, *, upper: bool = False) -> str:
    """All of a text in escapes by code units."""
    octets = text.encode("utf-16-be")
    units = (octets[i] << 8 | octets[i + 1] for i in range(0, len(octets), 2))
    return "".join(f"\\u{unit:04X}" if upper else f"\\u{unit:04x}" for unit in units)


def spellings(text: str) -> dict[str, str]:
    """What JSON may write for a text: as writers do, by code units, with ``\\/``."""
    raw, ascii_ = json.dumps(text, ensure_ascii=False), json.dumps(text)
    return {
        "raw": raw,
        "ascii": ascii_,
        "lower": f'"{coded(text)}"',
        "upper": f'"{coded(text, upper=True)}"',
        "first": f'"{coded(text[0])}{json.dumps(text[1:], ensure_ascii=False)[1:]}',
        "last": f'{ascii_[: len(json.dumps(text[:-1])) - 1]}{coded(text[-1])}"',
        "slash": raw.replace("/", "\\/"),
        "both": ascii_.replace("/", "\\/"),
    }


def quoted(text: str) -> str:
    """A pattern of a text itself."""
    return "".join(f"\\{char}" if char in r"\.+*?()[]{}|^$#&-~/" else char for char in text)


INTEGER: dict[str, Any] = {"type": "integer"}

# A schema for a text, and where that stands in an instance of it.
CONSTRUCTS: dict[str, tuple[Callable[[str], Any], str]] = {
    "type": (lambda s: {"type": "string"}, "%s"),
    "maxLength": (lambda s: {"type": "string", "maxLength": 12}, "%s"),
    "minLength": (lambda s: {"type": "string", "minLength": 1}, "%s"),
    "const": (lambda s: {"const": s}, "%s"),
    "enum": (lambda s: {"enum": [s, "zz", 1]}, "%s"),
    "enum of many": (lambda s: {"enum": [s, *(f"t{i}" for i in range(20))]}, "%s"),
    "oneOf": (lambda s: {"oneOf": [{"const": s}, {"const": "zz"}]}, "%s"),
    "not const": (lambda s: {"type": "string", "not": {"const": "other"}}, "%s"),
    "not enum": (lambda s: {"type": "string", "not": {"enum": ["o", "p"]}}, "%s"),
    "pattern": (lambda s: {"type": "string", "pattern": "^[^0]+$"}, "%s"),
    "pattern of a text": (lambda s: {"type": "string", "pattern": f"^{quoted(s)}"}, "%s"),
    "pattern and length": (
        lambda s: {"type": "string", "pattern": "^[^0]+$", "maxLength": 12},
        "%s",
    ),
    "pattern and large length": (
        lambda s: {"type": "string", "pattern": "^[^0]+$", "maxLength": 40},
        "%s",
    ),
    "format": (lambda s: {"type": "string", "format": "iri-reference"}, "%s"),
    "const in an object": (lambda s: {"const": {"k": s}}, '{"k": %s}'),
    "key of a const": (lambda s: {"const": {s: 1}}, "{%s: 1}"),
    "property": (
        lambda s: {"type": "object", "properties": {s: INTEGER}, "additionalProperties": False},
        "{%s: 1}",
    ),
    "property among others": (lambda s: {"type": "object", "properties": {s: INTEGER}}, "{%s: 1}"),
    "required": (lambda s: {"type": "object", "required": [s]}, "{%s: 1}"),
    "free key": (lambda s: {"type": "object"}, "{%s: 1}"),
    "free key beside": (lambda s: {"type": "object", "properties": {"n": {}}}, "{%s: 1}"),
    "map": (lambda s: {"type": "object", "additionalProperties": INTEGER}, "{%s: 1}"),
    "patternProperties": (
        lambda s: {
            "type": "object",
            "patternProperties": {"^[^0]": INTEGER},
            "additionalProperties": False,
        },
        "{%s: 1}",
    ),
    "propertyNames": (lambda s: {"type": "object", "propertyNames": {"maxLength": 12}}, "{%s: 1}"),
    "enum of names": (lambda s: {"type": "object", "propertyNames": {"enum": [s]}}, "{%s: 1}"),
    "unique": (
        lambda s: {"type": "array", "items": {"enum": [s, "zz"]}, "uniqueItems": True},
        "[%s]",
    ),
    "unique by places": (
        lambda s: {"prefixItems": [{"const": s}], "items": {"enum": ["zz"]}, "uniqueItems": True},
        "[%s]",
    ),
    "minProperties": (lambda s: {"type": "object", "minProperties": 2}, '{%s: 1, "zyx": 1}'),
    "anything": (lambda s: {}, '{"a": [%s]}'),
}


def checked(schema: Any, text: str) -> None:
    """A text is a valid instance, as two validators say."""
    value = json.loads(text)
    assert jsonschema.Draft202012Validator(schema).is_valid(value)
    assert jsonschema_rs.Draft202012Validator(schema).is_valid(value)


@pytest.mark.parametrize("escapes", ["usual", "any", "shortest"])
@pytest.mark.parametrize("construct", CONSTRUCTS)
def test_every_spelling_of_a_text_is_accepted_or_noted(
    construct: str, escapes: str, full: bool
) -> None:
    """Those of writers by default; what is refused has an escape that nobody needs."""
    make, template = CONSTRUCTS[construct]
    rng = random.Random(construct + escapes)
    for text in TEXTS if full else rng.sample(TEXTS, 1):
        schema = make(text)
        if construct == "format" and text not in ("ab", "é", "a/b", "http://a/b"):
            continue
        found = members(schema, escapes=escapes)
        for form, spelling in spellings(text).items():
            written = template % spelling
            checked(schema, written)
            is_plain = form == "raw" or (escapes == "usual" and not NEEDLESS.search(spelling))
            is_plain |= form == "slash" and escapes == "usual" and construct.startswith(OPEN)
            if escapes == "any" or is_plain:
                assert found.accepts(written), (schema, written)
            elif not found.accepts(written):
                assert ESCAPED in found.spellings, (schema, written)
        if escapes == "any":
            assert ESCAPED not in found.spellings


NUMERALS = {
    1: ("1", "1.0", "1e0", "10e-1", "1.00", "1E+0"),
    100: ("100", "1e2", "1E2", "100.0", "1.00e+2"),
    0: ("0", "-0", "0.0", "-0.0", "0e5"),
    1.5: ("1.5", "1.50", "15e-1", "0.15e1"),
    -3: ("-3", "-3.0", "-3e0", "-30E-1"),
}

OF_NUMBERS: dict[str, tuple[Callable[[Any], Any], str]] = {
    "const": (lambda n: {"const": n}, "%s"),
    "enum": (lambda n: {"enum": ["a", n, None]}, "%s"),
    "enum of many": (lambda n: {"enum": [n, *range(50, 70)]}, "%s"),
    "type": (lambda n: {"type": "number"}, "%s"),
    "integer": (lambda n: {"type": "integer" if n == int(n) else "number"}, "%s"),
    "minimum": (lambda n: {"type": "number", "minimum": -5}, "%s"),
    "integer and minimum": (lambda n: {"minimum": -5, "multipleOf": 0.5}, "%s"),
    "not const": (lambda n: {"type": "number", "not": {"const": 7}}, "%s"),
    "in an array": (lambda n: {"const": [n, {"a": n}]}, '[%s, {"a": %s}]'),
    "unique": (lambda n: {"items": {"enum": [n, 77]}, "uniqueItems": True}, "[%s]"),
    "anything": (lambda n: {}, "[%s]"),
}


@pytest.mark.parametrize("integer", ["plain", "decimal"])
@pytest.mark.parametrize("construct", OF_NUMBERS)
def test_every_spelling_of_a_number_is_accepted_or_noted(construct: str, integer: str) -> None:
    """With a fraction that says nothing, with an exponent, and with the sign of zero."""
    make, template = OF_NUMBERS[construct]
    for number, numerals in NUMERALS.items():
        schema = make(number)
        found = members(schema, integer=integer)
        assert found.accepts(template.replace("%s", numerals[0]))
        for numeral in numerals:
            written = template.replace("%s", numeral)
            checked(schema, written)
            kinds = (EXPONENTS,) if "e" in numeral.lower() and integer == "decimal" else ()
            kinds = kinds or ((NUMBERS, EXPONENTS) if "e" in numeral.lower() else (NUMBERS,))
            assert found.accepts(written) or any(kind in found.spellings for kind in kinds), (
                schema,
                written,
            )


@pytest.mark.parametrize("order", ["fixed", "any"])
@pytest.mark.parametrize(
    "schema",
    [
        {"const": {"a": 1, "b": 2}},
        {"enum": [{"b": 1, "a": 2}, {"a": 1, "b": 2}]},
        {"properties": {"a": {}, "b": {}}},
        {"required": ["a"], "additionalProperties": {"type": "integer"}},
        {"items": {"const": {"a": 1, "b": [2]}}},
    ],
)
def test_every_order_of_keys_is_accepted_or_noted(schema: Any, order: str) -> None:
    """Where the option asks for one order."""
    found = members(schema, order=order)
    texts = ['{"a": 1, "b": 2}', '{"b": 2, "a": 1}', '[{"a": 1, "b": [2]}]', '[{"b": [2], "a": 1}]']
    valid = [t for t in texts if jsonschema.Draft202012Validator(schema).is_valid(json.loads(t))]

    assert any(map(found.accepts, valid))
    assert (order == "any") == all(map(found.accepts, valid))
    assert (order == "fixed") == (ORDER in found.spellings)


def respelled(value: Any, kind: str, rng: random.Random) -> str:
    """An instance in another spelling: of its texts, of its numbers, or of the order of keys."""
    match value:
        case str() if kind == ESCAPED:
            return rng.choice([*spellings(value).values()]) if value else '""'
        case bool() | None:
            return json.dumps(value)
        case int() | float() if kind in (NUMBERS, EXPONENTS):
            text = json.dumps(value)
            decimal = text if "." in text else f"{text}.0"
            return rng.choice([decimal, f"{decimal}0"] if kind == NUMBERS else [f"{text}e0"])
        case list():
            return f"[{', '.join(respelled(each, kind, rng) for each in value)}]"
        case dict():
            keys = rng.sample(list(value), len(value)) if kind == ORDER else list(value)
            pairs = ((respelled(key, kind, rng), respelled(value[key], kind, rng)) for key in keys)
            return f"{{{', '.join(f'{key}: {inner}' for key, inner in pairs)}}}"
        case _:
            return json.dumps(value, ensure_ascii=False)


def schemas(count: int) -> Iterator[tuple[random.Random, Members]]:
    """Random schemas that have members."""
    for number in range(count):
        rng = random.Random(number)
        options = {"order": rng.choice(("fixed", "any")), "any_limit": 3}
        options |= {"escapes": rng.choice(("usual", "usual", "any", "shortest"))}
        options |= {"integer": rng.choice(("plain", "decimal"))}
        try:
            found = members(document(rng), formats="ignore", seconds=20, **options)
            if found.network is not None:
                yield rng, found
        except (CheckError, LimitError):
            continue


def test_members_of_random_schemas_are_accepted_in_every_spelling_or_it_is_noted(
    full: bool, record_property: Callable[[str, object], None]
) -> None:
    """What is a member as Python writes it is one in any spelling of a kind that no note names."""
    looked_at = 0
    for rng, found in schemas(6_000 if full else 13):
        for value in [instance(rng, 3) for _ in range(8)]:
            if not found.allows(value):
                continue
            for kind in (ORDER, ESCAPED, NUMBERS, EXPONENTS):
                written = respelled(value, kind, rng)
                noted = (NUMBERS, EXPONENTS) if kind == EXPONENTS else (kind,)
                looked_at += 1
                assert found.accepts(written) or any(each in found.spellings for each in noted), (
                    found.grammar and found.grammar.source.text,
                    written,
                )
    record_property("spellings", looked_at)
    assert looked_at > (5_000 if full else 20)


def test_the_note_is_in_the_artifact_once(default_tokenizer: Tokenizer) -> None:
    """Without a place; options that have all spellings have no note."""
    compiler = Compiler(default_tokenizer, options=CompileOptions(tokenization="any", prewarm=0))
    schema = json.dumps({"type": "object", "properties": {"é": {"const": "a"}, "b": {}}})
    plain = compiler.compile(schema, dialect="json-schema")
    every = compiler.compile(
        schema, dialect="json-schema", schema=SchemaOptions(order="any", escapes="any")
    )

    listed = f"{ORDER}, {ESCAPED}"
    assert [f"other spellings of the same values are left out: {listed}"] == [*plain.notes]
    assert every.notes == ()
    assert {"escapes": "any", "order": "any"}.items() <= every.manifest.schema.items()


def test_several_schemas_of_one_grammar_have_one_note() -> None:
    """With the kinds of all of them."""
    text = 'start: %json {"const": "a"} | %json {"type": "integer"} | %json {"const": "b"}'

    assert [note.message.partition(": ")[2] for note in read_grammar(text, "lark").notes] == [
        f"{ESCAPED}, {NUMBERS}"
    ]
