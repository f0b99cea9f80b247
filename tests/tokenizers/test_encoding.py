"""Encoding: fast methods against slow ones, and texts in parts against whole ones."""

import json
import random
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import pairwise, product
from pathlib import Path

import numpy as np
import pytest
import tokenizers
from support import constrain, tokenizer_json, written
from support.library_steps import (
    CL100K,
    CUTS,
    METASPACES,
    NORMALIZERS,
    byte_model,
    character_model,
    random_text,
)

from constrain.compiler import Tokenizer, load_tokenizer
from constrain.compiler.tokenizers.definition import BYTE_LEVEL_PATTERN, AddedToken
from constrain.compiler.tokenizers.encoding import encode, stream
from constrain.compiler.tokenizers.encoding.bpe import Bpe, RowMerges
from constrain.compiler.tokenizers.encoding.patterns import compile_pattern
from constrain.compiler.tokenizers.encoding.stream import Adjacency, stream_parts
from constrain.compiler.wordpiece import cached_ids

REAL = ["gpt2", "cl100k_base", "qwen2_5", "mistral_nemo", "mistral-v3"]


def merged_naively(merges: list[tuple[int, int, int]], ids: list[int]) -> list[int]:
    """The first merge of the list that is possible, leftmost, again and again."""
    while True:
        for left, right, result in merges:
            if (left, right) in (pairs := list(pairwise(ids))):
                place = pairs.index((left, right))
                ids = [*ids[:place], result, *ids[place + 2 :]]
                break
        else:
            return ids


def test_all_ways_of_merging(full: bool) -> None:
    """Random merge lists, proper or not: the short way, the heap, the rows and the definition."""
    rng = random.Random(3)
    for _ in range(2000 if full else 100):
        texts = {bytes([c]): i for i, c in enumerate(b"abc")}
        merges = []
        for _ in range(rng.randrange(1, 9)):
            left, right = rng.choices(list(texts), k=2)
            result = texts.setdefault(left + right, len(texts))
            if (texts[left], texts[right]) not in [merge[:2] for merge in merges]:
                merges.append((texts[left], texts[right], result))
        rng.shuffle(merges)
        bpe = Bpe(np.array(merges, dtype=np.int32))
        rows = [[rng.randrange(3) for _ in range(rng.randrange(1, 14))] for _ in range(40)]
        expected = [merged_naively(merges, ids) for ids in rows]
        assert expected == [bpe.merge_via_heap(list(ids)) for ids in rows]
        assert expected == [bpe.merge(list(ids)) for ids in rows]
        lengths = np.array(list(map(len, rows)), dtype=np.int64)
        together = np.array([i for ids in rows for i in ids], dtype=np.int64)
        by_rows = RowMerges(np.array(merges, dtype=np.int32), bpe.merge)
        assert expected == by_rows.merged(together, lengths)
    assert bpe.merge([]) == bpe.merge_via_heap([]) == []
    assert by_rows.merged(together[:0], lengths[:0]) == []


@pytest.mark.parametrize("name", [*REAL, "tiny-bpe-300"])
def test_many_pieces_at_once(
    data: Callable[[str], Path], real: Callable[[str], Tokenizer], full: bool, name: str
) -> None:
    """Pre-tokens of real and random texts have the ids that each has alone; long ones too."""
    encoder = real(name).encoder
    rng = random.Random(10)
    files = sorted(data("text/udhr").iterdir())
    texts = [file.read_text(encoding="utf-8") for file in (files if full else files[4::18])]
    texts += [random_text(rng) for _ in range(1000)] + ["x" * 31, "x" * 32, "x" * 33, "é" * 80]
    parts = [part for text in texts for part in encoder.parts(text) if isinstance(part, list)]
    pieces = sorted({piece for part in parts for piece in part})
    found = dict(encoder.model.ids_of(pieces))
    assert {piece: encoder.model.ids(piece) for piece in pieces} == found


def test_bytes_that_the_vocabulary_lacks() -> None:
    """Pre-tokens with them are not for rows: they are encoded, or left out, as they are alone."""
    tokenizer = Tokenizer(
        name="few",
        sha256="0" * 64,
        tokens={0: b"a", 1: b"b", 2: b"ab"},
        added_tokens=(),
        merges=np.array([[0, 1, 2]], dtype=np.int32),
        base=[b"ab".find(bytes([octet])) for octet in range(256)],
        eos=(),
        vocab_size=3,
    )
    pieces = ["".join(letters) for n in range(1, 5) for letters in product("abc", repeat=n)]
    found = dict(tokenizer.encoder.model.ids_of(pieces))
    assert {piece: tokenizer.encoder.model.ids(piece) for piece in pieces} == found
    assert found["abab"] == [2, 2]
    assert found["acb"] == [2]


