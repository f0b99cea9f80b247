"""Unigram models of tokenizer.json: ids of Hugging Face's library, and masks of any tokens."""

# Tests here say `expected == actual`.
# ruff: noqa: SIM300

import json
import random
from base64 import b64encode
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import pytest
import tokenizers
from support import written
from support.cli import Cli
from support.corpus.models import begun_at, finite, model, spellings_checked, texts
from tokenizers import Regex, normalizers, pre_tokenizers

from constrain.compiler import Tokenizer, WeakerMasksWarning, compile_grammar, load_tokenizer
from constrain.compiler.diagnostics import ConstrainError, TokenizerError
from constrain.compiler.files.cache import Cache
from constrain.compiler.tokenizers.definition import Definition, Unigram
from constrain.compiler.tokenizers.encoding.charsmap import CharsMap
from constrain.compiler.tokenizers.encoding.viterbi import Viterbi
from constrain.compiler.tokenizers.sentencepiece import read_pieces

STEPS: dict[str, tuple[Any, Any]] = {
    "t5": (None, [pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace()]),
    "xlm-r": ([normalizers.Replace(Regex(" {2,}"), " ")], [pre_tokenizers.Metaspace()]),
    "albert": (
        [normalizers.NFKD(), normalizers.StripAccents(), normalizers.Lowercase()],
        [pre_tokenizers.Metaspace()],
    ),
    "mbart": ([normalizers.Strip(left=False)], [pre_tokenizers.Metaspace("▁", "first", False)]),
    "none": ([], []),
}


def library(name: str, *, fallback: bool) -> tokenizers.Tokenizer:
    """The pieces of a trained model as Hugging Face's library has them, with a model's steps."""
    pieces = read_pieces(model("unigram"))
    vocab = list(zip(pieces.texts, pieces.scores, strict=True))
    vocab += [(f"<0x{octet:02X}>", 0.0) for octet in range(256) if fallback]
    found = tokenizers.Tokenizer(tokenizers.models.Unigram(vocab, 0, byte_fallback=fallback))
    rewriting, splitting = STEPS[name]
    table = [normalizers.Precompiled(pieces.charsmap)]
    found.normalizer = normalizers.Sequence(table + (rewriting or []))
    found.pre_tokenizer = pre_tokenizers.Sequence(splitting)
    found.add_special_tokens([tokenizers.AddedToken("</s>", normalized=False)])
    return found


@pytest.mark.parametrize("fallback", [False, True])
@pytest.mark.parametrize("name", STEPS)
def test_ids_are_those_of_the_library(name: str, fallback: bool, full: bool) -> None:
    """Of each kind of model, with and without byte fallback."""
    reference = library(name, fallback=fallback)
    tokenizer = load_tokenizer(reference, cache=None)
    for text in texts(10_000 if full else 200, seed=7):
        assert reference.encode(text, add_special_tokens=False).ids == tokenizer.encode(text), text


def test_ids_are_those_of_the_library_on_real_texts(data: Callable[[str], Path]) -> None:
    """In 89 languages."""
    reference = library("t5", fallback=True)
    tokenizer = load_tokenizer(reference, cache=None)
    rows = data("tokenizers/gpt2/vectors.jsonl").read_text(encoding="utf-8").splitlines()
    for text in (json.loads(row)["text"] for row in rows):
        assert reference.encode(text, add_special_tokens=False).ids == tokenizer.encode(text)


def test_the_best_division_is_the_best_of_all(full: bool) -> None:
    """Against all divisions of short texts, with scores whose sums are exact."""
    rng = random.Random(3)
    for _ in range(2_000 if full else 200):
        pieces = {"".join(rng.choices("abc", k=rng.randint(1, 4))) for _ in range(9)}
        scores = {piece: float(-rng.randint(1, 40)) for piece in sorted(pieces)}
        ids = {piece: i for i, piece in enumerate(scores, start=1)}
        found = _viterbi(ids, list(scores.values()), -60.0)
        text = "".join(rng.choices("abcd", k=rng.randint(1, 8)))
        best = max(_all_scores(text, scores, -60.0))
        parts = found._best(text)
        assert text == "".join(part for _, part in parts)
        assert best == sum(scores[part] if i else -60.0 for i, part in parts)


def _viterbi(ids: dict[str, int], scores: list[float], unknown: float) -> Viterbi:
    import numpy as np

    chosen = Unigram(ids, np.array(scores), unknown, is_single=False)
    size = max(ids.values()) + 1
    empty = np.zeros((0, 3), np.int32)
    return Viterbi(Definition("", "", {}, (), empty, [-1] * 256, (), size, unk=0), chosen)


def _all_scores(text: str, scores: dict[str, float], unknown: float) -> list[float]:
    if not text:
        return [0.0]
    found = []
    for end in range(1, len(text) + 1):
        score = scores.get(text[:end], unknown if end == 1 else None)
        if score is not None:
            found += [score + rest for rest in _all_scores(text[end:], scores, unknown)]
    return found


