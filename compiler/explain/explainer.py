"""What says the verdict on texts: made once of a grammar or an artifact, by whatever engine it has.

explainer = explainer_of_grammar(text, options)
explainer.verdict(b"2024-13")          as often as you like
explainer.repair(b"2024-13")           the nearest repair, which takes longer

with_tokens(text, options, tokenizer)  the same of texts in which tokens are read
"""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from functools import cache, partial

from constrain.artifacts.artifact import Artifact
from constrain.artifacts.container.manifest import EXACT, MAXIMAL_MUNCH
from constrain.artifacts.errors import ArtifactError
from constrain.artifacts.kinds.maximal_munch import MaximalMunchRuntime
from constrain.artifacts.kinds.met_states import MARKS, MetStatesRuntime
from constrain.artifacts.kinds.network import NetworkGrammar
from constrain.artifacts.kinds.parser import NestingGrammar, has_productions, named_in
from constrain.artifacts.network.counted_stacks import network_over
from constrain.artifacts.network.tables import NetworkTables

from ..automata.dump import ids_text
from ..choose import engine_of
from ..diagnostics import GrammarError, LimitError
from ..dialects import JSON_SCHEMA, TOOLS
from ..frontend import (
    Automaton,
    MaximalMunchGrammar,
    Parser,
    Recogniser,
    compile_texts,
    read_checked,
)
from ..grammar.added_text import NAMES
from ..grammar.tree import Grammar
from ..limits import Interrupted, Limits, in_force
from ..network.counter_tables import MANY_COPIES, copied_states
from ..network.tree_counts import repeats
from ..options import ANY, AUTO, AnyTokenizer, CompileOptions, options_of
from ..pipeline import build_engine
from ..schema.notes import needs_holding
from .engines import (
    LONGEST_FOLLOWED,
    Explain,
    ExplainError,
    Written,
    by_calls,
    by_items,
    by_items_alone,
    by_recogniser,
    with_lexemes,
)
from .machines import DfaMachine, NetworkMachine, TextMachine, machine_in, machine_of
from .maximal_munch import explain_maximal_munch
from .network import explain_network
from .repairs import Repair, nearest_repair
from .report import Status, Verdict, explain, verdict_of
from .sentences import words_for
from .token_marks import Marked, TokenMarks, stored_tokenizer

# Of a schema's options, the order of keys.
_ANY_ORDER = "any"


@dataclass(frozen=True, slots=True, eq=False)
class Explainer:
    """``verdict``: that on a text. ``recogniser``: what gives it, tables where it is a network
    that counts. ``machine``: what reads texts, made when it is first needed. ``running``: a block
    in which the clock of what is made runs."""

    verdict: Explain
    recogniser: Recogniser | NetworkTables | Artifact
    machine: Callable[[], TextMachine]
    running: Callable[[], AbstractContextManager[None]] = nullcontext

    def repair(self, text: bytes) -> Repair | None:
        """The nearest repair of a text; None of a member, and where none was found. The time that
        it takes beside reading the text is bounded."""
        with self.running():
            return nearest_repair(self.machine(), text)


def explainer_of_grammar(text: str, options: CompileOptions, name: str = "<grammar>") -> Explainer:
    """Of a grammar's text. Raises ``GrammarError`` and ``LimitError``, also of what is made when a
    text is first explained: it is all one compilation by its limits, whose clock stands still
    between texts."""
    explainer, words = _timed(_Text(text, name), options), words_for(text, options)

    def verdict(given: bytes) -> Verdict:
        found = explainer.verdict(given)
        with explainer.running():
            return words(found, given)

    return replace(explainer, verdict=verdict)


