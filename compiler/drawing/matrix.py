"""Which token may follow which, as a matrix: a row for the last token, a column for the next one.

                     1  2
    S0               ●  ●     column 1 stands for ‹a› and ‹ab›, 2 for ‹b›
    S1 ‹b› ‹ab›      ●  ●
    S2 ‹a›           ●  ·     ‹ab› is one token: ‹b› never follows ‹a›

Tokens with equal rows share a row, tokens with equal columns a column: every cell is exact.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from itertools import zip_longest
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from constrain.artifacts.artifact import Artifact
from constrain.artifacts.tokens import tokenset
from constrain.artifacts.tokens.forbidden_pairs import ForbiddenPairs
from constrain.artifacts.tokens.trie import walk

from .dot import cell, nested, table_to_dot
from .drawing import Drawing
from .labels import TokenLabels
from .picture import FAINT, WAY, Label, Notation, Size, counted, left_out_sentence

# Booleans that one block of the relation between tokens may hold.
_BLOCK = 1 << 26

START = 0

# Rows and columns that a matrix shows at most.
_ROWS, _COLUMNS, _LISTS = 100, 64, 3
_MAY, _NEVER, _INK = "●", "·", "#111111"
_FILL, _TAKEN = "#cfe3f1", "#f6c9a8"


@dataclass(frozen=True, slots=True, eq=False)
class Classes:
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
    def of(cls, artifact: Artifact, pairs: ForbiddenPairs) -> "Classes":
        """Of the tokens on the edges of a canonical artifact's token DFA."""
        # After these there may be tokens that stand for terminals.
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
        if state == START:
            return Label("S0", frozenset())
        text, notations = self.labels.label(self.members[state - 1])
        return Label(f"S{state}\n{text}", notations | {Notation.CLASS})

    def ends(self, visible: int) -> Iterator[tuple[int, int]]:
        """Source and target of each edge that leaves the first ``visible`` states."""
        for source, row in enumerate(self.allowed(visible)):
            yield from ((source, target) for target in np.unique(self.state_of[row]).tolist())

    def way(self, ids: Sequence[int]) -> list[int]:
        """The states that tokens lead through, from S0."""
        return [START, *self.state_of[np.searchsorted(self.ids, list(ids))].tolist()]

    def allowed(self, visible: int) -> NDArray[np.bool_]:
        """Which of ``ids`` each of the first ``visible`` states allows."""
        allowed = np.ones((visible, len(self.ids)), dtype=np.bool_)
        last = [int(tokens[0]) for tokens in self.members[: visible - 1]]
        allowed[1:] = ~self.pairs.forbidden(last, self.ids.tolist())
        return allowed


class Matrix(NamedTuple):
    """``rows``: states of ``Classes``. ``columns``: the tokens of each column. ``may``: bool (rows,
    columns), whether these tokens may follow those of the row."""

    rows: Sequence[int]
    columns: Sequence[NDArray[np.int32]]
    may: NDArray[np.bool_]


def matrix_of(classes: Classes, rows: Sequence[int]) -> Matrix:
    """Of some rows: tokens that follow the same of them share a column, the largest first."""
    allowed = classes.allowed(max(rows) + 1)[list(rows)]
    packed = np.packbits(allowed, axis=0)
    _, first, column_of = np.unique(packed, axis=1, return_index=True, return_inverse=True)
    column_of = column_of.reshape(-1)
    columns = [classes.ids[column_of == i] for i in range(len(first))]
    order = sorted(
        range(len(columns)), key=lambda i: (-len(columns[i]), classes.labels.first(columns[i]))
    )
    return Matrix(rows, [columns[i] for i in order], allowed[:, first[order]])


