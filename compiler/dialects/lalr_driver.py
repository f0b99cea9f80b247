"""The loop of an LALR parser over Lark's tables: tokens by one regex, trees without Lark's.

Shifts and reductions are those of Lark (Aho, Sethi and Ullman 1986, algorithm 4.7). Of the
terminals that match in a place the first one is tried, in Lark's order. If the state does not allow
it, the regex of that state finds the first one that is allowed.
"""

from collections.abc import Callable
from typing import Any

from ..diagnostics import Span
from .builder import CLOSING, OPENING, Builder, Token, token_of
from .lalr_tables import Tables

# Tokens or characters between two looks at the clock.
CLOCK_STRIDE = 1024

END = token_of("$END", "", 0, 0)


class Unexpected(Exception):  # noqa: N818
    """What stands at ``offset`` cannot stand there: ``token``, if it is one."""

    def __init__(self, offset: int, token: Token | None) -> None:
        super().__init__()
        self.offset, self.token = offset, token


class Driver:
    """Reads the text of a builder from ``begin`` on, where a rule begins.

    ``tables``: of its grammar. ``check`` is called now and then. ``rule``: where the one that is
    read begins, None between two of them, and ``heading`` the first token of the last one.
    """

    def __init__(
        self, tables: Tables, builder: Builder, begin: int, check: Callable[[], None]
    ) -> None:
        self._tables, self._builder, self._check = tables, builder, check
        self._begin = begin
        self._states = [0]
        self.rule: int | None = None
        self.heading = END
        # What is on the stack; of flat tables the tokens that were read.
        self.values: list[Any] = []

    def parse(self) -> Any:
        """The value of the whole text; of flat tables its tokens. Raises ``Unexpected``."""
        builder, tables, states = self._builder, self._tables, self._states
        rows, goto = tables.rows, tables.states
        # The values of each state but the first begin in ``values`` where ``bases`` says.
        values = self.values
        bases = [0]
        found: Any
        action: Any
        opening, closing, line_break = OPENING, CLOSING, builder.line_break_token
        edges = builder.rule_heads | builder.rule_ends
        marks = edges | opening | closing | {line_break}
        deepest = builder.limits.nesting
        depth = count = state = 0
        row = rows[state] or tables.row(state)
        last = line_break
        text, read, place = builder.source.text, tables.matcher(-1), self._begin
        extents, end, own, kept = builder.extents, len(text), builder.tokens(), builder.read
        stop = min(end, place + CLOCK_STRIDE)
        # Most of the work of a token, so without calls that are not needed.
        new, new_place = str.__new__, tuple.__new__
        while True:
            if own is not None:
                token = next(own, END)
                kind = token.type
                count += 1
                if count % CLOCK_STRIDE == 0:
                    self._check()
            elif place < stop:
                found = read(text, place)
                kind = found.lastgroup
                if kind not in row and kind != line_break:
                    found = tables.matcher(state)(text, place)
                    kind = found.lastgroup
                    if kind is None:
                        if found.end() == place:
                            raise self._unexpected(place)
                        place = found.end()
                        continue
                begin, place = span = found.span(kind)
                if kind in extents:
                    place = extents[kind](begin, place)
                    span = begin, place
                token = new(Token, text[begin:place])
                token.type, token.span = kind, new_place(Span, span)
            elif place < end:
                self._check()
                stop = min(end, place + CLOCK_STRIDE)
                continue
            else:
                token, kind = END, "$END"
            if kept is not None:
                kept.append(token)
            if kind in marks or self.rule is None:
                if kind == line_break and (depth > 0 or last in builder.line_break_ignored_after):
                    continue
                if self.rule is None or kind in edges:
                    self._follow(token)
                depth += (kind in opening) - (kind in closing)
                if depth > deepest:
                    builder.limits.check_nesting(depth, "the grammar")
            last = kind
            action = row.get(kind)
            while action.__class__ is not int:
                if action is None:
                    if kind == "$END" and state == tables.end:
                        return values if tables.is_flat else values[-1]
                    raise Unexpected(token.span.start, token)
                size, symbol, call, is_one, once = action
                if is_one:
                    values[-1] = call(builder, values[-1:])
                else:
                    if size > 1:
                        del states[1 - size :], bases[1 - size :]
                    elif not size:
                        states.append(0)
                        bases.append(len(values))
                    if call is not None:
                        base = bases[-1]
                        children = values[base:]
                        if not once or len(children) != 1:
                            values[base:] = (call(builder, children),)
                state = states[-1] = goto[states[-2]][symbol]
                action = (rows[state] or tables.row(state)).get(kind)
            state = action
            row = rows[state] or tables.row(state)
            states.append(state)
            bases.append(len(values))
            values.append(token)
        raise AssertionError("the end ends the loop")

    def _follow(self, token: Token) -> None:
        """Note where rules begin and end."""
        builder, kind = self._builder, token.type
        if (self.rule is None and token is not END) or kind in builder.rule_heads:
            self.rule, self.heading = token.span.start, token
            self._check()
        if kind in builder.rule_ends:
            self.rule = None

    def accepted(self) -> list[str]:
        """The terminals that may stand where the parser is."""
        states, tables = self._states, self._tables
        kinds = (kind for kind in tables.states[states[-1]] if kind.isupper())
        return [kind for kind in kinds if tables.accepts(states, kind)]

    def _unexpected(self, place: int) -> Unexpected:
        """What stands there: a token of another place, or none."""
        found = self._tables.matcher(-1)(self._builder.source.text, place)
        kind = found.lastgroup
        if kind is None:
            return Unexpected(place, None)
        return Unexpected(place, token_of(kind, found[kind], *found.span(kind)))
