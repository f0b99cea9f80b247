"""Load a tokenizer from whatever names it: a file, a folder, or a name on a hub."""

import json
from collections.abc import Callable
from importlib.resources import as_file, files
from os import PathLike, fspath
from pathlib import Path

from ..diagnostics import TokenizerError
from .tokenizer import Tokenizer

_Loader = Callable[[], Tokenizer]


def default_path() -> Path:
    """Where the embedded default tokenizer is."""
    with as_file(files(__package__).joinpath("default", "tokenizer.json")) as path:
        return path


def load_tokenizer(path: str | PathLike[str]) -> Tokenizer:
    """Load a ``tokenizer.json``, or the one in a folder.

    Raises ``TokenizerError`` naming the file and what it has that is not supported.
    """
    from .huggingface import read_tokenizer_json

    file = Path(path)
    if file.is_dir():
        file /= "tokenizer.json"
    try:
        raw = file.read_bytes()
    except OSError as error:
        raise TokenizerError(f"{fspath(path)}: {error.strerror or error}") from None
    try:
        return read_tokenizer_json(fspath(path), raw, _configured_eos(file))
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
