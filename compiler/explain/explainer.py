"""What says the verdict on texts: made once of a grammar or an artifact, by whatever engine it has.

explainer = explainer_of_grammar(text, options)
explainer.verdict(b"2024-13")          as often as you like
explainer.repair(b"2024-13")           the nearest repair, which takes longer

The engine's own machine says where a text stops and which bytes could come; which of the author's
terminals and rules these belong to is said by Earley's recogniser of the grammar as it is written.
"""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from functools import cache, partial

from constrain.artifacts.artifact import Artifact
from constrain.artifacts.container.manifest import MAXIMAL_MUNCH
from constrain.artifacts.earley.recogniser import Earley
from constrain.artifacts.errors import ArtifactError, ConstrainError
from constrain.artifacts.kinds.maximal_munch import MaximalMunchRuntime
from constrain.artifacts.kinds.met_states import MARKS, MetStatesRuntime
from constrain.artifacts.kinds.network import NetworkGrammar
from constrain.artifacts.kinds.parser import NestingGrammar, has_productions
from constrain.artifacts.network.configurations import Texts
from constrain.artifacts.network.counted_stacks import network_over
from constrain.artifacts.network.tables import NetworkTables

from ..automata.dump import ids_text, terminal_names
from ..diagnostics import GrammarError, LimitError
from ..dialects import JSON_SCHEMA, TOOLS
from ..frontend import Automaton, MaximalMunchGrammar, Parser, Recogniser, read_checked
from ..grammar.tree import Grammar
from ..limits import Interrupted, Limits
from ..maximal_munch.to_dfa import text_machine
from ..network.counter_tables import MANY_COPIES, copied_states
from ..network.tree_counts import repeats
from ..options import ANY, AUTO, CompileOptions, options_of
from ..pipeline import build_engine
from .authored import authored
from .calling import explain_calling
from .earley import explain_parser
from .json_schema import explain_instance
from .machines import (
    EarleyMachine,
    NetworkMachine,
    TextMachine,
    machine_in,
    machine_of,
)
from .maximal_munch import explain_maximal_munch
from .network import explain_network
from .repairs import Repair, nearest_repair
from .report import Status, Verdict, explain
from .sentences import in_words

# In bytes: longer texts are not followed a second time, for the rules around a place.
_LONGEST_FOLLOWED = 1 << 19

# Of a schema's options, the order of keys.
_ANY_ORDER = "any"

_Explain = Callable[[bytes], Verdict]


class ExplainError(ConstrainError):
    """An artifact in which nothing is left that says why a text is refused."""


@dataclass(frozen=True, slots=True, eq=False)
class Explainer:
    """``verdict``: that on a text. ``recogniser``: what gives it, tables where it is a network
    that counts. ``machine``: what reads texts, made when it is first needed. ``running``: a block
    in which the clock of what is made runs."""

    verdict: _Explain
    recogniser: Recogniser | NetworkTables | Artifact
    machine: Callable[[], TextMachine]
    running: Callable[[], AbstractContextManager[None]] = nullcontext

    def repair(self, text: bytes) -> Repair | None:
        """The nearest repair of a text; None of a member, and where none was found. The time that
        it takes beside reading the text is bounded."""
        with self.running():
            return nearest_repair(self.machine(), text)


