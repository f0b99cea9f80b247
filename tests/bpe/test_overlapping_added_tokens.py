"""Added tokens that are also parts or results of merges: pairs and masks as the library encodes."""

import json
import random
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import pairwise, product
from pathlib import Path
from typing import Any

import pytest
from support import written
from support.corpus.overlapping_tokens import LETTERS, overlapping_tokenizer
from support.corpus.own_encodings import OwnEncodings, compare_random
from support.corpus.tokenizer_case import Case
from support.library_steps import bpe
from tokenizers import Tokenizer

from constrain.compiler.bpe.tokenizer_tables import TokenizerTables
from constrain.compiler.diagnostics import TokenizerError
from constrain.compiler.tokenizers import default_path, load_bpe

Count = Callable[[str, object], None]

WORDS = ["", "a", "b", "2", ".", "é", " ", "ab", "a2", " a", "2a", "aa", "b.", "bb", " 2", "a a"]


def cases(folder: Path, count: int) -> Iterator[tuple[random.Random, Case]]:
    """So many tokenizers, each with a source of random numbers."""
    for seed in range(count):
        rng = random.Random(seed)
        file = folder / "tokenizer.json"
        overlapping_tokenizer(rng, file)
        yield rng, Case(file)


def merging_alone(library: Tokenizer) -> Any:
    """The library's model, without added tokens and steps."""
    none = {"added_tokens": [], "normalizer": None, "pre_tokenizer": None}
    return Tokenizer.from_str(json.dumps({**json.loads(library.to_str()), **none}))


def test_pairs_are_those_of_the_library(tmp_path: Path, full: bool, record_property: Count) -> None:
    """Each pair is forbidden or not as its text is encoded, and sequences of five are canonical
    where no pair is forbidden. The encoder is the library's, too."""
    counts = dict.fromkeys(("pairs", "sequences", "texts"), 0)
    for rng, here in cases(tmp_path, 300 if full else 6):
        library, forbidden = merging_alone(here.library), here.tables.pairs.forbidden
        names = {i: name for name, i in library.get_vocab().items()}
        fallback = {*here.tokenizer.byte_fallback}
        text = [i for i in sorted(names) if i not in here.tokenizer.special | fallback]
        alone = library.encode_batch([names[i] for i in text])
        made = [i for i, found in zip(text, alone, strict=True) if found.ids == [i]]
        assert made == sorted(here.tables.pairs.trie.ids.tolist())
        merged = [*{*made} & {*here.tokenizer.merges.reshape(-1).tolist()}]
        tried = made if full else merged
        pairs = list(product(tried, tried))
        wholes = library.encode_batch([names[a] + names[b] for a, b in pairs])
        for (a, b), whole in zip(pairs, wholes, strict=True):
            assert (whole.ids != [a, b]) == forbidden.rows.forbids(a, b), (a, b)
            assert (whole.ids != [a, b]) == forbidden.columns.forbids(b, a), (a, b)
        rows = [rng.choices(merged or made, k=5) for _ in range(200)]
        for row in rows:
            is_canonical = library.encode("".join(names[i] for i in row)).ids == row
            assert is_canonical == (not any(forbidden.rows.forbids(a, b) for a, b in pairwise(row)))
        texts = ["".join(rng.choices(LETTERS, k=rng.randrange(9))) for _ in range(60)]
        for each, ids in zip(texts, here.encode_all(texts), strict=True):
            assert ids == here.tokenizer.encode(each), each
        for kind, found in zip(counts, (pairs, rows, texts), strict=True):
            counts[kind] += len(found)
    for kind, count in counts.items():
        record_property(kind, count)


def test_special_tokens_inside_words_are_followed_within_limits(tmp_path: Path) -> None:
    """Where merging makes a special token and the automaton is too large, or whole pre-tokens are
    looked up, the tokenizer is refused by the token's name; unless the name is always found."""
    value = json.loads(default_path().read_bytes())
    vocab = value["model"]["vocab"]
    names = map("".join, value["model"]["merges"])
    name = next(name for name in names if name.isascii() and name.isalpha())

    def tables(single_word: bool, ignore_merges: bool) -> TokenizerTables:
        added = {"id": vocab[name], "content": name, "special": True, "single_word": single_word}
        model = {**value["model"], "ignore_merges": ignore_merges}
        whole = {**value, "model": model, "added_tokens": [*value["added_tokens"], added]}
        return TokenizerTables(load_bpe(written(tmp_path, whole)))

    for ignore_merges in (False, True):
        assert tables(False, ignore_merges).pretokenizer.dfa.states > 1000
        with pytest.raises(TokenizerError, match=f"merging makes the special token '{name}'"):
            assert tables(True, ignore_merges).pretokenizer


def test_merges_of_byte_tokens_are_refused(tmp_path: Path) -> None:
    """The library merges byte tokens, too, where a list says so; no real one does."""
    vocab = {f"<0x{octet:02X}>": octet for octet in range(256)} | {"a": 256, "<0x41>a": 257}
    library = Tokenizer(bpe(vocab, [("<0x41>", "a")], byte_fallback=True))
    library.save(str(tmp_path / "tokenizer.json"))
    here = Case(tmp_path / "tokenizer.json")
    assert [257] == here.encode("Aa") == here.tokenizer.encode("Aa")
    with pytest.raises(TokenizerError, match="its merges make or join tokens of single bytes"):
        assert here.tables.pairs


def test_masks_are_those_of_all_encodings(
    tmp_path: Path, full: bool, record_property: Count
) -> None:
    """Finite languages at the start of a text and after prompts, by each kind of artifact."""
    counts: Counter[str] = Counter()
    for rng, here in cases(tmp_path, 300 if full else 2):
        own = OwnEncodings(here)
        for _ in range(4 if full else 2):
            counts += compare_random(own, WORDS, rng)
    for kind, count in counts.items():
        record_property(kind, count)
