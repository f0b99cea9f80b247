"""The picture of tokenize(Σ*): which token may follow which, whatever the text.

    S0 (nothing read yet) --any token--> its class
    class C --a token that the merges do not join to those of C--> the class of that token

A class holds the tokens that have the same allowed successors, so the last token read
decides the state. Section 5.3 of the source that ``merge`` cites builds the same automaton;
here it is restricted to the tokens that a grammar uses.
"""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from constrain.artifacts.artifact import Artifact
from constrain.artifacts.kinds.canonical_network import CanonicalRuntime
from constrain.artifacts.kinds.token_dfa import TokenDfaRuntime

from .dot import to_dot
from .drawing import Drawing, DrawingError
from .layout import directed
from .matrix import START, Classes, draw_matrix
from .picture import (
    BY_SOURCE,
    FAINT,
    GREY,
    PALETTE,
    WAY,
    Edge,
    Label,
    Notation,
    Picture,
    View,
    counted,
    followable,
    left_out_sentence,
)

# With more edges than this a matrix says it better; in a graph, those that read all of a class
# then need no label of their own.
_LABELLED_EDGES = 30


def draw_tokenizer(artifact: Artifact, view: View, ids: Sequence[int] | None = None) -> Drawing:
    """Draw the tokenizer's automaton over the tokens that the grammar uses: as a graph where its
    edges can be followed or ``view.size`` says how many there may be, else as a matrix.

    ``ids``: tokens whose way is shown. Draws at most ``view.size.states`` states, S0 and the
    classes with the most tokens. Raises ``DrawingError`` for an artifact that allows any
    tokenization.
    """
    size = view.size
    if not isinstance(artifact.runtime, TokenDfaRuntime | CanonicalRuntime):
        raise DrawingError(
            "this artifact allows any tokenization and holds no merges to draw the tokenizer "
            "from; compile with --tokenization canonical"
        )
    classes = Classes.of(artifact, artifact.runtime.forbidden_pairs)
    heading = f"Tokenizer DFA of {view.title}: which of its tokens may follow which"
    way = None if ids is None else classes.way(ids)
    visible = min(classes.states, size.states)
    if size.fits and sum(1 for _ in classes.ends(visible)) > _LABELLED_EDGES:
        return draw_matrix(classes, heading, size, ids)
    visible = followable(classes.ends(visible), visible, size)
    edges = _edges(classes, visible)
    colors = dict(BY_SOURCE)
    state_colors = {state: _color(state) for state in range(visible)}
    if way is not None:
        taken = set(pairwise(way))
        edges = [
            edge._replace(is_bold=True, color=WAY)
            if (edge.source, edge.target) in taken
            else edge._replace(color=GREY)
            for edge in edges
        ]
        state_colors = {state: WAY if state in way else GREY for state in range(visible)}
        colors = {WAY: "the way of the text's tokens", GREY: "far from that way"}
    return to_dot(
        directed(
            Picture(
                heading=heading,
                counts=f"{counted(classes.states, 'state')}, {counted(len(classes.ids), 'token')}",
                states=range(visible),
                start=START,
                accepting=range(visible),
                edges=edges,
                left_out=left_out_sentence(classes.states, visible, size),
                names={state: classes.name(state) for state in range(visible)},
                colors=colors,
                state_colors=state_colors,
                accepts="a text may end after any token",
            )
        )
    )


def _color(state: int) -> str:
    """Edges have the colour of the state that they leave, so that they can be followed.

    Those of S0 lead everywhere and say little: they stay in the background.
    """
    return FAINT if state == START else PALETTE[state % len(PALETTE)]


def _edges(classes: Classes, visible: int) -> list[Edge]:
    """The edges of the first ``visible`` states; one from each to all that are left out."""
    state_of = np.minimum(classes.state_of, visible)
    steps = [
        (source, target, classes.ids[row & (state_of == target)])
        for source, row in enumerate(classes.allowed(visible))
        for target in np.unique(state_of[row]).tolist()
    ]
    terse = len(steps) > _LABELLED_EDGES
    return [_edge(classes, *step, visible, terse) for step in steps]


def _edge(
    classes: Classes, source: int, target: int, tokens: NDArray[np.int32], visible: int, terse: bool
) -> Edge:
    if target == visible:
        return Edge(source, None, classes.labels.count(tokens))
    label = classes.labels.label(tokens, narrow=target == source)
    if terse and len(tokens) == len(classes.members[target - 1]):
        unlabelled = Label("", frozenset([Notation.ALL_OF_CLASS]))
        return Edge(source, target, unlabelled, color=_color(source), tooltip=label.text)
    return Edge(source, target, label, color=_color(source))