@dataclass(frozen=True, slots=True, eq=False)
class _Written:
    """A grammar as its author wrote it. ``is_large``: in any case loosened."""

    grammar: Grammar
    limits: Limits
    is_large: bool = False

    def recogniser(self) -> "Callable[[], Earley] | None":
        """What gives Earley's recogniser of it, or of what it is loosened to; None where even that
        is too large."""
        return (None if self.is_large else self.exact()) or self._made(loosens=True)

    def exact(self) -> "Callable[[], Earley] | None":
        """What gives that of its members alone; None where it is too large."""
        return self._made(loosens=False)

    def _made(self, *, loosens: bool) -> "Callable[[], Earley] | None":
        try:
            return authored(self.grammar, self.limits, loosens=loosens)
        except (GrammarError, LimitError):
            return None

    def followed(self, base: _Explain, machine: Callable[[], TextMachine]) -> _Explain:
        """The verdict by the author's rules, where ``machine`` has the last word on what is read;
        ``base``: where no recogniser holds the rules."""
        recogniser = cache(self.recogniser)
        names = [token.text for token in self.grammar.tokens]
        is_schema = self.grammar.source.dialect == JSON_SCHEMA

        def verdict(text: bytes) -> Verdict:
            begin = recogniser()
            if begin is None:
                return base(text)
            reading = machine()
            follows = _follows(text, reading)
            if is_schema:
                return explain_instance(begin(), text, reading, follows=follows)
            return explain_parser(begin(), text, names, reading, follows=follows)

        return verdict

    def around(self, base: _Explain, machine: Callable[[], TextMachine]) -> _Explain:
        """A verdict with the author's rules and terminals. ``base``: without them."""
        recogniser = cache(self.recogniser)
        names = [token.text for token in self.grammar.tokens]
        is_schema = self.grammar.source.dialect == JSON_SCHEMA

        def verdict(text: bytes) -> Verdict:
            found = base(text)
            if found.status is Status.ACCEPTED or len(text) > _LONGEST_FOLLOWED:
                return found
            begin = recogniser()
            if begin is None:
                return found
            if is_schema:
                return explain_instance(begin(), text, machine())
            more = explain_parser(begin(), text, names, machine())
            if more.offset != found.offset or not (more.terminals or more.begun):
                return found
            path = more.path or found.path
            return replace(found, path=path, terminals=more.terminals, begun=more.begun)

        return verdict


def explainer_of_grammar(text: str, options: CompileOptions, name: str = "<grammar>") -> Explainer:
    """Of a grammar's text. Raises ``GrammarError`` and ``LimitError``, also of what is made when a
    text is first explained: it is all one compilation by its limits, whose clock stands still
    between texts."""
    clock = Interrupted(options.limits)
    with clock.running():
        found = _explainer(text, replace(options, limits=clock.limits), name)

    by_order = _by_order(
        found.verdict,
        lambda: _in_any_order(text, replace(options, limits=clock.limits), name),
        options.dialect,
    )
    worded = in_words(by_order, text, options)

    def verdict(text: bytes) -> Verdict:
        with clock.running():
            return worded(text)

    def machine() -> TextMachine:
        with clock.running():
            return found.machine()

    return Explainer(verdict, found.recogniser, machine, clock.running)


def _explainer(text: str, options: CompileOptions, name: str) -> Explainer:
    wanted = replace(options, parser="earley")
    if wanted.schema is not None and wanted.schema.order == _ANY_ORDER:
        # Sets are held by networks, under any tokenization, of which a text has none.
        wanted = replace(wanted, parser="network", tokenization=ANY)
    counted = counted_network(text, wanted, name)
    if counted is not None:
        tables = counted
        written = _Written(read_checked(text, wanted, name), wanted.limits, is_large=True)
        by_threads = cache(lambda: NetworkMachine(network_over(tables)))
        verdict = written.around(lambda given: explain_network(tables, given), by_threads)
        return Explainer(verdict, tables, by_threads)
    try:
        recogniser = build_engine(text, wanted, name=name)
    except LimitError as error:
        if error.is_measured or options.engine != AUTO:
            raise
        # With terminals whose states are made while texts are read.
        recogniser = build_engine(text, replace(options, tokenization=ANY), name=name)

    @cache
    def machine() -> TextMachine:
        if isinstance(recogniser, Parser) and recogniser.network is None:
            over_bytes = replace(wanted, engine=AUTO, parser="network", tokenization=ANY)
            try:
                return machine_of(build_engine(text, over_bytes, name=name))
            except (GrammarError, LimitError):
                pass
        return machine_of(recogniser)

    if isinstance(recogniser, Parser) and recogniser.lazily is not None:
        written = _Written(read_checked(text, wanted, name), wanted.limits, is_large=True)
        verdict = written.around(_by_calls(machine, recogniser.grammar.start), machine)
        return Explainer(verdict, recogniser, machine)
    verdict = _by_recogniser(recogniser, wanted.limits, machine)
    if isinstance(recogniser, Automaton) and recogniser.choice.semantics == MAXIMAL_MUNCH:
        munching = replace(wanted, engine="greedy")
        verdict = _with_lexemes(verdict, lambda: build_engine(text, munching, name=name))
    return Explainer(verdict, recogniser, machine)


