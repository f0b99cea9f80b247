"""What is read of all tokens at once is what is read of each: names, merges, vocabulary, order."""

import random

import numpy as np
import pytest

from constrain.artifacts.tokens.distinct import numbered, places_in, stable_order
from constrain.artifacts.tokens.vocabulary import Vocabulary
from constrain.compiler.diagnostics import TokenizerError
from constrain.compiler.tokenizers import byte_alphabet
from constrain.compiler.tokenizers.definition import AddedToken
from constrain.compiler.tokenizers.encoding import patterns
from constrain.compiler.tokenizers.huggingface import _merges
from constrain.compiler.tokenizers.tokenizer import Tokenizer, TokenTable
from constrain.compiler.tokenizers.vocabulary import check_ids

pytestmark = pytest.mark.quick


def test_order_and_places() -> None:
    """As numpy's sort, search and numbering, of small numbers and of those of 64 bits."""
    rng = np.random.default_rng(1)
    for size in (0, 1, 2, 9, 300):
        for most in (2, 1 << 16, 1 << 20, (1 << 64) - 1):
            first, second = rng.integers(0, most, (2, size), dtype=np.uint64, endpoint=True)
            expected = np.lexsort((first, second))
            assert expected.tolist() == stable_order(first, second).tolist()
            assert np.argsort(first, kind="stable").tolist() == stable_order(first).tolist()
            _, each = np.unique(first, return_inverse=True)
            assert each.tolist() == numbered(first).tolist()
            wanted, ordered = rng.permutation(np.append(first, second)), np.sort(first)
            assert np.searchsorted(ordered, wanted).tolist() == places_in(ordered, wanted).tolist()


def test_names_in_the_byte_level_alphabet() -> None:
    """Random names, some with characters outside it, some empty."""
    rng = random.Random(2)
    letters = [*byte_alphabet.characters(), " ", "ń", "日", "\U0001f600"]
    names = ["".join(rng.choices(letters, k=rng.randrange(6))) for _ in range(3000)]
    for some in (names, [], ["日"]):
        expected = [byte_alphabet.decode(name) for name in some]
        data, lengths = byte_alphabet.decode_each(some)
        assert b"".join(octets for octets in expected if octets is not None) == data.tobytes()
        assert [-1 if octets is None else len(octets) for octets in expected] == lengths.tolist()


def test_the_vocabulary_of_tokens_and_names() -> None:
    """Random tokens with holes; added tokens among them, with entries of their own or without."""
    rng = random.Random(3)
    for _ in range(300):
        size = rng.randrange(1, 12)
        tokens = {i: bytes(rng.choices(b"ab", k=rng.randrange(4))) for i in range(size)}
        tokens = {i: tokens[i] for i in rng.sample(range(size), rng.randrange(size + 1))}
        added = tuple(
            AddedToken(i, f"<é{i}>"[: rng.randrange(5)], special=rng.random() < 0.5)
            for i in rng.sample(range(size), rng.randrange(size + 1))
        )
        none = np.zeros((0, 3), dtype=np.int32)
        tokenizer = Tokenizer("x", "", TokenTable.of(tokens), added, none, [-1] * 256, (), size)
        names = {token.id: token.content.encode() for token in added} | tokens
        for more in (0, 3):
            found = tokenizer.vocabulary(size + more)
            expected = Vocabulary.from_tokens(names, tokenizer.special, size + more)
            assert expected.data.tobytes() == found.data.tobytes()
            assert expected.offsets.tolist() == found.offsets.tolist()
            assert expected.kinds.tolist() == found.kinds.tolist()


def test_merges_of_either_kind() -> None:
    """As texts, as pairs, and mixed; the first wrong one is named."""
    vocab = {"a": 0, "b": 1, "ab": 2, "aba": 3, "##b": 4, "#": 5}
    expected = [[0, 1, 2], [2, 0, 3]]
    right: list[object] = ["a b", "ab a"]
    for listed in (right, [["a", "b"], ["ab", "a"]], ["a b", ["ab", "a"]]):
        assert expected == _merges(listed, vocab).tolist()
    assert _merges(["a ##b"], vocab, 2).tolist() == [[0, 4, 2]]
    assert _merges([], vocab).shape == (0, 3)
    wrong: list[object] = ["a", "a b a", "b a", "a  b", ["a"], ["a", "b", "a"], ["a", 1], 7, None]
    for merge in [*wrong, [["a"], "b"], {"a": 1}]:
        for others in (right, [["a", "b"]] * 2):
            with pytest.raises(TokenizerError, match=r"merge 2 \(.*a token that the vocabulary"):
                _merges([*others, merge, "b b"], vocab)
    # What is wrong in one is not made good by another.
    with pytest.raises(TokenizerError, match=r"merge 0 "):
        _merges(["a b ab", "a"], vocab)


def test_ids() -> None:
    """An id belongs to one name, which may be there twice."""
    check_ids(["a", "b", "a"], [0, 7, 0])
    for ids, message in (
        ([0, 0, 1], "two tokens have id 0"),
        ([0, True, 2], "not a number"),
        ([0, -1, 2], "not a number"),
        ([0, 1.0, 2], "not a number"),
        ([0, 1, 10_000_000], "ids go from 0 to 9,999,999"),
    ):
        with pytest.raises(TokenizerError, match=message):
            check_ids(["a", "b", "c"], ids)
    with pytest.raises(ValueError, match="surrogates"):
        check_ids(["\ud800"], [0])


@pytest.mark.parametrize("form", ["NFC", "NFD", "NFKC", "NFKD"])
def test_normal_forms_of_characters(form: str) -> None:
    """Those that are told block by block are told so one by one."""
    characters = "".join(map(chr, [*range(0x250, 0x400), *range(0x900, 0x1200)]))
    characters += "".join(map(chr, [*range(0xAB00, 0xAD00), *range(0x11380, 0x113E4)]))
    expected = [patterns.is_normalized(form, char) for char in characters]
    assert expected == patterns.each_normalized(form, characters)
    assert {True, False} == set(expected)
