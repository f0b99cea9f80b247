"""A token DFA as text: one line for each state and target."""

import numpy as np

from constrain.artifacts.artifact import Artifact
from constrain.artifacts.kinds.token_dfa import TokenDfaRuntime
from constrain.artifacts.tokens import tokenset

from .tabulate import tabulated

# Tokens that a line lists before it only counts.
_LISTED = 12


def tokens_text(artifact: Artifact) -> str:
    """The states of a canonical artifact's token DFA with the tokens they allow.

    Grows with the states times the targets of each, not with the transitions.
    """
    artifact = tabulated(artifact)
    if not isinstance(artifact.runtime, TokenDfaRuntime):
        raise ValueError("only canonical artifacts have a token DFA")
    dfa, rows = artifact.runtime.token_dfa, artifact.runtime.rows
    finals = np.flatnonzero(dfa.accepting).tolist()
    listed = ", ".join(map(str, finals))
    lines = [f"tokens: {dfa.states} states, start {dfa.start}, final {listed}"]
    for state in range(dfa.states):
        tokens, targets = dfa.edges_of(state)
        allowed = tokenset.to_flags(rows.row(state))[tokens]
        tokens, targets = tokens[allowed], targets[allowed]
        for target in np.unique(targets).tolist():
            ids = tokens[targets == target].tolist()
            shown = " ".join(_token(artifact, i) for i in ids[:_LISTED])
            more = f" … ({len(ids)} tokens)" if len(ids) > _LISTED else ""
            lines.append(f"  {state} -- {shown}{more} -> {target}")
    return "\n".join(lines) + "\n"


def _token(artifact: Artifact, token_id: int) -> str:
    return repr(artifact.vocabulary.token(token_id).decode("utf-8", "backslashreplace"))
