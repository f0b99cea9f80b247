"""What a compiled grammar is, and the machine that runs it.

A server that only decodes imports this package alone: it needs numpy and the
standard library.

    read -> Artifact -> matcher -> mask, advance, rollback

``layout`` says which sections a file holds; ``write`` and ``read`` move them to
and from disk; ``artifact`` is what they add up to; ``matcher`` walks it. The
names below load on first use, so that ``--help`` does not pay for numpy.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .artifact import Artifact
    from .errors import ArtifactError, ConstrainError, TokenRefusedError
    from .matcher import Matcher
    from .read import load

__all__ = ["Artifact", "ArtifactError", "ConstrainError", "Matcher", "TokenRefusedError", "load"]

_HOME = {
    "Artifact": ".artifact",
    "ArtifactError": ".errors",
    "ConstrainError": ".errors",
    "Matcher": ".matcher",
    "TokenRefusedError": ".errors",
    "load": ".read",
}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOME[name], __name__), name)
