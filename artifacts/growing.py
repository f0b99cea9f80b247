"""An artifact whose states are made as texts meet them, and whose file is compiled when needed.

compile -> matcher -> mask       a few states; nothing else is made
save, explain, inspect, notes    all of it is compiled, once, and is what it would have been
"""

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from threading import RLock
from typing import Any

from numpy.typing import NDArray

from .artifact import Artifact
from .container.manifest import Manifest
from .kinds.contents import Contents
from .kinds.maximal_munch import LexemesRuntime
from .kinds.met_states import MetStates
from .kinds.table import Runtime
from .tokens.trie import Trie
from .tokens.vocabulary import Vocabulary


class GrowingArtifact(Artifact):
    """A grammar's masks of any token sequences, by states that are made when they are met.

    ``growing``: what makes them and runs matchers. ``complete``: compiles the artifact
    with its file; whatever needs its manifest or its sections calls it, once, and raises what it
    raises.
    """

    def __init__(
        self, growing: MetStates | LexemesRuntime, complete: Callable[[], Artifact]
    ) -> None:
        # The class is frozen, as that of all artifacts.
        vars(self).update(_complete=complete, _completing=RLock(), _growing=growing)

    _complete: Callable[[], Artifact]
    _completing: RLock
    _growing: MetStates | LexemesRuntime

    @cached_property
    def _whole(self) -> Artifact:
        with self._completing:
            return vars(self).get("_whole") or self._complete().completed

    @property
    def completed(self) -> Artifact:
        """The artifact with all sections of its file. Raises what compiling it does."""
        return self._whole

    @property
    def manifest(self) -> Manifest:
        """That of the file."""
        return self._whole.manifest

    @property
    def arrays(self) -> Mapping[str, NDArray[Any]]:
        """Those of the file."""
        return self._whole.arrays

    @property
    def _contents(self) -> Contents:
        return self._whole._contents

    @property
    def runtime(self) -> Runtime:
        """What runs the file."""
        return self._whole.runtime

    @property
    def _matching(self) -> Runtime:
        return self._growing

    @property
    def vocab_size(self) -> int:
        """Number of bits in a mask: highest token id + 1, padding included."""
        return self._growing.vocab_size

    @property
    def eos(self) -> Sequence[int]:
        """The ids that end a text."""
        return self._growing.eos

    @property
    def vocabulary(self) -> Vocabulary:
        """The bytes of every token."""
        return self._growing.vocabulary

    @property
    def trie(self) -> Trie:
        """The token trie."""
        return self._growing.trie()

    @property
    def is_canonical(self) -> bool:
        """Any token sequence that spells a member is allowed."""
        return False

    @property
    def spells_bytes(self) -> bool:
        """Tokens spell their own bytes."""
        return True

    @property
    def text_prefix(self) -> bytes:
        """Under any tokenization nothing is put before a text."""
        return b""
