"""Which pairs of states are live above stacks of one context, and by which certificates.

ContextStatus      of pairs: dead, live (at a boundary), or undecided; and which tokens that lead to
                   undecided ones are live by certificates: those of bytes, for all at once, and
                   then those of shortest texts
StatusByContext    these, by context
"""

from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np
from numpy.typing import NDArray

from ...network.tables import DEAD
from ...tokens.memo import Made
from ..liveness import STEPS_ABOVE
from ..pretokenized import PretokenizedNetwork
from ..trie_walk import Frames
from .joint_walks import joint_table

IS_DEAD, IS_LIVE, IS_UNDECIDED = 0, 1, 2

# What certificates of a pair cost in trie nodes that are met.
_CERTIFICATE_WORK = 300


@dataclass(frozen=True, eq=False)
class ContextStatus:
    """Pairs in one context."""

    network: PretokenizedNetwork
    context: int

    @cached_property
    def status(self) -> NDArray[np.int8]:
        """Of each pair, int8 (n,); live are those at a boundary."""
        contexts = self.network.contexts
        pairs = np.arange(len(contexts.states))
        live = contexts.are_live(pairs, self.context)
        found = np.where(live, IS_UNDECIDED, IS_DEAD).astype(np.int8)
        found[live & contexts.are_at_boundary(pairs, self.context)] = IS_LIVE
        found[DEAD] = IS_DEAD
        return found

    def has_certificate(
        self, pairs: NDArray[np.integer], tokens: NDArray[np.integer]
    ) -> NDArray[np.bool_]:
        """Which tokens some certificate of the undecided pair that each leads to may follow."""
        contexts, network = self.network.contexts, self.network
        met, places = np.unique(pairs, return_inverse=True)
        network.watch(_CERTIFICATE_WORK * len(met), 0)
        found = network.splits.octets.certified(met, self.context, tokens, places)
        left = np.flatnonzero(~found)
        node = network.stack_contexts.unknown(self.context)
        left = left[np.argsort(places[left], kind="stable")]
        parts = np.split(left, np.flatnonzero(np.diff(places[left])) + 1)
        for here in parts if len(left) else ():
            pair = int(met[places[here[0]]])
            states = int(contexts.states[pair]), int(contexts.pre_states[pair])
            for certificate in network.certificates.of((*states, node), STEPS_ABOVE):
                if not len(here):
                    break
                follows = ~network.forbidden.forbidden_before(tokens[here], [certificate])
                found[here[follows]] = True
                here = here[~follows]
        return found


class StatusByContext:
    """``ContextStatus`` of a network, by context."""

    def __init__(self, network: PretokenizedNetwork) -> None:
        self.joint = joint_table(network)
        self._network, self._found = network, Made(partial(ContextStatus, network))

    def of(self, context: int) -> ContextStatus:
        """The pairs in a context."""
        return self._found[context]

    def above(self, frames: Frames, context: int) -> ContextStatus:
        """The pairs above ``frames``, the lowest first."""
        return self.of(self._network.contexts.push_all(frames, context))
