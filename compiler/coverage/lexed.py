"""The chart of a text that a lexer divides, by maximal munch.

A column is a place between two lexemes of the rules; the lexer reads what the column wants and what
is ignored, as the definition in ``compiler/maximal_munch/README.md`` says. What is ignored alone
leaves the column as it is; where the parser follows an ignored lexeme beside others, the next
column has what this one has, too.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from ..automata.dfa import DEAD
from ..grammar import tree
from ..limits import Limits
from ..maximal_munch.lexemes import Lexeme, lexeme_grammar
from .chart import Chart
from .graph import Graph

# Of a leaf its lexeme, None if it has no text, and whether it may be missing.
Lexed = Mapping[int, tuple[int | None, bool]]


@dataclass(frozen=True, eq=False)
class Lexer:
    """``lexemes``, and ``lexed``: those of the leaves of the rules, by ``id``."""

    lexemes: Sequence[Lexeme]
    lexed: Lexed

    @property
    def ignored(self) -> list[int]:
        """The lexemes that may stand anywhere."""
        return [i for i, lexeme in enumerate(self.lexemes) if lexeme.ignored]


@dataclass(slots=True, eq=False)
class LexedText:
    """``chart``: of the lexemes; ``spans``: of the lexeme before each column; ``ignored``: the
    places of what was ignored alone; ``place``: the last column, None where the text is refused."""

    chart: Chart
    spans: dict[int, tuple[int, int]] = field(default_factory=dict)
    ignored: list[tuple[int, int]] = field(default_factory=list)
    place: int | None = None


def lexer_of(grammar: tree.Grammar, use: tree.Reference, limits: Limits) -> Lexer:
    """The lexemes of a grammar whose exceptions are resolved, and whose whole is ``use``."""
    found = lexeme_grammar(grammar, limits)
    numbers = {
        rule.name: rule.body.ids[0][0]
        for rule in found.grammar.rules
        if isinstance(rule.body, tree.Token)
    }
    lexed: dict[int, tuple[int | None, bool]] = {}
    numbered = _by_name(found.grammar.rules)
    for name, rules in _by_name(grammar.rules).items():
        if not rules[0].terminal:
            for old, new in zip(rules, numbered[name], strict=True):
                lexed.update(_pairs(old.body, new.body, numbers))
    if use.name in grammar.terminals:
        lexed.update(_pairs(use, numbered[use.name][-1].body, numbers))
    return Lexer(found.lexemes, lexed)


def _by_name(rules: Sequence[tree.Rule]) -> dict[str, list[tree.Rule]]:
    found: dict[str, list[tree.Rule]] = {}
    for rule in rules:
        found.setdefault(rule.name, []).append(rule)
    return found


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


class LexerRows:
    """The DFAs of the lexemes as lists."""

    def __init__(self, lexer: Lexer) -> None:
        self._lexemes = lexer.lexemes
        dfas = [each.refusing for each in lexer.lexemes]
        self._rows = [dfa.table[:, dfa.classes].tolist() for dfa in dfas]
        self._starts = [dfa.start for dfa in dfas]
        self._accepting = [dfa.accepting.tolist() for dfa in dfas]
        # By lexeme the state, if there is one, before which it may not end.
        open_ = [each.followed is not None for each in lexer.lexemes]
        self._refusing = [dfa.states - 1 if o else -1 for dfa, o in zip(dfas, open_, strict=True)]
        self._shortest = {i for i, each in enumerate(lexer.lexemes) if each.shortest}

    def read(self, allowed: Sequence[int], text: bytes, begin: int) -> tuple[int, list[int]]:
        """Where the next lexeme ends, and which it is; none where the text is refused."""
        rows = self._rows
        live = [(i, self._starts[i]) for i in allowed]
        place, refused = begin, list[int]()
        while place < len(text):
            octet = text[place]
            steps = [(i, step) for i, s in live if (step := rows[i][s][octet]) != DEAD]
            refused = [i for i, step in steps if step == self._refusing[i]]
            further = [each for each in steps if each[0] not in refused]
            if not further:
                break
            live, place = further, place + 1
            if any(i in self._shortest and self._accepting[i][state] for i, state in live):
                break
        if place == begin:
            return begin, []
        complete = [i for i, state in live if self._accepting[i][state]]
        highest = max((self._lexemes[i].precedence for i in complete), default=None)
        ended = [i for i in complete if self._lexemes[i].precedence == highest]
        return place, [] if any(i in refused for i in ended) else ended


def read_lexed(
    graph: Graph, procedure: int, lexer: Lexer, rows: LexerRows, text: bytes, limits: Limits
) -> LexedText:
    """The chart of a text, up to where it is refused."""
    chart = Chart(graph, procedure, len(text), limits)
    chart.begin(0)
    found = LexedText(chart)
    column, number, place = chart.close(0), 0, 0
    ignored = set(lexer.ignored)
    while place < len(text):
        of_leaf = {leaf: lexer.lexed[id(graph.leaves[leaf])][0] for leaf, *_ in column.wanted}
        wanted = {lexeme for lexeme in of_leaf.values() if lexeme is not None}
        end, ended = rows.read(sorted(wanted | ignored), text, place)
        if not ended:
            return found
        taken = set(ended)
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
