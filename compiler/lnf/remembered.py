"""Automata that are remembered from one reading of a grammar to the next.

    with remembering(memory):  read, lint        an edit of one rule
    with remembering(memory):  read, lint        builds the automata alone that the edit changes

What is remembered is known by its structure, whatever its place in the text: an expression and the
rules that it reaches become numbers, equal for equal structures (hash-consing).
"""

from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from ..automata import regex_ir as regex
from ..automata.dfa import Dfa
from ..automata.folding import fold
from ..diagnostics import LimitError
from ..grammar import tree

# What says something about a node beside its class and its parts. Places are none of it.
_FIELDS: dict[type, tuple[str, ...]] = {
    tree.Literal: ("data",),
    tree.Reference: ("name",),
    tree.Token: ("meaning",),
    tree.Repetition: ("min_times", "max_times"),
    tree.Excluding: ("at_most",),
    regex.Lit: ("data",),
    regex.CharClass: ("ranges",),
    regex.ByteClass: ("ranges",),
    regex.TokenTerminal: ("index",),
    regex.Repeat: ("min_times", "max_times", "lazy"),
    regex.Embedded: ("automaton",),
    regex.Look: ("kind",),
    regex.Around: ("is_ahead", "is_negative"),
}

# Bytes of tables that are kept; beyond them all is forgotten. Of what has no table: so many.
_MOST_BYTES, _OF_NONE = 1 << 25, 200

# What was found, or the error that it ended with, which is the same each time.
_Found = Dfa | LimitError


class Memory:
    """What is remembered: numbers of structures, and automata by these."""

    def __init__(self) -> None:
        self._numbers: dict[Hashable, int] = {}
        self._found: dict[Hashable, _Found] = {}
        self._bytes = 0

    @property
    def size(self) -> int:
        """Bytes that are kept, roughly."""
        return self._bytes + _OF_NONE * len(self._numbers)

    def number(self, expr: tree.Expr) -> int:
        """That of all expressions with this structure."""
        return fold(expr, tree.children, self._of_expr)

    def name(self, *parts: Hashable) -> int:
        """A number for these together."""
        return self._of(parts)

    def of(self, key: Hashable, make: Callable[[], Dfa]) -> Dfa:
        """The automaton of a key; made if it is not known. Raises what making it raises."""
        found = self._found.get(key)
        if found is None:
            try:
                found = make()
            except LimitError as error:
                if error.is_measured:
                    raise
                found = error
            self._keep(key, found)
        if isinstance(found, LimitError):
            raise found
        return found

    def _keep(self, key: Hashable, found: _Found) -> None:
        self._bytes += found.table.nbytes if isinstance(found, Dfa) else 0
        self._bytes += _OF_NONE
        if self.size > _MOST_BYTES:
            self._numbers.clear()
            self._found.clear()
            self._bytes = 0
        else:
            self._found[key] = found

    def _of_expr(self, expr: tree.Expr, inside: list[int]) -> int:
        if isinstance(expr, tree.Permutation):
            return self._of((expr,))
        if isinstance(expr, tree.Pattern):
            inside = [fold(expr.node, regex.parts_of, self._of_node)]
        return self._of_node(expr, inside)

    def _of_node(self, node: Any, inside: list[int]) -> int:
        own = (getattr(node, name) for name in _FIELDS.get(node.__class__, ()))
        return self._of((node.__class__, *own, *inside))

    def _of(self, key: Hashable) -> int:
        return self._numbers.setdefault(key, len(self._numbers))


_memory: ContextVar[Memory | None] = ContextVar("_memory", default=None)


@contextmanager
def remembering(memory: Memory) -> Iterator[None]:
    """Let lints of this block, in this thread, remember automata."""
    token = _memory.set(memory)
    try:
        yield
    finally:
        _memory.reset(token)


def memory_in_force() -> Memory | None:
    """That of the block, if there is one."""
    return _memory.get()
