"""The picture of the automaton over tokens.

token DFAs                        each state with the edges that its mask row allows
canonical ones, named tokens      the same, made while it is walked
other artifacts                   the byte DFA lifted to tokens: q --token--> run(q, its bytes)
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from constrain.artifacts.artifact import Artifact
from constrain.artifacts.kinds.network import NetworkGrammar
from constrain.artifacts.kinds.token_dfa import TokenDfaRuntime
from constrain.artifacts.kinds.wordpiece import WordPieceRuntime
from constrain.artifacts.matcher import Machine
from constrain.artifacts.tokens import tokenset
from constrain.artifacts.tokens.trie import walk

from .dot import to_dot
from .drawing import Drawing
from .labels import TokenLabels
from .layout import estimate, fitted
from .picture import (
    WAY,
    Edge,
    Picture,
    View,
    colored_by_source,
    counted,
    left_out_sentence,
    nearest,
    with_rules,
)

# Edges from which on the way of a text is drawn without all that is far from it.
_CROWDED = 60

# Points, of which a PNG has two pixels each, beyond which a reader is told of the way of a text.
_READ_AT_ONCE = 1000.0
_LARGE = "all states are here, which is a large drawing: --prefix TEXT draws the way of a text"


def draw_tokens(artifact: Artifact, view: View, ids: Sequence[int] | None = None) -> Drawing:
    """Draw the automaton over tokens.

    Draws at most ``view.size.states`` states, those nearest to the start; with ``ids``, tokens that
    may follow each other, and where there are many edges, the states that these lead through, and
    those one step from the last.
    """
    size = view.size
    # Only the whole artifact says which rules a state belongs to.
    artifact = artifact.completed
    steps = _AllowedSteps(artifact)
    machine = artifact.machine()
    near = nearest(machine.start, lambda state: steps.of(state).reached, size)
    way = [machine.start]
    if ids is not None:
        for token_id in ids:
            taken_to = machine.take(way[-1], token_id)
            assert taken_to is not None
            way.append(taken_to)
        whole = sum(len(steps.of(state).reached) for state in near)
        if whole > _CROWDED or not set(near).issuperset(way):
            near = list(dict.fromkeys([*way, *steps.of(way[-1]).reached]))
            near = near[: max(size.states, len(set(way)))]
    known = {s for state in near for s in steps.of(state).reached} | set(near)
    complete = len(known) == len(near)
    total = len(near) if complete else _states(artifact, steps)
    # The states of a machine that makes them while it walks are large numbers that say nothing.
    is_walked = _is_walked(artifact)
    is_large = artifact.is_canonical or max(near) >= artifact.byte_dfa.states
    number = dict(zip(near, range(len(near)) if is_walked and is_large else near, strict=True))
    text = b"".join(artifact.vocabulary.tokens(ids or [])).decode("utf-8", "backslashreplace")
    taken = set(pairwise(way))

    def picture_of(count: int) -> Picture:
        visible = near[:count]
        edges = _edges(steps, visible, artifact, number, taken)
        start = artifact.manifest.start
        rules = {number[q]: [r for r in _rules(artifact, q) if r != start] for q in visible}
        read = sum(len(steps.of(state).tokens) for state in visible)
        drawn = f"{counted(read, 'transition')}, drawn as {counted(len(edges), 'edge')}"
        said = ("at least " if is_walked and not complete else "") + counted(total, "state")
        whole = complete and count == len(near)
        cramped = size.fits and count < len(near)
        picture = Picture(
            heading=f"Token DFA of {view.title} ({artifact.manifest.tokenization} tokenization)",
            counts=f"{said}, {drawn}" if whole else f"{said}; here {count:,} of them with {drawn}",
            states=[number[state] for state in visible],
            start=number[machine.start],
            accepting={number[s] for s in visible if machine.is_accepting(s)},
            edges=edges,
            left_out=left_out_sentence(total, count, size, is_cramped=cramped),
            tooltips={number[state]: _tooltip(artifact, state) for state in visible},
        )
        picture = with_rules(picture, rules)
        if ids is None:
            return colored_by_source(picture)
        left_out = picture.left_out
        if left_out:
            left_out = f"{total - count:,} of {counted(total, 'state')} are left out: they are not "
            left_out += "near the way of the text"
        return replace(
            picture,
            left_out=left_out,
            state_colors={number[s]: WAY for s in way if s in visible},
            colors={WAY: f"the way of {text!r}"},
        )

    picture = fitted(picture_of, len(near), size)
    if ids is None and picture.left_out is None and max(estimate(picture)) > _READ_AT_ONCE:
        picture = replace(picture, left_out=_LARGE)
    return to_dot(picture)


class _Steps(NamedTuple):
    """What a state may read: ``tokens`` and where each leads are parallel.

    ``reached``: the states that they lead to, each once, ascending.
    """

    tokens: NDArray[np.integer]
    targets: NDArray[np.integer]
    reached: list[int]


@dataclass(slots=True, eq=False)
class _AllowedSteps:
    """The steps that a state's mask row allows, computed once a state."""

    artifact: Artifact
    _cached: dict[int, _Steps] = field(default_factory=dict)

    def of(self, state: int) -> _Steps:
        """Without the tokens that end the text there."""
        if state not in self._cached:
            a, machine = self.artifact, self.artifact.machine()
            targets: NDArray[np.integer]
            if isinstance(a.runtime, TokenDfaRuntime):
                tokens, targets = a.runtime.token_dfa.edges_of(state)
            elif _is_walked(a):
                tokens, targets = _stepped(machine, state, a.manifest.eos)
            else:
                tokens, targets = _lifted(a, state)
            allowed = tokenset.to_flags(machine.row(state))
            if machine.is_accepting(state):
                allowed[list(a.manifest.eos)] = False
            fits = allowed[tokens]
            reached = np.unique(targets[fits]).tolist()
            self._cached[state] = _Steps(tokens[fits], targets[fits], reached)
        return self._cached[state]

    @property
    def seen(self) -> int:
        """How many states have been looked at or are reached by one step from there."""
        reached = (state for steps in self._cached.values() for state in steps.reached)
        return len(set(reached) | set(self._cached))


