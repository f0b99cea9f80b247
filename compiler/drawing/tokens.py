"""The picture of the automaton over tokens.

canonical artifacts   the token DFA, each state with the edges that its mask row allows
products              the same, made as it is walked
any artifacts         the byte DFA lifted to tokens: q --token--> run(q, token's bytes)
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from constrain.artifacts.artifact import Artifact
from constrain.artifacts.cartesian.from_sections import AnyProduct
from constrain.artifacts.tokens import tokenset
from constrain.artifacts.tokens.trie import walk
from constrain.artifacts.wordpiece.machine import WordMachine

from .dot import to_dot
from .drawing import Drawing
from .labels import TokenLabels
from .picture import MAX_STATES, Edge, Picture, counted, left_out_sentence, nearest, told_apart


def draw_tokens(artifact: Artifact, *, title: str, max_states: int = MAX_STATES) -> Drawing:
    """Draw the automaton over tokens.

    ``title``: the grammar's name. Draws at most ``max_states`` states, those nearest to the
    start.
    """
    moves = _AllowedMoves(artifact)
    kept = nearest(artifact.machine.start, lambda state: moves.of(state).reached, max_states)
    inside = set(kept)
    complete = all(inside.issuperset(moves.of(state).reached) for state in kept)
    total = len(kept) if complete else _states(artifact, moves)
    # The states of a WordPiece machine are large numbers that say nothing to a reader.
    shown = range(len(kept)) if artifact.word_machine is not None else kept
    number = dict(zip(kept, shown, strict=True))
    edges = [
        edge._replace(
            source=number[edge.source], target=None if edge.target is None else number[edge.target]
        )
        for edge in _edges(moves, kept, artifact)
    ]
    read = sum(len(moves.of(state).tokens) for state in kept)
    drawn = f"{counted(read, 'transition')}, drawn as {counted(len(edges), 'edge')}"
    return to_dot(
        told_apart(
            Picture(
                heading=f"Token DFA of {title} ({artifact.manifest.tokenization} tokenization)",
                counts=f"{counted(total, 'state')}, {drawn}"
                if complete
                else f"{counted(total, 'state')}; here {len(kept):,} of them with {drawn}",
                states=shown,
                start=number[artifact.machine.start],
                accepting={number[s] for s in kept if artifact.machine.is_accepting(s)},
                edges=edges,
                left_out=left_out_sentence(total, len(kept), max_states),
                tooltips={number[state]: _tooltip(artifact, state) for state in kept},
            )
        )
    )


class _Moves(NamedTuple):
    """What a state may read: ``tokens`` and where each leads are parallel.

    ``reached``: the states that they lead to, each once, ascending.
    """

    tokens: NDArray[np.integer]
    targets: NDArray[np.integer]
    reached: list[int]


@dataclass(slots=True, eq=False)
class _AllowedMoves:
    """The moves that a state's mask row allows, computed once a state."""

    artifact: Artifact
    _known: dict[int, _Moves] = field(default_factory=dict)

    def of(self, state: int) -> _Moves:
        """Without the tokens that end the text there."""
        if state not in self._known:
            a = self.artifact
            targets: NDArray[np.integer]
            lazy = a.product or a.word_machine
            if lazy is not None:
                tokens, targets = _stepped(lazy, state, a.manifest.eos)
            elif a.token_dfa is not None:
                tokens, targets = a.token_dfa.edges_of(state)
            else:
                tokens, targets = _lifted(a, state)
            allowed = tokenset.to_flags(a.rows.row(state))
            if a.machine.is_accepting(state):
                allowed[list(a.manifest.eos)] = False
            kept = allowed[tokens]
            reached = np.unique(targets[kept]).tolist()
            self._known[state] = _Moves(tokens[kept], targets[kept], reached)
        return self._known[state]

    @property
    def seen(self) -> int:
        """How many states have been looked at or are reached by one step from there."""
        reached = (state for moves in self._known.values() for state in moves.reached)
        return len(set(reached) | set(self._known))


def _stepped(
    machine: AnyProduct | WordMachine, state: int, eos: Sequence[int]
) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """The text tokens that the state's row allows, and where each leads."""
    ends = eos if machine.is_accepting(state) else ()
    ids = np.setdiff1d(tokenset.to_ids(machine.row(state)), ends).astype(np.int32)
    return ids, np.array([machine.step(state, i) for i in ids.tolist()], dtype=np.int64)


def _lifted(artifact: Artifact, state: int) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """What the byte DFA can read token by token, whether or not tokens reach its end."""
    dfa = artifact.byte_dfa
    hits = list(walk(artifact.trie, dfa.table, dfa.classes, np.array([state])))
    named, leads = dfa.terminals.select(dfa.token_targets(state))
    # A column says where its tokens lead, their bytes or not.
    spelled = [~np.isin(h.tokens, named) for h in hits]
    return (
        np.concatenate([*(h.tokens[s] for h, s in zip(hits, spelled, strict=True)), named]),
        np.concatenate([*(h.states[s] for h, s in zip(hits, spelled, strict=True)), leads]),
    )


def _states(artifact: Artifact, moves: _AllowedMoves) -> int:
    """Number of states that lie on the way to an accepting one.

    Those of a WordPiece artifact are never all known: the ones that were seen.
    """
    if artifact.word_machine is not None:
        return moves.seen
    if artifact.product is not None:
        return artifact.manifest.counts["product_states"]
    if artifact.token_dfa is not None:
        return artifact.token_dfa.states
    if "dfa.live" in artifact.arrays:
        return int(artifact.arrays["dfa.live"].sum())
    # A row is empty exactly where no tokens reach the end.
    filled = artifact.arrays["rows"].max(axis=1) > 0
    return int(np.count_nonzero(filled[artifact.arrays["row_of"]]))


def _edges(moves: _AllowedMoves, kept: Sequence[int], artifact: Artifact) -> list[Edge]:
    inside = set(kept)
    occurring = np.unique(np.concatenate([moves.of(state).tokens for state in kept]))
    labels = TokenLabels(artifact.vocabulary, occurring)
    edges = []
    for source in kept:
        tokens, targets, reached = moves.of(source)
        for target in reached:
            if target in inside:
                label = labels.label(tokens[targets == target], narrow=target == source)
                edges.append(Edge(source, target, label))
        outside = tokens[~np.isin(targets, kept)]
        if len(outside):
            edges.append(Edge(source, None, labels.count(outside)))
    return edges


def _tooltip(artifact: Artifact, state: int) -> str:
    if artifact.word_machine is not None:
        return "may end here" if artifact.machine.is_accepting(state) else "goes on"
    byte_state = artifact.byte_state_of(state)
    text = (
        f"state {state}"
        if artifact.manifest.kind == "byte-dfa"
        else f"state {state}, of state {byte_state} of the DFA"
    )
    rules = sorted({origin.rule for origin in artifact.origins_of(byte_state)})
    return f"{text}\nrule {', '.join(rules)}" if rules else text
