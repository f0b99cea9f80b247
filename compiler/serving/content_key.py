"""The key of an artifact: a hash of all that its bytes depend on, without compiling it.

    content_key(text, options, tokenizer)   ->   64 hexadecimal digits

Compiling is deterministic, so two jobs of one key write the same bytes.
"""

import json
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from constrain.artifacts.container.sections import FORMAT_MAJOR, FORMAT_MINOR

from ..options import AnyTokenizer, CompileOptions
from ..tokenizers.cached_arrays import fingerprint
from ..tokenizers.tokenizer import Tokenizer
from .jobs import options_to_json


def content_key(text: str, options: CompileOptions, tokenizer: "AnyTokenizer | str") -> str:
    """The key of the artifact of a grammar's text.

    ``tokenizer``: the tokenizer, or what ``tokenizer_key`` says of it. Seconds are no part of the
    key: a compilation that ends in time gives the same however much of it was left. Files of
    ``options.schema.schemas`` count by their content.
    """
    said = options_to_json(options)
    del said["limits"]["seconds"]
    if options.schema is not None:
        said["schema"]["schemas"] = [
            [uri, _files(Path(folder))] for uri, folder in options.schema.schemas
        ]
    if options.imports is not None:
        said["imports"] = _files(Path(options.imports))
    known = tokenizer if isinstance(tokenizer, str) else tokenizer_key(tokenizer)
    content = json.dumps(
        [FORMAT_MAJOR, FORMAT_MINOR, _release(), known, said, text], sort_keys=True
    )
    return sha256(content.encode("ascii")).hexdigest()


def tokenizer_key(tokenizer: AnyTokenizer) -> str:
    """What the key of an artifact holds of its tokenizer: its definition, and what ends a text."""
    if isinstance(tokenizer, Tokenizer):
        return f"{fingerprint(tokenizer)} {tokenizer.sha256} {list(tokenizer.eos)}"
    return f"wordpiece {tokenizer.sha256} {list(tokenizer.eos)}"


def _release() -> str:
    try:
        return version("constrain-grammar")
    except PackageNotFoundError:
        return "not installed"


def _files(folder: Path) -> list[list[str]]:
    """Each file below a folder, with its hash."""
    return [
        [path.relative_to(folder).as_posix(), sha256(path.read_bytes()).hexdigest()]
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    ]
