"""Every step of an encoding, against the library whose files are read, on random text."""

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import tokenizers
from tokenizers import AddedToken, Regex, models, normalizers, pre_tokenizers

from constrain.compiler import load_tokenizer
from constrain.compiler.tokenizers import byte_alphabet
from constrain.compiler.tokenizers.patterns import compile_pattern
from constrain.compiler.tokenizers.pretokenize import cut
from constrain.compiler.tokenizers.steps import Punctuation, Whitespace, WhitespaceSplit
from constrain.compiler.tokenizers.unicode_versions import as_cut, normalized

# Characters that some step treats in a way of its own, the newest ones among them.
LETTERS = [
    "a",
    "b",
    "c",
    "A",
    "B",
    "é",
    "ß",
    "Σ",
    "ſ",
    "日",
    "ー",
    "ǅ",
    "ʕ",
    "𐓀",
    "\u088f",
    "\u1c8a",
]
MARKS = ["\u0301", "\u0323", "\u0e33", "\u0899", "\u1df6", "\u200d", "\u0b53"]
OTHERS = [
    "1",
    "2",
    "²",
    "½",
    "٣",
    "Ⅷ",
    "\U00011de0",
    "_",
    "-",
    "$",
    "'",
    "’",
    "؛",
    "\u061d",
    "\u2e5d",
    "😀",
]
SPACES = [" ", "  ", "\t", "\n", "\r\n", "\u00a0", "\u3000", "\x1c", "\x85", "▁"]
COMPOSED = ["ﬁ", "①", "\u1e9b\u0323", "\u212b", "\uac00", "\u1100\u1161", "\u32ff", "\U00011938"]
WORDS = ["'s", "'S", "'ll", "<x>", "ab", "foo", "bar", "  foo", "<0x41>", "<unk>"]
ATOMS = LETTERS + MARKS + OTHERS + SPACES + COMPOSED + WORDS

CHARACTERS = sorted({"▁", " ", *"abcABfor<>x'12\n", "é", "日", "\u0301", "😀"})
CL100K = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*"
    r"|\s*[\r\n]+|\s+(?!\S)|\s+"
)
BEHAVIOURS = ["isolated", "removed", "merged_with_previous", "merged_with_next", "contiguous"]
BYTE_LEVEL = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)


def random_text(rng: random.Random) -> str:
    """A few characters and words, some again and again."""
    few = rng.choices(ATOMS, k=rng.randrange(1, 7))
    return "".join(rng.choices(few, k=rng.randrange(14)))


def byte_model(**options: Any) -> Any:
    """All bytes but three, and some merges of them."""
    alphabet = byte_alphabet.characters()
    known = [char for i, char in enumerate(alphabet) if i not in (ord("B"), ord("$"), 0xCC)]
    vocab = {char: i for i, char in enumerate(known)}
    pairs = [("a", "b"), ("b", "c"), ("Ġ", "a"), ("Ġ", "Ġ"), ("Ã", "©"), ("a", "a"), ("ab", "c")]
    pairs += [("Ġ", "ab"), ("f", "o"), ("fo", "o"), ("'", "s"), ("1", "2"), ("ĠĠ", "foo")]
    return bpe(vocab, pairs, **options)


def character_model(**options: Any) -> Any:
    """A few characters, all bytes, and some merges, not in the order of building."""
    vocab = {"<unk>": 0, **{f"<0x{octet:02X}>": 1 + octet for octet in range(256)}}
    vocab.update({char: 257 + i for i, char in enumerate(CHARACTERS)})
    pairs = [("▁", "ab"), ("a", "b"), ("▁", "▁"), ("f", "o"), ("fo", "o"), ("▁", "foo"), ("b", "a")]
    pairs += [("▁▁", "▁▁"), ("▁", "a"), ("o", "▁"), ("é", "a"), ("f", "oo"), ("o", "o")]
    return bpe(vocab, pairs, **options)


def bpe(vocab: dict[str, int], pairs: list[tuple[str, str]], **options: Any) -> Any:
    """A BPE model in which the results of merges have the ids that follow."""
    for pair in pairs:
        vocab.setdefault("".join(pair), len(vocab))
    return models.BPE(vocab=vocab, merges=pairs, **options)


def split(pattern: str, behaviour: str, invert: bool = False) -> Any:
    """A step that cuts at a regular expression, and the byte-level alphabet behind it."""
    step = pre_tokenizers.Split(Regex(pattern), behaviour, invert)
    return pre_tokenizers.Sequence([step, BYTE_LEVEL])


def behind(*steps: Any) -> Any:
    """Some steps and the byte-level alphabet behind them."""
    return pre_tokenizers.Sequence([*steps, BYTE_LEVEL])


