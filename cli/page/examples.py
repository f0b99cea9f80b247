"""Texts that a page offers: those that were given, else the shortest member."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from constrain.artifacts.errors import ConstrainError

from .walk import walk_of

if TYPE_CHECKING:
    from constrain.artifacts import Artifact

# Bytes of a shortest member.
_LONGEST = 64


@dataclass(frozen=True, slots=True)
class Example:
    """A text that the page begins with or offers."""

    name: str
    text: bytes


def shortest_member(artifact: "Artifact") -> list[Example]:
    """The shortest member of a grammar as an example; none where that is not soon found."""
    from constrain.compiler.automata.dfa import from_tables
    from constrain.compiler.automata.members import shortest
    from constrain.compiler.limits import Limits
    from constrain.compiler.network.members import NetworkMembers

    tables = walk_of(artifact)
    if isinstance(tables, str) or artifact.names_tokens:
        return []
    if artifact.is_regular:
        found = shortest(from_tables(artifact.byte_dfa))
    else:
        try:
            members = NetworkMembers(tables, Limits().started())
            found = next(iter(members.up_to(_LONGEST)), None)
        except ConstrainError:
            return []
    if not found or len(found) > _LONGEST:
        return []
    return [Example("the shortest member", found)]
