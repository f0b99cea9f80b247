"""The tables that encoding many pre-tokens at once looks into."""

import json
import random
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import tokenizers
from support.library_steps import character_model, random_text

from constrain.compiler import load_tokenizer
from constrain.compiler.tokenizers.encoding.bpe import PairRanks
from constrain.compiler.tokenizers.encoding.seams import Seams

pytestmark = pytest.mark.quick


def test_ranks_of_pairs(full: bool) -> None:
    """All pairs of few symbols, none (-1) among them: as in a dictionary, the last merge counts."""
    rng = random.Random(11)
    for _ in range(500 if full else 50):
        ids = rng.sample(range(200_000), rng.randrange(1, 24))
        pairs = [(rng.choice(ids), rng.choice(ids)) for _ in range(rng.randrange(len(ids) ** 2))]
        merges = np.array([(*pair, 0) for pair in pairs], dtype=np.int32).reshape(-1, 3)
        ranks = {pair: rank for rank, pair in enumerate(pairs)}
        pairs_of_ids = [(a, b) for a in (-1, *ids) for b in (-1, *ids)]
        left, right = np.array(pairs_of_ids, dtype=np.int64).T
        table = PairRanks(merges)
        expected = [ranks.get(pair, len(pairs)) for pair in pairs_of_ids]
        assert expected == table.of(left, right).tolist()
        assert table.none == len(pairs)
        assert table.of(left[:0], right[:0]).tolist() == []


def test_seams_are_where_no_merge_bridges(tmp_path: Path, full: bool) -> None:
    """Between two characters, NUL among them, that are not around the inner edge of a merge."""
    model = character_model(byte_fallback=True)
    tokenizers.Tokenizer(model).save(str(tmp_path / "tokenizer.json"))
    read = json.loads((tmp_path / "tokenizer.json").read_text(encoding="utf-8"))
    edges = {(left[-1], right[0]) for left, right in read["model"]["merges"]}
    seams = Seams(load_tokenizer(tmp_path))
    rng = random.Random(12)
    for _ in range(5000 if full else 500):
        text = random_text(rng) + rng.choice(["", "a", "\x00", "\x00b\x00\x00ab"])
        expected = [text[:1]]
        for before, char in pairwise(text):
            if (before, char) in edges:
                expected[-1] += char
            else:
                expected.append(char)
        assert expected == seams.pieces(text)
