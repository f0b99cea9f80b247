"""All steps of a compilation, each one call, in the order of the rows of ``README.md``.

read -> check -> choose -> compile                    the recogniser of a grammar's texts
choose -> merge -> encode -> precompute -> assemble   its artifact for a tokenizer
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from constrain.artifacts.artifact import Artifact
from constrain.artifacts.container.manifest import NETWORK
from constrain.artifacts.errors import visible

from .bpe.shared_tables import SharedTables
from .choose import (
    TokenizationChoice,
    copying,
    engine_of,
    tokenization_of,
    without_canonical,
)
from .diagnostics import CheckError, Diagnostic, GrammarError, LimitError, TokenizerError
from .files.cache import Cache
from .frontend import (
    WITHOUT_MEMBER,
    Automaton,
    MaximalMunchGrammar,
    Parser,
    Recogniser,
    compile_texts,
    of_operation,
    parser_of,
    read,
)
from .grammar.check import check
from .limits import Effort, blaming, in_force
from .notes import (
    DEAD_ENDS,
    added_tokens_as_text,
    notes_of,
    of_masks,
    of_tokenizer,
    without_effect,
)
from .options import (
    ANY,
    AUTO,
    CANONICAL,
    AnyTokenizer,
    ArtifactRequest,
    CompileOptions,
    request_of,
    with_changes,
)
from .progress import Progress, silent

# What one engine or tokenizer needs is imported in its step: that takes as long as a grammar.
if TYPE_CHECKING:
    from .bpe.tokenizer_tables import TokenizerTables
    from .canonical_network.tables import CanonicalTables
    from .maximal_munch.precompute import Precomputed
    from .merge.direct_merge import CanonicalDfa
    from .merge.merged import Merged
    from .tokenizers import Tokenizer
    from .tokenizers.vocabulary_tables import VocabularyTables
    from .wordpiece.tokenizer import WordPieceTokenizer
    from .wordpiece.tokenizer_dfa import CanonicalWords


@dataclass(frozen=True, slots=True, eq=False)
class Compilation:
    """A compiled grammar and every stage on the way.

    ``notes`` are for the user; the artifact has them, and ``findings``, which are of places in the
    text. ``weakened``: the one that says why any tokens are allowed where canonical ones are usual,
    else empty. ``method``: how canonical masks of a regular grammar were found, ``reason``: why;
    empty without a choice. ``closure``: how far maximal munch was precomputed.
    """

    automaton: Recogniser
    canonical: "CanonicalDfa | CanonicalWords | None"
    artifact: Artifact
    notes: tuple[str, ...] = field(default=())
    method: str = ""
    reason: str = ""
    closure: "Precomputed | None" = None
    weakened: str = ""
    findings: tuple[Diagnostic, ...] = ()


def build_engine(
    text: str, options: CompileOptions | None = None, *, name: str = "<grammar>", **changes: Any
) -> Recogniser:
    """The steps that need no tokenizer. Raises as ``Compiler.compile`` does."""
    wanted = with_changes(options, changes)
    if wanted.wants_met_states:
        from .machine.when_met import recogniser_when_met

        return recogniser_when_met(text, wanted, name)
    with in_force(wanted.limits):
        try:
            grammar = read(text, wanted, name)
        except GrammarError as error:
            from .machine.when_met import engine_instead

            return engine_instead(error, text, wanted, name)
        check(grammar)
        choice = engine_of(grammar, wanted)
        return compile_texts(grammar, choice, wanted)


def build_artifact(
    recogniser: Recogniser,
    tokenizer: AnyTokenizer,
    options: CompileOptions | None = None,
    *,
    progress: Progress = silent,
    tables: "TokenizerTables | None" = None,
    cache: Cache | None = None,
    shared: SharedTables | None = None,
    **changes: Any,
) -> Compilation:
    """The steps that need a tokenizer, by a recogniser's engine; as ``Compiler.compile``. Nothing
    is kept between runs without a ``cache``. ``shared`` goes before ``tables`` and ``cache``."""
    from .machine.file_size import check_size, counts, with_room_for_header
    from .tokenizers import Tokenizer

    wanted = with_changes(options, changes)
    is_words = not isinstance(tokenizer, Tokenizer)
    if is_words and (recogniser.choice.engine == NETWORK or counts(recogniser)):
        recogniser = copied(recogniser, wanted)
    choice = tokenization_of(recogniser.grammar, recogniser.choice, tokenizer, wanted)
    wanted = wanted.holding or wanted if recogniser.grammar.marks_equal else wanted
    if choice.is_canonical and isinstance(recogniser, MaximalMunchGrammar):
        from .machine.over_bytes import tokenization_over_bytes

        choice = tokenization_over_bytes(recogniser, choice, wanted)
    shared = shared or SharedTables(tokenizer, cache, tables)
    instead = "--tokenization any" if choice.is_canonical and not is_words else ""
    with in_force(wanted.limits), blaming(_largest_rule(recogniser), instead=instead):
        tables = shared.canonical if choice.is_canonical else None
        roomy = with_room_for_header(recogniser, wanted)
        built = _by_engine(recogniser, tokenizer, roomy, choice, progress, tables, shared.tokens)
        check_size(built.artifact, wanted.max_artifact_bytes)
    recogniser, grammar = built.automaton, built.automaton.grammar
    found = (*notes_of(recogniser, wanted), *of_tokenizer(grammar, tokenizer, wanted), *built.notes)
    found += tuple(without_effect(recogniser, built.artifact.manifest.kind, built.method, wanted))
    # A tokenizer's name is a path, and files are the same wherever they are made.
    notes = tuple(note.replace(f"{visible(tokenizer.name)}: ", "") for note in found)
    findings = (*grammar.notes, *added_tokens_as_text(grammar, tokenizer, built.artifact))
    lines = (each.in_a_line(grammar.source) for each in findings)
    artifact = built.artifact.noted((*notes, *lines)).sharing(shared.tokens.made_trie)
    return replace(built, notes=notes, findings=findings, artifact=artifact)


def copied(found: Recogniser, options: CompileOptions, *, may_count: bool = False) -> Recogniser:
    """What recognises the same texts, all orders and copies written out. Raises ``LimitError``."""
    choice = copying(found.choice, found.grammar, options, may_count=may_count)
    return compile_texts(found.grammar, choice, options)


def _largest_rule(found: Recogniser) -> Iterator[str]:
    """The rule after most states of a DFA, else the one that members begin with."""
    if isinstance(found, Automaton) and found.operation is None:
        behind = Counter(origin for origins in found.dfa.origins for origin in origins)
        yield from (found.rules[origin] for origin, _ in behind.most_common(1))
    else:
        yield found.grammar.start


def _by_engine(
    recogniser: Recogniser,
    tokenizer: AnyTokenizer,
    wanted: CompileOptions,
    choice: TokenizationChoice,
    progress: Progress,
    tables: "TokenizerTables | None",
    tokens: "VocabularyTables",
) -> Compilation:
    """The artifact, and the notes of its making. ``tables``: there where masks are canonical."""
    from .tokenizers import Tokenizer

    if not isinstance(tokenizer, Tokenizer):
        assert isinstance(recogniser, Automaton)
        return _for_wordpiece(recogniser, request_of(tokenizer, wanted, tokens))
    request = request_of(tokenizer, wanted, tokens)
    if isinstance(recogniser, MaximalMunchGrammar):
        if choice.is_canonical:
            from .machine.over_bytes import parser_over_bytes

            parser, spelled = parser_over_bytes(recogniser, request)
            built = _of_spelled(parser, request, choice, tables, progress)
            recogniser = replace(recogniser, choice=parser.choice)
            return replace(built, automaton=recogniser, notes=(*spelled, *built.notes))
        return _over_lexemes(recogniser, request, choice, progress)
    if isinstance(recogniser, Parser):
        is_soon = recogniser.choice.is_soon and choice.is_canonical
        try:
            built = _of_nesting(recogniser, request, choice, tables, progress)
            if not is_soon or built.artifact.manifest.tokenization == CANONICAL:
                return built
        except TokenizerError:
            if not is_soon:
                raise
        # A DFA has canonical masks beside any tokenizer.
        recogniser = copied(recogniser, wanted, may_count=True)
        assert isinstance(recogniser, Automaton)
    if recogniser.operation is not None:
        parser = of_operation(recogniser, recogniser.operation, request.limits)
        built = _of_nesting(parser, request, choice, tables, progress)
        return replace(built, automaton=recogniser)
    if choice.is_canonical:
        assert tables is not None
        try:
            return _of_canonical_tokens(recogniser, request, tables, progress)
        except (TokenizerError, LimitError) as error:
            is_measured = isinstance(error, LimitError) and error.is_measured
            if is_measured or wanted.method != AUTO:
                raise
            choice = without_canonical(error, wanted)
    return _of_any_tokens(recogniser, request, choice)


# --- the steps that need a tokenizer, engine by engine


def _of_any_tokens(
    automaton: Automaton, request: ArtifactRequest["Tokenizer"], choice: TokenizationChoice
) -> Compilation:
    """A regular grammar and all token sequences that spell a member: a byte DFA and its rows."""
    from .machine.dfa_sections import assemble, encode, size_of
    from .machine.mask_rows import precompute
    from .token_ids import columns_of

    columns = columns_of(automaton, request)
    sections = encode(columns, request)
    masks = precompute(columns, request, size_of(sections))
    sections |= masks.sections
    artifact = assemble(automaton, columns, sections, masks.counts, request, ANY)
    missing = of_masks(0, is_complete=masks.is_complete)
    notes = (*choice.notes, *columns.notes, *masks.notes, *missing)
    return Compilation(automaton, None, artifact, notes, weakened=choice.note)


def _of_canonical_tokens(
    automaton: Automaton,
    request: ArtifactRequest["Tokenizer"],
    tables: "TokenizerTables",
    progress: Progress,
) -> Compilation:
    """A regular grammar and its canonical token sequences: a DFA over tokens and its rows, or the
    rows of the byte DFA beside the tokenizer's automata."""
    from .machine.dfa_sections import assemble, encode_merged, size_of
    from .machine.mask_rows import precompute_tokens
    from .merge.merged import merge
    from .token_ids import columns_of

    columns, grammar = columns_of(automaton, request), automaton.grammar
    merged = merge(grammar, columns, automaton.rules, request, tables, progress)
    choice, found = merged.choice, merged.automaton
    notes = (*columns.notes, *merged.notes)
    if found is None:
        artifact, why = _of_byte_dfa(automaton, merged, request, tables, progress)
    else:
        sections = encode_merged(merged.columns, found, request)
        masks = precompute_tokens(found, request, size_of(sections))
        sections |= masks.sections
        counts, why = masks.counts, of_masks(0, is_complete=masks.is_complete)
        given = merged.columns, sections, counts, request, CANONICAL
        artifact = assemble(automaton, *given, found)
    return Compilation(automaton, found, artifact, (*notes, *why), choice.method, choice.reason)