def test_masks_of_any_tokens_are_those_that_spell_members(full: bool) -> None:
    """Against all tokens, of random grammars."""
    rng = random.Random(5)
    tokenizer = load_tokenizer(library("t5", fallback=True), cache=None)
    assert isinstance(tokenizer, Tokenizer)
    counts = [spellings_checked(rng, tokenizer, 3) for _ in range(200 if full else 6)]
    assert sum(counts) > 3 * len(counts)


def test_canonical_masks_are_refused_by_name(cli: Cli, tmp_path: Path) -> None:
    """Where they are asked for; else any tokens are allowed, and a note says why."""
    path = tmp_path / "tokenizer.json"
    path.write_text(library("t5", fallback=False).to_str(), encoding="utf-8")
    grammar, out = tmp_path / "g.gbnf", str(tmp_path / "g.cst")
    grammar.write_text(finite(random.Random(1))[0], encoding="utf-8")
    arguments = ("compile", str(grammar), "-t", str(path), "-o", out, "--no-cache")
    refused = cli(*arguments, "--tokenization", "canonical")
    assert 2 == refused.code
    assert "its model is Unigram" in refused.err and "use --tokenization any" in refused.err
    told = cli(*arguments)
    assert 0 == told.code
    assert "any token sequence that spells a member is allowed" in told.err
    assert 0 == cli(*arguments, "--tokenization", "any").code
    nests = 'root ::= "(" root ")" | "a"'
    with pytest.warns(WeakerMasksWarning, match="its model is Unigram"):
        artifact = compile_grammar(
            nests, dialect="gbnf", tokenizer=load_tokenizer(path, cache=None), cache=None
        )
    assert "any" == artifact.manifest.tokenization


def test_it_comes_back_from_the_cache(tmp_path: Path) -> None:
    """The same ids and the same masks."""
    file = tmp_path / "tokenizer.json"
    file.write_text(library("albert", fallback=True).to_str(), encoding="utf-8")
    first = load_tokenizer(file, cache=Cache(tmp_path / "cache"))
    again = load_tokenizer(file, cache=Cache(tmp_path / "cache"))
    plain = load_tokenizer(file, cache=None)
    for text in texts(50, seed=9):
        assert plain.encode(text) == first.encode(text) == again.encode(text)


MODEL = {"type": "Unigram", "unk_id": 0, "vocab": [["<unk>", 0.0], ["a", -1.0]]}


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"unk_id": None}, "no unk_id"),
        ({"unk_id": 2}, "no unk_id"),
        ({"vocab": [["<unk>", 0.0]]}, "no token of one"),
        ({"vocab": [["a", float("nan")]]}, "no numbers"),
        ({"vocab": [["a"]]}, "not a valid tokenizer"),
        ({"byte_fallback": True}, "<0x00> is missing"),
    ],
)
def test_models_that_are_not_understood(
    tmp_path: Path, changes: dict[str, Any], named: str
) -> None:
    """Refused by name."""
    path = written(tmp_path, {"model": MODEL | changes})
    with pytest.raises(TokenizerError, match=named):
        load_tokenizer(path)
    accents = {"type": "StripAccents"}
    first = {"type": "Metaspace", "prepend_scheme": "first"}
    steps = {"model": MODEL, "normalizer": accents, "pre_tokenizer": first}
    with pytest.raises(TokenizerError, match="'first' is not supported with 'StripAccents'"):
        load_tokenizer(written(tmp_path, steps))
    levels = {"model": MODEL, "pre_tokenizer": {"type": "ByteLevel"}}
    with pytest.raises(TokenizerError, match="not supported with 'ByteLevel'"):
        load_tokenizer(written(tmp_path, levels))


def test_damaged_tables_of_replacements_are_refused_or_read(full: bool) -> None:
    """Whatever bytes are changed."""
    rng = random.Random(8)
    raw = read_pieces(model("unigram")).charsmap
    words = ["".join(parts) for parts in product("ﬁé①a ", repeat=3)]
    refused = 0
    for changed in begun_at(rng, raw, 500 if full else 60):
        try:
            table = CharsMap(changed)
        except TokenizerError:
            refused += 1
            continue
        for word in rng.sample(words, 5):
            assert isinstance(table.by_longest(word, None) + table.by_graphemes(word), str)
    assert refused
    for bad in ("?", b64encode(b"").decode(), b64encode(bytes(9)).decode()):
        step = {"type": "Precompiled", "precompiled_charsmap": bad}
        with pytest.raises(ConstrainError, match="precompiled_charsmap"):
            load_tokenizer(_host(step))


def _host(step: dict[str, Any]) -> object:
    class Host:
        """An object that writes itself as a tokenizer.json."""

        def to_str(self) -> str:
            """The content."""
            return json.dumps({"model": MODEL, "normalizer": step})

    return Host()
