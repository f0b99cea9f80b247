"""What a schema's grammar leaves out, and what is refused: each by its JSON pointer."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from constrain.artifacts.errors import visible

from ..diagnostics import Diagnostic, GrammarError, Span

# The end of a note about what is left out.
NARROWED = "[narrowed]"

# Spellings of a value that grammars may do without: how a note calls them.
ORDER = "keys in another order (--order any)"
ESCAPED = "needless escapes, as \\u0061 for a (--escapes any)"
NUMBERS = "1.0 and 1e0 for 1 (--integer decimal: 1.0)"
EXPONENTS = "1e0 for 1"

# The beginning of the note about spellings, which are no values.
SPELLINGS = "other spellings of the same values are left out: "

# How rules/items.py refuses items that must differ, where they are not compared while decoding.
NOT_HELD = "uniqueItems of items without finitely many values"


def needs_holding(error: GrammarError) -> bool:
    """Whether a schema was refused for that."""
    return any(NOT_HELD in each.message for each in error.diagnostics)


class Refused(Exception):  # noqa: N818
    """A part of a schema that has no grammar: where, why, and what helps.

    Raised deep inside; ``schema_grammar`` makes the error with its place of it.
    """

    def __init__(self, pointer: str, message: str, hint: str = "") -> None:
        super().__init__(f"{pointer}: {message}")
        self.pointer, self.message, self.hint = pointer, message, hint

    def placed(self, spans: Mapping[str, Span]) -> Diagnostic:
        """With its place in the text. ``spans``: by pointers without their ``#``."""
        return placed(self.pointer, self.message, self.hint, spans)


@dataclass(slots=True, eq=False)
class Notes:
    """Findings about a schema, in the order in which they were made.

    ``narrowings`` counts what has been left out so far, also each use of a result that leaves
    something out: what is the same before and after a computation was exact.
    """

    narrowings: int = 0
    # By pointer and message: what helps, and whether it is about a key, not about its value.
    _found: dict[tuple[str, str], tuple[str, bool]] = field(default_factory=dict)
    _spellings: set[str] = field(default_factory=set)

    def narrowed(self, pointer: str, message: str, hint: str = "") -> None:
        """Valid instances are left out at a pointer."""
        self.narrowings += 1
        self.add(pointer, f"{message} {NARROWED}", hint)

    def respelled(self, kind: str) -> None:
        """Spellings are left out of values that have another one: ``ORDER`` and the like."""
        self._spellings.add(kind)

    def left_out(self) -> Iterator[tuple[str, str]]:
        """What is left out, each with its pointer."""
        for pointer, message in self._found:
            if message.endswith(NARROWED):
                yield pointer, message.removesuffix(NARROWED).rstrip()

    def add(self, pointer: str, message: str, hint: str = "", *, is_of_key: bool = False) -> None:
        """Something to know about a place, or about the key in front of it; said once."""
        self._found.setdefault((pointer, message), (hint, is_of_key))

    def placed(self, spans: Mapping[str, Span], keys: Mapping[str, Span]) -> tuple[Diagnostic, ...]:
        """All of them, each kind once and with the number of its places, by the first of these in
        the text. ``spans``, ``keys``: of values and of the keys in front of them, by pointers
        without their ``#``."""
        nowhere = Span(1 << 60, 1 << 60)
        alike: dict[tuple[str, str, bool], list[str]] = {}
        for (pointer, message), (hint, is_of_key) in self._found.items():
            alike.setdefault((message, hint, is_of_key), []).append(pointer)
        found = []
        for (message, hint, is_of_key), pointers in alike.items():
            if len(pointers) > 1:
                # Once, at the first place in the text.
                pointers.sort(key=lambda pointer: spans.get(pointer.removeprefix("#"), nowhere))
                message = _at_others(message, len(pointers) - 1)
            found.append(placed(pointers[0], message, hint, keys if is_of_key else spans))
        found.sort(key=lambda d: d.span or nowhere)
        return together([*found, *(Diagnostic(SPELLINGS + kind) for kind in self._spellings)])


def _at_others(message: str, count: int) -> str:
    """What is found at other places, too."""
    body, mark, lint = message.rpartition(" [")
    if not lint.endswith("]"):
        body, mark, lint = message, "", ""
    return f"{body}, and at {count:,} other place{'s' * (count > 1)}{mark}{lint}"


def together(found: Sequence[Diagnostic]) -> tuple[Diagnostic, ...]:
    """Notes, with one about spellings for all that there are, after the others."""
    rest = [each for each in found if not each.message.startswith(SPELLINGS)]
    about = [each.message for each in found if each.message.startswith(SPELLINGS)]
    kinds = [kind for kind in (ORDER, ESCAPED, NUMBERS) if any(kind in each for each in about)]
    if NUMBERS not in kinds and any(EXPONENTS in each for each in about):
        kinds.append(EXPONENTS)
    return (*rest, *([Diagnostic(SPELLINGS + ", ".join(kinds))] if kinds else ()))


def placed(pointer: str, message: str, hint: str, spans: Mapping[str, Span]) -> Diagnostic:
    """A finding with the span of its pointer, or of the nearest value around it."""
    inside = pointer.removeprefix("#")
    while inside and inside not in spans:
        inside = inside.rpartition("/")[0]
    span = spans.get(inside) if pointer.startswith("#") else None
    if span is not None:
        # One caret line is enough.
        span = Span(span.start, min(span.end, span.start + _MARKED))
    return Diagnostic(visible(f"{pointer}: {message}"), span, hint or None)


# Characters of a value that are underlined.
_MARKED = 20
