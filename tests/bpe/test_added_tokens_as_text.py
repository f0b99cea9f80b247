"""Literals that hold the text of an added token: said at their place, with what to write."""

# Tests here say `expected == actual`.
# ruff: noqa: SIM300

from collections.abc import Callable
from pathlib import Path

import pytest
from support import tokenizer_json, written
from support.cli import Cli

from constrain.artifacts.read import load
from constrain.compiler import Tokenizer, load_tokenizer
from constrain.compiler.dialects import read_grammar
from constrain.compiler.lints import lint

pytestmark = pytest.mark.quick

ADDED = [(20, "<eos>", True), (21, "<call>", False), (22, "[INST]", True)]

LETTERS = "<>/[]INSTcalxy"


@pytest.fixture
def tokenizer(tmp_path: Path) -> str:
    """The path of a tokenizer with tokens for chat markup."""
    (tmp_path / "t").mkdir()
    return str(written(tmp_path / "t", tokenizer_json(LETTERS, [], added=ADDED)))


@pytest.mark.parametrize(
    ("name", "text", "place", "pasted"),
    [
        ("g.gbnf", 'root ::= "<call>" [xy]+', "1:11", "write <call>"),
        ("g.gbnf", 'root ::= "x\\"<call>y"', "1:14", 'write "x\\"" <call> "y"'),
        ("g.gbnf", 'root ::= "[INST]"', "1:11", "write <[22]>"),
        ("g.lark", 'start: "x<call>"', "1:10", 'write "x" <call>'),
        ("g.lark", "start: X\nX: /x<call>/", "2:6", "take it out of the regex and write <call>"),
        ("g.lark", 'start: X\nX: "<call>"', "2:5", "in a rule, since terminals have texts alone"),
        ("g.ebnf", 'start ::= "<call>";', "1:12", "kbnf has no token terminals: in gbnf"),
    ],
)
@pytest.mark.parametrize("alternative", [False, True])
def test_added_tokens_written_as_text_are_shown_at_their_place(
    cli: Cli, tokenizer: str, name: str, text: str, place: str, pasted: str, alternative: bool
) -> None:
    """``compile`` points at the literal, an error where no member is left and else a warning;
    ``check`` does so by a lint. Both print the token terminal ready to paste."""
    if alternative:
        text = text.replace("start: X\n", 'start: X | "y"\n') if "X" in text else text
        text = text.rstrip(";") + ' | "y"' * ("X" not in text) + ";" * name.endswith("ebnf")
    Path(name).write_text(text, encoding="utf-8")
    level = "warning" if alternative else "error"
    found = cli("compile", name, "--tokenizer", tokenizer)
    assert (0 if alternative else 2) == found.code
    assert f"{name}:{place}: {level}: this " in found.err
    assert "^^^^^^" in found.err
    assert pasted in found.err
    checked = cli("check", name, "--tokenizer", tokenizer)
    shown = checked.out.decode()
    assert f"{name}:{place}: warning: this " in shown
    assert "[added-token-text]" in shown
    assert pasted in shown
    assert "added-token-text" not in cli("check", name).out.decode()


def test_what_is_pasted_names_the_token(cli: Cli, tokenizer: str) -> None:
    """The terminal that is printed is read as that token, by name or by id."""
    for line, ids in (('"x" <call> "y"', [12, 21, 13]), ("<[22]>", [22])):
        Path("g.gbnf").write_text(f"root ::= {line}", encoding="utf-8")
        assert 0 == cli("compile", "g.gbnf", "--tokenizer", tokenizer).code
        matcher = load("g.cst").matcher()
        for token_id in ids:
            matcher.advance(token_id)
        assert matcher.is_accepting


def test_places_are_in_the_artifact_without_the_files_name(cli: Cli, tokenizer: str) -> None:
    """As a note in one line, which is the same wherever the grammar is."""
    for name in ("one.gbnf", "another.gbnf"):
        Path(name).write_text('root ::= "<call>" | "x"', encoding="utf-8")
        assert 0 == cli("compile", name, "--tokenizer", tokenizer).code
    notes = load("one.cst").notes
    assert any(note.startswith("line 1, column 11: this literal holds") for note in notes)
    assert Path("one.cst").read_bytes() == Path("another.cst").read_bytes()


def test_a_text_that_any_tokens_may_spell_is_no_finding(cli: Cli, tokenizer: str) -> None:
    """An added token that is a text spells it by any tokenization; a special one does not."""
    Path("g.gbnf").write_text('root ::= "<call>" | "[INST]"', encoding="utf-8")
    found = cli("compile", "g.gbnf", "--tokenizer", tokenizer, "--tokenization", "any")
    assert "added token [INST]" in found.err
    assert "<call>" not in found.err.replace('"<call>"', "")


def test_without_a_tokenizer_the_message_says_to_name_one(cli: Cli) -> None:
    """And shows no path of the installation."""
    Path("g.gbnf").write_text("root ::= <tool_call>", encoding="utf-8")
    found = cli("compile", "g.gbnf")
    assert 2 == found.code
    assert "the default tokenizer has no token <tool_call>" in found.err
    assert "help: name the model's own tokenizer with --tokenizer" in found.err
    assert "tokenizer.json" not in found.err


def test_the_longest_token_at_a_place_is_meant() -> None:
    """As tokenizers look for them; each literal is one finding."""
    added = {1: "<a>", 2: "<a><b>", 3: "<b>"}
    grammar = read_grammar('root ::= "<b>" "x<a><b>"', "gbnf")
    found = [finding.help for finding in lint(grammar, added=added)]
    assert ["in place of the literal write <b>", 'in place of the literal write "x" <[2]>'] == found


def test_tool_calls_written_as_text_on_qwen(data: Callable[[str], Path], cli: Cli) -> None:
    """The example of the tokenizer that has them."""
    path = data("tokenizers/qwen2_5/tokenizer.json")
    tokenizer = load_tokenizer(path)
    assert isinstance(tokenizer, Tokenizer)
    assert "<tool_call>" in tokenizer.added.values()
    Path("g.gbnf").write_text('root ::= "<tool_call>" [a-z]+', encoding="utf-8")
    found = cli("compile", "g.gbnf", "--tokenizer", str(path))
    assert 2 == found.code
    assert "g.gbnf:1:11: error: this literal holds the text of the added token" in found.err
    assert "write <tool_call>\n" in found.err
