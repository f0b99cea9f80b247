"""All states of an artifact, for what draws them or looks for members.

positions that call nothing   ->   the minimal DFA, whose states have no origins
other positions               ->   a network
"""

from dataclasses import replace

from constrain.artifacts.artifact import Artifact
from constrain.artifacts.kinds.contents import Contents
from constrain.artifacts.kinds.met_states import MetStatesRuntime
from constrain.artifacts.kinds.parser import network_of
from constrain.artifacts.network.tables import NetworkTables

from ..automata.minimize import minimize
from ..limits import Limits
from ..network.components import dfa_of
from ..network.counter_tables import MANY_COPIES, Procedure
from ..network.laid_out import LaidOut
from .dfa_sections import byte_dfa_sections


def network_in(artifact: Artifact, limits: Limits) -> NetworkTables:
    """The network of an artifact that has one, with all its states. Raises ``LimitError``."""
    runtime = artifact.runtime
    if isinstance(runtime, MetStatesRuntime):
        return LaidOut(runtime.stored, runtime.names.called).tables(limits.started())
    return network_of(Contents(artifact.manifest, artifact.arrays))


def with_dfa(artifact: Artifact, limits: Limits) -> Artifact:
    """The artifact itself; but if it has positions that call nothing, of which a DFA can be made,
    one with the same masks by that. Raises ``LimitError``."""
    runtime = artifact.runtime
    if not isinstance(runtime, MetStatesRuntime):
        return artifact
    stored, limits = runtime.stored, limits.started()
    names = runtime.names_tokens or runtime.grows
    if stored.calls or names or stored.fronts.copies > MANY_COPIES:
        return artifact
    start = Procedure(artifact.manifest.start, int(stored.starts[0]))
    is_nullable = stored.nullable_start
    dfa = minimize(dfa_of(stored.copied(), start, None, limits, nullable_start=is_nullable), limits)
    others = ("positions.", "repeats.")
    kept = {n: a for n, a in artifact.arrays.items() if not n.startswith(others)}
    manifest = replace(artifact.manifest, byte_start=dfa.start, parser=None)
    return Artifact(manifest, {**kept, **byte_dfa_sections(dfa, ())})
