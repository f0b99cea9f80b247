"""The canonical token sequences of a regular grammar, by DirectMerge or by CartesianMerge.

byte DFA  ->  the members that have a canonical tokenization
          ->  DirectMerge: a DFA over tokens        }  as ``methods.method_of`` decides
              CartesianMerge: a product, walked lazily }
byte DFA with token terminals  ->  the same with a sentinel for each class of tokens; where the
                                   tokenizer only merges, DirectMerge with a symbol for each
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import starmap
from typing import Any

import numpy as np
from numpy.typing import NDArray

from constrain.artifacts.token_terminals.sentinels import first_sentinel

from ..automata.dfa import Dfa
from ..automata.minimize import minimize
from ..bpe.derivations import proper_merges
from ..bpe.tokenizer_tables import TokenizerTables
from ..cartesian.cartesian_merge import CartesianDfa, cartesian_merge
from ..cartesian.normalized import live_by_inert, undecided_tokens
from ..cartesian.product import Product, build_product
from ..diagnostics import LimitError, TokenizerError
from ..grammar.added_text import unspellable
from ..grammar.tree import Grammar
from ..limits import Limits
from ..normalizer.normalized_members import NormalFormTables, NormalizedMembers, normalized_members
from ..options import CARTESIAN, DIRECT, ArtifactRequest
from ..pretokenizer.boundary_tables import PretokenizerTables
from ..pretokenizer.spellable_members import shortest_unspellable, spellable_members
from ..progress import Progress, Step
from ..token_ids import TokenColumns
from ..token_terminals.request import (
    dfa_with_sentinels,
    dfa_without_sentinels,
    readable,
    with_sentinels_of,
)
from ..tokenizers import Tokenizer
from ..tokenizers.definition import ByteLevel
from .direct_merge import CanonicalDfa, canonical_dfa, with_pairs
from .direct_with_boundaries import direct_with_boundaries
from .methods import MethodChoice, method_of, next_method
from .token_edges import with_token_edges


def _no_tokens() -> NDArray[np.int32]:
    return np.zeros(0, dtype=np.int32)


@dataclass(frozen=True, slots=True, eq=False)
class Merged:
    """The automaton over canonical token sequences, and what it was made from.

    ``columns``: the byte DFA of the members that have a canonical tokenization. ``boundaries``: the
    pre-tokenizer's that the masks follow, None where they follow none. ``normal_forms``: the texts
    in normal form that are followed beside them, maybe behind prompts alone; ``normal_tokens`` and
    ``undecided_tokens``, int32, ascending, are the tokens of ``cartesian.normalized``, empty
    without. ``sentinels``: sections of theirs. ``choice``: the method, and why. ``notes``: for the
    user.
    """

    columns: TokenColumns
    automaton: CanonicalDfa | CartesianDfa
    choice: MethodChoice
    boundaries: PretokenizerTables | None
    normal_forms: NormalFormTables | None
    notes: tuple[str, ...]
    normal_tokens: NDArray[np.int32] = field(default_factory=_no_tokens)
    undecided_tokens: NDArray[np.int32] = field(default_factory=_no_tokens)
    sentinels: dict[str, NDArray[Any]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, eq=False)
class _Encoded:
    """``dfa``: the members that have a canonical tokenization, if ``normal_forms``, where there
    are any, do not forbid them."""

    dfa: Dfa
    normal_forms: NormalFormTables | None
    notes: tuple[str, ...]


@Step("merge")
def merge(
    grammar: Grammar,
    columns: TokenColumns,
    rules: Sequence[str],
    request: ArtifactRequest[Tokenizer],
    tables: TokenizerTables,
    progress: Progress,
    most: int | None = None,
) -> Merged:
    """The automaton over canonical token sequences of the members of ``columns.dfa``.

    ``rules``: the rule behind each origin. ``most``: bytes of the table of a product. Raises
    ``CheckError`` if no member has a canonical tokenization, ``TokenizerError`` and ``LimitError``.
    """
    whole = _Whole(grammar, rules, progress, most)
    if not columns.classes:
        return whole.merged(columns, request, tables)
    asked = request.options.method
    if asked != CARTESIAN and _merges_alone(request.tokenizer):
        choice = method_of(request.tokenizer, request.options, normalizes=False)
        try:
            return _merged_with_symbols(whole, columns, request, tables, choice)
        except (TokenizerError, LimitError) as error:
            next_method(choice, error, request.limits)
    return _merged_with_sentinels(whole, columns, request, tables)


@dataclass(frozen=True, slots=True, eq=False)
class _Whole:
    """What does not depend on the tokens. ``rules``, ``most``: as of ``merge``."""

    grammar: Grammar
    rules: Sequence[str]
    progress: Progress
    most: int | None

    def merged(
        self,
        columns: TokenColumns,
        request: ArtifactRequest[Tokenizer],
        tables: TokenizerTables,
    ) -> Merged:
        """The automaton of the members of a DFA over bytes."""
        whole, limits = request.options.method == DIRECT, request.limits
        job = _Merging(columns, self.rules, request, tables, self.progress, self.most)
        found = job.run(_encoded(self.grammar, columns, tables, limits, whole=whole))
        if isinstance(found.automaton, CartesianDfa) and not found.automaton.live_by_inert:
            # Rare: every end is reached only by characters that others may change.
            found = job.run(_encoded(self.grammar, columns, tables, limits, whole=True))
        if not isinstance(found.automaton, CartesianDfa) or found.normal_forms is None:
            return found
        octets, boundaries = request.tokenizer.tokens, tables.product_pretokenizer
        normal, undecided = undecided_tokens(
            found.automaton, boundaries, found.normal_forms, octets
        )
        return replace(found, normal_tokens=normal, undecided_tokens=undecided)


@dataclass(frozen=True, slots=True, eq=False)
class _Merging:
    """One grammar's merging: by the method chosen, and by the next one where that fails."""

    columns: TokenColumns
    rules: Sequence[str]
    request: ArtifactRequest[Tokenizer]
    tables: TokenizerTables
    progress: Progress
    most: int | None

    def run(self, encoded: _Encoded) -> Merged:
        """The automaton of the members in ``encoded``."""
        request, limits, dfa = self.request, self.request.limits, encoded.dfa
        product = build_product(dfa, self.tables.product_pretokenizer, limits, self.progress)
        choice = method_of(
            request.tokenizer,
            request.options,
            normalizes=encoded.normal_forms is not None,
        )
        found: CanonicalDfa | CartesianDfa | None = None
        if choice.method == DIRECT:
            try:
                found = self._direct(product, dfa, choice.bounded(limits))
            except (TokenizerError, LimitError) as error:
                choice = next_method(choice, error, limits)
        beside = None
        if found is None:
            beside = encoded.normal_forms
            found = self._cartesian(product, dfa, beside)
        columns = TokenColumns(dfa, notes=self.columns.notes)
        return Merged(
            columns, found, choice, self.tables.product_pretokenizer, beside, encoded.notes
        )

    def _direct(self, product: Product, dfa: Dfa, limits: Limits) -> CanonicalDfa:
        tokenizer, rules = self.request.tokenizer, self.rules
        if tokenizer.splits or self.tables.product_pretokenizer.prefix:
            found = direct_with_boundaries(product, dfa, tokenizer, limits, self.progress, rules)
        else:
            merges = proper_merges(tokenizer)
            found = canonical_dfa(dfa, tokenizer.base, (), merges, limits, self.progress, rules)
        pairs = self.tables.pairs.forbidden.rows
        if self.request.options.thin:
            return replace(found, pairs=pairs)
        return with_pairs(found, pairs)

    def _cartesian(
        self, product: Product, dfa: Dfa, beside: NormalFormTables | None
    ) -> CartesianDfa:
        rules = self.rules

        def rules_of(state: int) -> list[str]:
            byte_state = int(product.byte_state[state])
            origins = dfa.origins[byte_state if byte_state < dfa.states else dfa.start]
            return sorted({rules[origin] for origin in origins})

        return cartesian_merge(
            product,
            self.tables.product_pretokenizer,
            self.tables.pairs,
            self.request.vocab_size,
            self.request.limits,
            rules_of,
            partial(live_by_inert, beside) if beside is not None and not beside.prompts else None,
            self.most,
            self.progress,
            whole_pairs=self.request.options.thin,
        )


