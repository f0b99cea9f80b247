"""Loading and encoding: as the tokenizer's own library does it."""

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import tokenizers

from constrain.compiler import Tokenizer, load_tokenizer
from constrain.compiler.diagnostics import TokenizerError
from constrain.compiler.tokenizers import byte_alphabet, default_path
from constrain.compiler.tokenizers.definition import BYTE_LEVEL_PATTERN, Split
from constrain.compiler.tokenizers.encoding.steps import split_text

TINY = ["tiny-bpe-300", "tiny-bpe-1000", "tiny-bpe-4000"]
BPE = [
    "gpt2",
    "cl100k_base",
    "qwen2_5",
    "mistral_nemo",
    "mistral-v3",
    "whisper-multilingual",
    *TINY,
]


@pytest.mark.parametrize("name", BPE)
def test_vectors(data: Callable[[str], Path], real: Callable[[str], Tokenizer], name: str) -> None:
    """Every row of the recorded vectors encodes to the recorded ids."""
    tokenizer = real(name)
    rows = data(f"tokenizers/{name}/vectors.jsonl").read_text(encoding="utf-8").splitlines()
    assert len(rows) == 456
    for row in map(json.loads, rows):
        assert tokenizer.encode(row["text"]) == row["ids"]


def random_text(rng: random.Random) -> str:
    """Words, digits, punctuation, white space and characters of many scripts."""
    alphabets = ["abc xyz", "0123456789", " \n\t\r\u00a0\u2003", ".,'\"!?-_{}[]", "éüßñ", "日本語"]
    alphabets += ["😀🏽\u200d", "\u0301\u0e33", "'s 't 're 've", "<|endoftext|>"]
    parts = []
    for _ in range(rng.randrange(12)):
        alphabet = rng.choice(alphabets)
        start = rng.randrange(len(alphabet))
        parts.append(alphabet[start : start + rng.randrange(1, 14)])
    return "".join(parts)


def test_default_encodes_as_the_library_does(full: bool, default_tokenizer: Tokenizer) -> None:
    """The embedded vocabulary, against the library that trained it, on random text."""
    reference = tokenizers.Tokenizer.from_file(str(default_path()))
    rng = random.Random(9)
    for _ in range(20_000 if full else 1_000):
        text = random_text(rng)
        assert default_tokenizer.encode(text) == reference.encode(text).ids
        without_special = text.replace("<|endoftext|>", "")
        ids = default_tokenizer.encode(without_special)
        assert default_tokenizer.decode_bytes(ids) == without_special.encode()


def test_default_vocabulary(default_tokenizer: Tokenizer) -> None:
    """8,192 ids without holes, every byte a token, an end of text."""
    assert default_tokenizer.vocab_size == 8192
    assert sorted([*default_tokenizer.tokens, *default_tokenizer.added]) == list(range(8192))
    assert -1 not in default_tokenizer.base
    assert default_tokenizer.eos == (0,)
    assert default_tokenizer.added == {0: "<|endoftext|>"}


def test_long_pieces_merge_in_order(default_tokenizer: Tokenizer) -> None:
    """A pre-token of a hundred thousand bytes is encoded, and as a short one would be."""
    text = "ab" * 50_000
    ids = default_tokenizer.encode(text)
    assert default_tokenizer.decode_bytes(ids) == text.encode()
    assert default_tokenizer.encode("ab" * 40) == ids[: len(default_tokenizer.encode("ab" * 40))]


def test_byte_alphabet_is_a_bijection() -> None:
    """256 different visible characters, and back."""
    characters = byte_alphabet.characters()
    assert len(set(characters)) == 256
    assert byte_alphabet.decode("".join(characters)) == bytes(range(256))
    assert byte_alphabet.decode("日") is None


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("I'll go", ["I", "'ll", " go"]),
        ("a  b", ["a", " ", " b"]),
        ("x \n y", ["x", " \n", " y"]),
        ("2024-01", ["2024", "-", "01"]),
        ("end  ", ["end", "  "]),
        ("", []),
    ],
)
def test_byte_level_pieces(text: str, pieces: list[str]) -> None:
    """GPT-2's pre-tokens."""
    assert split_text(text, Split(BYTE_LEVEL_PATTERN)) == pieces