def _of_byte_dfa(
    automaton: Automaton,
    merged: "Merged",
    request: ArtifactRequest["Tokenizer"],
    tables: "TokenizerTables",
    progress: Progress,
) -> tuple[Artifact, tuple[str, ...]]:
    """The artifact whose masks are those of a network without calls, and notes."""
    from constrain.artifacts.kinds.without_calls import network_without_calls, with_rejecting_start

    from .canonical_network.sections import counts_of, merge, precompute
    from .machine.dfa_sections import assemble, encode, size_of

    columns = merged.columns
    network = network_without_calls(columns.dfa.tables(columns.classes), automaton.grammar.start)
    beside = merge(
        automaton.grammar,
        with_rejecting_start(network),
        columns.classes,
        request,
        tables,
        progress,
        is_normal=merged.is_normal,
    )
    sections = encode(columns, request) | beside.sections
    rows = precompute(beside, size_of(sections))
    counts = counts_of(rows)
    artifact = assemble(automaton, columns, sections | rows.arrays, counts, request, CANONICAL)
    return artifact, of_masks(counts.get("rows", 0), is_complete=rows.is_complete)


def _of_nesting(
    parser: Parser,
    request: ArtifactRequest["Tokenizer"],
    choice: TokenizationChoice,
    tables: "TokenizerTables | None",
    progress: Progress,
) -> Compilation:
    """A grammar that nests, and which of its token sequences masks can follow."""
    from .machine.spellable import spellable, with_tokens

    if parser.lazily is None:
        parser = with_tokens(parser, request)
    parser, notes = spellable(parser, request, canonical=choice.is_canonical)
    built = _of_spelled(parser, request, choice, tables, progress)
    return replace(built, notes=(*notes, *built.notes))


