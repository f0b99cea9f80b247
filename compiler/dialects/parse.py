"""Read a text by its dialect's tables; name what was not expected, and go on with the next rule."""

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace

from constrain.artifacts.errors import visible

from ..diagnostics import Diagnostic, DialectError, Edit, Fix, LimitError, Span
from ..grammar.regex_lexer import UnexpectedError as RegexError
from ..grammar.tree import Rule
from .builder import CLOSING, OPENING, Builder, Token
from .lalr_driver import END, Driver, Unexpected
from .lalr_tables import Tables

_STAGE = "reading the grammar"

# A rule's name, at its head.
_NAME = re.compile(r"[A-Za-z_](?:[\w-]*\w)?")


# How many of the possible continuations a message lists.
_LISTED = 8

# How many unexpected things are reported.
_MOST_ERRORS = 20

# What swallows all of the text after it.
_ENDLESS = frozenset({"comment without an end"})

# By the class of builders, whose methods are among them.
_TABLES: dict[tuple[type[Builder], bool], Tables] = {}


class UnexpectedError(DialectError):
    """The parser met what it did not expect."""


def parse(builder: Builder, *, recover: bool = True) -> tuple[Rule, ...]:
    """The rules that a builder makes of its source.

    After what the parser did not expect it goes on with the next rule (with the dialects that
    say where one begins, if ``recover``), so that one rule's mistake hides no other's. Raises
    ``UnexpectedError`` with what it did not expect and all that the builder found, or else
    ``DialectError`` with the latter; ``LimitError`` on brackets nested too deep.
    """
    unexpected: list[Diagnostic] = []
    begin = 0
    while True:
        try:
            rules = builder.whole() or _parse_from(builder, begin)
            break
        except RegexError as error:
            unexpected.append(error.diagnostic)
            break
        except _Unexpected as stop:
            unexpected.append(stop.diagnostic)
            builder.partial = True
            resumed = _next_rule(builder, stop) if recover else None
            if resumed is None or len(unexpected) == _MOST_ERRORS:
                break
            begin = resumed
    if unexpected:
        raise UnexpectedError(builder.source, [*unexpected, *builder.diagnostics])
    if builder.diagnostics:
        raise DialectError(builder.source, builder.diagnostics)
    return rules


def tokens_of(builder: Builder) -> list[Token]:
    """The tokens that the parser reads of a builder's source, without what it drops: line breaks
    that mean nothing. What they stand for is not looked at, so that undefined rules and wrong
    escapes are no errors here. Raises ``DialectError`` on what a rule cannot be made of."""

    def check() -> None:
        builder.limits.check_resources(_STAGE)

    try:
        found: list[Token] = Driver(_tables(type(builder), is_flat=True), builder, 0, check).parse()
    except Unexpected as error:
        span = Span(error.offset, error.offset + 1)
        raise UnexpectedError(builder.source, [Diagnostic("unexpected", span)]) from None
    if builder.diagnostics:
        raise DialectError(builder.source, builder.diagnostics)
    return found


class _Unexpected(Exception):  # noqa: N818
    """What the parser did not expect: where, and where the rule around it begins."""

    def __init__(self, diagnostic: Diagnostic, rule: int, offset: int, *, final: bool) -> None:
        super().__init__(diagnostic.message)
        self.diagnostic, self.rule, self.offset, self.final = diagnostic, rule, offset, final


def _parse_from(builder: Builder, begin: int) -> tuple[Rule, ...]:
    """The rules from ``begin`` on, which is where one begins. Raises ``_Unexpected``."""

    def check() -> None:
        builder.limits.check_resources(_STAGE, blamed)

    driver = Driver(_tables(type(builder)), builder, begin, check)
    blamed = _Blamed(driver, builder)
    try:
        rules: tuple[Rule, ...] = driver.parse()
    except LimitError as error:
        raise error if error.rules else error.blaming(blamed) from None
    except Unexpected as error:
        found, ends = _explain(error, driver.accepted(), builder)
        found = replace(found, fix=_missing_end(error, builder, begin))
        offset = found.span.start if found.span else len(builder.source.text)
        # A head that was not expected here is where the next rule begins.
        rule = driver.rule
        begun = offset if rule is None else rule - (rule == offset and bool(builder.rule_heads))
        raise _Unexpected(found, begun, offset, final=ends) from None
    return rules


class _Blamed:
    """The rule that is read, as far as it has a name, when somebody asks."""

    def __init__(self, driver: Driver, builder: Builder) -> None:
        self._driver, self._builder = driver, builder

    def __iter__(self) -> Iterator[str]:
        builder = self._builder
        named = builder.only_rule if builder.next_rule is None else self._driver.heading
        return iter(_NAME.findall(named)[:1])


def _next_rule(builder: Builder, stop: _Unexpected) -> int | None:
    """Where the first rule begins after the one that could not be read; None if nowhere.

    A rule begins on a line of its own or after what ends one. The line of the mistake counts:
    what is wrong there may be that the rule before does not end.
    """
    if builder.next_rule is None or stop.final:
        return None
    text = builder.source.text
    pattern = re.compile(builder.next_rule, re.MULTILINE)
    before = _Before(text, text.rfind("\n", 0, stop.offset) + 1, stop.rule, builder.comment)
    place = before.place
    while (found := pattern.search(text, place)) is not None:
        builder.limits.check_resources(_STAGE)
        place = found.start("rule")
        before.move(place)
        if before.is_comment:
            place = text.find(builder.comment[1], place)
            if place < 0:
                return None
        elif place > stop.rule and not before.is_string:
            return place
        else:
            place += 1
    return None


