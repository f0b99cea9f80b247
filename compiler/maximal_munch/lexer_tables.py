"""The tables that maximal munch runs on: complete DFAs of all lexemes, and the network.

    NAME: /[a-z]+/   "if"   ->   states 1 NAME's start, 2 inside; 3 'if' start, 4 'i', 5 'if'

llguidance builds the lexer's DFAs lazily, by derivatives of regular expressions; here they are
complete and minimal before a text is read, and ``constrain.artifacts.maximal_munch.lexer`` runs
several at once.
"""

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise, product

import numpy as np
from numpy.typing import NDArray

from constrain.artifacts.maximal_munch.lexer import LexerTables
from constrain.artifacts.maximal_munch.parser_transitions import MOST_FRAMES
from constrain.artifacts.maximal_munch.tables import MaximalMunchTables
from constrain.artifacts.network.tables import NetworkTables

from ..automata.dfa import DEAD, Dfa
from ..automata.graphs import reached
from ..diagnostics import CheckError, Diagnostic, Source
from ..earley.tables import stacked_dfas
from ..grammar.expand_permutations import expand_permutations
from ..lazy_dfa.conjunctions import joined
from ..limits import Effort, Limits, in_force_or
from ..network.counter_tables import first_symbols
from ..network.from_tree import MOST_OVERLAPPING, network_from_tree, network_of_rules, numbered
from ..network.tree_rules import Rules
from .any_width import blocks_and_lines, of_all_widths
from .lexemes import Lexeme, LexemeGrammar, as_written


def lexer_tables(
    lexemes: Sequence[Lexeme], limits: Limits | None = None, rules: Sequence[str] = ()
) -> LexerTables:
    """The minimal DFAs of all lexemes, stacked, and their ranks; and the conjunctions of those that
    are walked lazily. Raises ``LimitError``, as lexers of them do; ``rules`` are named there."""
    limits = (limits or Limits()).started()
    ranks = {each: i for i, each in enumerate(sorted({lexeme.precedence for lexeme in lexemes}))}
    effort = Effort(limits, rules, stage="the lexer")

    def watch(work: int, size: int = 0) -> None:
        # What is made later belongs to the compilation that needs it.
        effort.limits = in_force_or(limits)
        effort.spend(work, size)

    tables = LexerTables(
        stacked_dfas([lexeme.refusing for lexeme in lexemes], limits),
        np.array([ranks[lexeme.precedence] for lexeme in lexemes], dtype=np.int32),
        np.array([lexeme.ignored for lexeme in lexemes], dtype=np.uint8),
        np.array([lexeme.shortest for lexeme in lexemes], dtype=np.uint8),
        # Nobody is told of those that no text may go on with.
        tuple("" if lexeme.refused else lexeme.text for lexeme in lexemes),
        watch=watch,
        refused=frozenset(i for i, lexeme in enumerate(lexemes) if lexeme.refused),
    )
    lazily = {i: each.lazily for i, each in enumerate(lexemes) if each.lazily is not None}
    if not lazily:
        return tables
    from constrain.artifacts.lazy_lexer.lexer import LazyLexerTables

    # Columns are those of all, as in a file.
    columns = joined([c for each in lazily.values() for c in each.conjunctions])
    counts = np.cumsum([0, *(len(each.conjunctions) for each in lazily.values())]).tolist()
    spans = zip(lazily, pairwise(counts), strict=True)
    by_lexeme = {lexeme: columns[low:high] for lexeme, (low, high) in spans}
    given = tables.dfas, tables.priorities, tables.ignored, tables.shortest, tables.texts, by_lexeme
    return LazyLexerTables(*given, watch=tables.watch)


def lexer_of(found: LexemeGrammar, limits: Limits) -> LexerTables:
    """The same of a grammar's lexemes. Raises ``CheckError`` where it is open which one ends."""
    _check_open_ends(found.lexemes, found.grammar.source, limits)
    return lexer_tables(found.lexemes, limits, as_written([found.grammar.start], found.grammar))