def draw_matrix(
    classes: Classes, heading: str, size: Size, ids: Sequence[int] | None = None
) -> Drawing:
    """The rows of the largest classes, or with ``ids`` of the states that these lead through."""
    way = None if ids is None else classes.way(ids)
    if way is None:
        rows = list(range(min(classes.states, size.states, _ROWS)))
    else:
        rows = sorted(set(way))[:_ROWS]
    matrix = matrix_of(classes, rows)
    shown = min(len(matrix.columns), _COLUMNS)
    taken = _taken(matrix, way or [], ids or [])
    labels = [classes.labels.label(tokens) for tokens in matrix.columns[:shown]]
    used = frozenset().union(*(label.notations for label in labels))
    heads = [cell(f"{i:>2}", color=FAINT, align="center") for i in range(1, shown + 1)]
    table = [[cell("last token"), cell("next →", color=FAINT, align="right"), *heads]]
    for state, may in zip(rows, matrix.may.tolist(), strict=True):
        name = classes.name(state)
        used |= name.notations - {Notation.CLASS}
        title, *tokens = name.text.split("\n")
        line = [cell(title), cell(" ".join(tokens) or "nothing was read yet")]
        for column in range(shown):
            fill = _TAKEN if (state, column) in taken else _FILL if may[column] else ""
            color = _INK if may[column] else FAINT
            mark = _MAY if may[column] else _NEVER
            line.append(cell(mark, color=color, fill=fill, align="center"))
        table.append(line)
    legend = [(_MAY, "may follow", _INK), (_NEVER, "never: the merges join them", FAINT)]
    legend += [(*notation.value, _INK) for notation in Notation if notation in used]
    if taken:
        legend.append((_MAY, "the way of the text's tokens", WAY))
    counts = f"{counted(classes.states, 'state')}, {counted(len(classes.ids), 'token')}; a row is "
    counts += "a state, S1 and on by the last token, columns are the next tokens"
    return table_to_dot(
        heading,
        counts,
        [*table, *_meanings(labels, shown + 2)],
        left_out=_left_out(classes, matrix, shown, size, is_way=way is not None),
        legend=legend,
    )


def _left_out(
    classes: Classes, matrix: Matrix, shown: int, size: Size, *, is_way: bool
) -> str | None:
    rows = len(matrix.rows)
    said = []
    if is_way and rows < classes.states:
        missing = f"{classes.states - rows:,} of {counted(classes.states, 'row')}"
        said.append(f"{missing} are left out, where the text's tokens do not lead")
    elif sentence := left_out_sentence(classes.states, rows, size._replace(states=rows), "row"):
        said.append(sentence)
    rest = matrix.columns[shown:]
    if rest:
        missing = f"{len(rest):,} of {counted(len(matrix.columns), 'column')}"
        said.append(f"{missing}, {counted(sum(map(len, rest)), 'token')}, are left out")
    return "; ".join(said) or None


def _meanings(labels: Sequence[Label], span: int) -> list[list[str]]:
    """What each column stands for, below the matrix."""
    texts = [" ".join(label.text.split("\n")) for label in labels]
    cells = [cell(f"{i:>3}  {text}  ") for i, text in enumerate(texts, start=1)]
    high = -(-len(cells) // _LISTS)
    lists = [cells[i : i + high] for i in range(0, len(cells), high)]
    rows = list(zip_longest(*lists, fillvalue=cell("")))
    return [
        [cell("", span=span)],
        [cell("next tokens, by column:", span=span)],
        [nested(rows, span)],
    ]


def _taken(matrix: Matrix, way: Sequence[int], ids: Sequence[int]) -> set[tuple[int, int]]:
    """The cells that a text's tokens use: a state and a column."""
    column_of = {int(t): i for i, tokens in enumerate(matrix.columns) for t in tokens.tolist()}
    return {(state, column_of[i]) for state, i in zip(way, ids, strict=False)}


def _used(artifact: Artifact) -> NDArray[np.int32]:
    """The tokens that some mask may hold, ascending; where not all rows are precomputed, those that
    the byte DFA reads somewhere."""
    arrays = artifact.arrays
    if "tokens.edge_tokens" in arrays:
        return np.unique(arrays["tokens.edge_tokens"])
    if "closed.all" in arrays and arrays["closed.all"][1]:
        dense = tokenset.to_ids(np.bitwise_or.reduce(arrays["closed.rows"], axis=0))
        return np.union1d(dense, arrays["closed.ids"]).astype(np.int32)
    dfa = artifact.byte_dfa
    states = np.arange(1, dfa.states)
    read = [each.tokens for each in walk(artifact.trie, dfa.table, dfa.classes, states)]
    return np.unique(np.concatenate(read)).astype(np.int32)
