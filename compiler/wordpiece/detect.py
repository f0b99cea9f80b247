"""Whether a file is a WordPiece tokenizer, without what reads one."""

from os import PathLike
from pathlib import Path

from constrain.artifacts.container.regular import regular

from ..diagnostics import TokenizerError
from ..files.bounded import bounded_json, read_bounded

MODEL = "WordPiece"


def is_wordpiece(path: str | PathLike[str]) -> bool:
    """Whether a file or folder names a WordPiece tokenizer, by suffix or by its model's type."""
    file = Path(path)
    if file.suffix == ".txt":
        return True
    try:
        file = regular(file / "tokenizer.json") if file.is_dir() else file
        return is_wordpiece_json(read_bounded(file))
    except (OSError, TokenizerError):
        return False


def is_wordpiece_json(raw: bytes) -> bool:
    """Whether the content of a ``tokenizer.json`` is a WordPiece tokenizer's."""
    try:
        # Most files need not be parsed to know.
        return MODEL.encode() in raw and bounded_json(raw, "")["model"]["type"] == MODEL
    except (TokenizerError, KeyError, TypeError, IndexError):
        return False
