"""The loop of an LALR parser over Lark's tables and Lark's lexers, with fewer calls a token.

Reading a small grammar is a third of the time to its first mask. Shifts, reductions and callbacks
are those of Lark (Aho, Sethi and Ullman 1986, algorithm 4.7); what is not expected is left to Lark,
which says what it is: its parser and this one have their stacks in common.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeAlias

from lark import Lark, Token
from lark.parsers.lalr_analysis import Shift
from lark.parsers.lalr_interactive_parser import InteractiveParser

# Tokens between two looks at the clock.
CLOCK_STRIDE = 1024

# Of a state: the match method of the regex of its terminals, which terminals are ignored, and what
# makes tokens of others.
_Matcher: TypeAlias = tuple[Any, frozenset[str], dict[str, Any]]


class LalrTables:
    """What the loop looks up of a parser of Lark's: made once for each parser."""

    def __init__(self, parser: Lark) -> None:
        frontend: Any = parser.parser
        loop = frontend.parser.parser
        self.actions = loop.parse_table.states
        # By the rule's address: Lark's rules are hashed symbol by symbol.
        self.reductions = {
            id(rule): (len(rule.expansion), call, rule.origin.name)
            for rule, call in loop.callbacks.items()
        }
        lexer = frontend.lexer
        self.postlex = getattr(lexer, "postlexer", None)
        self.contextual = lexer if self.postlex is None else lexer.lexer
        self._matchers: dict[int, _Matcher] = {}

    def matcher(self, state: int) -> _Matcher:
        """What reads tokens in a state."""
        found = self._matchers.get(state)
        if found is None:
            lexer = self.contextual.lexers[state]
            (regex,) = lexer.scanner._mres
            found = self._matchers[state] = regex.match, lexer.ignore_types, lexer.callback
        return found


class Driver:
    """Reads the text of ``interactive``, whose stacks it moves; ``tables``: of the same parser.
    ``extents``: of tokens whose end no regex finds, that end. ``check`` is called now and then,
    also where nothing but what is ignored stands."""

    def __init__(
        self,
        tables: LalrTables,
        interactive: InteractiveParser,
        text: str,
        extents: Mapping[str, Callable[[int, int], int]],
        check: Callable[[], None],
    ) -> None:
        self._check = check
        self._tables, self._interactive, self._text = tables, interactive, text
        self._extents = extents
        state = interactive.parser_state
        self._states, self._values = state.state_stack, state.value_stack

    def iter_parse(self) -> Iterator[Token]:
        """Each token, fed when the next one is asked for. Raises ``UnexpectedInput``."""
        tokens = self._tokens()
        if self._tables.postlex is not None:
            tokens = self._tables.postlex.process(tokens)
        for token in tokens:
            yield token
            self.feed_token(token)

    def feed_token(self, token: Token) -> Any:
        """Reduce, and shift the token. Raises ``UnexpectedToken``."""
        states, values = self._states, self._values
        actions, reductions = self._tables.actions, self._tables.reductions
        kind = token.type
        while (found := actions[states[-1]].get(kind)) is not None:
            action, target = found
            if action is Shift:
                states.append(target)
                values.append(token)
                return None
            size, call, name = reductions[id(target)]
            if size:
                children = values[-size:]
                del states[-size:], values[-size:]
            else:
                children = []
            values.append(call(children))
            states.append(actions[states[-1]][name][1])
            if kind == "$END" and states[-1] == self._interactive.parser_state.parse_conf.end_state:
                return values[-1]
        return self._interactive.feed_token(token)

    def feed_eof(self, last: Token | None) -> Any:
        """The value of the whole text, behind its last token. Raises ``UnexpectedToken``."""
        token = Token("$END", "") if last is None else Token.new_borrow_pos("$END", "", last)
        return self.feed_token(token)

    def _tokens(self) -> Iterator[Token]:
        """The tokens that may stand where the parser is, but for those that are ignored."""
        text, states, matcher = self._text, self._states, self._tables.matcher
        place, end, last, extents = 0, len(text), None, self._extents
        count = 0
        while place < end:
            count += 1
            if count % CLOCK_STRIDE == 0:
                self._check()
            match, ignored, calls = matcher(states[-1])
            found = match(text, place)
            if found is None:
                yield self._unexpected(place, last)
                return
            begin, place, kind = place, found.end(), found.lastgroup
            if kind in ignored:
                continue
            inside = found[0]
            if kind in extents:
                place = extents[kind](begin, place)
                inside = text[begin:place]
            token = Token(kind, inside, begin, None, None, None, None, place)
            if kind in calls:
                token = calls[kind](token)
            last = token
            yield token

    def _unexpected(self, place: int, last: Token | None) -> Token:
        """What Lark says of the text at ``place``: an ``UnexpectedInput``."""
        state: Any = self._interactive.lexer_thread.state
        state.line_ctr.char_pos, state.last_token = place, last
        found: Token = next(self._tables.contextual.lex(state, self._interactive.parser_state))
        return found
