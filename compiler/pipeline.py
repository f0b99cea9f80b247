"""All stages in order: from a grammar's text to an artifact."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from constrain.artifacts.artifact import Artifact
from constrain.artifacts.container.manifest import EXACT
from constrain.artifacts.tokens.trie import Trie

from .assemble.dfa import ArtifactRequest, assemble
from .assemble.token_overlaps import without_overlaps
from .automata.dfa import Dfa, TokenIds
from .automata.token_classes import over_classes
from .bpe.tokenizer_tables import TokenizerTables
from .canonical_choice import AUTO, MergeChoice, merged, merged_with_tokens
from .cartesian.cartesian_merge import CartesianDfa
from .diagnostics import CheckError, Diagnostic, TokenizerError
from .engines import AUTO as AUTO_ENGINE
from .engines import Parser
from .frontend import Automaton, Recogniser, build_automaton, build_engine
from .limits import Limits
from .meanings import MaximalMunchGrammar
from .merge.direct_merge import CanonicalDfa
from .progress import Progress, silent
from .token_ids import AnyTokenizer, eos_ids, padded_size, token_ids, unreachable_ends
from .tokenizers import Tokenizer

# What other engines and tokenizers need is imported where they are met: it costs as much as
# compiling a small grammar.
if TYPE_CHECKING:
    from .maximal_munch.precompute import Closure
    from .wordpiece import WordPieceTokenizer
    from .wordpiece.tokenizer_dfa import CanonicalWords

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
    ``reason`` why so; empty under ``any``. ``closure``: by maximal munch, how far masks were
    worked out ahead.
    """

    automaton: Recogniser
    canonical: "CanonicalDfa | CartesianDfa | CanonicalWords | None"
    artifact: Artifact
    notes: tuple[str, ...] = field(default=())
    method: str = ""
    reason: str = ""
    closure: "Closure | None" = None


def compile_grammar(
    text: str,
    *,
    dialect: str,
    tokenizer: AnyTokenizer,
    start: str | None = None,
    tokenization: str | None = None,
    engine: str = AUTO_ENGINE,
    meaning: str | None = None,
    limits: Limits | None = None,
    eos: Sequence[int | str] = (),
    vocab_size: int | None = None,
    method: str = AUTO,
    max_artifact_bytes: int = MAX_ARTIFACT_BYTES,
    strip: bool = False,
    prewarm: int | None = None,
    keep_unknown: bool = False,
    name: str = "<grammar>",
    progress: Progress = silent,
    tables: TokenizerTables | None = None,
) -> Artifact:
    """Compile a grammar for a tokenizer.

    ``tokenization``: ``canonical`` allows exactly the token sequences that the tokenizer gives
    for the members (the default where there are such masks), ``any`` every sequence that spells a
    member. ``engine``: see ``parsers``. ``meaning``: ``exact`` or ``maximal-munch``, see
    ``meanings``. ``method``: ``direct``, ``cartesian`` or ``auto``, how canonical masks are
    found; the masks are the same. ``prewarm``: as of ``build_artifact``.
    ``tables``: the tokenizer's, which several compilations can share. ``eos``: ids or
    names of the tokens that end a text (by default the tokenizer's own). ``vocab_size`` pads
    the masks. ``strip`` leaves the grammar's text out. ``keep_unknown``, of WordPiece alone,
    keeps members with a word that becomes the unknown token. Raises subclasses of
    ``ConstrainError``.
    """
    limits = (limits or Limits()).started()
    automaton = build_engine(
        text,
        dialect=dialect,
        start=start,
        limits=limits,
        name=name,
        engine=engine,
        meaning=meaning,
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
        prewarm=prewarm,
        keep_unknown=keep_unknown,
        progress=progress,
        tables=tables,
    ).artifact


