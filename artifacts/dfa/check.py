"""Whether the sections of automata fit together: the byte DFA of a grammar, the token DFA with
its families, the DFAs of terminals in one table, and the mask rows of states."""

import numpy as np

from ..container.manifest import Manifest
from ..container.sections import Arrays, check_types, require, require_offsets, require_range
from ..tokens import tokenset
from ..tokens.distinct import distinct
from .byte_dfa import NARROW_STATES

# Sections: dtype and number of axes.
_BYTE_DFA = {
    "dfa.accepting": ("u1", 1),
    "dfa.classes": ("u1", 1),
    "origins.ids": ("i4", 1),
    "origins.offsets": ("i8", 1),
}
_TOKEN_DFA = {
    "tokens.accepting": ("u1", 1),
    "tokens.edge_offsets": ("i8", 1),
    "tokens.edge_targets": ("i4", 1),
    "tokens.edge_tokens": ("i4", 1),
    "tokens.family": ("i4", 1),
}
_NARROW_TABLE, _TABLE = {"dfa.table": ("u2", 2)}, {"dfa.table": ("i4", 2)}
_TERMINALS = {"dfa.token_ids": ("i4", 1), "dfa.token_offsets": ("i8", 1)}
_NO_TERMINALS = {"dfa.terminals": ("i4", 1)}
_ROWS = {
    "row_ids": ("i4", 1),
    "row_of": ("i4", 1),
    "row_offsets": ("i8", 1),
    "rows": ("u4", 2),
}
_ALLOWED = {"tokens.allowed": ("u1", 1), "tokens.allowed_offsets": ("i8", 1)}
_STACKED = {
    "lexer.accepting": ("u1", 1),
    "lexer.columns": ("u2", 1),
    "lexer.starts": ("i4", 1),
    "lexer.table": ("i4", 2),
}


def check_byte_dfa(manifest: Manifest, arrays: Arrays) -> int:
    """The number of its states. Raises ``ArtifactError`` naming the first bad section."""
    check_types(arrays, _BYTE_DFA)
    states = len(arrays["dfa.accepting"])
    check_types(arrays, _NARROW_TABLE if states <= NARROW_STATES else _TABLE)
    states, columns = arrays["dfa.table"].shape
    classes = columns - _check_terminals(manifest, arrays)
    require(states > 0 and classes > 0, "dfa.table")
    require_range(arrays, "dfa.table", 0, states)
    require(not arrays["dfa.table"][0].any(), "dfa.table")
    of_bytes = arrays["dfa.classes"]
    require(len(of_bytes) == 256 and int(of_bytes.max()) + 1 == classes, "dfa.classes")
    require(len(arrays["dfa.accepting"]) == states, "dfa.accepting")
    require(0 <= manifest.byte_start < states, "byte_start")
    require_offsets(arrays, "origins.offsets", states, len(arrays["origins.ids"]))
    require_range(arrays, "origins.ids", 0, len(manifest.origins))
    return int(states)


def _check_terminals(manifest: Manifest, arrays: Arrays) -> int:
    """The number of classes of tokens: they are not empty, ascend, and share no token."""
    if "dfa.token_ids" not in arrays:
        check_types(arrays, _NO_TERMINALS)
        require(len(arrays["dfa.terminals"]) == 0, "dfa.terminals")
        return 0
    check_types(arrays, _TERMINALS)
    ids, offsets = arrays["dfa.token_ids"], arrays["dfa.token_offsets"]
    require_offsets(arrays, "dfa.token_offsets", max(len(offsets) - 1, 0), len(ids))
    require(bool((offsets[1:] > offsets[:-1]).all()), "dfa.token_offsets")
    require_range(arrays, "dfa.token_ids", 0, manifest.vocab_size)
    require(len(distinct(ids)) == len(ids), "dfa.token_ids")
    first_of_class = np.zeros(len(ids) + 1, dtype=np.bool_)
    first_of_class[offsets] = True
    ascending = ids[1:] > ids[:-1]
    require(bool((ascending | first_of_class[1:-1]).all()), "dfa.token_ids")
    return len(offsets) - 1


