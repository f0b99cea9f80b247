"""Error classes, one a stage, and the diagnostics that place them in a grammar's text.

Those about a grammar carry ``Diagnostic`` objects with spans
into a ``Source``; printed, they look like a compiler's:

    g.ebnf:2:7: error: rule 'digt' is not defined
      |
    2 | day = digt, digit;
      |       ^^^^
      = help: did you mean 'digit'?
"""

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cached_property
from heapq import nsmallest
from typing import NamedTuple
from unicodedata import combining, east_asian_width

from constrain.artifacts.errors import ConstrainError, visible


class Span(NamedTuple):
    """Character offsets [start, end) into a source text."""

    start: int
    end: int

    def cover(self, other: "Span") -> "Span":
        """The smallest span that holds both."""
        start, end = self
        first, last = other
        return Span(start if start < first else first, end if end > last else last)


@dataclass(frozen=True)
class Source:
    """A grammar's text, the name it is called by, and the dialect it was read as."""

    text: str
    name: str
    dialect: str

    @cached_property
    def _line_starts(self) -> list[int]:
        return [0, *(found.end() for found in re.finditer("\n", self.text))]

    def position(self, offset: int) -> tuple[int, int]:
        """Line and column of a character, both from 1."""
        line = bisect_right(self._line_starts, offset)
        return line, offset - self._line_starts[line - 1] + 1

    def around(self, offset: int) -> tuple[str, int]:
        """The line of a character, without its end, and where in that the character stands;
        control characters as visible symbols. Of a long line what is near."""
        number, _ = self.position(offset)
        begin = self._line_starts[number - 1]
        end = self.text.find("\n", begin)
        end = len(self.text) if end < 0 else end
        before = behind = ""
        if end - begin > _LONGEST_LINE:
            first, last = max(begin, offset - _SHOWN_BEFORE), min(end, offset + _SHOWN_BEHIND)
            before, behind = "…" * (first > begin), "…" * (last < end)
            begin, end = first, last
        text = self.text[begin:end]
        shown = visible(text if behind else text.removesuffix("\r"))
        return f"{before}{shown}{behind}", len(before) + offset - begin


# How notes begin that say what a grammar's text was taken for, and which definitions nothing uses.
READ_AS, DEFINE = "read as", "--define"

# Characters of a line that is shown as a whole, and what is shown of longer ones.
_LONGEST_LINE, _SHOWN_BEFORE, _SHOWN_BEHIND = 240, 80, 120


# Characters of a message, and of a rule's name or a part of a regex that a message shows.
_LONGEST_MESSAGE, _LONGEST_RULE, _SHOWN = 2_000, 120, 60


def shortened(text: str, most: int) -> str:
    """A text, or its beginning where it has more characters."""
    return text if len(text) <= most else text[: most - 1] + "…"


def _without_middle(text: str) -> str:
    half = _LONGEST_MESSAGE // 2
    return text if len(text) <= _LONGEST_MESSAGE else f"{text[:half]}…{text[1 - half :]}"


def _cells(char: str) -> int:
    """How many cells of a terminal a character takes."""
    if combining(char):
        return 0
    return 2 if east_asian_width(char) in "WF" else 1


