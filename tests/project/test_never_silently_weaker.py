"""Weaker masks than asked for are refused, and weaker ones than the default are said everywhere."""

# Tests here say `expected == actual`.
# ruff: noqa: SIM300

import json
import warnings
from pathlib import Path

import pytest
from support import tokenizer_json, tokenizer_of, written
from support.cli import Cli
from support.tokens import allowed, small_tokenizer

from constrain.artifacts import Artifact
from constrain.artifacts.container.manifest import Manifest
from constrain.artifacts.errors import ArtifactError
from constrain.artifacts.read import load_bytes
from constrain.compiler import Tokenizer, WeakerMasksWarning, compile_grammar, load_tokenizer
from constrain.compiler.tokenizers import default_path

pytestmark = pytest.mark.quick

# Texts beside token terminals, nested and regular.
NESTING = 'root ::= "(" root ")" | <[300]>'
REGULAR = 'root ::= [a-z ]+ <[300]> "yes"'


def quietly(text: str, tokenizer: Tokenizer, **options: object) -> Artifact:
    """An artifact of a GBNF grammar, compiled without a warning."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return compile_grammar(text, dialect="gbnf", tokenizer=tokenizer, **options)


def test_weakening_by_default_warns_and_stays_in_the_artifact(default_tokenizer: Tokenizer) -> None:
    """The library's caller sees a warning at his own line, and a note in the file."""
    with pytest.warns(WeakerMasksWarning, match="not only the tokenizer's own") as seen:
        artifact = compile_grammar(
            NESTING, dialect="gbnf", tokenizer=default_tokenizer, engine="earley"
        )
    assert __file__ == seen[0].filename
    assert "any" == artifact.manifest.tokenization
    assert str(seen[0].message) in artifact.notes
    again = load_bytes(artifact.to_bytes(), verify=True, name="a")
    assert artifact.notes == again.notes


def test_maximal_munch_that_nests_is_weaker_and_says_so(default_tokenizer: Tokenizer) -> None:
    """A text of two readings has no canonical masks, which is said like any other weakening."""
    text = 'start: "(" (start "." start | start+ ) ")" | "."\n%ignore " "'
    with pytest.warns(WeakerMasksWarning, match="maximal munch"):
        compile_grammar(text, dialect="lark", tokenizer=default_tokenizer, prewarm=0)


# A space is put before each pre-token of the first step.
STEPS = [
    {"type": "Digits", "individual_digits": False},
    {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True},
]


