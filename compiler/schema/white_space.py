r"""White space of a text's own: what a pattern matches, such as ``[ ]?`` or ``[\n ]{0,3}``."""

from functools import lru_cache

from ..automata import regex_ir as ir
from ..automata.boolean import difference
from ..automata.dfa import Dfa
from ..automata.minimize import minimal
from ..automata.thompson import thompson
from .patterns import PatternError, search


@lru_cache(64)
def white_space(pattern: str) -> Dfa:
    """The texts that the whole of a pattern matches. Raises ``ValueError`` for a pattern that
    cannot be read, and for texts that are no white space of JSON."""
    try:
        found = search(f"^(?:{pattern})$")
    except PatternError as error:
        raise ValueError(f"the pattern {pattern!r:.60} of white space: {error}") from None
    octets = ir.char_class((ord(char), ord(char)) for char in " \t\n\r")
    spaces = minimal(thompson(ir.repeat(octets, 0, None)))
    if found.is_empty or not difference(found, spaces).is_empty:
        raise ValueError(f"the pattern {pattern!r:.60} has to match white space, and it alone")
    return found
