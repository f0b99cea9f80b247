"""What a tokenizer's files say, as data: its vocabulary, its merges or scores, its steps in order.

A whole encoding, with the fields of ``Definition`` that say how:

    added tokens that are not ``normalized`` are found in the text
    normalizers        rewrite each part between them, one step after another
    added tokens that are ``normalized`` are found in the result
    pre_tokenizers     split each part into pre-tokens (pieces), each step those of the one before
    merges             are applied inside each pre-token, lowest rank first; or ``unigram``: it is
                       divided into the pieces with the highest sum of scores

There is one frozen class for each kind of step; all pre-tokenizers that only split are a ``Split``,
and the property ``split`` of the others gives theirs. ``encoding`` runs the steps.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ..wordpiece.normalizer import BertNormalizer as BertNormalizer
from .encoding.scripts import runs_pattern

# GPT-2's pattern: contractions, words, numbers and symbols with a space before them, and white
# space, whose last character belongs to the word that follows.
BYTE_LEVEL_PATTERN = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"

# ASCII symbols count as punctuation besides Unicode's. The reference library's table of these is
# that of Unicode 7.0, older than its other ones: later punctuation is excluded, and two characters
# that are no longer punctuation are included.
PUNCTUATION_PATTERN = (
    r"(?![\u061D\u09FD\u0A76\u0C77\u0C84\u1B4E-\u1B4F\u1B7D-\u1B7F\u2E43-\u2E4F\u2E52-\u2E5D"
    r"\x{10D6E}\x{10EAD}\x{10F55}-\x{10F59}\x{10F86}-\x{10F89}\x{113D4}-\x{113D5}"
    r"\x{113D7}-\x{113D8}\x{1144B}-\x{1144F}\x{1145A}-\x{1145B}\x{1145D}\x{11660}-\x{1166C}"
    r"\x{116B9}\x{1183B}\x{11944}-\x{11946}\x{119E2}\x{11A3F}-\x{11A46}\x{11A9A}-\x{11A9C}"
    r"\x{11A9E}-\x{11AA2}\x{11B00}-\x{11B09}\x{11BE1}\x{11C41}-\x{11C45}\x{11C70}-\x{11C71}"
    r"\x{11EF7}-\x{11EF8}\x{11F43}-\x{11F4F}\x{11FFF}\x{12FF1}-\x{12FF2}\x{16D6D}-\x{16D6F}"
    r"\x{16E97}-\x{16E9A}\x{16FE2}\x{1E5FF}\x{1E95E}-\x{1E95F}])"
    r"[\p{P}\u166D\x{111C9}!-/:-@\[-`{-~]"
)

# The characters of words as Rust's regular expressions have them.
WORD = (
    r"\p{L}\p{M}\p{Nd}\p{Nl}\p{Pc}\u200C\u200D\u24B6-\u24E9"
    r"\x{1F130}-\x{1F149}\x{1F150}-\x{1F169}\x{1F170}-\x{1F189}"
)


class Behaviour(StrEnum):
    """What becomes of the matches of a ``Split``; the text between two matches is a pre-token.

    ISOLATED: each match is a pre-token. REMOVED: matches are dropped. MERGED_WITH_PREVIOUS,
    MERGED_WITH_NEXT: a match belongs to the pre-token before or after it. CONTIGUOUS: adjacent
    matches are one pre-token.
    """

    ISOLATED = "Isolated"
    REMOVED = "Removed"
    MERGED_WITH_PREVIOUS = "MergedWithPrevious"
    MERGED_WITH_NEXT = "MergedWithNext"
    CONTIGUOUS = "Contiguous"


@dataclass(frozen=True, slots=True)
class Split:
    """Split at the matches of ``pattern``, in Oniguruma's syntax.

    ``invert`` exchanges the matches and the text between them. ``of_scripts``: the pattern sees a
    mark of its script in the place of each character (``encoding/scripts.py``). ``kind``: what the
    step is called.
    """

    pattern: str
    behaviour: Behaviour = Behaviour.ISOLATED
    invert: bool = False
    of_scripts: bool = False
    kind: str = "Split"

    @property
    def split(self) -> "Split":
        """This step."""
        return self


def digits(*, individual: bool = False) -> Split:
    """Split at numbers (general category N), at each digit if ``individual``."""
    behaviour = Behaviour.ISOLATED if individual else Behaviour.CONTIGUOUS
    return Split(r"\p{N}", behaviour, kind="Digits")


def punctuation(behaviour: Behaviour = Behaviour.ISOLATED) -> Split:
    """Split at punctuation (general category P, and all symbols of ASCII)."""
    return Split(PUNCTUATION_PATTERN, behaviour, kind="Punctuation")


# Split into words and runs of symbols, and at white space; white space is dropped.
WHITESPACE = Split(rf"[{WORD}]+|[^{WORD}\s]+", Behaviour.REMOVED, invert=True, kind="Whitespace")
WHITESPACE_SPLIT = Split(r"\s", Behaviour.REMOVED, kind="WhitespaceSplit")


def unicode_scripts() -> Split:
    """Split where the script changes; spaces belong to what is before them, and are dropped where
    nothing is."""
    removed = Behaviour.REMOVED
    return Split(runs_pattern(), removed, invert=True, of_scripts=True, kind="UnicodeScripts")


@dataclass(frozen=True, slots=True)
class ByteLevel:
    """Write bytes in the byte-level alphabet, after splitting by GPT-2's pattern if ``use_regex``.

    ``add_prefix_space`` puts a space before each pre-token that does not begin with one. Steps
    after this one see the characters that stand for bytes.
    """

    use_regex: bool = True
    add_prefix_space: bool = False

    @property
    def split(self) -> Split | None:
        """How it splits, None if it does not."""
        return Split(BYTE_LEVEL_PATTERN) if self.use_regex else None


class PrependScheme(StrEnum):
    """Before which pre-tokens that do not begin with it ``Metaspace`` puts its replacement."""

    ALWAYS = "always"
    FIRST = "first"
    NEVER = "never"


@dataclass(frozen=True, slots=True)
class Metaspace:
    """SentencePiece's spaces: each becomes ``replacement``, and starts a pre-token if ``splits``.

    ``prepend``: which pre-tokens get a replacement before them (``FIRST``: the one at the start of
    the text).
    """

    replacement: str = "▁"
    prepend: PrependScheme = PrependScheme.ALWAYS
    splits: bool = True

    @property
    def split(self) -> Split | None:
        """How it splits (after the replacement), None if it does not."""
        if not self.splits:
            return None
        escaped = "".join(rf"\x{{{ord(char):X}}}" for char in self.replacement)
        return Split(escaped, Behaviour.MERGED_WITH_NEXT)


PreTokenizer = Split | ByteLevel | Metaspace


class Form(StrEnum):
    """Unicode's normalization forms."""

    NFC = "NFC"
    NFD = "NFD"
    NFKC = "NFKC"
    NFKD = "NFKD"


