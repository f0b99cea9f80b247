"""All stages in order: from a grammar's text to an artifact."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np

from constrain.artifacts.artifact import Artifact
from constrain.artifacts.trie import Trie

from .automata.dfa import Dfa, TokenIds
from .automata.token_classes import over_classes
from .canonical_parser import canonical_sections
from .diagnostics import CheckError, Diagnostic, TokenizerError
from .front import Automaton, build_automaton, build_engine
from .limits import Limits
from .masks.overlaps import without_overlaps
from .merge.canonical import CanonicalDfa
from .merge.canonical_words import CanonicalWords, canonical_words
from .merge.cartesian import CartesianDfa
from .merge.stored import TokenizerTables
from .merging import AUTO, Chosen, merged, merged_with_tokens
from .package import Request, package
from .package_parser import PREWARM, package_parser
from .package_words import package_words
from .parsers import AUTO as AUTO_ENGINE
from .parsers import Parser
from .progress import Progress, silent
from .token_ids import token_ids
from .tokenizers import Tokenizer
from .wordpiece import WordPieceTokenizer

# What a grammar can be compiled for.
AnyTokenizer: TypeAlias = Tokenizer | WordPieceTokenizer

__all__ = [
    "ANY",
    "CANONICAL",
    "Automaton",
    "Compilation",
    "build_artifact",
    "build_automaton",
    "build_engine",
    "compile_grammar",
]

CANONICAL, ANY = "canonical", "any"

# Artifacts above this size leave their mask rows to the run time.
MAX_ARTIFACT_BYTES = 256_000_000


@dataclass(frozen=True, slots=True, eq=False)
class Compilation:
    """A compiled grammar and every stage on the way.

    ``notes`` are for the user to read. ``method``: how canonical masks were found, and
    ``reason`` why so; empty under ``any``.
    """

    automaton: Automaton | Parser
    canonical: CanonicalDfa | CartesianDfa | CanonicalWords | None
    artifact: Artifact
    notes: tuple[str, ...] = field(default=())
    method: str = ""
    reason: str = ""


def compile_grammar(
    text: str,
    *,
    dialect: str,
    tokenizer: AnyTokenizer,
    start: str | None = None,
    tokenization: str | None = None,
    engine: str = AUTO_ENGINE,
    limits: Limits | None = None,
    eos: Sequence[int | str] = (),
    vocab_size: int | None = None,
    method: str = AUTO,
    max_artifact_bytes: int = MAX_ARTIFACT_BYTES,
    strip: bool = False,
    keep_unknown: bool = False,
    name: str = "<grammar>",
    progress: Progress = silent,
    tables: TokenizerTables | None = None,
) -> Artifact:
    """Compile a grammar for a tokenizer.

    ``tokenization``: ``canonical`` allows exactly the token sequences that the tokenizer gives
    for the members (the default where there are such masks), ``any`` every sequence that spells a
    member. ``engine``: see ``parsers``. ``method``: ``direct``, ``cartesian`` or ``auto``, how
    canonical masks are found; the masks are the same.
    ``tables``: the tokenizer's, which several compilations can share. ``eos``: ids or
    names of the tokens that end a text (by default the tokenizer's own). ``vocab_size`` pads
    the masks. ``strip`` leaves the grammar's text out. ``keep_unknown``, of WordPiece alone,
    keeps members with a word that becomes the unknown token. Raises subclasses of
    ``ConstrainError``.
    """
    limits = (limits or Limits()).started()
    automaton = build_engine(
        text, dialect=dialect, start=start, limits=limits, name=name, engine=engine
    )
    return build_artifact(
        automaton,
        tokenizer,
        tokenization=tokenization,
        limits=limits,
        eos=eos,
        vocab_size=vocab_size,
        method=method,
        max_artifact_bytes=max_artifact_bytes,
        strip=strip,
        keep_unknown=keep_unknown,
        progress=progress,
        tables=tables,
    ).artifact


def build_artifact(
    automaton: Automaton | Parser,
    tokenizer: AnyTokenizer,
    *,
    tokenization: str | None = None,
    limits: Limits | None = None,
    eos: Sequence[int | str] = (),
    vocab_size: int | None = None,
    method: str = AUTO,
    max_artifact_bytes: int = MAX_ARTIFACT_BYTES,
    strip: bool = False,
    prewarm: int = PREWARM,
    keep_unknown: bool = False,
    progress: Progress = silent,
    tables: TokenizerTables | None = None,
) -> Compilation:
    """The stages that need a tokenizer: merging, masks, packaging.

    ``prewarm``: how many of a network's masks are worked out ahead. ``tables``: the
    tokenizer's, to be used again for other grammars.
    """
    if tokenization not in (None, CANONICAL, ANY):
        raise ValueError(f"tokenization must be 'canonical' or 'any', not {tokenization!r}")
    limits = (limits or Limits()).started()
    if isinstance(tokenizer, WordPieceTokenizer):
        if tokenization == ANY:
            raise TokenizerError(
                f"{tokenizer.name}: WordPiece tokenizers are compiled as 'canonical' only: a "
                f"member's words may be cut in one way each"
            )
        if isinstance(automaton, Parser):
            message = f"WordPiece tokenizers need the engine dfa, and this is {automaton.engine}"
            hint = f"{automaton.reason}; --max-depth bounds the nesting"
            raise CheckError(automaton.grammar.source, [Diagnostic(message, help=hint)])
        size, ends = _padded_size(tokenizer, vocab_size), _eos_ids(tokenizer, eos)
        return _build_words(automaton, tokenizer, ends, size, strip, keep_unknown, limits)
    if keep_unknown:
        raise TokenizerError(f"{tokenizer.name}: only WordPiece has words that become unknown")
    notes: list[str] = []
    request = Request(
        tokenizer=tokenizer,
        eos=_eos_ids(tokenizer, eos),
        vocab_size=_padded_size(tokenizer, vocab_size),
        max_bytes=max_artifact_bytes,
        strip=strip,
    )
    if isinstance(automaton, Parser):
        tables = tables or TokenizerTables(tokenizer)
        sections = None
        if tokenization != ANY:
            needed = tokenization == CANONICAL
            sections = canonical_sections(
                automaton, request, tables, notes, limits, prewarm, needed=needed
            )
        artifact = package_parser(automaton, request, limits, notes, prewarm, sections)
        return Compilation(automaton, None, artifact, tuple(notes))
    chosen: Chosen | None = None
    rules = [rule for rule, _, _ in automaton.origins]
    dfa, classes = _over_tokens(automaton, tokenizer, request.eos, limits)
    notes.extend(_unreachable_ends(dfa, classes, tokenizer, request.eos))
    if tokenization != ANY:
        grammar = automaton.grammar
        if classes:
            chosen = merged_with_tokens(grammar, dfa, classes, rules, request, limits, progress)
        else:
            tables = tables or TokenizerTables(tokenizer)
            chosen = merged(grammar, dfa, rules, request, method, limits, progress, tables)
        dfa = chosen.dfa
        notes.extend(chosen.notes)
    elif classes:
        trie = Trie.from_vocabulary(tokenizer.vocabulary())
        dfa, classes = without_overlaps(dfa, classes, trie, limits, rules)
    canonical = chosen.automaton if chosen else None
    artifact = package(
        automaton.grammar,
        dfa,
        classes,
        automaton.origins,
        canonical,
        request,
        limits,
        notes,
        chosen.cuts if chosen else None,
        chosen.rest if chosen else None,
    )
    method, reason = (chosen.method, chosen.reason) if chosen else ("", "")
    return Compilation(automaton, canonical, artifact, tuple(notes), method, reason)


def _build_words(
    automaton: Automaton,
    tokenizer: WordPieceTokenizer,
    eos: tuple[int, ...],
    vocab_size: int,
    strip: bool,
    keep_unknown: bool,
    limits: Limits,
) -> Compilation:
    """The stages for WordPiece: canonical text, its words, packaging."""
    grammar, source = automaton.grammar, automaton.grammar.source
    if grammar.tokens:
        message = "token terminals are not supported with WordPiece tokenizers"
        raise CheckError(source, [Diagnostic(message, token.span) for token in grammar.tokens])
    words = canonical_words(automaton.dfa, tokenizer, vocab_size, limits, keep_unknown=keep_unknown)
    if words.is_empty:
        message = "the tokenizer can spell no member: each has a word that becomes unknown"
        raise CheckError(source, [Diagnostic(message)])
    artifact = package_words(
        grammar, automaton.dfa, automaton.origins, words, tokenizer, eos, vocab_size, strip
    )
    return Compilation(automaton, words, artifact, words.notes)


def _over_tokens(
    automaton: Automaton, tokenizer: Tokenizer, eos: Sequence[int], limits: Limits
) -> tuple[Dfa, list[TokenIds]]:
    """The byte DFA over disjoint classes of the tokenizer's tokens, and their ids."""
    terminals = token_ids(automaton.grammar, tokenizer, eos)
    if not terminals:
        return automaton.dfa, []
    dfa, classes = over_classes(
        automaton.dfa, terminals, limits, [rule for rule, _, _ in automaton.origins]
    )
    if dfa.is_empty:
        source = automaton.grammar.source
        message = "there is no member: every one needs a token that the tokenizer has not"
        raise CheckError(source, [Diagnostic(message)])
    return dfa, classes


def _unreachable_ends(
    dfa: Dfa, classes: Sequence[TokenIds], tokenizer: Tokenizer, eos: Sequence[int]
) -> list[str]:
    """A note for each token that the grammar goes on with where it ends the text."""
    going_on = (dfa.table[dfa.accepting, dfa.byte_columns :] != 0).any(axis=0)
    return [
        f"the token {tokenizer.added.get(i, i)} ends the text wherever the text may end: what the "
        "grammar has behind it there is never reached"
        for ids, goes_on in zip(classes, going_on.tolist(), strict=True)
        for i in (ids[np.isin(ids, list(eos))].tolist() if goes_on else ())
    ]


def _eos_ids(tokenizer: AnyTokenizer, given: Sequence[int | str]) -> tuple[int, ...]:
    """Ids of the tokens that end a text: those given, else the tokenizer's own."""
    if not given:
        if not tokenizer.eos:
            raise TokenizerError(
                f"{tokenizer.name}: no end-of-text token is known; name it with --eos"
            )
        return tokenizer.eos
    by_name = {name: i for i, name in tokenizer.added.items()}
    ids = []
    for wanted in given:
        token_id = by_name.get(str(wanted))
        if token_id is None and str(wanted).isdecimal() and len(str(wanted)) < 10:
            token_id = int(wanted)
        if token_id is None:
            found = [i for i, octets in tokenizer.tokens.items() if octets == str(wanted).encode()]
            token_id = found[0] if found else None
        if token_id is None or token_id >= tokenizer.vocab_size:
            raise TokenizerError(f"{tokenizer.name}: there is no token {wanted!r} to end a text")
        ids.append(token_id)
    return tuple(sorted(set(ids)))


def _padded_size(tokenizer: AnyTokenizer, wanted: int | None) -> int:
    if wanted is not None and wanted < tokenizer.vocab_size:
        raise TokenizerError(
            f"{tokenizer.name}: a vocabulary of {wanted} is too small for token "
            f"{tokenizer.vocab_size - 1}"
        )
    return wanted or tokenizer.vocab_size
