"""A set of keys in parts: keys of two parts are surely different ones.

    keys that begin with "x", in three parts  ->  x[adg…], x[beh…], x[cfi…]

Parts differ in the first byte after what all keys of the set begin with. Where that makes too few,
parts are divided again, so a set of finitely many keys falls into these keys if there is room.
"""

from ...automata import regex_ir as regex
from ...automata.dfa import Dfa
from ...automata.minimize import minimal
from ...automata.thompson import thompson
from ..sets import TextAlgebra, Texts, quoted

_ANY_BYTES = regex.repeat(regex.byte_class([(0, 255)]), 0, None)


def key_parts(keys: Texts, most: int, algebra: TextAlgebra) -> list[Dfa]:
    """At most so many parts of a set that is not empty, as automata over decoded texts; fewer only
    where each of them is a single key. Raises ``LimitError``."""
    found = [algebra.dfa(keys)]
    while len(found) < most:
        for place, part in enumerate(found):
            smaller = _divided(part, most - len(found) + 1, algebra)
            if len(smaller) > 1:
                found[place : place + 1] = smaller
                break
        else:
            break
    return found


def is_one_key(part: Dfa) -> bool:
    """Whether a trimmed automaton has a single text."""
    return not _beginning(part)[1]


def label(part: Dfa) -> str:
    """Which keys are in a part: what all begin with, and the letters and digits that may follow."""
    begins, octets, is_key = _beginning(part)
    text = begins.decode("utf-8", "replace")
    if not octets:
        return quoted(text, ascii=False)
    shown = "".join(chr(octet) for octet in octets if octet < 0x80 and chr(octet).isalnum())
    return f"{text}[{shown}{'…' if is_key or len(shown) < len(octets) else ''}]"


def _divided(part: Dfa, most: int, algebra: TextAlgebra) -> list[Dfa]:
    """The part in two to ``most`` ones, or itself where it is a single key."""
    begins, octets, is_key = _beginning(part)
    # What may follow: the end of the key, or a byte.
    ways: list[regex.Node] = [regex.EPSILON] if is_key else []
    ways += [regex.seq(regex.lit(bytes([octet])), _ANY_BYTES) for octet in octets]
    groups = (ways[i::most] for i in range(min(most, len(ways))))
    wanted = (regex.seq(regex.lit(begins), regex.alt(*group)) for group in groups)
    parts = [algebra.meet(part, minimal(thompson(each))) for each in wanted]
    return [algebra.dfa(each) for each in parts]


def _beginning(part: Dfa) -> tuple[bytes, list[int], bool]:
    """The longest text that all texts of a trimmed automaton begin with, the bytes that may follow
    it, and whether it is a text of the automaton itself."""
    begins, state = bytearray(), part.start
    while True:
        octets = [octet for octet in range(256) if part.table[state, part.classes[octet]]]
        if part.accepting[state] or len(octets) != 1:
            return bytes(begins), octets, bool(part.accepting[state])
        begins += bytes(octets)
        state = int(part.table[state, part.classes[octets[0]]])
