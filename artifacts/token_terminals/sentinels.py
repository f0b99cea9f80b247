"""Sentinels: bytes that stand for token terminals in the texts of a grammar.

No text of UTF-8 has the bytes C0, C1 and F5 to FF, so each of them may stand for a terminal. To a
tokenizer that has *sentinel tokens*, which are spelled by these bytes, a member of the grammar
``"a" <t> "b"`` is the text a F5 b: three tokens. Their ids come behind those of the vocabulary,
from a multiple of 32 on, so that the words of a mask hold either kind.

    with_sentinels(vocabulary, 2)    of 100 tokens: 130, of which 128 and 129 are sentinel tokens
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..container.manifest import Manifest
from ..container.sections import Arrays
from ..tokens.tokenset import word_count
from ..tokens.vocabulary import HOLE, TEXT, Vocabulary

SENTINELS = bytes([*range(0xF5, 0x100), 0xC0, 0xC1])


def first_sentinel(vocab_size: int) -> int:
    """The id of the first sentinel token."""
    return 32 * word_count(vocab_size)


def with_sentinels(vocabulary: Vocabulary, count: int) -> Vocabulary:
    """The tokens of a vocabulary, and so many sentinel tokens.

    A byte token of the same byte gets a text that is never read: its byte twice.
    """
    sentinels = np.frombuffer(SENTINELS[:count], dtype=np.uint8)
    alone = np.flatnonzero((vocabulary.kinds == TEXT) & (vocabulary.lengths == 1))
    begins = vocabulary.offsets[alone]
    doubled = np.isin(vocabulary.data[begins], sentinels)
    data = np.insert(vocabulary.data, begins[doubled], vocabulary.data[begins[doubled]])
    lengths = vocabulary.lengths.copy()
    lengths[alone[doubled]] += 1
    more = first_sentinel(vocabulary.size) - vocabulary.size
    sizes = np.concatenate(([0], lengths, np.zeros(more, np.int64), np.ones(count, np.int64)))
    holes, texts = np.full(more, HOLE, np.uint8), np.full(count, TEXT, np.uint8)
    return Vocabulary(
        np.concatenate((data, sentinels)),
        np.cumsum(sizes, dtype=np.int64),
        np.concatenate((vocabulary.kinds, holes, texts)),
    )


def classes_with_sentinels(
    classes: NDArray[np.uint8], table: NDArray[np.integer]
) -> NDArray[np.uint8]:
    """The column of each byte, uint8 (256,), where those of the token terminals are read by their
    sentinels. ``table``: integers (S, C + T), C columns of bytes, then one of each terminal.
    """
    columns = int(classes.max()) + 1
    terminals = np.arange(columns, table.shape[1])
    found = classes.copy()
    found[list(SENTINELS[: len(terminals)])] = terminals
    return found


def sections_with_sentinels(
    manifest: Manifest, arrays: Arrays, count: int
) -> tuple[Manifest, Arrays]:
    """The manifest and the sections that say to machines what texts, tokens and masks are: with so
    many sentinels. The vocabulary has been checked."""
    own = Vocabulary(arrays["vocab.data"], arrays["vocab.offsets"], arrays["vocab.kinds"])
    vocabulary = with_sentinels(own, count)
    changed: Mapping[str, NDArray[Any]] = {
        "vocab.data": vocabulary.data,
        "vocab.offsets": vocabulary.offsets,
        "vocab.kinds": vocabulary.kinds,
    }
    if "network.table" in arrays:
        table, classes = arrays["network.table"], arrays["network.classes"]
        changed = {**changed, "network.classes": classes_with_sentinels(classes, table)}
    return replace(manifest, vocab_size=vocabulary.size), {**arrays, **changed}
