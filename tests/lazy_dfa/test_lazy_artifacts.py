"""Artifacts whose states are made while decoding: files, matchers, limits and the tools."""

from pathlib import Path

import numpy as np
import pytest
from support import grows, tokenizer_of
from support.cli import Cli
from support.container import check_every_bit_counts, check_flipped_bits_do_no_harm, walk_two_deep

from constrain.artifacts import Artifact, ArtifactError
from constrain.artifacts.dfa.conjunctions import from_sections
from constrain.artifacts.dfa.emptiness import UndecidedError
from constrain.artifacts.dfa.lazy_reader import Reader
from constrain.artifacts.read import load_bytes
from constrain.artifacts.tokens import tokenset
from constrain.compiler import Tokenizer, compile_grammar
from constrain.compiler.diagnostics import CheckError, LimitError, WeakerMasksWarning
from constrain.compiler.limits import Limits

# Texts of a and b, at most 60, in which no a stands twelve before the end, or which are long.
GRAMMAR = "((a|b)*&~((a|b)*a(a|b){12})&.{0,60})|((ab)*&.{70,})"
HOST = r"(@(\.@)*)&.{1,99}".replace("@", r"[a-z0-9]([a-z0-9\-]{0,14}[a-z0-9])?")


@pytest.fixture(scope="module")
def tokenizer(tmp_path_factory: pytest.TempPathFactory) -> Tokenizer:
    """Bytes a, b, c, ab and aa."""
    folder = tmp_path_factory.mktemp("small")
    return tokenizer_of(folder, "abc", ["a b", "a a"], added=[(5, "<eos>", True)])


def compiled(text: str, tokenizer: Tokenizer, **options: object) -> Artifact:
    """An artifact that allows any token sequences and precomputes nothing."""
    given = {"tokenization": "any", "prewarm": 0, "eos": ["<eos>"]} | options
    return compile_grammar(text, dialect="regex-extended", tokenizer=tokenizer, **given)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def small(tokenizer: Tokenizer) -> Artifact:
    """An artifact with a union, an operand without a DFA, and bounds of the length."""
    artifact = compiled(GRAMMAR, tokenizer)
    assert grows(artifact)
    return artifact


@pytest.mark.quick
def test_a_loaded_file_has_the_masks_of_the_compiled_artifact(small: Artifact) -> None:
    loaded = load_bytes(small.to_bytes(), verify=True)
    assert loaded.to_bytes() == small.to_bytes()
    rng = np.random.default_rng(1)
    for _ in range(5):
        one, other = small.matcher(), loaded.matcher()
        for _ in range(40):
            ids = tokenset.to_ids(one.mask())
            assert np.array_equal(one.mask(), other.mask())
            token = int(rng.choice(ids))
            one.advance(token)
            other.advance(token)
            if one.is_finished:
                break


def test_masks_with_next_to_no_caches_are_the_same(small: Artifact) -> None:
    """Generations end, and matchers read their tokens again."""
    tight = load_bytes(small.to_bytes(), cache_bytes=0)
    one, other = small.matcher(), tight.matcher()
    for token in (0, 3, 4, 1, 0, 0, 1, 1, 3, 4, 4, 0, 1):
        assert np.array_equal(one.mask(), other.mask())
        one.advance(token)
        other.advance(token)
    assert np.array_equal(one.mask(), other.mask())


def test_what_the_mask_has_and_no_other_token_is_taken(small: Artifact) -> None:
    """Neither special tokens nor numbers beyond the vocabulary."""
    machine = small.machine()
    for text in ("", "a", "ab", "abbb"):
        state = machine.start
        for letter in text:
            state = machine.take(state, "ab".index(letter))
        allowed = set(tokenset.to_ids(machine.row(state)).tolist()) - set(small.manifest.eos)
        taken = {t for t in range(-3, small.vocab_size + 3) if machine.take(state, t) is not None}
        assert allowed == taken


def test_tokens_are_taken_back_and_prompts_change_nothing(small: Artifact) -> None:
    matcher = small.matcher(after=[1, 1])
    first = matcher.mask()
    matcher.advance(3)
    matcher.advance(0)
    matcher.rollback(2)
    assert np.array_equal(first, matcher.mask())


def test_tokens_that_must_come_are_forced(tokenizer: Tokenizer) -> None:
    """Before the end of exactly 3,000 characters but one only one is left."""
    artifact = compiled("(c*ab)&~(c{0,5}ab)&.{3000}", tokenizer)
    assert grows(artifact)
    matcher = artifact.matcher()
    assert matcher.forced_tokens(10) == [2] * 10
    for _ in range(2998):
        matcher.advance(2)
    assert tokenset.to_ids(matcher.mask()).tolist() == [0, 3]
    matcher.advance(0)
    assert matcher.forced_tokens() == [1]


