"""The key of an artifact: a hash of all that its bytes depend on, without compiling it.

    artifact_key(text, options, tokenizer)   ->   64 hexadecimal digits

Compiling is deterministic, so two jobs of one key write the same bytes.
"""

import json
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, version
from os import PathLike
from pathlib import Path

from constrain.artifacts.container.sections import FORMAT_MAJOR, FORMAT_MINOR

from ..options import AnyTokenizer, CompileOptions
from ..tokenizers import load_tokenizer
from ..tokenizers.cached_arrays import fingerprint
from .jobs import options_to_json


@dataclass(frozen=True, slots=True)
class TokenizerKey:
    """What the key of an artifact holds of its tokenizer: its definition, and what ends a text."""

    text: str


def artifact_key(
    text: str,
    options: CompileOptions,
    tokenizer: "AnyTokenizer | TokenizerKey | str | PathLike[str] | None" = None,
) -> str:
    """The key of the artifact of a grammar's text; nothing is compiled.

    ``tokenizer``: the tokenizer, what ``load_tokenizer`` takes, or what ``tokenizer_key`` says of
    it, which costs nothing. Seconds are no part of the key: a compilation that ends in time gives
    the same however much of it was left. Files of ``options.schema.schemas`` count by their
    content, and so do those of ``options.imports`` and ``include`` where the text imports any.
    Raises ``TokenizerError`` and ``OSError``.
    """
    said = options_to_json(options)
    del said["limits"]["seconds"], said["limits"]["table_seconds"]
    if options.schema is not None:
        said["schema"]["schemas"] = [
            [uri, _files(Path(folder))] for uri, folder in options.schema.schemas
        ]
    folders = [*options.include, *([] if options.imports is None else [options.imports])]
    suffix, keyword = ("*.g4", "") if options.dialect == "antlr" else ("*.lark", "%import")
    said["imports"] = [_files(Path(folder), suffix) for folder in folders if keyword in text]
    del said["include"]
    if tokenizer is None or isinstance(tokenizer, str | PathLike):
        tokenizer = load_tokenizer(tokenizer)
    known = tokenizer if isinstance(tokenizer, TokenizerKey) else tokenizer_key(tokenizer)
    content = json.dumps(
        [FORMAT_MAJOR, FORMAT_MINOR, _release(), known.text, said, text], sort_keys=True
    )
    return sha256(content.encode("ascii")).hexdigest()


def tokenizer_key(tokenizer: AnyTokenizer) -> TokenizerKey:
    """What keys hold of a tokenizer, for ``artifact_key``."""
    return TokenizerKey(f"{fingerprint(tokenizer)} {tokenizer.sha256} {list(tokenizer.eos)}")


@cache
def _release() -> str:
    # Metadata of packages take a millisecond to read.
    try:
        return version("constrain-grammar")
    except PackageNotFoundError:
        return "not installed"


def _files(folder: Path, pattern: str = "*") -> list[list[str]]:
    """Each file below a folder that has such a name, with its hash."""
    return [
        [path.relative_to(folder).as_posix(), sha256(path.read_bytes()).hexdigest()]
        for path in sorted(folder.rglob(pattern))
        if path.is_file()
    ]
