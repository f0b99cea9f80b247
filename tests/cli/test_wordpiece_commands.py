"""The commands on WordPiece tokenizers, and their drawings."""

# Tests here say `expected == actual`.
# ruff: noqa: SIM300

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from support import constrain
from support.wordpiece import compiled, tokenizer_of

from constrain.artifacts.container.sections import encode
from constrain.artifacts.errors import ArtifactError
from constrain.artifacts.read import load_bytes
from constrain.compiler.drawing import Size, View, draw_tokens, draw_transducer
from constrain.compiler.wordpiece.load import load_wordpiece

# Figure 1 of the paper.
VOCABULARY = "[UNK]\n[SEP]\na\nabcdx\n##b\n##c\n##cdy\n##dz\n"
GRAMMAR = b's ::= "abcdz" | "ABCDX" | " abcdz  abcdx ";'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a vocabulary."""
    (tmp_path / "vocab.txt").write_text(VOCABULARY, encoding="utf-8")
    return tmp_path


def test_compile_and_mask(folder: Path) -> None:
    """A vocab.txt compiles to an artifact, and prefixes of it are normalised text."""
    made = constrain("compile", "-", "-t", "vocab.txt", "-o", "x.cst", stdin=GRAMMAR, folder=folder)
    assert 0 == made.returncode, made.stderr
    assert b"word states" in made.stderr
    asked = constrain("mask", "x.cst", "--prefix", " ABcdz", "--format", "json", folder=folder)
    boundaries = json.loads(asked.stdout)["boundaries"]

    assert {"bytes": 5, "ids": [2, 4, 5, 7], "pending": "", "accepting": True} == {
        key: boundaries[0][key] for key in ("bytes", "ids", "pending", "accepting")
    }
    assert [1, 3] == boundaries[0]["allowed"]
    after = constrain("mask", "x.cst", "--prefix-ids", "2,4", "--format", "ids", folder=folder)
    assert b"5\n" == after.stdout


def test_mask_says_where_a_prefix_stops(folder: Path) -> None:
    """A prefix that no member begins with is told by its place."""
    arguments = ("mask", "-", "-t", "vocab.txt", "--prefix", "abx")
    result = constrain(*arguments, stdin=GRAMMAR, folder=folder)

    assert 1 == result.returncode
    assert b'it stops at byte 2 ("x")' in result.stderr


@pytest.mark.parametrize("prefix", ["a", "ab", "abcd", "abcdz "])
def test_reasons_allow_what_the_mask_has(folder: Path, prefix: str) -> None:
    """Also inside a word, where a token begins with what is pending."""
    size = len((folder / "vocab.txt").read_text(encoding="utf-8").split())
    asked = [each for i in range(size) for each in ("--why", f"#{i}")]
    arguments = ("mask", "-", "-t", "vocab.txt", "--prefix", prefix, "--format", "json")
    mask = constrain(*arguments, stdin=GRAMMAR, folder=folder)
    why = constrain(*arguments, *asked, stdin=GRAMMAR, folder=folder)

    allowed = [each["id"] for each in json.loads(why.stdout)["tokens"] if each["allowed"]]
    assert json.loads(mask.stdout)["boundaries"][0]["allowed"] == allowed
    assert b"--tokenization" not in why.stderr


def test_what_no_member_can_be(folder: Path) -> None:
    """A grammar whose words are all unknown is an error; so is tokenization `any`."""
    empty = constrain("compile", "-", "-t", "vocab.txt", "-o", "x.cst", stdin=b's ::= "q";',
                      folder=folder)  # fmt: skip
    other = constrain("compile", "-", "-t", "vocab.txt", "-o", "x.cst", "--tokenization", "any",
                      stdin=GRAMMAR, folder=folder)  # fmt: skip

    assert (2, 2) == (empty.returncode, other.returncode)
    assert b"the tokenizer can spell no member" in empty.stderr
    assert b"'canonical' only" in other.stderr
    assert not (folder / "x.cst").exists()


def test_drawing_of_figure_1() -> None:
    """Each edge of the transducer carries what it reads and writes."""
    tokens = VOCABULARY.split("\n")[2:-1]
    artifact = compiled("abcdz|abcdx|abcdy", tokenizer_of(tokens))
    dot = draw_transducer(artifact, View("figure")).dot

    assert dot == draw_transducer(artifact, View("figure")).dot
    for label in ("z&#160;/&#160;‹a›&#160;‹##b›&#160;‹##c›", "d&#160;/&#160;‹##b›"):
        assert label in dot
    small = draw_transducer(artifact, View("figure", Size(4)))
    assert small.left_out is not None
    assert "--draw-states 4" in small.left_out
    assert "Token DFA" in draw_tokens(artifact, View("figure")).dot


def test_drawing_of_a_prefix() -> None:
    """Of a prefix the states that its words pass through, and the edges on that way."""
    tokens = VOCABULARY.split("\n")[2:-1]
    artifact = compiled("abcdz|abcdx|abcdy", tokenizer_of(tokens))
    dot = draw_transducer(artifact, View("figure", prefix=b"abcdz")).dot

    assert dot.count(" -> ") == 6  # Five bytes and the arrow to the start.
    assert "z&#160;/&#160;‹a›&#160;‹##b›&#160;‹##c›" in dot
    assert "'abcdz'" in dot


def test_drawing_of_a_real_vocabulary(data: Callable[[str], Path]) -> None:
    """Of a large transducer what the grammar's texts use, two words."""
    tokenizer = load_wordpiece(data("tokenizers/bert-base-uncased"))
    artifact = compiled("unaffable|embeddings", tokenizer)
    machine = artifact.machine()
    assert machine is not None
    assert len(machine.trie.octets) > 4_000
    drawing = draw_transducer(artifact, View("words"))

    assert drawing.left_out is None
    assert "s&#160;/&#160;‹##ding›" in drawing.dot
    assert "at the end of a word: em ##bed ##d" in drawing.dot
    assert drawing.dot.count(" -> ") < 40


