"""Schemas as a dialect: each command works on them, and options change what they say."""

# Tests here say `expected == actual`.
# ruff: noqa: SIM300

import json
from pathlib import Path

import jsonschema
import pytest
from support.cli import Cli
from support.schema import members

from constrain.artifacts import load
from constrain.compiler import Compiler, SchemaOptions, Tokenizer

SCHEMA = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "maxLength": 4},
        "age": {"type": "integer", "minimum": 0},
        "tags": {"type": "array", "items": {"enum": ["a", "b"]}, "maxItems": 2},
    },
    "required": ["name", "age"],
    "additionalProperties": False,
}


@pytest.fixture
def path(tmp_path: Path) -> str:
    """The file of a schema."""
    (tmp_path / "person.schema.json").write_text(json.dumps(SCHEMA, indent=1), encoding="utf-8")
    return "person.schema.json"


def test_a_schema_compiles_to_an_artifact_of_its_instances(cli: Cli, path: str) -> None:
    """By its suffix, as a network; the matcher accepts an instance to its end."""
    assert 0 == cli("compile", path, "-o", "p.cst", "--tokenization", "any").code
    artifact = load("p.cst")

    assert "network" == artifact.manifest.kind
    assert "json-schema" == artifact.manifest.dialect
    assert 0 == cli("mask", "p.cst", "--prefix", '{"name": "x", "age": ').code


def test_an_artifact_says_how_its_schema_was_read_and_what_is_left_out(
    cli: Cli, tmp_path: Path
) -> None:
    """The options, as the command line has them, and notes by pointer; also of a schema in a
    grammar of Lark, and nothing of other grammars."""
    schema = {"properties": {"a": {"format": "email"}, "b": {"uniqueItems": True}}}
    (tmp_path / "s.schema.json").write_text(json.dumps(schema))
    (tmp_path / "s.lark").write_text(f"start: %json {json.dumps(schema)}")
    (tmp_path / "s.ebnf").write_text('start ::= "a";')
    options = ("--unique", "ignore", "--whitespace", "compact", "--tokenization", "any", "--lazy")
    for name in ("s.schema.json", "s.lark"):
        assert 0 == cli("compile", name, "-o", "s.cst", *options).code
        made = load("s.cst").manifest

        said = {"unique": "ignore", "whitespace": "compact", "order": "fixed", "ascii": "false"}
        assert said == {key: made.schema[key] for key in said}
        assert any("#/properties/a/format: of email this is left out" in n for n in made.notes)
        assert any("#/properties/b/uniqueItems: equal items are not" in n for n in made.notes)
        assert b"whitespace compact" in cli("show", "s.cst").out
    assert 0 == cli("compile", "s.ebnf", "-o", "s.cst").code
    assert {} == load("s.cst").manifest.schema


def test_samples_of_a_schema_are_valid(cli: Cli, path: str) -> None:
    """As ``jsonschema`` says."""
    found = cli("sample", path, "-n", "5", "--max-bytes", "50", "--format", "raw0")
    check = jsonschema.Draft202012Validator(SCHEMA)

    assert 0 == found.code
    for text in found.out.split(b"\0")[:-1]:
        check.validate(json.loads(text))


def test_an_instance_is_explained(cli: Cli, path: str, tmp_path: Path) -> None:
    """Members end well; of others the place is named."""
    (tmp_path / "good.json").write_text('{"name": "x", "age": 3}')
    (tmp_path / "bad.json").write_text('{"name": "x", "age": "3"}')

    assert 0 == cli("explain", path, "good.json").code
    bad = cli("explain", path, "bad.json")
    assert 1 == bad.code
    assert "1:22: rejected" in bad.out.decode()


def test_two_schemas_are_compared(cli: Cli, path: str, tmp_path: Path) -> None:
    """The shortest instance that only one of them has."""
    other = json.loads(json.dumps(SCHEMA))
    other["required"] = ["name"]
    (tmp_path / "other.schema.json").write_text(json.dumps(other))
    found = cli("diff", path, "other.schema.json", "--whitespace", "compact")

    assert 1 == found.code
    assert 'shortest "{\\"name\\":\\"\\"}"' in found.out.decode()
    assert 0 == cli("diff", path, path).code


