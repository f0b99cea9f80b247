"""A product as a token DFA: every state that it can be in, with its transitions. For small ones."""

from dataclasses import replace

import numpy as np

from constrain.artifacts.artifact import Artifact
from constrain.artifacts.tokens import tokenset

from ..limits import Limits

# Transitions that a table may have; drawings and listings are of far fewer.
_MOST_TRANSITIONS = 1_000_000

# Sections that both kinds of artifact have.
_SHARED = ("dfa.", "vocab.", "origins.")


def tabulated(artifact: Artifact) -> Artifact:
    """A canonical artifact with a token DFA; others than products are returned as they are.

    States in the order of a breadth-first walk, each a family of its own; the masks are the
    same. Raises ``LimitError`` where there are too many transitions.
    """
    product = artifact.product
    if product is None:
        return artifact
    limits = Limits(transitions=_MOST_TRANSITIONS)
    number = {product.start: 0}
    tokens: list[int] = []
    targets: list[int] = []
    offsets = [0]
    rows: dict[bytes, int] = {}
    row_of = []
    pending = [product.start]
    for state in pending:
        row = product.row(state)
        row_of.append(rows.setdefault(row.tobytes(), len(rows)))
        ends = set(artifact.manifest.eos) if product.is_accepting(state) else set()
        for token in tokenset.to_ids(row).tolist():
            if token in ends:
                continue
            target = product.step(state, token)
            if target not in number:
                number[target] = len(number)
                pending.append(target)
            tokens.append(token)
            targets.append(number[target])
        offsets.append(len(tokens))
        limits.check_transitions(len(tokens), "the table of the product")
    kept = {k: a for k, a in artifact.arrays.items() if k.startswith(_SHARED)}
    byte_states = [artifact.byte_state_of(state) for state in pending]
    words = tokenset.word_count(artifact.vocab_size)
    arrays = {
        **kept,
        "merges": np.zeros((0, 3), dtype=np.int32),
        "rows": np.frombuffer(b"".join(rows), dtype="<u4").reshape(-1, words),
        "row_of": np.array(row_of, dtype=np.int32),
        "tokens.accepting": np.array([product.is_accepting(s) for s in pending], dtype=np.uint8),
        "tokens.family_states": np.array(byte_states, dtype=np.int32),
        "tokens.edge_offsets": np.array(offsets, dtype=np.int64),
        "tokens.edge_targets": np.array(targets, dtype=np.int32),
        "tokens.edge_tokens": np.array(tokens, dtype=np.int32),
        "tokens.family": np.arange(len(pending), dtype=np.int32),
    }
    return Artifact(replace(artifact.manifest, kind="token-dfa", token_start=0), arrays)
