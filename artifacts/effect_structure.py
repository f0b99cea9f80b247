"""Whether the sections that say what tokens do in a network fit together."""

import numpy as np

from .requirements import Arrays, check_types, require, require_offsets, require_range

_EFFECTS = {
    "moves.classes": ("u2", 1),
    "moves.code_offsets": ("i8", 1),
    "moves.codes": ("i4", 1),
    "moves.rests": ("u2", 2),
    "moves.table": ("u2", 2),
}


def check_effects(arrays: Arrays, vocab_size: int, states: int) -> None:
    """Raise ``ArtifactError`` naming the first section that does not fit a network of so many
    ``states``."""
    check_types(arrays, _EFFECTS)
    table, rests, codes = (arrays[f"moves.{name}"] for name in ("table", "rests", "codes"))
    effects = len(arrays["moves.code_offsets"]) - 1
    require(effects >= 0, "moves.code_offsets")
    require_offsets(arrays, "moves.code_offsets", effects, len(codes))
    # One code alone is no effect of its own.
    require(bool((np.diff(arrays["moves.code_offsets"]) > 1).all()), "moves.code_offsets")
    require_range(arrays, "moves.codes", 1 - states, states + len(rests))
    # What is pushed is a frame of some call: only these have columns in the rests.
    frames = np.zeros(states, dtype=np.bool_)
    frames[arrays["network.call_returns"]] = True
    pushed = codes < 0
    require(bool(frames[-codes[pushed]].all()) and bool(codes.all()), "moves.codes")
    # Behind what is pushed comes more of it, or a state.
    ends = np.append(codes >= states, True)
    ends[arrays["moves.code_offsets"]] = True
    require(not bool((pushed & ends[1:]).any()), "moves.codes")
    unknown = states + len(rests) + effects
    require_range(arrays, "moves.table", 0, unknown + 1)
    require_range(arrays, "moves.rests", 0, unknown + 1)
    if not len(arrays["moves.classes"]):
        require(table.size == 0, "moves.table")
        return
    require(len(arrays["moves.classes"]) == vocab_size, "moves.classes")
    require(len(table) == states and not table[0].any(), "moves.table")
    require_range(arrays, "moves.classes", 0, table.shape[1])
    require(rests.shape[1] == np.count_nonzero(frames), "moves.rests")