@dataclass(frozen=True, slots=True)
class Normalize:
    """A normalization form of Unicode."""

    form: Form


@dataclass(frozen=True, slots=True)
class Replace:
    """Replace each match of ``pattern`` by ``content``, taken literally.

    ``pattern`` is a text, or Oniguruma's regular expression if ``is_regex``.
    """

    pattern: str
    content: str
    is_regex: bool = False


@dataclass(frozen=True, slots=True)
class Prepend:
    """Put ``prefix`` before a text that is not empty."""

    prefix: str


@dataclass(frozen=True, slots=True)
class Lowercase:
    """Lower case, each character by itself."""


@dataclass(frozen=True, slots=True)
class Strip:
    """Remove white space at the ends of the text."""

    left: bool = True
    right: bool = True


@dataclass(frozen=True, slots=True)
class Nmt:
    """Drop control characters, and write a space for other white space."""


@dataclass(frozen=True, slots=True)
class StripAccents:
    """Drop marks; a letter with an accent of its own keeps it."""


@dataclass(frozen=True, slots=True)
class Precompiled:
    """SentencePiece's table of replacements, ``charsmap``, in base64.

    As SentencePiece replaces: the longest text of the table at each place, but for the texts
    ``kept``, which stay as they are. ``by_graphemes``: as Hugging Face's library does: a whole
    grapheme of up to five bytes by what the table has for the shortest text that it begins with,
    else each of its characters.
    """

    charsmap: str
    by_graphemes: bool = False
    kept: tuple[str, ...] = ()


Normalizer = (
    Normalize
    | Replace
    | Prepend
    | Lowercase
    | Strip
    | Nmt
    | StripAccents
    | BertNormalizer
    | Precompiled
)


def written_space(normalizers: Iterable[Normalizer], steps: Iterable[PreTokenizer]) -> str | None:
    """The character that stands for a space in tokens of characters, None for the space itself."""
    for step in normalizers:
        if isinstance(step, Replace) and step.pattern == " " and not step.is_regex:
            return step.content
    return next((step.replacement for step in steps if isinstance(step, Metaspace)), None)


