"""Everything that happens before decoding: from a grammar's text to an artifact.

    dialects -> grammar (tree) -> lnf -> automata (NFA, DFA, minimal DFA)
    tokenizers (token bytes, merges), wordpiece (words cut in linear time)
    merge (DirectMerge) and masks (rows)  ->  an artifact's arrays
    parsing (networks, Earley) instead of automata and merge where a grammar nests

``pipeline`` runs the stages in order; the other packages never see it. The names
below load on first use.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .cache import Cache
    from .limits import Limits
    from .pipeline import compile_grammar
    from .tokenizers import Tokenizer, load_tokenizer
    from .wordpiece import WordPieceTokenizer, load_wordpiece

__all__ = [
    "Cache",
    "Limits",
    "Tokenizer",
    "WordPieceTokenizer",
    "compile_grammar",
    "load_tokenizer",
    "load_wordpiece",
]

_HOME = {
    "Cache": ".cache",
    "Limits": ".limits",
    "Tokenizer": ".tokenizers",
    "WordPieceTokenizer": ".wordpiece",
    "compile_grammar": ".pipeline",
    "load_tokenizer": ".tokenizers",
    "load_wordpiece": ".wordpiece",
}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOME[name], __name__), name)
