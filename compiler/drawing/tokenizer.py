"""The picture of tokenize(Σ*): which token may follow which, whatever the text.

    S0 (nothing read yet) --any token--> its class
    class C --a token that the merges do not join to those of C--> the class of that token

A class holds the tokens that have the same allowed successors, so the last token read
decides the state. Section 5.3 of the source that ``merge`` cites builds the same automaton;
here it is restricted to the tokens that a grammar uses.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from constrain.artifacts.artifact import Artifact
from constrain.artifacts.bpe.forbidden_pairs import ForbiddenPairs
from constrain.artifacts.kinds.cartesian import ProductRuntime
from constrain.artifacts.kinds.token_dfa import TokenDfaRuntime
from constrain.artifacts.tokens import tokenset
from constrain.artifacts.tokens.block_rows import BlockRows

from .dot import to_dot
from .drawing import Drawing, DrawingError
from .labels import TokenLabels
from .picture import (
    BY_SOURCE,
    FAINT,
    PALETTE,
    USUAL_SIZE,
    Edge,
    Label,
    Notation,
    Picture,
    Size,
    counted,
    followable,
    left_out_sentence,
)

# Booleans that one block of the relation between tokens may hold.
_BLOCK = 1 << 26

# With more edges than this, those that read all of a class need no label of their own.
_LABELLED_EDGES = 30

_START = 0


def draw_tokenizer(artifact: Artifact, *, title: str, size: Size = USUAL_SIZE) -> Drawing:
    """Draw the tokenizer's automaton over the tokens that the grammar uses.

    ``title``: the grammar's name. Draws at most ``size.states`` states, S0 and the classes
    with the most tokens, and fewer where these have too many edges to follow. Raises
    ``DrawingError`` for an artifact that allows any tokenization.
    """
    if not isinstance(artifact.runtime, TokenDfaRuntime | ProductRuntime):
        raise DrawingError(
            "this artifact allows any tokenization and holds no merges to draw the tokenizer "
            "from; compile with --tokenization canonical"
        )
    classes = _Classes.of(artifact, artifact.runtime.forbidden_pairs)
    visible = min(classes.states, size.states)
    visible = followable(classes.ends(visible), visible, size)
    return to_dot(
        Picture(
            heading=f"Tokenizer DFA, restricted to the tokens of {title}",
            counts=f"{counted(classes.states, 'state')}, {counted(len(classes.ids), 'token')}",
            states=range(visible),
            start=_START,
            accepting=range(visible),
            edges=classes.edges(visible),
            left_out=left_out_sentence(classes.states, visible, size),
            names={state: classes.name(state) for state in range(visible)},
            colors=BY_SOURCE,
            state_colors={state: _color(state) for state in range(visible)},
        )
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Classes:
    """Tokens by their allowed successors, the largest class first.

    ``ids``: all tokens, ascending. ``members``: the tokens of each class; class i is state
    i + 1. ``state_of``: the state of each of ``ids``.
    """

    pairs: ForbiddenPairs
    ids: NDArray[np.int32]
    members: list[NDArray[np.int32]]
    state_of: NDArray[np.int64]
    labels: TokenLabels

    @classmethod
    def of(cls, artifact: Artifact, pairs: ForbiddenPairs) -> "_Classes":
        """Of the tokens on the edges of a canonical artifact's token DFA."""
        # Behind these a product has tokens that stand for terminals.
        used = _used(artifact)
        ids = used[used < artifact.vocab_size]
        labels = TokenLabels(artifact.vocabulary, ids)
        every = ids.tolist()
        found: dict[bytes, list[int]] = {}
        step = max(1, _BLOCK // max(1, len(ids)))
        for first in range(0, len(every), step):
            block = every[first : first + step]
            rows = np.packbits(pairs.forbidden(block, every), axis=1)
            for token, row in zip(block, rows, strict=True):
                # The rows themselves would take a bit for each pair of tokens.
                digest = blake2b(row.tobytes(), digest_size=16).digest()
                found.setdefault(digest, []).append(token)
        members = [np.array(tokens, dtype=np.int32) for tokens in found.values()]
        members.sort(key=lambda tokens: (-len(tokens), labels.first(tokens)))
        state_of = np.zeros(len(ids), dtype=np.int64)
        for state, tokens in enumerate(members, start=1):
            state_of[np.searchsorted(ids, tokens)] = state
        return cls(pairs, ids, members, state_of, labels)

    @property
    def states(self) -> int:
        """Number of states, S0 included."""
        return len(self.members) + 1

    def name(self, state: int) -> Label:
        """The text inside a state."""
        if state == _START:
            return Label("S0", frozenset())
        text, notations = self.labels.label(self.members[state - 1])
        return Label(f"S{state}\n{text}", notations | {Notation.CLASS})

    def ends(self, visible: int) -> Iterator[tuple[int, int]]:
        """Source and target of each edge that leaves the first ``visible`` states."""
        for source, row in enumerate(self._allowed(visible)):
            yield from ((source, target) for target in np.unique(self.state_of[row]).tolist())

    def edges(self, visible: int) -> list[Edge]:
        """The edges of the first ``visible`` states; one from each to all that are left out."""
        state_of = np.minimum(self.state_of, visible)
        steps = [
            (source, target, self.ids[row & (state_of == target)])
            for source, row in enumerate(self._allowed(visible))
            for target in np.unique(state_of[row]).tolist()
        ]
        terse = len(steps) > _LABELLED_EDGES
        return [self._edge(*step, visible, terse) for step in steps]

    def _edge(
        self, source: int, target: int, tokens: NDArray[np.int32], visible: int, terse: bool
    ) -> Edge:
        if target == visible:
            return Edge(source, None, self.labels.count(tokens))
        label = self.labels.label(tokens, narrow=target == source)
        if terse and len(tokens) == len(self.members[target - 1]):
            unlabelled = Label("", frozenset([Notation.ALL_OF_CLASS]))
            return Edge(source, target, unlabelled, color=_color(source), tooltip=label.text)
        return Edge(source, target, label, color=_color(source))

    def _allowed(self, visible: int) -> NDArray[np.bool_]:
        """Which of ``ids`` each of the first ``visible`` states allows."""
        allowed = np.ones((visible, len(self.ids)), dtype=np.bool_)
        last = [int(tokens[0]) for tokens in self.members[: visible - 1]]
        allowed[1:] = ~self.pairs.forbidden(last, self.ids.tolist())
        return allowed


def _used(artifact: Artifact) -> NDArray[np.int32]:
    """The tokens that some mask may hold, ascending."""
    arrays = artifact.arrays
    if "product.codes" not in arrays:
        return np.unique(arrays["tokens.edge_tokens"])
    codes, blocks = arrays["product.codes"], arrays["product.blocks"]
    rows = BlockRows(codes, blocks, arrays["product.block_offsets"], "product")
    packed = rows.rows(slice(None), artifact.manifest.vocab_size)
    dense = tokenset.to_ids(np.bitwise_or.reduce(packed, axis=0))
    return np.union1d(dense, arrays["product.ids"]).astype(np.int32)


def _color(state: int) -> str:
    """Edges have the colour of the state that they leave, so that they can be followed.

    Those of S0 lead everywhere and say little: they stay in the background.
    """
    return FAINT if state == _START else PALETTE[state % len(PALETTE)]
