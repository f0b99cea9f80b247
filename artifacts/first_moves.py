"""How a state of a network reads a symbol before it returns: by itself, or in its first calls."""

from .network_tables import DEAD, NetworkTables

# (target, the frames that were pushed on the way, the lowest first)
FirstMove = tuple[int, tuple[int, ...]]


class FirstMoves:
    """Worked out once for each state and symbol that comes about.

    ``plain[s]``: state s has no calls and does not end one: its own edges are all its moves.
    """

    def __init__(self, tables: NetworkTables) -> None:
        self._rows, self._calls = tables.rows, tables.calls
        self.plain = [
            not calls and not ends for calls, ends in zip(tables.calls, tables.ends, strict=True)
        ]
        self._known: list[dict[int, tuple[FirstMove, ...]]] = [{} for _ in self.plain]

    def of(self, state: int, symbol: int) -> tuple[FirstMove, ...]:
        """The moves. No chain of first calls leads back to its beginning, so this ends."""
        known = self._known[state].get(symbol)
        if known is None:
            found = []
            pending: list[FirstMove] = [(state, ())]
            for reached, frames in pending:
                target = self._rows[reached][symbol]
                if target != DEAD:
                    found.append((target, frames))
                pending.extend((start, (*frames, frame)) for start, frame in self._calls[reached])
            known = self._known[state][symbol] = tuple(found)
        return known