@dataclass(frozen=True, slots=True, eq=False)
class TokenExplainer:
    """Says the verdict on texts in which tokens are read: ``given`` reads a text, or the ids of
    tokens. ``marked``: of the grammar with marks."""

    marked: Explainer
    marks: TokenMarks
    words: Callable[[Verdict, bytes], Verdict]

    def given(self, text: bytes | Sequence[int]) -> Marked:
        """A text in which the names of added tokens are these, or of ids. Raises
        ``TokenMarksError``."""
        machine = self.marked.machine()
        if isinstance(text, bytes):
            return self.marks.of_text(text, machine)
        return self.marks.of_ids(text, machine)

    def verdict(self, given: Marked) -> Verdict:
        """That on a text, whose places are those of ``given.text``."""
        found = self.marks.verdict(self.marked.verdict(given.marked), given)
        with self.marked.running():
            return self.words(found, given.text)

    def repair(self, given: Marked) -> Repair | None:
        """As that of an ``Explainer``."""
        found = self.marked.repair(given.marked)
        return None if found is None else self.marks.repair(found, given)


def with_tokens(
    text: str, options: CompileOptions, tokenizer: AnyTokenizer, name: str = "<grammar>"
) -> TokenExplainer:
    """Of a grammar's text, whose token terminals are tokens of ``tokenizer``. Raises as
    ``explainer_of_grammar``, and ``TokenMarksError``."""
    read = read_checked(text, options, name)
    marks = TokenMarks(read, tokenizer)
    wanted = replace(options, meaning=EXACT) if read.tokens else options
    return TokenExplainer(_timed(_Text(text, name, marks), wanted), marks, words_for(text, options))


def with_stored_tokens(artifact: Artifact) -> TokenExplainer | None:
    """Of an artifact, whose token terminals are read by the names that it keeps. None where its
    grammar was stripped or names no tokens, or where reading a text needs its encoding."""
    source, options = artifact.manifest.source, options_of(artifact.manifest)
    grammar = None if source is None else read_checked(source, options, "<grammar>")
    if source is None or grammar is None or not grammar.tokens:
        return None
    found = with_tokens(source, options, stored_tokenizer(artifact, grammar))
    return None if found.marks.names_texts else found


@dataclass(frozen=True, slots=True)
class _Text:
    """The text of a grammar. ``marks``: in the place of its tokens."""

    text: str
    name: str = "<grammar>"
    marks: TokenMarks | None = None

    def read(self, options: CompileOptions) -> Grammar:
        """Its tree, checked."""
        found = read_checked(self.text, options, self.name)
        return found if self.marks is None else self.marks.over(found)

    def build(self, options: CompileOptions) -> Recogniser:
        """What recognises its texts."""
        if self.marks is None:
            return build_engine(self.text, options, name=self.name)
        with in_force(options.limits):
            grammar = self.read(options)
            return compile_texts(grammar, engine_of(grammar, options), options)

    def over_bytes(self, options: CompileOptions) -> TextMachine | None:
        """A network's machine, of any token sequences; None where that is too large."""
        wanted = replace(options, engine=AUTO, parser="network", tokenization=ANY)
        try:
            return machine_of(self.build(wanted))
        except (GrammarError, LimitError):
            return None


def _timed(text: _Text, options: CompileOptions) -> Explainer:
    """All by one clock, which stands still between texts."""
    clock = Interrupted(options.limits)
    wanted = replace(options, limits=clock.limits)
    with clock.running():
        found = _explainer(text, wanted)
    by_order = _by_order(found.verdict, lambda: _in_any_order(text, wanted), options.dialect)
    timed = clock.running()
    return Explainer(timed(by_order), found.recogniser, timed(found.machine), clock.running)


def _explainer(text: _Text, options: CompileOptions) -> Explainer:
    try:
        return _explainer_with(text, options, replace(options, parser="earley"))
    except GrammarError as error:
        if options.holding is None or not needs_holding(error):
            raise
        return _explainer_with(text, options.holding, options.holding)


