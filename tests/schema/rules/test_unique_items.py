"""Items that must differ: what two validators say of texts."""

import json
import random
from pathlib import Path
from typing import Any

import jsonschema
import jsonschema_rs
import pytest
from support.schema import members, refusal

from constrain.artifacts.read import load_bytes
from constrain.cli.app import run
from constrain.compiler import CompileOptions, Compiler, Tokenizer
from constrain.compiler.diagnostics import GrammarError, WeakerMasksWarning
from constrain.compiler.schema import SchemaOptions

_ITEMS: list[Any] = [
    True,
    {"type": "string"},
    {"type": "string", "pattern": "^[a-c]*$"},
    {"type": "string", "maxLength": 2},
    {"type": "string", "minLength": 1},
    {"type": "integer"},
    {"type": "integer", "minimum": -1},
    {"type": "number"},
    {"type": ["string", "integer"]},
    {"type": ["number", "null", "boolean"]},
    {"anyOf": [{"const": "a"}, {"type": "integer"}]},
    {"type": "array"},
    {"type": "array", "items": {"type": "integer"}},
    {"type": "array", "items": {"type": ["string", "number"]}, "uniqueItems": True},
    {"type": "object"},
    {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]},
    {"type": "object", "additionalProperties": {"type": "string"}},
    {"properties": {"a": {"uniqueItems": True}}},
    {"not": {"type": "string"}},
    {"oneOf": [{"type": "array", "maxItems": 1}, {"type": "string"}]},
]


def _value(rng: random.Random, depth: int) -> Any:
    kind = rng.randrange(7 if depth else 5)
    if kind == 0:
        return rng.choice((None, True, False))
    if kind in (1, 2):
        return rng.choice((0, 1, 1.0, -1, 2, 1.5, 100, 1e2))
    if kind in (3, 4):
        return rng.choice(("", "a", "b", "ab", "abc", "é", '"', "1"))
    if kind == 5:
        return [_value(rng, depth - 1) for _ in range(rng.randrange(4))]
    return {key: _value(rng, depth - 1) for key in rng.sample("ab", rng.randrange(3))}


@pytest.mark.parametrize("number", range(len(_ITEMS)))
def test_arrays_whose_items_differ_are_those_of_two_validators(number: int, full: bool) -> None:
    """Whatever items may be, however equal ones are spelled."""
    schema = {"type": "array", "uniqueItems": True, "items": _ITEMS[number]}
    found = members(schema, unique="hold", order="any", escapes="any")
    validators = jsonschema.Draft202012Validator(schema), jsonschema_rs.validator_for(schema)
    rng, kept = random.Random(number), list[Any]()
    while len(kept) < (2_000 if full else 100):
        items = [_value(rng, 2) for _ in range(rng.randrange(6))]
        fitting = [each for each in items if validators[0].is_valid([each])]
        instance = fitting if rng.random() < 0.9 else items
        kept.append(instance)
        text = json.dumps(instance, ensure_ascii=rng.random() < 0.5)
        allowed = found.accepts(text)

        assert (text, allowed) == (text, validators[0].is_valid(instance))
        assert allowed == validators[1].is_valid(instance)


def test_where_items_are_not_compared_they_are_refused() -> None:
    """Under canonical tokenization; and that some must be equal, in any case."""
    schema = {"uniqueItems": True, "items": {"type": "string"}}

    assert "without finitely many values" in refusal(schema)
    assert "below a negation" in refusal({"not": {"uniqueItems": True}}, unique="hold")
    for wanted in (
        CompileOptions(dialect="json-schema", schema=SchemaOptions(unique="hold")),
        CompileOptions(dialect="tools", tokenization="any", prewarm=0),
        CompileOptions(dialect="json-schema", tokenization="any"),
    ):
        assert wanted.of_schemas.unique == "refuse"
    held = CompileOptions(dialect="json-schema", tokenization="any", prewarm=0)
    assert held.of_schemas.unique == "hold"


def test_for_each_item_a_value_is_left() -> None:
    """Where those before it may take all it may have, texts would come to an end that is none."""
    text, one = {"type": "string"}, {"const": "a"}
    taken = "may be taken before it"
    tuples = {"uniqueItems": True, "items": False}

    assert taken in refusal({**tuples, "prefixItems": [text, one]}, unique="hold")
    assert taken in refusal(
        {**tuples, "prefixItems": [text, text, {"enum": ["a", "b"]}]}, unique="hold"
    )
    assert taken in refusal(
        {"uniqueItems": True, "prefixItems": [text], "items": one}, unique="hold"
    )
    for places, array in (
        ([text, {"enum": ["a", "b"]}], ["a", "b"]),
        ([text, {"const": 1}], ["a", 1]),
        ([one, text], ["a", "b"]),
    ):
        found = members({**tuples, "prefixItems": places}, unique="hold")
        assert found.accepts(json.dumps(array))
        assert not found.accepts(json.dumps([array[0], array[0]]))
    found = members(
        {"uniqueItems": True, "prefixItems": [text], "items": {"const": 1}}, unique="hold"
    )
    assert found.accepts('["a", 1]')
    assert not found.accepts('["a", 1, 1]')


def test_they_are_compared_where_nothing_else_was_asked_for(
    default_tokenizer: Tokenizer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """An artifact by default, which a note tells to allow any tokens; from a file, too. Asked for
    canonical masks, or with tokens of words, the schema is refused; ``check`` finds nothing."""
    schema = json.dumps({"uniqueItems": True, "items": {"type": "string"}, "type": "array"})
    with pytest.warns(WeakerMasksWarning, match="compared while decoding"):
        found = Compiler(default_tokenizer).compile(schema, dialect="json-schema")
    again = load_bytes(found.to_bytes())
    for artifact in (found, again):
        assert artifact.manifest.tokenization == "any"
        matcher = artifact.matcher()
        for token in default_tokenizer.encode('["a","'):
            matcher.advance(token)
        quoted = default_tokenizer.encode('a"')
        assert matcher.accept(quoted) < len(quoted)
        assert matcher.accept(default_tokenizer.encode('b"]')) > 0
    with pytest.raises(GrammarError, match="without finitely many values"):
        Compiler(default_tokenizer).compile(schema, dialect="json-schema", tokenization="canonical")
    file = tmp_path / "a.schema.json"
    file.write_text(schema, encoding="utf-8")
    text = tmp_path / "text"
    text.write_text('["a", "a"]', encoding="utf-8")
    assert run(["check", str(file)]) == 0
    assert run(["explain", str(file), str(text)]) == 1
    assert "items 0 and 1 are equal" in capsys.readouterr().out
