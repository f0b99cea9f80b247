"""From text to token ids: the order of ``steps.py``, put to work."""

from collections.abc import Callable, Iterator
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING

from .added import AddedTokens
from .bpe import Bpe
from .normalize import normalize
from .pretokenize import pretokenize
from .seams import Seams
from .steps import AddedToken
from .symbols import Symbols

if TYPE_CHECKING:
    from .tokenizer import Tokenizer

# Pieces that are kept with their ids; most of a text is words that come again.
_KEPT_PIECES = 1 << 17


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

    def __init__(self, tokenizer: "Tokenizer") -> None:
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
                    pieces = [part for piece in pieces for part in self._seams.pieces(piece)]
                if pieces:
                    yield pieces

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