def test_cached_pre_tokens_are_bounded(
    default_tokenizer: Tokenizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever is cached and evicted, the ids are the same."""
    tokenizer = replace(default_tokenizer)
    texts = [" ".join(map(str, range(start, start + 300))) for start in range(0, 1500, 100)]
    expected = [tokenizer.encode(text) for text in texts]
    monkeypatch.setattr(encode, "MOST_CACHED", 100)
    monkeypatch.setattr(cached_ids, "MOST_CACHED", 100)
    fresh = replace(default_tokenizer)
    assert expected == [fresh.encode(text) for text in texts]
    assert len(fresh.encoder._ids) <= 200


@pytest.mark.parametrize("name", REAL)
def test_real_texts(
    data: Callable[[str], Path], real: Callable[[str], Tokenizer], full: bool, name: str
) -> None:
    """As the library encodes it: the declaration in many languages, and random text."""
    path = data(f"tokenizers/{name}/tokenizer.json")
    tokenizer, reference = real(name), tokenizers.Tokenizer.from_file(str(path))
    files = sorted(data("text/udhr").iterdir())
    rng = random.Random(5)
    texts = [file.read_text(encoding="utf-8") for file in (files if full else files[::9])]
    texts += [random_text(rng) for _ in range(20_000 if full else 84)]
    # Programs, with their indentation.
    texts += [
        file.read_text(encoding="utf-8")
        for file in sorted(Path(__file__).parent.glob("test_l*.py"))
    ]
    names = {token.content for token in tokenizer.added_tokens}
    for text in texts:
        # The library renumbers where added tokens leave holes between the ids.
        if not any(found in text for found in names):
            expected = reference.encode(text, add_special_tokens=False).ids
            assert (text[:200], expected) == (text[:200], tokenizer.encode(text))


def in_chunks(rng: random.Random, text: str) -> Iterator[str]:
    """A text in parts of any size."""
    while text:
        size = rng.randrange(1, 400)
        yield text[:size]
        text = text[size:]


def streamed(tokenizer: Tokenizer, chunks: Iterator[str]) -> tuple[list[int], int]:
    """Ids by way of the stream, and the characters of its longest stretch."""
    ids, longest = [], 0
    for part in stream_parts(tokenizer.encoder, chunks):
        if isinstance(part, AddedToken):
            ids.append(part.id)
        else:
            ids += [i for piece in part for i in tokenizer.encoder.ids_of(piece)]
            longest = max(longest, sum(map(len, part)))
    return ids, longest


@pytest.mark.parametrize("name", REAL)
def test_streams_of_real_texts(
    data: Callable[[str], Path],
    real: Callable[[str], Tokenizer],
    full: bool,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
) -> None:
    """In parts of any size, the ids are those of the whole; no stretch is long."""
    monkeypatch.setattr(stream, "CHUNK", 600)
    tokenizer = real(name)
    rng = random.Random(6)
    files = sorted(data("text/udhr").iterdir())
    for file in files if full else files[::11]:
        text = file.read_text(encoding="utf-8").replace("e", "<s>", 3).replace("a", "<|x|>", 3)
        ids, longest = streamed(tokenizer, in_chunks(rng, text))
        assert tokenizer.encode(text) == ids
        assert longest < 4000


@pytest.mark.parametrize("name", ["default", "tiny-bpe-300", "mistral-v3"])
def test_streams_of_random_texts(
    request: pytest.FixtureRequest,
    full: bool,
    default_tokenizer: Tokenizer,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
) -> None:
    """Whatever stands where the text is split, it changes nothing."""
    monkeypatch.setattr(stream, "CHUNK", 1)
    tokenizer = default_tokenizer
    if name != "default":
        tokenizer = request.getfixturevalue("real")(name)
    rng = random.Random(7)
    for _ in range(10_000 if full else 300):
        text = random_text(rng) + rng.choice(["", " ", "\n", "\na"]) + random_text(rng)
        ids, _ = streamed(tokenizer, iter(text))
        assert tokenizer.encode(text) == ids, text


@pytest.mark.parametrize("name", [*CUTS, *METASPACES, *NORMALIZERS])
def test_streams_of_every_step(
    tmp_path: Path, full: bool, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """Steps put something before a text once; steps that look far prevent splitting it."""
    monkeypatch.setattr(stream, "CHUNK", 1)
    reference = tokenizers.Tokenizer(byte_model() if name in CUTS else character_model())
    reference.pre_tokenizer = CUTS.get(name) or METASPACES.get(name)
    if name in NORMALIZERS:
        reference = tokenizers.Tokenizer(character_model(byte_fallback=True))
        reference.normalizer = NORMALIZERS[name]
    reference.add_special_tokens([tokenizers.AddedToken("<x>", normalized=False)])
    (tmp_path / "tokenizer.json").write_text(reference.to_str(), encoding="utf-8")
    tokenizer = load_tokenizer(tmp_path)
    rng = random.Random(9)
    for _ in range(4000 if full else 45):
        text = random_text(rng) + rng.choice(["", " ", "\n", "\na", "a a"]) + random_text(rng)
        ids, _ = streamed(tokenizer, iter(text))
        assert tokenizer.encode(text) == ids, text


@pytest.mark.parametrize(
    "pattern",
    [
        BYTE_LEVEL_PATTERN,
        CL100K,
        r"a{2}b{0,2}c|(?:b|ac?)+a",
        r"(?i:A|b)?c(?!b)",
        r"[ab]*c?a+|b",
        r"c(?=a)(?:a|b)",
    ],
)
def test_pairs_inside_matches(pattern: str) -> None:
    """Whatever matches hold two neighbours, the positions of the pattern know that they may."""
    adjacency, compiled = Adjacency(pattern), compile_pattern(pattern)
    alphabet = "abc" if len(pattern) < 30 else "a1 \n'"
    held: set[tuple[str, str]] = set()
    for letters in product(alphabet, repeat=6):
        for match in compiled.finditer("".join(letters)):
            held |= set(pairwise(match.group()))
    assert held
    may = {pair for pair in product(alphabet, repeat=2) if adjacency.may_hold(*pair)}
    assert held <= may
    assert not adjacency.looks_far
    assert may != set(product(alphabet, repeat=2))


def test_far_looks_are_known() -> None:
    """A look behind, or at more than one character ahead, is never safe to split at."""
    for pattern in (r"(?<!a)b", r"(?<=a)b", r"a(?!bc)", r"a(?=b+)"):
        assert Adjacency(pattern).may_hold("x", "y")


def test_tokenize_command(tmp_path: Path) -> None:
    """Ids, token texts and added tokens, in all formats, from an argument and from a file."""
    content = tokenizer_json("ab \u00e9", ["a b"], added=[(9, "<e>", True)], splits=True)
    path = str(written(tmp_path, content))
    rows = ['5 | "ab"', '0   "a"', '9 + "<e>"', '2 | " "', r'3   "\xc3"', r'4   "\xa9"']
    table = "".join(f"      {row}\n" for row in rows).encode()
    text = "aba<e> \u00e9"
    assert table == constrain("tokenize", text, "-t", path).stdout
    done = constrain("tokenize", "--file", "-", "-t", path, "-f", "ids", stdin=text.encode())
    assert done.stdout == b"5\n0\n9\n2\n3\n4\n"
    (tmp_path / "text").write_bytes(text.encode())
    found = constrain("tokenize", "--file", str(tmp_path / "text"), "-t", path, "-f", "json")
    tokens = json.loads(found.stdout)["tokens"]
    assert [(token["id"], token["piece"]) for token in tokens] == [
        (5, 0), (0, 0), (9, None), (2, 1), (3, 1), (4, 1)
    ]  # fmt: skip
    assert json.loads(constrain("tokenize", "", "-t", path, "-f", "json").stdout)["tokens"] == []


@pytest.mark.parametrize(
    ("arguments", "stdin", "said"),
    [
        ([], b"", "give either"),
        (["a", "--file", "-"], b"", "give either"),
        (["--file", "none"], b"", "No such file"),
        (["--file", "-"], b"ab\n\xff", "byte 3 (0xFF) is not UTF-8"),
        (["--file", "-"], b"ab\xe2\x82", "byte 2 (0xE2) is not UTF-8"),
        (["a", "-t", "none.json"], b"", "none.json: No such file"),
    ],
)
def test_tokenize_refuses(arguments: list[str], stdin: bytes, said: str) -> None:
    """Unusable input ends with code 2 and says why."""
    done = constrain("tokenize", *arguments, stdin=stdin)
    assert (done.returncode, done.stdout) == (2, b"")
    assert said in done.stderr.decode()