def _of_spelled(
    parser: Parser,
    request: ArtifactRequest["Tokenizer"],
    choice: TokenizationChoice,
    tables: "TokenizerTables | None",
    progress: Progress,
) -> Compilation:
    from .machine.when_met import with_wanted_states
    from .merge.joint_functions import is_joint

    if choice.is_canonical and parser.choice.copied_whole:
        assert tables is not None
        if not is_joint(tables.pretokenizer):
            # Beside so many states of a tokenizer those of one automaton are too many.
            apart = replace(parser.choice, copied_whole=0)
            parser = parser_of(parser.grammar, apart, parser.limits)
    parser = with_wanted_states(parser, request.options, canonical=choice.is_canonical)
    if choice.is_canonical:
        from constrain.artifacts.network.sets import UnsettledError

        from .canonical_network.sections import check_beginnings, merge
        from .canonical_network.settled_counts import check_settled
        from .machine.file_size import counts
        from .token_ids import token_ids

        assert parser.network is not None and tables is not None
        try:
            check_beginnings(parser.network, request, tables.pretokenizer)
            terminals = token_ids(parser.grammar, request.tokenizer, request.eos, request.limits)
            merged = merge(parser.grammar, parser.network, terminals, request, tables, progress)
            check_settled(merged.network, parser.network, request.limits, merged.effort)
            return _of_canonical_network(parser, request, merged)
        except UnsettledError:
            return _in_all_orders(parser, request, tables, progress)
        except (CheckError, TokenizerError) as error:
            choice = without_canonical(error, request.options)
        except LimitError as error:
            is_of_first_mask = error.limit == "work"
            if not (is_of_first_mask or (counts(parser) and not error.is_measured)):
                raise
            choice = without_canonical(error, request.options)
            if is_of_first_mask:
                # What is searched for too long is not searched again.
                request = replace(request, options=replace(request.options, prewarm=0))
        return _of_nesting(parser, request, choice, tables, progress)
    return _of_network(parser, request, choice, progress)


