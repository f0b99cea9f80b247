"""Vocabularies with gaps: byte tokens that are missing, an end of text that no file names."""

# Tests here say `expected == actual`.

import json
import random
from collections import defaultdict
from itertools import product
from pathlib import Path

import numpy as np
import pytest
import tokenizers
from support import tokenizer_json, tokenizer_of, written
from support.cli import Cli
from support.library_steps import bpe

from constrain.artifacts.tokens import tokenset
from constrain.compiler import Tokenizer, compile_grammar, load_tokenizer
from constrain.compiler.diagnostics import TokenizerError
from constrain.compiler.options import eos_ids

pytestmark = pytest.mark.quick


def gemma(folder: Path, *, missing: str = "<0x09>", tab: bool = True) -> Path:
    """A vocabulary as Gemma 2 has it: byte tokens but for one, the tab as a token of its own."""
    vocab = {"<eos>": 0, **{f"<0x{octet:02X}>": 1 + octet for octet in range(256)}}
    del vocab[missing]
    for token in ["a", "b", "▁", *(["\t"] if tab else [])]:
        vocab[token] = max(vocab.values()) + 1
    for token in ["ab", "\t\t", "\ta"] if tab else ["ab"]:
        vocab[token] = max(vocab.values()) + 1
    pairs = [("\t", "\t"), ("a", "b"), ("\t", "a")] if tab else [("a", "b")]
    model = tokenizers.Tokenizer(bpe(vocab, pairs, byte_fallback=True))
    model.normalizer = tokenizers.normalizers.Replace(" ", "▁")
    model.add_special_tokens([tokenizers.AddedToken("<eos>", normalized=False)])
    path = folder / "tokenizer.json"
    path.write_text(model.to_str(), encoding="utf-8")
    return path


@pytest.mark.parametrize("options", [{}, {"engine": "network"}])
def test_tokenizers_of_the_gemma_2_family_load_and_have_exact_masks(
    tmp_path: Path, options: dict[str, str]
) -> None:
    """A byte without a token of its own is a character with one; masks are the reference's ids."""
    path = gemma(tmp_path)
    reference, tokenizer = tokenizers.Tokenizer.from_file(str(path)), load_tokenizer(path)
    text, letters = "root ::= [\\tabé]{1,3}", "\tabé"
    artifact = compile_grammar(
        text, dialect="gbnf", tokenizer=tokenizer, tokenization="canonical", **options
    )
    following: defaultdict[tuple[int, ...], set[int]] = defaultdict(set)
    for member in ("".join(m) for n in (1, 2, 3) for m in product(letters, repeat=n)):
        ids = reference.encode(member).ids
        assert ids == tokenizer.encode(member)
        for place, token_id in enumerate([*ids, *tokenizer.eos]):
            following[*ids[:place],].add(token_id)
    for prefix, expected in following.items():
        matcher = artifact.matcher()
        for token_id in prefix:
            matcher.advance(token_id)
        assert expected == set(tokenset.to_ids(matcher.mask()).tolist())


@pytest.mark.parametrize(("missing", "tab"), [("<0x09>", False), ("<0xC3>", True)])
def test_a_byte_that_nothing_spells_is_refused(tmp_path: Path, missing: str, tab: bool) -> None:
    """The reference would read an unknown token there."""
    with pytest.raises(TokenizerError, match=f"{missing} is missing, and no other token"):
        load_tokenizer(gemma(tmp_path, missing=missing, tab=tab))


@pytest.mark.parametrize("configured", [None, "</s>", "<|im_end|>"])
def test_a_guessed_end_of_text_is_noted(cli: Cli, tmp_path: Path, configured: str | None) -> None:
    """Without a configuration the usual names are tried, and the note says which one was taken."""
    added = [(9, "</s>", True), (10, "<|im_end|>", True)]
    path = written(tmp_path, tokenizer_json("ab", [], added=added))
    if configured:
        config = {"eos_token": configured}
        (tmp_path / "tokenizer_config.json").write_text(json.dumps(config), encoding="utf-8")
    Path("g.gbnf").write_text('root ::= "a"', encoding="utf-8")
    found = cli("compile", "g.gbnf", "-t", str(path))
    guess = "note: the end-of-text token is taken to be </s> (9), by its usual name"
    assert (configured is None) == (guess in found.err)
    assert "usual name" not in cli("compile", "g.gbnf", "-t", str(path), "--eos", "</s>").err
    tokenizer = load_tokenizer(path)
    assert isinstance(tokenizer, Tokenizer)
    assert ((10,) if configured == "<|im_end|>" else (9,)) == tokenizer.eos


def test_the_default_tokenizer_names_its_end_of_text(cli: Cli) -> None:
    """Nothing is guessed there."""
    Path("g.gbnf").write_text('root ::= "a"', encoding="utf-8")
    assert "end-of-text" not in cli("compile", "g.gbnf").err


def test_what_ends_a_text_by_id_and_by_name(tmp_path: Path) -> None:
    """A number is an id, whatever tokens are called; a text is the name of an added token first,
    then a number, then the text of another token."""
    rng = random.Random(2)
    for _ in range(20):
        letters = "".join(rng.sample("0123456789ab", 8))
        names = rng.sample([*"0123456789", "12", "a b", "<eos>"], 4)
        vocab = tokenizer_json(letters)["model"]["vocab"]
        fresh = iter(range(len(vocab), 20))
        added = {name: vocab.get(name, -1) for name in names}
        added = {name: next(fresh) if i < 0 else i for name, i in added.items()}
        listed = [(i, name, rng.random() < 0.5) for name, i in added.items()]
        tokenizer = tokenizer_of(tmp_path, letters, added=listed)
        size = tokenizer.vocab_size
        for i in range(size):
            assert (i,) == eos_ids(tokenizer, (i,)) == eos_ids(tokenizer, (np.int64(i),))
            assert (added.get(str(i), i),) == eos_ids(tokenizer, (str(i),))
        for name, i in added.items():
            assert (i,) == eos_ids(tokenizer, (name,))
        for name, i in vocab.items():
            if not name.isdecimal():
                assert (i,) == eos_ids(tokenizer, (name,))
        for wanted in (-1, size, str(size + 100), "none"):
            with pytest.raises(TokenizerError, match="to end a text"):
                eos_ids(tokenizer, (wanted,))
