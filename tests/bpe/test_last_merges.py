"""The last merge of each token's own text, found for all at once, against encoding each text."""

import random
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from support.merge import MergeList

from constrain.compiler.bpe.derivations import derive, spelled
from constrain.compiler.bpe.last_merges import last_merges
from constrain.compiler.tokenizers import load_tokenizer

FEW, MANY = 400, 20_000


def made_up(rng: random.Random) -> tuple[list[str], list[tuple[int, int, int]]]:
    """Texts by token, letters first, and merges in some order: all that make a text, or some."""
    letters = "abc"[: rng.randint(1, 3)]
    texts = [*letters]
    for _ in range(rng.randint(1, 12)):
        text = rng.choice(texts) + rng.choice(texts)
        if text not in texts and len(text) <= 9:
            texts.append(text)
    number = {text: token for token, text in enumerate(texts)}
    merges = [
        (number[text[:cut]], number[text[cut:]], number[text])
        for text in texts
        for cut in range(1, len(text))
        if text[:cut] in number and text[cut:] in number
    ]
    if rng.random() < 0.5:
        merges.sort(key=lambda merge: (len(texts[merge[2]]), rng.random()))
    else:
        rng.shuffle(merges)
    if rng.random() < 0.5:
        merges = [merge for merge in merges if rng.random() < 0.8]
    if merges and rng.random() < 0.2:
        merges.append(rng.choice(merges))
    return texts, merges


@pytest.mark.quick
def test_last_merges_are_those_of_encoding_each_text(full: bool) -> None:
    """Random lists, most of which make parts after what they are parts of."""
    rng, made, count = random.Random(7), 0, MANY if full else FEW
    for _ in range(count):
        texts, merges = made_up(rng)
        rows = np.array(merges, dtype=np.int32).reshape(-1, 3)
        listed, number = MergeList(rows), {text: token for token, text in enumerate(texts)}

        def one_by_one(token: int) -> int:
            ids, last = listed.encode([number[letter] for letter in texts[token]])  # noqa: B023
            return last if ids == [token] else -1

        def never(token: int) -> int:
            raise AssertionError(texts[token])  # noqa: B023

        lengths = np.array([len(text) for text in texts], dtype=np.int64)
        letters = np.flatnonzero(lengths == 1)
        found = last_merges(lengths, letters, rows, never).merge.tolist()
        expected = [-1 if len(text) == 1 else one_by_one(i) for i, text in enumerate(texts)]
        assert found == expected, (texts, merges)
        made += sum(rank >= 0 for rank in found)
    assert made > 3 * count


def test_last_merges_of_real_tokenizers(data: Callable[[str], Path], full: bool) -> None:
    """A list in order, and one in which many merges make one token."""
    for name in ("tokenizers/qwen2_5", "tokenizers/mistral_nemo"):
        tokenizer = load_tokenizer(data(f"{name}/tokenizer.json"))
        letters = spelled(tokenizer)
        found, listed = derive(letters, tokenizer.merges), MergeList(tokenizer.merges)
        made = {t: (a, b) for a, b, t in found.merges.tolist()}
        asked = [token for token, text in letters.items() if len(text) > 1]
        asked = asked if full else random.Random(3).sample(asked, 3000)
        for token in asked:
            ids, last = listed.encode(letters[token])
            if ids == [token]:
                assert made[token] == tuple(tokenizer.merges[last, :2].tolist())
            else:
                assert token in found.unreachable