def check_token_dfa(manifest: Manifest, arrays: Arrays, byte_states: int) -> int:
    """The number of its states, over a byte DFA of ``byte_states`` that has been checked."""
    check_types(arrays, _TOKEN_DFA)
    families = byte_states
    states, edges = len(arrays["tokens.family"]), len(arrays["tokens.edge_tokens"])
    if "tokens.family_states" in arrays:
        check_types(arrays, {"tokens.family_states": ("i4", 1)})
        require_range(arrays, "tokens.family_states", 0, families)
        families = len(arrays["tokens.family_states"])
    require(0 <= manifest.token_start < states, "token_start")
    require_range(arrays, "tokens.family", 0, families)
    require(len(arrays["tokens.accepting"]) == states, "tokens.accepting")
    require_offsets(arrays, "tokens.edge_offsets", families, edges)
    require(len(arrays["tokens.edge_targets"]) == edges, "tokens.edge_targets")
    require_range(arrays, "tokens.edge_targets", 0, states)
    require_range(arrays, "tokens.edge_tokens", 0, manifest.vocab_size)
    _check_edge_order(arrays)
    return states


def _check_edge_order(arrays: Arrays) -> None:
    """The tokens of a family ascend: they are searched by halving."""
    tokens, offsets = arrays["tokens.edge_tokens"], arrays["tokens.edge_offsets"]
    first_of_family = np.zeros(len(tokens) + 1, dtype=np.bool_)
    first_of_family[offsets] = True
    ascending = tokens[1:] > tokens[:-1]
    require(bool((ascending | first_of_family[1:-1]).all()), "tokens.edge_tokens")


def check_stored_rows(manifest: Manifest, arrays: Arrays, states: int) -> None:
    """Mask rows that the file holds, of an automaton of so many ``states``."""
    check_types(arrays, _ROWS)
    words = tokenset.word_count(manifest.vocab_size)
    require(arrays["rows"].shape[1] == words, "rows")
    require(len(arrays["row_of"]) == states, "row_of")
    lists = len(arrays["row_offsets"]) - 1
    require(lists >= 0, "row_offsets")
    require_offsets(arrays, "row_offsets", lists, len(arrays["row_ids"]))
    require_range(arrays, "row_ids", 0, manifest.vocab_size)
    require_range(arrays, "row_of", 0, len(arrays["rows"]) + lists)


def check_allowed_edges(arrays: Arrays) -> None:
    """Rows as one bit for each state and edge of its family; the token DFA has been checked."""
    check_types(arrays, _ALLOWED)
    family, edge_offsets = arrays["tokens.family"], arrays["tokens.edge_offsets"]
    offsets = arrays["tokens.allowed_offsets"]
    require_offsets(arrays, "tokens.allowed_offsets", len(family), len(arrays["tokens.allowed"]))
    needed = (np.diff(edge_offsets)[family] + 7) // 8
    require(bool((np.diff(offsets) == needed).all()), "tokens.allowed_offsets")


def check_stacked_dfas(arrays: Arrays, terminals: int, symbols: int) -> None:
    """The automata of ``terminals`` terminals over so many ``symbols``; none matches ε."""
    check_types(arrays, _STACKED)
    states, columns = arrays["lexer.table"].shape
    accepting, starts = arrays["lexer.accepting"], arrays["lexer.starts"]
    require(states > 0 and columns > 0, "lexer.table")
    require_range(arrays, "lexer.table", 0, states)
    require(not arrays["lexer.table"][0].any(), "lexer.table")
    require(len(arrays["lexer.columns"]) == symbols, "lexer.columns")
    require_range(arrays, "lexer.columns", 0, columns)
    require(len(accepting) == states and not accepting[0], "lexer.accepting")
    require(len(starts) == terminals, "lexer.starts")
    require_range(arrays, "lexer.starts", 1, states)
    require(not accepting[starts].any(), "lexer.starts")
