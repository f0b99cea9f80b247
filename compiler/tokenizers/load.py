"""Load a tokenizer from a file, a folder, or a hub: which format, and the cache.

| name | what is read |
|---|---|
| ``tokenizer.json``, or a folder with one | Hugging Face's format |
| ``tekken.json``, or a folder with one | Mistral's ranks |
| ``NAME.tiktoken``, ``FILE@PATTERN`` | ranks; split as NAME says, or by PATTERN |
| ``FILE.model``, or a folder with one alone | SentencePiece's model, or ranks |
| ``encoder.json``, ``vocab.json``, or a folder with one | GPT-2's format, with its merges |
| ``hf:ORG/REPO``, ``hf:ORG/REPO@REVISION`` | either of its two, with huggingface_hub |
| ``tiktoken:NAME`` | that encoding, with tiktoken |
"""

import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from hashlib import sha256
from importlib.resources import as_file, files
from os import PathLike, fspath
from pathlib import Path

from constrain.artifacts.container.regular import regular

from ..diagnostics import TokenizerError
from ..files.bounded import read_bounded
from ..files.cache import Cache
from ..files.gguf import KeyValues
from ..files.named import configuration_beside, named
from . import hub
from .host import HostTokenizer
from .sizes import check_sizes
from .tokenizer import Tokenizer

# What messages call the embedded tokenizer, which is for trying things out.
DEFAULT_NAME = "the default tokenizer"

_RANKS, _MODEL = ".tiktoken", ".model"


@dataclass(frozen=True, slots=True)
class _Source:
    """What a tokenizer is read from. ``parts``: all bytes that its content depends on."""

    kind: str
    parts: tuple[bytes, ...]
    read: Callable[[], Tokenizer]

    @property
    def key(self) -> str:
        """A name of the content, for the cache."""
        return " ".join([self.kind, *(sha256(part).hexdigest() for part in self.parts)])


def default_path() -> Path:
    """The path of the embedded default tokenizer."""
    with as_file(files(__package__).joinpath("default", "tokenizer.json")) as path:
        return path


def load_bpe(path: str | PathLike[str], *, cache: Cache | None = None) -> Tokenizer:
    """Load a BPE tokenizer by a name of the table above; ``cache`` stores it as arrays.

    Raises ``TokenizerError`` naming the file and what it has that is not supported.
    """
    name = fspath(path)
    return _loaded(name, lambda: _source(name), cache)


def host_bpe(host: HostTokenizer, *, cache: Cache | None = None) -> Tokenizer:
    """The BPE tokenizer that another library holds; as ``load_bpe``."""
    return _loaded(host.name, lambda: _content(host.name, host.raw, host.eos), cache)


def gguf_bpe(name: str, found: KeyValues, *, cache: Cache | None = None) -> Tokenizer:
    """The tokenizer of a GGUF file's key-values; as ``load_bpe``."""

    def read() -> Tokenizer:
        from .gguf_tokenizer import read_gguf

        return read_gguf(name, found)

    return _loaded(name, lambda: _Source("gguf", (found.sha256.encode(),), read), cache)


def _loaded(name: str, source_of: Callable[[], _Source], cache: Cache | None) -> Tokenizer:
    """The tokenizer of a source, from the cache if it is there; errors name the tokenizer."""
    with named(name):
        source = source_of()
        if cache is None:
            return _checked(source.read())
        from .cached_arrays import CLASSES, VERSION

        def nameless() -> Tokenizer:
            return replace(_checked(source.read()), name="")

        found = cache.made("tokenizer", f"tokenizer {VERSION} {source.key}", nameless, CLASSES)
        return replace(found, name=name)


def _checked(found: Tokenizer) -> Tokenizer:
    """The same tokenizer, of a size that tables can be made of."""
    added = [token.content for token in found.added_tokens]
    check_sizes(found.tokens.values(), found.vocab_size, added)
    return found


def _source(name: str) -> _Source:
    """What a name stands for. Files come first: a file may be called like a hub's name."""
    file = Path(name)
    if not os.path.exists(name):  # noqa: PTH110 - of any name, also a long pattern
        if name.startswith(hub.HUGGING_FACE):
            return _tokenizer_json(name, hub.hugging_face_file(name))
        if name.startswith(hub.TIKTOKEN):
            return _encoding(name)
        if ranks := _with_pattern(name):
            return _rank_file(name, *ranks)
    if file.is_dir():
        file = _in_folder(file)
    if file.name.endswith(_RANKS):
        return _rank_file(name, file, None)
    if file.suffix == _MODEL:
        return _model(name, file)
    if merges := _merges_beside(file):
        return _merge_files(name, file, merges)
    return _tokenizer_json(name, file)


