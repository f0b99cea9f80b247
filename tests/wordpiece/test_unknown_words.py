"""``--unk allow``: token sequences with the unknown token, as the tokenizer itself gives them."""

# Tests here say `expected == actual`.
# ruff: noqa: SIM300

import random
from collections.abc import Callable
from pathlib import Path

import pytest
from support import constrain
from support.automata import build_automaton, words_of
from support.wordpiece import accepted, member, real, tokenizer_of

from constrain.artifacts import Artifact, load
from constrain.artifacts.prefix import boundaries
from constrain.compiler.pipeline import build_artifact
from constrain.compiler.wordpiece.tokenizer import WordPieceTokenizer

# Unknown by a character (an emoji, a letter that V lacks, punctuation), by no match, by length.
FINITE = [
    r"(a|q|é|\U0001F600| |-){1,4}",
    r"(ab|\U0001F600b|a\U0001F600)( (a|\U0001F600)){0,2}",
    r"[0-9]{2}[-~⸮][0-3]",
    r"(中|文|〇|𪚥|a){1,3}",
    r"(abc|north|unaffable)(\U0001F600)? ?(x|yz!)",
    r"a{98,103}( b)?",
    r"(a|ﬁ|각|ẞ|\u0301|☃){1,3}!?",
    r"[^a]{1}(b|c)?",
]


def compiled(pattern: str, tokenizer: WordPieceTokenizer) -> Artifact:
    """The artifact of a regex, unknown words included."""
    automaton = build_automaton(pattern, dialect="regex")
    return build_artifact(automaton, tokenizer, keep_unknown=True).artifact


def tokenizations(
    pattern: str, encode: Callable[[str], list[int]], longest: int = 104
) -> set[tuple[int, ...]]:
    """What a tokenizer makes of each member of a finite language."""
    dfa = build_automaton(pattern, dialect="regex").dfa
    members = (bytes(member).decode("utf-8") for member in words_of(dfa, longest))
    return {tuple(encode(text)) for text in members}


@pytest.mark.parametrize("pattern", FINITE[:-1])
@pytest.mark.parametrize("name", ["tiny-wordpiece-500", "bert-base-uncased"])
def test_finite_languages(data: Callable[[str], Path], name: str, pattern: str) -> None:
    """The sequences that the masks allow are exactly those of Hugging Face's library."""
    library = pytest.importorskip("tokenizers")
    folder = data(f"tokenizers/{name}")
    reference = library.Tokenizer.from_file(str(folder / "tokenizer.json"))
    expected = tokenizations(
        pattern, lambda text: list(reference.encode(text, add_special_tokens=False).ids)
    )

    assert any(real(folder).unk in ids for ids in expected)
    assert expected == accepted(compiled(pattern, real(folder)))


def test_every_character(data: Callable[[str], Path], full: bool) -> None:
    """All code points but one, alone and before a letter: the same sequences."""
    if not full:
        pytest.skip("tokenizes two million texts; run with --full")
    tokenizer = real(data("tokenizers/tiny-wordpiece-500"))

    assert tokenizations(FINITE[-1], tokenizer.encode) == accepted(compiled(FINITE[-1], tokenizer))


def test_random_vocabularies(full: bool) -> None:
    """Vocabularies that lack letters at some place, and with short longest words."""
    draw = random.Random(12)
    patterns = [
        "[abcx]{1,4}", "(ab|abc|cx)( (a|cb)){0,2}", "a{0,3}b?c{2}", "(abc){1,3}", "(a|b) ?-(c|ab)",
        "[abÉ]{2,4} ?é?", "ab?c?( ab?c?)?", "(aaaa|b){1,3}", "(가|각){1,2}", "(a b|cb)",
    ]  # fmt: skip
    without = 0
    for number in range(3_000 if full else 9):
        tokens = {
            draw.choice(("", "##")) + "".join(draw.choices("abce", k=draw.randint(1, 4)))
            for _ in range(draw.randint(1, 12))
        }
        letters = "abce-\u1100\u1161\u11a8"
        tokens |= {p + c for c in letters for p in ("", "##") if draw.random() < 0.75}
        tokenizer = tokenizer_of(sorted(tokens), max_chars=draw.choice((2, 3, 5, 100)))
        pattern = patterns[number % len(patterns)]
        expected = tokenizations(pattern, tokenizer.encode)
        without += not any(0 in ids for ids in expected)
        assert expected == accepted(compiled(pattern, tokenizer)), (pattern, sorted(tokens))
    assert 0 < without < number