def _explainer_with(text: _Text, options: CompileOptions, wanted: CompileOptions) -> Explainer:
    if wanted.schema is not None and wanted.schema.order == _ANY_ORDER:
        # Sets are held by networks, under any tokenization, of which a text has none.
        wanted = replace(wanted, parser="network", tokenization=ANY)
    counted = _counted(text, wanted)
    if counted is not None:
        tables = counted
        written = Written(text.read(wanted), wanted.limits, is_large=True)
        by_threads = cache(lambda: NetworkMachine(network_over(tables)))
        verdict = written.around(lambda given: explain_network(by_threads(), given), by_threads)
        return Explainer(verdict, tables, by_threads)
    try:
        recogniser = text.build(wanted)
    except LimitError as error:
        if error.is_measured or options.engine != AUTO:
            raise
        # With terminals whose states are made while texts are read.
        recogniser = text.build(replace(options, tokenization=ANY))

    @cache
    def machine() -> TextMachine:
        is_slow = isinstance(recogniser, Parser) and recogniser.network is None
        return (text.over_bytes(wanted) if is_slow else None) or machine_of(recogniser)

    if isinstance(recogniser, Parser) and recogniser.lazily is not None:
        written = Written(text.read(wanted), wanted.limits, is_large=True)
        verdict = written.around(by_calls(machine, recogniser.grammar.start), machine)
        return Explainer(verdict, recogniser, machine)
    verdict = by_recogniser(recogniser, wanted.limits, machine)
    if isinstance(recogniser, Automaton) and recogniser.choice.semantics == MAXIMAL_MUNCH:
        munching = replace(wanted, engine="greedy")
        verdict = with_lexemes(verdict, lambda: text.build(munching))
    return Explainer(verdict, recogniser, machine)


def _by_order(
    base: Explain, in_any_order: Callable[[], TextMachine | None], dialect: str | None
) -> Explain:
    """A verdict that says whether an instance is refused for the order of its keys."""
    found = cache(in_any_order)
    if dialect not in (JSON_SCHEMA, TOOLS):
        return base

    def verdict(text: bytes) -> Verdict:
        said = base(text)
        if said.status is not Status.REJECTED:
            return said
        other = found()
        count = 0 if other is None else other.follow(other.start, text)[0]
        return replace(said, is_for_order=count > said.offset)

    return verdict


def _in_any_order(text: _Text, options: CompileOptions) -> TextMachine | None:
    """What reads the instances of a schema with their keys in any order; None where the options
    have it already, or where that is too large."""
    schema = options.of_schemas
    if schema.order == _ANY_ORDER:
        return None
    return text.over_bytes(replace(options, schema=replace(schema, order=_ANY_ORDER)))


def explainer_of_artifact(artifact: Artifact) -> Explainer:
    """Of a compiled grammar. Raises ``ExplainError`` where its text would be needed and was left
    out."""
    machine = cache(lambda: machine_in(artifact))
    manifest, verdict = artifact.manifest, _by_artifact(artifact, machine)
    source = manifest.source
    if source is not None:
        options = options_of(manifest)
        if MARKS not in artifact.arrays:
            in_any_order = partial(_in_any_order, _Text(source), options)
            verdict = _by_order(verdict, in_any_order, options.dialect)
        base, words = verdict, words_for(source, options)
        return Explainer(lambda text: words(base(text), text), artifact, machine)
    return Explainer(verdict, artifact, machine)


def counted_network(
    text: str, options: CompileOptions, name: str = "<grammar>", most: int = MANY_COPIES
) -> NetworkTables | None:
    """The network of a grammar whose repetitions are counted, if their copies would have more than
    ``most`` states: by default so many that nothing is made of them."""
    return _counted(_Text(text, name), options, most)


def _counted(text: _Text, options: CompileOptions, most: int = MANY_COPIES) -> NetworkTables | None:
    if options.max_depth is not None or not repeats(text.read(options)):
        return None
    try:
        found = text.build(replace(options, parser="network", tokenization=ANY))
    except (GrammarError, LimitError):
        # Said by what is tried instead.
        return None
    network = found.network if isinstance(found, Parser) else None
    return network if network is not None and copied_states(network) > most else None


