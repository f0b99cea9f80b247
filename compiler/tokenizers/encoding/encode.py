"""From text to token ids: the order of ``steps.py``, put to work."""

from collections.abc import Callable, Iterator
from functools import cached_property
from itertools import chain, compress, filterfalse

from ..definition import AddedToken, Definition
from .added_tokens import AddedTokens
from .bpe import WIDEST, Bpe, RowMerges
from .seams import Seams
from .steps import normalize, pretokenize
from .symbols import Symbols

# Pieces that are kept with their ids; most of a text is words that come again.
_KEPT_PIECES = 1 << 17

# New pieces from which on merging all of them at once is the faster way.
_MANY = 48


class _Kept(dict[str, list[int]]):
    """The ids of pieces, found by ``encode`` when they are first asked for."""

    def __init__(self, encode: Callable[[str], list[int]]) -> None:
        super().__init__()
        self._encode = encode

    def __missing__(self, piece: str) -> list[int]:
        if len(self) >= _KEPT_PIECES:
            self.clear()
        ids = self[piece] = self._encode(piece)
        return ids


class Encoder:
    """Encodes as a tokenizer does, without adding special tokens."""

    def __init__(self, tokenizer: Definition) -> None:
        self.tokenizer = tokenizer
        added = tokenizer.added_tokens
        self.verbatim = AddedTokens((t.content, t) for t in added if not t.normalized)
        self.rewritten = AddedTokens(
            (normalize(t.content, tokenizer.normalizers), t) for t in added if t.normalized
        )
        self._kept = _Kept(self.encode_piece)

    def encode(self, text: str) -> list[int]:
        """Token ids."""
        ids: list[int] = []
        for part in self.parts(text):
            if isinstance(part, AddedToken):
                ids.append(part.id)
            else:
                self._learn(part)
                ids.extend(chain.from_iterable(map(self._kept.__getitem__, part)))
        return ids

    def parts(self, text: str, *, continued: bool = False) -> Iterator[AddedToken | list[str]]:
        """Added tokens, and between them the pieces that are merged each for itself.

        A tokenizer that does not cut has one piece between two added tokens; over characters
        it is cut at seams all the same. ``continued``: the text goes on from an earlier part.
        """
        tokenizer = self.tokenizer
        for start, end, token in self.verbatim.parts(text):
            if token is not None:
                yield token
                continue
            goes_on = continued and start == 0
            rewritten = normalize(text[start:end], tokenizer.normalizers, continued=goes_on)
            for begin, stop, found in self.rewritten.parts(rewritten):
                if found is not None:
                    yield found
                    continue
                pieces = pretokenize(
                    rewritten[begin:stop],
                    tokenizer.pre_tokenizers,
                    first=start == begin == 0 and not continued,
                    continued=goes_on and begin == 0,
                )
                if not tokenizer.byte_level and not tokenizer.splits:
                    pieces = [cut for piece in pieces for cut in self._seams.pieces(piece)]
                if pieces:
                    yield pieces

    def _learn(self, part: list[str]) -> None:
        """Keep the ids of a part's new pieces, if they are many."""
        if len(part) < _MANY:
            return
        kept = self._kept
        new = list(dict.fromkeys(filterfalse(kept.__contains__, part)))
        if len(new) >= _MANY:
            if len(kept) + len(new) > _KEPT_PIECES:
                kept.clear()
            kept.update(self.encode_pieces(new[:_KEPT_PIECES]))

    def ids_of(self, piece: str) -> list[int]:
        """The ids of one piece of ``parts``."""
        return self._kept[piece]

    def is_seam(self, left: str, right: str) -> bool:
        """Whether no merge can bridge two neighbouring characters."""
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
        """The tokens that whole pieces may be, by their bytes."""
        return {octets: i for i, octets in self.tokenizer.tokens.items()}

    def encode_piece(self, piece: str) -> list[int]:
        """The ids of one piece."""
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
        """Pieces and their ids, in any order; ``encode_piece`` says what these are."""
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
