"""Canonical masks by DirectMerge or by CartesianMerge: which of them, and why.

DirectMerge ends with a table, whose masks cost a look-up; it grows with the merges that can
fire in a grammar. CartesianMerge computes masks when they are first asked for and fits any
grammar. A tokenizer's cuts are known to the second alone once a text has begun, so that only
its artifacts continue a prompt exactly.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from .assemble.dfa import ArtifactRequest
from .automata.dfa import Dfa, TokenIds, without_bytes
from .automata.minimize import minimize
from .bpe.cached_tables import TokenizerTables
from .bpe.proper_merges import not_followed, proper_merges
from .cartesian.cartesian_merge import CartesianDfa, cartesian_merge
from .cartesian.normalized import ends_freely
from .cartesian.product import build_product
from .diagnostics import CheckError, Diagnostic, LimitError, TokenizerError
from .grammar.tree import Grammar
from .limits import Limits
from .merge.direct_merge import CanonicalDfa, canonical_dfa
from .merge.direct_with_boundaries import direct_with_boundaries
from .merge.token_edges import with_token_edges
from .normalizer.normalized_members import NormalFormTables, NormalizedMembers, normalized_members
from .pretokenizer.boundary_tables import PretokenizerTables
from .pretokenizer.spellable_members import kept_members, shortest_lost
from .progress import Progress
from .tokenizers import Tokenizer
from .tokenizers.definition import ByteLevel

AUTO, DIRECT, CARTESIAN = "auto", "direct", "cartesian"

# Transitions up to which ``auto`` tries DirectMerge; giving up costs a few tenths of a second.
_FEW_TRANSITIONS = 200_000


@dataclass(frozen=True, slots=True, eq=False)
class MergeChoice:
    """The result of one method.

    ``dfa``: the members that have a canonical tokenization. ``cuts``: those that the masks
    follow, None where they follow none. ``rest``: stable texts that are followed beside them,
    maybe behind prompts alone.
    """

    dfa: Dfa
    cuts: PretokenizerTables | None
    automaton: CanonicalDfa | CartesianDfa
    method: str
    reason: str
    notes: tuple[str, ...]
    rest: NormalFormTables | None = None


@dataclass(frozen=True, slots=True, eq=False)
class _Encoded:
    """``dfa``: the members that have a canonical tokenization, but for what ``rest`` forbids."""

    dfa: Dfa
    rest: NormalFormTables | None
    notes: tuple[str, ...]


def merged(
    grammar: Grammar,
    dfa: Dfa,
    rules: Sequence[str],
    request: ArtifactRequest,
    method: str,
    limits: Limits,
    progress: Progress,
    tables: TokenizerTables,
) -> MergeChoice:
    """The automaton over canonical token sequences of the members of ``dfa``.

    ``rules``: the rule behind each atomic origin. ``method``: ``auto``, ``direct`` or
    ``cartesian``. Raises ``CheckError`` if no member has a canonical tokenization,
    ``TokenizerError`` and ``LimitError``.
    """
    if method not in (AUTO, DIRECT, CARTESIAN):
        raise ValueError(f"method must be 'auto', 'direct' or 'cartesian', not {method!r}")
    found = _encoded(grammar, dfa, tables, limits, whole=method == DIRECT)
    chosen = _merged(found, rules, request, method, limits, progress, tables)
    if isinstance(chosen.automaton, CartesianDfa) and not chosen.automaton.ends_freely:
        # Rare: all ways to an end are by characters that others may change.
        found = _encoded(grammar, dfa, tables, limits, whole=True)
        chosen = _merged(found, rules, request, method, limits, progress, tables)
    return chosen


def _merged(
    encoded: _Encoded,
    rules: Sequence[str],
    request: ArtifactRequest,
    method: str,
    limits: Limits,
    progress: Progress,
    tables: TokenizerTables,
) -> MergeChoice:
    tokenizer, cuts = request.tokenizer, tables.cuts
    dfa, rest, notes = encoded.dfa, encoded.rest, encoded.notes
    product = build_product(dfa, cuts, limits)

    def direct(bound: Limits) -> CanonicalDfa:
        if tokenizer.splits or cuts.prefix:
            return direct_with_boundaries(product, dfa, tokenizer, bound, progress, rules)
        merges = proper_merges(tokenizer)
        return canonical_dfa(dfa, tokenizer.base, (), merges, bound, progress, rules)

    if method == DIRECT:
        return MergeChoice(dfa, cuts, direct(limits), DIRECT, "as asked for", notes)
    reason = "as asked for"
    if method == AUTO:
        reason = _why_not_direct(request, rest)
        if not reason:
            try:
                few = replace(limits, transitions=min(limits.transitions, _FEW_TRANSITIONS))
                found = direct(few)
                reason = f"it has at most {_FEW_TRANSITIONS:,} transitions"
                return MergeChoice(dfa, cuts, found, DIRECT, reason, notes)
            except TokenizerError as error:
                reason = f"DirectMerge cannot follow the merges ({error})"
            except LimitError as error:
                if limits.is_over() or error.limit != "transitions":
                    raise
                reason = f"DirectMerge has more than {few.transitions:,} transitions"

    def rules_of(state: int) -> list[str]:
        byte_state = int(product.byte_state[state])
        known = dfa.origins[byte_state if byte_state < dfa.states else dfa.start]
        return sorted({rules[origin] for origin in known})

    check = None
    if rest is not None and not rest.prompts:
        check = partial(ends_freely, rest)
    cartesian = cartesian_merge(
        product,
        cuts,
        tables.pairs,
        request.vocab_size,
        limits,
        rules_of,
        check,
    )
    return MergeChoice(dfa, cuts, cartesian, CARTESIAN, reason, notes, rest)


def _why_not_direct(request: ArtifactRequest, rest: NormalFormTables | None) -> str:
    tokenizer = request.tokenizer
    if tokenizer.splits:
        return "the tokenizer cuts text, and a table knows no cuts behind a prompt"
    if not tokenizer.byte_level:
        return "the tokenizer merges characters"
    if any(
        isinstance(step, ByteLevel) and step.add_prefix_space for step in tokenizer.pre_tokenizers
    ):
        return "the tokenizer puts a space before a text, and a table knows no prompts"
    if rest is not None:
        return "a table cannot follow which characters the tokenizer would compose"
    return ""


def _encoded(
    grammar: Grammar, dfa: Dfa, tables: TokenizerTables, limits: Limits, *, whole: bool
) -> _Encoded:
    """Raises ``CheckError`` if no member has a canonical tokenization."""
    stable = NormalizedMembers(dfa, None)
    if tables.stable is not None:
        stable = normalized_members(dfa, tables.stable, limits, whole=whole)
    lost, changed = shortest_lost(dfa, tables.cuts), stable.changed
    without = [text for text in (changed, lost) if text is not None]
    if not without:
        return _Encoded(stable.dfa, stable.beside, ())
    text = min(without, key=lambda found: (len(found), found))
    name = repr(text.decode("utf-8", "backslashreplace"))
    kept = stable.dfa
    if lost is not None and not kept.is_empty:
        kept = minimize(kept_members(kept, tables.cuts))
    if kept.is_empty:
        message = (
            f"the tokenizer can spell no member: it has no token for a part of {name} or would "
            f"change it"
        )
        raise CheckError(grammar.source, [Diagnostic(message)])
    note = (
        f"some members have no canonical tokenization, the shortest is {name}: the tokenizer has "
        f"no token for a part of it, finds a special token in it or would rewrite it; they are "
        f"left out"
    )
    return _Encoded(kept, stable.beside, (note,))


def merged_with_tokens(
    grammar: Grammar,
    whole: Dfa,
    classes: Sequence[TokenIds],
    rules: Sequence[str],
    request: ArtifactRequest,
    limits: Limits,
    progress: Progress,
) -> MergeChoice:
    """The same for a grammar with token terminals, by DirectMerge without cuts.

    ``classes``: the ids of the DFA's token columns. Raises as ``merged`` does.
    """
    tokenizer = request.tokenizer
    merges = proper_merges(tokenizer)
    dfa, notes = _spelled(grammar, whole, tokenizer)
    # Symbols that no merge knows: a token class ends the text before it.
    first = tokenizer.vocab_size
    symbols = range(first, first + len(classes))
    found = canonical_dfa(dfa, tokenizer.base, symbols, merges, limits, progress, rules)
    rules_of = [sorted({rules[o] for o in origins}) for origins in dfa.origins]
    automaton = with_token_edges(found, first, classes, limits, rules_of)
    notes += tuple(not_followed(tokenizer))
    return MergeChoice(dfa, None, automaton, DIRECT, "the grammar has token terminals", notes)


def _spelled(grammar: Grammar, whole: Dfa, tokenizer: Tokenizer) -> tuple[Dfa, tuple[str, ...]]:
    """The members that the tokenizer has a token for each byte of, and notes."""
    missing = np.array([token_id < 0 for token_id in tokenizer.base])
    lost = np.flatnonzero(missing & whole.used_bytes())
    if not len(lost):
        return whole, ()
    listed = ", ".join(f"0x{octet:02X}" for octet in lost[:8]) + (", …" if len(lost) > 8 else "")
    dfa = without_bytes(whole, missing)
    if dfa.is_empty:
        message = f"the tokenizer can spell no member: it has no token for {listed}"
        raise CheckError(grammar.source, [Diagnostic(message)])
    note = f"members with the bytes {listed} are left out: the tokenizer has no token for them"
    return minimize(dfa), (note,)
