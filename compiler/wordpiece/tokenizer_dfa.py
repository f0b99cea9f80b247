"""WordPiece's tokenizer DFA, composed with a grammar: the token sequences of its members.

    tokenize(L) = canon(L) × canonical sequences

Both factors are automata of moderate size. Their product is not, and is never built:
``constrain.artifacts.wordpiece.machine`` walks it. ``README.md`` beside this file says why adjacent
pairs of tokens do not decide here.
"""

from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from constrain.artifacts.errors import visible
from constrain.artifacts.wordpiece.trie import OTHER_BYTE, SECTIONS

from ..automata import regex_ir as regex
from ..automata.boolean import difference
from ..automata.determinize import determinize
from ..automata.dfa import Dfa
from ..automata.thompson import thompson
from ..diagnostics import TokenizerError
from ..limits import Limits
from ..progress import Step
from .image import image_table
from .normalized_language import CanonicalText, canonical_text
from .normalizer import NO_NORMALIZER, BertNormalizer, is_punctuation
from .tokenizer import WordPieceTokenizer
from .trie_layout import TrieLayout, lay_out, plain_characters
from .unknown_words import characters_of, with_unknown_words
from .word_ends import WordEnds, word_ends

# Characters that a note lists.
_LISTED = 8


@dataclass(frozen=True, slots=True, eq=False)
class CanonicalWords:
    """``dfa``: of canon(L). ``tokens``: the trie of the tokens that its words can hold.
    ``indicator``: ♯ in UTF-8. ``notes``: what was left out, for the user."""

    dfa: Dfa
    tokens: TrieLayout
    ends: WordEnds
    indicator: bytes
    normalizer: BertNormalizer
    notes: tuple[str, ...]

    @property
    def is_empty(self) -> bool:
        """Whether no member has tokens."""
        return self.dfa.is_empty or self.ends.is_empty

    def arrays(self) -> Mapping[str, NDArray[Any]]:
        """The sections of an artifact."""
        trie, words = self.tokens.trie, self.ends.words
        return {
            "words.table": words.dfa.table,
            "words.classes": words.dfa.classes,
            "words.accepting": words.dfa.accepting,
            "words.ends": words.ends,
            "words.fewest": words.fewest,
            "words.plain": words.plain,
            "words.ways": words.first_bytes,
            "words.longest": np.array([self.ends.longest], dtype=np.int32),
            "words.indicator": np.frombuffer(self.indicator, dtype=np.uint8),
            "words.normalizer": np.array(astuple(self.normalizer), dtype=np.uint8),
            **{f"pieces.{name}": getattr(trie, name) for name in SECTIONS},
            "pieces.letters": self.tokens.plain_nodes,
            "pieces.nodes": self.tokens.nodes,
        }


@Step("merge")
def canonical_words(
    dfa: Dfa,
    tokenizer: WordPieceTokenizer,
    vocab_size: int,
    limits: Limits,
    *,
    keep_unknown: bool = False,
) -> CanonicalWords:
    """Everything that the machine needs, for the members of ``dfa``, which is trimmed, but for
    those with the name of an added token.

    ``keep_unknown``: those with unknown words too, else without. Raises ``TokenizerError`` for
    vocabularies in which a token could both begin and continue a word, or a special one be a part
    of words, and ``LimitError``.
    """
    mark = tokenizer.indicator
    if not mark or not is_punctuation(mark[0]):
        raise TokenizerError(
            f"{visible(tokenizer.name)}: masks need a continuing_subword_prefix that begins with "
            f"punctuation, not {mark!r}: else a token may both begin and continue a word"
        )
    names = sorted(name for name in tokenizer.added.values() if _is_read(dfa, name.encode("utf-8")))
    dfa = _without(dfa, names, limits)
    text = canonical_text(dfa, image_table(tokenizer, keep_unknown=keep_unknown), limits)
    tables, longest, words = tokenizer.words, tokenizer.max_chars, text.dfa
    initial, suffixes = _spelled(words, tables.initial), _spelled(words, tables.suffixes)
    _refuse_special(words, tokenizer, {**initial, **suffixes})
    if keep_unknown:
        initial[bytes([OTHER_BYTE])] = tokenizer.unk
    tokens = lay_out(initial, suffixes, vocab_size)
    if keep_unknown:
        used = frozenset().union(*tables.initial, *tables.suffixes)
        characters = characters_of(used, initial, suffixes)
        words = with_unknown_words(words, tokens.trie, characters, longest, limits)
    ends = word_ends(words, tokens, plain_characters(initial, suffixes), longest, limits)
    normalizer = tokenizer.normalizer or NO_NORMALIZER
    notes = (
        _represented(words, tokenizer)
        if keep_unknown
        else _left_out(text, tokenizer, initial, suffixes, ends.longest)
    )
    if names:
        shown = ", ".join(names[:_LISTED]) + ", …" * (len(names) > _LISTED)
        notes = [f"members with the name of an added token are left out: {shown}", *notes]
    return CanonicalWords(words, tokens, ends, mark.encode("utf-8"), normalizer, tuple(notes))


