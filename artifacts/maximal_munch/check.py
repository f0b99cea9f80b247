"""Whether the sections of a ``greedy`` artifact fit together.

Besides the bounds of all indices, what makes the machine end: no lexeme and no call matches ε,
no chain of first calls leads back to its beginning, and what lies below a stack's top has a
lower number. What is read lazily, the codes of rows and the suspended trie nodes, is
checked when it is read.
"""

import numpy as np

from ..container.manifest import Manifest
from ..container.sections import (
    Arrays,
    check_trie,
    check_trie_types,
    check_types,
    require,
    require_offsets,
    require_range,
)
from ..dfa.check import check_stacked_dfas
from ..errors import ArtifactError
from ..network.check import check_network
from ..network.counts import Counters
from ..tokens import tokenset
from ..tokens.block_rows import BLOCK, MOST_ROWS
from .lexer import REFUSED_BYTE
from .parser_transitions import MOST_FRAMES, over_bottom
from .tables import FIRST_LEXEME

# The lexemes that are read and never end, where there are any.
REFUSED = "lexer.refused"

_GREEDY = {
    "greedy.block_offsets": ("i8", 1),
    "greedy.blocks": ("u4", 2),
    "greedy.codes": ("u2", 2),
    "greedy.exits": ("i4", 1),
    "greedy.exits_offsets": ("i8", 1),
    "greedy.feed_keys": ("i8", 1),
    "greedy.feeds": ("i4", 1),
    "greedy.first_keys": ("i8", 1),
    "greedy.firsts": ("i4", 1),
    "greedy.heads": ("i4", 2),
    "greedy.heads_offsets": ("i8", 1),
    "greedy.known": ("i4", 1),
    "greedy.lexer": ("i4", 1),
    "greedy.lexer_offsets": ("i8", 1),
    "greedy.pending": ("i4", 2),
    "greedy.pending_offsets": ("i8", 1),
    "greedy.stacks": ("i4", 2),
    "greedy.stacks_offsets": ("i8", 1),
    "greedy.steps": ("i4", 2),
    "lexer.ignored": ("u1", 1),
    "lexer.priorities": ("i4", 1),
    "transitions.frames": ("i4", 1),
    "transitions.frames_offsets": ("i8", 1),
    "transitions.keys": ("i8", 1),
    "transitions.table": ("i4", 2),
    "transitions.targets": ("i4", 1),
}


def check_greedy(manifest: Manifest, arrays: Arrays) -> None:
    """Raise ``ArtifactError`` naming the first section that does not fit."""
    names = manifest.parser
    if names is None:
        raise ArtifactError("the manifest is damaged: it has no 'parser'")
    check_types(arrays, _GREEDY)
    lexemes = len(arrays["lexer.priorities"])
    require(len(names.texts) == lexemes, "lexer.priorities")
    require(len(arrays["lexer.ignored"]) == lexemes, "lexer.ignored")
    if "lexer.shortest" in arrays:
        check_types(arrays, {"lexer.shortest": ("u1", 1)})
        require(len(arrays["lexer.shortest"]) == lexemes, "lexer.shortest")
    if REFUSED in arrays:
        check_types(arrays, {REFUSED: ("i4", 1)})
        require_range(arrays, REFUSED, 0, lexemes)
    check_stacked_dfas(arrays, lexemes, FIRST_LEXEME)
    # Lexemes lie one after the other.
    starts = arrays["lexer.starts"]
    require(bool((starts[1:] > starts[:-1]).all()), "lexer.starts")
    states = check_network(manifest, names, arrays, lexemes, counted="count.items" in arrays)
    if "count.items" in arrays:
        _check_frames(arrays, states)
    require(
        not arrays["network.table"][:, int(arrays["network.classes"][0])].any(), "network.table"
    )
    require(not arrays["network.classes"].any(), "network.classes")
    nodes = _check_stacks(arrays, states)
    heads = _check_pairs(arrays, "greedy.heads", states, nodes)
    require(arrays["greedy.heads_offsets"][1] == 0, "greedy.heads_offsets")
    _check_lexer(arrays)
    rows = _check_rows(manifest, arrays)
    _check_answers(arrays, rows, heads)
    _check_transitions(arrays, states, heads)
    if "trie.octets" in arrays:
        check_trie_types(arrays, "trie.")
        check_trie(arrays, "trie.", manifest.vocab_size)


def _check_frames(arrays: Arrays, states: int) -> None:
    """Frames of counters have numbers; nothing that names one is precomputed."""
    counters = Counters.from_arrays(states, arrays)
    require(counters.last_frame < MOST_FRAMES, "count.most")


