"""Whether the sections of a ``network`` or ``earley`` artifact fit together.

Besides the bounds of all indices, what makes the machines end: no symbol matches ε, and
neither a chain of single nonterminals nor one of first calls leads back to its beginning.
"""

import numpy as np
from numpy.typing import NDArray

from ..canonical_network.check import check_inert, check_precomputed
from ..container.manifest import Manifest, ParserNames
from ..container.requirements import Arrays, check_types, require, require_offsets, require_range
from ..earley.tables import END
from ..errors import ArtifactError
from ..network.check import check_effects, check_memo
from ..tokens.vocabulary import TEXT
from .check_cartesian import TOKENIZER, check_tokenizer

_PARSER = {
    "earley.bodies": ("i4", 1),
    "earley.first": ("i4", 1),
    "earley.path_offsets": ("i8", 1),
    "earley.paths": ("i4", 1),
    "earley.rests": ("u1", 1),
    "earley.symbols": ("i4", 1),
    "lexer.accepting": ("u1", 1),
    "lexer.columns": ("u2", 1),
    "lexer.starts": ("i4", 1),
    "lexer.table": ("i4", 2),
    "terminals.ids": ("i4", 1),
    "terminals.offsets": ("i8", 1),
}
NETWORK = {
    "network.accepting": ("u1", 1),
    "network.call_offsets": ("i8", 1),
    "network.call_returns": ("i4", 1),
    "network.call_starts": ("i4", 1),
    "network.classes": ("u1", 1),
    "network.entries": ("i4", 1),
    "network.table": ("i4", 2),
}
# What the recogniser packs into an item beside the column that it began in.
_ITEM_BITS = 44


def check_parser(manifest: Manifest, arrays: Arrays) -> None:
    """Raise ``ArtifactError`` naming the first section that does not fit."""
    names = manifest.parser
    if names is None:
        raise ArtifactError("the manifest is damaged: it has no 'parser'")
    check_types(arrays, _PARSER)
    named = _check_terminals(manifest, arrays)
    require_dfas(arrays, len(names.texts), 256 + named)
    _check_productions(names, arrays)
    if manifest.kind == "network":
        check_types(arrays, NETWORK)
        states = check_network(manifest, names, arrays, named)
        if manifest.tokenization == "canonical":
            _check_canonical(manifest, arrays)
        check_memo(manifest, arrays, states)
        check_effects(arrays, manifest.vocab_size, states)


def _check_canonical(manifest: Manifest, arrays: Arrays) -> None:
    """The tokenizer's sections; grammars that name tokens have none."""
    check_types(arrays, {**TOKENIZER, "cuts.final": ("u1", 1)})
    check_tokenizer(manifest, arrays)
    require(len(arrays["terminals.ids"]) == 0, "terminals.ids")
    require(len(arrays["cuts.final"]) == len(arrays["cuts.table"]), "cuts.final")
    # What merging gives is text; so is what fills in for it.
    text = (arrays["vocab.kinds"] == TEXT) & (np.diff(arrays["vocab.offsets"]) > 0)
    require(bool(text[arrays["pairs.order"]].all()), "pairs.order")
    fallback = arrays["cuts.fallback"]
    require(bool(text[fallback[fallback >= 0]].all()), "cuts.fallback")
    require(bool(text[arrays.get("cuts.whole", fallback[:0])].all()), "cuts.whole")
    if "stable.table" in arrays:
        check_inert(arrays)
    if "closed.keys" in arrays:
        check_precomputed(manifest, arrays)


def _check_terminals(manifest: Manifest, arrays: Arrays) -> int:
    """The number of token terminals."""
    count = len(arrays["terminals.offsets"]) - 1
    require(count >= 0, "terminals.offsets")
    require_offsets(arrays, "terminals.offsets", count, len(arrays["terminals.ids"]))
    require_range(arrays, "terminals.ids", 0, manifest.vocab_size)
    return count


def require_dfas(arrays: Arrays, terminals: int, symbols: int) -> None:
    """The automata of ``terminals`` terminals over so many ``symbols``; none matches ε."""
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


def _check_productions(names: ParserNames, arrays: Arrays) -> None:
    symbols, bodies = arrays["earley.symbols"], arrays["earley.bodies"]
    rules, terminals = len(arrays["earley.first"]) - 1, len(names.texts)
    if not 0 <= names.start < rules:
        raise ArtifactError("the manifest is damaged: bad 'parser'")
    is_end = symbols == END
    inside = symbols[~is_end]
    require(bool(((inside >= -terminals) & (inside < rules)).all()), "earley.symbols")
    # Each body begins where the one before has ended, and is not empty.
    begins = np.append(0, np.flatnonzero(is_end) + 1)
    require(int(begins[-1]) == len(symbols), "earley.symbols")
    require(np.array_equal(begins[:-1], bodies), "earley.bodies")
    lengths = np.diff(begins) - 1
    require(bool((lengths > 0).all()), "earley.bodies")
    require_offsets(arrays, "earley.first", rules, len(bodies))
    require(len(arrays["earley.rests"]) == rules, "earley.rests")
    require_offsets(arrays, "earley.path_offsets", len(bodies), len(arrays["earley.paths"]))
    require_range(arrays, "earley.paths", 0, len(names.rules))
    heads = np.repeat(np.arange(rules), np.diff(arrays["earley.first"]))
    alone = symbols[bodies]
    single = (lengths == 1) & (alone >= 0)
    require(_ends(rules, heads[single], alone[single]), "earley.symbols")
    bits = sum(n.bit_length() for n in (len(symbols), len(arrays["lexer.table"]), rules))
    require(bits <= _ITEM_BITS, "earley.symbols")


def check_network(manifest: Manifest, names: ParserNames, arrays: Arrays, named: int) -> int:
    """The number of states; ``named``: how many symbols there are beside the bytes."""
    table, accepting = arrays["network.table"], arrays["network.accepting"]
    starts, offsets = arrays["network.call_starts"], arrays["network.call_offsets"]
    states, columns = table.shape
    classes = arrays["network.classes"]
    require(states > 0 and columns > 0, "network.table")
    require_range(arrays, "network.table", 0, states)
    require(not table[0].any(), "network.table")
    require(len(classes) == 256 and int(classes.max()) + 1 + named == columns, "network.classes")
    require(len(accepting) == states and not accepting[0], "network.accepting")
    require_range(arrays, "network.accepting", 0, 2)
    require_offsets(arrays, "network.call_offsets", states, len(starts))
    require(int(offsets[1]) == 0, "network.call_offsets")
    require(len(arrays["network.call_returns"]) == len(starts), "network.call_returns")
    require_range(arrays, "network.call_returns", 1, states)
    require_range(arrays, "network.call_starts", 1, states)
    require(not accepting[starts].any(), "network.call_starts")
    require(len(arrays["network.entries"]) == len(names.called), "network.entries")
    # Both are the dead state where the empty text is the only member.
    require_range(arrays, "network.entries", 0, states)
    require(0 <= manifest.byte_start < states, "byte_start")
    callers = np.repeat(np.arange(states), np.diff(offsets))
    require(_ends(int(states), callers, starts), "network.call_starts")
    return int(states)


def _ends(size: int, sources: NDArray[np.integer], targets: NDArray[np.integer]) -> bool:
    """Whether no chain of steps comes back: those to where none begins are taken away."""
    while len(sources):
        going_on = np.zeros(size, dtype=np.bool_)
        going_on[sources] = True
        left = going_on[targets]
        if left.all():
            return False
        sources, targets = sources[left], targets[left]
    return True
