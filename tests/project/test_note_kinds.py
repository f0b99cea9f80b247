"""Each kind of note in the table is that of some compilation's notes, and is said with its name."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from support.tokens import TOKENIZER

from constrain.cli.app import run
from constrain.compiler import Tokenizer
from constrain.compiler.notes import NOTE_KINDS, kind_of, summary
from constrain.compiler.pipeline import build_artifact, build_engine
from constrain.compiler.tokenizers.definition import AddedToken

NESTS = 'v ::= "[" v "]" | "x";'
REGULAR = 'a ::= "x" "y"?;'
LEXED = 'start: "[" start "]" | /x/\n%ignore / +/'
MUNCHED = 'start: "a" "b" "c"\n%ignore /;(bc)?/'
SCHEMA = (
    '{"type": "object", "properties": {"a": {"type": "number"}}, "additionalProperties": false}'
)

TOOLS = '[{"type": "function", "function": {"name": "now"}}]'

CALLING = AddedToken(8191, "<tool_call>")

# Name, dialect, grammar, options; with the small tokenizer where the dialect is GBNF.
CASES: tuple[tuple[str, str, str, dict[str, Any]], ...] = (
    ("no-effect", "kbnf", REGULAR, {"max_depth": 1}),
    ("spellings", "json-schema", SCHEMA, {}),
    ("narrowed", "json-schema", '{"type": "integer", "multipleOf": 1000003}', {}),
    ("masks", "lark", LEXED, {"prewarm": 1, "tokenization": "any"}),
    ("engine", "kbnf", NESTS, {}),
    ("while-decoding", "regex", ".*a.{20}", {"tokenization": "any"}),
    ("dead-ends", "lark", LEXED, {"tokenization": "any"}),
    ("any-tokens", "kbnf", NESTS, {"engine": "earley"}),
    ("meaning", "lark", "start: /[a-z]+/ /x/\n%ignore / +/", {}),
    ("read-as", "kbnf", "<a> ::= x | <a> y", {"is_guessed": True}),
    ("cut-off", "kbnf", NESTS, {"max_depth": 2}),
    ("added-tokens", "kbnf", 'v ::= "[" v "]" | #".*";', {}),
    ("unspelled", "gbnf", 'root ::= "a" | "x"', {}),
    ("end-of-text", "gbnf", 'root ::= "a"', {}),
    ("style", "tools", TOOLS, {}),
    ("never-reached", "gbnf", 'root ::= "a" (<end> "b")?', {}),
    ("ignored-text", "lark", MUNCHED, {"meaning": "exact"}),
    ("of-the-text", "lark", 'start: a\na.2: "x"', {}),
)


@pytest.mark.parametrize("text", ['v ::= #"[^z]*";', 'v ::= #"[^z]*" | "[" v "]";'])
def test_an_added_token_alone_is_one_kind(text: str, default_tokenizer: Tokenizer) -> None:
    """Of a grammar that nests and of a regular one; a byte without a token is another."""
    recogniser = build_engine(text, dialect="kbnf")
    notes = build_artifact(recogniser, default_tokenizer, dialect="kbnf").artifact.notes
    kinds = [kind_of(note).name for note in notes]
    assert "added-tokens" in kinds
    assert "unspelled" not in kinds


@pytest.mark.parametrize(
    ("name", "dialect", "grammar", "options"), CASES, ids=[c[0] for c in CASES]
)
def test_each_kind_is_met(
    name: str,
    dialect: str,
    grammar: str,
    options: dict[str, Any],
    default_tokenizer: Tokenizer,
) -> None:
    """A compilation has a note of it."""
    small = replace(TOKENIZER, eos_is_guessed=name == "end-of-text")
    tokenizer = small if dialect == "gbnf" else default_tokenizer
    if name == "style":
        tokenizer = replace(tokenizer, added_tokens=(*tokenizer.added_tokens, CALLING))
    recogniser = build_engine(grammar, dialect=dialect, **options)
    artifact = build_artifact(recogniser, tokenizer, dialect=dialect, **options).artifact
    assert name in [kind_of(note).name for note in artifact.notes], artifact.notes


def test_the_table_has_no_other_kind() -> None:
    """All kinds have a case, names are as options are written, and sentences end."""
    assert [case[0] for case in CASES] == [kind.name for kind in NOTE_KINDS]
    for kind in NOTE_KINDS:
        assert kind.name == kind.name.lower().replace(" ", "-")
        assert kind.about.endswith(".")


def test_what_to_look_at_comes_first() -> None:
    """Each kind once, those to look at before those that are fine."""
    notes = ["masks: 3 precomputed, others when met", "a: b [narrowed]", "c: d [narrowed]"]
    assert summary(notes) == "look at: narrowed; fine for most uses: masks"
    assert summary([]) == ""


def test_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Notes are said with their names, and a name is explained; another one is refused."""
    file = tmp_path / "g.kbnf"
    file.write_text(NESTS, encoding="utf-8")
    assert run(["compile", str(file), "-o", str(tmp_path / "g.cst")]) == 0
    said = capsys.readouterr().err
    assert "[engine]\n" in said
    assert "fine for most uses: engine" in said
    assert run(["--explain-note", "engine"]) == 0
    assert capsys.readouterr().out.startswith("engine: Fine for most uses. ")
    assert run(["--explain-note", "motor"]) == 2
    assert "they are no-effect, spellings" in capsys.readouterr().err
