"""Whether the sections of a lexer with lazy DFAs fit together."""

import numpy as np

from ..container.sections import Arrays, check_types, require, require_offsets
from ..lazy_dfa.check import check_conjunctions

LEXEMES, TERMINALS = "lazy.lexemes", "lazy.terminals"

# Lazy DFAs that one state of the lexer is made of at most, each by as many conjunctions.
MOST_THREADS = 40

# Of what is precomputed over complete lexers there is nothing.
_EMPTY = ("greedy.first_keys", "greedy.feed_keys", "greedy.known", "transitions.keys")


def check_lazy_lexemes(arrays: Arrays) -> None:
    """Raise ``ArtifactError`` naming the first section that does not fit, beside those that all
    lexers have, which are checked afterwards."""
    check_conjunctions(arrays)
    known = dict.fromkeys(_EMPTY, ("i8", 1)) | {"greedy.known": ("i4", 1)}
    check_types(arrays, known | {"greedy.steps": ("i4", 2), "lexer.starts": ("i4", 1)})
    check_types(arrays, {LEXEMES: ("i4", 1), TERMINALS: ("i8", 1)})
    lexemes, offsets = arrays[LEXEMES], arrays[TERMINALS]
    require(len(lexemes) > 0 and bool((np.diff(lexemes) > 0).all()), LEXEMES)
    require(lexemes[0] >= 0 and int(lexemes[-1]) < len(arrays["lexer.starts"]), LEXEMES)
    require_offsets(arrays, TERMINALS, len(lexemes), len(arrays["lazy.starts"]))
    require(bool((np.diff(offsets) > 0).all()), TERMINALS)
    require(int(offsets[-1]) <= MOST_THREADS, TERMINALS)
    starts = arrays["lazy.states"][:-1] + arrays["lazy.starts"]
    may_be_empty = (arrays["lazy.accepting"][starts] != 0) & (arrays["lazy.bounds"][:, 0] == 0)
    require(not may_be_empty.any(), "lazy.accepting")
    require(len(arrays["greedy.steps"]) == 1, "greedy.steps")
    for name in _EMPTY:
        require(not len(arrays[name]), name)
