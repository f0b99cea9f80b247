"""A loaded tokenizer."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from constrain.artifacts.vocabulary import Vocabulary

from .bpe import Bpe
from .pretokenize import Splitter

if TYPE_CHECKING:
    import regex


@dataclass(frozen=True)
class Tokenizer:
    """A byte-level BPE tokenizer.

    ``tokens``: id to bytes, of text tokens. ``added``: id to name, of tokens that are matched
    in the text before anything else; ``special`` are those of them that stand for no text.
    ``merges``: int32 (n, 3), left, right and result id in rank order. ``base``: the token id
    of each byte, -1 for none. ``splitter``: how text is cut, None if it is not. ``eos``: the
    ids that end a text, empty if none is known. ``sha256``: of the file. ``name``: the path.
    ``vocab_size``: highest id + 1, of all tokens, also those that no text gives.
    """

    name: str
    sha256: str
    tokens: Mapping[int, bytes]
    added: Mapping[int, str]
    special: frozenset[int]
    merges: NDArray[np.int32]
    base: Sequence[int]
    splitter: Splitter | None
    eos: tuple[int, ...]
    vocab_size: int

    @cached_property
    def _bpe(self) -> Bpe:
        return Bpe(self.merges, self.base)

    def encode(self, text: str) -> list[int]:
        """Token ids, as the tokenizer itself gives them without adding special tokens."""
        ids: list[int] = []
        for part in self._parts(text):
            if isinstance(part, int):
                ids.append(part)
                continue
            for piece in self.splitter.pieces(part) if self.splitter else (part,):
                ids.extend(self._bpe.encode(piece.encode("utf-8")))
        return ids

    def decode_bytes(self, ids: Iterable[int]) -> bytes:
        """The text that ids stand for; special tokens as their names. Raises ``KeyError``."""
        return b"".join(
            self.added[i].encode("utf-8") if i in self.added else self.tokens[i] for i in ids
        )

    def vocabulary(self, size: int | None = None) -> Vocabulary:
        """The tokens as an artifact stores them, padded with holes to ``size``."""
        tokens = {**self.tokens, **{i: name.encode("utf-8") for i, name in self.added.items()}}
        return Vocabulary.from_tokens(tokens, self.special, size or self.vocab_size)

    @cached_property
    def _added_pattern(self) -> "regex.Pattern[str] | None":
        import regex

        # Leftmost, then longest, as the reference implementation matches them.
        names = sorted(self.added.values(), key=lambda name: (-len(name), name))
        return regex.compile("|".join(map(regex.escape, names))) if names else None

    def _parts(self, text: str) -> Iterator[int | str]:
        """Added tokens as ids, the text between them as it is."""
        end = 0
        if self._added_pattern is not None:
            ids = {name: i for i, name in self.added.items()}
            for match in self._added_pattern.finditer(text):
                if match.start() > end:
                    yield text[end : match.start()]
                yield ids[match.group()]
                end = match.end()
        if end < len(text):
            yield text[end:]
