"""What is to be known of one rule: how it would be followed, what its texts begin and end with, and
one of them.

    month ::= "0" #"[1-9]" | "1" #"[0-2]"    ->    dfa; begins with [01], ends with [0-9]; "01"

The last three are one least fixed point over the tree (``Edges``), whichever the engine.
"""

from dataclasses import dataclass, replace
from functools import reduce
from typing import NamedTuple

import numpy as np

from ..automata import regex_ir as regex
from ..automata.assertions import resolved
from ..automata.determinize import determinize
from ..automata.dfa import DEAD, trimmed
from ..automata.dump import class_text, ranges
from ..automata.folding import fold
from ..automata.members import shortest
from ..automata.minimize import minimize
from ..automata.thompson import thompson
from ..choose import engine_of
from ..frontend import compile_texts, read_checked
from ..grammar import tree
from ..grammar.expand_permutations import in_one_order
from ..limits import Limits
from ..lnf.resolve_exclusions import resolve_exclusions
from ..options import DFA, CompileOptions

_STAGE = "what is known of a rule"


class Edges(NamedTuple):
    """Of an expression: a shortest text, None where there is none, and the bytes that its texts
    begin and end with, as bits."""

    shortest: bytes | None = None
    first: int = 0
    last: int = 0

    def then(self, other: "Edges") -> "Edges":
        """Of the one before the other."""
        if self.shortest is None or other.shortest is None:
            return Edges()
        first = self.first | (other.first if not self.shortest else 0)
        last = other.last | (self.last if not other.shortest else 0)
        return Edges(self.shortest + other.shortest, first, last)

    def either(self, other: "Edges") -> "Edges":
        """Of the one or the other."""
        texts = [text for text in (self.shortest, other.shortest) if text is not None]
        found = min(texts, key=lambda text: (len(text), text), default=None)
        return Edges(found, self.first | other.first, self.last | other.last)


@dataclass(frozen=True, slots=True)
class RuleFacts:
    """``engine`` and ``reason``: what follows the rule as a grammar of its own, and why.
    ``is_regular``: whether a DFA does. ``first`` and ``last``: classes of bytes as text, of all
    members but the empty one. ``example``: a shortest member; None where there is none."""

    engine: str
    reason: str
    is_regular: bool
    first: str
    last: str
    example: bytes | None


def facts_of(text: str, options: CompileOptions, name: str) -> RuleFacts:
    """The facts of the rule ``options.start``. Raises ``GrammarError``, ``LimitError``."""
    grammar = read_checked(text, options, name)
    found = compile_texts(grammar, engine_of(grammar, options), options)
    edges = edges_of(grammar, options.limits)
    first, last = (
        class_text(ranges(byte for byte in range(256) if bits >> byte & 1)) for bits in edges[1:]
    )
    is_regular = found.engine == DFA
    return RuleFacts(found.engine, found.reason, is_regular, first, last, edges.shortest)


def edges_of(grammar: tree.Grammar, limits: Limits) -> Edges:
    """Those of the start rule, of a checked grammar, without what is ignored."""
    bare = resolve_exclusions(in_one_order(replace(grammar, ignored=())), limits)
    known: dict[str, Edges] = {}
    leaves: dict[int, Edges] = {}

    def of(expr: tree.Expr, inside: list[Edges]) -> Edges:
        match expr:
            case tree.Reference():
                return known.get(expr.name, Edges())
            case tree.Sequence():
                return reduce(Edges.then, inside)
            case tree.Choice():
                return reduce(Edges.either, inside)
            case tree.Repetition():
                return _repeated(expr, inside[0])
        if id(expr) not in leaves:
            limits.check_resources(_STAGE, [grammar.start])
            leaves[id(expr)] = _leaf(expr, limits)
        return leaves[id(expr)]

    changed = True
    while changed:
        changed = False
        for rule in reversed(bare.rules):
            limits.check_resources(_STAGE, [rule.name])
            before = known.get(rule.name, Edges())
            known[rule.name] = before.either(fold(rule.body, tree.children, of))
            changed |= known[rule.name] != before
    return known[grammar.start]


def _repeated(expr: tree.Repetition, item: Edges) -> Edges:
    """``item`` from so many to so many times."""
    if expr.max_times == 0 or (item.shortest is None and expr.min_times == 0):
        return Edges(b"")
    if item.shortest is None:
        return item
    return item._replace(shortest=item.shortest * expr.min_times)


def _leaf(expr: tree.Expr, limits: Limits) -> Edges:
    """Of a text or a pattern; tokens have no bytes."""
    if isinstance(expr, tree.Literal):
        ends = (1 << expr.data[0], 1 << expr.data[-1]) if expr.data else (0, 0)
        return Edges(expr.data, *ends)
    if not isinstance(expr, tree.Pattern):
        return Edges(b"")
    node: regex.Node = resolved(expr.node, limits)
    dfa = trimmed(minimize(determinize(thompson(node, limits), limits), limits), limits)
    columns = [
        sum(1 << byte for a, b in runs for byte in range(a, b + 1)) for runs in dfa.byte_ranges()
    ]
    table = dfa.table[:, : len(columns)]
    begin = np.flatnonzero(table[dfa.start] != DEAD)
    end = np.flatnonzero(dfa.accepting[table].any(axis=0))
    first, last = (sum(columns[column] for column in each) for each in (begin, end))
    return Edges(shortest(dfa), first, last)
