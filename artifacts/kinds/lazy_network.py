"""Artifacts of the kind ``lazy-network``: a grammar with terminals whose states are made while
decoding, under any tokenization."""

from collections.abc import Sequence
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from ..container.manifest import Manifest
from ..container.sections import Arrays, check_types, require, require_offsets
from ..lazy_dfa.check import check_conjunctions
from ..matcher import Begun
from ..network.check import check_network
from ..tokens.allowance import NOT_LAZY, Precomputed
from .check_tokenizer import check_vocabulary
from .contents import Contents
from .first_row import check_trie_sections
from .generations import Generations
from .parser import names_of, network_of

if TYPE_CHECKING:
    from ..lazy_dfa.tables import Conjunction
    from ..machine.position_states import PositionStates
    from ..machine.terminal_masks import TerminalMasks
    from ..network.configurations import Texts

TERMINALS = "lazy.terminals"


def check(manifest: Manifest, arrays: Arrays) -> None:
    """Raise ``ArtifactError`` naming the first section that does not fit."""
    check_vocabulary(manifest, arrays)
    check_conjunctions(arrays)
    check_types(arrays, {TERMINALS: ("i8", 1)})
    offsets = arrays[TERMINALS]
    require(len(offsets) > 1, TERMINALS)
    require_offsets(arrays, TERMINALS, len(offsets) - 1, len(arrays["lazy.starts"]))
    require(bool((np.diff(offsets) > 0).all()), TERMINALS)
    check_network(manifest, names_of(manifest), arrays, len(offsets) - 1)
    check_trie_sections(arrays)


class CallingRuntime:
    """Matchers share one machine, until it is full."""

    names_tokens = False

    def __init__(self, contents: Contents) -> None:
        self.contents = contents
        self._generations = Generations(contents.lock, self._following)

    def machine(self) -> "TerminalMasks":
        """The machine of all matchers, until it is full."""
        return self._generations.machine()

    def begun(self, prompt: Sequence[int]) -> Begun:
        """Under any tokenization a prompt changes nothing."""
        return self._generations.begun()

    def viable_bytes(self, text: bytes) -> int:
        """How many bytes of ``text`` can begin a member."""
        return self.texts().viable(text)

    def texts(self) -> "Texts":
        """Reads texts, apart from what matchers share."""
        from ..machine.terminal_masks import texts_of

        return texts_of(self._begun(), self._terminals)

    def precompute(self, seconds: float | None, answers: int | None) -> Precomputed:
        """Masks are found from a few walks, which the first texts make."""
        return NOT_LAZY

    @cached_property
    def _terminals(self) -> "list[tuple[Conjunction, ...]]":
        from ..lazy_dfa.tables import from_sections

        found = from_sections(self.contents.arrays)
        offsets = self.contents.arrays[TERMINALS].tolist()
        return [found[i:j] for i, j in pairwise(offsets)]

    def _begun(self) -> "PositionStates":
        from ..machine.table_positions import states_of

        return states_of(network_of(self.contents), len(self._terminals))

    def _following(self, full: "TerminalMasks | None") -> "TerminalMasks":
        from ..machine.terminal_masks import following

        c, m = self.contents, self.contents.manifest
        ids, budget = (m.eos, m.vocab_size), (c.caches, c.lock)
        begun, terminals = self._begun, self._terminals
        return following(full, terminals, begun, lambda: c.trie, c.vocabulary, *ids, *budget)


def runtime(contents: Contents) -> CallingRuntime:
    """What runs the artifact."""
    return CallingRuntime(contents)
