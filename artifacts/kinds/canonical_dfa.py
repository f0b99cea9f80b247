"""Artifacts of the kind ``byte-dfa`` under canonical tokenization: a regular grammar, as the
tokenizer encodes its members. Its byte DFA is a network without calls."""

from functools import cached_property
from typing import TYPE_CHECKING

from ..container.manifest import Manifest
from ..container.sections import Arrays
from ..dfa.check import check_byte_dfa
from .canonical_network import CanonicalRuntime, check_canonical
from .check_tokenizer import check_first_row, check_vocabulary
from .contents import Contents, over_sentinels
from .regular import RegularGrammar

if TYPE_CHECKING:
    from ..network.tables import NetworkTables


def check(manifest: Manifest, arrays: Arrays) -> None:
    """Raise ``ArtifactError`` naming the first section that does not fit."""
    check_vocabulary(manifest, arrays)
    check_byte_dfa(manifest, arrays)
    manifest, arrays = over_sentinels(manifest, arrays)
    check_first_row(manifest, arrays)
    check_canonical(manifest, arrays)


class CanonicalDfaRuntime(CanonicalRuntime, RegularGrammar):
    """Reads texts by the byte DFA."""

    @cached_property
    def over_terminals(self) -> "NetworkTables":
        """The byte DFA as a network."""
        from ..network.tables import network_without_calls

        dfa = self.byte_dfa
        return network_without_calls(dfa.table, dfa.classes, dfa.start, dfa.accepting)

    def byte_state_of(self, state: int) -> int:
        """The state of the byte DFA that a state stands for (of several, one)."""
        found, dfa = self._network_state(state), self.byte_dfa
        # Those of a prefix, and the copy of the start, are behind all others.
        return found if found < dfa.states else dfa.start


def runtime(contents: Contents) -> CanonicalDfaRuntime:
    """What runs the artifact."""
    return CanonicalDfaRuntime(contents)
