"""Which frames can lie right below the heads of a network over lexemes."""

from constrain.artifacts.maximal_munch.parser_heads import BELOW_ALL, Heads
from constrain.artifacts.network.closure import frames_below, states_inside
from constrain.artifacts.network.tables import DEAD


class FramesBelow:
    """Which frames can lie right below the states of a network, ``BELOW_ALL`` for none."""

    def __init__(self, heads: Heads) -> None:
        self._heads = heads
        tables = heads.network
        found = frames_below(tables)
        # Most states have those of another one.
        sets = {id(frames): frozenset(frames) for frames in found}
        self.of_state = [sets[id(frames)] for frames in found]
        for state in states_inside(tables, tables.start) - {DEAD}:
            self.of_state[state] |= {BELOW_ALL}

    def of_head(self, head: int) -> frozenset[int]:
        """The frames that can stand in a head's hole."""
        above = self._heads.above_hole(head) - {DEAD}
        if not above:
            return frozenset([BELOW_ALL])
        return frozenset.intersection(*(self.of_state[state] for state in above))
