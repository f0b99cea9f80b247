"""What asks nothing because it was misspelt is noted when a schema is read, and references to what
is not there say what was probably meant."""

import json
import random
from pathlib import Path
from typing import Any

import pytest
from support.schema import members, refusal

from constrain.compiler import Compiler, Tokenizer
from constrain.compiler.dialects import read_grammar
from constrain.compiler.lints import lint
from constrain.compiler.schema.keywords.known import KEYWORDS

pytestmark = pytest.mark.quick


def one_edit(word: str) -> list[str]:
    """The words that lack a letter of another one, double one or exchange two neighbours."""
    places = range(len(word))
    found = [word[:i] + word[i + 1 :] for i in places]
    found += [word[:i] + word[i] + word[i:] for i in places]
    found += [word[:i] + word[i + 1] + word[i] + word[i + 2 :] for i in places[:-1]]
    return [each for each in dict.fromkeys(found) if each not in KEYWORDS]


MISSPELT = [
    (wrong, keyword) for keyword in KEYWORDS if len(keyword) > 5 for wrong in one_edit(keyword)
]


def test_every_keyword_with_one_wrong_letter_is_noted(full: bool) -> None:
    """By its place, also below others, with the keyword that was meant."""
    wrong = MISSPELT if full else random.Random(2).sample(MISSPELT, 150)
    as_meant = 0
    for misspelt, keyword in wrong:
        found = members({"type": "object", "properties": {"a": {misspelt: 5}}}).grammar
        assert found is not None
        note, spellings = found.notes
        assert spellings.span is None

        message = f"#/properties/a/{misspelt}: {misspelt!r} is no keyword, and asks nothing"
        assert note.message == f"{message} [misspelt-keyword]"
        assert note.span is not None
        marked = found.source.text[note.span.start : note.span.end]
        assert marked == f'"{misspelt}"'[: len(marked)] != ""
        assert note.help is not None
        meant = note.help.removeprefix("did you mean '").removesuffix("'?")
        assert meant in KEYWORDS
        as_meant += meant == keyword

    # Of keywords that differ in a letter it may be another one.
    assert as_meant > 0.97 * len(wrong)


SCHEMAS = [
    ({"propertis": {"a": {}}}, "misspelt-keyword", "did you mean 'properties'?"),
    ({"require": ["a"]}, "misspelt-keyword", "did you mean 'required'?"),
    (
        {"type": "string", "nullable": True},
        "other-draft",
        "add 'null' to the types, or read all by --draft openapi-3.0",
    ),
    (
        {"$schema": "http://json-schema.org/draft-07/schema#", "prefixItems": [True]},
        "other-draft",
        "it is one of draft 2020-12; $schema says another",
    ),
]


def wrapped(schema: Any) -> list[tuple[str, str]]:
    """A schema as each dialect has one, and the dialect."""
    tool = {"name": "f", "parameters": {"type": "object", "properties": {"x": schema}}}
    text = json.dumps(schema)
    return [
        (text, "json-schema"),
        (json.dumps([{"type": "function", "function": tool}]), "tools"),
        (f'start: "x" %json {text}', "lark"),
        (
            json.dumps(
                {
                    "type": "structural_tag",
                    "format": {"type": "json_schema", "json_schema": schema},
                }
            ),
            "structural-tag",
        ),
    ]


@pytest.mark.parametrize(("schema", "name", "hint"), SCHEMAS)
def test_a_keyword_that_asks_nothing_is_noted_in_every_dialect_and_found_once(
    schema: Any, name: str, hint: str
) -> None:
    """``compile`` notes it, and ``check`` has it as a finding that can be silenced."""
    for text, dialect in wrapped(schema):
        grammar = read_grammar(text, dialect)

        assert [note.help for note in grammar.notes if note.message.endswith(f"[{name}]")] == [hint]
        assert [found.help for found in lint(grammar) if found.lint == name] == [hint]


@pytest.mark.parametrize(
    "schema",
    [
        {"type": ["string", "null"], "nullable": True},
        {"type": "string", "nullable": False},
        {"x-order": 1, "title": "t", "widget": "w", "$comment": "c"},
        {"properties": {"propertis": {}}, "examples": [{"require": 1}]},
    ],
)
def test_what_is_no_keyword_and_asks_nothing_on_purpose_is_not_noted(schema: Any) -> None:
    """Names of properties, values, and other people's keywords."""
    assert members(schema).notes == []


def test_the_note_is_in_the_artifact(default_tokenizer: Tokenizer) -> None:
    """With its place, where servers and ``show`` read it."""
    text = json.dumps({"type": "string", "maxLenght": 3})
    artifact = Compiler(default_tokenizer).compile(text, dialect="json-schema", tokenization="any")

    assert any("'maxLenght' is no keyword" in note for note in artifact.notes)


@pytest.mark.parametrize(
    ("reference", "meant"),
    [
        ("#/definitions/item", "#/$defs/item"),
        ("#/$defs/itm", "#/$defs/item"),
        ("#/defs/item", "#/$defs/item"),
        ("item", "#/$defs/item"),
        ("$defs/item", "#/$defs/item"),
        ("#item", "#/$defs/item"),
        ("#othr", "#other"),
        ("other", "#other"),
    ],
)
def test_a_reference_to_nothing_says_what_was_meant(reference: str, meant: str) -> None:
    """A schema of that name at another place, or one of nearly that name."""
    defs = {"item": {"type": "null"}, "x": {"$anchor": "other", "type": "null"}}

    assert f"did you mean {meant!r}?" in refusal({"$ref": reference, "$defs": defs})


def test_a_reference_to_another_document_says_what_was_meant_there(tmp_path: Path) -> None:
    """And what is nowhere gets the hint to look for more."""
    (tmp_path / "c.json").write_text('{"$defs": {"item": {"type": "null"}}}', encoding="utf-8")
    folders = (("", str(tmp_path)),)

    found = refusal({"$ref": "c.json#/definitions/item"}, schemas=folders)
    assert "did you mean 'c.json#/$defs/item'?" in found
    assert "--schemas DIR reads more" in refusal({"$ref": "d.json#/x"}, schemas=folders)


def test_a_note_on_the_draft_of_another_file_is_about_that_file(tmp_path: Path) -> None:
    """And there is none about a file that nothing refers to."""
    own = {"$schema": "https://example.org/mine", "type": "null"}
    (tmp_path / "c.json").write_text(json.dumps(own), encoding="utf-8")
    folders = (("", str(tmp_path)),)
    said = (
        "file:///c.json#/$schema: 'https://example.org/mine' is not known: keywords of all drafts"
    )

    assert members({"type": "null"}, schemas=folders).notes == []
    assert members({"$ref": "c.json"}, schemas=folders).notes == [said]
    grammar = members({"$ref": "c.json"}, schemas=folders).grammar
    assert grammar is not None
    assert [note.span for note in grammar.notes] == [None]
    assert members(own).notes == [said.removeprefix("file:///c.json")]
