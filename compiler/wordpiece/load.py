"""Read a WordPiece tokenizer: a ``tokenizer.json`` or a ``vocab.txt``; refuse the rest by name.

A tokenizer that is nearly understood gives ids that are nearly right, so every field that
could change an encoding is looked at.
"""

from collections.abc import Mapping
from hashlib import sha256
from os import PathLike, fspath
from pathlib import Path
from typing import Any

from constrain.artifacts.container.regular import regular

from ..diagnostics import TokenizerError
from ..files.bounded import bounded_json, read_bounded
from ..files.named import configuration_beside, named
from .detect import MODEL
from .normalizer import BertNormalizer
from .tokenizer import WordPieceTokenizer

# What messages call it.
_KIND = "WordPiece tokenizer"

_UNKNOWN, _END = "[UNK]", "[SEP]"
_SPECIAL = ("[PAD]", _UNKNOWN, "[CLS]", _END, "[MASK]")
_INDICATOR, _MAX_CHARS = "##", 100

# Masks have a bit for each id up to the highest; no vocabulary comes near this.
_LARGEST_ID = 9_999_999

# Each character of a text may be compared with each of these; trained ones have five, and some that
# were trained further have thousands.
_MOST_ADDED = 20_000


def load_wordpiece(path: str | PathLike[str]) -> WordPieceTokenizer:
    """Load a WordPiece ``tokenizer.json``, the one in a folder, or a ``vocab.txt``.

    A ``vocab.txt`` says nothing of its normalizer: a ``tokenizer_config.json`` beside it is
    read; without one the text is lower-cased if no token has a capital. Raises
    ``TokenizerError`` naming the file and what it has that is not supported.
    """
    file = Path(path)
    if file.is_dir():
        file /= "tokenizer.json"

    with named(fspath(path), _KIND):
        raw, config = read_bounded(regular(file)), configuration_beside(file)
        reader = _from_vocabulary if file.suffix == ".txt" else _from_json
        return reader(fspath(path), raw, config)


def wordpiece_of_json(name: str, raw: bytes, eos: str | None) -> WordPieceTokenizer:
    """The tokenizer of the content of a ``tokenizer.json``, as ``load_wordpiece``.

    ``eos``: the name of the token that ends a text, None for the conventional one.
    """
    with named(name, _KIND):
        return _from_json(name, raw, {"eos_token": eos})


def wordpiece_of_vocabulary(name: str, raw: bytes) -> WordPieceTokenizer:
    """The same of the content of a ``vocab.txt``."""
    with named(name, _KIND):
        return _from_vocabulary(name, raw, {})


def _from_vocabulary(name: str, raw: bytes, config: Mapping[str, Any]) -> WordPieceTokenizer:
    """A line for each token, its number the id. Only line feeds end lines: U+2028 is a token."""
    text = raw.decode("utf-8").removeprefix("\ufeff").removesuffix("\n")
    lines = [line.removesuffix("\r") for line in text.split("\n")]
    vocabulary = {token: i for i, token in enumerate(lines)}
    if len(vocabulary) != len(lines):
        again = next(token for i, token in enumerate(lines) if vocabulary[token] != i)
        raise TokenizerError(f"the vocabulary is damaged: {again!r} is there twice")
    written = [token for token in lines if token not in _SPECIAL]
    capitals = any(token != token.lower() for token in written if not token.startswith("["))
    lowercase = config.get("do_lower_case", not capitals)
    options = {
        "clean_text": True,
        "handle_chinese_chars": config.get("tokenize_chinese_chars", True),
        "strip_accents": config.get("strip_accents"),
        "lowercase": lowercase,
    }
    added = {vocabulary[special]: special for special in _SPECIAL if special in vocabulary}
    model = {"vocab": vocabulary, "unk_token": _UNKNOWN}
    return _assembled(name, raw, model, BertNormalizer.of(options), added, frozenset(added), config)


def _from_json(name: str, raw: bytes, config: Mapping[str, Any]) -> WordPieceTokenizer:
    data = bounded_json(raw, "tokenizer.json")
    model = data.get("model") if isinstance(data, dict) else None
    if not isinstance(model, dict) or not isinstance(model.get("vocab"), dict):
        raise TokenizerError("not a tokenizer.json: it has no model with a vocabulary")
    if model.get("type") != MODEL:
        raise TokenizerError(f"the model {model.get('type')!r} is no {MODEL}")
    splitting = (data.get("pre_tokenizer") or {}).get("type")
    if splitting != "BertPreTokenizer":
        raise TokenizerError(
            f"the pre-tokenizer {splitting!r} is not supported; 'BertPreTokenizer' is"
        )
    normalizer = data.get("normalizer")
    if normalizer is not None and normalizer.get("type") != "BertNormalizer":
        raise TokenizerError(
            f"the normalizer {normalizer.get('type')!r} is not supported; 'BertNormalizer' is"
        )
    added, special = _added_tokens(data.get("added_tokens") or ())
    parsed = None if normalizer is None else BertNormalizer.of(normalizer)
    return _assembled(name, raw, model, parsed, added, special, config)


def _assembled(
    name: str,
    raw: bytes,
    model: Mapping[str, Any],
    normalizer: BertNormalizer | None,
    added: Mapping[int, str],
    special: frozenset[int],
    config: Mapping[str, Any],
) -> WordPieceTokenizer:
    vocabulary: dict[str, int] = model["vocab"]
    ids = [*vocabulary.values(), *added]
    if not all(type(i) is int and 0 <= i <= _LARGEST_ID for i in ids):
        raise TokenizerError(f"the vocabulary is damaged: ids go from 0 to {_LARGEST_ID:,}")
    "".join((*vocabulary, *added.values())).encode("utf-8")  # Lone surrogates are no text.
    names = {i: token for token, i in vocabulary.items()}
    if len(names) != len(vocabulary) or any(names.get(i, n) != n for i, n in added.items()):
        raise TokenizerError("the vocabulary is damaged: two tokens have one id")
    unknown = vocabulary.get(str(model.get("unk_token", _UNKNOWN)))
    if unknown is None:
        raise TokenizerError(f"there is no token {model.get('unk_token', _UNKNOWN)!r} in it")
    by_name = {**vocabulary, **{n: i for i, n in added.items()}}
    end = config.get("eos_token") or config.get("sep_token") or _END
    end = end.get("content") if isinstance(end, dict) else end
    return WordPieceTokenizer(
        name=name,
        sha256=sha256(raw).hexdigest(),
        ids=vocabulary,
        indicator=str(model.get("continuing_subword_prefix", _INDICATOR)),
        unk=unknown,
        max_chars=int(model.get("max_input_chars_per_word", _MAX_CHARS)),
        normalizer=normalizer,
        added=added,
        special=special,
        eos=(by_name[end],) if end in by_name else (),
        vocab_size=max(ids) + 1,
    )


def _added_tokens(listed: Any) -> tuple[dict[int, str], frozenset[int]]:
    added: dict[int, str] = {}
    special = set()
    if len(listed) > _MOST_ADDED:
        raise TokenizerError(
            f"there are {len(listed):,} added tokens: {_MOST_ADDED:,} are the most of WordPiece"
        )
    for token in listed:
        name = str(token["content"])
        for option in ("lstrip", "rstrip", "single_word", "normalized"):
            if token.get(option):
                raise TokenizerError(
                    f"the option {option!r} of the added token {name!r} is not supported"
                )
        added[int(token["id"])] = name
        if token.get("special"):
            special.add(int(token["id"]))
    return added, frozenset(special)
