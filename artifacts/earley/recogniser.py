"""Earley's recogniser over symbols (bytes and token terminals), with lazily computed Leo items.

Source: "Implementing a Constrained Decoding Engine", "Modifications to the original Earley
algorithm"; Earley (1970); Leo, "A general context-free parsing algorithm running in linear time on
every LR(k) grammar without using lookahead" (1991). An item is (dot, state, head, start): the dot's
place in all productions, the state inside the terminal after it, and what is completed at its
production's end: ``head``, begun in column ``start``. Completed items are not stored; they are
(head, start) pairs.

    s ::= 'a' s | 'a'   "aa"     column 1: s ::= 'a' . s (0), and the predictions
                                 column 2: completing (s, 1) completes (s, 0): a Leo item skips that

Leo items. If exactly one item of column j waits for A, and A is the last symbol there, then
completing A from j completes that item's own pair, and so on along a deterministic reduction path;
``_topmost`` goes to its end. Errata of the source's listing: it returns its argument (None) and so
never fires, and it stores under the wrong key; it recurses where the path can be as long as the
text. The subtle condition holds: *all* items that wait for A are counted, not only those with the
dot before the last symbol.

An item whose dot advances takes over the end of its reduction path at once (observation 3 of the
source). The source changes the start alone; but (A, start) becomes (T, t), and in column t nothing
need wait for A. So the head changes with the start.

Columns are rows of one jagged array. A finished column never changes, so taking back the last
symbols is truncating the array.
"""

from collections.abc import Iterable, Sequence

from ..dfa.stacked_dfas import DEAD
from .tables import END, EarleyTables, JaggedRows, Terminals

# Columns whose waiting items are cached by nonterminal, and columns whose Leo items are cached; at
# these limits all are evicted. To recompute a Leo item is to follow a whole reduction path again.
_MOST_WAITING, _MOST_LEO = 1 << 13, 1 << 16

_Pair = tuple[int, int]
_Item = tuple[int, int, int, int]

_NO_LEO: dict[int, _Pair] = {}