@dataclass(frozen=True, slots=True)
class AddedToken:
    """A token with a name, by which it is found in a text before that is split and merged.

    ``lstrip``, ``rstrip``: it includes the white space beside it. ``single_word``: it counts only
    between characters that are not word characters. ``normalized``: it is searched in the
    normalized text, by its name as normalizers leave that; ``as_written``: there by its name as it
    is. ``special``: it stands for no text. ``searched``: it is found in texts; its name is a text
    like any other without it.
    """

    id: int
    content: str
    special: bool = False
    normalized: bool = False
    lstrip: bool = False
    rstrip: bool = False
    single_word: bool = False
    searched: bool = True
    as_written: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Unigram:
    """A Unigram model: a pre-token becomes the pieces whose scores have the highest sum.

    ``pieces``: the id of each text that is looked for. ``scores``: float64 (n,), theirs, in that
    order. ``unknown``: the score of a character that is no piece by itself. ``is_single``: sums are
    rounded to single precision, as SentencePiece has them.

    Source: T. Kudo, Subword Regularization, ACL 2018, 3.2.
    """

    pieces: Mapping[str, int]
    scores: NDArray[np.float64]
    unknown: float
    is_single: bool


@dataclass(frozen=True)
class Definition:
    """A tokenizer that merges bytes or characters, or has a Unigram model.

    ``name``: the path. ``sha256``: of the file. ``tokens``: id to the bytes that it stands for
    in a text, of all tokens but the special ones. ``added_tokens``: those that are found in
    the text by their names. ``merges``: int32 (n, 3), left, right and result id in rank
    order. ``base``: the id of each byte as a symbol of its own, -1 for none. ``eos``: the ids
    that end a text, empty if none is known; ``eos_is_guessed``: they are known by their usual names
    alone. ``vocab_size``: highest id + 1, of all tokens, also
    those that no text gives.

    ``characters``: id of each character that is a symbol, if merging begins with characters (as
    SentencePiece does); empty if it begins with bytes. ``byte_fallback``: the 256 tokens of
    single bytes that spell a character which is not one of those (-1 for a byte that is such a
    character by itself), empty without that rule.
    ``unk``: what stands for a character without any token, None to drop it; ``fuse_unk``: one for
    a run of these. ``ignore_merges``: a whole pre-token that is a token is that token.

    ``continuing_prefix``, ``end_suffix``: what is written before each symbol of a pre-token but the
    first, and after the last. ``affixed``: id of each symbol with either or both, as written.
    ``unigram``: the model instead of merges, whose ``characters`` are its pieces of one.
    """

    name: str
    sha256: str
    tokens: Mapping[int, bytes]
    added_tokens: tuple[AddedToken, ...]
    merges: NDArray[np.int32]
    base: Sequence[int]
    eos: tuple[int, ...]
    vocab_size: int
    normalizers: tuple[Normalizer, ...] = ()
    pre_tokenizers: tuple[PreTokenizer, ...] = ()
    characters: Mapping[str, int] = field(default_factory=dict)
    byte_fallback: tuple[int, ...] = ()
    unk: int | None = None
    fuse_unk: bool = False
    ignore_merges: bool = False
    eos_is_guessed: bool = False
    continuing_prefix: str = ""
    end_suffix: str = ""
    affixed: Mapping[str, int] = field(default_factory=dict)
    unigram: Unigram | None = None

    @property
    def byte_level(self) -> bool:
        """Whether merging begins with bytes."""
        return not self.characters

    @property
    def splits(self) -> bool:
        """Whether text is split into pre-tokens before it is merged."""
        return any(step.split is not None for step in self.pre_tokenizers)

    @cached_property
    def added(self) -> Mapping[int, str]:
        """Id to name of the added tokens."""
        return {token.id: token.content for token in self.added_tokens}

    @cached_property
    def special(self) -> frozenset[int]:
        """Ids of the added tokens that stand for no text."""
        return frozenset(token.id for token in self.added_tokens if token.special)

    @cached_property
    def known(self) -> NDArray[np.bool_]:
        """Whether each id is that of a token, bool (vocab_size,); read-only."""
        found = np.zeros(self.vocab_size, dtype=np.bool_)
        found[[*self.tokens, *self.added]] = True
        found.setflags(write=False)
        return found
