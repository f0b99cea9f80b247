"""Which module runs which kind of artifact, and the protocols of these modules."""

from collections.abc import Sequence
from typing import Protocol

from ..container.manifest import Manifest
from ..container.sections import Arrays
from ..errors import ArtifactError
from ..matcher import Begun, Machine
from .contents import Contents


class Runtime(Protocol):
    """What runs one artifact; made once for each."""

    def machine(self) -> Machine:
        """The machine of all matchers, until it has interned so much that a new one is made."""

    def begun(self, prompt: Sequence[int]) -> Begun:
        """Where a matcher begins: at the start of that machine, or in the state in which a member
        begins after a prompt of at least one token.

        Raises ``ArtifactError`` where no member can.
        """

    def viable_bytes(self, text: bytes) -> int:
        """How many bytes of ``text`` can begin a member."""

    @property
    def names_tokens(self) -> bool:
        """Whether the grammar names tokens, which no text matches."""


class Kind(Protocol):
    """A module that runs artifacts of one kind."""

    def check(self, manifest: Manifest, arrays: Arrays) -> None:
        """Raise ``ArtifactError`` naming the first section that does not fit the others."""

    def runtime(self, contents: Contents) -> Runtime:
        """What runs an artifact whose sections have been checked."""


def kind_of(manifest: Manifest) -> Kind:
    """The module of an artifact's kind; canonical masks have modules of their own.

    Raises ``ArtifactError`` for a kind that this release does not know.
    """
    match manifest.kind:
        case "token-dfa":
            from . import token_dfa

            return token_dfa
        case "word-dfa":
            from . import wordpiece

            return wordpiece
        case "network" if manifest.tokenization == "canonical":
            from . import canonical_network

            return canonical_network
        case "network":
            from . import network

            return network
        case "earley":
            from . import earley

            return earley
        case "greedy":
            from . import maximal_munch

            return maximal_munch
    raise ArtifactError(
        f"an artifact of kind {manifest.kind!r} cannot be read by this release; compile it again"
    )