class _Before:
    """What stands before a place that moves on: whether a comment is open there, which begins
    after ``rule``, or a quote on its line. ``place``: where a line begins, at first."""

    def __init__(self, text: str, place: int, rule: int, comment: tuple[str, str]) -> None:
        self.place, self._text = place, text
        # Of what opens and what closes a comment: the last one.
        self._marks = dict.fromkeys(comment, -1)
        self._marked = rule
        self._quotes = {'"': 0, "'": 0}

    @property
    def is_comment(self) -> bool:
        """Whether a comment is open."""
        opened, *closed = self._marks.values()
        return opened > max(closed, default=-1)

    @property
    def is_string(self) -> bool:
        """Whether a quote is open on the line."""
        return any(count % 2 == 1 for count in self._quotes.values())

    def move(self, place: int) -> None:
        """On to a place that does not lie before the last one: only what is between is read."""
        for mark, last in self._marks.items():
            begin = max(0, self._marked - len(mark) + 1)
            self._marks[mark] = max(last, self._text.rfind(mark, begin, place))
        line = self._text.rfind("\n", self.place, place) + 1
        if line:
            self.place = line
            self._quotes = dict.fromkeys(self._quotes, 0)
        for quote in self._quotes:
            self._quotes[quote] += self._text.count(quote, self.place, place)
        self.place = self._marked = place


def _tables(builder: type[Builder], *, is_flat: bool = False) -> Tables:
    found = _TABLES.get((builder, is_flat))
    if found is None:
        found = Tables(Builder.folder(), builder, is_flat=is_flat)
        _TABLES[builder, is_flat] = found
    return found


def _explain(
    error: Unexpected, possible: Sequence[str], builder: Builder
) -> tuple[Diagnostic, bool]:
    """What stands there, what could have stood there, and a help line if one is known; and
    whether nothing can be read after it."""
    text = builder.source.text
    hint = None
    if error.token is None:
        span = Span(error.offset, error.offset + 1)
        found = _quoted(text[error.offset])
    elif error.token is not END:
        span = error.token.span
        found, hint = _quoted(str(error.token)), builder.hints.get(error.token.type)
    else:
        # The caret goes after the last thing that was read, not to the empty last line.
        end = len(text.rstrip())
        span = Span(end, end + 1)
        found, hint = builder.expected["$END"].removeprefix("the "), builder.hints.get("$END")
    found, hint = builder.known_mistake(text, span.start) or (found, hint)
    final = span.start >= len(text.rstrip()) or found in _ENDLESS
    expected = sorted({builder.expected[name] for name in possible if name in builder.expected})
    listed = ", ".join(expected[:_LISTED]) + (", …" if len(expected) > _LISTED else "")
    message = f"unexpected {found} (read as {builder.source.dialect})"
    if expected:
        message += f"; expected {listed}"
    return Diagnostic(message, span, hint), final


# What stands after the name of a rule where names are read before it.
_DEFINED = re.compile(r"\s*=")


def _missing_end(error: Unexpected, builder: Builder, begin: int) -> Fix | None:
    """The mark that ends rules, where the next rule or the text's end follows a whole one."""
    ends = builder.rule_ends & {"SEMICOLON", "TERMINATOR"}
    text, token = builder.source.text, error.token
    if not ends or token is None or token.type not in ("DEFINES", "NAME", "$END"):
        return None
    if token.type == "NAME" and not _DEFINED.match(text, token.span.end):
        return None
    driver = Driver(_tables(type(builder), is_flat=True), builder, begin, lambda: None)
    known = len(builder.diagnostics)
    with suppress(Unexpected, LimitError):
        driver.parse()
    del builder.diagnostics[known:]  # What is read again is said once.
    read: list[Token] = driver.values
    # The next rule's name, if it is not the end of the text that follows.
    name = [token] if token.type == "NAME" else []
    if token.type == "DEFINES":
        read, name = read[:-1], read[-1:]
    if not read or not _are_closed(read):
        return None
    place = read[-1].span.end
    if token.type == "DEFINES" and "\n" in name[0]:
        # Names may have line breaks: the last one of a rule and the next rule's are read as one.
        place = name[0].span.start + len(name[0][: name[0].rindex("\n")].rstrip())
    elif read[-1].type in ("DEFINES", "BAR", "COMMA", *ends) or (
        name and "\n" not in text[place : name[0].span.start]
    ):
        return None
    return Fix("write ';' after the rule", (Edit(place, place, ";"),), safe=True)


def _are_closed(read: Sequence[Token]) -> bool:
    kinds = [token.type for token in read]
    return sum((kind in OPENING) - (kind in CLOSING) for kind in kinds) == 0


def _quoted(text: str) -> str:
    if text[:1] in ("\n", "\r"):
        return "line break"
    line = visible(text.split("\n")[0])
    return f"'{line[:40]}{'…' if line[:40] != text else ''}'"