def tables_over(
    found: LexemeGrammar, rules: Rules, limits: Limits, counted_from: int | None = None
) -> MaximalMunchTables:
    """The network over numbered lexemes, ``rules`` being those over their numbers, and its lexer.
    ``counted_from``: repetitions of rules whose copies have more states are counted, as far as
    frames hold them. Raises as ``lexer_of`` and ``network_of_rules`` do."""
    lexer = lexer_of(found, limits)
    if found.widths is not None:
        blocks, _ = blocks_and_lines(rules, found.widths)
        network = network_from_tree(rules, limits, called=blocks)
        return MaximalMunchTables(of_all_widths(network, found.widths, limits), lexer)
    network = network_of_rules(rules, limits, counted_from=counted_from)
    if _may_begin_alike(network, found.lexemes):
        rules = numbered(expand_permutations(rules.grammar, limits), limits)
        network = network_of_rules(rules, limits, counted_from=counted_from)
    if network.counters is not None and network.counters.last_frame >= MOST_FRAMES:
        network = network_of_rules(rules, limits, counted_from=MOST_FRAMES)
    network = replace(network, names=as_written(network.names, rules.grammar))
    return MaximalMunchTables(network, lexer)


def _may_begin_alike(network: NetworkTables, lexemes: Sequence[Lexeme]) -> bool:
    """Whether many parts of some set begin with lexemes that other ones may be, too: all of those
    that one text may be are followed, and each set of such parts would be met."""
    if not network.has_sets:
        return False
    several = np.array([not _is_one_text(lexeme.dfa) for lexeme in lexemes], dtype=np.bool_)
    first = first_symbols(network)[:, network.table.shape[1] - network.terminals :]
    begins: NDArray[np.bool_] = np.logical_or.reduce(first[:, several], axis=1)
    return any(
        int(begins[np.array(rule.parts)].sum()) > MOST_OVERLAPPING
        for rule in network.some_counters.set_rules
    )


def _is_one_text(dfa: Dfa) -> bool:
    # A minimal one has no more states than it reads bytes.
    edges = int((dfa.table[:, dfa.classes] != DEAD).sum())
    return edges == dfa.states - 2 and int(dfa.accepting.sum()) == 1


def _check_open_ends(lexemes: Sequence[Lexeme], source: Source, limits: Limits) -> None:
    """Raise ``CheckError`` for two lexemes that end together, of which one asks for the byte after
    it and the other does not, where that byte may follow; and ``LimitError``.

    A: /a(?!b)/   B: /[ac]/      "a" before "b" could be B alone
    """
    begins = np.zeros(256, dtype=np.bool_)
    for each in lexemes:
        begins |= each.dfa.table[each.dfa.start, each.dfa.classes] != DEAD
    for one, other in product((each for each in lexemes if each.followed), lexemes):
        if other is not one and other.precedence <= one.precedence:
            found = _before(one.refusing, other.refusing, begins, limits)
            if found is not None:
                message = f"whether this or {other.text} ends before {found!r} is open"
                hint = "give the other one the same look-ahead, or this one none"
                raise CheckError(source, [Diagnostic(message, one.span, hint)])


def _before(one: Dfa, other: Dfa, begins: NDArray[np.bool_], limits: Limits) -> str | None:
    """A byte before which the first may not end where the other does, and reads no further."""
    left, right = _rows(one), _rows(other)
    refused = one.states - 1

    def following(pair: tuple[int, int]) -> set[tuple[int, int]]:
        limits.check_resources("the ends of lexemes")
        targets = zip(left[pair[0]].tolist(), right[pair[1]].tolist(), strict=True)
        return {(a, b) for a, b in targets if a != DEAD and b != DEAD}

    for a, b in reached([(one.start, other.start)], following):
        if one.accepting[a] and other.accepting[b]:
            differ = (left[a] == refused) & (right[b] == DEAD) & begins
            if differ.any():
                return chr(int(np.flatnonzero(differ)[0]))
    return None


def _rows(dfa: Dfa) -> NDArray[np.int32]:
    """Where each byte leads from each state: int32 (S, 256)."""
    rows: NDArray[np.int32] = dfa.table[:, dfa.classes]
    return rows
