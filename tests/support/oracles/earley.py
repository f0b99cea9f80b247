"""Earley's recogniser as the textbook has it: the oracle of the faster one.

Earley (1970); loup-vaillant.fr, "Earley Parsing Explained". Items are (production, dot, state
inside the terminal after the dot, start); there are no Leo items, and nothing is packed or shared.
"""

from collections.abc import Sequence

from constrain.compiler.automata import regex_ir as regex
from constrain.compiler.automata.assertions import resolved
from constrain.compiler.automata.determinize import determinize
from constrain.compiler.automata.dfa import DEAD, Dfa
from constrain.compiler.automata.thompson import thompson
from constrain.compiler.lnf.form import Lnf

# (production, dot, state inside the terminal after the dot, start)
_Item = tuple[int, int, int, int]


class PlainEarley:
    """Column by column; ``lnf`` without nullable symbols (``normalize_without_nullable``)."""

    def __init__(self, lnf: Lnf) -> None:
        self.lnf = lnf
        self._dfas = [_dfa(t.content) for t in lnf.terminals]
        self._of: dict[int, list[int]] = {}
        for number, production in enumerate(lnf.productions):
            self._of.setdefault(production.head, []).append(number)

    def first(self) -> set[_Item]:
        """S(0)."""
        return self._closed([], {self._begun(p, 0) for p in self._of.get(self.lnf.start, ())})

    def following(self, columns: list[set[_Item]], symbol: int) -> set[_Item]:
        """The item set after a symbol that is read after those of ``columns``."""
        moved = {
            item
            for old in columns[-1]
            if self._waits_for_terminal(old)
            for item in self._scanned(old, symbol)
        }
        return self._closed(columns, moved)

    def columns(self, symbols: Sequence[int]) -> list[set[_Item]]:
        """The item sets S(0), S(1), …; they end with the first empty one."""
        columns = [self.first()]
        for symbol in symbols:
            columns.append(self.following(columns, symbol))
            if not columns[-1]:
                break
        return columns

    def viable(self, symbols: Sequence[int]) -> int:
        """How many of ``symbols`` begin a member."""
        columns = self.columns(symbols)
        return len(columns) - 1 if columns[-1] else len(columns) - 2

    def accepts(self, symbols: Sequence[int]) -> bool:
        """Whether ``symbols`` are a member."""
        columns = self.columns(symbols)
        return len(columns) == len(symbols) + 1 and self.accepts_at(columns)

    def accepts_at(self, columns: list[set[_Item]]) -> bool:
        """Whether what was read to the last of ``columns`` is a member."""
        if len(columns) == 1:
            return self.lnf.nullable_start
        return any(
            self._symbol(item) is None
            and self.lnf.productions[item[0]].head == self.lnf.start
            and item[3] == 0
            for item in columns[-1]
        )

    def _closed(self, earlier: list[set[_Item]], items: set[_Item]) -> set[_Item]:
        """Predict and complete up to the fixpoint."""
        here = len(earlier)
        found, pending = set(items), list(items)
        while pending:
            item = pending.pop()
            symbol = self._symbol(item)
            new: set[_Item] = set()
            if symbol is None:
                head = self.lnf.productions[item[0]].head
                new = {
                    self._begun(old[0], old[3], old[1] + 1)
                    for old in earlier[item[3]]
                    if self._symbol(old) == head
                }
            elif symbol >= 0:
                new = {self._begun(p, here) for p in self._of.get(symbol, ())}
            pending.extend(new - found)
            found |= new
        return found

    def _scanned(self, item: _Item, symbol: int) -> list[_Item]:
        production, dot, state, start = item
        wanted = self._symbol(item)
        assert wanted is not None
        dfa = self._dfas[~wanted]
        state = dfa.run([symbol], state) if _has(dfa, symbol) else DEAD
        if state == DEAD:
            return []
        moved = [(production, dot, state, start)]
        if dfa.accepting[state]:
            moved.append(self._begun(production, start, dot + 1))
        return moved

    def _begun(self, production: int, start: int, dot: int = 0) -> _Item:
        symbol = self._symbol((production, dot, 0, start))
        state = self._dfas[~symbol].start if symbol is not None and symbol < 0 else 0
        return production, dot, state, start

    def _symbol(self, item: _Item) -> int | None:
        body = self.lnf.productions[item[0]].body
        return body[item[1]] if item[1] < len(body) else None

    def _waits_for_terminal(self, item: _Item) -> bool:
        symbol = self._symbol(item)
        return symbol is not None and symbol < 0


def _dfa(content: bytes | regex.Node) -> Dfa:
    node = regex.lit(content) if isinstance(content, bytes) else content
    return determinize(thompson(resolved(node)))


def _has(dfa: Dfa, symbol: int) -> bool:
    return dfa.column(symbol) < int(dfa.table.shape[1])
