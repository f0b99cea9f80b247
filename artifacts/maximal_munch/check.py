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
    check_sections,
    check_trie,
    require,
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
    "greedy.block_offsets": "int64 (places+1) to:blocks",
    "greedy.blocks": f"uint32 (blocks, {BLOCK})",
    "greedy.codes": "uint16 (rows, places)",
    # How many nodes there are is known with the trie.
    "greedy.exits": f"int32 (exit_nodes) 0..{np.iinfo(np.int32).max}",
    "greedy.exits_offsets": "int64 (exits+1) to:exit_nodes",
    "greedy.feed_keys": "int64 (feeds)",
    "greedy.feeds": "int32 (feeds) 0..residuals",
    "greedy.first_keys": "int64 (firsts)",
    "greedy.firsts": "int32 (firsts) 0..residuals",
    "greedy.heads": "int32 (pairs, 2) 0..states,0..nodes",
    "greedy.heads_offsets": "int64 (heads+1) to:pairs",
    "greedy.known": "int32 (residuals) 0..rows",
    "greedy.lexer": "int32 (lexer_states) 1..dfa_states",
    "greedy.lexer_offsets": "int64 (lexer+1) to:lexer_states",
    "greedy.pending": "int32 (pending, 2) 0..heads,0..exits",
    "greedy.pending_offsets": "int64 (residuals+1) to:pending",
    "greedy.stacks": "int32 (frames, 2) -1..states,0..nodes",
    "greedy.stacks_offsets": "int64 (nodes+1) to:frames ascending",
    "greedy.steps": f"int32 (lexer, columns) {REFUSED_BYTE}..lexer",
    "lexer.ignored": "uint8 (lexemes)",
    "lexer.priorities": "int32 (lexemes)",
    REFUSED: "int32 (refused) 0..lexemes optional",
    "lexer.shortest": "uint8 (lexemes) optional",
    # Lexemes lie one after the other.
    "lexer.starts": "int32 (lexemes) ascending",
    "transitions.frames": "int32 (pushed) 0..states",
    "transitions.frames_offsets": "int64 (transitions+1) to:pushed",
    "transitions.keys": "int64 (keys)",
    "transitions.table": "int32 (transitions, 5) 0..heads,0..2,0..heads,0..lexer,0..2",
    "transitions.targets": "int32 (keys) 0..transitions",
}


def check_greedy(manifest: Manifest, arrays: Arrays) -> None:
    """Raise ``ArtifactError`` naming the first section that does not fit."""
    names = manifest.parser
    if names is None:
        raise ArtifactError("the manifest is damaged: it has no 'parser'")
    lexemes = len(names.texts)
    check_stacked_dfas(arrays, lexemes, FIRST_LEXEME)
    states = check_network(manifest, names, arrays, lexemes, counted="count.items" in arrays)
    if "count.items" in arrays:
        # Frames of counters have numbers; nothing that names one is precomputed.
        counters = Counters.from_arrays(states, arrays)
        require(counters.last_frame < MOST_FRAMES, "count.most")
    table, classes = arrays["network.table"], arrays["network.classes"]
    require(not table[:, int(classes[0])].any(), "network.table")
    require(not classes.any(), "network.classes")
    dfa_states, columns = arrays["lexer.table"].shape
    sizes = check_sections(
        arrays,
        _GREEDY,
        lexemes=lexemes,
        states=states,
        dfa_states=dfa_states,
        columns=columns,
        places=-(-tokenset.word_count(manifest.vocab_size) // BLOCK),
    )
    require(1 <= sizes["rows"] <= MOST_ROWS, "greedy.codes")
    _check_stacks(arrays, sizes["nodes"])
    for name in ("heads", "lexer"):
        require(sizes[name] >= 1, f"greedy.{name}_offsets")
        require(int(arrays[f"greedy.{name}_offsets"][1]) == 0, f"greedy.{name}_offsets")
    require(not arrays["greedy.steps"][0].any(), "greedy.steps")
    exits = arrays["greedy.exits_offsets"]
    require(exits[:3].tolist() == [0, 0, 1], "greedy.exits_offsets")
    require(bool((exits[2:] > exits[1:-1]).all()), "greedy.exits_offsets")
    # No head needs a frame below the last one.
    needs_frame = arrays["transitions.table"][:, 1] == 1
    pushed = np.diff(arrays["transitions.frames_offsets"])
    require(not pushed[needs_frame].any(), "transitions.frames_offsets")
    targets = arrays["transitions.targets"][over_bottom(arrays["transitions.keys"])]
    require(not needs_frame[targets].any(), "transitions.targets")
    if "trie.octets" in arrays:
        check_trie(arrays, "trie.", manifest.vocab_size)


def _check_stacks(arrays: Arrays, nodes: int) -> None:
    """The bottom, the hole, and sets of (frame, lower node)."""
    stacks, offsets = arrays["greedy.stacks"], arrays["greedy.stacks_offsets"]
    require(offsets[:3].tolist() == [0, 1, 2], "greedy.stacks_offsets")
    require(stacks[:2].tolist() == [[0, 0], [-1, 0]], "greedy.stacks")
    frames, rests = stacks.T
    owners = np.repeat(np.arange(nodes), np.diff(offsets))
    require(bool((rests < owners)[2:].all()), "greedy.stacks")
    # A mark lies on nothing.
    require(not rests[frames <= 0].any(), "greedy.stacks")
