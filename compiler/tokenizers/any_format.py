"""Load a tokenizer of any format: the one door to this room and to ``wordpiece``."""

import os
from dataclasses import replace
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Union

from constrain.artifacts.container.regular import is_stream
from constrain.artifacts.errors import visible

from ..diagnostics import TokenizerError
from ..files.bounded import read_bounded
from ..files.cache import CacheChoice, cache_of
from ..files.gguf import is_gguf, read_key_values
from ..files.named import named
from ..limits import making_tables
from ..wordpiece.detect import is_wordpiece, is_wordpiece_json
from .host import HostTokenizer, host_file, host_tokenizer
from .hub import HUGGING_FACE, hugging_face_file
from .load import DEFAULT_NAME, default_path, gguf_bpe, host_bpe, load_bpe
from .sizes import check_sizes
from .tokenizer import Tokenizer

if TYPE_CHECKING:
    from ..wordpiece.tokenizer import WordPieceTokenizer


@making_tables()
def load_tokenizer(
    path: str | PathLike[str] | object | None = None, *, cache: CacheChoice = "default"
) -> Union[Tokenizer, "WordPieceTokenizer"]:
    """Load a tokenizer from a file, a folder, by a name on a hub, or from another library's object.

    All that the command line reads: Hugging Face's ``tokenizer.json`` or its folder, of BPE and of
    WordPiece and of Unigram; SentencePiece's ``.model``; a model's GGUF file; WordPiece's
    ``vocab.txt``; tiktoken's ``NAME.tiktoken`` or ranks as ``FILE@PATTERN``; GPT-2's
    ``encoder.json`` or ``vocab.json`` beside its merges; Mistral's ``tekken.json``;
    ``hf:ORG/REPO`` and ``tiktoken:NAME``. Besides, the object that a server has: a fast tokenizer
    of transformers, or one of the packages ``tokenizers`` or ``mistral-common``; what is loaded
    already is returned. Without a path, the embedded default.

    ``cache``: where the tokenizer is kept as arrays, by default in the user's cache folder; None
    for nowhere. Raises ``TokenizerError`` naming the file and what it has that is not supported.
    """
    if path is None:
        return replace(load_bpe(default_path(), cache=cache_of(cache)), name=DEFAULT_NAME)
    if not isinstance(path, str | PathLike):
        from ..wordpiece.tokenizer import WordPieceTokenizer

        if isinstance(path, Tokenizer | WordPieceTokenizer):
            return path
    found = path if isinstance(path, str | PathLike) else host_file(path)
    if found is None:
        return _of_host(host_tokenizer(path), cache)
    name = fspath(found)
    if is_stream(name):
        return _of_stream(name, cache)
    if is_gguf(Path(name)):
        return _of_gguf(name, cache)
    if Path(name).name == "merges.txt":
        said = "GPT-2's merges alone; give the vocab.json beside them"
        raise TokenizerError(f"{visible(name)}: {said}")
    if is_wordpiece(_file(name)):
        from ..wordpiece.load import load_wordpiece

        words = load_wordpiece(_file(name))
        with named(name):
            tokens = [word.encode("utf-8") for word in words.ids]
            check_sizes(tokens, words.vocab_size, list(words.added.values()))
        return words
    return load_bpe(name, cache=cache_of(cache))


def _of_gguf(name: str, cache: CacheChoice) -> Union[Tokenizer, "WordPieceTokenizer"]:
    from .gguf_tokenizer import bert_vocabulary, model_of

    with named(name):
        found = read_key_values(Path(name))
        words = bert_vocabulary(found) if model_of(found) == "bert" else None
    if words is None:
        return gguf_bpe(name, found, cache=cache_of(cache))
    from ..wordpiece.load import wordpiece_of_vocabulary

    return wordpiece_of_vocabulary(name, words)


def _of_stream(name: str, cache: CacheChoice) -> Union[Tokenizer, "WordPieceTokenizer"]:
    """The ``tokenizer.json`` that a pipe brings, which can be read once."""
    with named(name):
        raw = read_bounded(Path(name))
    return _of_host(HostTokenizer(name, raw, None), cache)


def _of_host(host: HostTokenizer, cache: CacheChoice) -> Union[Tokenizer, "WordPieceTokenizer"]:
    if is_wordpiece_json(host.raw):
        from ..wordpiece.load import wordpiece_of_json

        return wordpiece_of_json(host.name, host.raw, host.eos)
    return host_bpe(host, cache=cache_of(cache))


def _file(name: str) -> str:
    """The file that a name stands for, where it is not the file's own."""
    if not name.startswith(HUGGING_FACE) or os.path.exists(name):  # noqa: PTH110 - of any name
        return name
    with named(name):
        return fspath(hugging_face_file(name))
