"""WordPiece tokenizers against Hugging Face's library, and what the loader refuses."""

# Tests here say `expected == actual`.
# ruff: noqa: SIM300

import json
import random
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from support.oracles.linmaxmatch import EndToEnd
from support.oracles.wordpiece import max_match_via_substrings
from support.wordpiece import real

from constrain.compiler.diagnostics import TokenizerError
from constrain.compiler.wordpiece.detect import is_wordpiece
from constrain.compiler.wordpiece.load import load_wordpiece
from constrain.compiler.wordpiece.normalizer import is_punctuation, is_space
from constrain.compiler.wordpiece.tokenizer import WordPieceTokenizer
from constrain.compiler.wordpiece.words import Words

tokenizers = pytest.importorskip("tokenizers")

BERT = ["bert-base-uncased", "bert-base-multilingual-cased"]
ALL = [*BERT, "tiny-wordpiece-500", "tiny-wordpiece-2000"]

# Characters that BERT's normalizer does something special with.
SPECIAL = "\u0301\u0130\uac01\u4e2d\u200b\u00ad\x0b\x1c\x85\u2028\u3000\u1b44\u302e\U0001d165\u034f"


def wordpiece_json(tokens: Iterable[str], **changes: Any) -> dict[str, Any]:
    """A ``tokenizer.json`` with these tokens after ``[UNK]`` and ``[SEP]``."""
    vocabulary = {token: i for i, token in enumerate(["[UNK]", "[SEP]", *tokens])}
    flags = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized"), False)
    added = [{"id": i, "content": ("[UNK]", "[SEP]")[i], "special": True, **flags} for i in (0, 1)]
    return {
        "version": "1.0",
        "added_tokens": added,
        "normalizer": {
            "type": "BertNormalizer",
            "clean_text": True,
            "handle_chinese_chars": True,
            "strip_accents": None,
            "lowercase": True,
        },
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        "model": {
            "type": "WordPiece",
            "unk_token": "[UNK]",
            "continuing_subword_prefix": "##",
            "max_input_chars_per_word": 100,
            "vocab": vocabulary,
        },
        **changes,
    }


def loaded(folder: Path, tokens: Iterable[str], **changes: Any) -> WordPieceTokenizer:
    """The tokenizer of ``wordpiece_json(…)``, by way of a file."""
    file = folder / "tokenizer.json"
    file.write_text(json.dumps(wordpiece_json(tokens, **changes)), encoding="utf-8")
    return load_wordpiece(file)


def check_against(reference: Any, ours: WordPieceTokenizer, texts: Iterable[str]) -> int:
    """Compare ids, and places in the text; the number of texts."""
    count = 0
    for text in texts:
        expected = reference.encode(text, add_special_tokens=False)
        assert expected.ids == ours.encode(text), ascii(text)
        places = [(span.start, span.end) for span in ours.spans(text)]
        assert expected.offsets == places, ascii(text)
        assert expected.ids == [span.token_id for span in ours.spans(text)]
        count += 1
    return count


def random_texts(count: int, seed: int) -> Iterator[str]:
    """Texts over narrow and wide ranges of Unicode, with what is treated specially."""
    draw = random.Random(seed)
    limits = (0x7F, 0x500, 0x3000, 0x20000, 0x110000)
    for _ in range(count):
        codes = [draw.randrange(0x20, draw.choice(limits)) for _ in range(draw.randint(1, 24))]
        chars = [chr(code) for code in codes if not 0xD800 <= code <= 0xDFFF]
        chars += draw.choices(SPECIAL + " .x", k=draw.randint(0, 4))
        draw.shuffle(chars)
        yield "".join(chars)


@pytest.mark.parametrize("name", ALL)
def test_vectors(data: Callable[[str], Path], name: str) -> None:
    """All recorded ids, and ids and places as Hugging Face's library gives them."""
    folder = data(f"tokenizers/{name}")
    ours = real(folder)
    reference = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
    lines = (folder / "vectors.jsonl").read_text(encoding="utf-8").split("\n")
    rows = [json.loads(line) for line in lines if line]

    assert [row["ids"] for row in rows] == [ours.encode(row["text"]) for row in rows]
    assert 456 == check_against(reference, ours, (row["text"] for row in rows))


