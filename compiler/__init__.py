"""Everything that happens before decoding: from a grammar's text to an artifact.

    dialects -> grammar -> choose      text -> tree -> semantics and engine
    lnf -> automata                    normal form -> NFA -> minimal DFA, of regular grammars
    network, earley, maximal_munch     tables of grammars that nest
    merge, cartesian, dfa              DFA and tokenizer -> canonical token sequences -> mask rows
    machine                            all tables -> sections of an artifact

``compiler`` is the door, ``pipeline`` runs the steps in order, and ``README.md`` is the map. The
names below load on first use.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .batch.batch import compile_many
    from .batch.job import CompileJob, JobResult, compile_job
    from .compiler import Compiler, compile_grammar
    from .coverage.captures import captures_of
    from .diagnostics import WeakerMasksWarning
    from .files.cache import Cache
    from .limits import Limits
    from .options import CompileOptions
    from .schema import SchemaOptions
    from .serving.artifact_key import artifact_key
    from .tokenizers import Tokenizer, load_tokenizer
    from .wordpiece.tokenizer import WordPieceTokenizer

__all__ = [
    "Cache",
    "CompileJob",
    "CompileOptions",
    "Compiler",
    "JobResult",
    "Limits",
    "SchemaOptions",
    "Tokenizer",
    "WeakerMasksWarning",
    "WordPieceTokenizer",
    "artifact_key",
    "captures_of",
    "compile_grammar",
    "compile_job",
    "compile_many",
    "load_tokenizer",
]

_HOME = {
    "Cache": ".files.cache",
    "CompileOptions": ".options",
    "Limits": ".limits",
    "SchemaOptions": ".schema",
    "Tokenizer": ".tokenizers",
    "WeakerMasksWarning": ".diagnostics",
    "WordPieceTokenizer": ".wordpiece.tokenizer",
    "Compiler": ".compiler",
    "compile_grammar": ".compiler",
    "artifact_key": ".serving.artifact_key",
    "captures_of": ".coverage.captures",
    "CompileJob": ".batch.job",
    "JobResult": ".batch.job",
    "compile_job": ".batch.job",
    "compile_many": ".batch.batch",
    "load_tokenizer": ".tokenizers",
}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOME[name], __name__), name)