def _by_artifact(artifact: Artifact, machine: Callable[[], TextMachine]) -> Explain:
    runtime = artifact.runtime
    if isinstance(runtime, MaximalMunchRuntime):
        # Nothing where the grammar's text was stripped.
        munched = None if artifact.manifest.source is None else _munching(artifact)
        return lambda text: explain_maximal_munch(runtime.machine().configurations, text, munched)
    network = runtime.network if isinstance(runtime, NetworkGrammar) else None
    is_large = False
    if network is not None and network.counters is not None:
        is_large = copied_states(network) > MANY_COPIES
        if artifact.manifest.source is None and not is_large:
            raise ExplainError(
                "an artifact whose repetitions are counted is explained by its grammar, whose text "
                "was stripped"
            )
    base = _by_runtime(artifact, network, machine)
    grammar = _grammar_of(artifact)
    if grammar is None:
        return base
    if artifact.manifest.meaning == MAXIMAL_MUNCH:
        return with_lexemes(base, lambda: _munching(artifact))
    is_followed = isinstance(runtime, MetStatesRuntime) and not runtime.grows
    if isinstance(runtime, MetStatesRuntime):
        is_large = runtime.grows or runtime.stored.fronts.copies > MANY_COPIES
    written = Written(grammar, Limits(), is_large)
    return (written.followed if is_followed else written.around)(base, machine)


def _by_runtime(
    artifact: Artifact, network: NetworkTables | None, machine: Callable[[], TextMachine]
) -> Explain:
    """The verdict without the grammar's text."""
    runtime, names = artifact.runtime, _names(artifact)

    def of_long(text: bytes) -> TextMachine | None:
        """What reads a long text alone."""
        if len(text) <= LONGEST_FOLLOWED or not isinstance(runtime, NetworkGrammar):
            return None
        return machine()

    has_others = artifact.is_regular or has_productions(artifact.manifest, artifact.arrays)
    if network is not None and not has_others:
        return lambda text: explain_network(NetworkMachine(network_over(network)), text)
    if isinstance(runtime, NestingGrammar) and not artifact.is_regular:
        is_schema = artifact.manifest.dialect == JSON_SCHEMA
        return lambda text: by_items(
            runtime.recogniser(), text, of_long(text), names, is_schema=is_schema
        )
    if isinstance(runtime, MetStatesRuntime):
        if runtime.marks_equal:
            return by_items_alone
        if runtime.grows:
            return by_calls(machine, artifact.manifest.start)
        return lambda text: verdict_of(NetworkMachine(runtime.plain_texts()), text, names)[0]
    reading = DfaMachine(artifact.byte_dfa)

    def rules_of(state: int) -> list[str]:
        return [origin.rule for origin in artifact.origins_of(state)]

    return lambda text: explain(reading, rules_of, text, names)


def _names(artifact: Artifact) -> list[str]:
    """What to call token terminals: one of a single token as grammars name it, where they can."""

    def named(ids: list[int]) -> str:
        name = artifact.vocabulary.token(ids[0]).decode("utf-8", "replace") if len(ids) == 1 else ""
        return name if NAMES["gbnf"].fullmatch(name) else ids_text(ids)

    return [named(ids.tolist()) for ids in named_in(artifact.manifest, artifact.arrays)]


def _grammar_of(artifact: Artifact) -> Grammar | None:
    """The grammar of an artifact; None if its text was stripped."""
    m = artifact.manifest
    if m.source is None:
        return None
    try:
        return read_checked(m.source, options_of(m), "<grammar>")
    except (GrammarError, ArtifactError, ValueError):
        # What it imports or refers to is not in the artifact.
        return None


def _munching(artifact: Artifact) -> MaximalMunchGrammar:
    m = artifact.manifest
    assert m.source is not None
    found = build_engine(m.source, replace(options_of(m), engine="greedy"))
    assert isinstance(found, MaximalMunchGrammar)
    return found