@pytest.mark.parametrize("name", BERT)
def test_udhr(data: Callable[[str], Path], full: bool, name: str) -> None:
    """Text in 89 languages, line by line (a sample of the lines without --full)."""
    folder = data(f"tokenizers/{name}")
    ours = real(folder)
    reference = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
    files = sorted(data("text/udhr").iterdir())
    for file in files:
        lines = file.read_text(encoding="utf-8").split("\n")
        if not full:
            lines = random.Random(file.name).sample(lines, min(6, len(lines)))
        check_against(reference, ours, lines)
    assert 89 == len(files)


@pytest.mark.parametrize("name", BERT)
@pytest.mark.parametrize("file", ["sherlock.txt", "UnicodeData-15.0.0.txt"])
def test_long_files(data: Callable[[str], Path], full: bool, name: str, file: str) -> None:
    """A novel, and the names of all characters, by lines (a sample of them without --full)."""
    folder = data(f"tokenizers/{name}")
    reference = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
    lines = data(f"text/{file}").read_text(encoding="utf-8").split("\n")
    assert len(lines) > 5_000
    lines = lines if full else random.Random(file).sample(lines, 200)

    assert len(lines) == check_against(reference, real(folder), lines)


@pytest.mark.parametrize("name", ALL)
def test_random_unicode(data: Callable[[str], Path], full: bool, name: str) -> None:
    """Random strings over all of Unicode, 100,000 of them under --full."""
    folder = data(f"tokenizers/{name}")
    reference = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
    count = 100_000 if full else 375

    assert count == check_against(reference, real(folder), random_texts(count, seed=4))


@pytest.mark.parametrize("flag", ["clean_text", "handle_chinese_chars", "strip_accents"])
def test_normalizer_without_a_part(tmp_path: Path, flag: str) -> None:
    """Each part of the normalizer can be switched off, and lower-casing with them."""
    tokens = ["a", "##a", "A", "é", "e", "\u4e2d", "b", "##b", "!", "\x0b"]
    for lowercase in (True, False):
        options = {"clean_text": True, "handle_chinese_chars": True, "strip_accents": None}
        changed = {**options, "type": "BertNormalizer", "lowercase": lowercase, flag: False}
        ours = loaded(tmp_path, tokens, normalizer=changed)
        reference = tokenizers.Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
        check_against(reference, ours, random_texts(400, seed=5))


def test_vocabulary_file_reads_as_the_json(data: Callable[[str], Path]) -> None:
    """A vocab.txt alone gives the tokenizer beside it, its lower-casing guessed right."""
    for name in BERT:
        folder = data(f"tokenizers/{name}")
        text, whole = load_wordpiece(folder / "vocab.txt"), real(folder)
        assert whole.ids == text.ids
        assert (whole.normalizer, whole.added, whole.eos) == (
            text.normalizer, text.added, text.eos,
        )  # fmt: skip


def test_vocabulary_file_ends_lines_at_line_feeds_alone(tmp_path: Path) -> None:
    """U+2028 is a token of BERT's Chinese vocabulary, not the end of a line."""
    file = tmp_path / "vocab.txt"
    file.write_bytes("[UNK]\n\u2028\na\r\n##b\n".encode())

    assert {"[UNK]": 0, "\u2028": 1, "a": 2, "##b": 3} == load_wordpiece(file).ids
    assert is_wordpiece(file)


def test_punctuation_at_the_start_of_a_later_word(tmp_path: Path) -> None:
    """Algorithm 3 as printed never leaves ``-a``; here the word after the mark is read."""
    tokenizer = loaded(tmp_path, ["-"])
    one_pass = EndToEnd(tokenizer.words, tokenizer.unk, tokenizer.max_chars)

    assert [2, 0] == tokenizer.encode("-a")
    assert [(2,), (0,)] == [word.tokens for word in one_pass.words("-a")]


