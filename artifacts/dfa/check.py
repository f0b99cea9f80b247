"""Whether the sections of automata fit together: the byte DFA of a grammar, the token DFA with
its families, the DFAs of terminals in one table, and the mask rows of states."""

import numpy as np

from ..container.manifest import Manifest
from ..container.sections import Arrays, check_sections, require
from ..tokens import tokenset
from ..tokens.distinct import distinct
from .byte_dfa import NARROW_STATES

_BYTE_DFA = {
    "dfa.accepting": "uint8 (states)",
    "dfa.classes": "uint8 (256)",
    "origins.ids": "int32 (ids) 0..origins",
    "origins.offsets": "int64 (states+1) to:ids",
}
_TOKEN_DFA = {
    "tokens.accepting": "uint8 (states)",
    "tokens.edge_offsets": "int64 (families+1) to:edges",
    "tokens.edge_targets": "int32 (edges) 0..states",
    "tokens.edge_tokens": "int32 (edges) 0..vocab",
    "tokens.family": "int32 (states) 0..families",
    "tokens.family_states": "int32 (families) 0..byte_states optional",
}
_TERMINALS = {
    "dfa.token_ids": "int32 (ids) 0..vocab",
    "dfa.token_offsets": "int64 (classes+1) to:ids ascending",
}
_NO_TERMINALS = {"dfa.terminals": "int32 (0)"}
_ROWS = {
    "row_ids": "int32 (ids) 0..vocab",
    "row_of": "int32 (states) 0..rows+lists",
    "row_offsets": "int64 (lists+1) to:ids",
    "rows": "uint32 (rows, words)",
}
_ALLOWED = {
    "tokens.allowed": "uint8 (bytes)",
    "tokens.allowed_offsets": "int64 (states+1) to:bytes",
}
_STACKED = {
    "lexer.table": "int32 (states, columns) 0..states dead",
    "lexer.accepting": "uint8 (states)",
    "lexer.columns": "uint16 (symbols) 0..columns",
    "lexer.starts": "int32 (terminals) 1..states",
}


def check_byte_dfa(manifest: Manifest, arrays: Arrays) -> int:
    """The number of its states. Raises ``ArtifactError`` naming the first bad section."""
    is_narrow = np.size(arrays.get("dfa.accepting", ())) <= NARROW_STATES
    table = f"{'uint16' if is_narrow else 'int32'} (states, columns) 0..states dead"
    declared = {"dfa.table": table} | _BYTE_DFA
    sizes = check_sections(arrays, declared, origins=len(manifest.origins))
    classes = sizes["columns"] - _check_terminals(manifest, arrays)
    require(classes > 0, "dfa.table")
    require(int(arrays["dfa.classes"].max()) + 1 == classes, "dfa.classes")
    require(0 <= manifest.byte_start < sizes["states"], "byte_start")
    return sizes["states"]


def _check_terminals(manifest: Manifest, arrays: Arrays) -> int:
    """The number of classes of tokens: they are not empty, ascend, and share no token."""
    if "dfa.token_ids" not in arrays:
        check_sections(arrays, _NO_TERMINALS)
        return 0
    classes = check_sections(arrays, _TERMINALS, vocab=manifest.vocab_size)["classes"]
    _check_order(arrays, "dfa.token_ids", "dfa.token_offsets")
    require(len(distinct(arrays["dfa.token_ids"])) == len(arrays["dfa.token_ids"]), "dfa.token_ids")
    return classes


def _check_order(arrays: Arrays, name: str, offsets: str) -> None:
    """The ids of each list ascend: they are searched by halving."""
    ids = arrays[name]
    first_of_list = np.zeros(len(ids) + 1, dtype=np.bool_)
    first_of_list[arrays[offsets]] = True
    require(bool(((ids[1:] > ids[:-1]) | first_of_list[1:-1]).all()), name)


def check_token_dfa(manifest: Manifest, arrays: Arrays, byte_states: int) -> int:
    """The number of its states, over a byte DFA of ``byte_states`` that has been checked."""
    families = {} if "tokens.family_states" in arrays else {"families": byte_states}
    sizes = {"byte_states": byte_states, "vocab": manifest.vocab_size} | families
    states = check_sections(arrays, _TOKEN_DFA, **sizes)["states"]
    require(0 <= manifest.token_start < states, "token_start")
    _check_order(arrays, "tokens.edge_tokens", "tokens.edge_offsets")
    return states


def check_stored_rows(manifest: Manifest, arrays: Arrays, states: int) -> None:
    """Mask rows that the file holds, of an automaton of so many ``states``."""
    size = manifest.vocab_size
    check_sections(arrays, _ROWS, vocab=size, words=tokenset.word_count(size), states=states)


def check_allowed_edges(arrays: Arrays) -> None:
    """Rows as one bit for each state and edge of its family; the token DFA has been checked."""
    family, edge_offsets = arrays["tokens.family"], arrays["tokens.edge_offsets"]
    check_sections(arrays, _ALLOWED, states=len(family))
    offsets = arrays["tokens.allowed_offsets"]
    needed = (np.diff(edge_offsets)[family] + 7) // 8
    require(bool((np.diff(offsets) == needed).all()), "tokens.allowed_offsets")


def check_stacked_dfas(arrays: Arrays, terminals: int, symbols: int) -> None:
    """The automata of ``terminals`` terminals over so many ``symbols``; none matches ε."""
    check_sections(arrays, _STACKED, terminals=terminals, symbols=symbols)
    accepting = arrays["lexer.accepting"]
    require(not accepting[0], "lexer.accepting")
    require(not accepting[arrays["lexer.starts"]].any(), "lexer.starts")
