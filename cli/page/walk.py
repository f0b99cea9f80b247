"""The tables that a page reads texts with: those of a DFA or of a network, over bytes.

A DFA is a network without calls. By maximal munch the network reads lexemes, into which the lexer
beside it divides the bytes. Where there are no tables, the page says why.
"""

from dataclasses import replace
from typing import Any

from constrain.artifacts import Artifact
from constrain.artifacts.container.manifest import EARLEY, GREEDY
from constrain.artifacts.errors import ConstrainError
from constrain.artifacts.kinds.maximal_munch import MaximalMunchRuntime, has_lazy_lexemes
from constrain.artifacts.kinds.met_states import MetStatesRuntime
from constrain.artifacts.kinds.without_calls import network_without_calls
from constrain.artifacts.maximal_munch.lexer import LexerTables
from constrain.artifacts.network.tables import NetworkTables

from .encoding import packed

# Cells of a table that a page holds, base64 in the file.
_MOST_CELLS = 1 << 20


def walk_of(artifact: Artifact) -> NetworkTables | str:
    """The tables, or why texts cannot be read in a page."""
    from constrain.compiler.limits import Limits
    from constrain.compiler.machine.whole_tables import network_in

    kind, because = artifact.manifest.kind, None
    if kind == EARLEY:
        because = "Earley's recogniser, whose items are no table of states"
    if has_lazy_lexemes(artifact.arrays):
        because = "maximal munch, the states of whose lexer are made while decoding"
    if isinstance(artifact.runtime, MetStatesRuntime) and artifact.runtime.grows:
        because = "a network with lazy DFAs, whose states are made while decoding"
    if because is not None:
        built = _built_network(artifact) if kind == EARLEY else None
        return built or f"the engine is {because}"
    if artifact.is_regular:
        tables = network_without_calls(artifact.byte_dfa, artifact.manifest.start)
    else:
        tables = network_in(artifact, Limits())
    if tables.table.size > _MOST_CELLS:
        return f"the tables have {tables.states:,} states, more than a page holds"
    return tables


def _built_network(artifact: Artifact) -> NetworkTables | None:
    """The network of a grammar that Earley's recogniser follows, which reads the same texts, if one
    can be built."""
    from constrain.compiler.frontend import Parser
    from constrain.compiler.options import options_of
    from constrain.compiler.pipeline import build_engine

    m = artifact.manifest
    if m.source is None:
        return None
    try:
        found = build_engine(m.source, replace(options_of(m), engine="network"))
    except (ConstrainError, ValueError):
        return None
    network = found.network if isinstance(found, Parser) else None
    return None if network is None or network.table.size > _MOST_CELLS else network


def lexer_of(artifact: Artifact) -> LexerTables | None:
    """The lexer beside a network that reads lexemes."""

    if artifact.manifest.kind != GREEDY:
        return None
    assert isinstance(artifact.runtime, MaximalMunchRuntime)
    return artifact.runtime.tables.lexer


def lexer_data(lexer: LexerTables) -> dict[str, Any]:
    """The DFAs of the lexemes as ``js/munch.js`` reads them: in one table of rows of ``width``
    cells, the first state of each in ``starts``."""
    dfas = lexer.dfas
    return {
        "width": dfas.table.shape[1],
        "table": packed(dfas.table),
        "columns": packed(dfas.columns[:256]),
        "accepting": packed(dfas.accepting),
        "starts": [int(state) for state in dfas.starts],
        "priorities": [int(rank) for rank in lexer.priorities],
        "ignored": [int(flag) for flag in lexer.ignored],
    }


def walk_data(tables: NetworkTables) -> dict[str, Any]:
    """The tables as ``js/walk.js`` reads them.

    ``table``: S rows of ``width`` cells, bytes first, then token terminals. ``calls``: by state its
    (start, frame) pairs; a frame is a state, or [counter, value] of a counter or a set.
    """
    counters = tables.counters
    found: dict[str, Any] = {
        "states": tables.states,
        "width": tables.table.shape[1],
        "terminals": tables.terminals,
        "table": packed(tables.table),
        "classes": packed(tables.classes),
        "accepting": packed(tables.accepting),
        "start": tables.start,
        "nullable": tables.nullable_start,
        "calls": {
            str(state): [[start, _frame(tables, frame)] for start, frame in calls]
            for state, calls in enumerate(tables.calls)
            if calls
        },
    }
    if counters is not None:
        found["counters"] = [list(row) for row in counters.rows]
        found["sets"] = [
            {
                "parts": rule.parts,
                "flags": rule.flags,
                "separator": rule.separator,
                "adjoining": rule.is_adjoining,
                "least": rule.least,
                "most": rule.most,
                "back": rule.back,
            }
            for rule in counters.set_rules
        ]
    return found


def _frame(tables: NetworkTables, frame: int) -> int | list[int | str]:
    if tables.counters is None or frame < tables.states:
        return frame
    counter, value = tables.counters.split(frame)
    # A set's value has a bit for each of up to 256 parts.
    return [counter, str(value)]
