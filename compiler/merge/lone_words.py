"""Texts in which no added token is found, where some tokens count as ``single_word`` alone.

Whether a token of a single word counts depends on the characters beside it, and text that was
matched is passed over even if it does not count. So the automaton follows the search itself
(``AddedTokens``): leftmost, then longest. A state is what has been read and not been decided on,
which begins a token, and whether a character of a word stands before it.
"""

from collections.abc import Iterable, Mapping

import numpy as np
from numpy.typing import NDArray

from ..diagnostics import TokenizerError
from ..tokenizers.steps import WORD, AddedToken
from .alphabet import Alphabet, alphabet_of
from .character_texts import plain_alphabet, with_marks
from .marked_dfa import DEAD, MarkedDfa, minimal
from .split_pattern import CharSet

# Atoms: other characters, those of words, and then each character of a token.
_OTHER, _WORD, _FIRST = 1, 2, 3

_Atoms = tuple[int, ...]

# (Whether a character of a word stands before the rest, the rest.)
_State = tuple[bool, _Atoms]


def without_tokens(
    tokens: Mapping[str, AddedToken], space: str = " "
) -> tuple[MarkedDfa, Alphabet]:
    """The automaton over characters, whatever the marks, and its alphabet.

    ``tokens``: by the texts that they are found by; a space of a text is seen as ``space``.
    Raises ``TokenizerError`` if they have too many characters.
    """
    letters = sorted({char for text in tokens for char in text})
    if len(letters) > 256 - _FIRST:
        raise TokenizerError(
            f"added tokens that are 'single_word' have {len(letters)} characters between them, "
            f"canonical masks support {256 - _FIRST}; use --tokenization any"
        )
    words = _word_characters(space)
    atom_of = {char: _FIRST + place for place, char in enumerate(letters)}
    numbers = np.where(words, _WORD, _OTHER)
    numbers[[ord(char) for char in letters]] = list(atom_of.values())
    search = _Search(
        {tuple(atom_of[char] for char in text): t.single_word for text, t in tokens.items()},
        {_WORD, *(atom for char, atom in atom_of.items() if words[ord(char)])},
    )
    return search.automaton(_FIRST + len(letters)), plain_alphabet(numbers)


class _Search:
    """``tokens``: which of them are of single words. ``words``: the atoms of words."""

    def __init__(self, tokens: Mapping[_Atoms, bool], words: Iterable[int]) -> None:
        self._tokens, self._words = tokens, frozenset(words)
        self._begun = {text[:end] for text in tokens for end in range(1, len(text) + 1)}

    def decided(self, state: _State, *, at_end: bool) -> _State | None:
        """Where the search is when nothing more can be told; None if it has found a token."""
        in_word, rest = state
        while rest and (at_end or rest not in self._begun):
            lengths = range(len(rest), 0, -1)
            length = next((n for n in lengths if rest[:n] in self._tokens), 0)
            if length:
                behind = rest[length : length + 1]
                if not (self._tokens[rest[:length]] and (in_word or self._is_word(behind))):
                    return None
            length = length or 1
            in_word, rest = rest[length - 1] in self._words, rest[length:]
        return in_word, rest

    def _is_word(self, behind: _Atoms) -> bool:
        return bool(behind) and behind[0] in self._words

    def automaton(self, atoms: int) -> MarkedDfa:
        """All texts in which nothing is found."""
        numbers: dict[_State, int] = {(False, ()): DEAD + 1}
        rows, final = [[DEAD] * atoms], [False]
        pending = list(numbers)
        for in_word, rest in pending:
            row = [DEAD]
            for atom in range(1, atoms):
                after = self.decided((in_word, (*rest, atom)), at_end=False)
                if after is not None and after not in numbers:
                    numbers[after] = len(numbers) + 1
                    pending.append(after)
                row.append(DEAD if after is None else numbers[after])
            rows.append(row)
            final.append(self.decided((in_word, rest), at_end=True) is not None)
        table = np.array(rows, dtype=np.int32)
        return minimal(with_marks(table, np.array(final), DEAD + 1))


def _word_characters(space: str) -> NDArray[np.bool_]:
    """The characters of words, bool (0x110000,)."""
    chars = CharSet(f"[{WORD}]")
    alphabet = alphabet_of([chars], space=space)
    return alphabet.members[chars][alphabet.atoms]
