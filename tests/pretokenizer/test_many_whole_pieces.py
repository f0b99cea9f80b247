"""A tokenizer of 20,000 tokens, half of them of whole pre-tokens: masks against the library."""

import random
import re
from pathlib import Path

import numpy as np
import pytest
import tokenizers
from support import written
from support.corpus.encodings import check_masks, following
from support.corpus.whole_pieces import whole_piece_model
from support.limits import measured

from constrain.artifacts.tokens import tokenset
from constrain.compiler import compile_grammar, load_tokenizer

SIZE = 20_000
PATTERNS = [r'"[^"\\]{0,30}"', ".{1,30}", ".*", "[a-zA-Z ]{1,200}"]


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Its ``tokenizer.json``."""
    folder = tmp_path_factory.mktemp("whole")
    return written(folder, whole_piece_model(7, SIZE, whole=SIZE // 2))


def test_masks_are_those_of_all_encodings_of_a_finite_language(path: Path) -> None:
    """Words of the vocabulary, parts of them and more than them, one behind another."""
    library, rng = tokenizers.Tokenizer.from_file(str(path)), random.Random(3)
    tokenizer = load_tokenizer(path)
    words = [octets.decode() for octets in tokenizer.tokens.values() if octets.isascii()]
    chosen = rng.sample([word for word in words if len(word.strip()) > 5], 24)
    parts = [word[: rng.randint(2, len(word))] for word in chosen]
    first = sorted({*chosen, *parts, *(word + "s" for word in chosen)})
    second = sorted({"", *rng.sample(first, 30)})
    texts = sorted({a + b for a in first for b in second})
    one, two = ("|".join(map(re.escape, found)) for found in (first, second))

    artifact = compile_grammar(f"({one})({two})", dialect="regex", tokenizer=tokenizer)

    encodings = [library.encode(text).ids for text in texts]
    whole = set(artifact.arrays["cuts.whole"].tolist())
    assert sum(not whole.isdisjoint(ids) for ids in encodings) > 100
    check_masks(artifact.matcher(), following(encodings, [SIZE - 1]))


@pytest.mark.parametrize("pattern", PATTERNS[2:])
def test_walks_by_masks_alone_are_encodings(path: Path, pattern: str) -> None:
    """Whatever masks allow up to the end of a text is the library's encoding of it."""
    library, rng = tokenizers.Tokenizer.from_file(str(path)), random.Random(4)
    artifact = compile_grammar(pattern, dialect="regex", tokenizer=load_tokenizer(path))
    ended = 0
    for _ in range(12):
        matcher, ids = artifact.matcher(), list[int]()
        for _ in range(25):
            allowed = tokenset.to_ids(matcher.mask())
            assert len(allowed)
            if SIZE - 1 in allowed and len(ids) > 8:
                text = b"".join(artifact.vocabulary.token(token) for token in ids).decode()
                assert library.encode(text).ids == ids
                ended += 1
            if list(allowed) == [SIZE - 1]:
                break
            token = int(rng.choice(allowed[np.flatnonzero(allowed != SIZE - 1)]))
            matcher.advance(token)
            ids.append(token)
    assert ended > 20


@pytest.mark.sampled("pattern", PATTERNS[1:2], PATTERNS)
def test_long_repetitions_have_canonical_masks(path: Path, tmp_path: Path, pattern: str) -> None:
    """By default, in seconds, with little memory: no automaton of all the texts is built."""
    grammar = tmp_path / "g.regex"
    grammar.write_text(pattern, encoding="utf-8")

    found = measured("compile", grammar, "-t", path, "-o", tmp_path / "g.cst")

    assert found.code == 0, found.stderr
    found.check(seconds=30, memory=500_000_000)