@dataclass(frozen=True, slots=True)
class Edit:
    """``text`` in place of the characters [start, end) of a source."""

    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class Fix:
    """What mends a finding: ``title`` says what is done, ``edits`` are in the order of the text and
    do not overlap. ``safe``: the language stays the same, or there was none before."""

    title: str
    edits: tuple[Edit, ...]
    safe: bool


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One finding: what is wrong where, and how to mend it; ``fix`` does that, where one is known.

    ``span`` is None where no place in the text is at fault. Of a very long message or help, as one
    with a name of a megabyte in it, the beginning and the end are kept.
    """

    message: str
    span: Span | None = None
    help: str | None = None
    fix: Fix | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "message", _without_middle(self.message))
        object.__setattr__(self, "help", self.help and _without_middle(self.help))

    def render(self, source: Source, level: str = "error") -> str:
        """The lines a terminal shows; the caret line keeps the source line's tabs."""
        name, message, help_ = visible(source.name), visible(self.message), visible(self.help or "")
        if self.span is None:
            gutter, lines = " ", [f"{name}: {level}: {message}"]
        else:
            row, column = source.position(min(self.span.start, len(source.text)))
            text, place = source.around(min(self.span.start, len(source.text)))
            marked = text[place : place + self.span.end - self.span.start]
            width = max(1, sum(map(_cells, marked)))
            indent = "".join("\t" if c == "\t" else " " * _cells(c) for c in text[:place])
            gutter = " " * len(str(row))
            lines = [
                f"{name}:{row}:{column}: {level}: {message}",
                f"{gutter} |",
                f"{row} | {text}",
                f"{gutter} | {indent}{'^' * width}",
            ]
        if help_:
            lines.append(f"{gutter} = help: {help_}")
        return "\n".join(lines)

    def in_a_line(self, source: Source) -> str:
        """The same in one line, without the source's name."""
        parts = [self.message, *([self.help] if self.help else [])]
        if self.span is not None:
            row, column = source.position(min(self.span.start, len(source.text)))
            parts[0] = f"line {row}, column {column}: {parts[0]}"
        return "; ".join(parts)


# Errors of a file that are shown: those after are mostly of the same cause.
MOST_SHOWN = 50


def more_of(name: str, count: int, level: str = "error") -> list[str]:
    """A line that says how many of ``count`` errors of a file are not shown, if there are any."""
    more = count - MOST_SHOWN
    return [f"{visible(name)}: and {more:,} more {level}{'s' * (more > 1)}"] if more > 0 else []


def closest(name: str, names: Iterable[str], cutoff: float = 0.6) -> str | None:
    """The name that was probably meant. Long ones are not compared, nor all of very many: that
    takes the time of their product."""
    if len(name) > _LONGEST_NAME:
        return None
    shorter = sorted(each for each in names if len(each) <= _LONGEST_NAME)
    if len(shorter) > _MOST_NAMES:
        begin, size = name[:1], len(name)
        shorter = nsmallest(
            _MOST_NAMES, shorter, key=lambda each: (each[:1] != begin, abs(len(each) - size))
        )
    return next(iter(get_close_matches(name, shorter, n=1, cutoff=cutoff)), None)


# Characters of a name that is compared with others, and how many of them.
_LONGEST_NAME, _MOST_NAMES = 100, 1_000


class GrammarError(ConstrainError):
    """What is wrong with a grammar's text: ``diagnostics``, in the order of the text. The message
    has the first of them."""

    def __init__(self, source: Source, diagnostics: Sequence[Diagnostic]) -> None:
        place = [d for d in diagnostics if d.span is not None]
        rest = [d for d in diagnostics if d.span is None]
        place.sort(key=lambda d: d.span or Span(0, 0))
        self.source = source
        self.diagnostics = (*place, *rest)
        shown = [d.render(source) for d in self.diagnostics[:MOST_SHOWN]]
        super().__init__("\n".join([*shown, *more_of(source.name, len(self.diagnostics))]))


class DialectError(GrammarError):
    """The text is not of the dialect it was read as."""


class CheckError(GrammarError):
    """The text can be read, but makes no grammar (undefined rule, empty language, …)."""


class NotRegularError(GrammarError):
    """The grammar nests a rule inside itself, so no finite automaton recognises it."""


class TokenizerError(ConstrainError):
    """A tokenizer that cannot be read, or that does what is not supported."""


class TokenizerLimitError(TokenizerError):
    """A limit of what a tokenizer may ask for was hit while a text was encoded."""

    exit_code = 3


class WeakerMasksWarning(UserWarning):
    """Canonical masks cannot be had where the caller left the choice open: the artifact allows
    any token sequence that spells a member, not only the tokenizer's own."""


