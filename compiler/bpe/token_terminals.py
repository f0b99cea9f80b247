"""What an artifact with sentinels is made for: its tokenizer's tokens and those of the sentinels.

network or DFA over bytes and terminals  ->  over bytes alone, of which some are sentinels
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from constrain.artifacts.errors import visible
from constrain.artifacts.token_terminals.sentinels import (
    PREFIX,
    SENTINELS,
    first_sentinel,
    over_bytes,
    with_sentinels,
)
from constrain.artifacts.tokens.trie import Trie
from constrain.artifacts.tokens.vocabulary import Vocabulary

from ..automata.dfa import Dfa, TokenIds
from ..automata.dump import ids_text
from ..diagnostics import CheckError, Diagnostic, TokenizerError
from ..grammar.tree import Grammar
from ..options import DIRECT, ArtifactRequest
from ..tokenizers import Tokenizer
from ..tokenizers.vocabulary_tables import VocabularyTables
from .sentinel_tables import SentinelTables
from .tokenizer_tables import TokenizerTables

# Columns of automata are numbers of so many.
BYTES = 256


class SentinelVocabulary(VocabularyTables):
    """The tokens of ``request``, so many sentinel tokens, and twins of those that begin with
    ``prefix``."""

    def __init__(self, request: ArtifactRequest[Tokenizer], count: int, prefix: bytes) -> None:
        super().__init__(request.tokenizer)
        self._without, self._count, self._prefix = request.vocabulary, count, prefix

    def vocabulary(self, size: int) -> Vocabulary:
        """The bytes of each token; of all of them, whatever ``size`` is."""
        return self._whole

    @cached_property
    def _whole(self) -> Vocabulary:
        return with_sentinels(self._without, self._count, self._prefix)

    @cached_property
    def trie(self) -> Trie:
        """The trie of all text tokens."""
        return Trie.from_vocabulary(self._whole)


@dataclass(frozen=True, slots=True, eq=False)
class WithSentinels:
    """``request``, ``tables``: those that masks over texts and sentinels are made for.
    ``terminals``: the ids of each token terminal, ascending. ``prefix``: what is put before each
    text, where sentinels stand for it."""

    request: ArtifactRequest[Tokenizer]
    tables: TokenizerTables
    terminals: Sequence[TokenIds]
    prefix: bytes = b""

    @property
    def sections(self) -> dict[str, NDArray[Any]]:
        """What a file says of them."""
        return {PREFIX: np.frombuffer(self.prefix, dtype=np.uint8)} if self.prefix else {}


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
    prefix = tables.pretokenizer.prefix
    if len(prefix) > 1:
        raise TokenizerError(
            f"{visible(request.tokenizer.name)}: canonical masks cannot follow token terminals "
            "beside what this tokenizer puts before a text; use --tokenization any"
        )
    if prefix and request.options.method == DIRECT:
        raise TokenizerError(
            f"{visible(request.tokenizer.name)}: DirectMerge cannot follow token terminals where "
            "something "
            f"is put before a text; say --method cartesian"
        )
    if count + len(prefix) > len(SENTINELS) or columns + len(prefix) > BYTES:
        most = min(len(SENTINELS), BYTES - columns + count) - len(prefix)
        message = f"canonical masks follow {most} different token terminals here, not {count}"
        found = [Diagnostic(message, grammar.tokens[most].span, help="say --tokenization any")]
        raise CheckError(grammar.source, found)
    sentinels = SENTINELS[:count]
    read = bytes(octet for octet, ids in zip(sentinels, terminals, strict=True) if len(ids))
    # The same for all grammars of so many terminals.
    key = request.vocabulary, count, read, request.vocab_size
    made = tables.with_sentinels
    if made is None or made[0] != key:
        tokens = SentinelVocabulary(request, count, prefix)
        more = SentinelTables(tables, tokens, sentinels, read, request.vocab_size)
        made = key, more
        tables.with_sentinels = made
    changed = made[1]
    first = first_sentinel(request.vocab_size)
    size = changed.tokens.vocabulary(0).size
    base = list(request.tokenizer.base)
    for token_id, octet in enumerate(sentinels, first):
        base[octet] = token_id
    tokenizer = replace(request.tokenizer, base=base, vocab_size=size)
    wanted = replace(request, tokenizer=tokenizer, vocab_size=size, tokens=changed.tokens)
    return WithSentinels(wanted, changed, terminals, prefix)


def dfa_with_sentinels(dfa: Dfa, prefix: bytes) -> Dfa:
    """The DFA whose token terminals are bytes."""
    table, classes = over_bytes(dfa.table, dfa.classes, dfa.start, has_prefix=bool(prefix))
    return replace(dfa, table=table, classes=classes)


def dfa_without_sentinels(dfa: Dfa, count: int, prefix: bytes) -> Dfa:
    """The inverse of ``dfa_with_sentinels``, for so many terminals."""
    sentinels = list(SENTINELS[: count + len(prefix)])
    terminals = dfa.table[:, dfa.classes[sentinels[:count]]]
    # Sentinels are read no more: a column of their own, which is dead.
    whole = np.pad(dfa.table, ((0, 0), (0, 1)))
    classes = dfa.classes.astype(np.int64)
    classes[sentinels] = whole.shape[1] - 1
    columns, classes = np.unique(classes, return_inverse=True)
    table = np.concatenate((whole[:, columns], terminals), axis=1)
    return replace(dfa, table=table, classes=classes.reshape(-1).astype(np.uint8))


def readable(text: bytes, terminals: Sequence[TokenIds], tokenizer: Tokenizer) -> str:
    """A member with sentinels for people, as one of Python's strings."""
    # Nor what stands for a prefix, which is no part of the member.
    parts = dict.fromkeys(SENTINELS[len(terminals) :], b"")
    for octet, ids in zip(SENTINELS, terminals, strict=False):
        name = tokenizer.added.get(int(ids[0])) if len(ids) == 1 else None
        parts[octet] = (name or ids_text(ids.tolist())).encode()
    found = b"".join(parts.get(octet, bytes([octet])) for octet in text)
    return repr(found.decode("utf-8", "backslashreplace"))
