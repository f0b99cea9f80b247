"""The best division of a pre-token by a Unigram model: Viterbi's algorithm over its characters.

    best[end] = max over pieces of best[start] + score of the piece text[start:end]

The first of two divisions that are equally good stays: the one whose last piece is longer. A
character that is no piece by itself may be unknown instead. Sums are added from the left and
rounded before they are compared, as the reference implementations do (``Unigram.is_single``).

Source: T. Kudo, Subword Regularization, ACL 2018, 3.2; ``EncodeOptimized`` of SentencePiece, and
``encode_optimized`` of Hugging Face's library.
"""

from array import array
from collections.abc import Iterator
from itertools import groupby

from ...wordpiece.prefix_search import PrefixSearch
from ..definition import Definition, Unigram


class Viterbi:
    """Encodes pre-tokens by the Unigram model of a tokenizer.

    A run of unknown characters is one ``unk``, or the tokens of its bytes with byte fallback.
    """

    def __init__(self, tokenizer: Definition, model: Unigram) -> None:
        self._model = model
        assert tokenizer.unk is not None  # Each reader sees to that.
        self._unk, self._fallback = tokenizer.unk, tokenizer.byte_fallback
        pairs = zip(model.pieces.items(), model.scores.tolist(), strict=True)
        self._pieces = {text: (token_id, score) for (text, token_id), score in pairs}
        self._search = PrefixSearch(self._pieces)
        self._sums = "f" if model.is_single else "d"

    def parts(self, piece: str) -> list[str]:
        """The pre-token: sums are rounded all along it, so that it is divided as a whole."""
        return [piece]

    def ids(self, piece: str) -> list[int]:
        """The ids of one pre-token."""
        found: list[int] = []
        for is_unknown, run in groupby(self._best(piece), lambda part: part[0] == self._unk):
            if is_unknown:
                found += self._unknown("".join(text for _, text in run))
            else:
                found += [token_id for token_id, _ in run]
        return found

    def ids_of(self, pieces: list[str]) -> Iterator[tuple[str, list[int]]]:
        """Many pre-tokens with their ids."""
        return ((piece, self.ids(piece)) for piece in pieces)

    def _best(self, text: str) -> list[tuple[int, str]]:
        """The ids and texts of the best division."""
        count, unknown = len(text), self._model.unknown
        best = array(self._sums, [0.0]) * (count + 1)
        starts, ids = [-1] * (count + 1), [self._unk] * (count + 1)
        rounded = array(self._sums, [0.0])
        for start in range(count):
            here, is_known = best[start], False
            for piece in self._search.all_at(text, start):
                token_id, score = self._pieces[piece]
                end, total = start + len(piece), here + score
                is_known |= end == start + 1
                rounded[0] = total
                if starts[end] < 0 or rounded[0] > best[end]:
                    best[end], starts[end], ids[end] = rounded[0], start, token_id
            if not is_known:
                rounded[0] = here + unknown
                end = start + 1
                if starts[end] < 0 or rounded[0] > best[end]:
                    best[end], starts[end], ids[end] = rounded[0], start, self._unk
        parts = list[tuple[int, str]]()
        end = count
        while end:
            parts.append((ids[end], text[starts[end] : end]))
            end = starts[end]
        return parts[::-1]

    def _unknown(self, text: str) -> list[int]:
        """The ids of a run of unknown characters."""
        if not self._model.is_single and text in self._pieces:
            # Hugging Face's library looks the run up once more.
            return [self._pieces[text][0]]
        if self._fallback:
            return [self._fallback[octet] for octet in text.encode("utf-8")]
        return [self._unk]
