"""A tokenizer as named arrays, for the cache on disk, and back.

Tables that are large (tokens, merges) are arrays; all else is one JSON text in ``about``.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, replace
from hashlib import sha256
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import definition as steps
from .definition import AddedToken
from .tokenizer import Tokenizer, TokenTable

# Goes up with every change of a reader or of this layout: older entries are then not found.
VERSION = 4

_STEPS: dict[str, Callable[..., Any]] = {
    kind.__name__: kind
    for kind in (
        steps.Split,
        steps.ByteLevel,
        steps.Digits,
        steps.Punctuation,
        steps.Whitespace,
        steps.WhitespaceSplit,
        steps.Metaspace,
        steps.Normalize,
        steps.Replace,
        steps.Prepend,
        steps.Lowercase,
        steps.Strip,
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
    }
    tokens = tokenizer.tokens
    table = tokens if isinstance(tokens, TokenTable) else TokenTable.of(tokens)
    return {
        "about": np.frombuffer(json.dumps(about).encode("ascii"), dtype=np.uint8),
        "base": np.array(tokenizer.base, dtype=np.int32),
        "characters": np.array([ord(c) for c in tokenizer.characters], dtype=np.int32),
        "character_ids": np.array(list(tokenizer.characters.values()), dtype=np.int32),
        "merges": tokenizer.merges,
        **{f"tokens.{name}": array for name, array in table.arrays().items()},
    }


def fingerprint(tokenizer: Tokenizer) -> str:
    """A hash of all that tables of the tokenizer can depend on: of its definition, not its file.

    A tokenizer that was changed in memory has the hash of the file that it was read from, and
    another fingerprint.
    """
    plain = replace(tokenizer, sha256="", eos=())
    digest = sha256()
    for name, array in sorted(to_arrays(plain).items()):
        digest.update(f"{name} {array.dtype} {array.shape} ".encode("ascii"))
        digest.update(np.ascontiguousarray(array).data)
    return digest.hexdigest()


def from_arrays(name: str, arrays: Mapping[str, NDArray[Any]]) -> Tokenizer:
    """The tokenizer of some arrays, with the name ``name``."""
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
    )


def _step(step: Any) -> dict[str, Any]:
    return {"kind": type(step).__name__, **asdict(step)}


def _step_of(found: dict[str, Any]) -> Any:
    fields = {k: _ENUMS[k](v) if k in _ENUMS else v for k, v in found.items() if k != "kind"}
    return _STEPS[found["kind"]](**fields)