def test_bounds_of_the_length_may_be_any_numbers(tokenizer: Tokenizer) -> None:
    """No state is made for each number of characters."""
    artifact = compiled("(a*b*)&~(a)&.{12345678901,}", tokenizer)
    assert artifact.manifest.counts["dfa_states"] < 9
    matcher = artifact.matcher()
    for _ in range(20):
        matcher.advance(0)
    assert tokenset.to_ids(matcher.mask()).tolist() == [0, 1, 3, 4]


def test_masks_hold_no_dead_ends(small: Artifact) -> None:
    """Whatever is taken, some token or the end may follow."""
    rng = np.random.default_rng(0)
    for _ in range(10):
        matcher = small.matcher()
        while not matcher.is_finished:
            ids = tokenset.to_ids(matcher.mask())
            assert len(ids)
            matcher.advance(int(rng.choice(ids)))


def test_bytes_without_a_token_are_left_out(tokenizer: Tokenizer) -> None:
    """Members with the byte of a d, for which there is no token, are none, and a note says so."""
    artifact = compiled("([abd]*&~([abd]*a[abd]{12}))|d*&~(d)", tokenizer)
    (note,) = [note for note in artifact.notes if "left out" in note]
    assert "byte 0x64" in note
    assert artifact.viable_bytes(b"abd") == 2
    with pytest.raises(CheckError, match="can spell no member"):
        compiled("[de]{5000}&~(.*d.{20})", tokenizer)


def test_canonical_masks_that_nobody_asked_for_give_way(tokenizer: Tokenizer) -> None:
    with pytest.warns(WeakerMasksWarning, match="no canonical masks"):
        artifact = compiled("~(.*a.{20})", tokenizer, tokenization=None, prewarm=None)
    assert artifact.manifest.tokenization == "any"
    with pytest.raises(LimitError, match="states"):
        few = Limits(states=2_000)
        compiled("~(.*a.{20})", tokenizer, tokenization="canonical", prewarm=None, limits=few)


def test_a_search_beyond_its_limit_is_an_error(small: Artifact) -> None:
    reader = Reader(from_sections(small.arrays), most_visited=3)
    with pytest.raises(UndecidedError, match="not decided within 3 states"):
        reader.read(reader.start, b"a" * 13 + b"b")


def exercise(artifact: Artifact) -> None:
    """All that a matcher does, with every id there is, two tokens deep."""
    walk_two_deep(artifact)
    artifact.viable_bytes(b"abab")


def test_flipped_bits_are_found(small: Artifact, full: bool) -> None:
    check_every_bit_counts(small, 1000 if full else 60)


def test_flipped_bits_do_no_harm_unverified(small: Artifact, full: bool) -> None:
    check_flipped_bits_do_no_harm(small, exercise, 2000 if full else 21)


@pytest.mark.parametrize(
    ("name", "place", "value"),
    [
        ("lazy.table", (1, 0), 1000),
        ("lazy.table", (0, 0), 1),
        ("lazy.starts", 0, -1),
        ("lazy.bounds", (0, 0), -5),
        ("lazy.bounds", (0, 1), 1 << 50),
        ("lazy.set_targets", 0, 99_999),
        ("lazy.set_starts", 0, 99_999),
        ("lazy.set_of", (0, 0), 7),
        ("lazy.classes", 0x80, 0),
    ],
)
def test_sections_out_of_range_are_refused(
    small: Artifact, name: str, place: object, value: int
) -> None:
    arrays = {**small.arrays, name: small.arrays[name].copy()}
    arrays[name][place] = value
    with pytest.raises(ArtifactError, match=name):
        Artifact(small.manifest, arrays)


def test_the_tools_answer_for_a_host_name(cli: Cli, tmp_path: Path) -> None:
    """Explained state by state; drawn, sampled and compared by the automaton that is built."""
    grammar, text, artifact = (str(tmp_path / name) for name in ("host.regex", "text", "host.cst"))
    Path(grammar).write_text(HOST)
    said = cli("compile", grammar, "--extended", "--tokenization", "any", "--lazy", "-o", artifact)
    assert said.code == 0
    Path(text).write_text("a." * 127)
    said = cli("explain", artifact, text)
    assert f'{text}:1:100: rejected at "." (byte 99) in start' in said.out.decode()
    Path(text).write_text("www.example.com")
    assert cli("explain", artifact, text).code == 0
    assert cli("diff", artifact, artifact).code == 0
    assert len(cli("sample", artifact, "-n", "3").out.splitlines()) == 3
    assert b"kind: network" in cli("show", artifact).out
