"""A tokenizer as named arrays, for the cache on disk, and back.

Tables that are large (tokens, merges) are arrays; all else is one JSON text in ``about``.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, fields, replace
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from constrain.artifacts.container.sections import check_sections, check_types, require

from ..wordpiece.normalizer import BertNormalizer
from . import definition as steps
from .definition import AddedToken, Unigram
from .encoding.charsmap import charsmap_of
from .patterns import check_pattern
from .tokenizer import Tokenizer, TokenTable
from .vocabulary import LARGEST_ID

if TYPE_CHECKING:
    from ..wordpiece import WordPieceTokenizer

# Goes up with every change of a reader or of this layout: older entries are then not found.
VERSION = 7

_STEPS: dict[str, Callable[..., Any]] = {
    kind.__name__: kind
    for kind in (
        steps.Split,
        steps.ByteLevel,
        steps.Digits,
        steps.Punctuation,
        steps.Whitespace,
        steps.WhitespaceSplit,
        steps.UnicodeScripts,
        steps.Metaspace,
        steps.Normalize,
        steps.Replace,
        steps.Prepend,
        steps.Lowercase,
        steps.Strip,
        steps.Nmt,
        steps.StripAccents,
        BertNormalizer,
        steps.Precompiled,
    )
}
_ENUMS = {"behaviour": steps.Behaviour, "prepend": steps.PrependScheme, "form": steps.Form}


def to_arrays(tokenizer: Tokenizer) -> dict[str, NDArray[Any]]:
    """All of a tokenizer but its name; ``from_arrays`` is the inverse."""
    about = {
        "sha256": tokenizer.sha256,
        "added_tokens": [list(asdict(token).values()) for token in tokenizer.added_tokens],
        "eos": tokenizer.eos,
        "vocab_size": tokenizer.vocab_size,
        "normalizers": [_step(step) for step in tokenizer.normalizers],
        "pre_tokenizers": [_step(step) for step in tokenizer.pre_tokenizers],
        "byte_fallback": tokenizer.byte_fallback,
        "unk": tokenizer.unk,
        "fuse_unk": tokenizer.fuse_unk,
        "ignore_merges": tokenizer.ignore_merges,
        "eos_is_guessed": tokenizer.eos_is_guessed,
        "continuing_prefix": tokenizer.continuing_prefix,
        "end_suffix": tokenizer.end_suffix,
        "affixed": dict(tokenizer.affixed),
        "unigram": _about_unigram(tokenizer.unigram),
    }
    table = TokenTable.of(tokenizer.tokens)
    return {
        "about": np.frombuffer(json.dumps(about).encode("ascii"), dtype=np.uint8),
        "base": np.array(tokenizer.base, dtype=np.int32),
        "characters": np.array([ord(c) for c in tokenizer.characters], dtype=np.int32),
        "character_ids": np.array(list(tokenizer.characters.values()), dtype=np.int32),
        "merges": tokenizer.merges,
        **{f"tokens.{name}": array for name, array in table.arrays().items()},
        **_unigram_arrays(tokenizer.unigram),
    }


def fingerprint(tokenizer: "Tokenizer | WordPieceTokenizer") -> str:
    """A hash of all that tables of the tokenizer can depend on: of its definition, not its file.

    A tokenizer that was changed in memory has the hash of the file that it was read from, and
    another fingerprint.
    """
    if not isinstance(tokenizer, Tokenizer):
        return tokenizer.fingerprint
    plain = replace(tokenizer, sha256="", eos=())
    digest = sha256()
    for name, array in sorted(to_arrays(plain).items()):
        digest.update(f"{name} {array.dtype} {array.shape} ".encode("ascii"))
        digest.update(np.ascontiguousarray(array).data)
    return digest.hexdigest()


def from_arrays(name: str, arrays: Mapping[str, NDArray[Any]]) -> Tokenizer:
    """The tokenizer of some arrays, with the name ``name``. Raises ``ArtifactError``, ``KeyError``,
    ``TypeError`` or ``ValueError`` for arrays that are not of a tokenizer."""
    about = json.loads(arrays["about"].tobytes())
    codes = map(chr, arrays["characters"].tolist())
    return Tokenizer(
        name=name,
        sha256=about["sha256"],
        tokens=TokenTable(*(arrays[f"tokens.{part}"] for part in ("data", "offsets", "present"))),
        added_tokens=tuple(AddedToken(*fields) for fields in about["added_tokens"]),
        merges=arrays["merges"],
        base=arrays["base"].tolist(),
        eos=tuple(about["eos"]),
        vocab_size=about["vocab_size"],
        normalizers=tuple(_step_of(found) for found in about["normalizers"]),
        pre_tokenizers=tuple(_step_of(found) for found in about["pre_tokenizers"]),
        characters=dict(zip(codes, arrays["character_ids"].tolist(), strict=True)),
        byte_fallback=tuple(about["byte_fallback"]),
        unk=about["unk"],
        fuse_unk=about["fuse_unk"],
        ignore_merges=about["ignore_merges"],
        eos_is_guessed=about["eos_is_guessed"],
        continuing_prefix=about["continuing_prefix"],
        end_suffix=about["end_suffix"],
        affixed=about["affixed"],
        unigram=_unigram(about["unigram"], arrays),
    )


def _about_unigram(model: Unigram | None) -> list[Any] | None:
    return None if model is None else [model.unknown, model.is_single]


def _unigram_arrays(model: Unigram | None) -> dict[str, NDArray[Any]]:
    """The pieces as one text, their lengths in it, ids, and the bits of their scores; empty without
    a model."""
    pieces = {} if model is None else model.pieces
    text = "".join(pieces).encode("utf-8")
    return {
        "unigram.text": np.frombuffer(text, dtype=np.uint8),
        "unigram.lengths": np.array([len(piece) for piece in pieces], dtype=np.int32),
        "unigram.ids": np.array(list(pieces.values()), dtype=np.int32),
        "unigram.scores": (np.zeros(0) if model is None else model.scores).view(np.int64),
    }


def _unigram(about: list[Any] | None, arrays: Mapping[str, NDArray[Any]]) -> Unigram | None:
    if about is None:
        return None
    text, ends = (
        arrays["unigram.text"].tobytes().decode("utf-8"),
        arrays["unigram.lengths"].cumsum(),
    )
    ends = ends.tolist()
    starts = [0, *ends[:-1]]
    pieces = (text[start:end] for start, end in zip(starts, ends, strict=True))
    ids = arrays["unigram.ids"].tolist()
    scores = arrays["unigram.scores"].view(np.float64)
    return Unigram(dict(zip(pieces, ids, strict=True)), scores, *about)


_TABLES = {
    "about": "uint8 (bytes)",
    "base": "int32 (256) -1..vocab",
    "character_ids": "int32 (ids) 0..vocab",
    "characters": f"int32 (characters) 0..{0x110000}",
    "merges": "int32 (merges, 3) 0..vocab",
    "tokens.present": "uint8 (tokens) 0..2",
    "tokens.data": "uint8 (text)",
    "tokens.offsets": "int64 (tokens+1) to:text",
    "unigram.ids": "int32 (pieces) 0..vocab",
    "unigram.lengths": "int32 (pieces) 1..",
    "unigram.scores": "int64 (pieces)",
    "unigram.text": "uint8 (pieces_text)",
}


def check_arrays(arrays: Mapping[str, NDArray[Any]]) -> None:
    """Raise some exception unless all numbers are ids and places of this tokenizer."""
    check_types(arrays, {"about": _TABLES["about"]})
    about = json.loads(arrays["about"].tobytes())
    size, added = about["vocab_size"], about["added_tokens"]
    require(type(size) is int and size <= LARGEST_ID + 1, "about")
    tokens = check_sections(arrays, _TABLES, vocab=size)["tokens"]
    require(tokens <= size, "about")
    _check_unigram(about["unigram"], arrays)
    ids = [*about["eos"], *(fields[0] for fields in added), *about["affixed"].values()]
    ids += [] if about["unk"] is None else [about["unk"]]
    fallback = about["byte_fallback"]
    require(len(fallback) in (0, 256), "about")
    require(all(type(i) is int and 0 <= i < size for i in ids), "about")
    require(all(type(i) is int and -1 <= i < size for i in fallback), "about")
    flags = [about[name] for name in ("fuse_unk", "ignore_merges", "eos_is_guessed")]
    for _, content, *rest in added:
        require(type(content) is str and len(rest) == _FLAGS, "about")
        flags += rest
    require(all(type(flag) is bool for flag in flags), "about")
    texts = [about["continuing_prefix"], about["end_suffix"], *about["affixed"]]
    require(all(type(text) is str for text in texts), "about")
    names = "".join([about["sha256"], *texts, *(fields[1] for fields in added)])
    names.encode("utf-8")  # Lone surrogates are no text.
    require(len(about["sha256"]) == 64, "about")


_FLAGS = len(fields(AddedToken)) - 2


def _check_unigram(about: Any, arrays: Mapping[str, NDArray[Any]]) -> None:
    """Raise some exception unless these are the pieces of a model, or none."""
    lengths, text = arrays["unigram.lengths"], arrays["unigram.text"].tobytes().decode("utf-8")
    scores = arrays["unigram.scores"].view(np.float64)
    require(int(lengths.sum()) == len(text), "unigram.lengths")
    require(bool(np.isfinite(scores).all()), "unigram.scores")
    if about is not None:
        unknown, is_single = about
        require(type(unknown) is float and type(is_single) is bool, "about")


def _step(step: Any) -> dict[str, Any]:
    return {"kind": type(step).__name__, **asdict(step)}


def _step_of(found: dict[str, Any]) -> Any:
    values = {k: _ENUMS[k](v) if k in _ENUMS else v for k, v in found.items() if k != "kind"}
    values = {k: tuple(v) if isinstance(v, list) else v for k, v in values.items()}
    step = _STEPS[found["kind"]](**values)
    for field in fields(step):
        value = getattr(step, field.name)
        if isinstance(value, tuple):
            require(field.name == "kept" and all(type(v) is str and v for v in value), "about")
            continue
        wanted = bool if field.type is bool or field.type == "bool" else str
        require(isinstance(value, wanted), "about")
    if isinstance(step, steps.Precompiled):
        charsmap_of(step.charsmap)
    if found["kind"] == "Split" or values.get("is_regex"):
        check_pattern(values["pattern"])
    return step
