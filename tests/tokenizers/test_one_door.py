"""One ``load_tokenizer`` reads every format, and the library caches as the command line does."""

# Tests here say `expected == actual`.
# ruff: noqa: SIM300

from pathlib import Path

import pytest
from support import tokenizer_json, written

from constrain import compiler
from constrain.artifacts.store.folders import default_folder
from constrain.compiler import Tokenizer, WordPieceTokenizer, compile_grammar, load_tokenizer
from constrain.compiler.files.cache import Cache

pytestmark = pytest.mark.quick


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's cache folder, empty."""
    monkeypatch.setenv("CONSTRAIN_CACHE_DIR", str(tmp_path / "cache"))
    assert tmp_path / "cache" == default_folder()
    return tmp_path / "cache"


def test_one_load_tokenizer_reads_every_format(tmp_path: Path) -> None:
    """Byte pairs and WordPiece, a folder and a vocabulary; without a path the default one."""
    assert isinstance(load_tokenizer(), Tokenizer)
    (tmp_path / "bpe").mkdir()
    assert isinstance(load_tokenizer(written(tmp_path / "bpe", tokenizer_json("ab"))), Tokenizer)
    vocabulary = tmp_path / "vocab.txt"
    vocabulary.write_text("[UNK]\n[SEP]\nyes\nno\n", encoding="utf-8")
    words = load_tokenizer(vocabulary)
    assert isinstance(words, WordPieceTokenizer)
    artifact = compile_grammar('s ::= "yes" | "no";', dialect="kbnf", tokenizer=words)
    assert "word-dfa" == artifact.manifest.kind
    assert "load_wordpiece" not in compiler.__all__


def test_the_library_caches_tables_by_default(folder: Path, tmp_path: Path) -> None:
    """As the command line does; with None it leaves the disk alone, with a cache it uses that."""
    path = written(tmp_path, tokenizer_json("ab", ["a b"], added=[(9, "<eos>", True)]))

    def compiled(**options: Cache | None) -> None:
        tokenizer = load_tokenizer(path, **options)
        compile_grammar('s ::= "ab";', dialect="kbnf", tokenizer=tokenizer, **options)

    compiled(cache=None)
    assert not folder.exists()
    compiled(cache=Cache(tmp_path / "own"))
    assert not folder.exists()
    kinds = {"tokenizer", "pairs", "pretokenizer", "vocabulary"}
    assert kinds == {file.name.split("-")[0] for file in (tmp_path / "own").iterdir()}
    compiled()
    assert kinds == {file.name.split("-")[0] for file in folder.iterdir()}