def minimal(**changes: Any) -> dict[str, Any]:
    """A tokenizer.json of the 256 bytes and one merge, with some parts replaced."""
    vocab = {char: i for i, char in enumerate(byte_alphabet.characters())}
    model: dict[str, Any] = {"type": "BPE", "vocab": {**vocab, "ab": 256}, "merges": [["a", "b"]]}
    model.update(changes.pop("model", {}))
    return {
        "added_tokens": [{"id": 257, "content": "</s>", "special": True}],
        "normalizer": None,
        "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": False, "use_regex": False},
        "model": model,
        **changes,
    }


def split(pattern: str) -> dict[str, Any]:
    """A step that splits at a regular expression."""
    return {"type": "Split", "pattern": {"Regex": pattern}, "behavior": "Isolated"}


def write(folder: Path, value: object) -> Path:
    """A tokenizer.json in ``folder``."""
    path = folder / "tokenizer.json"
    path.write_text(json.dumps(value), encoding="utf-8")
    return path


def test_merges_as_pairs_and_as_strings(tmp_path: Path) -> None:
    """Both forms of the merge list are read."""
    for merges in ([["a", "b"]], ["a b"]):
        tokenizer = load_tokenizer(write(tmp_path, minimal(model={"merges": merges})))
        assert tokenizer.encode("abab</s>") == [256, 256, 257]
        assert not tokenizer.splits


def test_folder_and_configured_eos(tmp_path: Path) -> None:
    """A folder stands for the tokenizer.json in it; its configuration names the end of text."""
    write(tmp_path, minimal())
    assert load_tokenizer(tmp_path).eos == (257,)
    config = tmp_path / "tokenizer_config.json"
    config.write_text('{"eos_token": {"content": "ab"}}', encoding="utf-8")
    assert load_tokenizer(tmp_path).eos == (256,)


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"normalizer": {"type": "ByteLevel"}}, "'ByteLevel'"),
        ({"normalizer": "NFC"}, "normalizer"),
        ({"pre_tokenizer": {"type": "FixedLength"}}, "'FixedLength'"),
        ({"pre_tokenizer": split("a(?#b)")}, "'(?#b)'"),
        ({"pre_tokenizer": split(r"\p{Cn}")}, r"\p{Cn}"),
        ({"pre_tokenizer": split("[a-z&&]")}, "']'"),
        ({"pre_tokenizer": split("[[:alpha:]]")}, "'[:alpha:'"),
        ({"pre_tokenizer": split(r"[a\b]")}, r"'\\b]'"),
        ({"pre_tokenizer": split("(?i:ss)")}, "case"),
        ({"pre_tokenizer": {**split("a"), "behavior": "Doubled"}}, "'Doubled'"),
        ({"pre_tokenizer": {"type": "Metaspace", "prepend_scheme": "last"}}, "'last'"),
        ({"model": {"type": "WordLevel"}}, "'WordLevel'"),
        ({"model": {"byte_fallback": True}}, "<0x00>"),
        ({"model": {"unk_token": "<unk>"}}, "'<unk>'"),
        ({"model": {"dropout": 0.1}}, "'dropout'"),
        ({"model": {"merges": [["a", "nope"]]}}, "merge 0"),
        ({"model": {"vocab": {"a": -1}}}, "not a number"),
        ({"added_tokens": [{"id": 97, "content": "x"}]}, "two tokens have id 97"),
        ({"model": []}, "no model"),
    ],
)
def test_what_is_not_supported_is_refused_by_name(
    tmp_path: Path, change: dict[str, Any], named: str
) -> None:
    """The message names the file and the part."""
    value = minimal(**change) if not isinstance(change.get("model"), list) else {"model": []}
    path = write(tmp_path, value)
    with pytest.raises(TokenizerError) as caught:
        load_tokenizer(path)
    assert str(path) in str(caught.value)
    assert named in str(caught.value)


@pytest.mark.parametrize("content", [b"", b"\xff\xfe", b"[]", b"{}", b'{"model": 3}'])
def test_other_files_are_refused(tmp_path: Path, content: bytes) -> None:
    """Files that are no tokenizer."""
    path = tmp_path / "tokenizer.json"
    path.write_bytes(content)
    with pytest.raises(TokenizerError, match=r"not a tokenizer\.json"):
        load_tokenizer(path)


def test_missing_file(tmp_path: Path) -> None:
    """A file that is not there."""
    with pytest.raises(TokenizerError, match="No such file"):
        load_tokenizer(tmp_path / "none.json")