def test_members_at_random(data: Callable[[str], Path]) -> None:
    """Random members of an open grammar are accepted as the tokenizer gives them."""
    tokenizer = real(data("tokenizers/bert-base-uncased"))
    pattern = r"([a-c中\u0600-\u06ff\U0001F600-\U0001F64F.!]|  ?)*"
    automaton = build_automaton(pattern, dialect="regex")
    artifact = build_artifact(automaton, tokenizer, keep_unknown=True).artifact
    draw = random.Random(4)
    unknown = 0
    for _ in range(60):
        ids = tokenizer.encode(member(automaton.dfa, draw))
        matcher = artifact.matcher()
        for token_id in ids:
            matcher.advance(token_id)
        assert matcher.is_accepting
        unknown += tokenizer.unk in ids
    assert unknown


def test_a_text_after_an_unknown_word() -> None:
    """[UNK] leads to all places that some unknown word leads to."""
    tokenizer = tokenizer_of(["a", "b", "c"])

    # "x b" and "y c" have [UNK] in common, "ab" has no match: "a" cannot be followed by "b".
    assert {(0, 3), (0, 4), (0,), (2,)} == accepted(compiled("x b|y c|ab|a", tokenizer))


def test_a_file_is_the_same_artifact(tmp_path: Path) -> None:
    """What is written and read again gives the same sequences."""
    artifact = compiled("(a|x){1,3}( c)?", tokenizer_of(["a", "##a", "c"]))
    artifact.save(tmp_path / "x.cst")

    assert accepted(artifact) == accepted(load(tmp_path / "x.cst", verify=True))


def test_boundaries_of_a_prefix() -> None:
    """An unknown word of the prefix is [UNK]; where it may yet become one, [UNK] is allowed."""
    artifact = compiled("ax? b|a", tokenizer_of(["a", "b"]))

    def found(text: bytes) -> list[tuple[int, tuple[int, ...], bytes]]:
        return [(b.length, b.ids, b.pending) for b in boundaries(artifact, text)]

    assert [(1, (2,), b""), (0, (), b"a")] == found(b"a")
    assert [(2, (0,), b""), (0, (), b"ax")] == found(b"ax")
    assert [(4, (0, 3), b"")] == found(b"ax b")
    assert [(3, (2, 3), b"")] == found(b"a b")


def test_the_command(tmp_path: Path) -> None:
    """By default such members are left out and named; with --unk allow they stay."""
    (tmp_path / "vocab.txt").write_text("[UNK]\n[SEP]\na\n", encoding="utf-8")
    arguments = ("compile", "-", "-t", "vocab.txt", "-o", "x.cst")
    grammar = b's ::= "a" | "x a";'
    without = constrain(*arguments, stdin=grammar, folder=tmp_path)
    assert b"are left out: no token has the characters U+0078" in without.stderr
    refused = constrain("mask", "x.cst", "--prefix-ids", "0", folder=tmp_path)
    assert 1 == refused.returncode

    allowed = constrain(*arguments, "--unk", "allow", stdin=grammar, folder=tmp_path)
    assert b"[UNK] stands for whole words" in allowed.stderr
    allowed = constrain("mask", "x.cst", "--prefix", "x ", "--format", "ids", folder=tmp_path)
    assert b"2\n" == allowed.stdout
    other = constrain("mask", "x.cst", "--prefix", "y ", folder=tmp_path)
    assert 1 == other.returncode


def test_other_tokenizers_say_that_it_changes_nothing(tmp_path: Path) -> None:
    """Only WordPiece has unknown words."""
    result = constrain("compile", "-", "-o", "x.cst", "--unk", "allow", stdin=b's ::= "a";',
                       folder=tmp_path)  # fmt: skip

    assert 0 == result.returncode
    assert b"note: --unk changes nothing: only WordPiece" in result.stderr
