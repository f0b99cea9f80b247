"""A grammar as another engine reads it: in its author's words where the engine reads that dialect,
else written in one that it reads, with the same members.

What an engine makes of it is another question: llguidance reads terminals greedily, and xgrammar
has its own bounds. That is why masks are compared.
"""

import sys
from dataclasses import dataclass

from ..diagnostics import GrammarError, LimitError
from ..dialects import JSON_SCHEMA
from ..frontend import read_checked
from ..options import CompileOptions
from ..schema.options import SchemaOptions
from ..writers.convert import convert
from .bench_child import LLGUIDANCE, XGRAMMAR
from .bench_run import is_installed


@dataclass(frozen=True, slots=True)
class Given:
    """``notation``: ``gbnf``, ``lark``, ``regex`` or ``json-schema``. ``how``: for people."""

    notation: str
    text: str
    how: str


@dataclass(frozen=True, slots=True)
class Peer:
    """Another engine. ``given``: the grammar as it reads it, or why it cannot."""

    name: str
    given: Given | str


# What an engine reads in its author's words, and what is written for it, the first that can be.
_READS = {
    LLGUIDANCE: ((JSON_SCHEMA, "lark"), ("regex", "lark")),
    XGRAMMAR: ((JSON_SCHEMA, "gbnf"), ("gbnf",)),
}
PEERS = tuple(_READS)


def peer_of(engine: str, text: str | None, options: CompileOptions, name: str) -> Peer:
    """An engine and what it is given, or why it is given nothing. ``text``: None of an artifact
    without it."""
    if text is None:
        return Peer(engine, "the artifact's grammar was stripped")
    if options.max_depth is not None:
        return Peer(engine, "it knows no --max-depth")
    if not is_installed(engine):
        return Peer(engine, f"it is not installed for {sys.executable}")
    try:
        return Peer(engine, given_to(engine, text, options, name))
    except (GrammarError, LimitError) as error:
        notations = " or ".join(_READS[engine][1])
        why = error.diagnostics[0].message if isinstance(error, GrammarError) else str(error)
        return Peer(engine, f"the grammar cannot be written as {notations}: {why}")


def given_to(engine: str, text: str, options: CompileOptions, name: str) -> Given:
    """The grammar ``text``, which errors call ``name``. Raises ``GrammarError`` and ``LimitError``
    where it cannot be written so with the same members."""
    own, written = _READS[engine]
    dialect = options.dialect or ""
    if dialect in own and options.start is None:
        without = " without the options for schemas" * (
            options.schema not in (None, SchemaOptions())
        )
        return Given(dialect, text, f"as it is ({dialect}){without}")
    tree, error = read_checked(text, options, name), None
    for notation in written:
        try:
            found = convert(tree, notation, options)
        except (GrammarError, LimitError) as refusal:
            error = refusal
        else:
            # The line break at its end is the file's.
            text = found.text.removesuffix("\n")
            return Given(notation, text, f"written as {notation}, with the same members")
    assert error is not None
    raise error