@pytest.mark.parametrize("short", [64, 1])
def test_end_to_end_is_words_one_by_one(monkeypatch: pytest.MonkeyPatch, short: int) -> None:
    """Words, and Algorithm 3, against splitting first and matching naively, also without an
    indicator; with long tokens by another search."""
    monkeypatch.setattr("constrain.compiler.wordpiece.prefix_search._SHORT", short)
    draw = random.Random(6)
    for number in range(400):
        mark = ("##", "", "a", "#", "ab")[number % 5]
        tokens = {
            draw.choice(("", mark)) + "".join(draw.choices("ab-", k=draw.randint(1, 4)))
            for _ in range(8)
        } - {mark}
        vocabulary = {token: i + 1 for i, token in enumerate(sorted(tokens))}
        matcher = Words(vocabulary, mark, unknown=0, max_chars=6)
        one_pass = EndToEnd(matcher, unknown=0, max_chars=6)
        for _ in range(10):
            text = "".join(draw.choices("aab -!c", k=draw.randint(0, 14)))
            expected = []
            for word in _split(text):
                found = max_match_via_substrings(word, vocabulary, mark).tokens
                expected.append((0,) if found is None or len(word) > 6 else tuple(found))
            words = list(matcher.words(text))
            assert expected == [word.tokens for word in words], (text, tokens, mark)
            assert words == list(one_pass.words(text)), (text, tokens, mark)


def _split(text: str) -> list[str]:
    spaced = "".join(f" {c} " if is_punctuation(c) else " " if is_space(c) else c for c in text)
    return spaced.split()


def test_special_tokens_in_text(tmp_path: Path) -> None:
    """The names of added tokens are their ids wherever they stand."""
    tokenizer = loaded(tmp_path, ["x", "##y"])

    assert [2, 1, 0, 2, 3] == tokenizer.encode("x[SEP]y XY")
    assert [(1, 1, 6)] == [tuple(p) for p in tokenizer.spans("x[SEP]y")][1:2]


def test_a_stream_is_the_whole_text(data: Callable[[str], Path]) -> None:
    """Text in parts, split anywhere, gives the ids of the text."""
    tokenizer = real(data("tokenizers/tiny-wordpiece-500"))
    text = " ".join(random_texts(60, seed=7)) + "[SEP] end\n\nof it"
    draw = random.Random(8)
    for _ in range(20):
        bounds = sorted({0, len(text), *(draw.randrange(len(text)) for _ in range(30))})
        parts = [text[a:b] for a, b in pairwise(bounds)]
        streamed = [i for ids in tokenizer.encode_stream(parts) for i in ids]
        assert tokenizer.encode(text) == streamed


def test_cached_chunks_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The cache of words is emptied when it is full, and long ones are never in it."""
    monkeypatch.setattr("constrain.compiler.wordpiece.cached_ids.MOST_CACHED", 4)
    tokenizer = loaded(tmp_path, ["a", "##a"])
    for length in range(1, 90):
        assert [2] + [3] * (length - 1) == tokenizer.encode("a" * length)
        assert len(tokenizer._chunks) <= 4
        assert len(tokenizer._words) <= 4


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"pre_tokenizer": {"type": "Whitespace"}}, "the pre-tokenizer 'Whitespace'"),
        ({"normalizer": {"type": "NFC"}}, "the normalizer 'NFC'"),
        ({"model": {"type": "Unigram", "vocab": {}}}, "the model 'Unigram'"),
        (
            {"model": {"type": "WordPiece", "vocab": {"a": 2}}, "added_tokens": []},
            r"no token '\[UNK\]'",
        ),
        ({"model": {"type": "WordPiece", "vocab": {"[UNK]": 0, "b": 0}}}, "two tokens have one"),
        ({"model": {"type": "WordPiece", "vocab": {"[UNK]": -1}}}, "ids go from 0"),
        (
            {"added_tokens": [{"id": 0, "content": "[UNK]", "lstrip": True}]},
            r"the option 'lstrip' of the added token '\[UNK\]'",
        ),
        ({"added_tokens": [{"content": "[UNK]"}]}, "not a valid WordPiece tokenizer"),
    ],
)
def test_what_is_not_supported(tmp_path: Path, changes: dict[str, Any], message: str) -> None:
    """The loader refuses by name what it does not understand."""
    with pytest.raises(TokenizerError, match=message):
        loaded(tmp_path, ["a"], **changes)


def test_tables_agree_with_unicode_on_letters() -> None:
    """The shipped tables do what Unicode says to the letters of Latin, Greek and Cyrillic."""
    from constrain.compiler.wordpiece.normalizer import BertNormalizer

    normalize = BertNormalizer().normalize
    for code in [*range(0x41, 0x250), *range(0x386, 0x500)]:
        if unicodedata.category(chr(code)) in ("Lu", "Ll"):
            bare = [
                c for c in unicodedata.normalize("NFD", chr(code)) if not unicodedata.combining(c)
            ]
            assert "".join(bare).lower() == normalize(chr(code))
