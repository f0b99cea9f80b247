"""The chart of a text that a lexer divides, by maximal munch.

A column is a place between two lexemes of the rules; the lexer reads what the column wants and what
is ignored, as the definition in ``compiler/maximal_munch/README.md`` says. What is ignored alone
leaves the column as it is; where the parser follows an ignored lexeme beside others, the next
column has what this one has, too.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from constrain.artifacts.dfa.stacked_dfas import DEAD
from constrain.artifacts.maximal_munch.lexer import NO_ACCEPT, REFUSED_BYTE, Lexer

from ..grammar import tree
from ..lazy_dfa.expression import bodies_of
from ..limits import Limits
from ..maximal_munch.lexemes import lexeme_grammar
from ..maximal_munch.lexer_tables import lexer_tables
from .chart import Chart
from .graph import Graph

# Of a leaf its lexeme, None if it has no text, and whether it may be missing.
Lexed = Mapping[int, tuple[int | None, bool]]


@dataclass(frozen=True, eq=False)
class Lexemes:
    """``lexer``: what reads them, and ``lexed``: those of the leaves of the rules, by ``id``."""

    lexer: Lexer
    lexed: Lexed


@dataclass(slots=True, eq=False)
class LexedText:
    """``chart``: of the lexemes; ``spans``: of the lexeme before each column; ``ignored``: the
    places of what was ignored alone; ``place``: the last column, None where the text is refused."""

    chart: Chart
    spans: dict[int, tuple[int, int]] = field(default_factory=dict)
    ignored: list[tuple[int, int]] = field(default_factory=list)
    place: int | None = None


def lexemes_of(grammar: tree.Grammar, use: tree.Reference, limits: Limits) -> Lexemes:
    """The lexemes of a grammar whose exceptions are resolved, and whose whole is ``use``."""
    found = lexeme_grammar(grammar, limits)
    numbers = {
        rule.name: rule.body.ids[0][0]
        for rule in found.grammar.rules
        if isinstance(rule.body, tree.Token)
    }
    lexed: dict[int, tuple[int | None, bool]] = {}
    numbered = bodies_of(found.grammar)
    for name, rules in bodies_of(grammar).items():
        if not rules[0].terminal:
            for old, new in zip(rules, numbered[name], strict=True):
                lexed.update(_pairs(old.body, new.body, numbers))
    if use.name in grammar.terminals:
        lexed.update(_pairs(use, numbered[use.name][-1].body, numbers))
    return Lexemes(lexer_tables(found.lexemes, limits).lexer(), lexed)


def _pairs(
    old: tree.Expr, new: tree.Expr, numbers: Mapping[str, int]
) -> Iterator[tuple[int, tuple[int | None, bool]]]:
    """The lexemes of an expression's leaves, by the expression that its numbering became."""
    pending = [(old, new)]
    while pending:
        before, behind = pending.pop()
        if isinstance(before, tree.Sequence | tree.Choice | tree.Repetition | tree.Permutation):
            pending.extend(zip(tree.children(before), tree.children(behind), strict=True))
        elif isinstance(behind, tree.Repetition):
            assert isinstance(behind.item, tree.Reference)
            yield id(before), (numbers[behind.item.name], True)
        elif isinstance(behind, tree.Reference) and behind.name in numbers:
            yield id(before), (numbers[behind.name], False)
        elif isinstance(behind, tree.Literal):
            yield id(before), (None, True)
        else:
            yield id(before), (None, False)


def read_lexed(
    graph: Graph, procedure: int, lexemes: Lexemes, text: bytes, limits: Limits
) -> LexedText:
    """The chart of a text, up to where it is refused."""
    chart = Chart(graph, procedure, len(text), limits)
    chart.begin(0)
    found, lexer = LexedText(chart), lexemes.lexer
    column, number, place = chart.close(0), 0, 0
    ignored = lexer.ignored
    while place < len(text):
        of_leaf = {leaf: lexemes.lexed[id(graph.leaves[leaf])][0] for leaf, *_ in column.wanted}
        wanted = frozenset(lexeme for lexeme in of_leaf.values() if lexeme is not None)
        state, end = lexer.start(wanted), place
        while end < len(text) and (step := lexer.rows[state][text[end]]) != DEAD:
            state, end = step, end + 1
        accept = NO_ACCEPT if state == REFUSED_BYTE else lexer.accept_of[state]
        if end == place or accept == NO_ACCEPT:
            return found
        taken = lexer.accept_sets[accept]
        if taken & ignored and not taken & wanted:
            found.ignored.append((place, end))
            place = end
            continue
        came = set()
        for leaf, target, begin, source in column.wanted:
            if of_leaf[leaf] in taken:
                chart.add(number + 1, target, begin)
                came.add(leaf)
            if taken & ignored:
                chart.carry(number + 1, source, begin)
        for leaf in sorted(came):
            chart.came_to(number + 1, leaf, number)
        if taken & ignored and chart.has_ended(number):
            chart.carry(number + 1, graph.exits[procedure], 0)
        number += 1
        found.spans[number] = place, end
        column, place = chart.close(number), end
    found.place = number
    return found