def _stepped(
    machine: Machine, state: int, eos: Sequence[int]
) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """The text tokens that the state's row allows, and where each leads."""
    ends = eos if machine.is_accepting(state) else ()
    ids = np.setdiff1d(tokenset.to_ids(machine.row(state)), ends).astype(np.int32)
    return ids, np.array([machine.take(state, i) for i in ids.tolist()], dtype=np.int64)


def _lifted(artifact: Artifact, state: int) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """What the byte DFA can read token by token, whether or not tokens reach its end."""
    dfa, nothing = artifact.byte_dfa, np.zeros(0, dtype=np.int32)
    hits = list(walk(artifact.trie, dfa.table, dfa.classes, np.array([state])))
    return (
        np.concatenate([nothing, *(hit.tokens for hit in hits)]),
        np.concatenate([nothing, *(hit.states for hit in hits)]),
    )


def _is_walked(artifact: Artifact) -> bool:
    """Whether the states over tokens are made while it is walked."""
    if isinstance(artifact.runtime, TokenDfaRuntime):
        return False
    return artifact.is_canonical or artifact.names_tokens


def _states(artifact: Artifact, steps: _AllowedSteps) -> int:
    """Number of states from which an accepting one can be reached.

    Of a machine that makes them while it walks those that were seen.
    """
    if _is_walked(artifact):
        return steps.seen
    if isinstance(artifact.runtime, TokenDfaRuntime):
        return artifact.runtime.token_dfa.states
    if "rows" not in artifact.arrays:
        return artifact.byte_dfa.states - 1
    # A row is empty exactly where no tokens reach the end.
    arrays = artifact.arrays
    packed = arrays["rows"].max(axis=1, initial=0) > 0
    filled = np.concatenate([packed, np.diff(arrays["row_offsets"]) > 0])
    return int(np.count_nonzero(filled[arrays["row_of"]]))


def _edges(
    steps: _AllowedSteps,
    visible: Sequence[int],
    artifact: Artifact,
    number: Mapping[int, int],
    taken: set[tuple[int, int]],
) -> list[Edge]:
    """Between states by the ``number`` that they are drawn with; ``taken``: those on a way."""
    inside = set(visible)
    occurring = np.unique(np.concatenate([steps.of(state).tokens for state in visible]))
    labels = TokenLabels(artifact.vocabulary, occurring)
    edges = []
    for source in visible:
        tokens, targets, reached = steps.of(source)
        for target in reached:
            if target in inside:
                label = labels.label(tokens[targets == target], narrow=target == source)
                edge = Edge(number[source], number[target], label)
                is_taken = (source, target) in taken
                edges.append(edge._replace(color=WAY, is_bold=True) if is_taken else edge)
        outside = tokens[~np.isin(targets, visible)]
        if len(outside):
            edges.append(Edge(number[source], None, labels.count(outside)))
    return edges


def _tooltip(artifact: Artifact, state: int) -> str:
    runtime = artifact.runtime
    if isinstance(runtime, WordPieceRuntime):
        return "may end here" if runtime.machine().is_accepting(state) else "goes on"
    assert isinstance(runtime, TokenDfaRuntime | NetworkGrammar)
    byte_state = runtime.byte_state_of(state)
    text = f"state {state}" + f", of state {byte_state} of the DFA" * artifact.is_canonical
    rules = _rules(artifact, state)
    return f"{text}\nrule {', '.join(rules)}" if rules else text


def _rules(artifact: Artifact, state: int) -> list[str]:
    """The rules whose text may follow a state; none by WordPiece, whose states are of words."""
    runtime = artifact.runtime
    if isinstance(runtime, WordPieceRuntime):
        return []
    assert isinstance(runtime, TokenDfaRuntime | NetworkGrammar)
    origins = artifact.origins_of(runtime.byte_state_of(state))
    return sorted({origin.rule for origin in origins})
