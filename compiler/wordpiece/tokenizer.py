"""A loaded WordPiece tokenizer."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import NamedTuple

from constrain.artifacts.tokens.vocabulary import Vocabulary

from .end_to_end import EndToEnd
from .normalizer import NO_NORMALIZER, SPACE, BertNormalizer
from .stream import Cutter

# How many strings are kept with their ids, and the longest of them: what stands between two
# spaces, and the normalised words in it. Most of a text is such strings that come again.
_KEPT, _LONGEST_KEPT = 131_072, 64

# Characters of a stream that wait for white space.
LONGEST_HELD = 1 << 16

# White space that cuts words whatever the normalizer is.
_LINE_ENDS = "\n\t\r"


class Piece(NamedTuple):
    """A token and the characters of the text that it stands for."""

    token_id: int
    start: int
    end: int


@dataclass(frozen=True)
class WordPieceTokenizer:
    """A WordPiece tokenizer with BERT's pre-tokenizer.

    ``ids``: token, as it is written, to id. ``indicator``: ♯, before tokens that
    continue a word. ``unknown``: the id for words without tokens. ``max_chars``: longer words
    are unknown. ``normalizer``: None for none. ``added``: id to name, of tokens that are
    matched in the text before anything else; ``special`` are those of them that stand for no
    text. ``eos``: the ids that end a text. ``sha256``: of the file. ``name``: the path.
    ``vocab_size``: highest id + 1.
    """

    name: str
    sha256: str
    ids: Mapping[str, int]
    indicator: str
    unknown: int
    max_chars: int
    normalizer: BertNormalizer | None
    added: Mapping[int, str]
    special: frozenset[int]
    eos: tuple[int, ...]
    vocab_size: int

    def encode(self, text: str) -> list[int]:
        """Token ids, as the tokenizer itself gives them without adding special tokens.

        Words that come again, the same characters between two spaces, are looked up.
        """
        if not self._cuts_at_spaces:
            return [piece.token_id for piece in self.pieces(text)]
        for char in _LINE_ENDS:
            if char in text:
                text = text.replace(char, SPACE)
        return list(chain.from_iterable(map(self._chunks.__getitem__, text.split(SPACE))))

    def encode_stream(self, parts: Iterable[str]) -> Iterator[list[int]]:
        """The ids of a text that comes in parts of any length, some with each part.

        What is held back is the text from the last white space on or, where that is long,
        from the last end of a word; a word beyond ``max_chars`` is not held whole.
        """
        held = ""
        for part in parts:
            cut = max(part.rfind(char) for char in (SPACE, *_LINE_ENDS)) + 1
            if cut and self._cuts_at_spaces:
                yield self.encode(held + part[:cut])
                held = ""
            held += part[cut:] if self._cuts_at_spaces else part
            if len(held) > LONGEST_HELD:
                ready, held = self._stream_cutter.settled(held)
                yield self.encode(ready)
        yield self.encode(held)

    def pieces(self, text: str) -> list[Piece]:
        """Tokens with their places in ``text``, in characters; nothing is looked up."""
        found: list[Piece] = []
        end = 0
        for match in self._added_pattern.finditer(text) if self._added_pattern else ():
            self._add_words(text, end, match.start(), found)
            found.append(Piece(self._added_ids[match.group()], match.start(), match.end()))
            end = match.end()
        self._add_words(text, end, len(text), found)
        return found

    def forget(self) -> None:
        """Drop the words that are kept; only speed changes."""
        self._chunks.clear()
        self._words.clear()

    def decode_bytes(self, ids: Iterable[int]) -> bytes:
        """Words between spaces, their tokens joined; added tokens as their names.

        The normalised text but for its spaces. Raises ``KeyError``.
        """
        out: list[str] = []
        for token_id in ids:
            token = self._names[token_id]
            continues = token.startswith(self.indicator) and token_id not in self.added
            if continues and out:
                out.append(token.removeprefix(self.indicator))
            else:
                out.append(SPACE + token if out else token)
        return "".join(out).encode("utf-8")

    def vocabulary(self, size: int | None = None) -> Vocabulary:
        """The tokens as an artifact stores them: as they are written, padded with holes."""
        tokens = {**self.tokens, **{i: name.encode("utf-8") for i, name in self.added.items()}}
        return Vocabulary.from_tokens(tokens, self.special, size or self.vocab_size)

    @cached_property
    def tokens(self) -> dict[int, bytes]:
        """Id to token as it is written, ♯ included, in UTF-8; added tokens by their names."""
        return {i: name.encode("utf-8") for i, name in self._names.items()}

    @cached_property
    def end_to_end(self) -> EndToEnd:
        """What tokenizes normalised text."""
        return EndToEnd(self.ids, self.indicator, self.unknown, self.max_chars)

    @cached_property
    def _names(self) -> dict[int, str]:
        return {**{i: token for token, i in self.ids.items()}, **self.added}

    @cached_property
    def _lengths(self) -> dict[int, int]:
        """Characters that a token stands for behind another token of its word."""
        mark = self.indicator
        return {i: len(token.removeprefix(mark)) for token, i in self.ids.items()}

    @cached_property
    def _chunks(self) -> "_Kept":
        return _Kept(self._chunk)

    @cached_property
    def _words(self) -> "_Kept":
        return _Kept(self.end_to_end.word)

    @cached_property
    def _cuts_at_spaces(self) -> bool:
        """Whether the text on each side of white space is tokenized for itself."""
        return not any(char in name for name in self.added.values() for char in " \n\t\r")

    @cached_property
    def _stream_cutter(self) -> Cutter:
        names = tuple(self.added.values())
        return Cutter(self._cutter, self._added_pattern, names, self.max_chars)

    @cached_property
    def _added_ids(self) -> dict[str, int]:
        return {name: i for i, name in self.added.items()}

    @cached_property
    def _added_pattern(self) -> re.Pattern[str] | None:
        # Leftmost, then longest, as the reference implementation matches them.
        names = sorted(self.added.values(), key=lambda name: (-len(name), name))
        return re.compile("|".join(map(re.escape, names))) if names else None

    def _add_words(self, text: str, start: int, end: int, found: list[Piece]) -> None:
        """The tokens of ``text[start:end]``, which holds no added token."""
        part = text[start:end]
        if self.normalizer is None:
            normal, origins = part, list(range(len(part)))
        else:
            normal, origins = self.normalizer.normalize_aligned(part)
        for word in self.end_to_end.words(normal):
            place = word.start
            for token_id in word.tokens:
                if token_id == self.unknown:
                    stop = word.end
                elif place == word.start:
                    stop = place + len(self._names[token_id])
                else:
                    stop = place + self._lengths[token_id]
                found.append(Piece(token_id, start + origins[place], start + origins[stop - 1] + 1))
                place = stop

    def _chunk(self, text: str) -> tuple[int, ...]:
        """The ids of text without spaces."""
        pattern = self._added_pattern
        if pattern is not None and pattern.search(text):
            return tuple(piece.token_id for piece in self.pieces(text))
        words = self._cutter(text).split(SPACE)
        if len(words) == 1:
            return self._words[words[0]]
        return tuple(chain.from_iterable(map(self._words.__getitem__, words)))

    @cached_property
    def _cutter(self) -> Callable[[str], str]:
        """Puts normalised words between spaces."""
        return (self.normalizer or NO_NORMALIZER).cut


class _Kept(dict[str, tuple[int, ...]]):
    """The ids of strings; fills itself in, and starts anew when it is full."""

    def __init__(self, encode: Callable[[str], tuple[int, ...]]) -> None:
        super().__init__()
        self._encode = encode

    def __missing__(self, text: str) -> tuple[int, ...]:
        ids = self._encode(text)
        if len(text) <= _LONGEST_KEPT:
            if len(self) >= _KEPT:
                self.clear()
            self[text] = ids
        return ids
