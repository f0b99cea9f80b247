"""Tables of a tokenizer's tokens: the same from the cache, padded or not, and made once."""

from pathlib import Path

import numpy as np
import pytest

from constrain.artifacts.tokens import lengths
from constrain.artifacts.tokens.lengths import lengths_arrays
from constrain.artifacts.tokens.subtrees import to_arrays
from constrain.artifacts.tokens.trie import Trie
from constrain.artifacts.walk import layout
from constrain.artifacts.walk.layout import order_of
from constrain.compiler import Cache, Tokenizer, compile_grammar
from constrain.compiler.tokenizers.vocabulary_tables import VocabularyTables

pytestmark = pytest.mark.quick


def test_tables_from_the_cache_are_the_same(default_tokenizer: Tokenizer, tmp_path: Path) -> None:
    """Vocabulary, trie and subtrees; the second time nothing is made."""
    plain = VocabularyTables(default_tokenizer)
    for _ in range(2):
        stored = VocabularyTables(default_tokenizer, Cache(tmp_path))
        for name, array in to_arrays(plain.trie).items():
            assert np.array_equal(array, to_arrays(stored.trie)[name])
        one, other = (t.vocabulary(default_tokenizer.vocab_size) for t in (plain, stored))
        assert one.data.tobytes() == other.data.tobytes()
    assert [path.name.split("-")[0] for path in tmp_path.iterdir()] == ["vocabulary"]


def test_what_walks_need_of_the_trie_comes_from_the_cache(
    default_tokenizer: Tokenizer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Lengths, and the order of nodes: the second time none is made."""
    trie = VocabularyTables(default_tokenizer, Cache(tmp_path)).trie
    made = lengths_arrays(trie) | {"order": order_of(trie)}

    def refused(*_: object) -> None:
        raise AssertionError("made again")

    monkeypatch.setattr(lengths, "_read_and_below", refused)
    monkeypatch.setattr(layout, "subtrees_of", refused)
    trie = VocabularyTables(default_tokenizer, Cache(tmp_path)).trie
    read = lengths_arrays(trie) | {"order": order_of(trie)}
    for name, array in made.items():
        assert np.array_equal(array, read[name]), name


def test_padding_is_the_tokenizers_own(default_tokenizer: Tokenizer) -> None:
    """Unused ids after the last one."""
    size = default_tokenizer.vocab_size + 77
    found = VocabularyTables(default_tokenizer).vocabulary(size)
    expected = default_tokenizer.vocabulary(size)
    for name in ("data", "offsets", "kinds"):
        assert np.array_equal(getattr(found, name), getattr(expected, name))


@pytest.mark.parametrize("options", [{"engine": "dfa"}, {"engine": "network"}])
def test_the_trie_is_made_once(
    default_tokenizer: Tokenizer, options: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The artifact has the trie that its compilation needed."""
    made = []
    build = Trie.from_vocabulary
    monkeypatch.setattr(
        Trie, "from_vocabulary", lambda vocabulary: made.append(vocabulary) or build(vocabulary)
    )
    artifact = compile_grammar(
        'start ::= "a" start | "b";',
        dialect="kbnf",
        tokenizer=default_tokenizer,
        cache=None,
        prewarm=0,
        tokenization="any",
        **options,
    )
    matcher = artifact.matcher()
    matcher.mask()
    assert len(made) <= 1
