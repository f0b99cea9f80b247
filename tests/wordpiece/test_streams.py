"""Streams of text for WordPiece: the ids of the whole text, in bounded memory."""

# Tests here say `expected == actual`.
# ruff: noqa: SIM300

import random
from collections.abc import Callable
from dataclasses import replace
from itertools import chain
from pathlib import Path

import pytest
from support import constrain
from support.wordpiece import real, tokenizer_of

from constrain.compiler.wordpiece import tokenizer
from constrain.compiler.wordpiece.stream import StreamSplitter

# Letters, dropped characters, marks (two are put in order), punctuation, CJK, added tokens.
PIECES = [
    *("a", "b", "É", "각", "\0", "\u00ad", "\u0301", "\u302e", "\u0eb8", "\u1bf2"),
    *("-", "。", "中", "文", "[", "SEP", "]", "[SEP]", "[MASK]", "[UNK]", "[SE", "[CLS][SE", "ß"),
]


@pytest.mark.parametrize("spaces", [0.0, 0.02])
def test_parts_have_the_ids_of_the_whole(
    monkeypatch: pytest.MonkeyPatch, data: Callable[[str], Path], full: bool, spaces: float
) -> None:
    """However the text comes in parts: the ids of Hugging Face's library for all of it."""
    library = pytest.importorskip("tokenizers")
    folder = data("tokenizers/bert-base-uncased")
    reference = library.Tokenizer.from_file(str(folder / "tokenizer.json"))
    ours = real(folder)
    draw = random.Random(spaces)
    for number in range(3_000 if full else 100):
        monkeypatch.setattr(tokenizer, "LONGEST_HELD", draw.choice((1, 10, 150)))
        # Long words of few kinds of characters, and short ones of many.
        kinds = draw.sample(PIECES, draw.randint(1, 4)) if number % 2 else PIECES
        text = "".join(
            " " if draw.random() < spaces else draw.choice(kinds)
            for _ in range(draw.randint(1, 700))
        )
        parts = []
        while text[sum(map(len, parts)) :]:
            begin = sum(map(len, parts))
            parts.append(text[begin : begin + draw.randint(1, 60)])
        expected = reference.encode(text, add_special_tokens=False).ids

        assert expected == list(chain.from_iterable(ours.encode_stream(parts)))


def test_added_tokens_with_spaces(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where white space is no place to split, the ends of words are."""
    monkeypatch.setattr(tokenizer, "LONGEST_HELD", 8)
    plain = tokenizer_of(["a", "##a", "b", "-"])
    ours = replace(plain, added={**plain.added, 9: "a b"}, vocab_size=10)
    draw = random.Random(1)
    for _ in range(300):
        text = "".join(draw.choice(("a", "b", " ", "a b", "-")) for _ in range(40))
        expected = ours.encode(text)

        assert expected == list(chain.from_iterable(ours.encode_stream(text)))


def test_an_endless_word_is_not_held() -> None:
    """What stands for it is as long as the limit and the longest added token."""
    ours = tokenizer_of(["a", "##a"])
    assert ours.normalizer is not None
    splitter = StreamSplitter(ours.normalizer.spaced, None, ("[SEP]",), ours.max_chars)
    held = ""
    for _ in range(100):
        ready, held = splitter.settled(held + "a" * 1_000)
        assert ("", 106) == (ready, len(held))
    assert [0] == ours.encode(held)


def test_endless_dropped_characters_are_not_held() -> None:
    """A word between characters that the normalizer drops stays known."""
    ours = tokenizer_of(["a", "##a"])
    assert ours.normalizer is not None
    splitter = StreamSplitter(ours.normalizer.spaced, None, ("[SEP]",), ours.max_chars)
    held = "a\0a"
    for _ in range(10):
        ready, held = splitter.settled(held + "\0" * 1_000)
        assert "" == ready
        assert len(held) < 20
    assert [2, 3] == ours.encode(held)


def test_the_command(tmp_path: Path) -> None:
    """A file without white space gives the ids of its text."""
    (tmp_path / "vocab.txt").write_text("[UNK]\n[SEP]\na\n##a\n-\n", encoding="utf-8")
    text = "a" * 300_000 + "[SEP]" + "a-" * 150_000 + "aa"
    result = constrain("tokenize", "--file", "-", "-f", "ids", "-t", "vocab.txt",
                       stdin=text.encode(), folder=tmp_path)  # fmt: skip

    assert [0, 1, *[2, 4] * 150_000, 2, 3] == [int(line) for line in result.stdout.split()]
