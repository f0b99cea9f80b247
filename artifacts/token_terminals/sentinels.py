"""Sentinels: bytes that stand for token terminals in the texts of a grammar.

No text of UTF-8 has the bytes C0, C1 and F5 to FF, so each of them may stand for a terminal. To a
tokenizer that has *sentinel tokens*, which are spelled by these bytes, a member of the grammar
``"a" <t> "b"`` is the text a F5 b: three tokens. Their ids come after those of the vocabulary,
from a multiple of 32 on, so that the words of a mask hold either kind.

    with_sentinels(vocabulary, 2)    of 100 tokens: 130, of which 128 and 129 are sentinel tokens

Where a tokenizer puts a prefix before each text, of one byte, the next sentinel stands for it: each
token that begins with the prefix has a *twin*, which begins with that byte instead. So the prefix,
which is not in the grammar, is told from a space that is.

    with_sentinels(vocabulary, 2, b" ")    the same, and 131, the twin of " a", is F7 "a"
"""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ..container.manifest import Manifest
from ..container.sections import Arrays
from ..network.tables import NetworkTables
from ..tokens.tokenset import word_count
from ..tokens.trie import ranges
from ..tokens.vocabulary import HOLE, TEXT, Vocabulary

SENTINELS = bytes([*range(0xF5, 0x100), 0xC0, 0xC1])

# A section: what is put before each text, where sentinels stand for it.
PREFIX = "sentinel.prefix"


def first_sentinel(vocab_size: int) -> int:
    """The id of the first sentinel token."""
    return 32 * word_count(vocab_size)


def begin_of(count: int) -> int:
    """The byte that stands for the prefix of a text, beside so many terminals."""
    return SENTINELS[count]


def twinned(vocabulary: Vocabulary, prefix: bytes) -> NDArray[np.int32]:
    """The tokens that have twins: those of text that begin with ``prefix``, of at most one byte;
    int32, ascending."""
    if not prefix:
        return np.zeros(0, dtype=np.int32)
    ids = vocabulary.text_ids()
    found: NDArray[np.bool_] = vocabulary.data[vocabulary.offsets[ids]] == prefix[0]
    return ids[found].astype(np.int32)


def with_sentinels(vocabulary: Vocabulary, count: int, prefix: bytes = b"") -> Vocabulary:
    """The tokens of a vocabulary, so many sentinel tokens, and twins.

    A byte token of the same byte gets a text that is never read: its byte twice.
    """
    sentinels = np.frombuffer(SENTINELS[: count + len(prefix)], dtype=np.uint8)
    alone = np.flatnonzero((vocabulary.kinds == TEXT) & (vocabulary.lengths == 1))
    begins = vocabulary.offsets[alone]
    doubled = np.isin(vocabulary.data[begins], sentinels)
    data = np.insert(vocabulary.data, begins[doubled], vocabulary.data[begins[doubled]])
    lengths = vocabulary.lengths.copy()
    lengths[alone[doubled]] += 1
    more = first_sentinel(vocabulary.size) - vocabulary.size
    twins = twinned(vocabulary, prefix)
    twin_lengths = vocabulary.lengths[twins]
    of_twins = vocabulary.data[ranges(vocabulary.offsets[twins], twin_lengths)]
    of_twins[np.cumsum(twin_lengths) - twin_lengths] = begin_of(count) if prefix else 0
    sizes = ([0], lengths, np.zeros(more, np.int64), np.ones(count, np.int64), twin_lengths)
    texts = np.full(count + len(twins), TEXT, np.uint8)
    return Vocabulary(
        np.concatenate((data, sentinels[:count], of_twins)),
        np.cumsum(np.concatenate(sizes), dtype=np.int64),
        np.concatenate((vocabulary.kinds, np.full(more, HOLE, np.uint8), texts)),
    )


def over_bytes(
    table: NDArray[np.int32], classes: NDArray[np.uint8], start: int, *, has_prefix: bool
) -> tuple[NDArray[np.int32], NDArray[np.uint8]]:
    """The table and the classes of bytes of an automaton that reads terminals by their sentinels.

    ``table``: int32 (S, C + T), C columns of bytes, then one of each terminal. ``has_prefix``: it
    reads the byte that stands for a prefix, too, where a text may begin, and stays where it is.
    """
    columns = int(classes.max()) + 1
    count = table.shape[1] - columns
    found = classes.copy()
    found[list(SENTINELS[:count])] = np.arange(columns, columns + count)
    if not has_prefix:
        return table, found
    found[begin_of(count)] = columns + count
    begins = np.append(np.unique(table[:, columns:]), start)
    table = np.pad(table, ((0, 0), (0, 1)))
    table[begins, -1] = begins
    return table, found


def network_with_sentinels(network: NetworkTables, prefix: bytes) -> NetworkTables:
    """The network whose token terminals are bytes; ``prefix``: what is put before each text."""
    found = over_bytes(network.table, network.classes, network.start, has_prefix=bool(prefix))
    return replace(network, table=found[0], classes=found[1])


def sections_with_sentinels(
    manifest: Manifest, arrays: Arrays, count: int
) -> tuple[Manifest, Arrays]:
    """The manifest and the sections that say to machines what texts, tokens and masks are: with so
    many sentinels. The vocabulary has been checked."""
    own, prefix = Vocabulary.from_arrays(arrays, "vocab."), prefix_of(arrays)
    vocabulary = with_sentinels(own, count, prefix)
    changed = vocabulary.arrays("vocab.")
    return replace(manifest, vocab_size=vocabulary.size), {**arrays, **changed}


def prefix_of(arrays: Arrays) -> bytes:
    """What is put before each text, where sentinels stand for it."""
    return arrays[PREFIX].tobytes() if PREFIX in arrays else b""
