"""Which two characters can stand side by side inside a match of a pattern.

The positions of a pattern's characters and which may follow which, as in Glushkov's automaton
(V. M. Glushkov, The abstract theory of automata, Russian Mathematical Surveys 16(5), 1961).
Look-ahead is taken for the empty text, so the answer may be "yes" once too often, never too
seldom.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import lru_cache

from ..patterns import Item, items


@dataclass(slots=True)
class _Part:
    """A part of a pattern: can it be empty, where it begins, where it ends (positions)."""

    empty: bool = True
    first: set[int] = field(default_factory=set)
    last: set[int] = field(default_factory=set)


@dataclass(slots=True)
class _Group:
    """An open group: its opening, what each finished alternative is, and the present one."""

    opening: str
    done: list[_Part] = field(default_factory=list)
    parts: list[_Part] = field(default_factory=list)


class Adjacency:
    """The pairs of neighbours inside matches of a pattern."""

    def __init__(self, pattern: str) -> None:
        self.looks_far = False
        self._classes: list[str] = []
        self._follow: set[tuple[int, int]] = set()
        groups = [_Group("")]
        for kind, text in items(pattern):
            here = groups[-1]
            match kind:
                case Item.OPEN:
                    groups.append(_Group(text))
                case Item.CLOSE if len(groups) > 1:
                    groups.pop()
                    groups[-1].parts.append(self._closed(here))
                case Item.OR:
                    here.done.append(self._joined(here.parts))
                    here.parts = []
                case Item.QUANTIFIER:
                    here.parts.append(self._repeated(here.parts.pop(), text))
                case _:
                    here.parts.append(self._character(text, groups))
        self._closed(groups[0])

    def may_hold(self, left: str, right: str) -> bool:
        """Whether a match can hold ``left`` with ``right`` behind it, or see further than that.

        Where it cannot, an attempt that begins before them looks at nothing behind ``right``.
        """
        if self.looks_far:
            return True
        matches = _matcher(self._classes)
        return any(matches(a, left) and matches(b, right) for a, b in self._follow)

    def _character(self, text: str, groups: Iterable[_Group]) -> _Part:
        ignoring_case = any(group.opening == "(?i:" for group in groups)
        self._classes.append(f"(?i:{text})" if ignoring_case else text)
        place = {len(self._classes) - 1}
        return _Part(False, set(place), set(place))

    def _closed(self, group: _Group) -> _Part:
        alternatives = [*group.done, self._joined(group.parts)]
        part = _Part(
            any(a.empty for a in alternatives),
            set().union(*(a.first for a in alternatives)),
            set().union(*(a.last for a in alternatives)),
        )
        if group.opening in ("(?=", "(?!"):
            # A look at one character ahead is harmless; one at more is not.
            inside = part.first | part.last
            self.looks_far |= any(a in inside or b in inside for a, b in self._follow)
            return _Part()
        self.looks_far |= group.opening in ("(?<=", "(?<!")
        return part

    def _joined(self, parts: Iterable[_Part]) -> _Part:
        whole = _Part()
        for part in parts:
            self._follow |= {(a, b) for a in whole.last for b in part.first}
            whole = _Part(
                whole.empty and part.empty,
                whole.first | part.first if whole.empty else whole.first,
                whole.last | part.last if part.empty else part.last,
            )
        return whole

    def _repeated(self, part: _Part, quantifier: str) -> _Part:
        if quantifier[0] != "?":
            self._follow |= {(a, b) for a in part.last for b in part.first}
        may_skip = quantifier[0] in "*?" or quantifier.startswith(("{0}", "{0,"))
        return _Part(part.empty or may_skip, part.first, part.last)


def _matcher(classes: list[str]) -> Callable[[int, str], bool]:
    """Whether the class at a position holds a character."""
    import regex

    def matches(position: int, char: str) -> bool:
        return regex.fullmatch(classes[position], char, regex.VERSION0) is not None

    return matches


@lru_cache(maxsize=64)
def adjacency_of(pattern: str) -> Adjacency:
    """The pairs of a pattern, kept."""
    return Adjacency(pattern)