def _of_canonical_network(
    parser: Parser, request: ArtifactRequest["Tokenizer"], merged: "CanonicalTables"
) -> Compilation:
    """The canonical token sequences of a network: rows of all its stacks."""
    from .canonical_network.sections import counts_of, precompute
    from .machine.dfa_sections import size_of
    from .machine.parser_sections import assemble, encode

    assert parser.network is not None
    sections = encode(parser, merged.terminals, request) | merged.sections
    rows = precompute(merged, size_of(sections))
    sections |= rows.arrays
    found = counts_of(rows)
    artifact = assemble(parser, sections, found, request, CANONICAL)
    why = of_masks(found.get("rows", 0), is_complete=rows.is_complete)
    return Compilation(parser, None, artifact, (*merged.notes, *why))


def _in_all_orders(
    parser: Parser,
    request: ArtifactRequest["Tokenizer"],
    tables: "TokenizerTables",
    progress: Progress,
) -> Compilation:
    """The same members with all orders written out, if that is not too much."""
    options = request.options
    try:
        written = copied(parser, options, may_count=True)
        if isinstance(written, Automaton):
            return _of_canonical_tokens(written, request, tables, progress)
        assert isinstance(written, Parser)
        choice = tokenization_of(written.grammar, written.choice, request.tokenizer, options)
        return _of_nesting(written, request, choice, tables, progress)
    except LimitError as error:
        if error.is_measured:
            raise
        return _of_nesting(parser, request, without_canonical(error, options), None, progress)


