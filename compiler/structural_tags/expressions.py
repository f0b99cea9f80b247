"""What free text and patterns in it are written with: expressions, and rules beside them.

    sequence(text("a"), text(""))  ->  "a"        rule("#x", …)  ->  x, a rule of the grammar

A subclass says where what is wrong stands.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from typing import TypeAlias

from ..automata import regex_ir as regex
from ..automata.boolean import embedded
from ..diagnostics import Diagnostic, Span
from ..grammar import tree
from ..limits import Limits
from .free_text import texts_without

# A token as it is named: by its number or its text.
TokenName: TypeAlias = int | str


class Expressions(ABC):
    """``rules``: those that were written; their names begin with ``#`` and a pointer, which names
    a part of the text that is read. ``wrong``: what is not enforced or has no meaning."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.rules: list[tree.Rule] = []
        self.wrong: list[Diagnostic] = []
        self._texts: dict[tuple[frozenset[str], frozenset[str]], str] = {}
        # How many rules of free text there are by their pointers.
        self._texts_at: dict[str, int] = {}
        self._span = Span(0, 0)

    @abstractmethod
    def refuse(self, pointer: str, message: str, hint: str = "") -> tree.Expr:
        """Note what is not enforced or has no meaning, and go on."""

    def text(self, text: str) -> tree.Expr:
        return tree.Literal(text.encode("utf-8"), self._span)

    def sequence(self, *items: tree.Expr) -> tree.Expr:
        kept = [i for i in items if not (isinstance(i, tree.Literal) and not i.data)]
        if len(kept) < 2:
            return kept[0] if kept else self.text("")
        return tree.Sequence(tuple(kept), self._span)

    def choice(self, options: Sequence[tree.Expr]) -> tree.Expr:
        return options[0] if len(options) == 1 else tree.Choice(tuple(options), self._span)

    def repetition(self, item: tree.Expr, least: int, most: int | None) -> tree.Expr:
        if most == 0:
            return self.text("")
        return item if least == most == 1 else tree.Repetition(item, least, most, self._span)

    def rule(self, name: str, body: tree.Expr) -> tree.Expr:
        """A rule of a name, and the use of it."""
        self.rules.append(tree.Rule(name, self._span, body, self._span))
        return tree.Reference(name, self._span)

    def free_text(
        self, pointer: str, inside: Iterable[str], at_end: Iterable[str] = ()
    ) -> tree.Expr:
        """Any text that contains none of ``inside`` and ends with none of ``at_end``."""
        key = frozenset(inside), frozenset(at_end)
        name = self._texts.get(key)
        if name is not None:
            return tree.Reference(name, self._span)
        count = self._texts_at[pointer] = self._texts_at.get(pointer, 0) + 1
        name = f"#{pointer} text{f' {count}' * (count > 1)}"
        self._texts[key] = name
        node: regex.Node = regex.EVERYTHING
        if any(key):
            node = embedded(texts_without(*key, self.limits, [name]))
        return self.rule(name, tree.Pattern(node, "any text", self._span))

    def one_token(self, names: Sequence[TokenName], *, negated: bool = False) -> tree.Expr:
        """One of these tokens, or any but these."""
        numbers = sorted({each for each in names if isinstance(each, int)})
        texts = list(dict.fromkeys(each for each in names if isinstance(each, str)))
        if not texts:
            ids = tuple((each, each) for each in numbers)
            return tree.Token(None, ids, negated, self._span)
        return tree.Token(texts[0], (), negated, self._span, (*texts[1:], *numbers))