def test_viz_with_a_prefix(folder: Path) -> None:
    """--prefix draws what its words use; of other stages the way of its bytes."""
    arguments = ("viz", "-", "-t", "vocab.txt", "--prefix", " ABcdz")
    drawn = constrain(*arguments, "--stage", "tokenizer", stdin=GRAMMAR, folder=folder)
    assert 0 == drawn.returncode, drawn.stderr
    assert b"as 'abcdz' uses it" in drawn.stdout
    way = constrain(*arguments, "--stage", "dfa", stdin=GRAMMAR, folder=folder)
    assert 0 == way.returncode, way.stderr
    assert b"the&#160;way&#160;of&#160;&#x27;ABcdz&#x27;" in way.stdout


@pytest.mark.parametrize(
    "section", ["words.table", "pieces.first", "pieces.links", "pieces.nodes", "pieces.spans"]
)
def test_damaged_sections(section: str) -> None:
    """A file whose numbers lead out of its tables is refused by the section's name."""
    artifact = compiled("a{1,3}", tokenizer_of(["a", "##a"]))
    damaged = {**artifact.arrays, section: artifact.arrays[section] + 1_000}

    with pytest.raises(ArtifactError, match=section):
        load_bytes(b"".join(encode(artifact.manifest.to_json(), damaged)), verify=True)


def test_circular_links_are_refused() -> None:
    """A failure link that does not lead upwards would be followed for ever."""
    artifact = compiled("a{1,3}", tokenizer_of(["a", "##a"]))
    links = artifact.arrays["pieces.links"].copy()
    links[-1] = len(links) - 1
    damaged = {**artifact.arrays, "pieces.links": links}

    with pytest.raises(ArtifactError, match=r"pieces\.links"):
        load_bytes(b"".join(encode(artifact.manifest.to_json(), damaged)), verify=True)


def test_tokenize(folder: Path) -> None:
    """Words are pieces; a stream gives the ids of the text; unknown words are words."""
    table = constrain("tokenize", "Abcdz q[SEP]a", "-t", "vocab.txt", folder=folder)
    expected = [
        '      2 | "a"', '      4   "##b"', '      5   "##c"', '      7   "##dz"',
        '      0 | "[UNK]"', '      1 + "[SEP]"', '      2 | "a"',
    ]  # fmt: skip
    assert expected == table.stdout.decode().splitlines()
    text = b"abcdz \n ABCDX" * 3
    ids = constrain("tokenize", "--file", "-", "-f", "ids", "-t", "vocab.txt", stdin=text,
                    folder=folder)  # fmt: skip
    tokenizer = load_wordpiece(folder / "vocab.txt")

    assert tokenizer.encode(text.decode()) == [int(line) for line in ids.stdout.split()]
