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
from constrain.compiler import CompileOptions, Compiler, compile_grammar, load_tokenizer
from constrain.compiler.diagnostics import LimitError
from constrain.compiler.limits import Limits

# Tokens of the vocabulary, of which half are whole pre-tokens: with --full, and without.
SIZE, FEWER = 20_000, 2_000
PATTERNS = [r'"[^"\\]{0,5}"', ".{1,3}", ".*", "[a-zA-Z ]{1,30}"]


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory, full: bool) -> Path:
    """Its ``tokenizer.json``."""
    folder, size = tmp_path_factory.mktemp("whole"), SIZE if full else FEWER
    return written(folder, whole_piece_model(7, size, whole=size // 2))


@pytest.fixture(scope="module")
def fewer(tmp_path_factory: pytest.TempPathFactory, full: bool) -> Path:
    """That of one with fewer such tokens, with --full 4,554."""
    folder, size = tmp_path_factory.mktemp("fewer"), SIZE if full else FEWER
    return written(folder, whole_piece_model(7, size, whole=100))


def test_masks_are_those_of_all_encodings_of_a_finite_language(path: Path, full: bool) -> None:
    """Words of the vocabulary, parts of them and more than them, one after another."""
    library, rng = tokenizers.Tokenizer.from_file(str(path)), random.Random(3)
    tokenizer = load_tokenizer(path)
    words = [octets.decode() for octets in tokenizer.tokens.values() if octets.isascii()]
    chosen = rng.sample([word for word in words if len(word.strip()) > 5], 24 if full else 10)
    parts = [word[: rng.randint(2, len(word))] for word in chosen]
    first = sorted({*chosen, *parts, *(word + "s" for word in chosen)})
    second = sorted({"", *rng.sample(first, 30 if full else 12)})
    texts = sorted({a + b for a in first for b in second})
    one, two = ("|".join(map(re.escape, found)) for found in (first, second))

    artifact = compile_grammar(f"({one})({two})", dialect="regex", tokenizer=tokenizer)

    encodings = [library.encode(text).ids for text in texts]
    whole = set(artifact.arrays["cuts.whole"].tolist())
    assert sum(not whole.isdisjoint(ids) for ids in encodings) > 100
    check_masks(artifact.matcher(), following(encodings, [tokenizer.vocab_size - 1]))


@pytest.mark.sampled("pattern", PATTERNS[3:], PATTERNS[2:])
def test_walks_by_masks_alone_are_encodings(fewer: Path, pattern: str, full: bool) -> None:
    """Whatever masks allow up to the end of a text is the library's encoding of it."""
    library, rng = tokenizers.Tokenizer.from_file(str(fewer)), random.Random(4)
    tokenizer = load_tokenizer(fewer)
    artifact, end = compile_grammar(pattern, dialect="regex", tokenizer=tokenizer), tokenizer.eos[0]
    assert artifact.is_canonical
    ended = 0
    for _ in range(12 if full else 5):
        matcher, ids = artifact.matcher(), list[int]()
        for _ in range(25):
            allowed = tokenset.to_ids(matcher.mask())
            assert len(allowed)
            if end in allowed and len(ids) > 3:
                text = b"".join(artifact.vocabulary.token(token) for token in ids).decode()
                assert library.encode(text).ids == ids
                ended += 1
            if list(allowed) == [end]:
                break
            token = int(rng.choice(allowed[np.flatnonzero(allowed != end)]))
            matcher.advance(token)
            ids.append(token)
    assert ended > (20 if full else 8)


@pytest.mark.sampled("pattern", PATTERNS[1:2], PATTERNS)
def test_repetitions_have_canonical_masks(fewer: Path, tmp_path: Path, pattern: str) -> None:
    """By default, in seconds."""
    grammar = tmp_path / "g.regex"
    grammar.write_text(pattern, encoding="utf-8")

    found = measured("compile", grammar, "-t", fewer, "-o", tmp_path / "g.cst")

    assert found.code == 0, found.stderr
    found.check(seconds=30)


def test_what_takes_much_has_canonical_masks_within_less_memory(path: Path) -> None:
    """Precomputing alone is given up; what does not fit is an error that names it."""
    tokenizer = load_tokenizer(path)
    compiler = Compiler(tokenizer, options=CompileOptions(dialect="regex"))
    # Makes the tokenizer's tables, once.
    compiler.compile("a")
    artifact = compiler.compile("[a-zA-Z ]{1,200}", limits=Limits(memory=600_000_000))
    assert artifact.is_canonical
    matcher = artifact.matcher()
    for token in tokenizer.encode("a few words"):
        assert tokenset.contains(matcher.mask(), token)
        matcher.advance(token)
    with pytest.raises(LimitError, match="needs more than 100,000 bytes"):
        compiler.compile("[a-zA-Z ]{1,200}", engine="dfa", limits=Limits(memory=100_000))
