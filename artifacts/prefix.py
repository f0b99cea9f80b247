"""Masks for a prefix given as text: which token boundaries it may have.

No tokenizer is needed: the artifact's own allowed tokens are walked.
"""

from collections import defaultdict
from dataclasses import dataclass

import numpy as np

from .artifact import Artifact
from .tokens import tokenset
from .tokens.tokenset import Words
from .tokens.vocabulary import TEXT

Path = tuple[int, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Boundary:
    """One allowed token path that spells the first ``length`` bytes of the prefix.

    ``ids`` are its tokens, ``pending`` the rest of the prefix, ``allowed`` the tokens that
    may come next: all of the mask where nothing is pending, else those that begin with
    ``pending`` and are longer. ``accepting``: the match may end here.
    """

    length: int
    ids: Path
    pending: bytes
    allowed: Words
    accepting: bool


def boundaries(artifact: Artifact, prefix: bytes) -> list[Boundary]:
    """Every boundary that ``prefix`` may have, the longest first; empty if there is none.

    Where several token paths lead to the same state the one with the fewest tokens stands
    for them (ties: the smaller ids). A path may use any token of text that the mask allows,
    also one that the grammar names as a token; special tokens spell nothing.
    """
    machine, rows = artifact.machine_and_rows()
    put = artifact.put_before(prefix)
    before, prefix = len(put), put + prefix
    spelled = _tokens_within(artifact, prefix)
    longest = max(map(len, spelled), default=0)
    paths: defaultdict[int, dict[int, Path]] = defaultdict(dict)
    paths[0][machine.start] = ()
    found: list[Boundary] = []
    for position in range(len(prefix) + 1):
        rest = prefix[position:]
        for state, ids in sorted(paths.pop(position, {}).items()):
            row = rows.row(state)
            for length in range(1, min(longest, len(rest)) + 1):
                for token_id in spelled.get(rest[:length], ()):
                    if tokenset.contains(row, token_id):
                        target = machine.step(state, token_id)
                        _keep_better(paths[position + length], target, (*ids, token_id))
            allowed = row if not rest else _longer_than(artifact, row, rest)
            if not rest or allowed.any():
                accepting = not rest and machine.is_accepting(state)
                found.append(Boundary(max(0, position - before), ids, rest, allowed, accepting))
    return sorted(found, key=lambda b: (-b.length, len(b.ids), b.ids))


def _keep_better(at: dict[int, Path], state: int, ids: Path) -> None:
    known = at.get(state)
    if known is None or (len(ids), ids) < (len(known), known):
        at[state] = ids


def _tokens_within(artifact: Artifact, prefix: bytes) -> dict[bytes, list[int]]:
    """Text tokens whose length and first two bytes let them lie inside the prefix."""
    vocabulary = artifact.vocabulary
    lengths = vocabulary.lengths
    fits = (vocabulary.kinds == TEXT) & (lengths > 0) & (lengths <= len(prefix))
    candidates = np.flatnonzero(fits)
    seen = np.zeros(256, dtype=np.bool_)
    seen[list(prefix)] = True
    starts = vocabulary.offsets[candidates]
    candidates = candidates[seen[vocabulary.data[starts]]]
    followed = np.zeros((256, 256), dtype=np.bool_)
    followed[list(prefix[:-1]), list(prefix[1:])] = True
    starts = vocabulary.offsets[candidates]
    # A token of one byte has no second one; the clipped index then reads any byte.
    seconds = np.minimum(starts + 1, len(vocabulary.data) - 1)
    paired = followed[vocabulary.data[starts], vocabulary.data[seconds]]
    candidates = candidates[paired | (lengths[candidates] == 1)]
    spelled: defaultdict[bytes, list[int]] = defaultdict(list)
    for token_id in candidates.tolist():
        spelled[vocabulary.token(token_id)].append(token_id)
    return dict(spelled)


def _longer_than(artifact: Artifact, row: Words, rest: bytes) -> Words:
    """The text tokens of ``row`` that begin with ``rest`` and are longer."""
    vocabulary = artifact.vocabulary
    ids = tokenset.to_ids(row)
    long_enough = (vocabulary.kinds[ids] == TEXT) & (vocabulary.lengths[ids] > len(rest))
    ids = ids[long_enough]
    ids = ids[vocabulary.data[vocabulary.offsets[ids]] == rest[0]]
    kept = [i for i in ids.tolist() if vocabulary.token(i).startswith(rest)]
    return tokenset.from_ids(kept, artifact.vocab_size)
