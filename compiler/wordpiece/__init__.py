"""WordPiece: text to tokens, the longest first, in linear time.

    normalizer (clean up, lower-case, accents, CJK) -> end_to_end (words and tokens in one pass)
    trie -> failure (Algorithm 2) -> linmaxmatch (Algorithm 1) -> transducer (Algorithm 4)

Source: Song, Salcianu, Song, Dopson, Zhou, "Fast WordPiece Tokenization" (2021). ``formal``
holds its definitions as oracles. Offers the loaded tokenizer; the names below load on first use.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .detect import is_wordpiece
    from .load import load_wordpiece
    from .tokenizer import Piece, WordPieceTokenizer

__all__ = ["Piece", "WordPieceTokenizer", "is_wordpiece", "load_wordpiece"]

_HOME = {
    "Piece": ".tokenizer",
    "WordPieceTokenizer": ".tokenizer",
    "is_wordpiece": ".detect",
    "load_wordpiece": ".load",
}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOME[name], __name__), name)
