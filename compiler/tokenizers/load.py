"""Read a Hugging Face ``tokenizer.json``; refuse by name what is not supported.

A tokenizer that is nearly understood gives masks that are nearly right, so every field
that could change an encoding is looked at.
"""

import json
from collections.abc import Mapping
from hashlib import sha256
from importlib.resources import as_file, files
from os import PathLike, fspath
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..diagnostics import TokenizerError
from . import byte_alphabet
from .pretokenize import BYTE_LEVEL_PATTERN, Splitter
from .tokenizer import Tokenizer

# Names that end a text by convention, where no configuration says which does.
_WELL_KNOWN_EOS = (
    "<|endoftext|>",
    "</s>",
    "<|end_of_text|>",
    "<|eot_id|>",
    "<|im_end|>",
    "<eos>",
    "<|endofprompt|>",
    "<|end|>",
)


# Masks have a bit for each id up to the highest; no vocabulary comes near this.
_LARGEST_ID = 9_999_999


def default_path() -> Path:
    """Where the embedded default tokenizer is."""
    with as_file(files(__package__).joinpath("default", "tokenizer.json")) as path:
        return path


def load_tokenizer(path: str | PathLike[str]) -> Tokenizer:
    """Load a ``tokenizer.json``, or the one in a folder.

    Raises ``TokenizerError`` naming the file and what it has that is not supported.
    """
    file = Path(path)
    if file.is_dir():
        file /= "tokenizer.json"
    try:
        raw = file.read_bytes()
    except OSError as error:
        raise TokenizerError(f"{fspath(path)}: {error.strerror or error}") from None
    try:
        return _Reader(fspath(path), raw, _configured_eos(file)).read()
    except TokenizerError as error:
        raise TokenizerError(f"{fspath(path)}: {error}") from None
    except (AttributeError, KeyError, OverflowError, TypeError, ValueError) as error:
        # Fields of another type than the format has; each check of its own would say no more.
        raise TokenizerError(f"{fspath(path)}: not a valid tokenizer.json ({error})") from None


def _configured_eos(file: Path) -> str | None:
    """The ``eos_token`` of a ``tokenizer_config.json`` beside the file."""
    config = file.with_name("tokenizer_config.json")
    if not config.is_file():
        return None
    try:
        value = json.loads(config.read_bytes()).get("eos_token")
    except (ValueError, AttributeError):
        raise TokenizerError("tokenizer_config.json beside it is not a JSON object") from None
    name = value.get("content") if isinstance(value, dict) else value
    return name if isinstance(name, str) else None


