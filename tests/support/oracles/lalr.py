"""Lark's contextual lexer by definition: its LALR tables, and maximal munch in each state.

The lexer reads the lexemes that have an action in the state on top of the stack, and the ignored
ones; the parser reduces and shifts by the one that was read. All else is as in the oracle of
maximal munch, but that a byte is read only if one of the lexemes that read it could be shifted.
"""

import logging
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from lark import Lark, logger
from lark.exceptions import GrammarError
from lark.parsers.lalr_analysis import Shift

from constrain.compiler.grammar.tree import Grammar
from constrain.compiler.maximal_munch.lalr_states import _written
from constrain.compiler.maximal_munch.lexemes import lexeme_grammar
from support.oracles.maximal_munch import MaximalMunchOracle, Reading

_Stack = tuple[int, ...]


class _Conflicts(logging.Handler):
    """Hears of conflicts in which Lark shifts."""

    count = 0

    def emit(self, record: logging.LogRecord) -> None:
        """Count one."""
        self.count += record.getMessage().startswith("Shift/Reduce")


@contextmanager
def _heard() -> Iterator[_Conflicts]:
    handler, level = _Conflicts(), logger.level
    # Lark has a handler of its own, which writes.
    others, logger.handlers = logger.handlers, [handler]
    logger.setLevel(logging.DEBUG)
    try:
        yield handler
    finally:
        logger.handlers = others
        logger.setLevel(level)


def _is_productive(rules: Sequence[Any]) -> bool:
    """Whether each rule is some text."""
    found, before = set[str](), -1
    while len(found) > before:
        before = len(found)
        for rule in rules:
            if all(symbol.is_term or symbol.name in found for symbol in rule.expansion):
                found.add(rule.origin.name)
    return found == {rule.origin.name for rule in rules}


class LalrOracle(MaximalMunchOracle):
    """A column is a set of stacks of states. Raises ``ValueError`` for a grammar in which Lark
    finds a conflict."""

    def __init__(self, grammar: Grammar) -> None:
        super().__init__(grammar)
        with _heard() as conflicts:
            try:
                text = _written(lexeme_grammar(grammar).grammar)[1]
                made: Any = Lark(text, parser="lalr", lexer="basic", start="r0")
            except GrammarError as error:
                raise ValueError(str(error)) from None
        if conflicts.count:
            raise ValueError("shift and reduce")
        if not _is_productive(made.rules):
            raise ValueError("a rule without members")
        table = made.parser.parser.parser.parse_table
        self._actions = table.states
        (self._first,), (self._last,) = table.start_states.values(), table.end_states.values()

    def begin(self) -> Reading:
        """Nothing is read."""
        return Reading(0, [frozenset({(self._first,)})], {}, True)

    def may_end(self, reading: Reading) -> bool:
        """Whether what was read is a member."""
        columns = reading.columns
        if reading.begun:
            columns, _ = self._after(columns, self._ended(reading.begun), True)
        return any(self._moved(stack, "$END") is not None for stack in columns[-1])

    def allowed(self, column: Any) -> set[int]:
        """The lexemes with an action in the states on top, and the ignored ones."""
        names = {name for stack in column for name in self._actions[stack[-1]]}
        found = {int(name[1:]) for name in names if name[0] == "T"}
        return found | {i for i, lexeme in enumerate(self.lexemes) if lexeme.ignored}

    def read(self, reading: Reading, text: bytes) -> Reading:
        """What is read of ``text`` after a reading, up to the first byte that does not fit."""
        for place in range(len(text)):
            further = super().read(reading, text[place : place + 1])
            if further.length == reading.length or not self._is_live(further):
                return reading
            reading = further
        return reading

    def _is_live(self, reading: Reading) -> bool:
        """Whether one of the lexemes in progress could be shifted, or is ignored."""
        begun = reading.begun
        return any(
            self.lexemes[i].ignored or self._moved(stack, f"T{i}") is not None
            for i in (self._ended(begun) if self._is_over(begun) else begun)
            for stack in reading.columns[-1]
        )

    def _moved(self, stack: _Stack, name: str) -> _Stack | None:
        """The stack after a terminal."""
        while True:
            if name == "$END" and stack[-1] == self._last:
                return stack
            does, to = self._actions[stack[-1]].get(name, (None, None))
            if does is None:
                return None
            if does is Shift:
                return (*stack, to)
            stack = stack[: len(stack) - len(to.expansion)]
            stack = (*stack, self._actions[stack[-1]][to.origin.name][1])

    def _after(self, columns: Any, ended: Iterable[int], unread: bool) -> tuple[Any, bool]:
        """The columns after a lexeme; an ignored one leaves the stacks as they are."""
        stacks = set[_Stack]()
        for lexeme in ended:
            if self.lexemes[lexeme].ignored:
                stacks |= columns[-1]
            moved = (self._moved(stack, f"T{lexeme}") for stack in columns[-1])
            stacks |= {stack for stack in moved if stack is not None}
        return [*columns, frozenset(stacks)], unread