@pytest.fixture(params=["steps", "steps on GPT-2's vocabulary"])
def not_followed(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A tokenizer that canonical masks cannot follow by its steps."""
    letters = "".join(map(chr, range(0x21, 0x7F)))
    found = tokenizer_json(letters, ["a b"], added=[(3000, "<e>", True)])
    if "GPT-2" in request.param:
        path = request.getfixturevalue("data")("tokenizers/gpt2/tokenizer.json")
        found = json.loads(path.read_bytes())
        end = {**found["added_tokens"][0], "id": len(found["model"]["vocab"]), "content": "<e>"}
        found["added_tokens"].append(end)
    found["pre_tokenizer"] = {"type": "Sequence", "pretokenizers": STEPS}
    return written(tmp_path, found)


@pytest.mark.parametrize(
    "text",
    ['root ::= "ab" | "a" [0-9]+', 'root ::= "(" root ")" | "a"', 'root ::= ("a" | "b"){2,3000}'],
    ids=["regular", "nesting", "counted"],
)
def test_a_tokenizer_that_cannot_be_followed_weakens_by_default(
    text: str, not_followed: Path, cli: Cli
) -> None:
    """Whatever the grammar: with a note; where canonical masks are asked for it is an error."""
    Path("g.gbnf").write_text(text)
    found = cli("compile", "g.gbnf", "-t", str(not_followed), "--eos", "<e>", "--lazy")
    assert 0 == found.code, found.err
    assert "note: any token sequence that spells a member is allowed" in found.err
    assert "--tokenization any" not in found.err
    tokenizer = load_tokenizer(not_followed)
    with pytest.warns(WeakerMasksWarning, match="not only the tokenizer's own"):
        artifact = compile_grammar(
            text, dialect="gbnf", tokenizer=tokenizer, eos=["<e>"], prewarm=0
        )
    assert "any" == artifact.manifest.tokenization
    asked = ["--tokenization", "canonical", "-o", "other.cst"]
    refused = cli("compile", "g.gbnf", "-t", str(not_followed), "--eos", "<e>", *asked)
    assert 2 == refused.code
    assert "--tokenization any" in refused.err
    assert not Path("other.cst").exists()


@pytest.mark.parametrize("text", [NESTING, REGULAR, 'root ::= "a"'])
def test_what_is_asked_for_does_not_warn(text: str, default_tokenizer: Tokenizer) -> None:
    """No warning where any sequences are asked for, and none where masks are canonical."""
    assert "any" == quietly(text, default_tokenizer, tokenization="any").manifest.tokenization


@pytest.mark.parametrize("text", [NESTING, REGULAR])
def test_token_terminals_do_not_weaken(text: str, default_tokenizer: Tokenizer) -> None:
    """Whatever the tokenizer does with the texts between them."""
    assert "canonical" == quietly(text, default_tokenizer).manifest.tokenization


def test_canonical_with_token_terminals_stays_where_nothing_is_split() -> None:
    """A tokenizer that merges text as it is has exact masks beside token terminals."""
    artifact = quietly('root ::= "ab" <t> "bc"', small_tokenizer(), tokenization="canonical")
    assert [[3], [10], [4]] == [allowed(artifact, *(3, 10)[:n]) for n in range(3)]


def test_an_added_token_between_token_terminals_is_no_text(tmp_path: Path) -> None:
    """The tokenizer finds <u> in a text, so that no other tokens spell it."""
    tokenizer = tokenizer_of(tmp_path, "<u>ab", [], added=[(9, "<eos>", True), (10, "<u>", False)])
    text = 'root ::= ("<u>" | "a") <eos> "b" | "b"'
    artifact = quietly(text, tokenizer, tokenization="canonical")
    by_name = {octets: i for i, octets in tokenizer.tokens.items()}
    assert sorted([by_name[b"a"], by_name[b"b"]]) == allowed(artifact)
    assert any("finds a special token" in note for note in artifact.notes)


@pytest.mark.parametrize(
    ("options", "note"),
    [
        (
            ["--lazy", "--method", "direct"],
            "--precompute none changes nothing: it is about networks",
        ),
        (["--prewarm", "7", "--method", "direct"], "--prewarm 7 changes nothing"),
        (["--max-depth", "3"], "--max-depth 3 leaves out nothing: no rule of the grammar nests"),
        (["--tokenization", "any", "--method", "direct"], "--method direct changes nothing"),
        (["--unk", "allow"], "--unk changes nothing: only WordPiece"),
        (["--unk", "omit"], "--unk changes nothing: only WordPiece"),
    ],
)
def test_options_without_effect_are_said(cli: Cli, options: list[str], note: str) -> None:
    """On the command line, and in the file."""
    Path("g.gbnf").write_text('root ::= "yes" | "no"')
    found = cli("compile", "g.gbnf", *options)
    assert 0 == found.code
    assert f"note: {note}" in found.err
    shown = cli("show", "g.cst")
    assert f"note: {note}" in shown.out.decode()


def test_options_with_an_effect_are_not_said(cli: Cli) -> None:
    """Where they do something there is no such note."""
    Path("g.gbnf").write_text('root ::= "(" root ")" | "a"')
    for options in (["--lazy"], ["--prewarm", "7"], ["--max-depth", "3"]):
        assert "changes nothing" not in cli("compile", "g.gbnf", *options).err
    Path("g.gbnf").write_text('root ::= "yes" | "no"')
    options = ["--lazy", "--tokenization", "any"]
    assert "changes nothing" not in cli("compile", "g.gbnf", *options).err


def test_a_mask_of_a_grammar_says_nothing_of_options_that_were_not_given(cli: Cli) -> None:
    """``mask`` precomputes nothing by itself, of any engine."""
    Path("g.gbnf").write_text('root ::= "a" root "b" | "a"')
    for options in ([], ["--max-depth", "3"]):
        assert "changes nothing" not in cli("mask", "g.gbnf", *options).err


def test_notes_do_not_depend_on_where_files_are(tmp_path: Path) -> None:
    """The same grammar and tokenizer in two folders make the same bytes, notes and all."""
    made = []
    for folder in ("one", "another"):
        (tmp_path / folder).mkdir()
        tokenizer = tokenizer_of(tmp_path / folder, "ab", [], added=[(9, "<eos>", True)])
        text = 'root ::= "b" root "b" | "a" <eos>'
        with pytest.warns(WeakerMasksWarning):
            artifact = compile_grammar(
                text, dialect="gbnf", tokenizer=tokenizer, name=folder, engine="earley"
            )
        made.append(artifact)
    assert made[0].notes
    assert made[0].to_bytes() == made[1].to_bytes()


def test_notes_in_a_manifest_are_checked(default_tokenizer: Tokenizer) -> None:
    """A manifest has none, or texts."""
    manifest = quietly('root ::= "a"', default_tokenizer, tokenization="any").manifest
    assert () == Manifest.from_json(manifest.to_json()).notes
    for bad in (3, [3], None):
        with pytest.raises(ArtifactError):
            Manifest.from_json({**manifest.to_json(), "notes": bad})


@pytest.mark.parametrize("command", ["mask", "viz", "show"])
def test_a_tokenizer_that_is_not_the_artifacts_is_an_error(
    cli: Cli, date_file: Path, command: str
) -> None:
    """Its ids would be other tokens; the artifact's own is accepted without a word."""
    other = tokenizer_of(Path.cwd(), "ab", [], added=[(9, "<eos>", True)])
    refused = cli(command, str(date_file), "--tokenizer", other.name)
    assert (2, b"") == (refused.code, refused.out)
    assert "was compiled for another tokenizer" in refused.err
    own = cli(command, str(date_file), "--tokenizer", str(default_path()))
    assert own == cli(command, str(date_file))
    assert 0 == own.code


def test_options_for_a_grammar_change_nothing_about_an_artifact(cli: Cli, date_file: Path) -> None:
    """They are named in a note, by every command that takes one."""
    for command in ("mask", "show", "sample", "explain"):
        found = cli(command, str(date_file), "--start", "day", stdin=b"2024-10-10")
        assert "note: --start changes nothing" in found.err
        assert 0 == found.code