def _encoded(
    grammar: Grammar,
    columns: TokenColumns,
    tables: TokenizerTables,
    limits: Limits,
    *,
    whole: bool,
) -> _Encoded:
    """The members of ``columns.dfa`` that the tokenizer spells and does not rewrite.

    ``whole``: without normal forms to follow beside, however many states that takes. Raises
    ``CheckError`` if there is no such member.
    """
    dfa = columns.dfa
    normalized = NormalizedMembers(dfa, None)
    if tables.normal_form is not None:
        normalized = normalized_members(dfa, tables.normal_form, limits, whole=whole)
    lost, changed = (
        shortest_unspellable(dfa, tables.product_pretokenizer, limits),
        normalized.changed,
    )
    without = [text for text in (changed, lost) if text is not None]
    if not without:
        return _Encoded(normalized.dfa, normalized.beside, ())
    text = min(without, key=lambda found: (len(found), found))
    name = readable(text, columns.classes, tables.tokenizer)
    spelled = normalized.dfa
    if lost is not None and not spelled.is_empty:
        spelled = minimize(spellable_members(spelled, tables.product_pretokenizer, limits), limits)
    if spelled.is_empty:
        message = (
            f"the tokenizer can spell no member: it has no token for a part of {name} or would "
            f"change it"
        )
        raise unspellable(grammar, tables.tokenizer.added, message)
    note = (
        f"some members have no canonical tokenization, the shortest is {name}: the tokenizer has "
        f"no token for a part of it, finds a special token in it or would rewrite it; they are "
        f"left out"
    )
    return _Encoded(spelled, normalized.beside, (note,))