def _with_pattern(name: str) -> tuple[Path, str] | None:
    """The file of ranks and the pattern that ``FILE@PATTERN`` names; either may have an @."""
    parts = name.split("@")
    for count in range(1, len(parts)):
        before, pattern = "@".join(parts[:count]), "@".join(parts[count:])
        if Path(before).is_file() or before.endswith(_RANKS):
            return Path(before), pattern
    return None


# What folders of SentencePiece's models have.
_MODELS = ("tokenizer.model", "spiece.model", "sentencepiece.bpe.model")


def _in_folder(folder: Path) -> Path:
    """The file that a folder stands for."""
    from .gpt2_files import NAMES

    names = ["tokenizer.json", "tekken.json", *(vocab for vocab, _ in NAMES), *_MODELS]
    found = [folder / name for name in names if (folder / name).is_file()]
    if not found:
        raise TokenizerError(f"the folder has none of {', '.join(names)}")
    return found[0]


def _merges_beside(file: Path) -> Path | None:
    """The merges that belong to GPT-2's vocabulary file."""
    from .gpt2_files import NAMES

    return next((file.with_name(merges) for vocab, merges in NAMES if vocab == file.name), None)


def _tokenizer_json(name: str, file: Path) -> _Source:
    """A ``tokenizer.json``, or a ``tekken.json``: by its name, as mistral-common tells it."""
    if "tekken" in file.name and file.suffix == ".json":
        return _tekken(name, file)
    return _content(name, read_bounded(file), _configured_eos(file))


def _tekken(name: str, file: Path) -> _Source:
    raw = read_bounded(file)

    def read() -> Tokenizer:
        from .tekken import read_tekken

        return read_tekken(name, raw)

    return _Source("tekken", (raw,), read)


def _model(name: str, file: Path) -> _Source:
    """SentencePiece's model, or a file of ranks, which Meta gives the same name."""
    raw = read_bounded(file)

    def read() -> Tokenizer:
        if raw[:1] == b"\n":
            from .sentencepiece import read_model

            return read_model(name, raw)
        from .foreign import seems

        raise TokenizerError(f"not a SentencePiece model: it seems to be {seems(raw) or 'damaged'}")

    return _Source("model", (raw,), read)


def _content(name: str, raw: bytes, eos: str | None) -> _Source:
    """The content of a ``tokenizer.json``."""

    def read() -> Tokenizer:
        from .huggingface import read_tokenizer_json

        try:
            return read_tokenizer_json(name, raw, eos)
        except TokenizerError:
            from .foreign import seems

            if said := seems(raw):
                raise TokenizerError(f"not a tokenizer.json: it seems to be {said}") from None
            raise

    return _Source("tokenizer.json", (raw, repr(eos).encode()), read)


def _rank_file(name: str, file: Path, pattern: str | None) -> _Source:
    raw, stem = read_bounded(file), file.name.removesuffix(_RANKS)

    def read() -> Tokenizer:
        from .tiktoken_ranks import encoding_of, read_ranks

        return read_ranks(name, raw, encoding_of(stem, pattern))

    return _Source("ranks", (raw, repr(pattern or stem).encode()), read)


def _merge_files(name: str, file: Path, beside: Path) -> _Source:
    eos = _configured_eos(file)
    if not beside.exists():
        raise TokenizerError(f"a vocabulary alone: {beside.name} with its merges is not beside it")
    vocab, merges = read_bounded(file), read_bounded(regular(beside))

    def read() -> Tokenizer:
        from .gpt2_files import read_merge_files

        return read_merge_files(name, vocab, merges, eos)

    return _Source("merges", (vocab, merges, repr(eos).encode()), read)


def _encoding(name: str) -> _Source:
    ranks, encoding = hub.tiktoken_encoding(name)
    content = repr((sorted(ranks.items()), encoding)).encode()

    def read() -> Tokenizer:
        from .tiktoken_ranks import tokenizer_of_ranks

        return tokenizer_of_ranks(name, sha256(content).hexdigest(), ranks, encoding)

    return _Source("encoding", (content,), read)


def _configured_eos(file: Path) -> str | None:
    """The ``eos_token`` of a ``tokenizer_config.json`` beside the file."""
    value = configuration_beside(file).get("eos_token")
    name = value.get("content") if isinstance(value, dict) else value
    return name if isinstance(name, str) else None
