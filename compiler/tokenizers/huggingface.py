"""Read a Hugging Face ``tokenizer.json``; refuse by name what is not supported.

A tokenizer that is nearly understood gives masks that are nearly right, so every field
that could change an encoding is looked at. Fields that act after the encoding
(``post_processor``, ``truncation``, ``padding``) are not.
"""

import json
from collections.abc import Iterable, Mapping
from hashlib import sha256
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..diagnostics import TokenizerError
from . import byte_alphabet
from .entries import check_ids, eos_ids
from .huggingface_steps import read_normalizers, read_pre_tokenizers
from .steps import AddedToken, ByteLevel, Metaspace, Normalizer, PreTokenizer, Replace
from .token_table import TokenTable
from .tokenizer import Tokenizer

_FLAGS = ("special", "normalized", "lstrip", "rstrip", "single_word")


def read_tokenizer_json(name: str, raw: bytes, eos: str | None) -> Tokenizer:
    """The tokenizer of a file with the content ``raw``; ``eos`` names its end of text.

    Raises ``TokenizerError`` without the file's name.
    """
    data = _parsed(raw)
    model: Mapping[str, Any] = data["model"]
    kind = model.get("type", "BPE")
    if kind not in _MODELS:
        raise TokenizerError(f"the model {kind!r} is not supported; {', '.join(_MODELS)} is")
    return _MODELS[kind](name, raw, data, eos)


def _read_bpe(name: str, raw: bytes, data: Mapping[str, Any], eos: str | None) -> Tokenizer:
    model: Mapping[str, Any] = data["model"]
    for option in ("dropout", "continuing_subword_prefix", "end_of_word_suffix"):
        if model.get(option):
            raise TokenizerError(f"the BPE option {option!r} is not supported")
    vocab: dict[str, int] = model["vocab"]
    normalizers = read_normalizers(data.get("normalizer"))
    steps = read_pre_tokenizers(data.get("pre_tokenizer"))
    added = tuple(_added_tokens(data))
    special = {token.id for token in added if token.special}
    check_ids([*vocab.items(), *((token.content, token.id) for token in added)])
    byte_level = any(isinstance(step, ByteLevel) for step in steps)
    fallback = _byte_fallback(model)
    symbols = byte_alphabet.characters() if byte_level else _ascii_symbols(normalizers, steps)
    tokens = _tokens(vocab, byte_level, _space(normalizers, steps), fallback)
    unk = model.get("unk_token")
    if unk is not None and unk not in vocab:
        raise TokenizerError(f"the vocabulary lacks the token {unk!r} that stands for the unknown")
    characters = {} if byte_level else {c: i for c, i in vocab.items() if len(c) == 1}
    if not byte_level and not characters:
        raise TokenizerError(
            "it merges characters (it has no pre-tokenizer 'ByteLevel'), but has no token of one"
        )
    if model.get("ignore_merges") and not byte_level:
        raise TokenizerError("the BPE option 'ignore_merges' is supported with 'ByteLevel' alone")
    return Tokenizer(
        name=name,
        sha256=sha256(raw).hexdigest(),
        tokens=TokenTable.of({i: octets for i, octets in tokens.items() if i not in special}),
        added_tokens=added,
        merges=_merges(model.get("merges") or (), vocab),
        base=[-1 if i in special else i for i in (vocab.get(c, -1) for c in symbols)],
        eos=eos_ids({**vocab, **{token.content: token.id for token in added}}, eos),
        vocab_size=max([*vocab.values(), *(token.id for token in added)], default=-1) + 1,
        normalizers=normalizers,
        pre_tokenizers=steps,
        characters=characters,
        byte_fallback=fallback,
        unk=None if unk is None else vocab[unk],
        fuse_unk=bool(model.get("fuse_unk")),
        ignore_merges=bool(model.get("ignore_merges")),
    )


# How each kind of model is read.
_MODELS = {"BPE": _read_bpe}


def _parsed(raw: bytes) -> dict[str, Any]:
    try:
        data: dict[str, Any] = json.loads(raw)
    except (ValueError, RecursionError) as error:
        raise TokenizerError(f"not a tokenizer.json: it is not valid JSON ({error})") from None
    model = data.get("model") if isinstance(data, dict) else None
    if not isinstance(model, dict) or not isinstance(model.get("vocab"), dict):
        raise TokenizerError("not a tokenizer.json: it has no model with a vocabulary")
    return data


def _added_tokens(data: Mapping[str, Any]) -> Iterable[AddedToken]:
    for token in data.get("added_tokens") or ():
        try:
            token_id, content = int(token["id"]), str(token["content"])
        except (KeyError, TypeError, ValueError):
            raise TokenizerError("an added token has no id or content") from None
        yield AddedToken(token_id, content, **{flag: bool(token.get(flag)) for flag in _FLAGS})


def _merges(merges: Iterable[Any], vocab: Mapping[str, int]) -> NDArray[np.int32]:
    """Left, right and result ids; merges come as ``"a b"`` or as ``["a", "b"]``."""
    rows = []
    for number, merge in enumerate(merges):
        parts = merge.split(" ") if isinstance(merge, str) else merge
        try:
            left, right = parts
            rows.append((vocab[left], vocab[right], vocab[left + right]))
        except (ValueError, KeyError, TypeError):
            raise TokenizerError(
                f"merge {number} ({merge!r}) uses a token that the vocabulary lacks"
            ) from None
    return np.array(rows, dtype=np.int32).reshape(-1, 3)


def _byte_fallback(model: Mapping[str, Any]) -> tuple[int, ...]:
    """The tokens ``<0x00>`` to ``<0xFF>``, if they spell what has no token of its own."""
    if not model.get("byte_fallback"):
        return ()
    ids = tuple(model["vocab"].get(f"<0x{octet:02X}>", -1) for octet in range(256))
    if -1 in ids:
        lacking = ids.index(-1)
        raise TokenizerError(f"'byte_fallback' is on, but the token <0x{lacking:02X}> is missing")
    return ids


def _tokens(
    vocab: Mapping[str, int], byte_level: bool, space: str | None, fallback: tuple[int, ...]
) -> dict[int, bytes]:
    """The bytes of each token; tokens outside the byte-level alphabet are never produced."""
    if byte_level:
        found = ((i, byte_alphabet.decode(token)) for token, i in vocab.items())
        return {i: octets for i, octets in found if octets is not None}
    tokens = {
        i: (token.replace(space, " ") if space else token).encode("utf-8")
        for token, i in vocab.items()
    }
    return {**tokens, **{i: bytes([octet]) for octet, i in enumerate(fallback)}}


def _space(normalizers: Iterable[Normalizer], steps: Iterable[PreTokenizer]) -> str | None:
    """The character that stands for a space in tokens of characters."""
    for step in normalizers:
        if isinstance(step, Replace) and step.pattern == " " and not step.is_regex:
            return step.content
    return next((step.replacement for step in steps if isinstance(step, Metaspace)), None)


def _ascii_symbols(normalizers: Iterable[Normalizer], steps: Iterable[PreTokenizer]) -> list[str]:
    """The symbol of each byte that is a character; others have none of their own."""
    symbols = [chr(octet) if octet < 128 else "" for octet in range(256)]
    symbols[ord(" ")] = _space(normalizers, steps) or " "
    return symbols
