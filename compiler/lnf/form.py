"""Loup's normal form: numbered symbols and flat productions.

A grammar is in Loup's normal form (LNF) if

1. every body is a flat sequence of symbols: no groups, options or repetitions;
2. the productions of one left-hand side stand together, in the order of the text, and no
   two of them have the same body;
3. no two texts are neighbours in a body, and no text is empty;
4. no body is a single nonterminal;
5. every production is of use: it derives a finite text, can be reached from the start, and
   its symbols can derive more than ε;
6. no two nonterminals have the same productions, where nonterminals that 6 makes one count
   as the same: ``L ::= '' | L 'x'`` and ``M ::= '' | M 'x'`` are one;
7. no body is empty, and no symbol derives ε; ``nullable_start`` says whether ε is a member of
   the language. The start may then have no production, if ε is the only member.

``normalize`` sees to 1 to 6, which is what automata are built from: they read ε for nothing,
and the author's options stay to be drawn. ``normalize_without_nullable`` sees to all seven,
for recognisers that predict. There 4 has one exception: suffixes of a body whose symbols may be
missing get names (``eliminate_nullable``), and such a name may be a whole body, as in
``A ::= 'x' R | 'x' | R``. Replacing ``R`` would make n² productions out of n options. These
nonterminals are marked (``suffixes``), and one alone never leads back to its own head.

"Implementing a Constrained Decoding Engine" names the form and keeps a rule such as
``B ::= 'a' B``, which never ends. Here it is removed: a mask that led into it would lead
into a dead end.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from heapq import nsmallest
from typing import TypeAlias

from ..automata import regex_ir as regex
from ..diagnostics import Source
from ..grammar.tree import Token

# A nonterminal's number, or ~t (negative) for terminal t.
Symbol: TypeAlias = int

# Where something came from: (rule, start, end) with character offsets into the source.
Origins: TypeAlias = frozenset[tuple[str, int, int]]

# A production names the first so many places that it came from, which is more than a message
# can use; without a bound, rules merged and copied would name each other's places n² times.
# A terminal names all of its places, which drawings show.
ENOUGH = 16

ONCE: tuple[int, int | None] = (1, 1)


@dataclass(frozen=True, slots=True, eq=False)
class Terminal:
    """A text (``bytes``) or an automaton (a regex node), and where it stands."""

    content: bytes | regex.Node
    origins: Origins

    @property
    def key(self) -> object:
        """Equal for terminals that are the same text or the same automaton."""
        return self.content if isinstance(self.content, bytes) else id(self.content)


@dataclass(frozen=True, slots=True, eq=False)
class Production:
    """``head`` derives ``body``, repeated ``times`` (only before repetitions are expanded).

    ``origins``: the ``few`` first places it came from.
    """

    head: int
    body: tuple[Symbol, ...]
    origins: Origins
    times: tuple[int, int | None] = ONCE

    def with_symbols(self, head: int, body: tuple[Symbol, ...]) -> "Production":
        """The same for other symbols; most passes change few productions."""
        if head == self.head and body == self.body:
            return self
        return Production(head, body, self.origins, self.times)


@dataclass(frozen=True, eq=False)
class Lnf:
    """A grammar between and after the passes.

    ``names``: of the nonterminals; an anonymous one is called after the rule it stands in,
    as in ``rule/2``. ``owners``: that rule. ``productions`` are sorted by head. ``authored``:
    the grammar before units were replaced, for messages about the author's rules. ``suffixes``:
    nonterminals that stand for a suffix of a body. ``nullable_start``: ε is a
    member besides what the productions derive. ``tokens``: the grammar's distinct token
    terminals, which ``TokenTerminal`` nodes name by their index.
    """

    source: Source
    names: Sequence[str]
    owners: Sequence[str]
    terminals: Sequence[Terminal]
    productions: Sequence[Production]
    start: int
    authored: "Lnf | None" = None
    suffixes: frozenset[int] = frozenset()
    nullable_start: bool = False
    tokens: Sequence[Token] = ()

    @cached_property
    def by_head(self) -> list[list[Production]]:
        """The productions of each nonterminal."""
        found: list[list[Production]] = [[] for _ in self.names]
        for production in self.productions:
            found[production.head].append(production)
        return found

    def with_productions(
        self, productions: Iterable[Production], terminals: Sequence[Terminal] | None = None
    ) -> "Lnf":
        """The same grammar with other productions, sorted by head and otherwise in this order."""
        ordered = sorted(productions, key=lambda p: p.head)
        if terminals is None:
            terminals = self.terminals
        return replace(self, productions=ordered, terminals=terminals)

    def is_suffix(self, production: Production) -> bool:
        """Whether the body is nothing but one of ``suffixes``."""
        return len(production.body) == 1 and production.body[0] in self.suffixes

    def body_key(self, body: Sequence[Symbol]) -> tuple[object, ...]:
        """Equal for bodies with the same symbols, whatever their places in the text."""
        return tuple(s if s >= 0 else (self.terminals[~s].key,) for s in body)


def few(origins: Origins) -> Origins:
    """The first places by the text, at most ``ENOUGH``."""
    if len(origins) <= ENOUGH:
        return origins
    return frozenset(nsmallest(ENOUGH, origins, key=lambda o: (o[1], o[2], o[0])))
