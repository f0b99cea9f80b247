"""From a checked tree to what recognises its texts: the step ``compile``.

    tree -> normal form -> NFA -> minimal DFA                       Automaton
    tree -> DFA, not minimal, for masks alone; the others later     Automaton
    tree -> conjunctions, whose states are made while decoding      Automaton
    tree -> network; normal form -> Earley's tables                 Parser
    tree -> lexemes, network and lexer over them (-> minimal DFA)   MaximalMunchGrammar (Automaton)

``choose`` says which of them is tried, and what after it.
"""

from collections.abc import Callable, Container, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from constrain.artifacts.container.manifest import EARLEY, MAXIMAL_MUNCH, NETWORK

from . import thresholds
from .automata.determinize import determinize
from .automata.dfa import Dfa, as_nfa
from .automata.minimize import minimize
from .automata.nfa import Nfa
from .choose import (
    EngineChoice,
    as_lazy,
    built_lexemes,
    counted_instead,
    held_over_lexemes,
    may_be_lazy,
    may_be_met,
    may_count_sooner,
    met_instead,
    next_engine,
    over_lexemes,
    permuted,
    soon_instead,
    with_lazy_terminals,
)
from .diagnostics import CheckError, Diagnostic, LimitError, NotRegularError
from .dialects import read_grammar
from .grammar.check import check
from .grammar.expand_permutations import in_any_number
from .grammar.tree import Grammar
from .limits import Limits, blaming, in_force_or, of_later
from .lnf import Lnf, normalize, normalize_without_nullable
from .lnf.automaton import to_nfa
from .lnf.components import components, recurses
from .lnf.empty_patterns import without_exceptions
from .options import ANY, DFA, CompileOptions
from .progress import Step

# What regular grammars do not need is imported where it is met: that takes as long as they do.
if TYPE_CHECKING:
    from constrain.artifacts.dfa.conjunctions import Conjunction
    from constrain.artifacts.dfa.stacked_dfas import StackedDfas
    from constrain.artifacts.earley.recogniser import Earley
    from constrain.artifacts.maximal_munch.tables import MaximalMunchTables
    from constrain.artifacts.network.tables import NetworkTables

    from .earley.tables import Layout
    from .lazy_dfa.conjunctions import Operation
    from .lnf.growing_terminals import LazyTerminals
    from .maximal_munch.lexemes import LexemeGrammar
    from .network.laid_out import LaidOut
    from .network.tree_rules import Rules

WITHOUT_MEMBER = "there is no member: maximal munch leaves no way to the end of any text"


@dataclass(frozen=True, slots=True, eq=False)
class Automata:
    """``dfa`` is minimal. ``origins``: of both, (rule, start, end) with character offsets."""

    nfa: Nfa
    dfa: Dfa
    origins: Sequence[tuple[str, int, int]]


@dataclass(frozen=True, eq=False)
class _Recogniser:
    """What recognises the texts of a grammar, by the engine that was chosen."""

    grammar: Grammar
    choice: EngineChoice

    @property
    def engine(self) -> str:
        """Its name."""
        return self.choice.engine

    @property
    def reason(self) -> str:
        """Why this engine."""
        return self.choice.reason

    @property
    def token_names(self) -> list[str]:
        """The token terminals as they are written, by symbol."""
        return [token.text for token in self.grammar.tokens]


@dataclass(frozen=True, eq=False)
class Automaton(_Recogniser):
    """A regular grammar and its automata.

    ``found``: these, or what makes them when they are first needed, within limits whose clock
    starts then. ``cut``: the rules whose nesting was cut at a depth. By maximal munch,
    origins are named after lexemes, and ``nfa`` is the DFA; so it is where rules share so much that
    the DFA is made from the tree. ``operation``: where the states are made while decoding what they
    are made of; the automata, which are left for later then, may be too large for any limit.
    """

    found: Automata | Callable[[], Automata]
    cut: tuple[str, ...] = ()
    operation: "Operation | None" = None

    @cached_property
    def _automata(self) -> Automata:
        return self.found if isinstance(self.found, Automata) else self.found()

    @property
    def nfa(self) -> Nfa:
        """Before the subset construction. Raises ``LimitError``, as the next two do."""
        return self._automata.nfa

    @property
    def dfa(self) -> Dfa:
        """The minimal automaton."""
        return self._automata.dfa

    @property
    def origins(self) -> Sequence[tuple[str, int, int]]:
        """The table that both refer to."""
        return self._automata.origins

    @property
    def rules(self) -> list[str]:
        """The rule after each origin; limits name them."""
        return [rule for rule, _, _ in self.origins]


