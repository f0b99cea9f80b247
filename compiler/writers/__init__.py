"""From a tree back to text, in the grammar's own dialect or in another.

    tree  ->  printer (brackets by precedence)  +  a style for each dialect  ->  text

What a dialect has no counterpart for is refused with its place in the source.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from .gbnf import write_gbnf
from .iso14977 import write_iso14977
from .kbnf import write_kbnf
from .w3c import write_w3c

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..grammar.tree import Grammar

__all__ = ["WRITERS", "write_gbnf", "write_iso14977", "write_kbnf", "write_w3c"]

WRITERS: "Mapping[str, Callable[[Grammar], str]]" = {
    "gbnf": write_gbnf,
    "iso14977": write_iso14977,
    "kbnf": write_kbnf,
    "w3c": write_w3c,
}
