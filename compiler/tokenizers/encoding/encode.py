"""The encoder: all steps of a tokenizer in order, with a cache of pre-tokens and their ids.

text -> added tokens -> normalize -> added tokens -> split -> merge each pre-token -> ids
"""

from collections.abc import Callable, Iterator
from functools import cached_property
from itertools import chain, compress, filterfalse

from ..definition import AddedToken, Definition, written_space
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
                if not (tokenizer.byte_level or tokenizer.splits or tokenizer.ignore_merges):
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
        if self.tokenizer.byte_level or self.tokenizer.ignore_merges:
            return False
        return len(self._seams.pieces(left + right)) == 2

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
        """The tokens that whole pre-tokens may be, by the bytes of their names."""
        tokenizer = self.tokenizer
        found = {octets: i for i, octets in tokenizer.tokens.items()}
        if not tokenizer.byte_level:
            space = written_space(tokenizer.normalizers, tokenizer.pre_tokenizers) or " "
            bytewise = {i: b"<0x%02X>" % octet for octet, i in enumerate(tokenizer.byte_fallback)}
            plain = {i: char.encode() for char, i in tokenizer.characters.items()}
            written = {i: o.replace(b" ", space.encode()) for o, i in found.items()}
            names = {**written, **bytewise, **plain}
            found = {name: i for i, name in names.items() if i >= 0}
        return found

    def _whole_token(self, piece: str) -> int | None:
        """The token that a pre-token is by ``ignore_merges``, None for none."""
        if not self.tokenizer.ignore_merges:
            return None
        return self._whole.get(self._symbols.octets(piece))

    def encode_piece(self, piece: str) -> list[int]:
        """The ids of one pre-token, not cached."""
        symbols = self._symbols
        whole = self._whole_token(piece)
        if whole is not None:
            return [whole]
        if not self.tokenizer.byte_level:
            return self._bpe.merge(symbols.of_characters(piece))
        return self._bpe.merge(symbols.of_bytes(symbols.octets(piece)))

    def encode_pieces(self, pieces: list[str]) -> Iterator[tuple[str, list[int]]]:
        """Pre-tokens and their ids as of ``encode_piece``, in any order, merged together."""
        if self._symbols.has_affixes:
            yield from zip(pieces, map(self.encode_piece, pieces), strict=True)
            return
        if self.tokenizer.ignore_merges:
            whole = list(map(self._whole_token, pieces))
            for piece, token in zip(pieces, whole, strict=True):
                if token is not None:
                    yield piece, [token]
            pieces = [piece for piece, token in zip(pieces, whole, strict=True) if token is None]
        ids, lengths, plain = self._symbols.of_pieces(pieces, WIDEST)
        yield from zip(compress(pieces, plain), self._rows.merged(ids, lengths), strict=True)
        for piece in compress(pieces, (not is_plain for is_plain in plain)):
            yield piece, self.encode_piece(piece)
