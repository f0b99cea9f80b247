"""Maximal munch by definition: an Earley recogniser over lexemes, the oracle of this room.

The meaning of a grammar read with a lexer, as llguidance and Lark have it. A text is split into
lexemes from left to right, without going back.

1. The lexer reads the lexemes that the parser allows at that point, and the ignored ones. The
   parser allows what some reading of the lexemes so far could be followed by.
2. A lexeme goes on as long as any of these can read the next byte, and ends before the first
   byte that none can read. It must then be complete; no lexeme is empty. Nothing shorter is
   tried: ``/a+/ "ab"`` has no member, as /a+/ takes the "a" of "ab", too. One that may not end
   before that byte (``Lexeme.followed``) is not complete there. But where one that is as
   short as possible (``Lexeme.shortest``) is complete, it ends at once, and so do all others.
3. Of the lexemes that are complete there, those of the highest priority are what was read, and
   of these the strings, if there are any (Lark's rule: a keyword is no name), but for strings
   that an ignored regex matches (``Lexeme.swallowed``); under ``%llguidance {}`` strings and
   regexes count alike. If these are several, the parser follows all of them: the order of
   definition does not matter. An ignored one leaves the parser as it is.
4. A text is a member if it is split so that its last lexeme is complete and the parser may
   end after it. Ignored lexemes may stand at the beginning and at the end, too.

A text is *viable* if it was read so far: each byte was read by a lexeme that was allowed.
Such a lexeme can be completed and the parser can go on after it, lexeme by lexeme; but the
next one may begin with bytes that the one before would read instead (``NAME NAME`` with
nothing between). Viability does not say that the text can be completed to a member: where several
readings are followed at once that is undecidable, as one lexeme ends only where *no* reading
allows another.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from constrain.compiler.automata import regex_ir as regex
from constrain.compiler.automata.boolean import embedded
from constrain.compiler.automata.look_around import MARKS
from constrain.compiler.automata.nfa import Nfa
from constrain.compiler.automata.thompson import thompson
from constrain.compiler.grammar.tree import Grammar
from constrain.compiler.lnf import normalize_without_nullable
from constrain.compiler.lnf.form import Lnf
from constrain.compiler.maximal_munch.lexemes import Lexeme, lexeme_grammar

# (production, dot, start)
_Item = tuple[int, int, int]
_Column = frozenset[_Item]

# In place of a lexeme, a terminal without members.
_NEVER = -1

# After it stands the byte that follows a lexeme.
_MARK = MARKS[1][0]


class Reading(NamedTuple):
    """Bytes read, columns, the lexeme in progress, and whether only ignored text was read.

    A lexeme in progress is the states of the NFA of each lexeme that it may be. After a byte
    that does not fit, all but ``length`` are of no use.
    """

    length: int
    columns: list[_Column]
    begun: dict[int, set[int]]
    unread: bool


class MaximalMunchOracle:
    """Earley's recogniser (1970) over lexemes that end where the definition above says."""

    def __init__(self, grammar: Grammar) -> None:
        found = lexeme_grammar(grammar)
        self.lexemes: Sequence[Lexeme] = found.lexemes
        self.lnf: Lnf = normalize_without_nullable(found.grammar)
        self._nfas: list[Nfa] = [
            thompson(lexeme.node if lexeme.followed is None else embedded(lexeme.followed.whole))
            for lexeme in self.lexemes
        ]
        self._started = [nfa.epsilon_closure({nfa.start}) for nfa in self._nfas]
        self._number = [self._named(i) for i in range(len(self.lnf.terminals))]
        self._by_head: dict[int, list[int]] = {}
        for number, production in enumerate(self.lnf.productions):
            self._by_head.setdefault(production.head, []).append(number)

    def begin(self) -> Reading:
        """Nothing is read."""
        items = {(p, 0, 0) for p in self._by_head.get(self.lnf.start, ())}
        return Reading(0, [self._closed([], items)], {}, True)

    def viable(self, text: bytes) -> int:
        """How many bytes of ``text`` can be read."""
        return self.read(self.begin(), text).length

    def accepts(self, text: bytes) -> bool:
        """Whether ``text`` is a member."""
        reading = self.read(self.begin(), text)
        return reading.length == len(text) and self.may_end(reading)

    def may_end(self, reading: Reading) -> bool:
        """Whether what was read is a member."""
        columns, unread = reading.columns, reading.unread
        if reading.begun:
            ended = self._ended(reading.begun)
            if not ended:
                return False
            columns, unread = self._after(columns, ended, unread)
        return (unread and self.lnf.nullable_start) or any(
            start == 0
            and self.lnf.productions[number].head == self.lnf.start
            and dot == len(self.lnf.productions[number].body)
            for number, dot, start in columns[-1]
        )

    def read(self, reading: Reading, text: bytes) -> Reading:
        """What is read of ``text`` after a reading, up to the first byte that does not fit."""
        length, columns, begun, unread = reading
        for octet in text:
            further = {} if self._is_over(begun) else self._stepped(begun, octet)
            if not further:
                if begun:
                    ended = self._ended(begun)
                    if not ended or not all(self._may_end(i, begun[i], octet) for i in ended):
                        break
                    columns, unread = self._after(columns, ended, unread)
                starts = {i: self._started[i] for i in self.allowed(columns[-1])}
                further = self._stepped(starts, octet)
                if not further:
                    break
            begun, length = further, length + 1
        return Reading(length, columns, begun, unread)

    def allowed(self, column: _Column) -> set[int]:
        """The lexemes that some item waits for, and the ignored ones."""
        symbols = (self._behind_dot(item) for item in column)
        found = {self._number[~s] for s in symbols if s is not None and s < 0}
        return found - {_NEVER} | {i for i, lexeme in enumerate(self.lexemes) if lexeme.ignored}

    def _stepped(self, begun: dict[int, set[int]], octet: int) -> dict[int, set[int]]:
        stepped = {i: self._nfas[i].step(states, octet) for i, states in begun.items()}
        return {i: states for i, states in stepped.items() if states}

    def _complete(self, begun: dict[int, set[int]]) -> set[int]:
        return {i for i, states in begun.items() if self._is_complete(i, states)}

    def _is_complete(self, lexeme: int, states: set[int]) -> bool:
        nfa = self._nfas[lexeme]
        if self.lexemes[lexeme].followed is not None:
            return bool(nfa.step(states, _MARK))
        return not nfa.finals.isdisjoint(states)

    def _may_end(self, lexeme: int, states: set[int], octet: int) -> bool:
        """Whether a lexeme may end before a byte."""
        nfa = self._nfas[lexeme]
        if self.lexemes[lexeme].followed is None:
            return True
        return bool(nfa.step(nfa.step(states, _MARK), octet))

    def _is_over(self, begun: dict[int, set[int]]) -> bool:
        """Whether the lexeme in progress ends here, whatever could go on."""
        return any(self.lexemes[i].shortest for i in self._complete(begun))

    def _ended(self, begun: dict[int, set[int]]) -> set[int]:
        """The lexemes that were read if the one in progress ends here."""
        complete = self._complete(begun)
        highest = max((self.lexemes[i].precedence for i in complete), default=None)
        return {i for i in complete if self.lexemes[i].precedence == highest}

    def _after(
        self, columns: list[_Column], ended: set[int], unread: bool
    ) -> tuple[list[_Column], bool]:
        """The columns after a lexeme; an ignored one leaves the items as they are."""
        items: set[_Item] = set()
        ignored = any(self.lexemes[i].ignored for i in ended)
        if ignored:
            items |= columns[-1]
        for number, dot, start in columns[-1]:
            symbol = self._behind_dot((number, dot, start))
            if symbol is not None and symbol < 0 and self._number[~symbol] in ended:
                items.add((number, dot + 1, start))
        return [*columns, self._closed(columns, items)], unread and ignored

    def _closed(self, earlier: list[_Column], items: Iterable[_Item]) -> _Column:
        """Predict and complete until nothing new comes."""
        here = len(earlier)
        found, pending = set(items), list(items)
        while pending:
            number, _, start = item = pending.pop()
            symbol = self._behind_dot(item)
            new: set[_Item] = set()
            if symbol is None:
                head = self.lnf.productions[number].head
                waiting = found if start == here else earlier[start]
                new = {(p, d + 1, s) for p, d, s in waiting if self._behind_dot((p, d, s)) == head}
            elif symbol >= 0:
                new = {(p, 0, here) for p in self._by_head.get(symbol, ())}
            pending.extend(new - found)
            found |= new
        return frozenset(found)

    def _behind_dot(self, item: _Item) -> int | None:
        body = self.lnf.productions[item[0]].body
        return body[item[1]] if item[1] < len(body) else None

    def _named(self, terminal: int) -> int:
        content = self.lnf.terminals[terminal].content
        return content.index if isinstance(content, regex.TokenTerminal) else _NEVER
