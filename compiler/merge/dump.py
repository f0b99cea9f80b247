"""A canonical DFA over tokens as text, for ``constrain show``: a line for each state and target.

    0 -- 'ab' 'a' -> 1

CartesianMerge makes no table of its states; for small ones ``tabulated`` walks all states that it
can be in, breadth first, and gives the same artifact with a token DFA.
"""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from constrain.artifacts.artifact import Artifact
from constrain.artifacts.errors import visible
from constrain.artifacts.kinds.canonical_network import CanonicalRuntime
from constrain.artifacts.kinds.token_dfa import TokenDfaRuntime
from constrain.artifacts.tokens import tokenset
from constrain.artifacts.tokens.distinct import numbered_keys

from ..automata.graphs import Numbered
from ..limits import Limits

_STAGE = "the DFA over tokens"

# At most so many tokens are listed in a line; beyond that it says how many there are.
_MAX_LISTED = 12


def tokens_text(artifact: Artifact, limits: Limits | None = None) -> str:
    """The states of a canonical artifact's DFA over tokens, with the tokens that they allow.

    The text grows with the pairs of a state and a target, not with the transitions. Raises
    ``LimitError`` where it is too large, ``ValueError`` for other artifacts.
    """
    limits = (limits or Limits()).started()
    artifact = tabulated(artifact, limits)
    if not isinstance(artifact.runtime, TokenDfaRuntime):
        raise ValueError("only canonical artifacts have a token DFA")
    dfa, rows = artifact.runtime.token_dfa, artifact.runtime.rows
    finals = np.flatnonzero(dfa.accepting).tolist()
    listed = ", ".join(map(str, finals))
    lines = [f"tokens: {dfa.states} states, start {dfa.start}, final {listed}"]
    for state in range(dfa.states):
        limits.check_resources(_STAGE)
        tokens, targets = dfa.edges_of(state)
        allowed = tokenset.to_flags(rows.row(state))[tokens]
        tokens, targets = tokens[allowed], targets[allowed]
        for target in np.unique(targets).tolist():
            ids = tokens[targets == target].tolist()
            shown = " ".join(_token(artifact, i) for i in ids[:_MAX_LISTED])
            more = f" … ({len(ids)} tokens)" if len(ids) > _MAX_LISTED else ""
            lines.append(f"  {state} -- {shown}{more} -> {target}")
    return "\n".join(map(visible, lines)) + "\n"


def _token(artifact: Artifact, token_id: int) -> str:
    return repr(artifact.vocabulary.token(token_id).decode("utf-8", "backslashreplace"))


# Sections that both kinds of artifact have.
_SHARED = ("dfa.", "vocab.", "origins.")


def tabulated(artifact: Artifact, limits: Limits | None = None) -> Artifact:
    """A byte DFA with canonical masks as an artifact with a token DFA; others as they are.

    States that allow the same sequences of tokens are one, so it is minimal. They are numbered
    breadth first, each a family of its own; the masks are the same. Raises ``LimitError``, also for
    too many transitions before states are joined.
    """
    if not (artifact.is_regular and isinstance(artifact.runtime, CanonicalRuntime)):
        return artifact
    machine = artifact.runtime.machine()
    limits = (limits or Limits()).started()
    number = Numbered(machine.start)
    tokens: list[int] = []
    targets: list[int] = []
    offsets = [0]
    rows: dict[bytes, int] = {}
    row_of = []
    for state in number.order:
        row = machine.row(state)
        row_of.append(rows.setdefault(row.tobytes(), len(rows)))
        ends = set(artifact.manifest.eos) if machine.is_accepting(state) else set()
        for token in tokenset.to_ids(row).tolist():
            if token in ends:
                continue
            tokens.append(token)
            targets.append(number[machine.step(state, token)])
        offsets.append(len(tokens))
        limits.check_states(len(number), _STAGE)
        limits.check_transitions(len(tokens), _STAGE)
        limits.check_resources(_STAGE)
    accepting = np.array([machine.is_accepting(s) for s in number.order], dtype=np.uint8)
    kept, merged = _merged(row_of, accepting, offsets, np.array(targets, dtype=np.int64))
    parts = [slice(offsets[state], offsets[state + 1]) for state in kept]
    shared = {k: a for k, a in artifact.arrays.items() if k.startswith(_SHARED)}
    words = tokenset.word_count(artifact.vocab_size)
    arrays = {
        **shared,
        **artifact.runtime.forbidden_pairs.arrays("pairs."),
        "rows": np.frombuffer(b"".join(rows), dtype="<u4").reshape(-1, words),
        "row_ids": np.zeros(0, dtype=np.int32),
        "row_of": np.array(row_of, dtype=np.int32)[kept],
        "row_offsets": np.zeros(1, dtype=np.int64),
        "tokens.accepting": accepting[kept],
        "tokens.family_states": np.array(
            [artifact.runtime.byte_state_of(number.order[s]) for s in kept], dtype=np.int32
        ),
        "tokens.edge_offsets": np.cumsum([0, *(p.stop - p.start for p in parts)], dtype=np.int64),
        "tokens.edge_targets": np.array([merged[t] for p in parts for t in targets[p]], np.int32),
        "tokens.edge_tokens": np.array([t for p in parts for t in tokens[p]], dtype=np.int32),
        "tokens.family": np.arange(len(kept), dtype=np.int32),
    }
    return Artifact(replace(artifact.manifest, kind="token-dfa", token_start=0), arrays)


def _merged(
    row_of: list[int],
    accepting: NDArray[np.uint8],
    offsets: list[int],
    targets: NDArray[np.int64],
) -> tuple[list[int], list[int]]:
    """The first of all states that allow the same sequences, and the number of each state's.

    Moore's algorithm (1956): states of one class are distinguished by the classes that their tokens
    lead to. Those of one row and one acceptance have the same tokens.
    """
    first, classes = numbered_keys(zip(row_of, accepting.tolist(), strict=True))
    while True:
        following, count = classes[targets], len(first)
        first, classes = numbered_keys(
            (own, following[begin:end].tobytes())
            for own, begin, end in zip(classes.tolist(), offsets, offsets[1:], strict=False)
        )
        if len(first) == count:
            break
    # Classes are numbered in the order of their first states.
    return first.tolist(), classes.tolist()
