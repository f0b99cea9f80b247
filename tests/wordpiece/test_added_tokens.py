"""Texts with names of added tokens: the library finds these, and masks leave such members out."""

import json
import random
from collections.abc import Callable
from itertools import product
from pathlib import Path

import pytest
from support import sampled, written
from support.automata import build_automaton
from support.corpus.own_encodings import found_by_name
from support.wordpiece import accepted
from tokenizers import Tokenizer

from constrain.compiler.diagnostics import CheckError, TokenizerError
from constrain.compiler.pipeline import build_artifact
from constrain.compiler.wordpiece.load import load_wordpiece
from constrain.compiler.wordpiece.tokenizer import WordPieceTokenizer

Count = Callable[[str, object], None]

WORDS = ["x", "the", "playing", "É", "q", "-", " ", " x", "he ", "", "[", "]", "中", "\U0001f600"]


def compare(
    rng: random.Random, library: Tokenizer, tokenizer: WordPieceTokenizer, name: str
) -> int:
    """Compare all sequences of a random language with a name in it; how many members have a name
    that is found."""
    ways = [name, name, name.lower(), name.upper(), name[1:], name[:-1], f"{name}{name}"]
    parts = [[rng.choice(ways), *rng.sample(WORDS, 2)], rng.sample(WORDS, 3), rng.sample(WORDS, 2)]
    parts[1].append(rng.choice(ways))
    rng.shuffle(parts)
    texts = sorted({"".join(chosen) for chosen in product(*parts)})
    finder = found_by_name(library)
    kept = [text for text in texts if not finder.encode(text).ids]
    encoded = {text: library.encode(text, add_special_tokens=False).ids for text in texts}
    assert encoded == {text: tokenizer.encode(text) for text in texts}
    tokens = {tuple(encoded[text]) for text in kept}
    regex = "".join(f"({'|'.join(part)})".replace("[", r"\[").replace("]", r"\]") for part in parts)
    automaton = build_automaton(regex, dialect="regex")
    for keep_unknown in (False, True):
        expected = {ids for ids in tokens if keep_unknown or tokenizer.unk not in ids}
        if not expected:
            with pytest.raises(CheckError, match="can spell no member"):
                build_artifact(automaton, tokenizer, keep_unknown=keep_unknown)
            continue
        found = build_artifact(automaton, tokenizer, keep_unknown=keep_unknown)
        assert expected == accepted(found.artifact), (regex, keep_unknown)
        notes = [note for note in found.notes if "the name of an added token are left out" in note]
        assert len(notes) == (len(kept) < len(texts))
    return len(texts) - len(kept)


@sampled(
    "name",
    ["tiny-wordpiece-500"],
    ["tiny-wordpiece-500", "bert-base-uncased", "bert-base-multilingual-cased"],
)
def test_names_inside_texts(
    name: str, data: Callable[[str], Path], full: bool, record_property: Count
) -> None:
    """A hundred languages with each name, written in several ways."""
    path = data(f"tokenizers/{name}/tokenizer.json")
    library, tokenizer = Tokenizer.from_file(str(path)), load_wordpiece(path)
    rng = random.Random(name)
    counts = dict.fromkeys(("languages", "members left out"), 0)
    for added in sorted(tokenizer.added.values()):
        for _ in range(100 if full else 1):
            counts["languages"] += 1
            counts["members left out"] += compare(rng, library, tokenizer, added)
    assert counts["members left out"]
    for kind, count in counts.items():
        record_property(kind, count)


def test_names_that_are_words(data: Callable[[str], Path], tmp_path: Path, full: bool) -> None:
    """Added tokens that are words and parts of words: those that are special and that words have
    all the same, as in other letters, are refused."""
    value = json.loads(data("tokenizers/tiny-wordpiece-500/tokenizer.json").read_bytes())
    vocab = value["model"]["vocab"]
    words = [word for word in vocab if word.isascii() and word.isalpha() and len(word) > 1]
    rng = random.Random(5)
    refused = 0
    for _ in range(200 if full else 4):
        name = rng.choice([rng.choice(words), "x-y", "q q", "le"])
        added = {"id": vocab.get(name, len(vocab)), "content": name, "special": rng.random() < 0.5}
        added |= dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized"), False)
        path = written(tmp_path, {**value, "added_tokens": [*value["added_tokens"], added]})
        try:
            compare(rng, Tokenizer.from_file(str(path)), load_wordpiece(path), name)
        except TokenizerError as error:
            assert added["special"]
            assert f"the special token {name!r} is a part of words, too" in str(error)
            refused += 1
    assert refused
