"""Automata of slices, the token sets that a lazily computed mask can take whole.

    [^"\\\\\\x00-\\x1F\\x7F]{1,10}    what JSON strings hold without an escape, ten characters of it

Source: llguidance, "Optimizing": the slices for JSON schemas. A slice here is closed under
beginnings, so that tokens which stop inside a character belong to it as well.
"""

from collections.abc import Sequence

from constrain.artifacts.slices import Slice

from ..automata import regex
from ..automata.determinize import determinize
from ..automata.minimize import minimize
from ..automata.thompson import thompson

# Characters that JSON strings hold as they are, DEL left out.
_SAFE = regex.char_class(
    regex.complement([(0x00, 0x1F), (ord('"'), ord('"')), (ord("\\"), ord("\\")), (0x7F, 0x7F)])
)

JSON_LENGTHS: Sequence[int | None] = (10, 30, None)


def slice_of(node: regex.Node) -> Slice:
    """All beginnings of what ``node`` matches."""
    dfa = minimize(determinize(thompson(node)))
    return Slice(dfa.table, dfa.classes, dfa.start)


def json_slices() -> list[Slice]:
    """The slices for JSON strings, the shortest first."""
    return [slice_of(regex.repeat(_SAFE, 1, most)) for most in JSON_LENGTHS]
