"""Grammars that are read by states made when they are met, and those that are not.

Not yet: those that name tokens beside terminals whose automata grow; and of those read by maximal
munch the ones that are a DFA, hold counts or sets in their frames, or have a terminal too large to
be built.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

from constrain.artifacts.container.manifest import EXACT, NETWORK
from constrain.artifacts.dfa.conjunctions import Conjunction
from constrain.artifacts.machine.states import States
from constrain.artifacts.maximal_munch.tables import ReadTables

from ..choose import WHEN_MET, EngineChoice, engine_of, next_engine, when_met
from ..diagnostics import GrammarError, NotRegularError
from ..dialects.table import read_growing
from ..frontend import (
    Parser,
    Recogniser,
    compile_texts,
    growing_terminals,
    lexed,
    of_growing,
    over_lexemes_of,
    parser_of_positions,
    read,
)
from ..grammar.check import check
from ..grammar.expand_permutations import expand_permutations, permutations_of
from ..grammar.tree import Grammar
from ..lazy_dfa.conjunctions import Operation
from ..lazy_dfa.expression import may_operate
from ..lazy_dfa.growth import may_count
from ..limits import Limits, blaming, in_force
from ..lnf.empty_patterns import without_exceptions
from ..lnf.growing_terminals import LazyTerminals, alone
from ..maximal_munch.any_width import blocks_and_lines
from ..maximal_munch.emptiness import has_member_soon
from ..maximal_munch.lexemes import LexemeWidths
from ..maximal_munch.lexer_tables import lexer_of
from ..maximal_munch.to_dfa import text_machine
from ..network.counter_tables import has_overlapping_parts
from ..network.from_tree import MOST_OVERLAPPING, numbered
from ..network.minimal_network import minimal_network
from ..network.nesting import check_nesting
from ..network.tree_counts import count_large
from ..network.tree_expressions import ORDERS
from ..network.tree_plan import procedures_of
from ..network.tree_rules import Rules
from ..options import CompileOptions
from ..progress import Step
from ..schema.notes import needs_holding
from ..schema.rules.deferred import Deferred
from .deferred_rules import CalledRules, DeferredRules
from .grammar_states import GrammarStates
from .indented_states import IndentedStates
from .overlaps import may_have_large


@dataclass(frozen=True, slots=True)
class StatesWhenMet:
    """A grammar that is read so. ``maker``: what its states are made of, begun again by a call.
    ``recogniser``: what its file is made of: all positions, or tables of all orders of parts that
    cannot be distinguished. Raises ``LimitError``. ``terminals``: the conjunctions of the growing
    ones that are called. ``reading``: where states read lexemes, these states with the lexer, begun
    again by a call but the first."""

    grammar: Grammar | Deferred
    maker: Callable[[], GrammarStates]
    recogniser: Callable[[], Recogniser]
    terminals: Sequence[Sequence[Conjunction]] = ()
    reading: Callable[[], ReadTables] | None = None

    @property
    def marks_equal(self) -> bool:
        """Whether texts are read with marks after equal items."""
        return isinstance(self.grammar, Grammar) and self.grammar.marks_equal


def engine_when_met(text: str, wanted: CompileOptions, name: str) -> StatesWhenMet | Recogniser:
    """The steps that need no tokenizer, for options of ``wants_met_states``: what states are made
    of, or where that cannot be, as ``build_engine`` gives it. Raises as ``Compiler.compile`` does.
    """
    with in_force(wanted.limits):
        grammar = _read(text, wanted, name)
        if isinstance(grammar, Deferred):
            maker = partial(_deferred_states, grammar, wanted.limits)
            return StatesWhenMet(grammar, maker, partial(_deferred_recogniser, grammar, wanted))
        check(grammar)
        choice = engine_of(grammar, wanted)
        return states_when_met(grammar, choice, wanted) or compile_texts(grammar, choice, wanted)


def recogniser_when_met(text: str, wanted: CompileOptions, name: str) -> Recogniser:
    """What the file of such a grammar is made of."""
    found = engine_when_met(text, wanted, name)
    return found.recogniser() if isinstance(found, StatesWhenMet) else found


def engine_instead(error: GrammarError, text: str, wanted: CompileOptions, name: str) -> Recogniser:
    """What recognises a schema that was refused as its items must differ: they are compared while
    decoding, where nothing else was asked for. Else raises ``error``."""
    if wanted.holding is None or not needs_holding(error):
        raise error
    return recogniser_when_met(text, wanted.holding, name)


@Step("read")
def _read(text: str, wanted: CompileOptions, name: str) -> Grammar | Deferred:
    """The tree, or rules that are made when they are first read."""
    if wanted.start is not None or wanted.dialect is None:
        return read(text, wanted, name)
    schema, limits = wanted.of_schemas, wanted.limits
    found = read_growing(text, wanted.dialect, name=name, limits=limits, schema=schema)
    return found or read(text, wanted, name)


def _deferred_states(deferred: Deferred, limits: Limits) -> GrammarStates:
    rules = DeferredRules(deferred, limits)
    return GrammarStates(rules, CalledRules(rules), limits)


@Step("compile")
def _deferred_recogniser(deferred: Deferred, options: CompileOptions) -> Recogniser:
    grammar, limits = deferred.complete(), options.limits
    resolved = replace(without_exceptions(grammar, limits), tokens=deferred.tokens)
    rules, choice = DeferredRules(deferred, limits), engine_of(grammar, options)
    return parser_of_positions(resolved, choice, limits, rules, CalledRules(rules))


def parser_when_met(resolved: Grammar, choice: EngineChoice, limits: Limits) -> Parser:
    """The positions of a grammar without exceptions and ignored text. Raises ``CheckError`` if
    there is no member, and ``LimitError``."""
    rules = numbered(resolved, limits)
    return parser_of_positions(resolved, as_network(choice, rules), limits, rules)


def with_wanted_states(parser: Parser, options: CompileOptions, *, canonical: bool) -> Parser:
    """The same with all states of its network, where they are needed at once: the fewest, if masks
    are precomputed, as each state costs masks and rows. Where any tokens are allowed repetitions
    and sets are those of positions."""
    tables = parser.network if parser.met is None else None
    if not canonical and tables is not None and tables.counters is not None:
        # Where none is a set, parts of permutations overlap, if there are any.
        grammar = parser.grammar
        if not tables.has_sets:
            grammar = expand_permutations(grammar, options.limits)
        return parser_when_met(grammar, parser.choice, options.limits)
    if options.prewarm == 0 or parser.lazily is not None or parser.choice.is_lazy:
        return replace(parser, met=None) if canonical else parser
    found = None if parser.network is None else minimal_network(parser.network, options.limits)
    return replace(parser, found=found, met=None)


def _maker(
    rules: Rules, limits: Limits, growing: int = 0, widths: LexemeWidths | None = None
) -> Callable[[], GrammarStates]:
    if widths is not None:
        blocks, lines = blocks_and_lines(rules, widths)
        return partial(IndentedStates, rules, procedures_of(rules, blocks), limits, widths, lines)
    return partial(GrammarStates, rules, procedures_of(rules), limits, growing)


def as_network(choice: EngineChoice, rules: Rules) -> EngineChoice:
    """The choice of a network, and why: that rules nest, or that first masks are wanted."""
    if choice.engine == NETWORK:
        return choice
    try:
        check_nesting(rules)
    except NotRegularError as error:
        return next_engine(choice, error)
    return when_met(choice)


@Step("compile")
def states_when_met(
    grammar: Grammar, choice: EngineChoice, options: CompileOptions
) -> StatesWhenMet | Recogniser | None:
    """What a checked tree's states are made of; None for grammars that are compiled as a whole, or
    what recognises them if that is there. Raises ``CheckError`` if there is no member, and
    ``LimitError``."""
    limits = options.limits
    if choice.semantics != EXACT:
        return _over_lexemes(grammar, choice, options)
    with blaming(grammar.longest_rule()):
        large = partial(growing_terminals, grammar, choice, options)
        by_length = grammar.is_of_schemas and options.of_schemas.lazy_from is not None
        is_asked = by_length or may_operate(grammar) or not options.most_built
        may_grow = may_count(grammar.rules)
        # What patterns hold is not seen in numbered rules as it is written.
        is_asked |= may_grow and any(rule.patterns for rule in grammar.rules)
        if is_asked and (found := large()) is not None:
            return _with_terminals(grammar, choice, found, limits) if not grammar.tokens else None
        resolved = without_exceptions(grammar, limits)
        rules = numbered(resolved, limits)
        if may_grow and not is_asked and may_have_large(rules) and (found := large()) is not None:
            return _with_terminals(grammar, choice, found, limits) if not grammar.tokens else None
        maker = _maker(rules, limits)

    def recogniser() -> Recogniser:
        found = parser_of_positions(resolved, as_network(choice, rules), limits, rules)
        if any(len(each.parts) > MOST_OVERLAPPING for each in permutations_of(resolved)):
            assert found.network is not None
            if has_overlapping_parts(found.network, MOST_OVERLAPPING):
                return compile_texts(grammar, choice, options)
        return found

    return StatesWhenMet(grammar, maker, recogniser)


def _over_lexemes(
    grammar: Grammar, choice: EngineChoice, options: CompileOptions
) -> StatesWhenMet | Recogniser:
    """The same where texts are read by maximal munch."""
    limits = options.limits
    with blaming(grammar.longest_rule()):
        found = lexed(grammar, choice, options)
        whole = partial(over_lexemes_of, grammar, choice, options, found)
        rules = numbered(found.grammar, limits)
        is_lazy = any(lexeme.lazily is not None for lexeme in found.lexemes)
        is_held = ORDERS in rules.kinds or count_large(rules, choice.counted_from or 0)
        if is_lazy or is_held or as_network(choice, rules).reason == WHEN_MET:
            return whole()
        lexer, maker = lexer_of(found, limits), _maker(rules, limits, widths=found.widths)
        begun = [ReadTables(States(maker()), lexer)]
        if not has_member_soon(text_machine(begun[0])):
            return whole()

    def reading() -> ReadTables:
        return begun.pop() if begun else ReadTables(States(maker()), lexer)

    return StatesWhenMet(grammar, maker, whole, reading=reading)


def _with_terminals(
    grammar: Grammar, choice: EngineChoice, found: Operation | LazyTerminals, limits: Limits
) -> StatesWhenMet:
    """The same where terminals grow, or all of the grammar is one."""
    lazily = alone(grammar, found, limits) if isinstance(found, Operation) else found
    growing = [each.conjunctions for each in lazily.terminals]
    maker = _maker(numbered(lazily.grammar, limits), limits, len(growing))
    whole = partial(of_growing, grammar, choice, found, limits)
    return StatesWhenMet(grammar, maker, whole, growing)