class Earley:
    """Recognises one text, symbol by symbol. Column m holds what m symbols leave possible."""

    def __init__(self, tables: EarleyTables, terminals: Terminals, lexer_states: int) -> None:
        self.tables, self.terminals = tables, terminals
        self._symbols: list[int] = tables.symbols.tolist()
        self._bodies: list[list[int]] = [
            tables.bodies[a:b].tolist()
            for a, b in zip(tables.first[:-1], tables.first[1:], strict=True)
        ]
        # One more nonterminal, which nothing derives: the whole text.
        self._whole = tables.nonterminals
        self._dot_bits = len(self._symbols).bit_length()
        self._state_bits = lexer_states.bit_length()
        self._head_bits = self._whole.bit_length()
        self._items = JaggedRows()
        self._accepting = bytearray()
        # By column and nonterminal, filled lazily.
        self._waiting: dict[int, dict[int, list[_Item]]] = {}
        self._leo: dict[int, dict[int, _Pair]] = {}
        self._begin_first_column()

    def __len__(self) -> int:
        """How many symbols were read."""
        return len(self._items) - 1

    @property
    def is_accepting(self) -> bool:
        """Whether the text so far is a member."""
        return self._accepting[-1] != 0

    def accepts_at(self, column: int) -> bool:
        """Whether the first ``column`` symbols are a member."""
        return self._accepting[column] != 0

    @property
    def nbytes(self) -> int:
        """The size of the buffers that the items lie in."""
        return self._items.nbytes

    def next_symbols(self) -> int:
        """The symbols that a member can go on with, as bits: bit s for symbol s."""
        found = 0
        for item in self._items.row(len(self)):
            dot, state, _, _ = self._unpacked(item)
            if self._symbols[dot] < 0:
                found |= self.terminals.next_symbols(state)
        return found

    def items(self, column: int) -> list[_Item]:
        """The items (dot, state, head, start) of a column."""
        return [self._unpacked(item) for item in self._items.row(column)]

    def push(self, symbol: int, spanning: Iterable[tuple[int, int]] = ()) -> bool:
        """Read a symbol. False, and nothing changes, if no member goes on so.

        ``spanning``: (column, symbol) pairs that lead here as well, from an earlier column in
        one step: a token that can be read as its bytes and as one symbol.
        """
        column = len(self._items)
        completed: dict[_Pair, None] = {}
        items: dict[_Item, None] = {}
        self._scan(column - 1, symbol, items, completed)
        for earlier, whole in spanning:
            self._scan(earlier, whole, items, completed)
        if not items and not completed:
            return False
        self._complete(items, completed)
        if not items and (self._whole, 0) not in completed:
            return False
        self._predict(items, column)
        self._append(items, (self._whole, 0) in completed)
        return True

    def feed(self, symbols: Iterable[int]) -> int:
        """Read symbols up to the first that does not fit; how many were read."""
        count = 0
        for symbol in symbols:
            if not self.push(symbol):
                break
            count += 1
        return count

    def truncate(self, length: int) -> None:
        """Take back all but the first ``length`` symbols."""
        for column in range(length + 1, len(self._items)):
            self._waiting.pop(column, None)
            self._leo.pop(column, None)
        self._items.truncate(length + 1)
        del self._accepting[length + 1 :]

    def _begin_first_column(self) -> None:
        items: dict[_Item, None] = {}
        self._predict(items, 0, [self.tables.start])
        self._append(items, self.tables.nullable_start)

    def _append(self, items: Iterable[_Item], accepting: bool) -> None:
        self._items.append(sorted(map(self._packed, items)))
        self._accepting.append(accepting)

    def _scan(
        self,
        column: int,
        symbol: int,
        items: dict[_Item, None],
        completed: dict[_Pair, None],
    ) -> None:
        """Advance every item of a column whose terminal can read the symbol."""
        terminals = self.terminals
        for packed in self._items.row(column):
            dot, state, head, start = self._unpacked(packed)
            if self._symbols[dot] >= 0:
                continue
            state = terminals.step(state, symbol)
            if state == DEAD:
                continue
            head, start = self._topmost(head, start)
            if terminals.accepts(state):
                self._advance(dot, head, start, items, completed)
            if terminals.next_symbols(state):
                items[dot, state, head, start] = None

    def _advance(
        self,
        dot: int,
        head: int,
        start: int,
        items: dict[_Item, None],
        completed: dict[_Pair, None],
    ) -> None:
        """Advance the dot over its symbol: a new item, or a completed pair."""
        symbol = self._symbols[dot + 1]
        if symbol == END:
            completed[head, start] = None
        else:
            state = self.terminals.start(~symbol) if symbol < 0 else DEAD
            items[dot + 1, state, head, start] = None

    def _complete(self, items: dict[_Item, None], completed: dict[_Pair, None]) -> None:
        """Advance the items that wait for what is completed; without ε none waits in this
        column."""
        pending = list(completed)
        while pending:
            nonterminal, start = pending.pop()
            if nonterminal == self.tables.start and start == 0:
                completed[self._whole, 0] = None
            for dot, _, head, begun in self.waiting_for(nonterminal, start):
                before = len(completed)
                head, begun = self._topmost(head, begun)
                self._advance(dot, head, begun, items, completed)
                if len(completed) > before:
                    pending.append((head, begun))

    def _predict(
        self, items: dict[_Item, None], column: int, wanted: Sequence[int] | None = None
    ) -> None:
        """Add the productions of every nonterminal after a dot."""
        if wanted is None:
            wanted = [self._symbols[dot] for dot, _, _, _ in items if self._symbols[dot] >= 0]
        predicted = set(wanted)
        pending = list(predicted)
        while pending:
            nonterminal = pending.pop()
            for dot in self._bodies[nonterminal]:
                symbol = self._symbols[dot]
                state = self.terminals.start(~symbol) if symbol < 0 else DEAD
                items[dot, state, nonterminal, column] = None
                if symbol >= 0 and symbol not in predicted:
                    predicted.add(symbol)
                    pending.append(symbol)

    def waiting_for(self, nonterminal: int, column: int) -> Sequence[_Item]:
        """The items of a finished column with the dot before a nonterminal."""
        waiting = self._waiting.get(column)
        if waiting is None:
            waiting = {}
            for packed in self._items.row(column):
                item = self._unpacked(packed)
                symbol = self._symbols[item[0]]
                if symbol >= 0:
                    waiting.setdefault(symbol, []).append(item)
            if len(self._waiting) >= _MOST_WAITING:
                self._waiting.clear()
            self._waiting[column] = waiting
        return waiting.get(nonterminal, ())

    def _topmost(self, nonterminal: int, column: int) -> _Pair:
        """The end of the reduction path from a pair, which is the pair itself if there is none."""
        pair = nonterminal, column
        path: list[_Pair] = []
        if len(self._leo) >= _MOST_LEO:
            self._leo.clear()
        while (end := self._leo.get(pair[1], _NO_LEO).get(pair[0])) is None:
            path.append(pair)
            above = self._leo_item(*pair)
            if above is None:
                end = pair
                break
            pair = above
        for passed, begun in path:
            self._leo.setdefault(begun, {})[passed] = end
        return end

    def _leo_item(self, nonterminal: int, column: int) -> _Pair | None:
        """The pair of the one item that waits for a nonterminal, if that is its last symbol."""
        waiting = self.waiting_for(nonterminal, column)
        if column == 0 and nonterminal == self.tables.start:
            # The whole text waits for the start as well: one more item, and a last symbol.
            return None if waiting else (self._whole, 0)
        if len(waiting) != 1:
            return None
        dot, _, head, start = waiting[0]
        return (head, start) if self._symbols[dot + 1] == END else None

    def _packed(self, item: _Item) -> int:
        dot, state, head, start = item
        packed = start << self._head_bits | head
        return (packed << self._state_bits | state) << self._dot_bits | dot

    def _unpacked(self, packed: int) -> _Item:
        dot = packed & ((1 << self._dot_bits) - 1)
        packed >>= self._dot_bits
        state = packed & ((1 << self._state_bits) - 1)
        packed >>= self._state_bits
        return dot, state, packed & ((1 << self._head_bits) - 1), packed >> self._head_bits
