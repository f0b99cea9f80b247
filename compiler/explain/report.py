"""The verdict on a text: accepted, rejected or incomplete, and what could stand where it stops.

It is read off the state in which a machine stops; ``maximal_munch.py``, ``network.py`` and
``earley.py`` say more of the same verdict by their engines.

    date.ebnf, "2024-1x"  ->  rejected at 1:7, expected [0-2], in month
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from enum import Enum

from ..automata.dump import class_text, ranges
from .machines import TextMachine

# Characters of a terminal that a message shows.
_LONGEST_TERMINAL = 60

# Terminals that have begun of which a message says with what each goes on.
_MOST_BEGUN = 3

# Rules that a path shows at its beginning and its end.
_FIRST, _LAST = 3, 5


class Status(Enum):
    """What became of a text."""

    ACCEPTED = "accepted"
    REJECTED = "rejected"
    INCOMPLETE = "incomplete"


@dataclass(frozen=True, slots=True)
class Sentence:
    """What is wrong with an instance of a schema, or with a call of a tool, in its user's words.

    ``line``, ``column`` and ``offset`` as in a ``Verdict``, of the place that it is about;
    ``instance``: the pointer of the value there, of a ``call`` that in its arguments; ``schema``:
    the pointer of what asks for something else, None where JSON or the call's form does.
    """

    message: str
    line: int
    column: int
    offset: int
    instance: str
    schema: str | None = None
    call: str | None = None

    @property
    def place(self) -> str:
        """Where that is, in words, empty for the whole text."""
        if self.call is None:
            return f"at {self.instance}" if self.instance else ""
        return f"in a call of `{self.call}`{', argument ' * bool(self.instance)}{self.instance}"

    def __str__(self) -> str:
        by = f" (schema {self.schema})" if self.schema is not None and self.call is None else ""
        return f"{self.message}{by}"


@dataclass(frozen=True, slots=True)
class Verdict:
    """``offset``: bytes that were read; ``line`` and ``column`` (in characters) from 1.

    ``rules``: whose text was expected at that place; ``expected``: the bytes that could have
    come, as ranges; ``tokens``: the token terminals that could have come, which no text
    matches; ``may_end``: the text could have ended there. ``but_for_line_break``: it
    would be accepted without the line break at its end. Where a parser was followed, ``path``:
    the rules that lie inside each other there, and ``terminals``: those that could have begun,
    as their author wrote them. Of an instance of a JSON Schema, ``instance``: the pointer of
    the place in it, and ``schemas``: those of the schemas that say what could have come.
    ``begun``: the terminals that the place lies inside, each with the bytes that it goes on
    with, as ranges. ``following``: all bytes that could have come, as ranges, whichever of the
    others has them. ``is_for_order``: with keys in any order more of the instance would be read.
    ``sentences``: of what a schema or tools describe, what is wrong there and after it.
    ``stands``: the token that stands there, where tokens are read.
    """

    status: Status
    offset: int
    line: int
    column: int
    rules: tuple[str, ...] = ()
    expected: tuple[tuple[int, int], ...] = ()
    tokens: tuple[str, ...] = ()
    may_end: bool = False
    but_for_line_break: bool = False
    path: tuple[str, ...] = ()
    terminals: tuple[str, ...] = ()
    instance: str | None = None
    schemas: tuple[str, ...] = ()
    begun: tuple[tuple[str, tuple[tuple[int, int], ...]], ...] = ()
    following: tuple[tuple[int, int], ...] = ()
    is_for_order: bool = False
    sentences: tuple[Sentence, ...] = ()
    stands: str = ""


def verdict_of(machine: TextMachine, text: bytes, names: Sequence[str] = ()) -> tuple[Verdict, int]:
    """The verdict on a text by what reads it, and the state in which that stops. ``names``: of the
    token terminals."""
    offset, state = machine.follow(machine.start, text)
    status, may_end = Status.REJECTED, machine.may_end(state)
    if offset == len(text):
        status = Status.ACCEPTED if may_end else Status.INCOMPLETE
    shorter, following = without_line_break(text), ranges(machine.next_bytes(state))
    is_near = status is Status.REJECTED and len(shorter) <= offset and machine.accepts(shorter)
    tokens = tuple(n for i, n in enumerate(names) if machine.named(state, i) is not None)
    found = Verdict(
        status, offset, *position(text, offset), (), following, tokens, may_end, is_near
    )
    return replace(found, following=following), state


def explain(
    machine: TextMachine,
    rules_of: Callable[[int], Sequence[str]],
    text: bytes,
    names: Sequence[str] = (),
) -> Verdict:
    """The same with ``rules_of``: the rules that a state's bytes come from."""
    found, state = verdict_of(machine, text, names)
    return replace(found, rules=tuple(dict.fromkeys(rules_of(state))))