@final
@dataclass(frozen=True, eq=False)
class Parser(_Recogniser):
    """A grammar that nests, without exceptions and ignored text, and the tables of a parser of it.
    ``layout`` and ``lexer``: for Earley's recogniser, which also explains texts; made when they
    are first needed, within ``limits``, by ``of_later``'s clock. Where the network holds sets, they
    are of parts in any number. ``found``: the network, or what makes it when it is first needed;
    None for the engine ``earley``. ``lazily``: terminals whose states are made while decoding,
    which are symbols of the grammar then. ``met``: where all states are, what they are made of.
    """

    found: "NetworkTables | Callable[[], NetworkTables] | None"
    limits: Limits
    lazily: "LazyTerminals | None" = None
    met: "LaidOut | None" = None

    @cached_property
    def network(self) -> "NetworkTables | None":
        """All states of the network. Raises ``LimitError``."""
        return self.found() if callable(self.found) else self.found

    @cached_property
    def layout(self) -> "Layout":
        """The productions. Raises ``LimitError``."""
        from .earley.tables import layout

        limits = of_later(self.limits)
        with blaming([self.grammar.start]):
            # What is made when it is met has none.
            holds_sets = self.met is None and self.network is not None and self.network.has_sets
            grammar = in_any_number(self.grammar) if holds_sets else self.grammar
            return layout(normalize_without_nullable(grammar, limits, merge=False), limits)

    @cached_property
    def lexer(self) -> "StackedDfas":
        """The automata of the terminals. Raises ``LimitError``."""
        from .earley.tables import stacked

        limits = of_later(self.limits)
        with blaming([self.grammar.start]):
            return stacked(self.layout.nodes, limits, len(self.grammar.tokens))

    @property
    def reading(self) -> tuple[NDArray[np.integer], NDArray[np.integer]]:
        """What reads bytes: a table with a row for each state, and the column of each byte."""
        if self.met is not None:
            return self.met.octets, np.arange(256)
        if self.network is not None:
            return self.network.table, self.network.classes
        return self.lexer.table, self.lexer.columns

    @property
    def conjunctions(self) -> "Sequence[Conjunction]":
        """What reads bytes beside that."""
        return () if self.lazily is None else self.lazily.conjunctions

    def recogniser(self) -> "Earley":
        """Earley's recogniser before any text."""
        from constrain.artifacts.earley.recogniser import Earley

        return Earley(self.layout.tables, self.lexer, len(self.lexer.table))


@dataclass(frozen=True, eq=False)
class MaximalMunchGrammar(_Recogniser):
    """A grammar read by maximal munch, ``lexed`` into rules over its lexemes, and its tables."""

    lexed: "LexemeGrammar"
    tables: "MaximalMunchTables"

    @cached_property
    def over_bytes(self) -> "NetworkTables | None":
        """``exact_network``; raises what that does."""
        from .maximal_munch.exact_network import exact_network

        return exact_network(self.tables, in_force_or(Limits()).started())

    @property
    def reading(self) -> tuple[NDArray[np.integer], NDArray[np.integer]]:
        """What reads bytes, as a parser has it."""
        return self.tables.lexer.dfas.table, self.tables.lexer.dfas.columns

    @property
    def conjunctions(self) -> "Sequence[Conjunction]":
        """What reads bytes beside that."""
        lazily = (each.lazily for each in self.lexed.lexemes if each.lazily is not None)
        return [each for operation in lazily for each in operation.conjunctions]