class _Reader:
    def __init__(self, name: str, raw: bytes, eos: str | None) -> None:
        self.name, self.raw, self.configured_eos = name, raw, eos
        self.data = self._parse()
        self.model: Mapping[str, Any] = self.data["model"]

    def read(self) -> Tokenizer:
        """Check every part, then assemble."""
        self._check_model()
        if self.data.get("normalizer") is not None:
            kind = self.data["normalizer"].get("type")
            raise TokenizerError(f"the normalizer {kind!r} is not supported")
        splitter = self._splitter()
        added, special = self._added_tokens()
        vocab: dict[str, int] = self.model["vocab"]
        tokens = {}
        for token, token_id in vocab.items():
            octets = byte_alphabet.decode(token)
            if octets is not None and token_id not in added:
                tokens[token_id] = octets
        self._check_ids([*vocab.values(), *added], [*vocab, *added.values()])
        base = [vocab.get(char, -1) for char in byte_alphabet.characters()]
        return Tokenizer(
            name=self.name,
            sha256=sha256(self.raw).hexdigest(),
            tokens=tokens,
            added=added,
            special=special,
            merges=self._merges(vocab),
            base=[-1 if i in added else i for i in base],
            splitter=splitter,
            eos=self._eos(vocab, added),
            vocab_size=max([*vocab.values(), *added], default=-1) + 1,
        )

    def _parse(self) -> dict[str, Any]:
        try:
            data: dict[str, Any] = json.loads(self.raw)
        except (ValueError, RecursionError) as error:
            raise TokenizerError(f"not a tokenizer.json: it is not valid JSON ({error})") from None
        model = data.get("model") if isinstance(data, dict) else None
        if not isinstance(model, dict) or not isinstance(model.get("vocab"), dict):
            raise TokenizerError("not a tokenizer.json: it has no model with a vocabulary")
        if not all(type(i) is int and i >= 0 for i in model["vocab"].values()):
            raise TokenizerError("the vocabulary is damaged: an id is not a number from 0 on")
        return data

    def _check_model(self) -> None:
        kind = self.model.get("type", "BPE")
        if kind != "BPE":
            raise TokenizerError(f"the model {kind!r} is not supported; byte-level BPE is")
        for option in ("dropout", "continuing_subword_prefix", "end_of_word_suffix"):
            if self.model.get(option):
                raise TokenizerError(f"the BPE option {option!r} is not supported")
        for option in ("byte_fallback", "ignore_merges"):
            if self.model.get(option):
                raise TokenizerError(f"the BPE option {option!r} is not supported")

    def _check_ids(self, ids: list[int], names: list[str]) -> None:
        """Ids are numbers that masks can have bits for, each of one token."""
        if not all(0 <= i <= _LARGEST_ID for i in ids):
            raise TokenizerError(f"the vocabulary is damaged: ids go from 0 to {_LARGEST_ID:,}")
        "".join(names).encode("utf-8")  # Lone surrogates are no text: a ValueError.
        known: dict[int, str] = {}
        for token_id, name in zip(ids, names, strict=True):
            if known.setdefault(token_id, name) != name:
                raise TokenizerError(f"the vocabulary is damaged: two tokens have id {token_id}")

    def _splitter(self) -> Splitter | None:
        """ByteLevel is the only pre-tokenizer that is read; it also names the alphabet."""
        found = self.data.get("pre_tokenizer")
        kind = found.get("type") if isinstance(found, dict) else None
        if kind != "ByteLevel":
            raise TokenizerError(f"the pre-tokenizer {kind!r} is not supported; 'ByteLevel' is")
        assert isinstance(found, dict)
        if found.get("add_prefix_space"):
            raise TokenizerError("the pre-tokenizer option 'add_prefix_space' is not supported")
        return Splitter(BYTE_LEVEL_PATTERN) if found.get("use_regex", True) else None

    def _added_tokens(self) -> tuple[dict[int, str], frozenset[int]]:
        added: dict[int, str] = {}
        special = set()
        for token in self.data.get("added_tokens") or ():
            try:
                token_id, content = int(token["id"]), str(token["content"])
            except (KeyError, TypeError, ValueError):
                raise TokenizerError("an added token has no id or content") from None
            for option in ("lstrip", "rstrip", "single_word"):
                if token.get(option):
                    raise TokenizerError(
                        f"the option {option!r} of the added token {content!r} is not supported"
                    )
            added[token_id] = content
            if token.get("special"):
                special.add(token_id)
        return added, frozenset(special)

    def _merges(self, vocab: Mapping[str, int]) -> NDArray[np.int32]:
        """Left, right and result ids; merges come as ``"a b"`` or as ``["a", "b"]``."""
        rows = []
        for number, merge in enumerate(self.model.get("merges") or ()):
            parts = merge.split(" ") if isinstance(merge, str) else merge
            try:
                left, right = parts
                rows.append((vocab[left], vocab[right], vocab[left + right]))
            except (ValueError, KeyError, TypeError):
                raise TokenizerError(
                    f"merge {number} ({merge!r}) uses a token that the vocabulary lacks"
                ) from None
        return np.array(rows, dtype=np.int32).reshape(-1, 3)

    def _eos(self, vocab: Mapping[str, int], added: Mapping[int, str]) -> tuple[int, ...]:
        by_name = {**vocab, **{name: i for i, name in added.items()}}
        names = [self.configured_eos] if self.configured_eos else _WELL_KNOWN_EOS
        return next(((by_name[name],) for name in names if name in by_name), ())