def expected_texts(verdict: Verdict) -> list[str]:
    """What could have stood where a text stops, as messages write it: terminals as their author
    wrote them, and where one has begun what it goes on with; bytes where there are no terminals."""
    found = [f"{class_text(octets)} inside {shown(text)}" for text, octets in verdict.begun]
    if len(found) > _MOST_BEGUN:
        some = [shown(text) for text, _ in verdict.begun[:_MOST_BEGUN]]
        found = [f"{class_text(verdict.expected)} inside {', '.join(some)}, …"]
    if verdict.expected and not (found or (verdict.terminals and verdict.instance is None)):
        found = [class_text(verdict.expected)]
    found += [shown(text) for text in verdict.terminals]
    if verdict.tokens:
        found.append(f"the token {' or '.join(verdict.tokens)}")
    return found + ["the end of the text"] * verdict.may_end


def expectation(verdict: Verdict) -> str:
    """What a message says after the place where a text stops: inside what that is, what was
    expected, and whose text that is."""
    said = ""
    if verdict.instance is not None:
        said = f", at {verdict.instance or 'the root'}"
    elif verdict.rules or verdict.path:
        said = f" in {' > '.join(verdict.path) or ', '.join(verdict.rules)}"
    said += f"; expected {' or '.join(expected_texts(verdict)) or 'nothing'}"
    said += f", by {' or '.join(verdict.schemas)}" if verdict.schemas else ""
    if verdict.is_for_order:
        said += "; the keys are in another order than the schema's (--order any)"
    return said + " (it is accepted without the line break at its end)" * verdict.but_for_line_break


def shown(terminal: str) -> str:
    """A terminal as its author wrote it, on one line and not too long."""
    text = " ".join(terminal.split()) if "\n" in terminal else terminal
    return text if len(text) <= _LONGEST_TERMINAL else f"{text[: _LONGEST_TERMINAL - 1]}…"


def position(text: bytes, offset: int) -> tuple[int, int]:
    """Line and column of a byte, from 1; columns count characters."""
    before = text[:offset]
    last_line = before[before.rfind(b"\n") + 1 :]
    return before.count(b"\n") + 1, len(last_line.decode("utf-8", "replace")) + 1


def without_line_break(text: bytes) -> bytes:
    """A text without the line break at its end, if it has one."""
    return text.removesuffix(b"\n").removesuffix(b"\r") if text.endswith(b"\n") else text


def common(paths: Sequence[list[str]]) -> list[str]:
    """What all paths of rules begin with."""
    shared: list[str] = []
    for rules in zip(*paths, strict=False):
        if len(set(rules)) > 1:
            break
        shared.append(rules[0])
    return shared


def some(found: Iterable[str], most: int) -> tuple[str, ...]:
    """The first few of a list, with an ellipsis where there are more."""
    listed = tuple(found)
    return listed[:most] + ("…",) * (len(listed) > most)


def shortened(path: list[str]) -> tuple[str, ...]:
    """A path without its middle if it is long."""
    if len(path) <= _FIRST + _LAST:
        return tuple(path)
    return (*path[:_FIRST], "…", *path[-_LAST:])