CUTS = {
    **{f"{b} {i}": split(r"\s|a+|\p{N}", b, i) for b in BEHAVIOURS for i in (False, True)},
    **{f"empty {b} {i}": split(r"a*|(?=b)", b, i) for b in BEHAVIOURS for i in (False, True)},
    "cl100k": split(CL100K, "isolated"),
    "removed inverted": split(CL100K, "removed", True),
    "words": split(r"\w+", "isolated"),
    "not words": split(r"[^\w\s]+|\W", "contiguous"),
    "literal": behind(pre_tokenizers.Split("a", "merged_with_next")),
    "byte level": pre_tokenizers.ByteLevel(add_prefix_space=False),
    "prefix": pre_tokenizers.ByteLevel(add_prefix_space=True),
    "prefix without cuts": pre_tokenizers.ByteLevel(add_prefix_space=True, use_regex=False),
    "digits": behind(pre_tokenizers.Digits(individual_digits=True)),
    "numbers": behind(pre_tokenizers.Digits(individual_digits=False)),
    "punctuation": behind(pre_tokenizers.Punctuation("contiguous")),
    "white space": behind(pre_tokenizers.WhitespaceSplit()),
    "symbols": behind(pre_tokenizers.Whitespace()),
    "delimiter": behind(pre_tokenizers.CharDelimiterSplit("a")),
    "in the alphabet": pre_tokenizers.Sequence(
        [
            pre_tokenizers.Punctuation("contiguous"),
            pre_tokenizers.ByteLevel(add_prefix_space=True),
            pre_tokenizers.Digits(individual_digits=True),
            pre_tokenizers.Split(Regex("[0-9][0-9][0-9]|Ġa"), "isolated"),
        ]
    ),
    "prefix behind cuts": pre_tokenizers.Sequence(
        [pre_tokenizers.Split("a", "isolated"), pre_tokenizers.ByteLevel(use_regex=False)]
    ),
}


def metaspace(scheme: str, cuts: bool) -> Any:
    """SentencePiece's spaces."""
    return pre_tokenizers.Metaspace(prepend_scheme=scheme, split=cuts)


