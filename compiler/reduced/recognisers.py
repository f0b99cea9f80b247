"""Recognisers of fewer members, those that a tokenizer can spell, or of fewer or more states."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

import numpy as np
from numpy.typing import NDArray

from constrain.artifacts.lazy_dfa.tables import Conjunction

from ..choose import TokenizationChoice, engine_of
from ..diagnostics import CheckError, Diagnostic
from ..frontend import (
    Automaton,
    MaximalMunchGrammar,
    Parser,
    Recogniser,
    compile_texts,
    parser_of,
    with_terminals,
)
from ..grammar.expand_permutations import expand_permutations
from ..grammar.tree import Grammar
from ..limits import Limits
from ..options import ArtifactRequest, CompileOptions

if TYPE_CHECKING:
    from ..automata.dfa import TokenIds
    from ..tokenizers import Tokenizer

# A recogniser of a grammar that nests.
R = TypeVar("R", Parser, MaximalMunchGrammar)


def spellable(
    found: R,
    table: "NDArray[np.integer]",
    columns: "NDArray[np.integer]",
    request: ArtifactRequest["Tokenizer"],
    without: Callable[[R, "NDArray[np.bool_]", Limits], R],
    lazily: Sequence[Conjunction] = (),
    *,
    canonical: bool = False,
) -> tuple[R, tuple[str, ...]]:
    """The recogniser of the members that the tokenizer has a token for each byte of, and a note.

    ``table``, ``columns``: of what reads the bytes, beside ``lazily``. ``without``: the recogniser
    without some of them. ``canonical``: for the tokenizer's own sequences.
    """
    from ..token_ids import listed, unspelled_bytes

    lost = unspelled_bytes(table, columns, request, canonical=canonical)
    for each in lazily:
        lost = lost | unspelled_bytes(each.table, each.classes, request)
    if not lost.any():
        return found, ()
    bytes_ = f"the byte{'s' * bool(lost.sum() > 1)} {listed(lost)}"
    try:
        rest = without(found, lost, request.limits)
    except CheckError:
        message = f"the tokenizer can spell no member: it has no token for {bytes_}"
        raise CheckError(found.grammar.source, [Diagnostic(message)]) from None
    return rest, (f"members with {bytes_} are left out: the tokenizer has no token for them",)


def spellable_over_lexemes(
    found: MaximalMunchGrammar, request: ArtifactRequest["Tokenizer"]
) -> tuple[MaximalMunchGrammar, tuple[str, ...]]:
    """The same for a grammar that is read by maximal munch."""
    lexer, operations = found.tables.lexer.dfas, [each.lazily for each in found.lexemes]
    lazily = [c for each in operations if each is not None for c in each.conjunctions]
    without = over_lexemes_without_bytes
    return spellable(found, lexer.table, lexer.columns, request, without, lazily)


def without_bytes(parser: Parser, missing: NDArray[np.bool_], limits: Limits) -> Parser:
    """The same engine for the members that hold none of the bytes ``missing``, bool (256,).

    Raises ``CheckError`` if there is none, and ``LimitError``.
    """
    from ..lnf.growing_terminals import LazyTerminals
    from ..lnf.without_bytes import without_bytes as terminals_without_bytes
    from ..lnf.without_bytes import without_tokens

    grammar = terminals_without_bytes(parser.grammar, missing, limits)
    if parser.lazily is None:
        return _again(parser, grammar, limits)
    from ..lazy_dfa.conjunctions import without_bytes_of

    terminals = [without_bytes_of(each, missing, limits) for each in parser.lazily.terminals]
    tokens = list(zip(grammar.tokens, terminals, strict=True))
    grammar = without_tokens(grammar, [token for token, left in tokens if not left.conjunctions])
    kept = [(token, left) for token, left in tokens if left.conjunctions]
    grammar = replace(grammar, tokens=tuple(token for token, _ in kept))
    if not kept:
        return _again(parser, grammar, limits)
    return with_terminals(parser.choice, LazyTerminals(grammar, [left for _, left in kept]), limits)


def with_tokens(parser: Parser, named: "Sequence[TokenIds]", limits: Limits) -> Parser:
    """The same engine for the members that need no token terminal that stands for no token.
    ``named``: the ids of each. Raises ``CheckError`` if there is none, and ``LimitError``."""
    from ..lnf.without_bytes import without_tokens

    grammar = parser.grammar
    missing = [token for token, ids in zip(grammar.tokens, named, strict=True) if not len(ids)]
    if not missing:
        return parser
    try:
        return _again(parser, without_tokens(grammar, missing), limits)
    except CheckError:
        message = "there is no member: every one needs a token that the tokenizer has not"
        raise CheckError(grammar.source, [Diagnostic(message)]) from None


def _again(parser: Parser, grammar: Grammar, limits: Limits) -> Parser:
    if parser.met is not None:
        from ..machine.when_met import parser_when_met

        return parser_when_met(grammar, parser.choice, limits)
    return parser_of(grammar, parser.choice, limits)


def over_lexemes_without_bytes(
    found: MaximalMunchGrammar, missing: NDArray[np.bool_], limits: Limits
) -> MaximalMunchGrammar:
    """The same for a grammar that is read by maximal munch."""
    from ..maximal_munch.lexemes import LexemeGrammar
    from ..maximal_munch.lexer_tables import tables_over
    from ..network.from_tree import numbered

    rest = LexemeGrammar(found.lexemes, found.numbered).without_bytes(missing, limits)
    rules, counted_from = numbered(rest.grammar, limits), found.choice.counted_from
    tables = tables_over(rest.lexemes, rules, limits, counted_from)
    return replace(found, numbered=rest.grammar, lexemes=rest.lexemes, tables=tables)


def with_wanted_states(
    parser: Parser, options: CompileOptions, choice: TokenizationChoice
) -> Parser:
    """The same with all states of its network, where they are needed at once: the fewest, if masks
    are precomputed, as each state costs masks, rows and effects of tokens. Where any tokens are
    allowed repetitions and sets are those of positions."""
    from ..machine.when_met import parser_when_met
    from ..network.minimal_network import minimal_network

    tables = parser.network if parser.met is None else None
    if not choice.is_canonical and tables is not None and tables.counters is not None:
        # Where none is a set, parts of permutations overlap, if there are any.
        grammar = parser.grammar
        if not tables.has_sets:
            grammar = expand_permutations(grammar, options.limits)
        return parser_when_met(grammar, parser.choice, options.limits)
    if options.prewarm == 0 or parser.lazily is not None or parser.choice.is_lazy:
        return replace(parser, met=None) if choice.is_canonical else parser
    found = None if parser.network is None else minimal_network(parser.network, options.limits)
    return replace(parser, found=found, met=None)


def over_fewest_states(found: MaximalMunchGrammar, limits: Limits) -> MaximalMunchGrammar:
    """The same for a grammar that is read by maximal munch."""
    from ..network.minimal_network import minimal_network

    network = minimal_network(found.tables.network, limits)
    return replace(found, tables=replace(found.tables, network=network))


def copied(found: Recogniser, options: CompileOptions) -> Recogniser:
    """What recognises the same texts, and counts none of their parts."""
    choice = engine_of(found.grammar, options)
    choice = replace(choice, counted_from=None, written_from=None)
    return compile_texts(found.grammar, choice, options)


def in_all_orders(found: Parser, options: CompileOptions) -> Recogniser:
    """The same with permutations written out. Raises ``LimitError``."""
    choice = replace(engine_of(found.grammar, options), written_from=None)
    return compile_texts(found.grammar, choice, options)


def largest_rule(found: Recogniser) -> Iterator[str]:
    """The rule behind most states of a DFA, else the one that members begin with."""
    if isinstance(found, Automaton) and found.operation is None:
        behind = Counter(origin for origins in found.dfa.origins for origin in origins)
        yield from (found.rules[origin] for origin, _ in behind.most_common(1))
    else:
        yield found.grammar.start