@pytest.mark.parametrize("dialect", ["gbnf", "lark", "kbnf", "w3c"])
def test_a_schema_is_written_in_another_dialect_with_the_same_members(
    cli: Cli, path: str, tmp_path: Path, dialect: str
) -> None:
    """Automata become regular expressions."""
    small = {**SCHEMA, "properties": {**SCHEMA["properties"], "name": {"enum": ["x", "y"]}}}
    (tmp_path / "small.schema.json").write_text(json.dumps(small))
    suffix = {"w3c": "w3c", "kbnf": "kbnf"}.get(dialect, dialect)
    out = f"out.{suffix}"
    written = cli("convert", "small.schema.json", "--to", dialect, "-o", out)

    assert (0, "") == (written.code, written.err)
    assert 0 == cli("diff", "small.schema.json", out).code


def test_another_json_file_is_told_how_schemas_are_read(cli: Cli, tmp_path: Path) -> None:
    """Nothing is guessed."""
    (tmp_path / "data.json").write_text("{}")
    found = cli("compile", "data.json")

    assert 2 == found.code
    assert "a JSON Schema is read with --dialect json-schema" in found.err


def test_options_of_schemas_are_refused_for_other_grammars(cli: Cli, tmp_path: Path) -> None:
    """They would change nothing."""
    (tmp_path / "g.ebnf").write_text('start ::= "a";')
    found = cli("check", "g.ebnf", "--order", "any")

    assert 2 == found.code
    assert "--order is about JSON Schema" in found.out.decode() + found.err


def test_a_schema_inside_another_one_may_be_the_start() -> None:
    """``--start`` with a JSON pointer."""
    from constrain.compiler.dialects import read_grammar

    text = '{"$defs": {"a": {"type": "null"}}, "type": "integer"}'
    grammar = read_grammar(text, "json-schema", start="#/$defs/a")

    assert "#/$defs/a" == grammar.start


@pytest.mark.quick
@pytest.mark.parametrize(
    ("whitespace", "accepted", "rejected"),
    [
        ("flexible", '{ "a" :\n1 }', '{"a":1} '),
        ("compact", '{"a":1}', '{"a": 1}'),
        ("python", '{"a": 1}', '{"a":1}'),
        ("one", '{ "a" :1 }', '{"a":  1}'),
        ("2", '{\t "a":1}', '{"a":   1}'),
        ("indent:1", '{\n "a": 1\n}', '{"a": 1}'),
    ],
)
def test_white_space_is_what_the_option_says(whitespace: str, accepted: str, rejected: str) -> None:
    """Between the tokens of a text, and not around it."""
    found = members({"properties": {"a": {"const": 1}}}, whitespace=whitespace)

    assert found.accepts(accepted)
    assert not found.accepts(rejected)


@pytest.mark.quick
def test_keys_come_in_the_order_of_the_schema_or_in_any() -> None:
    """``--order``: document order, additional keys after; or every order."""
    schema = {"properties": {"b": True, "a": True}, "required": ["c", "a"]}

    assert members(schema).accepts('{"b": 1, "a": 1, "c": 1, "x": 1}')
    assert not members(schema).accepts('{"a": 1, "b": 1, "c": 1}')
    assert members(schema, order="any").accepts('{"x": 1, "c": 1, "a": 1, "y": 1, "b": 1}')


@pytest.mark.quick
def test_drafts_say_which_keywords_there_are() -> None:
    """By ``$schema``; without one by ``--draft``, or all keywords count."""
    prefix = {"items": [{"type": "null"}]}

    assert not members(prefix).allows([1])
    assert not members(prefix, draft="7").allows([1])
    assert members({"const": 1}, draft="4").allows(2)
    sibling = {"$ref": "#/definitions/a", "maximum": 1, "definitions": {"a": {"type": "integer"}}}
    seventh = "http://json-schema.org/draft-07/schema#"
    assert members({"$schema": seventh, **sibling}).allows(2)
    assert not members(sibling).allows(2)


@pytest.mark.quick
def test_ascii_writes_escapes() -> None:
    """``--ascii``."""
    found = members({"const": "é"}, ascii=True)

    assert found.accepts('"\\u00e9"')
    assert not found.accepts('"é"')
    assert not members({}, ascii=True).accepts('"é"')


def test_options_of_schemas_are_fields_of_an_object_in_python(default_tokenizer: Tokenizer) -> None:
    """``schema=SchemaOptions(…)``."""
    text = json.dumps({"properties": {"a": {"const": 1}}, "additionalProperties": False})
    compact = SchemaOptions(whitespace="compact")
    compiler = Compiler(default_tokenizer)
    made = compiler.compile(text, dialect="json-schema", schema=compact, tokenization="any")
    matcher = made.matcher()
    for token in default_tokenizer.encode('{"a":1}'):
        matcher.advance(token)

    assert matcher.is_accepting
    with pytest.raises(ValueError, match="order must be one of fixed, any"):
        SchemaOptions(order="sorted")
