"""WordPiece: text to tokens, the longest first, in linear time; and grammars over such tokens.

    file   -> load -> tokenizer: normalizer -> end_to_end (words, and tokens by linmaxmatch) -> ids
    grammar's DFA -> image (of each code point) -> normalized_language, unknown_words (canon(L))
           -> trie_layout, word_ends -> tokenizer_dfa (the sections that artifacts/wordpiece runs)

Source: Song, Salcianu, Song, Dopson, Zhou, "Fast WordPiece Tokenization" (2021).
``README.md`` has terms, lemmas and costs. The names below load on first use.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .detect import is_wordpiece, is_wordpiece_json
    from .load import load_wordpiece, wordpiece_of_json, wordpiece_of_vocabulary
    from .tokenizer import TokenSpan, WordPieceTokenizer

__all__ = [
    "TokenSpan",
    "WordPieceTokenizer",
    "is_wordpiece",
    "is_wordpiece_json",
    "load_wordpiece",
    "wordpiece_of_json",
    "wordpiece_of_vocabulary",
]

_HOME = {
    "TokenSpan": ".tokenizer",
    "WordPieceTokenizer": ".tokenizer",
    "is_wordpiece": ".detect",
    "is_wordpiece_json": ".detect",
    "load_wordpiece": ".load",
    "wordpiece_of_json": ".load",
    "wordpiece_of_vocabulary": ".load",
}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOME[name], __name__), name)
