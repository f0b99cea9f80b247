"""Texts as a trie: the nodes that automata of texts begin with.

Texts that an encoder would change, taken out of the automaton of cuts.

An added token is found in a text before anything else: a text that holds the name of one is
never spelled by the tokens of its parts.

Texts in which no added token is found, where some tokens count as ``single_word`` alone.

Whether a token of a single word counts depends on the characters beside it, and text that was
matched is passed over even if it does not count. So the automaton follows the search itself
(``AddedTokens``): leftmost, then longest. A state is what has been read and not been decided on,
which begins a token, and whether a character of a word stands before it.
"""

from collections.abc import Iterable, Mapping

import numpy as np
from numpy.typing import NDArray

from ..diagnostics import TokenizerError
from ..tokenizers.definition import WORD, AddedToken
from .character_classes import Alphabet, alphabet_of
from .marked_dfa import DEAD, MarkedDfa, minimal, synchronous_product
from .pattern_program import CharSet
from .to_bytes import plain_alphabet, with_marks


def trie_of(texts: Iterable[bytes]) -> tuple[list[dict[int, int]], list[bool]]:
    """Each node's children by byte, and whether a text ends in it; node 0 is the root.

    Nodes are numbered in the order in which ``texts`` come to them.
    """
    children: list[dict[int, int]] = [{}]
    ends = [False]
    for text in texts:
        node = 0
        for octet in text:
            if octet not in children[node]:
                children[node][octet] = len(children)
                children.append({})
                ends.append(False)
            node = children[node][octet]
        ends[node] = True
    return children, ends


def without_texts(texts: Iterable[bytes], planes: int) -> MarkedDfa:
    """All marked byte sequences that hold none of ``texts``.

    The automaton of Aho and Corasick, each plane alike, minimal.
    """
    wanted = sorted({text for text in texts if text})
    children, ends = trie_of(wanted)
    # Node n of the trie is state n + 1.
    table = np.full((len(children) + 1, 256), 1, dtype=np.int32)
    table[DEAD] = DEAD
    failure = [0] * len(children)
    pending = [0]
    for node in pending:
        table[node + 1] = table[failure[node] + 1] if node else 1
        for octet, child in children[node].items():
            failure[child] = int(table[failure[node] + 1, octet]) - 1 if node else 0
            pending.append(child)
        for octet, child in children[node].items():
            table[node + 1, octet] = child + 1
    dead = np.array([False, *ends])
    for node in pending:
        dead[node + 1] |= dead[failure[node] + 1]
    table[dead[table]] = DEAD
    final = ~dead
    final[DEAD] = False
    whole = np.repeat(table[:, None, :], planes, axis=1)
    return minimal(MarkedDfa(np.ascontiguousarray(whole), final, 1))


def intersected(first: MarkedDfa, second: MarkedDfa) -> MarkedDfa:
    """What both accept, minimal but for states that reach no end; the same symbols."""
    width = np.int64(second.states)
    pairs, table = synchronous_product(
        first.table, second.table, np.array([first.start * width + second.start])
    )
    a, b = np.divmod(pairs, width)
    final = first.final[a] & second.final[b]
    final[DEAD] = False
    return minimal(MarkedDfa(table, final, 1))


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