def _check_stacks(arrays: Arrays, states: int) -> int:
    """The number of nodes: the bottom, the hole, and sets of (frame, lower node)."""
    stacks, offsets = arrays["greedy.stacks"], arrays["greedy.stacks_offsets"]
    nodes = len(offsets) - 1
    require(stacks.ndim == 2 and stacks.shape[1] == 2, "greedy.stacks")
    require(nodes >= 2, "greedy.stacks_offsets")
    require_offsets(arrays, "greedy.stacks_offsets", nodes, len(stacks))
    require(offsets[:3].tolist() == [0, 1, 2], "greedy.stacks_offsets")
    require(stacks[:2].tolist() == [[0, 0], [-1, 0]], "greedy.stacks")
    require(bool((offsets[1:] > offsets[:-1]).all()), "greedy.stacks_offsets")
    frames, rests = stacks[:, 0], stacks[:, 1]
    require(int(frames.min()) >= -1 and int(frames.max()) < states, "greedy.stacks")
    owners = np.repeat(np.arange(nodes), np.diff(offsets))
    below = rests < owners
    require(bool(below[2:].all()) and int(rests.min()) >= 0, "greedy.stacks")
    # A mark lies on nothing.
    require(not rests[frames <= 0].any(), "greedy.stacks")
    return nodes


def _check_pairs(arrays: Arrays, name: str, high: int, other_high: int) -> int:
    """Lists of pairs within bounds; how many lists there are."""
    pairs, offsets = arrays[name], arrays[f"{name}_offsets"]
    lists = len(offsets) - 1
    require(pairs.shape[1] == 2, name)
    require(lists >= 1, f"{name}_offsets")
    require_offsets(arrays, f"{name}_offsets", lists, len(pairs))
    for column, limit in ((0, high), (1, other_high)):
        values = pairs[:, column]
        require(not len(values) or bool(values.min() >= 0 and values.max() < limit), name)
    return lists


def _check_lexer(arrays: Arrays) -> None:
    steps, offsets = arrays["greedy.steps"], arrays["greedy.lexer_offsets"]
    known = len(steps)
    require(known >= 1, "greedy.steps")
    require_offsets(arrays, "greedy.lexer_offsets", known, len(arrays["greedy.lexer"]))
    require(int(offsets[1]) == 0, "greedy.lexer_offsets")
    require_range(arrays, "greedy.lexer", 1, len(arrays["lexer.table"]))
    require(steps.shape[1] == arrays["lexer.table"].shape[1], "greedy.steps")
    require_range(arrays, "greedy.steps", REFUSED_BYTE, known)
    require(not steps[0].any(), "greedy.steps")


def _check_rows(manifest: Manifest, arrays: Arrays) -> int:
    codes, blocks = arrays["greedy.codes"], arrays["greedy.blocks"]
    places = -(-tokenset.word_count(manifest.vocab_size) // BLOCK)
    require(codes.shape[1] == places and 1 <= len(codes) <= MOST_ROWS, "greedy.codes")
    require(blocks.shape[1] == BLOCK, "greedy.blocks")
    require_offsets(arrays, "greedy.block_offsets", places, len(blocks))
    return len(codes)


def _check_answers(arrays: Arrays, rows: int, heads: int) -> None:
    exits = len(arrays["greedy.exits_offsets"]) - 1
    require(exits >= 2, "greedy.exits_offsets")
    require_offsets(arrays, "greedy.exits_offsets", exits, len(arrays["greedy.exits"]))
    offsets = arrays["greedy.exits_offsets"]
    require(offsets[:3].tolist() == [0, 0, 1], "greedy.exits_offsets")
    require(bool((offsets[2:] > offsets[1:-1]).all()), "greedy.exits_offsets")
    # How many nodes there are is known with the trie.
    require_range(arrays, "greedy.exits", 0, np.iinfo(np.int32).max)
    residuals = len(arrays["greedy.known"])
    require_range(arrays, "greedy.known", 0, rows)
    if residuals:
        require(_check_pairs(arrays, "greedy.pending", heads, exits) == residuals, "greedy.known")
    else:
        require(not len(arrays["greedy.pending"]), "greedy.pending")
        require(arrays["greedy.pending_offsets"].tolist() == [0], "greedy.pending_offsets")
    for name in ("greedy.first", "greedy.feed"):
        require(len(arrays[f"{name}s"]) == len(arrays[f"{name}_keys"]), f"{name}s")
        require_range(arrays, f"{name}s", 0, residuals)


def _check_transitions(arrays: Arrays, states: int, heads: int) -> None:
    """Heads, states of the lexer and frames exist; no head needs a frame below the last one."""
    keys, targets = arrays["transitions.keys"], arrays["transitions.targets"]
    table, offsets = arrays["transitions.table"], arrays["transitions.frames_offsets"]
    require(table.shape[1] == 5, "transitions.table")
    require(len(targets) == len(keys), "transitions.targets")
    require_range(arrays, "transitions.targets", 0, len(table))
    frames = len(arrays["transitions.frames"])
    require_offsets(arrays, "transitions.frames_offsets", len(table), frames)
    require_range(arrays, "transitions.frames", 0, states)
    if len(table):
        needs_frame = table[:, 1] == 1
        high = [heads, 2, heads, len(arrays["greedy.steps"]), 2]
        require(bool((table >= 0).all() and (table < high).all()), "transitions.table")
        require(not np.diff(offsets)[needs_frame].any(), "transitions.frames_offsets")
        require(not needs_frame[targets[over_bottom(keys)]].any(), "transitions.targets")
