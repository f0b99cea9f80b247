"""What a page knows of tokens: the vocabulary, how the tokenizer splits and merges, and masks.

Masks of any token sequences are walked in the page, over the vocabulary's trie. Canonical ones need
the tokenizer's state: the DFA over canonical tokens is embedded state by state where it fits, and
of every artifact the rows that the given texts reach.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from constrain.artifacts import Artifact
from constrain.artifacts.errors import ConstrainError
from constrain.artifacts.kinds.parser import named_in
from constrain.artifacts.tokens import tokenset
from constrain.artifacts.tokens.memo import Numbered

from .encoding import packed, runs

if TYPE_CHECKING:
    from constrain.compiler.options import AnyTokenizer

# Tokens taken from states of the DFA over canonical tokens while it is embedded.
_MOST_STEPS = 400_000

# Boundaries whose rows are embedded, of all texts.
_MOST_ROWS = 2_000

# A mark of the pre-tokenizer's DFA that no table of a page has room for.
_MOST_SPLIT_STATES = 1 << 16


def vocabulary_data(artifact: Artifact) -> dict[str, Any]:
    """The bytes of all tokens, in the order of their ids, and the token terminals' ids."""

    vocabulary = artifact.vocabulary
    named = named_in(artifact.manifest, artifact.arrays)
    return {
        "data": packed(vocabulary.data)["b"],
        "lengths": packed(vocabulary.lengths),
        "kinds": packed(vocabulary.kinds),
        "eos": list(artifact.manifest.eos),
        "classes": [runs(ids.tolist()) for ids in named],
    }


def bpe_data(tokenizer: "AnyTokenizer", artifact: Artifact) -> dict[str, Any] | str:
    """How the tokenizer writes a text, or why the page cannot say it.

    ``targets`` and ``lengths``: the pre-tokenizer's table as runs of equal cells. ``left``: of each
    merge, in rank order, how many bytes of the result its left part has. ``results``: these
    tokens, or the first of them where their ids follow each other.
    """
    from constrain.compiler.bpe.tokenizer_tables import TokenizerTables
    from constrain.compiler.files.cache import cache_of
    from constrain.compiler.tokenizers import Tokenizer

    if not isinstance(tokenizer, Tokenizer):
        return "WordPiece"
    if not tokenizer.byte_level:
        return "merges of characters"
    try:
        pretokenizer = TokenizerTables(tokenizer, cache_of("default")).pretokenizer
    except ConstrainError:
        return "a pre-tokenizer that is no DFA"
    if pretokenizer.prefix or pretokenizer.dfa.states > _MOST_SPLIT_STATES:
        return "a prefix before texts"
    left = _left_lengths(tokenizer, artifact)
    if left is None:
        return "merges of tokens that share their bytes"
    cells = pretokenizer.dfa.table.reshape(-1)
    results = tokenizer.merges[:, 2]
    in_a_row = len(results) and bool((np.diff(results) == 1).all())
    begins = np.flatnonzero(np.diff(cells, prepend=-1))
    return {
        "base": [int(i) for i in tokenizer.base],
        "ignore_merges": tokenizer.ignore_merges,
        "classes": packed(pretokenizer.classes),
        "final": packed(pretokenizer.dfa.final),
        "shape": list(pretokenizer.dfa.table.shape),
        "targets": packed(cells[begins]),
        "lengths": packed(np.diff(begins, append=len(cells))),
        "start": pretokenizer.dfa.start,
        "results": int(results[0]) if in_a_row else packed(results),
        "left": packed(left),
    }


def _left_lengths(tokenizer: Any, artifact: Artifact) -> list[int] | None:
    """How many bytes of each merge's result are its left part's; None where bytes do not say which
    tokens they are."""
    vocabulary = artifact.vocabulary
    texts = vocabulary.tokens(range(vocabulary.size))
    by_bytes: dict[bytes, int] = {}
    for i in vocabulary.text_ids().tolist():
        by_bytes.setdefault(texts[i], i)
    left = []
    for a, b, result in tokenizer.merges.tolist():
        whole, first = texts[result], len(texts[a])
        if whole != texts[a] + texts[b] or (by_bytes[texts[a]], by_bytes[texts[b]]) != (a, b):
            return None
        left.append(first)
    return left


def state_data(artifact: Artifact, most_bytes: int) -> dict[str, Any] | None:
    """The states of the DFA over canonical tokens, each with its [state, ids as runs] pairs and
    whether it accepts; None where there are none or they would be too large."""
    if not artifact.is_regular or not artifact.is_canonical:
        return None

    machine = artifact.machine()
    eos = set(artifact.manifest.eos)
    numbered = Numbered([machine.start])
    states: list[list[list[Any]]] = []
    steps = size = 0
    for state in numbered:
        targets: dict[int, list[int]] = {}
        is_accepting = machine.is_accepting(state)
        for token in tokenset.to_ids(machine.row(state)).tolist():
            target = None if is_accepting and token in eos else machine.take(state, token)
            if target is None:
                continue
            targets.setdefault(numbered.number(target), []).append(token)
            steps += 1
        states.append([[target, runs(ids)] for target, ids in targets.items()])
        size += sum(6 * len(ids) + 8 for _, ids in states[-1])
        if steps > _MOST_STEPS or size > most_bytes:
            return None
    accepting = [int(machine.is_accepting(state)) for state in numbered]
    return {"states": states, "token_start": 0, "token_accepting": accepting}


def reached_data(artifact: Artifact, paths: Sequence[Sequence[int]]) -> dict[str, Any]:
    """The masks that token sequences reach: ``rows`` as runs, each once, and of each sequence which
    row is after how many of its tokens."""

    rows: dict[bytes, int] = {}
    listed: list[list[int]] = []
    reached = []
    left = _MOST_ROWS
    for path in [(), *paths]:
        matcher = artifact.matcher()
        numbers: list[int] = []
        for token in (*path, None):
            if left == 0:
                break
            left -= 1
            mask = matcher.mask()
            number = rows.setdefault(mask.tobytes(), len(listed))
            if number == len(listed):
                listed.append(runs(tokenset.to_ids(mask).tolist()))
            numbers.append(number)
            if token is None or matcher.validate([token]) == 0:
                break
            matcher.advance(token)
        reached.append({"ids": [int(i) for i in path], "rows": numbers})
    return {"rows": listed, "reached": reached}


def path_of(artifact: Artifact, text: bytes) -> tuple[int, ...]:
    """The tokens that the artifact reads a text by, or the longest beginning of it."""
    from constrain.artifacts.prefix import boundaries

    found = boundaries(artifact, text[: artifact.viable_bytes(text)])
    return max((b.ids for b in found), key=len, default=()) if found else ()