def _by_order(
    base: _Explain, in_any_order: Callable[[], TextMachine | None], dialect: str | None
) -> _Explain:
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


def _in_any_order(text: str, options: CompileOptions, name: str) -> TextMachine | None:
    """What reads the instances of a schema with their keys in any order; None where the options
    have it already, or where that is too large."""
    schema = options.of_schemas
    if schema.order == _ANY_ORDER:
        return None
    wanted = replace(options, schema=replace(schema, order=_ANY_ORDER), engine=AUTO)
    try:
        over_bytes = replace(wanted, parser="network", tokenization=ANY)
        return machine_of(build_engine(text, over_bytes, name=name))
    except (GrammarError, LimitError):
        return None


def explainer_of_artifact(artifact: Artifact) -> Explainer:
    """Of a compiled grammar. Raises ``ExplainError`` where its text would be needed and was left
    out."""
    machine = cache(lambda: machine_in(artifact))
    manifest, verdict = artifact.manifest, _by_artifact(artifact, machine)
    source = manifest.source
    if source is not None:
        options = options_of(manifest)
        if options.dialect == TOOLS:
            options = replace(options, start=None)  # Which the manifest names, and no text does.
        if MARKS not in artifact.arrays:
            in_any_order = partial(_in_any_order, source, options, "<grammar>")
            verdict = _by_order(verdict, in_any_order, options.dialect)
        verdict = in_words(verdict, source, options)
    return Explainer(verdict, artifact, machine)


def counted_network(
    text: str, options: CompileOptions, name: str = "<grammar>", most: int = MANY_COPIES
) -> NetworkTables | None:
    """The network of a grammar whose repetitions are counted, if their copies would have more than
    ``most`` states: by default so many that nothing is made of them."""
    if options.max_depth is not None or not repeats(read_checked(text, options, name)):
        return None
    try:
        found = build_engine(text, replace(options, parser="network", tokenization=ANY), name=name)
    except (GrammarError, LimitError):
        # Said by what is tried instead.
        return None
    network = found.network if isinstance(found, Parser) else None
    return network if network is not None and copied_states(network) > most else None


def _by_recogniser(
    recogniser: Recogniser, limits: Limits, machine: Callable[[], TextMachine]
) -> _Explain:
    """``machine``: what has the last word on what is read."""
    if isinstance(recogniser, MaximalMunchGrammar):
        munching = text_machine(recogniser.tables)
        return lambda text: explain_maximal_munch(munching, text, recogniser)
    if isinstance(recogniser, Parser):
        return _by_parser(recogniser, limits, machine)
    return _by_automaton(recogniser, limits, machine)


def _by_parser(parser: Parser, limits: Limits, machine: Callable[[], TextMachine]) -> _Explain:
    names = parser.token_names

    def decides() -> TextMachine | None:
        found = machine()
        return None if isinstance(found, EarleyMachine) else found

    if parser.grammar.source.dialect == JSON_SCHEMA:
        return lambda text: explain_instance(
            parser.recogniser(), text, reading := decides(), follows=_follows(text, reading)
        )
    written = _Written(parser.grammar, limits)
    exact, recogniser = cache(written.exact), cache(written.recogniser)

    def verdict(text: bytes) -> Verdict:
        reading = decides()
        begin = exact() if reading is None else recogniser()
        earley = (begin or parser.recogniser)()
        return explain_parser(earley, text, names, reading, follows=_follows(text, reading))

    return verdict


def _follows(text: bytes, machine: TextMachine | None) -> bool:
    """Whether a text is followed by Earley's recogniser, too, beside a machine."""
    return machine is None or len(text) <= _LONGEST_FOLLOWED


def _by_calls(machine: Callable[[], TextMachine], start: str) -> _Explain:
    """By a network that calls lazy DFAs."""

    def verdict(text: bytes) -> Verdict:
        found = machine()
        assert isinstance(found, NetworkMachine)
        if not isinstance(found.network, Texts):
            return _by_items_alone(text)
        return explain_calling(found.network, text, start)

    return verdict


