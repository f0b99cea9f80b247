"""The tokenizer of a GGUF file, by its ``tokenizer.ggml.model``.

    gpt2     tokens and merges in the byte-level alphabet  ->  as a tokenizer.json has them
    llama    pieces with scores, which are merged          ->  ``Pieces``
    t5       pieces with scores, a Unigram model           ->  ``Pieces``
    bert     words' tokens with U+2581 before them         ->  as a vocab.txt has them

Such a file says which pattern splits text by a name alone, ``tokenizer.ggml.pre``; ``_NAMED`` has
them. It has no normalizers, no options of added tokens, and does not say whether BERT's text is
lower-cased, which is found as for a vocab.txt.

Source: *GGUF*, the specification in the repository of ggml; the names are those of llama.cpp's
``llama-vocab.cpp``.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from ..diagnostics import TokenizerError
from ..files.gguf import KeyValues
from .definition import BYTE_LEVEL_PATTERN
from .huggingface import tokenizer_of
from .pieces import SPACE, Kind, Pieces, tokenizer_of_pieces
from .sizes import brief, check_added
from .tiktoken_ranks import CL100K, O200K
from .tokenizer import Tokenizer

_KEY = "tokenizer.ggml."


@dataclass(frozen=True, slots=True)
class _Splitting:
    """How text is split before it is merged: by each pattern in turn. ``ignores_merges``: a whole
    pre-token that is a token is that token."""

    patterns: tuple[str, ...]
    ignores_merges: bool = False


_CONTRACTIONS = "(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
_DIGIT = r"\p{N}"
_ONE_DIGIT = _Splitting((CL100K.replace(_DIGIT + "{1,3}", _DIGIT),))
_TEKKEN = O200K.replace(_CONTRACTIONS, "").replace(_DIGIT + "{1,3}", _DIGIT)
_GPT2 = _Splitting((BYTE_LEVEL_PATTERN,))
_DIGITS_FIRST = _Splitting((_DIGIT, BYTE_LEVEL_PATTERN))
_DEEPSEEK = (
    r"[!\"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+"
    r"| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)

_NAMED = {
    **dict.fromkeys(("gpt-2", "phi-2", "mpt", "olmo", "roberta-bpe", "jina-v2-code"), _GPT2),
    **dict.fromkeys(("llama-bpe", "llama3", "llama-v3"), _Splitting((CL100K,), True)),
    **dict.fromkeys(("falcon3", "pixtral", "lfm2"), _Splitting((CL100K,), True)),
    **dict.fromkeys(("dbrx", "smaug-bpe", "glm4", "chatglm-bpe"), _Splitting((CL100K,))),
    **dict.fromkeys(("qwen2", "deepseek-r1-qwen", "megrez", "stablelm2", "hunyuan"), _ONE_DIGIT),
    **dict.fromkeys(("starcoder", "refact", "command-r", "smollm", "codeshell"), _DIGITS_FIRST),
    **dict.fromkeys(("gpt-4o", "llama4"), _Splitting((O200K,))),
    "tekken": _Splitting((_TEKKEN,), True),
    "deepseek-v3": _Splitting((_DIGIT + "{1,3}", "[一-龥぀-ゟ゠-ヿ]+", _DEEPSEEK)),
}


def model_of(found: KeyValues) -> str:
    """The kind of tokenizer. Raises ``TokenizerError`` if there is none or it is not known."""
    model = found.values.get(_KEY + "model")
    if not isinstance(model, bytes):
        raise TokenizerError(
            "the GGUF file holds no tokenizer; give the file of the model, the first of its parts"
        )
    kind = model.decode("utf-8", "replace")
    if kind not in ("bert", *_READERS):
        known = ", ".join(("bert", *_READERS))
        raise TokenizerError(
            f"the tokenizer.ggml.model {brief(kind)} is not supported: {known} are"
        )
    return kind


def read_gguf(name: str, found: KeyValues) -> Tokenizer:
    """The tokenizer of a file's key-values, of any kind but ``bert``. Raises ``TokenizerError``,
    whose message does not name the file."""
    return _READERS[model_of(found)](name, found)


def bert_vocabulary(found: KeyValues) -> bytes:
    """The ``vocab.txt`` of a file whose kind is ``bert``."""
    lines = [
        text
        if text.startswith("[") and text.endswith("]")
        else text.removeprefix(SPACE)
        if text.startswith(SPACE)
        else f"##{text}"
        for text in _texts(found, "tokens")
    ]
    return "\n".join(lines).encode("utf-8")


def _of_merges(name: str, found: KeyValues) -> Tokenizer:
    pre = found.values.get(_KEY + "pre", b"default")
    named = pre.decode("utf-8", "replace") if isinstance(pre, bytes) else str(pre)
    if named not in _NAMED:
        raise TokenizerError(
            f"the tokenizer.ggml.pre {brief(named)} does not say how text is split; known are "
            f"{', '.join(_NAMED)}; give the model's tokenizer.json instead"
        )
    splitting, texts = _NAMED[named], _texts(found, "tokens")
    kinds = _kinds(found, len(texts))
    named_kinds = (Kind.CONTROL, Kind.USER_DEFINED, Kind.UNKNOWN)
    check_added(sum(kind in named_kinds for kind in kinds))
    split = [
        {"type": "Split", "pattern": {"Regex": pattern}, "behavior": "Isolated"}
        for pattern in splitting.patterns
    ]
    by_kind = list(enumerate(zip(texts, kinds, strict=True)))
    data: Mapping[str, Any] = {
        "added_tokens": [
            {"id": i, "content": text, "special": kind is not Kind.USER_DEFINED}
            for i, (text, kind) in by_kind
            if kind in named_kinds
        ],
        "pre_tokenizer": {
            "type": "Sequence",
            "pretokenizers": [*split, {"type": "ByteLevel", "use_regex": False}],
        },
        "model": {
            "vocab": {text: i for i, (text, kind) in by_kind if kind is Kind.NORMAL},
            "merges": _texts(found, "merges"),
            "ignore_merges": splitting.ignores_merges,
        },
    }
    tokenizer = tokenizer_of(name, found.sha256, data, None)
    return replace(tokenizer, eos=_eos(found, len(texts)), eos_is_guessed=False)


def _of_pieces(name: str, found: KeyValues, *, is_bpe: bool) -> Tokenizer:
    texts = _texts(found, "tokens")
    scores, kinds = _numbers(found, "scores", len(texts)).tolist(), _kinds(found, len(texts))
    if Kind.UNKNOWN not in kinds:
        unknown = _id(found, "unknown_token_id", len(texts))
        if unknown is not None:
            kinds[unknown] = Kind.UNKNOWN
    charsmap = found.values.get(_KEY + "precompiled_charsmap", np.zeros(0, np.uint8))
    pieces = Pieces(
        texts,
        scores,
        kinds,
        is_bpe=is_bpe,
        byte_fallback=Kind.BYTE in kinds,
        charsmap=charsmap.tobytes() if isinstance(charsmap, np.ndarray) else b"",
        adds_prefix=bool(found.values.get(_KEY + "add_space_prefix", True)),
        removes_spaces=bool(found.values.get(_KEY + "remove_extra_whitespaces", False)),
        escapes_spaces=True,
        eos=_eos(found, len(texts)),
    )
    return tokenizer_of_pieces(name, found.sha256, pieces)


_READERS: Mapping[str, Callable[[str, KeyValues], Tokenizer]] = {
    "gpt2": _of_merges,
    "llama": partial(_of_pieces, is_bpe=True),
    "t5": partial(_of_pieces, is_bpe=False),
}


def _texts(found: KeyValues, key: str) -> list[str]:
    """An array of strings. Raises ``TokenizerError`` if it is missing or not in UTF-8."""
    values = found.values.get(_KEY + key)
    if not isinstance(values, list):
        raise TokenizerError(f"the GGUF file has no strings {_KEY}{key}")
    try:
        return [value.decode("utf-8") for value in values]
    except UnicodeDecodeError as error:
        raise TokenizerError(f"{_KEY}{key} has a string that is not UTF-8 ({error})") from None


def _numbers(found: KeyValues, key: str, count: int) -> np.ndarray[Any, Any]:
    """An array with a number for each token."""
    values = found.values.get(_KEY + key)
    if not isinstance(values, np.ndarray) or len(values) != count:
        raise TokenizerError(f"the GGUF file has no {_KEY}{key} of each of its {count:,} tokens")
    return values


def _kinds(found: KeyValues, count: int) -> list[Kind]:
    """The type of each token; all are normal if none is said."""
    if _KEY + "token_type" not in found.values:
        return [Kind.NORMAL] * count
    try:
        return list(map(Kind, _numbers(found, "token_type", count).tolist()))
    except ValueError as error:
        raise TokenizerError(f"{_KEY}token_type has what is no type ({error})") from None


def _id(found: KeyValues, key: str, count: int) -> int | None:
    value = found.values.get(_KEY + key)
    return value if isinstance(value, int) and 0 <= value < count else None


def _eos(found: KeyValues, count: int) -> tuple[int, ...]:
    """The ids that end a text, or a turn."""
    ids: Sequence[int | None] = [_id(found, f"{key}_token_id", count) for key in ("eos", "eot")]
    return tuple(dict.fromkeys(i for i in ids if i is not None))