METASPACES = {
    f"{scheme} {cuts}": metaspace(scheme, cuts)
    for scheme in ("always", "first", "never")
    for cuts in (False, True)
}
SENTENCE_PIECE = [normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")]
NORMALIZERS = {
    "NFC": normalizers.NFC(),
    "NFD": normalizers.NFD(),
    "NFKC": normalizers.NFKC(),
    "NFKD": normalizers.NFKD(),
    "SentencePiece": normalizers.Sequence(SENTENCE_PIECE),
    "regex": normalizers.Replace(Regex(r"\s+"), " "),
    **{
        f"regex {pattern}": normalizers.Replace(Regex(pattern), content)
        for pattern, content in {
            r"a*": "-",
            r"(?=b)|o+": "x",
            r"[^\w]": "",
            r"\p{L}{2}": "Aé",
        }.items()
    },
    "lower case": normalizers.Lowercase(),
    "strip": normalizers.Strip(left=True, right=False),
    "all": normalizers.Sequence([normalizers.NFKC(), normalizers.Strip(), *SENTENCE_PIECE]),
}


def check(folder: Path, reference: Any, full: bool, seed: int) -> None:
    """Both give the same ids for random texts."""
    (folder / "tokenizer.json").write_text(reference.to_str(), encoding="utf-8")
    tokenizer = load_tokenizer(folder)
    rng = random.Random(seed)
    for _ in range(20_000 if full else 400):
        text = random_text(rng)
        expected = reference.encode(text, add_special_tokens=False).ids
        assert (text, expected) == (text, tokenizer.encode(text))


@pytest.mark.parametrize("name", CUTS)
def test_cuts(tmp_path: Path, full: bool, name: str) -> None:
    """Pre-tokenizers before byte-level merges; bytes without a token are dropped."""
    reference = tokenizers.Tokenizer(byte_model())
    reference.pre_tokenizer = CUTS[name]
    check(tmp_path, reference, full, seed=len(name))


@pytest.mark.parametrize("name", METASPACES)
def test_metaspace(tmp_path: Path, full: bool, name: str) -> None:
    """SentencePiece's spaces as a pre-tokenizer, with added tokens between parts."""
    reference = tokenizers.Tokenizer(character_model(unk_token="<unk>", fuse_unk=True))
    reference.pre_tokenizer = METASPACES[name]
    reference.add_special_tokens([AddedToken("<x>", normalized=False)])
    check(tmp_path, reference, full, seed=21)


@pytest.mark.parametrize("name", NORMALIZERS)
def test_normalizers(tmp_path: Path, full: bool, name: str) -> None:
    """Normalizers, with tokens found before them and in what they leave."""
    reference = tokenizers.Tokenizer(character_model(byte_fallback=True, unk_token="<unk>"))
    reference.normalizer = NORMALIZERS[name]
    reference.add_special_tokens([AddedToken("<x>", normalized=False)])
    reference.add_tokens([AddedToken("foo", normalized=True), AddedToken("ﬁ", normalized=True)])
    check(tmp_path, reference, full, seed=22)


@pytest.mark.parametrize(
    "options",
    [
        {"byte_fallback": True, "unk_token": "<unk>", "fuse_unk": True},
        {"byte_fallback": True},
        {"unk_token": "<unk>"},
        {"unk_token": "<unk>", "fuse_unk": True},
        {},
    ],
    ids=str,
)
def test_unknown_characters(tmp_path: Path, full: bool, options: dict[str, Any]) -> None:
    """What becomes of characters without a token; no cuts, so that only seams help."""
    reference = tokenizers.Tokenizer(character_model(**options))
    check(tmp_path, reference, full, seed=23)


@pytest.mark.parametrize("options", [{}, {"unk_token": "a"}, {"unk_token": "a", "fuse_unk": True}])
def test_whole_pieces(tmp_path: Path, full: bool, options: dict[str, Any]) -> None:
    """Pieces that are tokens are looked up before merging; missing bytes may be unknown."""
    reference = tokenizers.Tokenizer(byte_model(ignore_merges=True, **options))
    data = json.loads(reference.to_str())
    data["model"]["vocab"]["foobar"] = 900
    reference = tokenizers.Tokenizer.from_str(json.dumps(data))
    reference.pre_tokenizer = CUTS["cl100k"]
    check(tmp_path, reference, full, seed=24)


@pytest.mark.parametrize("flags", range(16))
def test_added_tokens(tmp_path: Path, full: bool, flags: int) -> None:
    """All options of added tokens; the longest of those that begin first."""
    options = {
        "lstrip": bool(flags & 1),
        "rstrip": bool(flags & 2),
        "single_word": bool(flags & 4),
        "normalized": bool(flags & 8),
    }
    reference = tokenizers.Tokenizer(byte_model())
    reference.pre_tokenizer = CUTS["byte level"]
    reference.add_special_tokens([AddedToken(text, **options) for text in ("<x>", "foo", "fo")])
    reference.add_tokens([AddedToken("  ", normalized=False), AddedToken("1", **options)])
    check(tmp_path, reference, full, seed=25)


def all_characters(full: bool) -> Iterator[str]:
    """Every character (of the first two planes), some thousand at a time."""
    end = 0x110000 if full else 0x20000
    text = "".join(chr(code) for code in range(end) if not 0xD800 <= code < 0xE000)
    return (text[start : start + 4096] for start in range(0, len(text), 4096))


@pytest.mark.parametrize("step", [Punctuation(), WhitespaceSplit(), Whitespace()], ids=repr)
def test_other_classes_are_those_of_the_library(step: Any, full: bool) -> None:
    """Every character between two letters, cut as the steps with classes of their own do."""
    reference = getattr(pre_tokenizers, type(step).__name__)()
    for characters in all_characters(full):
        text = "".join(f"a{char}" for char in characters)
        expected = [piece for piece, _ in reference.pre_tokenize_str(text)]
        assert expected == cut(text, step.split)


@pytest.mark.parametrize(
    "pattern", [r"\p{L}", r"\p{N}", r"\s", r"\p{Lu}", r"\p{Ll}", r"\p{M}", r"\w", r"[^\w]"]
)
def test_classes_are_those_of_the_library(pattern: str, full: bool) -> None:
    """Every character is in the same classes, whichever Unicode the regex module has."""
    reference = pre_tokenizers.Split(Regex(pattern), "removed", invert=True)
    for text in all_characters(full):
        expected = "".join(piece for piece, _ in reference.pre_tokenize_str(text))
        found = compile_pattern(pattern).finditer(as_cut(text))
        assert expected == "".join(text[match.start() : match.end()] for match in found)


@pytest.mark.parametrize("form", ["NFC", "NFD", "NFKC", "NFKD"])
def test_normalization_is_that_of_the_library(form: str) -> None:
    """Every code point, alone and between marks, whichever Unicode Python has."""
    reference = getattr(normalizers, form)()
    for code in range(0x30000):
        if not 0xD800 <= code < 0xE000:
            char = chr(code)
            for text in (char, f"a{char}\u0301", f"a\u0301{char}\u0323\u0f39"):
                assert reference.normalize_str(text) == normalized(form, text), hex(code)
