"""Whether a file is a WordPiece tokenizer, without what reads one."""

import json
from os import PathLike
from pathlib import Path

from constrain.artifacts.container.regular import regular

MODEL = "WordPiece"


def is_wordpiece(path: str | PathLike[str]) -> bool:
    """Whether a file or folder names a WordPiece tokenizer, by suffix or by its model's type."""
    file = Path(path)
    if file.suffix == ".txt":
        return True
    try:
        file = regular(file / "tokenizer.json") if file.is_dir() else file
        return is_wordpiece_json(file.read_bytes())
    except OSError:
        return False


def is_wordpiece_json(raw: bytes) -> bool:
    """Whether the content of a ``tokenizer.json`` is a WordPiece tokenizer's."""
    try:
        # Most files need not be parsed to know.
        return MODEL.encode() in raw and json.loads(raw)["model"]["type"] == MODEL
    except (ValueError, KeyError, TypeError, RecursionError):
        return False