def _with_lexemes(base: _Explain, build: Callable[[], Recogniser]) -> _Explain:
    """The verdict of a DFA with the lexemes and rules of the grammar that it was made of."""

    @cache
    def munching() -> _Explain | None:
        try:
            found = build()
        except (GrammarError, LimitError):
            return None
        assert isinstance(found, MaximalMunchGrammar)
        machine = text_machine(found.tables)
        return lambda text: explain_maximal_munch(machine, text, found)

    def verdict(text: bytes) -> Verdict:
        found, by_lexemes = base(text), munching()
        if found.status is Status.ACCEPTED or by_lexemes is None:
            return found
        more = by_lexemes(text)
        if more.offset != found.offset:
            return found
        return replace(found, path=more.path, terminals=more.terminals, begun=more.begun)

    return verdict


def _by_automaton(
    automaton: Automaton, limits: Limits, machine: Callable[[], TextMachine]
) -> _Explain:
    if automaton.choice.semantics == MAXIMAL_MUNCH:
        return _by_states(automaton)
    written = _Written(automaton.grammar, limits, is_large=automaton.operation is not None)
    if automaton.operation is not None:
        return written.around(_by_calls(machine, automaton.grammar.start), machine)
    return written.around(_by_states(automaton), machine)


def _by_states(automaton: Automaton) -> _Explain:
    origins, of_state = automaton.origins, automaton.dfa.origins
    dfa, names = automaton.dfa.tables(), automaton.token_names

    def rules_of(state: int) -> list[str]:
        return [origins[number][0] for number in sorted(of_state[state])]

    return lambda text: explain(dfa, rules_of, text, names)


def _by_artifact(artifact: Artifact, machine: Callable[[], TextMachine]) -> _Explain:
    runtime = artifact.runtime
    if isinstance(runtime, MaximalMunchRuntime):
        munched = _munched(artifact)
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
        return _with_lexemes(base, lambda: _munching(artifact))
    is_followed = isinstance(runtime, MetStatesRuntime) and not runtime.grows
    if isinstance(runtime, MetStatesRuntime):
        is_large = runtime.grows or runtime.stored.fronts.copies > MANY_COPIES
    written = _Written(grammar, Limits(), is_large)
    return (written.followed if is_followed else written.around)(base, machine)


def _by_runtime(
    artifact: Artifact, network: NetworkTables | None, machine: Callable[[], TextMachine]
) -> _Explain:
    """The verdict without the grammar's text."""
    runtime = artifact.runtime

    def of_long(text: bytes) -> TextMachine | None:
        """What reads a long text alone."""
        if len(text) <= _LONGEST_FOLLOWED or not isinstance(runtime, NetworkGrammar):
            return None
        return machine()

    has_others = artifact.is_regular or has_productions(artifact.manifest, artifact.arrays)
    if network is not None and not has_others:
        return lambda text: explain_network(network, text)
    if isinstance(runtime, NestingGrammar) and not artifact.is_regular:
        if artifact.manifest.dialect == JSON_SCHEMA:
            return lambda text: explain_instance(
                runtime.recogniser(), text, alone := of_long(text), follows=alone is None
            )
        ids = [ids_text(ids.tolist()) for ids in runtime.named]
        return lambda text: explain_parser(
            runtime.recogniser(), text, ids, alone := of_long(text), follows=alone is None
        )
    if isinstance(runtime, MetStatesRuntime):
        if runtime.marks_equal:
            return _by_items_alone
        if runtime.grows:
            return _by_calls(machine, artifact.manifest.start)
        names = [ids_text(ids.tolist()) for ids in runtime.named]
        return lambda text: explain_calling(runtime.plain_texts(), text, tokens=names)
    dfa = artifact.byte_dfa
    names = terminal_names(dfa)

    def rules_of(state: int) -> list[str]:
        return [origin.rule for origin in artifact.origins_of(state)]

    return lambda text: explain(dfa, rules_of, text, names)


def _by_items_alone(_: bytes) -> Verdict:
    """Where items must differ, and the grammar's text was left out or is too large."""
    raise ExplainError("which items are equal is not explained without the grammar's text")


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


def _munched(artifact: Artifact) -> MaximalMunchGrammar | None:
    """The grammar of an artifact of maximal munch; None if its text was stripped."""
    return None if artifact.manifest.source is None else _munching(artifact)


def _munching(artifact: Artifact) -> MaximalMunchGrammar:
    m = artifact.manifest
    assert m.source is not None
    found = build_engine(m.source, replace(options_of(m), engine="greedy"))
    assert isinstance(found, MaximalMunchGrammar)
    return found
