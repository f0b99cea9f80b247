"""The texts that a tokenizer's other steps leave as they are: fixed points of those steps.

Canonical tokens spell the text itself, so a text that a step would change has none. Each step is an
automaton of the texts that stay:

    added tokens           no occurrence of their names (Aho and Corasick), as these are found in a
                           text before anything else
    ``single_word`` ones   the search of ``encoding.added_tokens`` finds none that counts
    ``Strip``              no white space at the ends in question
    ``Replace`` (regex)    each match is the content that would replace it

Whether a ``single_word`` token counts depends on the characters beside it, and a match that does
not count is skipped all the same. So the automaton follows the search (leftmost, then longest): a
state is the prefix of a token that has been read and not been decided on, and whether a word
character stands before it. Matches of ``Replace`` are those that ``boundary_automaton`` marks: a
state is a state of that machine, and how much of the content the match has been so far.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ..automata.graphs import Numbered
from ..diagnostics import TokenizerError
from ..limits import check_in_force
from ..tokenizers.definition import WORD, AddedToken, Replace, Strip
from ..tokenizers.encoding.pattern_program import CharSet, compile_program, sets_of
from ..tokenizers.encoding.patterns import WHITE_SPACE
from .boundary_automaton import CONTINUE, GAP, MATCH, Machine, State
from .character_classes import (
    Alphabet,
    alphabet_of,
    as_seen,
    flags_of,
    ignoring_marks,
    plain_alphabet,
)
from .marked_dfa import DEAD, STAGE, MarkedDfa, minimal, subset_automaton
from .prefix_and_replacement import RewritingStep

# Atoms of added tokens: other characters, those of words, and then each character of a token.
_OTHER, _WORD, _FIRST = 1, 2, 3

# Atoms of ``Strip``: other characters, white space. States of its automaton: the start, after
# another character, after white space.
_WHITE = 2
_START, _BEHIND_OTHER, _BEHIND_WHITE = 1, 2, 3

# At most so many nodes of the trie of added tokens, and so much work with those of single words.
# Real ones have thousands.
_MOST_NODES, _MOST_SQUARES = 50_000, 10_000_000

_Atoms = tuple[int, ...]

# Whether a word character stands before what is undecided, and that.
_State = tuple[bool, _Atoms]


def trie_of(texts: Iterable[bytes]) -> tuple[list[dict[int, int]], list[bool]]:
    """A trie: each node's children by byte, and whether a text ends in it; node 0 is the root.

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


def without_texts(texts: Iterable[bytes], marks: int) -> MarkedDfa:
    """All marked byte sequences that hold none of ``texts``, minimal; every mark is read alike.

    The automaton of Aho and Corasick (Efficient string matching, CACM 18(6), 1975), completed.
    """
    wanted = sorted({text for text in texts if text})
    children, ends = trie_of(wanted)
    if len(children) > _MOST_NODES:
        raise TokenizerError(
            f"the added tokens have more than {_MOST_NODES:,} different beginnings, the most that "
            f"canonical masks support; use --tokenization any"
        )
    # Node n of the trie is state n + 1.
    table = np.full((len(children) + 1, 256), 1, dtype=np.int32)
    table[DEAD] = DEAD
    failure = [0] * len(children)
    pending = [0]
    for node in pending:
        check_in_force(STAGE)
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
    found = minimal(MarkedDfa(table[:, None, :], final, 1))
    return replace(found, table=np.repeat(found.table, marks, axis=1))


