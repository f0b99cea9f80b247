"""The tables that maximal munch runs on: complete DFAs of all lexemes, and the network.

    NAME: /[a-z]+/   "if"   ->   states 1 NAME's start, 2 inside; 3 'if' start, 4 'i', 5 'if'

llguidance builds the lexer's DFAs lazily, by derivatives of regular expressions; here they are
complete and minimal before a text is read, and ``constrain.artifacts.maximal_munch.lexer`` runs
several at once.
"""

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from constrain.artifacts.maximal_munch.lexer import LexerTables
from constrain.artifacts.maximal_munch.parser_transitions import MOST_FRAMES
from constrain.artifacts.maximal_munch.tables import MaximalMunchTables
from constrain.artifacts.network.tables import NetworkTables

from ..automata.dfa import DEAD, Dfa
from ..earley.tables import stacked_dfas
from ..grammar.expand_permutations import expand_permutations
from ..grammar.tree import Grammar
from ..lazy_dfa.conjunctions import joined
from ..limits import Effort, Limits, in_force_or
from ..network.counter_tables import first_symbols
from ..network.from_tree import MOST_OVERLAPPING, network_of_rules, numbered
from ..network.tree_rules import Rules
from .lexemes import Lexeme, as_written, lexeme_grammar
from .open_ends import check_open_ends


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


def maximal_munch_tables(grammar: Grammar, limits: Limits | None = None) -> MaximalMunchTables:
    """The network over a checked grammar's lexemes, and its lexer.

    Raises as ``lexeme_grammar`` and ``network`` do.
    """
    limits = (limits or Limits()).started()
    found = lexeme_grammar(grammar, limits)
    return tables_over(found.lexemes, numbered(found.grammar, limits), limits)


def tables_over(
    lexemes: Sequence[Lexeme], rules: Rules, limits: Limits, counted_from: int | None = None
) -> MaximalMunchTables:
    """The same of numbered lexemes, ``rules`` being those over their numbers. ``counted_from``:
    repetitions of rules whose copies have more states are counted, as far as frames hold them."""
    check_open_ends(lexemes, rules.grammar.source, limits)
    network = network_of_rules(rules, limits, counted_from=counted_from)
    if _may_begin_alike(network, lexemes):
        rules = numbered(expand_permutations(rules.grammar, limits), limits)
        network = network_of_rules(rules, limits, counted_from=counted_from)
    if network.counters is not None and network.counters.last_frame >= MOST_FRAMES:
        network = network_of_rules(rules, limits, counted_from=MOST_FRAMES)
    network = replace(network, names=as_written(network.names, rules.grammar))
    return MaximalMunchTables(network, lexer_tables(lexemes, limits, network.names[:1]))


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
