"""Texts that a page offers: those that were given, of test cases, else the shortest member."""

from dataclasses import dataclass

from constrain.artifacts import Artifact
from constrain.artifacts.errors import ConstrainError

from .walk import lexer_of, walk_of

# Bytes of a shortest member, and cases that a page offers of a file or folder.
_LONGEST, _MOST_CASES = 64, 200


@dataclass(frozen=True, slots=True)
class Example:
    """A text that the page begins with or offers. ``is_case``: of a test, in which it is a
    member."""

    name: str
    text: bytes
    is_case: bool = False


def shortest_member(artifact: Artifact) -> list[Example]:
    """The shortest member of a grammar as an example; none where that is not soon found."""
    from constrain.compiler.automata.dfa import from_tables
    from constrain.compiler.automata.members import shortest
    from constrain.compiler.limits import Limits
    from constrain.compiler.network.members import NetworkMembers

    tables = walk_of(artifact)
    if isinstance(tables, str) or artifact.names_tokens or lexer_of(artifact) is not None:
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


def cases_at(path: str) -> list[Example]:
    """The texts of the cases in a file or folder, as ``constrain test`` reads them. Raises
    ``CaseFileError`` for a file that it cannot read."""
    from constrain.compiler.testing.cases import CaseFileError, Kind
    from constrain.compiler.testing.collect import collected

    found = []
    for file in collected(path):
        if isinstance(file, CaseFileError):
            raise file
        # Texts that are drawn, and tokens, are no texts to begin with.
        cases = (case for case in file.cases if not case.samples and not case.in_tokens)
        for case in cases:
            name = f"{case.name} ({case.kind.value})"
            found.append(Example(name, case.body, case.kind is Kind.ACCEPT))
    return found[:_MOST_CASES]