def build_artifact(
    automaton: Recogniser,
    tokenizer: AnyTokenizer,
    *,
    tokenization: str | None = None,
    limits: Limits | None = None,
    eos: Sequence[int | str] = (),
    vocab_size: int | None = None,
    method: str = AUTO,
    max_artifact_bytes: int = MAX_ARTIFACT_BYTES,
    strip: bool = False,
    prewarm: int | None = None,
    keep_unknown: bool = False,
    progress: Progress = silent,
    tables: TokenizerTables | None = None,
) -> Compilation:
    """The stages that need a tokenizer: merging, masks, packaging.

    ``prewarm``: how many answers that masks are made of are worked out ahead, where an engine
    does that. ``tables``: the tokenizer's, to be used again for other grammars.
    """
    if tokenization not in (None, CANONICAL, ANY):
        raise ValueError(f"tokenization must be 'canonical' or 'any', not {tokenization!r}")
    limits = (limits or Limits()).started()
    if not isinstance(tokenizer, Tokenizer):
        if tokenization == ANY:
            raise TokenizerError(
                f"{tokenizer.name}: WordPiece tokenizers are compiled as 'canonical' only: a "
                f"member's words may be cut in one way each"
            )
        size, ends = padded_size(tokenizer, vocab_size), eos_ids(tokenizer, eos)
        return _build_words(automaton, tokenizer, ends, size, strip, keep_unknown, limits)
    if keep_unknown:
        raise TokenizerError(f"{tokenizer.name}: only WordPiece has words that become unknown")
    notes: list[str] = []
    request = ArtifactRequest(
        tokenizer=tokenizer,
        eos=eos_ids(tokenizer, eos),
        vocab_size=padded_size(tokenizer, vocab_size),
        max_bytes=max_artifact_bytes,
        strip=strip,
        meaning=automaton.meaning if isinstance(automaton, Automaton) else EXACT,
    )
    if not isinstance(automaton, Automaton):
        return _build_parser(automaton, request, tokenization, limits, notes, prewarm, tables)
    chosen: MergeChoice | None = None
    rules = [rule for rule, _, _ in automaton.origins]
    dfa, classes = _over_tokens(automaton, tokenizer, request.eos, limits)
    notes.extend(unreachable_ends(dfa, classes, tokenizer, request.eos))
    if tokenization != ANY:
        grammar = automaton.grammar
        tables = tables or TokenizerTables(tokenizer)
        if classes:
            chosen = merged_with_tokens(
                grammar, dfa, classes, rules, request, limits, progress, tables
            )
        else:
            chosen = merged(grammar, dfa, rules, request, method, limits, progress, tables)
        dfa = chosen.dfa
        notes.extend(chosen.notes)
    elif classes:
        trie = Trie.from_vocabulary(tokenizer.vocabulary())
        dfa, classes = without_overlaps(dfa, classes, trie, limits, rules)
    canonical = chosen.automaton if chosen else None
    artifact = assemble(
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


def _build_parser(
    automaton: Parser | MaximalMunchGrammar,
    request: ArtifactRequest,
    tokenization: str | None,
    limits: Limits,
    notes: list[str],
    prewarm: int | None,
    tables: TokenizerTables | None,
) -> Compilation:
    """The stages for grammars that nest: masks worked out ahead, packaging."""
    if isinstance(automaton, MaximalMunchGrammar):
        from .assemble.maximal_munch import assemble_maximal_munch, refuse_canonical

        if tokenization == CANONICAL:
            refuse_canonical(automaton)
        artifact, closure = assemble_maximal_munch(automaton, request, limits, notes, prewarm)
        return Compilation(automaton, None, artifact, tuple(notes), closure=closure)
    from .assemble.parser import PREWARM, assemble_parser

    sections, count = None, PREWARM if prewarm is None else prewarm
    if tokenization != ANY:
        from .canonical_network.sections import canonical_sections

        tables = tables or TokenizerTables(request.tokenizer)
        needed = tokenization == CANONICAL
        sections = canonical_sections(
            automaton, request, tables, notes, limits, count, needed=needed
        )
    artifact = assemble_parser(automaton, request, limits, notes, count, sections)
    return Compilation(automaton, None, artifact, tuple(notes))


def _build_words(
    automaton: Recogniser,
    tokenizer: "WordPieceTokenizer",
    eos: tuple[int, ...],
    vocab_size: int,
    strip: bool,
    keep_unknown: bool,
    limits: Limits,
) -> Compilation:
    """The stages for WordPiece: canonical text, its words, packaging."""
    from .assemble.wordpiece import assemble_wordpiece
    from .wordpiece.tokenizer_dfa import canonical_words

    if not isinstance(automaton, Automaton):
        message = f"WordPiece tokenizers need the engine dfa, and this is {automaton.engine}"
        exact = "with --meaning exact " * isinstance(automaton, MaximalMunchGrammar)
        hint = f"{automaton.reason}; {exact}--max-depth bounds the nesting"
        raise CheckError(automaton.grammar.source, [Diagnostic(message, help=hint)])
    grammar, source = automaton.grammar, automaton.grammar.source
    if grammar.tokens:
        message = "token terminals are not supported with WordPiece tokenizers"
        raise CheckError(source, [Diagnostic(message, token.span) for token in grammar.tokens])
    words = canonical_words(automaton.dfa, tokenizer, vocab_size, limits, keep_unknown=keep_unknown)
    if words.is_empty:
        message = "the tokenizer can spell no member: each has a word that becomes unknown"
        raise CheckError(source, [Diagnostic(message)])
    artifact = assemble_wordpiece(
        grammar,
        automaton.dfa,
        automaton.origins,
        words,
        tokenizer,
        eos,
        vocab_size,
        strip,
        automaton.meaning,
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