class LimitError(ConstrainError):
    """A limit was hit: ``limit`` is its option's name, ``value`` its number, ``stage``
    where, ``rules`` the author's rules that take most of it, ``part`` the part of a regex that
    does, as its author wrote it. ``is_measured``: of time and of resident memory, which depend on
    the machine; all others count, and are the same for the same input. ``is_fixed``: no option
    raises it. ``is_of_tables``: it is the tokenizer's, and no grammar's. ``instead``: options that
    need no such step."""

    exit_code = 3

    def __init__(
        self,
        stage: str,
        limit: str,
        value: float,
        rules: Iterable[str] = (),
        part: str = "",
        *,
        is_measured: bool = False,
        is_fixed: bool = False,
        is_of_tables: bool = False,
        instead: str = "",
    ) -> None:
        self.is_of_tables, self.instead = is_of_tables, instead
        self.stage, self.limit, self.value, self.rules = stage, limit, value, tuple(rules)
        self.part, self.is_measured, self.is_fixed = part, is_measured, is_fixed
        places = []
        if self.rules:
            names = ", ".join(repr(shortened(name, _LONGEST_RULE)) for name in self.rules)
            places.append(f"in rule{'s' * (len(self.rules) > 1)} {names}")
        if part:
            places.append(f"in '{visible(shortened(part, _SHOWN))}'")
        culprit = f" (most of it {', '.join(places)})" if places else ""
        ways = [] if is_fixed else [f"raise --max-{limit}"]
        ways += [f"say {instead}"] if instead else []
        ways += [] if is_of_tables else ["simplify the grammar"]
        super().__init__(
            f"{stage} {need_of(stage)} more than {value:,.12g} {_unit(limit, value)}{culprit}; "
            f"{', '.join(ways[:-1])}{' or ' * (len(ways) > 1)}{ways[-1]}"
        )

    def of_tables(self) -> "LimitError":
        """The same error, of the tables of a tokenizer. Counts are what they are."""
        if not self.is_measured:
            return self
        limit = "table-seconds" if self.limit == "seconds" else self.limit
        stage = f"the tables of this tokenizer are being made, once: {self.stage}"
        return LimitError(stage, limit, self.value, is_measured=True, is_of_tables=True)

    def blaming(self, rules: Iterable[str], part: str = "", instead: str = "") -> "LimitError":
        """The same error, of these rules and this part, with options that do without; of tables of
        a tokenizer no rule is."""
        return LimitError(
            self.stage,
            self.limit,
            self.value,
            () if self.is_of_tables else rules,
            part or self.part,
            is_measured=self.is_measured,
            is_fixed=self.is_fixed,
            is_of_tables=self.is_of_tables,
            instead=instead or self.instead,
        )


def give_up(error: ConstrainError) -> None:
    """Go on without what a search would have found; but raise what ends the whole command."""
    if isinstance(error, LimitError) and error.is_measured:
        raise error


def need_of(stage: str) -> str:
    """The verb "need" after a stage's name: "the rules of a grammar need", "the DFA needs"."""
    head = _HEAD_ENDS.split(stage.rpartition(": ")[2])[0]
    is_several = head.endswith("s") and not head.split(" ")[0].endswith("ing")
    return "need" if is_several else "needs"


# What stands behind the noun of a stage's name.
_HEAD_ENDS = re.compile(r" (?:of|in|that|after|for|with|without|beside|what|to|by|as|from|over) ")


def _unit(limit: str, value: float) -> str:
    things, *rest = _UNITS[limit].split(" ")
    return " ".join([things.removesuffix("s") if value == 1 else things, *rest])


_UNITS = {
    "states": "states",
    "transitions": "transitions",
    "memory": "bytes of memory",
    "seconds": "seconds of CPU time",
    "table-seconds": "seconds of CPU time",
    "nesting": "levels of nesting",
    "artifact-bytes": "bytes",
    "work": "steps of work",
}
