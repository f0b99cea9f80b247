"""``constrain explain``: why a text is or is not a member of a grammar."""

import json
from dataclasses import replace
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from .. import options
from ..compiling import counted_network, is_much_copied, recogniser_of, say_depth, subject_of
from ..console import UsageError, write_text
from ..inputs import STDIN, read_bytes
from ..options import Engine

if TYPE_CHECKING:
    from constrain.artifacts import Artifact
    from constrain.artifacts.network.tables import NetworkTables
    from constrain.compiler.explain.report import Verdict
    from constrain.compiler.frontend import MaximalMunchGrammar, Recogniser


SCHEMA = 1


class Format(StrEnum):
    """How the verdict is written."""

    TEXT = "text"
    JSON = "json"


@options.compile_options(*options.SOURCE, "meaning", "max_depth", *options.LIMITS)
def explain(
    subject: options.Subject,
    given: options.Given,
    file: Annotated[
        str, typer.Argument(metavar="FILE", help="The text, or - for standard input.")
    ] = STDIN,
    format_: Annotated[
        Format, typer.Option("--format", "-f", help="text: one line; json: one object.")
    ] = Format.TEXT,
) -> int:
    """Say whether a text is a member of the grammar, and if not where and why.

    No text matches a token that the grammar names as a token, such as GBNF's <think>.

    Exit code 0 if it is accepted; 1 if it is rejected, or incomplete (more text could make it
    a member).

    \b
    Examples:
      constrain explain date.ebnf text.txt
      printf 2024-13-01 | constrain explain date.cst
    """
    if subject == file == STDIN:
        raise UsageError("the grammar and the text cannot both come from standard input")
    from constrain.compiler.explain.network import explain_network
    from constrain.compiler.explain.report import Status

    found = subject_of(subject, given)
    text = read_bytes(file)
    if isinstance(found, str):
        wanted = replace(given.compile_options(subject), parser="earley")
        if wanted.schema is not None and wanted.schema.order == "any":
            # Sets are held by networks, under any tokenization, of which a text has none.
            wanted = replace(wanted, parser="network", tokenization="any")
        counted = counted_network(found, subject, wanted)
        if counted is not None:
            verdict = explain_network(counted, text)
        else:
            recogniser = recogniser_of(found, subject, wanted)
            say_depth(recogniser, wanted)
            verdict = _by_grammar(recogniser, text)
    else:
        verdict = _by_artifact(found, text)
    name = "<stdin>" if file == STDIN else file
    write_text((_said if format_ is Format.TEXT else _as_json)(verdict, name, text) + "\n")
    return 0 if verdict.status is Status.ACCEPTED else 1


def _by_grammar(
    recogniser: "Recogniser", text: bytes, counted: "NetworkTables | None" = None
) -> "Verdict":
    """``counted``: the network of an artifact, which has the last word."""
    from constrain.compiler.dialects import JSON_SCHEMA
    from constrain.compiler.explain.earley import explain_parser
    from constrain.compiler.explain.json_schema import explain_instance
    from constrain.compiler.explain.lazy_dfa import explain_lazy, reader_of
    from constrain.compiler.explain.maximal_munch import explain_maximal_munch
    from constrain.compiler.explain.report import explain
    from constrain.compiler.frontend import MaximalMunchGrammar, Parser
    from constrain.compiler.maximal_munch.to_dfa import text_machine

    if isinstance(recogniser, MaximalMunchGrammar):
        return explain_maximal_munch(text_machine(recogniser.tables), text, recogniser)
    if isinstance(recogniser, Parser) and recogniser.grammar.source.dialect == JSON_SCHEMA:
        return explain_instance(recogniser.recogniser(), text, counted or recogniser.network)
    if isinstance(recogniser, Parser):
        names, tables = recogniser.token_names, counted or recogniser.network
        return explain_parser(recogniser.recogniser(), text, names, tables)
    if recogniser.operation is not None:
        reader = reader_of(recogniser.operation.conjunctions)
        return explain_lazy(reader, text, recogniser.grammar.start)
    origins, of_state = recogniser.origins, recogniser.dfa.origins
    rules = [[origins[o][0] for o in sorted(state)] for state in of_state]
    return explain(recogniser.dfa.tables(), rules.__getitem__, text, recogniser.token_names)


