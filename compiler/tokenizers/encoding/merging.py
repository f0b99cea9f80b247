"""The ids of pre-tokens by merging, one by one or many at once."""

from collections.abc import Iterator
from functools import cached_property
from itertools import compress

from ..definition import Definition, written_space
from .bpe import WIDEST, Bpe, RowMerges
from .seams import Seams
from .symbols import Symbols


class Merging:
    """Encodes pre-tokens by the merges of a tokenizer."""

    def __init__(self, tokenizer: Definition) -> None:
        self._tokenizer = tokenizer

    @cached_property
    def _bpe(self) -> Bpe:
        return Bpe(self._tokenizer.merges)

    @cached_property
    def _rows(self) -> RowMerges:
        return RowMerges(self._tokenizer.merges, self._bpe.merge)

    @cached_property
    def _seams(self) -> Seams:
        return Seams(self._tokenizer)

    @cached_property
    def _symbols(self) -> Symbols:
        return Symbols(self._tokenizer)

    @cached_property
    def _whole(self) -> dict[bytes, int]:
        """The tokens that whole pre-tokens may be, by the bytes of their names."""
        tokenizer = self._tokenizer
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
        if not self._tokenizer.ignore_merges:
            return None
        return self._whole.get(self._symbols.octets(piece))

    def parts(self, piece: str) -> list[str]:
        """The pre-token, split at seams if characters are merged."""
        if self._tokenizer.byte_level or self._tokenizer.ignore_merges:
            return [piece]
        return self._seams.pieces(piece)

    def ids(self, piece: str) -> list[int]:
        """The ids of one pre-token."""
        symbols = self._symbols
        whole = self._whole_token(piece)
        if whole is not None:
            return [whole]
        if not self._tokenizer.byte_level:
            return self._bpe.merge(symbols.of_characters(piece))
        return self._bpe.merge(symbols.of_bytes(symbols.octets(piece)))

    def ids_of(self, pieces: list[str]) -> Iterator[tuple[str, list[int]]]:
        """Pre-tokens and their ids, in any order, merged together."""
        if self._symbols.has_affixes:
            yield from zip(pieces, map(self.ids, pieces), strict=True)
            return
        if self._tokenizer.ignore_merges:
            whole = list(map(self._whole_token, pieces))
            for piece, token in zip(pieces, whole, strict=True):
                if token is not None:
                    yield piece, [token]
            pieces = [piece for piece, token in zip(pieces, whole, strict=True) if token is None]
        ids, lengths, plain = self._symbols.of_pieces(pieces, WIDEST)
        yield from zip(compress(pieces, plain), self._rows.merged(ids, lengths), strict=True)
        for piece in compress(pieces, (not is_plain for is_plain in plain)):
            yield piece, self.ids(piece)
