"""What a compiled grammar is, and the machine that runs it.

A server that only decodes imports this package alone: it needs numpy and the
standard library.

    file -> read.load (container: sections and manifest) -> artifact.Artifact
    Artifact -> kinds (what its kind's sections must hold, and the machine made of them)
    machine -> matcher.Matcher: mask, advance, rollback;  tokens.bitmask.fill_many: of many texts
    prefix.boundaries: masks of a text
    serving: processors for servers of models

One room a machine: ``dfa``, ``network``, ``machine``, ``canonical_network``, ``maximal_munch``,
``lazy_lexer``, ``earley``, ``wordpiece``; ``tokens``, ``walk`` and ``tokenizer_steps`` are what
they share.
The names below load on first use, so that ``--help`` does not pay for numpy.
"""

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .artifact import Artifact
    from .errors import ArtifactError, ConstrainError, TokenRefusedError
    from .matcher import Matcher
    from .read import load
    from .tokens.bitmask import fill_many

__all__ = [
    "Artifact",
    "ArtifactError",
    "ConstrainError",
    "Matcher",
    "TokenRefusedError",
    "fill_many",
    "load",
]

_HOME = {
    "Artifact": ".artifact",
    "ArtifactError": ".errors",
    "ConstrainError": ".errors",
    "Matcher": ".matcher",
    "TokenRefusedError": ".errors",
    "fill_many": ".tokens.bitmask",
    "load": ".read",
}


# Another distribution's files may lie over ours: then public names are missing.
_package = sys.modules[__name__.partition(".")[0]]
_place = getattr(_package, "__file__", None) or "without an __init__.py"
if "load_tokenizer" not in getattr(_package, "__all__", ()):
    raise ImportError(
        f"the package 'constrain' ({_place}) is not of constrain-grammar: another distribution has "
        "this name. Both cannot stand side by side: pip uninstall constrain, then pip install "
        "--force-reinstall constrain-grammar",
        name="constrain",
    )


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOME[name], __name__), name)