def _of_network(
    parser: Parser,
    request: ArtifactRequest["Tokenizer"],
    choice: TokenizationChoice,
    progress: Progress,
) -> Compilation:
    """All token sequences that spell a member: positions, a network's summaries, or productions."""
    from .machine.dfa_sections import size_of
    from .machine.mask_rows import for_lazy_masks
    from .machine.parser_sections import assemble, encode, with_first_row
    from .token_ids import token_ids

    # Symbols of terminals whose states are made while decoding name no tokens.
    named = parser.grammar if parser.lazily is None else replace(parser.grammar, tokens=())
    terminals = token_ids(named, request.tokenizer, request.eos, request.limits)
    sections, counts = encode(parser, terminals, request), dict[str, int]()
    notes, is_lazy = [*choice.notes], True
    if parser.met is None and parser.network is not None:
        from .network.precompute import precompute

        masks = precompute(parser.network, request, size_of(sections), progress)
        sections, counts = sections | masks.arrays(), masks.counts
        notes += of_masks(counts["rows"], is_complete=masks.is_complete)
        is_lazy = not masks.is_complete or not len(masks.summaries.keys)
    if is_lazy:
        sections |= for_lazy_masks(size_of(sections), request)
    artifact = assemble(parser, sections, counts, request, ANY)
    if is_lazy:
        artifact = with_first_row(artifact, request)
    if parser.met is not None and request.options.prewarm != 0:
        from .machine.precompute import with_rows

        if parser.lazily is None:
            artifact = with_rows(artifact, request, size_of(artifact.arrays), progress)
        if parser.lazily is None or parser.choice.is_lazy:
            notes += of_masks(artifact.manifest.counts.get("rows", 0), is_complete=False)
    return Compilation(parser, None, artifact, tuple(notes), weakened=choice.note)


def _over_lexemes(
    parser: MaximalMunchGrammar,
    request: ArtifactRequest["Tokenizer"],
    choice: TokenizationChoice,
    progress: Progress,
) -> Compilation:
    """A grammar read by maximal munch, and all token sequences that spell a member."""
    from .machine.dfa_sections import size_of
    from .machine.maximal_munch_sections import assemble, encode
    from .machine.spellable import spellable
    from .maximal_munch.emptiness import is_surely_empty
    from .maximal_munch.precompute import precompute_within
    from .maximal_munch.to_dfa import text_machine
    from .network.minimal_network import minimal_network

    parser, spelled = spellable(parser, request)
    if request.options.prewarm != 0:
        network = minimal_network(parser.tables.network, request.limits)
        parser = replace(parser, tables=replace(parser.tables, network=network))
    effort = Effort(request.limits, parser.tables.network.names[:1])
    if is_surely_empty(text_machine(parser.tables), effort):
        raise CheckError(parser.grammar.source, [Diagnostic(WITHOUT_MEMBER)])
    sections = encode(parser, request)
    masks = precompute_within(parser.tables, request, size_of(sections), progress)
    artifact = assemble(parser, sections, masks, request)
    is_all = request.options.prewarm == 0 or masks.reached.complete
    rows = artifact.manifest.counts["rows"]
    notes = (*spelled, *choice.notes, DEAD_ENDS, *of_masks(rows, is_complete=is_all))
    return Compilation(parser, None, artifact, notes, closure=masks.reached, weakened=choice.note)


def _for_wordpiece(
    automaton: Automaton, request: ArtifactRequest["WordPieceTokenizer"]
) -> Compilation:
    """A regular grammar for WordPiece: the words of its texts, and the tokens of each word."""
    from .machine.wordpiece_sections import assemble, encode
    from .wordpiece.tokenizer_dfa import canonical_words

    limits, keeps = request.limits, bool(request.options.keep_unknown)
    words = canonical_words(
        automaton.dfa, request.tokenizer, request.vocab_size, limits, keep_unknown=keeps
    )
    if words.is_empty:
        message = "the tokenizer can spell no member: each has an unknown word or an added token"
        raise CheckError(automaton.grammar.source, [Diagnostic(message)])
    sections = encode(automaton, words, request)
    artifact = assemble(automaton, words, sections, request)
    return Compilation(automaton, words, artifact, words.notes)
