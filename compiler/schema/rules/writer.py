"""What the rules of members and items are written with."""

from collections.abc import Callable, Hashable, Iterable, Sequence
from fractions import Fraction
from typing import Protocol, TypeVar

from ...grammar import tree
from ...limits import Limits
from ..goals import Goal, Goals
from ..notes import Notes
from ..options import SchemaOptions
from ..sets import Texts

State = TypeVar("State", bound=Hashable)


class Writer(Protocol):
    """The parts that texts of JSON have, by the options of a grammar."""

    goals: Goals
    options: SchemaOptions
    notes: Notes
    limits: Limits

    def value(self, goal: Goal) -> tree.Reference:
        """A value that satisfies a goal: the rule of that goal."""

    def literal(self, data: str | bytes) -> tree.Literal:
        """A text as it is; empty for ε."""

    def sequence(self, *items: tree.Expr) -> tree.Expr:
        """One after the other, without those that are empty."""

    def choice(self, options: Sequence[tree.Expr]) -> tree.Expr:
        """One of them; nothing where there is none."""

    def repetition(self, item: tree.Expr, least: int, most: int | None) -> tree.Expr:
        """An item so many times."""

    def permutation(
        self, parts: Sequence[tree.Part], separator: tree.Expr, least: int, most: int | None
    ) -> tree.Expr:
        """Parts in any order, so many of them."""

    def helper(self) -> str:
        """A name for a rule that a part of the goal at work needs."""

    def rule(self, name: str, options: Sequence[tree.Expr]) -> None:
        """The rule of a name."""

    def reference(self, name: str) -> tree.Reference:
        """The use of a rule."""

    def comma(self) -> tree.Expr:
        """Between members or items."""

    def colon(self) -> tree.Expr:
        """Between a key and its value."""

    def bracketed(self, first: str, inside: tree.Expr, last: str) -> tree.Expr:
        """What stands between brackets."""

    def text(self, text: str) -> tree.Expr:
        """One string."""

    def number(self, value: Fraction) -> tree.Expr:
        """One number."""

    def texts(self, texts: Texts) -> tree.Expr:
        """The strings of a set."""

    def order_of_places(self, goal: Goal) -> dict[int, int]:
        """Where the places that a goal applies to a value stand, by their numbers."""

    def names_of_places(self, numbers: Iterable[int]) -> list[str]:
        """The keys that places have schemas for, in their order."""


def rules_of_states(
    writer: Writer,
    first: State,
    options: Callable[[State, Callable[[State], tree.Expr]], list[tree.Expr]],
) -> tree.Expr:
    """A rule for each state that the first one leads to; the use of its own. ``options``: of a
    state, with what gives the use of another one's rule."""
    names: dict[State, str] = {}
    pending: list[State] = []

    def use(state: State) -> tree.Expr:
        if state not in names:
            names[state] = writer.helper()
            pending.append(state)
        return writer.reference(names[state])

    found = use(first)
    while pending:
        state = pending.pop()
        writer.rule(names[state], options(state, use))
    return found
