"""Every step of an encoding, against the library whose files are read, on random text."""

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import tokenizers
from support.library_steps import (
    AFFIXES,
    CUTS,
    METASPACES,
    NORMALIZERS,
    byte_model,
    character_model,
    clip,
    random_text,
)
from tokenizers import AddedToken, Regex, models, normalizers, pre_tokenizers

from constrain.compiler import load_tokenizer
from constrain.compiler.diagnostics import TokenizerError
from constrain.compiler.tokenizers.definition import (
    WHITESPACE,
    WHITESPACE_SPLIT,
    Nmt,
    Split,
    StripAccents,
    punctuation,
)
from constrain.compiler.tokenizers.encoding.patterns import as_cut, compile_pattern, normalized
from constrain.compiler.tokenizers.encoding.steps import normalize, split_text
from constrain.compiler.wordpiece.normalizer import BertNormalizer


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
    """What becomes of characters without a token; no pre-tokenizer, so that only seams help."""
    reference = tokenizers.Tokenizer(character_model(**options))
    check(tmp_path, reference, full, seed=23)


@pytest.mark.parametrize("options", [{}, {"unk_token": "a"}, {"unk_token": "a", "fuse_unk": True}])
def test_whole_pieces(tmp_path: Path, full: bool, options: dict[str, Any]) -> None:
    """Pre-tokens that are tokens are looked up before merging; missing bytes may be unknown."""
    reference = tokenizers.Tokenizer(byte_model(ignore_merges=True, **options))
    data = json.loads(reference.to_str())
    data["model"]["vocab"]["foobar"] = 900
    reference = tokenizers.Tokenizer.from_str(json.dumps(data))
    reference.pre_tokenizer = CUTS["cl100k"]
    check(tmp_path, reference, full, seed=24)


@pytest.mark.parametrize("fallback", [False, True])
@pytest.mark.parametrize("name", [*METASPACES, "none"])
def test_whole_pieces_of_characters(tmp_path: Path, full: bool, name: str, fallback: bool) -> None:
    """The same without the byte-level alphabet, also by the names of byte tokens."""
    reference = tokenizers.Tokenizer(character_model(byte_fallback=fallback, ignore_merges=True))
    data = json.loads(reference.to_str())
    data["model"]["vocab"] |= {"▁ab▁a": 900, "foo▁": 901, "▁<x>": 902}
    reference = tokenizers.Tokenizer.from_str(json.dumps(data))
    if name in METASPACES:
        reference.pre_tokenizer = METASPACES[name]
    else:
        reference.normalizer = NORMALIZERS["SentencePiece"]
    check(tmp_path, reference, full, seed=28)


@pytest.mark.parametrize("fuse", [False, True])
@pytest.mark.parametrize("name", AFFIXES)
def test_affixes(tmp_path: Path, full: bool, name: str, fuse: bool) -> None:
    """Symbols that say whether they begin or end a pre-token, as CLIP's do, over bytes and
    over characters."""
    reference = clip(random.Random(name), AFFIXES[name], fuse_unk=fuse)
    check(tmp_path, reference, full, seed=26)
    reference.pre_tokenizer = pre_tokenizers.Whitespace()
    check(tmp_path, reference, full, seed=27)


def test_affixes_that_cannot_be_told_are_refused(tmp_path: Path) -> None:
    """Where merging makes the affix of a text's own characters, and beside byte tokens."""
    vocab = {"a": 0, "b": 1, "ab": 2}
    for options in ({}, {"byte_fallback": True}):
        model = models.BPE(vocab=vocab, merges=[("a", "b")], end_of_word_suffix="b", **options)
        tokenizers.Tokenizer(model).save(str(tmp_path / "tokenizer.json"))
        with pytest.raises(TokenizerError, match=r"'b', which|'byte_fallback'"):
            load_tokenizer(tmp_path)


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


@pytest.mark.parametrize(
    "step", [punctuation(), WHITESPACE_SPLIT, WHITESPACE], ids=lambda step: step.kind
)
def test_other_classes_are_those_of_the_library(step: Split, full: bool) -> None:
    """Every character between two letters, split as by the steps with classes of their own."""
    reference = getattr(pre_tokenizers, step.kind)()
    for characters in all_characters(full):
        text = "".join(f"a{char}" for char in characters)
        expected = [piece for piece, _ in reference.pre_tokenize_str(text)]
        assert expected == split_text(text, step)


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
def test_normalization_is_that_of_the_library(form: str, full: bool) -> None:
    """Every code point (without --full every third), alone and between marks, whichever Unicode
    Python has."""
    reference = getattr(normalizers, form)()
    for code in range(0, 0x30000, 1 if full else 11):
        if not 0xD800 <= code < 0xE000:
            char = chr(code)
            for text in (char, f"a{char}\u0301", f"a\u0301{char}\u0323\u0f39"):
                assert reference.normalize_str(text) == normalized(form, text), hex(code)


@pytest.mark.parametrize("step", [Nmt(), StripAccents(), BertNormalizer()], ids=repr)
def test_single_characters_become_those_of_the_library(step: Any, full: bool) -> None:
    """Every character between two letters, by the normalizers with tables of their own."""
    reference = getattr(normalizers, type(step).__name__)()
    for characters in all_characters(full):
        text = "".join(f"a{char}" for char in characters)
        assert reference.normalize_str(text) == normalize(text, (step,))