def _merges_alone(tokenizer: Tokenizer) -> bool:
    """Whether a tokenizer does nothing with a text but merge its bytes."""
    first = tokenizer.pre_tokenizers[:1]
    puts_space = any(isinstance(step, ByteLevel) and step.add_prefix_space for step in first)
    rewrites = tokenizer.normalizers or puts_space or tokenizer.ignore_merges
    return tokenizer.byte_level and not tokenizer.splits and not rewrites


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
    if isinstance(automaton, CanonicalDfa):
        first = first_sentinel(request.vocab_size)
        rules_of = [sorted({whole.rules[o] for o in origins}) for origins in dfa.origins]
        families = np.arange(dfa.states) if (f := automaton.family_states) is None else f
        names = [rules_of[state] for state in families.tolist()]
        automaton = with_token_edges(automaton, first, classes, request.limits, names)
        if automaton.family_states is not None:
            families = families[automaton.family_states]
        automaton = replace(automaton, family_states=families.astype(np.int32))
        automaton = with_pairs(automaton, tables.pairs.forbidden.rows)
    sections = beside.sections
    return replace(found, columns=spelled, automaton=automaton, sentinels=sections)


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
    return Merged(spelled, automaton, choice, None, None, notes)


def _spelled(grammar: Grammar, whole: Dfa, tables: TokenizerTables) -> tuple[Dfa, tuple[str, ...]]:
    """The members whose texts between token terminals the tokenizer spells, and notes."""
    whole, spelled = (
        minimize(whole),
        minimize(spellable_members(whole, tables.product_pretokenizer)),
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
    note = (
        "some members have no canonical tokenization: the tokenizer has no token for a part of "
        "their text, or finds a special token in it; they are left out"
    )
    return spelled, (note,)
