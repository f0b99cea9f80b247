"""What says the verdict on texts: made once of a grammar or an artifact, by whatever engine it has.

explainer = explainer_of_grammar(text, options)
explainer.verdict(b"2024-13")          as often as you like
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

from constrain.artifacts.artifact import Artifact
from constrain.artifacts.errors import ConstrainError
from constrain.artifacts.kinds.counting_network import CountingRuntime
from constrain.artifacts.kinds.lazy_dfa import LazyDfaRuntime
from constrain.artifacts.kinds.lazy_network import CallingRuntime
from constrain.artifacts.kinds.maximal_munch import MaximalMunchRuntime
from constrain.artifacts.kinds.network import NetworkGrammar
from constrain.artifacts.kinds.parser import NestingGrammar
from constrain.artifacts.network.tables import NetworkTables

from ..automata.dump import ids_text, terminal_names
from ..diagnostics import GrammarError, LimitError
from ..dialects import JSON_SCHEMA
from ..frontend import Automaton, MaximalMunchGrammar, Parser, Recogniser, read_checked
from ..maximal_munch.to_dfa import text_machine
from ..network.counter_tables import copied_states
from ..network.tree_counts import repeats
from ..options import ANY, CompileOptions
from ..pipeline import build_engine
from .earley import explain_parser
from .json_schema import explain_instance
from .lazy_dfa import explain_calling, explain_lazy, reader_of
from .maximal_munch import explain_maximal_munch
from .network import explain_network
from .report import Verdict, explain

# States of a repetition's copies, from which on they are counted.
MANY_COPIES = 20_000

_Explain = Callable[[bytes], Verdict]


class ExplainError(ConstrainError):
    """An artifact in which nothing is left that says why a text is refused."""


@dataclass(frozen=True, slots=True, eq=False)
class Explainer:
    """``verdict``: that on a text. ``recogniser``: what gives it, tables where it is a network
    that counts."""

    verdict: _Explain
    recogniser: Recogniser | NetworkTables | Artifact


def explainer_of_grammar(text: str, options: CompileOptions, name: str = "<grammar>") -> Explainer:
    """Of a grammar's text. Raises ``GrammarError`` and ``LimitError``."""
    wanted = replace(options, parser="earley")
    if wanted.schema is not None and wanted.schema.order == "any":
        # Sets are held by networks, under any tokenization, of which a text has none.
        wanted = replace(wanted, parser="network", tokenization=ANY)
    counted = counted_network(text, wanted, name)
    if counted is not None:
        return Explainer(lambda given: explain_network(counted, given), counted)
    recogniser = build_engine(text, wanted, name=name)
    return Explainer(_by_recogniser(recogniser), recogniser)


def explainer_of_artifact(artifact: Artifact) -> Explainer:
    """Of a compiled grammar. Raises ``ExplainError`` where its text would be needed and was left
    out."""
    return Explainer(_by_artifact(artifact), artifact)


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


def _by_recogniser(recogniser: Recogniser, counted: NetworkTables | None = None) -> _Explain:
    """``counted``: the network of an artifact, which has the last word."""
    if isinstance(recogniser, MaximalMunchGrammar):
        machine = text_machine(recogniser.tables)
        return lambda text: explain_maximal_munch(machine, text, recogniser)
    if isinstance(recogniser, Parser):
        tables, names = counted or recogniser.network, recogniser.token_names
        if recogniser.grammar.source.dialect == JSON_SCHEMA:
            return lambda text: explain_instance(recogniser.recogniser(), text, tables)
        return lambda text: explain_parser(recogniser.recogniser(), text, names, tables)
    return _by_automaton(recogniser)


def _by_automaton(recogniser: Automaton) -> _Explain:
    if recogniser.operation is not None:
        reader, start = reader_of(recogniser.operation.conjunctions), recogniser.grammar.start
        return lambda text: explain_lazy(reader, text, start)
    origins, of_state = recogniser.origins, recogniser.dfa.origins
    dfa, names = recogniser.dfa.tables(), recogniser.token_names

    def rules_of(state: int) -> list[str]:
        return [origins[number][0] for number in sorted(of_state[state])]

    return lambda text: explain(dfa, rules_of, text, names)


def _by_artifact(artifact: Artifact) -> _Explain:
    runtime, start = artifact.runtime, artifact.manifest.start
    if isinstance(runtime, MaximalMunchRuntime):
        grammar = _munched(artifact)
        return lambda text: explain_maximal_munch(runtime.machine().configurations, text, grammar)
    network = runtime.network if isinstance(runtime, CountingRuntime | NetworkGrammar) else None
    if network is not None and network.counters is not None:
        if copied_states(network) > MANY_COPIES:
            return lambda text: explain_network(network, text)
        return _by_recogniser(_copied(artifact), network)
    if isinstance(runtime, NestingGrammar):
        if artifact.manifest.dialect == JSON_SCHEMA:
            return lambda text: explain_instance(runtime.recogniser(), text)
        ids = [ids_text(ids.tolist()) for ids in runtime.named]
        return lambda text: explain_parser(runtime.recogniser(), text, ids)
    if isinstance(runtime, CallingRuntime):
        return lambda text: explain_calling(runtime.network(), text, start)
    if isinstance(runtime, LazyDfaRuntime):
        return lambda text: explain_lazy(runtime.reader, text, start)
    dfa = artifact.byte_dfa
    names = terminal_names(dfa)

    def rules_of(state: int) -> list[str]:
        return [origin.rule for origin in artifact.origins_of(state)]

    return lambda text: explain(dfa, rules_of, text, names)


def _copied(artifact: Artifact) -> Recogniser:
    """The recogniser of an artifact's grammar whose repetitions are copies, which say where in them
    a text stops. Raises ``LimitError``."""
    m = artifact.manifest
    if m.source is None:
        raise ExplainError(
            "an artifact whose repetitions are counted is explained by its grammar, whose text was "
            "stripped"
        )
    return build_engine(
        m.source, dialect=m.dialect, start=m.start, meaning=m.meaning, parser="earley"
    )


def _munched(artifact: Artifact) -> MaximalMunchGrammar | None:
    """The grammar of an artifact of maximal munch; None if its text was stripped."""
    m = artifact.manifest
    if m.source is None:
        return None
    found = build_engine(
        m.source, dialect=m.dialect, start=m.start, meaning=m.meaning, engine="greedy"
    )
    assert isinstance(found, MaximalMunchGrammar)
    return found