def _is_read(dfa: Dfa, text: bytes) -> bool:
    """Whether some word of a trimmed DFA holds ``text``; false for the empty one."""
    states = np.arange(1, dfa.states)
    for octet in text:
        states = np.unique(dfa.table[states, dfa.classes[octet]])
    return bool(text) and bool(states.any())


def _without(dfa: Dfa, names: Sequence[str], limits: Limits) -> Dfa:
    """The words that hold none of ``names``. Raises ``LimitError``."""
    if not names:
        return dfa
    some = regex.alt(*(regex.Lit(name.encode("utf-8")) for name in names))
    held = thompson(regex.seq(regex.EVERYTHING, some, regex.EVERYTHING), limits)
    return difference(dfa, determinize(held, limits), limits)


def _refuse_special(words: Dfa, tokenizer: WordPieceTokenizer, tokens: Mapping[bytes, int]) -> None:
    """No word of the text may have a special token, which stands for no text."""
    for text, token in tokens.items():
        if token in tokenizer.special and _is_read(words, text):
            raise TokenizerError(
                f"{visible(tokenizer.name)}: the special token {visible(tokenizer.added[token])!r} "
                "is a part of words, too, which masks do not support"
            )


def _represented(words: Dfa, tokenizer: WordPieceTokenizer) -> list[str]:
    """What the user is told of unknown words that are members."""
    if not words.used_bytes()[OTHER_BYTE]:
        return []
    return [f"{_name(tokenizer)} stands for whole words: several members may have the same tokens"]


def _left_out(
    text: CanonicalText,
    tokenizer: WordPieceTokenizer,
    initial: Mapping[bytes, int],
    suffixes: Mapping[bytes, int],
    longest: int,
) -> list[str]:
    """What the user is told of members that are left out."""
    notes = []
    if text.lost:
        codes = text.lost[:_LISTED]
        shown = ", ".join(f"U+{code:04X}" for code in codes)
        more = text.lost_count - len(codes)
        notes.append(
            f"members with a word that becomes {_name(tokenizer)} are left out: no token has "
            f"the characters {shown}{f' and {more:,} others' if more else ''}"
        )
    rest = _rest_of(text.dfa, initial, suffixes)
    if rest:
        shown = ", ".join(rest[:_LISTED])
        notes.append(
            f"members with a word that becomes {_name(tokenizer)} are left out: {shown}"
            f"{', …' if len(rest) > _LISTED else ''} can stand in some words only"
        )
    if longest:
        notes.append(
            f"members with a word of more than {longest} characters are left out: it "
            f"becomes {_name(tokenizer)}"
        )
    return notes


def _name(tokenizer: WordPieceTokenizer) -> str:
    return tokenizer.tokens[tokenizer.unk].decode("utf-8")


def _spelled(dfa: Dfa, tokens: Mapping[str, int]) -> dict[bytes, int]:
    """The tokens whose bytes all occur in the text: no other is ever matched."""
    used = frozenset(np.flatnonzero(dfa.used_bytes()).tolist())
    encoded = ((token.encode("utf-8"), i) for token, i in tokens.items() if token)
    return {text: i for text, i in encoded if used.issuperset(text)}


def _rest_of(dfa: Dfa, initial: Mapping[bytes, int], suffixes: Mapping[bytes, int]) -> list[str]:
    """ASCII letters and digits of the text that lack a token at one of the two places."""
    used = dfa.used_bytes()
    return [
        chr(octet)
        for octet in range(0x21, 0x7F)
        if used[octet]
        and chr(octet).isalnum()
        and (bytes([octet]) not in initial or bytes([octet]) not in suffixes)
    ]
