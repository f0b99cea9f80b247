"""From a tree back to text, in the grammar's own dialect or in another.

    tree  ->  printer (brackets by precedence)  +  a style for each dialect  ->  text

What a dialect has no counterpart for is refused with its place in the source.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from .gbnf import write_gbnf
from .iso14977 import write_iso14977
from .kbnf import write_kbnf
from .one_regex import write_regex
from .w3c import write_w3c

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..grammar.tree import Grammar
    from ..limits import Limits

__all__ = [
    "WRITERS",
    "write",
    "write_gbnf",
    "write_iso14977",
    "write_kbnf",
    "write_regex",
    "write_w3c",
]

WRITERS: "Mapping[str, Callable[[Grammar], str]]" = {
    "gbnf": write_gbnf,
    "iso14977": write_iso14977,
    "kbnf": write_kbnf,
    "regex": write_regex,
    "w3c": write_w3c,
}


def write(grammar: "Grammar", dialect: str, limits: "Limits | None" = None) -> str:
    """The grammar in another dialect. Raises ``WriterError``; for ``regex``, which builds
    automata, also ``NotRegularError`` and ``LimitError``."""
    if dialect == "regex":
        return write_regex(grammar, limits)
    return WRITERS[dialect](grammar)
