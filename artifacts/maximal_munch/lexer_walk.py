"""The walk of the token trie by a lexer, which asks the parser where a lexeme ends.

    in "f(x", at the tokens that go on with a name:    the name ends before "+", ")", " +", "(b" …

The states of the lexer are the states of the walk (``artifacts/walk``), and a *place* of the
parser, a number, stands where the walk has a set of stacks. Source: llguidance, "Optimizing".
"""

from collections import defaultdict
from collections.abc import Callable, Iterator
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from ..network.configurations import Stacks
from ..tokens.lengths import ENDLESS
from ..tokens.tokenset import Words
from ..tokens.trie import Trie
from ..walk.characters import leading_outside_ascii
from ..walk.forms import kernel
from ..walk.layout import TrieLayout, layout_of
from ..walk.node_sets import Nodes
from ..walk.rows import YIELDS
from .lexer import NO_ACCEPT, Lexer

if TYPE_CHECKING:
    from ..walk.kernel import Kernel

# A place by itself: whatever lexeme ends there, what follows is waited for by its accept set.
ALONE = 0

# Numbers of what is waited for begin after those that say nothing.
FIRST_WAIT = 2

# Where a state leads, and the place there; or 0 and what is waited for, or 0 twice for nothing.
Behind = tuple[int, int]


class LexerStates:
    """The states of a lexer as a walk asks for them: ``states[s]``, 256 targets. ``follow``: by the
    accept set with which a lexeme ends, and a place of the parser, what follows."""

    is_bounded = False

    def __init__(self, lexer: Lexer, follow: Callable[[int, int], Behind]) -> None:
        self._lexer, self._follow = lexer, follow
        self._ends: list[int] = []
        self.inside = frozenset[int]()
        self.rooms = defaultdict[int, int](lambda: ENDLESS)
        self._never = defaultdict[int, bool](bool)
        self.calls = defaultdict[int, tuple[()]](lambda: ())

    @property
    def ends(self) -> list[int]:
        """Of each state there is what it does, as bits (``artifacts/walk/rows.py``)."""
        lexer = self._lexer
        for state in range(len(self._ends), lexer.states):
            self._ends.append(YIELDS if lexer.accept_of[state] != NO_ACCEPT else 0)
        return self._ends

    def __getitem__(self, state: int) -> object:
        """Where each byte leads, 0 for nowhere."""
        return self._lexer.rows[state]

    def behind(self, state: int, place: int) -> Behind:
        """What follows where the lexeme of a state ends."""
        accept_set = self._lexer.accept_of[state]
        if place == ALONE:
            return 0, FIRST_WAIT + accept_set
        return self._follow(accept_set, place)

    def includes(self, state: int, part: int) -> bool:
        """Whether it is seen at once that a state reads what another one does."""
        inside, whole = self._lexer.sets[part], self._lexer.sets[state]
        return len(inside) <= len(whole) and set(inside).issubset(whole)

    def leading_outside_ascii(self, state: int, back: int) -> int:
        """The classes of characters outside ASCII, as bits, all of which lead from a state to
        another one."""
        return leading_outside_ascii(self._lexer.rows, self._never, state, back)


class LexerWalk:
    """Walks by one lexer, not by several threads at once. ``trie``: called for the first one.
    ``visited``: the nodes that the last one came to."""

    def __init__(
        self,
        lexer: Lexer,
        trie: Callable[[], Trie],
        vocab_size: int,
        follow: Callable[[int, int], Behind],
    ) -> None:
        self._trie, self._vocab_size = trie, vocab_size
        self._states = LexerStates(lexer, follow)
        self.visited = 0

    def walk(
        self, nodes: Nodes, state: int, place: int, words: Words
    ) -> Iterator[tuple[int, Nodes]]:
        """Set the bits, uint32 (W,), of the tokens below ``nodes`` that are read from a state at a
        place of the parser, the nodes' own bytes first; what is waited for, and the nodes there in
        any order. Raises ``WalkLimitError``."""
        layout, (first, end) = self._layout, self._trie().first[:2]
        is_root = len(nodes) == end - first and np.array_equal(nodes, np.arange(first, end))
        places = layout.place[nodes[:0] if is_root else nodes]
        self._kernel.lexemes(places, state, place, words)
        self.visited = self._kernel.visited
        for waited, found in self._kernel.waits.items():
            yield waited, layout.order[found]

    @cached_property
    def _layout(self) -> TrieLayout:
        return layout_of(self._trie(), self._vocab_size)

    @cached_property
    def _kernel(self) -> "Kernel":
        walk = kernel()(self._states, Stacks())
        walk.lay_out(self._layout)
        return walk