# What recognises a grammar's texts, before a tokenizer is known.
Recogniser: TypeAlias = Automaton | Parser | MaximalMunchGrammar


@Step("read")
def read(text: str, options: CompileOptions, name: str) -> Grammar:
    """The tree of a grammar's text, which errors call ``name``. Raises ``DialectError``,
    ``CheckError`` where there is no rule to start from, ``TypeError`` without a dialect."""
    if options.dialect is None:
        raise TypeError("the option 'dialect' is needed to read a grammar")
    names = ("start", "imports", "include", "is_guessed", "define", "limits")
    given = {each: getattr(options, each) for each in names}
    return read_grammar(text, options.dialect, name=name, schema=options.of_schemas, **given)


def read_checked(text: str, options: CompileOptions, name: str) -> Grammar:
    """The tree, without errors."""
    check(grammar := read(text, options, name))
    return grammar


@Step("compile")
def compile_texts(grammar: Grammar, choice: EngineChoice, options: CompileOptions) -> Recogniser:
    """What recognises the texts of a checked tree, by the first engine that can be built. Raises
    what ``choose`` decides for: ``NotRegularError``, ``LimitError``; ``CheckError`` without a
    member."""
    with blaming(grammar.longest_rule()):
        if choice.semantics == MAXIMAL_MUNCH:
            return over_lexemes_of(grammar, choice, options, lexed(grammar, choice, options))
        return _compile_exactly(grammar, choice, options)


def _compile_exactly(grammar: Grammar, choice: EngineChoice, options: CompileOptions) -> Recogniser:
    from .network.from_tree import copied_states, numbered
    from .network.tree_plan import copies_grow

    limits = options.limits
    if (large := growing_terminals(grammar, choice, options)) is not None:
        return of_growing(grammar, choice, large, limits)
    resolved = without_exceptions(grammar, limits)
    grammar = replace(grammar, notes=resolved.notes)
    if options.max_depth is not None:
        return _unrolled(grammar, choice, normalize(resolved, limits), options.max_depth, limits)
    choice, resolved = permuted(choice, resolved, limits)
    nests = choice.engine == DFA and recurses(resolved)
    rules = numbered(resolved, limits) if choice.others and nests else None
    as_dfa, soon = choice, soon_instead(choice, options, grammar)
    while True:
        try:
            if choice.engine == DFA:
                if rules is not None and nests:
                    from .network.nesting import check_nesting

                    check_nesting(rules)
                if soon is not None:
                    choice = soon
                    continue
                if choice.counted_from and choice.others:
                    choice = counted_instead(choice, copied_states(resolved, rules, limits))
                    if choice.engine != DFA:
                        continue
                rules = rules or numbered(resolved, limits)
                # By way of the normal form a DFA would build rules again and again.
                if copies_grow(rules, thresholds.LARGE_STATES):
                    found = _from_tree(resolved, rules, limits)
                else:
                    found = _automata(grammar, normalize(resolved, limits), limits)
                return Automaton(grammar, choice, found)
            return parser_of(resolved, choice, limits, rules)
        except (NotRegularError, LimitError) as error:
            if choice is soon:
                choice, soon = as_dfa, None
                continue
            if isinstance(error, LimitError) and not error.is_measured:
                if may_be_lazy(choice, options):
                    from .lazy_dfa.operation import any_operation_in

                    if (operation := any_operation_in(grammar, limits)) is not None:
                        return _lazy(grammar, choice, operation, limits)
                if may_count_sooner(choice, copied_states(resolved, rules, limits)):
                    choice = replace(choice, counted_from=thresholds.SOON_COPIED_STATES)
                    continue
                if may_be_met(choice, options):
                    with suppress(LimitError):
                        return parser_of_positions(resolved, met_instead(choice, error), limits)
            choice = next_engine(choice, error)


