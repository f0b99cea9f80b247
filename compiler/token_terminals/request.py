"""What an artifact with sentinels is made for: its tokenizer's tokens and those of the sentinels.

network or DFA over bytes and terminals  ->  over bytes alone, of which some are sentinels
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from constrain.artifacts.network.tables import NetworkTables
from constrain.artifacts.token_terminals.sentinels import (
    SENTINELS,
    classes_with_sentinels,
    first_sentinel,
    with_sentinels,
)
from constrain.artifacts.tokens.trie import Trie
from constrain.artifacts.tokens.vocabulary import Vocabulary

from ..automata.dfa import Dfa, TokenIds
from ..automata.dump import ids_text
from ..bpe.tokenizer_tables import TokenizerTables
from ..diagnostics import CheckError, Diagnostic
from ..grammar.tree import Grammar
from ..options import ArtifactRequest
from ..tokenizers import Tokenizer
from ..tokenizers.vocabulary_tables import VocabularyTables
from .tokenizer_tables import SentinelTables

# Columns of automata are numbers of so many.
BYTES = 256


class SentinelVocabulary(VocabularyTables):
    """The tokens of ``request``, and so many sentinel tokens."""

    def __init__(self, request: ArtifactRequest[Tokenizer], count: int) -> None:
        super().__init__(request.tokenizer)
        self._request, self._count = request, count

    def vocabulary(self, size: int) -> Vocabulary:
        """The bytes of each token; of all of them, whatever ``size`` is."""
        return self._whole

    @cached_property
    def _whole(self) -> Vocabulary:
        return with_sentinels(self._request.vocabulary, self._count)

    @cached_property
    def trie(self) -> Trie:
        """The trie of all text tokens."""
        return Trie.from_vocabulary(self._whole)


@dataclass(frozen=True, slots=True, eq=False)
class WithSentinels:
    """``request``, ``tables``: those that masks over texts and sentinels are made for.
    ``terminals``: the ids of each token terminal, ascending."""

    request: ArtifactRequest[Tokenizer]
    tables: TokenizerTables
    terminals: Sequence[TokenIds]


def with_sentinels_of(
    grammar: Grammar,
    terminals: Sequence[TokenIds],
    columns: int,
    request: ArtifactRequest[Tokenizer],
    tables: TokenizerTables,
) -> WithSentinels:
    """The same request and tables with a sentinel for each of the ``terminals``, whose ids these
    are; they themselves if there are none. ``columns``: of what reads texts, with those of the
    terminals. Raises ``CheckError`` for too many of them."""
    count = len(terminals)
    if not count:
        return WithSentinels(request, tables, terminals)
    if count > len(SENTINELS) or columns > BYTES:
        most = min(len(SENTINELS), BYTES - columns + count)
        message = f"canonical masks follow {most} different token terminals here, not {count}"
        found = [Diagnostic(message, grammar.tokens[most].span, help="say --tokenization any")]
        raise CheckError(grammar.source, found)
    sentinels = SENTINELS[:count]
    read = bytes(octet for octet, ids in zip(sentinels, terminals, strict=True) if len(ids))
    tokens = SentinelVocabulary(request, count)
    size = first_sentinel(request.vocab_size) + count
    base = list(request.tokenizer.base)
    for token_id, octet in enumerate(sentinels, size - count):
        base[octet] = token_id
    tokenizer = replace(request.tokenizer, base=base, vocab_size=size)
    changed = SentinelTables(tables, tokens, sentinels, read, request.vocab_size)
    wanted = replace(request, tokenizer=tokenizer, vocab_size=size, tokens=tokens)
    return WithSentinels(wanted, changed, terminals)


def network_with_sentinels(network: NetworkTables) -> NetworkTables:
    """The network whose token terminals are bytes."""
    return replace(network, classes=classes_with_sentinels(network.classes, network.table))


def dfa_with_sentinels(dfa: Dfa) -> Dfa:
    """The DFA whose token terminals are bytes."""
    return replace(dfa, classes=classes_with_sentinels(dfa.classes, dfa.table))


def dfa_without_sentinels(dfa: Dfa, count: int) -> Dfa:
    """The inverse of ``dfa_with_sentinels``, for so many terminals."""
    sentinels = list(SENTINELS[:count])
    terminals = dfa.table[:, dfa.classes[sentinels]]
    # Sentinels are read no more: a column of their own, which is dead.
    whole = np.pad(dfa.table, ((0, 0), (0, 1)))
    classes = dfa.classes.astype(np.int64)
    classes[sentinels] = whole.shape[1] - 1
    columns, classes = np.unique(classes, return_inverse=True)
    table = np.concatenate((whole[:, columns], terminals), axis=1)
    return replace(dfa, table=table, classes=classes.reshape(-1).astype(np.uint8))


def readable(text: bytes, terminals: Sequence[TokenIds], tokenizer: Tokenizer) -> str:
    """A member with sentinels for people, as one of Python's strings."""
    parts = dict[int, bytes]()
    for octet, ids in zip(SENTINELS, terminals, strict=False):
        name = tokenizer.added.get(int(ids[0])) if len(ids) == 1 else None
        parts[octet] = (name or ids_text(ids.tolist())).encode()
    found = b"".join(parts.get(octet, bytes([octet])) for octet in text)
    return repr(found.decode("utf-8", "backslashreplace"))
