"""WordPiece: text to tokens, the longest first, in linear time.

    normalizer (clean up, lower-case, accents, CJK) -> end_to_end (words and tokens in one pass)
    trie -> failure (Algorithm 2) -> linmaxmatch (Algorithm 1) -> transducer (Algorithm 4)

Source: Song, Salcianu, Song, Dopson, Zhou, "Fast WordPiece Tokenization" (2021). ``formal``
holds its definitions as oracles. Offers the loaded tokenizer.
"""

from .load import is_wordpiece, load_wordpiece
from .tokenizer import Piece, WordPieceTokenizer

__all__ = ["Piece", "WordPieceTokenizer", "is_wordpiece", "load_wordpiece"]