def of_growing(
    grammar: Grammar, choice: EngineChoice, found: "Operation | LazyTerminals", limits: Limits
) -> "Automaton | Parser":
    """What recognises a grammar with what was ``found`` too large. Raises ``LimitError``."""
    from .lazy_dfa.conjunctions import Operation

    if isinstance(found, Operation):
        return _lazy(grammar, choice, found, limits)
    return with_terminals(choice, found, limits)


def with_terminals(choice: EngineChoice, found: "LazyTerminals", limits: Limits) -> Parser:
    """The positions of a grammar with symbols for its growing terminals. Raises as that does."""
    return parser_of_positions(found.grammar, with_lazy_terminals(choice), limits, lazily=found)


def parser_of_positions(
    resolved: Grammar,
    choice: EngineChoice,
    limits: Limits,
    rules: "Rules | None" = None,
    called: Container[int] | None = None,
    lazily: "LazyTerminals | None" = None,
) -> Parser:
    """The positions of a grammar's ``rules``, ``called`` as planned by default. Raises
    ``CheckError`` if there is no member, and ``LimitError``."""
    from .network.from_tree import numbered
    from .network.laid_out import laid_out
    from .network.tree_plan import procedures_of

    with blaming([resolved.start]):
        rules = rules or numbered(resolved, limits)
        met = laid_out(rules, procedures_of(rules) if called is None else called, limits)
    return Parser(resolved, choice, partial(met.tables, limits), limits, lazily, met)


def of_operation(automaton: Automaton, operation: "Operation", limits: Limits) -> Parser:
    """The same of a grammar that is one such terminal."""
    from .lnf.growing_terminals import alone

    return with_terminals(automaton.choice, alone(automaton.grammar, operation, limits), limits)


def growing_terminals(
    grammar: Grammar, choice: EngineChoice, options: CompileOptions
) -> "Operation | LazyTerminals | None":
    """The operation, or expression, too large to be built that a grammar is, or those in it; None
    for others. Raises ``LimitError``."""
    from .lazy_dfa.operation import growing_operation_in, operation_in
    from .lnf.growing_terminals import lazy_terminals

    limits, most = options.limits, options.most_built
    if not may_be_lazy(choice, options):
        by_length = choice.engine == NETWORK and options.of_schemas.lazy_from is not None
        return lazy_terminals(grammar, limits, 0) if by_length else None
    is_any = options.tokenization == ANY
    operation = operation_in(grammar, limits)
    if operation is None and is_any:
        operation = growing_operation_in(grammar, most, limits)
    if operation is not None and operation.states > most:
        return operation
    return lazy_terminals(grammar, limits, most) if operation is None and is_any else None


def _lazy(
    grammar: Grammar, choice: EngineChoice, operation: "Operation", limits: Limits
) -> Automaton:
    def later() -> Automata:
        from .lazy_dfa.built import built

        again = of_later(limits)
        with blaming([grammar.start]):
            dfa = built(operation, again)
            if dfa is None:
                return _automata(grammar, normal_form(grammar, again)[1], again)
            return Automata(as_nfa(dfa, [grammar.start]), dfa, [grammar.place_of_start])

    return Automaton(grammar, as_lazy(choice, operation.what), later, operation=operation)


@Step("compile")
def compile_regular(grammar: Grammar, choice: EngineChoice, limits: Limits) -> Automaton:
    """The automaton of a checked tree. Raises ``NotRegularError`` and ``LimitError``."""
    with blaming(grammar.longest_rule()):
        found = _automata(grammar, normal_form(grammar, limits)[1], limits)
        return Automaton(grammar, choice, found)


def normal_form(grammar: Grammar, limits: Limits, *, is_lexed: bool = False) -> tuple[Grammar, Lnf]:
    """The tree without exceptions and ignored text, and its normal form. Raises ``CheckError``."""
    with blaming(grammar.longest_rule()):
        resolved = without_exceptions(grammar, limits, is_lexed=is_lexed)
        return resolved, normalize(resolved, limits)