def without_tokens(
    tokens: Mapping[str, AddedToken], space: str = " "
) -> tuple[MarkedDfa, Alphabet]:
    """The texts in which no added token is found: an automaton that ignores marks, its alphabet.

    ``tokens``: by the texts that they are found by; a space of a text is seen as ``space``.
    Raises ``TokenizerError`` if they have too many characters.
    """
    if (size := sum(len(text) ** 2 for text in tokens)) > _MOST_SQUARES:
        raise TokenizerError(
            f"added tokens, of which some are 'single_word', are too long together for canonical "
            f"masks (the squares of their lengths are {size:,}, and {_MOST_SQUARES:,} are the "
            f"most); use --tokenization any"
        )
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
    """The search for added tokens, run over atoms.

    ``tokens``: whether each is of a single word. ``words``: the atoms of word characters.
    """

    def __init__(self, tokens: Mapping[_Atoms, bool], words: Iterable[int]) -> None:
        self._tokens, self._words = tokens, frozenset(words)
        self._prefixes = {text[:end] for text in tokens for end in range(1, len(text) + 1)}

    def decided(self, state: _State, *, at_end: bool) -> _State | None:
        """The state once all is decided that can be; None if a token has been found."""
        in_word, rest = state
        while rest and (at_end or rest not in self._prefixes):
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
        """The minimal automaton of the texts in which nothing is found."""
        start: _State = (False, ())
        numbers = Numbered[_State | None](start, None)
        rows, final = [[DEAD] * atoms], [False]
        for state in numbers.order:
            assert state is not None
            in_word, rest = state
            row = [DEAD]
            for atom in range(1, atoms):
                check_in_force(STAGE)
                row.append(numbers[self.decided((in_word, (*rest, atom)), at_end=False)])
            rows.append(row)
            final.append(self.decided(state, at_end=True) is not None)
        table = np.array(rows, dtype=np.int32)
        return minimal(ignoring_marks(table, np.array(final), DEAD + 1))


def _word_characters(space: str) -> NDArray[np.bool_]:
    """The characters of words, bool (0x110000,)."""
    chars = CharSet(f"[{WORD}]")
    alphabet = alphabet_of([chars], space=space)
    found: NDArray[np.bool_] = alphabet.members[chars][alphabet.atoms]
    return found


def unchanged(change: RewritingStep) -> tuple[MarkedDfa, Alphabet]:
    """The texts that a step leaves alone: an automaton that ignores marks, and its alphabet.

    Raises ``TokenizerError`` for patterns that are not supported.
    """
    if isinstance(change.step, Strip):
        return _unstripped(change.step, change)
    return _unreplaced(change.step, change)


def _unstripped(step: Strip, change: RewritingStep) -> tuple[MarkedDfa, Alphabet]:
    white = as_seen(flags_of(WHITE_SPACE), change.space)
    table = np.zeros((4, 3), dtype=np.int32)
    table[1:, _OTHER], table[1:, _WHITE] = _BEHIND_OTHER, _BEHIND_WHITE
    if step.left and not change.seen:
        table[_START, _WHITE] = DEAD
    final = np.array([False, True, True, not step.right])
    alphabet = plain_alphabet(np.where(white, _WHITE, _OTHER))
    return ignoring_marks(table, final, _START), alphabet


def _written_alike(char: str, change: RewritingStep) -> CharSet:
    """The characters for which the normalizers after the step write what they write for ``char``.

    A space is one of them where ``char`` is what they write for it.
    """
    alike = char + change.space if char == change.written else char
    return CharSet("[" + "".join(rf"\x{{{ord(one):X}}}" for one in alike) + "]")


def _unreplaced(step: Replace, change: RewritingStep) -> tuple[MarkedDfa, Alphabet]:
    try:
        program = compile_program(step.pattern)
        content = [_written_alike(char, change) for char in step.content]
        alphabet = alphabet_of([*sets_of(program), *content], space=change.space)
        machine = Machine(program, alphabet)
    except TokenizerError as error:
        raise TokenizerError(f"the normalizer 'Replace': {error}") from None
    wanted = [alphabet.members[char] for char in content]

    def successors(state: tuple[State, int], mark: int, atom: int) -> Iterator[tuple[State, int]]:
        before, found = state
        for label in (CONTINUE, MATCH, GAP):
            if label != CONTINUE and before.last == MATCH and found < len(wanted):
                continue
            after = machine.step(before, label, atom)
            if after is None:
                continue
            if after.last != MATCH:
                yield after, 0
            else:
                place = found if label == CONTINUE else 0
                if place < len(wanted) and wanted[place][atom]:
                    yield after, place + 1

    def may_end(state: tuple[State, int]) -> bool:
        before, found = state
        whole = before.last != MATCH or found == len(wanted)
        return whole and machine.may_end(before)

    start = State(None, frozenset(), -1), 0
    return subset_automaton(start, successors, may_end, alphabet.count), alphabet
