"""Members that a tokenizer cannot spell are left out, with a note.

"a" | "é", no token for 0xC3      ->   "a"
"a" | <x> "b", no token <x>       ->   "a"
"""

from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..diagnostics import CheckError, Diagnostic
from ..frontend import MaximalMunchGrammar, Parser, parser_of, with_terminals
from ..grammar.tree import Grammar
from ..limits import Limits
from ..options import ArtifactRequest
from ..token_ids import WITHOUT_TOKEN, token_ids
from .when_met import parser_when_met

if TYPE_CHECKING:
    from ..tokenizers import Tokenizer

# A recogniser of a grammar that nests.
_R = TypeVar("_R", Parser, MaximalMunchGrammar)


def spellable(
    found: _R, request: ArtifactRequest["Tokenizer"], *, canonical: bool = False
) -> tuple[_R, tuple[str, ...]]:
    """The recogniser of the members that the tokenizer has a token for each byte of, and a note.

    ``canonical``: for the tokenizer's own sequences. Raises ``CheckError`` if there is none, and
    ``LimitError``.
    """
    lost = _unspelled_bytes(*found.reading, request, canonical=canonical)
    for each in found.conjunctions:
        lost = lost | _unspelled_bytes(each.table, each.classes, request)
    if not lost.any():
        return found, ()
    bytes_ = f"the byte{'s' * bool(lost.sum() > 1)} {_listed(lost)}"
    try:
        rest = _without_bytes(found, lost, request.limits)
    except CheckError:
        message = f"the tokenizer can spell no member: it has no token for {bytes_}"
        raise CheckError(found.grammar.source, [Diagnostic(message)]) from None
    return rest, (f"members with {bytes_} are left out: the tokenizer has no token for them",)


def _unspelled_bytes(
    table: NDArray[np.integer],
    columns: NDArray[np.integer],
    request: ArtifactRequest["Tokenizer"],
    *,
    canonical: bool = False,
) -> NDArray[np.bool_]:
    """Which bytes of texts are no token, bool (256,): in engines that follow texts byte by byte, a
    mask could lead into a dead end before them. ``table``: of what reads the texts, a row for each
    state, and ``columns`` the column of each byte. ``canonical``: which of them merging begins with
    no token for, if it begins with bytes."""
    used: NDArray[np.bool_] = (table != 0).any(axis=0)[columns[:256]]
    if not canonical:
        return used & ~request.vocabulary.spelled_bytes
    tokenizer = request.tokenizer
    return used & (np.array(tokenizer.base) < 0 if tokenizer.byte_level else np.False_)


def _without_bytes(found: _R, missing: NDArray[np.bool_], limits: Limits) -> _R:
    """The same engine for the members that hold none of the bytes ``missing``, bool (256,)."""
    if isinstance(found, Parser):
        return _parser_without_bytes(found, missing, limits)
    return _lexemes_without_bytes(found, missing, limits)


def _parser_without_bytes(parser: Parser, missing: NDArray[np.bool_], limits: Limits) -> Parser:
    from ..lazy_dfa.conjunctions import without_bytes_of
    from ..lnf.growing_terminals import LazyTerminals
    from ..lnf.without_bytes import without_bytes, without_tokens

    grammar = without_bytes(parser.grammar, missing, limits)
    if parser.lazily is None:
        return _again(parser, grammar, limits)
    terminals = [without_bytes_of(each, missing, limits) for each in parser.lazily.terminals]
    tokens = list(zip(grammar.tokens, terminals, strict=True))
    grammar = without_tokens(grammar, [token for token, left in tokens if not left.conjunctions])
    kept = [(token, left) for token, left in tokens if left.conjunctions]
    grammar = replace(grammar, tokens=tuple(token for token, _ in kept))
    if not kept:
        return _again(parser, grammar, limits)
    return with_terminals(parser.choice, LazyTerminals(grammar, [left for _, left in kept]), limits)


def _lexemes_without_bytes(
    found: MaximalMunchGrammar, missing: NDArray[np.bool_], limits: Limits
) -> MaximalMunchGrammar:
    from ..maximal_munch.lexer_tables import tables_over
    from ..network.from_tree import numbered

    rest = found.lexed.without_bytes(missing, limits)
    rules, counted_from = numbered(rest.grammar, limits), found.choice.counted_from
    return replace(found, lexed=rest, tables=tables_over(rest, rules, limits, counted_from))


def with_tokens(parser: Parser, request: ArtifactRequest["Tokenizer"]) -> Parser:
    """The same engine for the members that need no token terminal that stands for no token. Raises
    ``CheckError`` if there is none, and ``LimitError``."""
    from ..lnf.without_bytes import without_tokens

    grammar = parser.grammar
    named = token_ids(grammar, request.tokenizer, request.eos, request.limits)
    missing = [token for token, ids in zip(grammar.tokens, named, strict=True) if not len(ids)]
    if not missing:
        return parser
    try:
        return _again(parser, without_tokens(grammar, missing), request.limits)
    except CheckError:
        raise CheckError(grammar.source, [Diagnostic(WITHOUT_TOKEN)]) from None


def _again(parser: Parser, grammar: Grammar, limits: Limits) -> Parser:
    if parser.met is None:
        return parser_of(grammar, parser.choice, limits)
    return parser_when_met(grammar, parser.choice, limits)


def _listed(octets: NDArray[np.bool_]) -> str:
    """Bytes for a message, the first of many; ``octets``: bool (256,)."""
    found = np.flatnonzero(octets).tolist()
    return ", ".join(f"0x{octet:02X}" for octet in found[:8]) + ", …" * (len(found) > 8)
