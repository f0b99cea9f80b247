"""Grammars for the constrained decoding of language models.

    import constrain
    artifact = constrain.compile(Person, "tokenizer.json")    a type, a schema, tools, a grammar
    matcher = constrain.load("person.cst").matcher()          masks while decoding

This is the package ``constrain`` itself: its public names, each loaded when it is first used. A
server that only decodes imports ``constrain.artifacts`` and loads nothing of the compiler.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from constrain.artifacts import Artifact, ConstrainError, Matcher, fill_many, load
    from constrain.compiler import Compiler, Limits, SchemaOptions, compile_many, load_tokenizer
    from constrain.compiler.serving.one_call import compile  # noqa: A004 - as re.compile

    __version__: str

__all__ = [
    "Artifact",
    "Compiler",
    "ConstrainError",
    "Limits",
    "Matcher",
    "SchemaOptions",
    "__version__",
    "compile",
    "compile_many",
    "fill_many",
    "load",
    "load_tokenizer",
]

_ARTIFACTS = ("Artifact", "ConstrainError", "Matcher", "fill_many", "load")


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    if name == "__version__":
        from importlib.metadata import version

        return version("constrain-grammar")
    room = ".artifacts" if name in _ARTIFACTS else ".compiler"
    home = ".compiler.serving.one_call" if name == "compile" else room
    return getattr(import_module(home, __name__), name)


def __dir__() -> list[str]:
    return [*__all__, *(name for name in globals() if name.startswith("__"))]