def _automata(grammar: Grammar, lnf: Lnf, limits: Limits) -> Automata:
    nfa, origins = to_nfa(lnf, limits)
    dfa = minimize(determinize(nfa, limits, len(grammar.tokens)), limits)
    return Automata(nfa, dfa, origins)


def _from_tree(resolved: Grammar, rules: "Rules", limits: Limits) -> Automata:
    from .network.from_tree import dfa_from_tree

    dfa, names = dfa_from_tree(rules, limits)
    places = {rule.shown: rule.span for rule in reversed(resolved.rules)}
    origins = [(name, places[name].start, places[name].end) for name in names]
    return Automata(as_nfa(dfa, names), dfa, origins)


def _unrolled(
    grammar: Grammar, choice: EngineChoice, lnf: Lnf, depth: int, limits: Limits
) -> Automaton:
    """The automaton of the members that nest at most so deep."""
    from .lnf.unroll import unroll

    unrolled = unroll(lnf, depth, limits)
    found = _automata(grammar, unrolled.lnf, limits)
    return Automaton(grammar, choice, found, tuple(unrolled.cut))


def parser_of(
    grammar: Grammar, choice: EngineChoice, limits: Limits, rules: "Rules | None" = None
) -> Parser:
    """The tables of a grammar without exceptions and ignored text; ``rules``: if there already."""
    if choice.engine == EARLEY:
        found = Parser(grammar, choice, None, limits)
        assert found.lexer
        return found
    with blaming([grammar.start]):
        from .network.from_tree import network_of_rules, numbered

        rules = rules or numbered(grammar, limits)
        sizes = choice.most_states, choice.counted_from, choice.copied_whole
        return Parser(grammar, choice, network_of_rules(rules, limits, *sizes), limits)


def lexed(grammar: Grammar, choice: EngineChoice, options: CompileOptions) -> "LexemeGrammar":
    """The lexemes of a checked tree, and its rules over them. Raises as ``compile_texts``."""
    from .maximal_munch.lalr_contexts import as_lexer_reads
    from .maximal_munch.lexemes import as_lexed, lexeme_grammar

    limits, most = options.limits, built_lexemes(choice, options, nests=recurses(grammar))
    whole = held_over_lexemes(choice, as_lexed(grammar, limits, of_any_width=True), limits)
    return as_lexer_reads(lexeme_grammar(whole, limits, most, grammar), grammar, options)


def over_lexemes_of(
    grammar: Grammar, choice: EngineChoice, options: CompileOptions, found: "LexemeGrammar"
) -> Automaton | MaximalMunchGrammar:
    """A DFA where nothing nests, else the tables over lexemes; ``found``: these."""
    from .maximal_munch.lexer_tables import tables_over
    from .maximal_munch.to_dfa import maximal_munch_dfa
    from .network.from_tree import numbered
    from .network.minimal_network import minimal_network
    from .network.nesting import check_nesting

    limits, most = options.limits, built_lexemes(choice, options, nests=recurses(grammar))
    with blaming([grammar.start]):
        rules = numbered(found.grammar, limits)
        tables = tables_over(found, rules, limits, choice.counted_from)
    choice = over_lexemes(choice, tables.network.counters is not None, tables.lexer.is_lazy)
    if choice.engine == DFA:
        try:
            if not choice.others:
                components(found.lnf(limits))  # Which says where the rule stands that nests.
            check_nesting(rules)
            least = replace(tables, network=minimal_network(tables.network, limits))
            dfa = maximal_munch_dfa(least, limits.within(options.most_built) if most else limits)
            if dfa.is_empty:
                raise CheckError(grammar.source, [Diagnostic(WITHOUT_MEMBER)])
            origins = [(each.text, each.span.start, each.span.end) for each in found.lexemes]
            nfa = as_nfa(dfa, [text for text, *_ in origins])
            return Automaton(grammar, choice, Automata(nfa, dfa, origins))
        except (NotRegularError, LimitError) as error:
            choice = next_engine(choice, error)
    return MaximalMunchGrammar(grammar, choice, found, tables)