def _by_artifact(artifact: "Artifact", text: bytes) -> "Verdict":
    from constrain.artifacts.kinds.counting_network import CountingRuntime
    from constrain.artifacts.kinds.lazy_dfa import LazyDfaRuntime
    from constrain.artifacts.kinds.lazy_network import CallingRuntime
    from constrain.artifacts.kinds.maximal_munch import MaximalMunchRuntime
    from constrain.artifacts.kinds.network import NetworkGrammar
    from constrain.artifacts.kinds.parser import NestingGrammar
    from constrain.compiler.automata.dump import ids_text, terminal_names
    from constrain.compiler.dialects import JSON_SCHEMA
    from constrain.compiler.explain.earley import explain_parser
    from constrain.compiler.explain.json_schema import explain_instance
    from constrain.compiler.explain.lazy_dfa import explain_calling, explain_lazy
    from constrain.compiler.explain.maximal_munch import explain_maximal_munch
    from constrain.compiler.explain.network import explain_network
    from constrain.compiler.explain.report import explain

    if isinstance(artifact.runtime, MaximalMunchRuntime):
        return explain_maximal_munch(
            artifact.runtime.machine().configurations, text, _grammar_of(artifact)
        )
    runtime = artifact.runtime
    network = runtime.network if isinstance(runtime, CountingRuntime | NetworkGrammar) else None
    if network is not None and network.counters is not None:
        if is_much_copied(network):
            return explain_network(network, text)
        return _by_grammar(_copied(artifact), text, network)
    if isinstance(artifact.runtime, NestingGrammar):
        if artifact.manifest.dialect == JSON_SCHEMA:
            return explain_instance(artifact.runtime.recogniser(), text)
        names = [ids_text(ids.tolist()) for ids in artifact.runtime.named]
        return explain_parser(artifact.runtime.recogniser(), text, names)
    if isinstance(artifact.runtime, CallingRuntime):
        return explain_calling(artifact.runtime.network(), text, artifact.manifest.start)
    if isinstance(artifact.runtime, LazyDfaRuntime):
        return explain_lazy(artifact.runtime.reader, text, artifact.manifest.start)
    dfa = artifact.byte_dfa
    rules = [[o.rule for o in artifact.origins_of(state)] for state in range(dfa.states)]
    return explain(dfa, rules.__getitem__, text, terminal_names(dfa))


def _copied(artifact: "Artifact") -> "Recogniser":
    """The recogniser of an artifact's grammar whose repetitions are copies, which say where in them
    a text stops. Raises ``LimitError``."""
    from constrain.compiler.pipeline import build_engine

    m = artifact.manifest
    if m.source is None:
        raise UsageError(
            "an artifact whose repetitions are counted is explained by its grammar, whose text was "
            "stripped"
        )
    return build_engine(
        m.source, dialect=m.dialect, start=m.start, meaning=m.meaning, parser="earley"
    )


def _grammar_of(artifact: "Artifact") -> "MaximalMunchGrammar | None":
    """The grammar of an artifact of maximal munch; None if its text was stripped."""
    from constrain.compiler.frontend import MaximalMunchGrammar
    from constrain.compiler.pipeline import build_engine

    m = artifact.manifest
    if m.source is None:
        return None
    found = build_engine(
        m.source, dialect=m.dialect, start=m.start, meaning=m.meaning, engine=Engine.GREEDY.value
    )
    assert isinstance(found, MaximalMunchGrammar)
    return found


def _as_json(verdict: "Verdict", name: str, _text: bytes) -> str:
    """The verdict as one object; ``expected``: ranges of bytes, both ends included."""
    found = {
        "schema": SCHEMA,
        "file": name,
        "status": verdict.status.value,
        "line": verdict.line,
        "column": verdict.column,
        "byte": verdict.offset,
        "rules": list(verdict.rules),
        "path": list(verdict.path),
        "expected": [list(pair) for pair in verdict.expected],
        "terminals": list(verdict.terminals),
        "tokens": list(verdict.tokens),
        "may_end": verdict.may_end,
        "but_for_line_break": verdict.but_for_line_break,
    }
    if verdict.instance is not None:
        found |= {"instance": verdict.instance, "schemas": list(verdict.schemas)}
    return json.dumps(found)


def _said(verdict: "Verdict", name: str, text: bytes) -> str:
    """The verdict on one line: place, what stands there, whose text was expected, and which."""
    from constrain.compiler.automata.dump import class_text
    from constrain.compiler.explain.report import Status

    if verdict.status is Status.ACCEPTED:
        return f"{name}: accepted"
    place = f"{name}:{verdict.line}:{verdict.column}: {verdict.status.value}"
    if verdict.status is Status.REJECTED:
        octet = text[verdict.offset]
        place += f" at {class_text([(octet, octet)])} (byte {verdict.offset})"
    if verdict.instance is not None:
        place += f", at {verdict.instance or 'the root'}"
    elif verdict.rules or verdict.path:
        place += f" in {', '.join(verdict.rules) or ' > '.join(verdict.path)}"
    expected = [class_text(verdict.expected)] if verdict.expected else []
    expected += verdict.terminals
    if verdict.tokens:
        expected.append(f"the token {' or '.join(verdict.tokens)}, which no text matches")
    expected += ["the end of the text"] if verdict.may_end else []
    said = f"{place}; expected {' or '.join(expected)}"
    if verdict.schemas:
        said += f", by {' or '.join(verdict.schemas)}"
    if verdict.but_for_line_break:
        said += " (it is accepted without the line break at its end)"
    return said
