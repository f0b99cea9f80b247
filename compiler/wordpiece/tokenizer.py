"""A WordPiece tokenizer that has been loaded: text to ids, whole or in parts, and ids to text."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from itertools import chain
from typing import ClassVar, NamedTuple

from constrain.artifacts.tokens.vocabulary import Vocabulary

from .cached_ids import CachedIds
from .normalizer import NO_NORMALIZER, SPACE, BertNormalizer
from .stream import StreamSplitter
from .words import Words

# The longest strings that are cached with their ids: what stands between two spaces, and the
# normalised words in it. Most of a text is such strings that come again.
_LONGEST_CACHED = 64

# Characters of a stream that wait for white space.
LONGEST_HELD = 1 << 16

# White space that ends words whatever the normalizer is.
_LINE_ENDS = "\n\t\r"


class TokenSpan(NamedTuple):
    """A token and the characters of the text that it stands for."""

    token_id: int
    start: int
    end: int


@dataclass(frozen=True)
class WordPieceTokenizer:
    """A WordPiece tokenizer with BERT's pre-tokenizer.

    ``ids``: token, as it is written, to id. ``indicator``: ♯, before tokens that
    continue a word. ``unk``: the id for words without tokens. ``max_chars``: longer words
    are unknown. ``normalizer``: None for none. ``added``: id to name, of tokens that are
    matched in the text before anything else; ``special`` are those of them that stand for no
    text. ``eos``: the ids that end a text. ``sha256``: of the file. ``name``: the path.
    ``vocab_size``: highest id + 1.
    """

    eos_is_guessed: ClassVar[bool] = False

    name: str
    sha256: str
    ids: Mapping[str, int]
    indicator: str
    unk: int
    max_chars: int
    normalizer: BertNormalizer | None
    added: Mapping[int, str]
    special: frozenset[int]
    eos: tuple[int, ...]
    vocab_size: int

    @property
    def kind(self) -> str:
        """The name of its model."""
        return "wordpiece"

    @property
    def fingerprint(self) -> str:
        """A hash of its definition, whatever file that came from."""
        of_text = self.ids, self.indicator, self.unk, self.max_chars, self.normalizer
        defined = *of_text, self.added, sorted(self.special), self.vocab_size
        return sha256(repr(defined).encode("utf-8", "surrogatepass")).hexdigest()

    def encode(self, text: str) -> list[int]:
        """Token ids, as the tokenizer itself gives them without adding special tokens.

        Words that come again, the same characters between two spaces, are looked up.
        """
        if not self._splits_at_spaces:
            return [span.token_id for span in self.spans(text)]
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
            end = max(part.rfind(char) for char in (SPACE, *_LINE_ENDS)) + 1
            if end and self._splits_at_spaces:
                yield self.encode(held + part[:end])
                held = ""
            held += part[end:] if self._splits_at_spaces else part
            if len(held) > LONGEST_HELD:
                ready, held = self._splitter.settled(held)
                yield self.encode(ready)
        yield self.encode(held)

    def spans(self, text: str) -> list[TokenSpan]:
        """Tokens with their places in ``text``, in characters; nothing is looked up."""
        found: list[TokenSpan] = []
        end = 0
        for match in self._added_pattern.finditer(text) if self._added_pattern else ():
            self._add_words(text, end, match.start(), found)
            found.append(TokenSpan(self._added_ids[match.group()], match.start(), match.end()))
            end = match.end()
        self._add_words(text, end, len(text), found)
        return found

    def forget(self) -> None:
        """Empty the caches of words; only speed changes."""
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
    def words(self) -> Words:
        """What tokenizes normalised text."""
        return Words(self.ids, self.indicator, self.unk, self.max_chars)

    @cached_property
    def _names(self) -> dict[int, str]:
        return {**{i: token for token, i in self.ids.items()}, **self.added}

    @cached_property
    def _lengths(self) -> dict[int, int]:
        """Characters that a token stands for after another token of its word."""
        mark = self.indicator
        return {i: len(token.removeprefix(mark)) for token, i in self.ids.items()}

    @cached_property
    def _chunks(self) -> CachedIds[tuple[int, ...]]:
        return CachedIds(self._chunk, _LONGEST_CACHED)

    @cached_property
    def _words(self) -> CachedIds[tuple[int, ...]]:
        return CachedIds(self.words.word, _LONGEST_CACHED)

    @cached_property
    def _splits_at_spaces(self) -> bool:
        """Whether the text on each side of white space is tokenized for itself."""
        return not any(char in name for name in self.added.values() for char in " \n\t\r")

    @cached_property
    def _splitter(self) -> StreamSplitter:
        names = tuple(self.added.values())
        return StreamSplitter(self._spaced, self._added_pattern, names, self.max_chars)

    @cached_property
    def _added_ids(self) -> dict[str, int]:
        return {name: i for i, name in self.added.items()}

    @cached_property
    def _added_pattern(self) -> re.Pattern[str] | None:
        # Leftmost, then longest, as the reference implementation matches them.
        names = sorted(self.added.values(), key=lambda name: (-len(name), name))
        return re.compile("|".join(map(re.escape, names))) if names else None

    def _add_words(self, text: str, start: int, end: int, found: list[TokenSpan]) -> None:
        """The tokens of ``text[start:end]``, which holds no added token."""
        part = text[start:end]
        if self.normalizer is None:
            normal, origins = part, list(range(len(part)))
        else:
            normal, origins = self.normalizer.normalize_aligned(part)
        for word in self.words.words(normal):
            place = word.start
            for token_id in word.tokens:
                if token_id == self.unk:
                    stop = word.end
                elif place == word.start:
                    stop = place + len(self._names[token_id])
                else:
                    stop = place + self._lengths[token_id]
                found.append(
                    TokenSpan(token_id, start + origins[place], start + origins[stop - 1] + 1)
                )
                place = stop

    def _chunk(self, text: str) -> tuple[int, ...]:
        """The ids of text without spaces."""
        pattern = self._added_pattern
        if pattern is not None and pattern.search(text):
            return tuple(span.token_id for span in self.spans(text))
        words = self._spaced(text).split(SPACE)
        if len(words) == 1:
            return self._words[words[0]]
        return tuple(chain.from_iterable(map(self._words.__getitem__, words)))

    @cached_property
    def _spaced(self) -> Callable[[str], str]:
        """Puts normalised words between spaces."""
        return (self.normalizer or NO_NORMALIZER).spaced
