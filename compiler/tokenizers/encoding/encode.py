"""The encoder: all steps of a tokenizer in order, with a cache of pre-tokens and their ids.

text -> added tokens -> normalize -> added tokens -> split -> merge each pre-token -> ids
"""

from collections.abc import Callable, Iterator
from functools import cached_property
from itertools import chain, compress, filterfalse

from ..definition import AddedToken, Definition
from .added_tokens import searched_tokens
from .allowance import Allowance
from .bpe import WIDEST, Bpe, RowMerges
from .seams import Seams
from .steps import normalize, pretokenize
from .symbols import Symbols

# Pre-tokens that the cache holds before it is cleared; most of a text is words that recur.
_MAX_CACHED_PIECES = 1 << 17

# From so many new pre-tokens on, merging all of them at once is faster.
_MANY = 48


class _CachedIds(dict[str, list[int]]):
    """The ids of pre-tokens, computed by ``encode`` on a miss."""

    def __init__(self, encode: Callable[[str], list[int]]) -> None:
        super().__init__()
        self._encode = encode

    def __missing__(self, piece: str) -> list[int]:
        if len(self) >= _MAX_CACHED_PIECES:
            self.clear()
        ids = self[piece] = self._encode(piece)
        return ids


class Encoder:
    """Encodes as a tokenizer does, without adding special tokens around the text.

    ``verbatim``: the added tokens that are found in the text, ``rewritten``: those that are found
    in the normalized text.
    """

    def __init__(self, tokenizer: Definition) -> None:
        self.tokenizer = tokenizer
        self.verbatim, self.rewritten = searched_tokens(tokenizer)
        self._ids = _CachedIds(self.encode_piece)

    def encode(self, text: str) -> list[int]:
        """The token ids of a text."""
        ids: list[int] = []
        for part in self.parts(text):
            if isinstance(part, AddedToken):
                ids.append(part.id)
            else:
                self._encode_new(part)
                ids.extend(chain.from_iterable(map(self._ids.__getitem__, part)))
        return ids

    def parts(self, text: str, *, continued: bool = False) -> Iterator[AddedToken | list[str]]:
        """Added tokens, and between them the pre-tokens, each of which is merged by itself.

        A tokenizer that does not split has one pre-token between two added tokens, which is split
        at seams if it merges characters. ``continued``: an earlier part of the text came before.
        """
        tokenizer, allowance = self.tokenizer, Allowance(len(text))
        for start, end, token in self.verbatim.parts(text):
            if token is not None:
                yield token
                continue
            follows = continued and start == 0
            rewritten = normalize(
                text[start:end], tokenizer.normalizers, continued=follows, allowance=allowance
            )
            for begin, stop, found in self.rewritten.parts(rewritten):
                if found is not None:
                    yield found
                    continue
                pieces = pretokenize(
                    rewritten[begin:stop],
                    tokenizer.pre_tokenizers,
                    first=start == begin == 0 and not continued,
                    continued=follows and begin == 0,
                    allowance=allowance,
                )
                if not tokenizer.byte_level and not tokenizer.splits:
                    pieces = [part for piece in pieces for part in self._seams.pieces(piece)]
                if pieces:
                    yield pieces

    def _encode_new(self, part: list[str]) -> None:
        """Cache the ids of a part's new pre-tokens, if they are many."""
        if len(part) < _MANY:
            return
        cached = self._ids
        new = list(dict.fromkeys(filterfalse(cached.__contains__, part)))
        if len(new) >= _MANY:
            if len(cached) + len(new) > _MAX_CACHED_PIECES:
                cached.clear()
            cached.update(self.encode_pieces(new[:_MAX_CACHED_PIECES]))

    def ids_of(self, piece: str) -> list[int]:
        """The ids of one pre-token of ``parts``."""
        return self._ids[piece]

    def is_seam(self, left: str, right: str) -> bool:
        """Whether no merge can cross the boundary between two adjacent characters."""
        return not self.tokenizer.byte_level and len(self._seams.pieces(left + right)) == 2

    @cached_property
    def _bpe(self) -> Bpe:
        return Bpe(self.tokenizer.merges)

    @cached_property
    def _rows(self) -> RowMerges:
        return RowMerges(self.tokenizer.merges, self._bpe.merge)

    @cached_property
    def _seams(self) -> Seams:
        return Seams(self.tokenizer)

    @cached_property
    def _symbols(self) -> Symbols:
        return Symbols(self.tokenizer)

    @cached_property
    def _whole(self) -> dict[bytes, int]:
        """The tokens that whole pre-tokens may be, by their bytes."""
        return {octets: i for i, octets in self.tokenizer.tokens.items()}

    def encode_piece(self, piece: str) -> list[int]:
        """The ids of one pre-token, not cached."""
        symbols = self._symbols
        if not self.tokenizer.byte_level:
            return self._bpe.merge(symbols.of_characters(piece))
        octets = symbols.octets(piece)
        if self.tokenizer.ignore_merges:
            whole = self._whole.get(octets)
            if whole is not None:
                return [whole]
        return self._bpe.merge(symbols.of_bytes(octets))

    def encode_pieces(self, pieces: list[str]) -> Iterator[tuple[str, list[int]]]:
        """Pre-tokens and their ids as of ``encode_piece``, in any order, merged together."""
        if self.tokenizer.byte_level and self.tokenizer.ignore_merges:
            whole = list(map(self._whole.get, map(self._symbols.octets, pieces)))
            for piece, token in zip(pieces, whole, strict=True):
                if token is not None:
                    yield piece, [token]
            pieces = [piece for piece, token in zip(pieces, whole, strict=True) if token is None]
        ids, lengths, plain = self._symbols.of_pieces(pieces, WIDEST)
        yield from zip(compress(pieces, plain), self._rows.merged(ids, lengths), strict=True)
        for piece in compress(pieces, (not is_plain for is_plain in plain)):
            yield piece, self.encode_piece(piece)
