"""The canonical token sequences of a regular grammar, by DirectMerge or by CartesianMerge.

byte DFA  ->  the members that have a canonical tokenization
          ->  DirectMerge: a DFA over tokens                    }  as ``methods.method_of`` decides
              CartesianMerge: the same byte DFA, to be walked   }
              beside the tokenizer's automata
byte DFA with token terminals  ->  the same with a sentinel for each class of tokens; where the
                                   tokenizer only merges, DirectMerge with a symbol for each
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import starmap

import numpy as np

from constrain.artifacts.token_terminals.sentinels import first_sentinel

from ..automata.dfa import Dfa
from ..automata.minimize import minimize
from ..bpe.derivations import proper_merges
from ..bpe.not_followed import merges_alone
from ..bpe.token_terminals import (
    dfa_with_sentinels,
    dfa_without_sentinels,
    readable,
    with_sentinels_of,
)
from ..bpe.tokenizer_tables import TokenizerTables
from ..diagnostics import LimitError, TokenizerError
from ..grammar.added_text import ADDED_TOKENS, unspellable
from ..grammar.tree import Grammar
from ..limits import Limits
from ..options import CARTESIAN, DIRECT, ArtifactRequest
from ..progress import Progress, Step
from ..token_ids import TokenColumns
from ..tokenizer_steps.normalized_members import NormalizedMembers, normalized_members
from ..tokenizer_steps.prefix_and_replacement import members_behind
from ..tokenizer_steps.spellable_members import shortest_unspellable, spellable_members
from ..tokenizers import Tokenizer
from .direct_merge import CanonicalDfa, canonical_dfa, with_pairs
from .direct_with_boundaries import direct_with_boundaries
from .methods import MethodChoice, method_of, next_method
from .product import build_product
from .token_edges import with_token_edges


@dataclass(frozen=True, slots=True, eq=False)
class Merged:
    """``columns``: the byte DFA of the members that have a canonical tokenization. ``automaton``:
    the DFA over their token sequences, None where it is to be walked (``choice``: the method, and
    why). ``is_normal``: no normalizer changes a member, so that none need be followed. ``notes``:
    for the user.
    """

    columns: TokenColumns
    automaton: CanonicalDfa | None
    choice: MethodChoice
    is_normal: bool
    notes: tuple[str, ...]


@Step("merge")
def merge(
    grammar: Grammar,
    columns: TokenColumns,
    rules: Sequence[str],
    request: ArtifactRequest[Tokenizer],
    tables: TokenizerTables,
    progress: Progress,
) -> Merged:
    """The automaton over canonical token sequences of the members of ``columns.dfa``.

    ``rules``: the rule after each origin. Raises ``CheckError`` if no member has a canonical
    tokenization, ``TokenizerError`` and ``LimitError``.
    """
    whole = _Whole(grammar, rules, progress)
    if not columns.classes:
        return whole.merged(columns, request, tables)
    asked = request.options.method
    if asked != CARTESIAN and merges_alone(request.tokenizer):
        choice = method_of(request.tokenizer, request.options, normalizes=False)
        try:
            return _merged_with_symbols(whole, columns, request, tables, choice)
        except (TokenizerError, LimitError) as error:
            next_method(choice, error, request.limits)
    return _merged_with_sentinels(whole, columns, request, tables)


@dataclass(frozen=True, slots=True, eq=False)
class _Whole:
    """What does not depend on the tokens. ``rules``: as of ``merge``."""

    grammar: Grammar
    rules: Sequence[str]
    progress: Progress

    def merged(
        self,
        columns: TokenColumns,
        request: ArtifactRequest[Tokenizer],
        tables: TokenizerTables,
    ) -> Merged:
        """The automaton of the members of a DFA over bytes: by the method chosen, and by the next
        one where that fails."""
        limits, tokenizer = request.limits, request.tokenizer
        dfa, is_normal, notes = self._encoded(columns, request, tables)
        choice = method_of(tokenizer, request.options, normalizes=not is_normal)
        found = None
        if choice.method == DIRECT:
            try:
                found = self._direct(dfa, request, tables, choice.bounded(limits))
            except (TokenizerError, LimitError) as error:
                choice = next_method(choice, error, limits)
        columns = TokenColumns(dfa, notes=columns.notes)
        return Merged(columns, found, choice, is_normal, notes)

    def _direct(
        self,
        dfa: Dfa,
        request: ArtifactRequest[Tokenizer],
        tables: TokenizerTables,
        limits: Limits,
    ) -> CanonicalDfa:
        tokenizer, rules = request.tokenizer, self.rules
        if tokenizer.splits or tables.pretokenizer.prefix:
            before, whole = tables.pretokenizer, dfa
            if before.prefix:
                once = before.unless_begun
                whole, _ = members_behind(dfa, before.prefix, limits, unless_begun=once)
            product = build_product(whole, before, limits, self.progress)
            found = direct_with_boundaries(product, dfa, tokenizer, limits, self.progress, rules)
        else:
            merges = proper_merges(tokenizer)
            found = canonical_dfa(dfa, tokenizer.base, (), merges, limits, self.progress, rules)
        pairs = tables.pairs.forbidden.rows
        return replace(found, pairs=pairs) if request.options.thin else with_pairs(found, pairs)

    def _encoded(
        self, columns: TokenColumns, request: ArtifactRequest[Tokenizer], tables: TokenizerTables
    ) -> tuple[Dfa, bool, tuple[str, ...]]:
        """The members that the tokenizer spells and does not rewrite, whether all of these are in
        normal form, and notes. A DFA over tokens is of such members alone, however many states that
        takes. Raises ``CheckError`` if there is no such member."""
        dfa, limits = columns.dfa, request.limits
        normalized = NormalizedMembers(dfa, None)
        if tables.normal_form is not None:
            whole = request.options.method == DIRECT
            normalized = normalized_members(dfa, tables.normal_form, limits, whole=whole)
        changed, spelled = normalized.changed, normalized.dfa
        lost = shortest_unspellable(dfa, tables.pretokenizer, limits)
        without = [text for text in (changed, lost) if text is not None]
        if not without:
            return spelled, normalized.beside is None, ()
        text = min(without, key=lambda found: (len(found), found))
        name = readable(text, columns.classes, tables.tokenizer)
        if lost is not None and not spelled.is_empty:
            spelled = minimize(spellable_members(spelled, tables.pretokenizer, limits), limits)
        if spelled.is_empty:
            message = (
                f"the tokenizer can spell no member: it has no token for a part of {name} or would "
                f"change it"
            )
            raise unspellable(self.grammar, tables.tokenizer.added, message)
        if changed is None and _spells_all_but_added(tables):
            return spelled, normalized.beside is None, (f"{ADDED_TOKENS}, the shortest is {name}",)
        note = (
            f"some members have no canonical tokenization, the shortest is {name}: the tokenizer "
            f"has no token for a part of it, finds a special token in it or would rewrite it; they "
            f"are left out"
        )
        return spelled, normalized.beside is None, (note,)


def _spells_all_but_added(tables: TokenizerTables) -> bool:
    """Whether a text is spelled as it is unless an added token is found in it."""
    tokenizer = tables.tokenizer
    is_whole = min(tokenizer.base) >= 0 and not len(tables.unspelled)
    return is_whole and not tables.pretokenizer.changes


def _merged_with_sentinels(
    whole: _Whole,
    columns: TokenColumns,
    request: ArtifactRequest[Tokenizer],
    tables: TokenizerTables,
) -> Merged:
    """The same for a grammar with token terminals, over texts and sentinels."""
    classes, dfa = columns.classes, columns.dfa
    beside = with_sentinels_of(whole.grammar, classes, dfa.table.shape[1], request, tables)
    over_bytes = TokenColumns(dfa_with_sentinels(dfa, beside.prefix), classes)
    found = whole.merged(over_bytes, beside.request, beside.tables)
    automaton = found.automaton
    dfa = dfa_without_sentinels(found.columns.dfa, len(classes), beside.prefix)
    spelled = TokenColumns(dfa, classes, columns.notes)
    if automaton is not None:
        first = first_sentinel(request.vocab_size)
        rules_of = [sorted({whole.rules[o] for o in origins}) for origins in dfa.origins]
        families = np.arange(dfa.states) if (f := automaton.family_states) is None else f
        names = [rules_of[state] for state in families.tolist()]
        automaton = with_token_edges(automaton, first, classes, request.limits, names)
        if automaton.family_states is not None:
            families = families[automaton.family_states]
        automaton = replace(automaton, family_states=families.astype(np.int32))
        automaton = with_pairs(automaton, tables.pairs.forbidden.rows)
    return replace(found, columns=spelled, automaton=automaton)


def _merged_with_symbols(
    whole: _Whole,
    columns: TokenColumns,
    request: ArtifactRequest[Tokenizer],
    tables: TokenizerTables,
    choice: MethodChoice,
) -> Merged:
    """The same by DirectMerge without boundaries, where the tokenizer only merges."""
    tokenizer, rules, progress = request.tokenizer, whole.rules, whole.progress
    limits = choice.bounded(request.limits)
    merges = proper_merges(tokenizer)
    dfa, notes = _spelled(whole.grammar, columns.dfa, tables)
    # Symbols that no merge knows: a token class ends the text before it.
    first = tokenizer.vocab_size
    symbols = range(first, first + len(columns.classes))
    found = canonical_dfa(dfa, tokenizer.base, symbols, merges, limits, progress, rules)
    rules_of = [sorted({rules[o] for o in origins}) for origins in dfa.origins]
    automaton = with_token_edges(found, first, columns.classes, limits, rules_of)
    automaton = with_pairs(automaton, tables.pairs.forbidden.rows)
    spelled = TokenColumns(dfa, columns.classes, columns.notes)
    return Merged(spelled, automaton, choice, True, notes)


def _spelled(grammar: Grammar, whole: Dfa, tables: TokenizerTables) -> tuple[Dfa, tuple[str, ...]]:
    """The members whose texts between token terminals the tokenizer spells, and notes."""
    whole, spelled = (
        minimize(whole),
        minimize(spellable_members(whole, tables.pretokenizer)),
    )
    if spelled.is_empty:
        message = (
            "the tokenizer can spell no member: each has a byte without a token, or the text of "
            "an added token"
        )
        raise unspellable(grammar, tables.tokenizer.added, message)
    # Minimal automata of one language are numbered alike.
    parts = ((dfa.table, dfa.classes, dfa.accepting) for dfa in (whole, spelled))
    if all(starmap(np.array_equal, zip(*parts, strict=True))):
        return whole, ()
    if _spells_all_but_added(tables):
        return spelled, (ADDED_TOKENS,)
    note = (
        "some members have no canonical tokenization: the tokenizer has no token for a part of "
        "their text, or finds a special token in it; they are left out"
    )
    return spelled, (note,)
