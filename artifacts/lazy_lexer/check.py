"""Whether the sections of a lexer with lazy DFAs fit together."""

from ..container.sections import Arrays, check_sections, require
from ..dfa.check_conjunctions import check_conjunctions

LEXEMES, TERMINALS = "lazy.lexemes", "lazy.terminals"

# Lazy DFAs that one state of the lexer is made of at most, each by as many conjunctions.
MOST_THREADS = 40

_SECTIONS = {
    # Of what is precomputed over complete lexers there is nothing.
    "greedy.feed_keys": "int64 (0)",
    "greedy.first_keys": "int64 (0)",
    "greedy.known": "int32 (0)",
    "greedy.steps": "int32 (1, columns)",
    "lexer.starts": "int32 (starts)",
    "transitions.keys": "int64 (0)",
    LEXEMES: "int32 (lexemes) 0..starts ascending",
    TERMINALS: "int64 (lexemes+1) to:conjunctions ascending",
}


def check_lazy_lexemes(arrays: Arrays) -> None:
    """Raise ``ArtifactError`` naming the first section that does not fit, beside those that all
    lexers have, which are checked afterwards."""
    check_conjunctions(arrays)
    sizes = check_sections(arrays, _SECTIONS, conjunctions=len(arrays["lazy.starts"]))
    require(sizes["lexemes"] > 0, LEXEMES)
    require(sizes["conjunctions"] <= MOST_THREADS, TERMINALS)
    starts = arrays["lazy.states"][:-1] + arrays["lazy.starts"]
    may_be_empty = (arrays["lazy.accepting"][starts] != 0) & (arrays["lazy.bounds"][:, 0] == 0)
    require(not may_be_empty.any(), "lazy.accepting")
