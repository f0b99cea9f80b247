"""The tables of a tokenizer's steps: one DFA over the marked bytes of all texts with an encoding.

    each splitting step    pattern -> program -> automaton over atoms (``boundary_automaton``)
    all of them            composed -> over UTF-8 bytes (``character_classes``)
    the other steps        intersected with the texts that they leave alone (``fixed_points``), each
                           after the prefix that it does not see (``prefix_and_replacement``)
    ``ignore_merges``      tokens of whole pre-tokens read with mark 3 (``ignore_merges``)

For GPT-2 that is 15 states over atoms and 1,440 over bytes. "I'm ok" is accepted with the start
marks of I, ' and the space before ok, and with no others.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import groupby
from operator import itemgetter

import numpy as np
from numpy.typing import NDArray

from constrain.artifacts.errors import visible
from constrain.artifacts.tokens.distinct import numbered_rows

from ..diagnostics import TokenizerError
from ..tokenizers import Tokenizer, byte_alphabet
from ..tokenizers.definition import AddedToken, Behaviour, Split
from ..tokenizers.encoding.added_tokens import searched_tokens
from ..tokenizers.encoding.pattern_program import compile_program, sets_of
from ..tokenizers.encoding.scripts import script_numbers
from .boundary_automaton import boundary_automaton
from .character_classes import (
    CODE_POINTS,
    NO_CHARACTER,
    Alphabet,
    alphabet_of,
    over_bytes,
    over_bytes_ignoring_marks,
)
from .fixed_points import unchanged, without_texts, without_tokens
from .ignore_merges import whole_automaton, with_whole_marks
from .marked_dfa import DEAD, MarkedDfa, composed, intersected, unmarked, unsplit
from .prefix_and_replacement import TextRewriting, splits_of, text_rewriting, texts_behind

# The most states over bytes where steps after ``ByteLevel`` split; Falcon has 1,766.
_MAX_BYTE_STATES = 50_000


@dataclass(frozen=True, slots=True, eq=False)
class PretokenizerTables:
    """Which texts have a canonical tokenization, and where the pre-tokenizer splits them.

    ``dfa``: over marks and byte classes. ``classes``: uint8 (256,), the class of each byte.
    ``fallback``: int32 (256,), the byte token of each byte, -1 for none. ``prefix``: what the
    tokenizer puts before a text that is not empty; if ``unless_begun`` only before texts that do
    not begin with it. ``texts``: the same texts over bytes, (S, 2, 256), with the start of the text
    as its only mark, and after ``text_prefix``. ``whole_pieces``: the tokens that stand for a
    whole pre-token only, with their bytes. ``changes``: some texts are left out since a step would
    replace or remove a part of them. ``prompt``: the state of ``dfa`` before a prompt, 0 for its
    start.
    """

    dfa: MarkedDfa
    classes: NDArray[np.uint8]
    fallback: NDArray[np.int32]
    prefix: bytes
    texts: MarkedDfa
    whole_pieces: Mapping[int, bytes]
    unless_begun: bool = False
    changes: bool = False
    prompt: int = DEAD

    @property
    def text_prefix(self) -> bytes:
        """What stands before each text of ``texts``."""
        return b"" if self.unless_begun else self.prefix

    @property
    def whole(self) -> NDArray[np.int32]:
        """The ids of ``whole_pieces``, int32, ascending."""
        return np.array(sorted(self.whole_pieces), dtype=np.int32)


def build_pretokenizer_tables(
    tokenizer: Tokenizer,
    changed: NDArray[np.bool_] | None,
    whole_pieces: Mapping[int, bytes],
) -> PretokenizerTables:
    """The tables of a tokenizer. Raises ``TokenizerError`` for steps that they cannot express.

    ``changed``: bool (0x110000,), the characters that a normalizer never leaves as they are, None
    if there are none. ``whole_pieces``: as of ``PretokenizerTables``.
    """
    rewriting = text_rewriting(tokenizer)
    prefix, space = rewriting.prefix.encode("utf-8"), rewriting.space
    fallback = np.array(tokenizer.byte_fallback or [-1] * 256, dtype=np.int32)
    splits, in_alphabet = splits_of(tokenizer)
    splits = [*_around_added(tokenizer), *splits]
    programs = [() if split.of_scripts else compile_program(split.pattern) for split in splits]
    spelled_by = _spelled_by(tokenizer, space, changed)
    scripts = _scripts(space or " ") if () in programs else np.zeros(CODE_POINTS, dtype=np.uint8)
    bits = range(int(scripts.max()).bit_length())
    alphabet = alphabet_of(
        (chars for program in programs for chars in sets_of(program)),
        [spelled_by == 0, spelled_by == 2, *(scripts >> bit & 1 != 0 for bit in bits)],
        space or " ",
    )
    by_atom = np.full(alphabet.count, -1, dtype=np.int8)
    by_atom[alphabet.atoms] = spelled_by
    steps = [
        boundary_automaton(split, program, alphabet) if program else _by_script(scripts, alphabet)
        for split, program in zip(splits, programs, strict=True)
    ]
    whole = reduce(composed, steps) if steps else unsplit(alphabet.count)
    dfa = over_bytes(whole, alphabet, by_atom)
    for split in in_alphabet:
        dfa = composed(dfa, _of_the_alphabet(split), _MAX_BYTE_STATES)
    dfa = _encodable(dfa, tokenizer, rewriting, prefixed=True)
    if whole_pieces:
        dfa = intersected(with_whole_marks(dfa), whole_automaton(whole_pieces.values()))
    kept = unsplit(alphabet.count)
    if any(split.behaviour is Behaviour.REMOVED for split in splits):
        optional = int(alphabet.atoms[ord(" ")]) if rewriting.unless_begun else None
        kept = intersected(kept, unmarked(whole, optional))
    changes = bool(rewriting.left_out or rewriting.changes or not _is_whole(kept))
    texts = over_bytes(kept, alphabet, np.minimum(by_atom, 0))
    texts = _encodable(texts, tokenizer, rewriting, prefixed=not rewriting.unless_begun)
    if not dfa.table[dfa.start].any():
        # No token spells what is put before a text.
        only_empty = MarkedDfa(np.zeros((2, *texts.table.shape[1:]), np.int32), np.arange(2) > 0, 1)
        texts = intersected(texts, only_empty)
    return PretokenizerTables(
        *over_byte_classes(dfa),
        fallback,
        prefix,
        texts,
        whole_pieces,
        rewriting.unless_begun,
        changes,
    )


def _scripts(space: str) -> NDArray[np.uint8]:
    """The scripts of all code points, a space being that of what stands for it."""
    scripts = script_numbers().copy()
    scripts[ord(" ")] = scripts[ord(space)]
    return scripts


def _by_script(scripts: NDArray[np.uint8], alphabet: Alphabet) -> MarkedDfa:
    """The automaton of ``UnicodeScripts``: state 1 + n follows the n-th script."""
    of_atom = np.zeros(alphabet.count, dtype=np.int32)
    of_atom[alphabet.atoms] = scripts
    own = np.arange(2, int(scripts.max()) + 2)
    table = np.zeros((len(own) + 2, 2, alphabet.count), dtype=np.int32)
    after = np.where(of_atom > 0, of_atom + 1, DEAD)
    table[1:, 1] = np.where(after == np.arange(1, len(table))[:, None], DEAD, after)
    stays = (after == own[:, None]) | (after == DEAD)
    stays[:, NO_CHARACTER] = False
    table[2:, 0] = np.where(stays, own[:, None], DEAD)
    return MarkedDfa(table, np.arange(len(table)) > DEAD, 1)


def _of_the_alphabet(split: Split) -> MarkedDfa:
    """The automaton over bytes of a step that sees each as its character of ``ByteLevel``.

    A pre-token may begin inside a character there, since some bytes are written as numbers or
    symbols.
    """
    program = compile_program(split.pattern)
    alphabet = alphabet_of(sets_of(program))
    atoms = alphabet.atoms[[ord(char) for char in byte_alphabet.characters()]]
    dfa = boundary_automaton(split, program, alphabet)
    return MarkedDfa(np.ascontiguousarray(dfa.table[:, :, atoms]), dfa.final, dfa.start)


def _around_added(tokenizer: Tokenizer) -> Iterator[Split]:
    """The step before all others: it splits around the names of added tokens, the longest first,
    that merging makes, too. Texts with other names are left out."""
    if tokenizer.added_by_merging:
        yield Split(_longest_of(sorted(tokenizer.added_by_merging)))


def _longest_of(names: Sequence[str]) -> str:
    """A pattern of the longest of some sorted names that a text goes on with."""
    found = []
    for char, begun in groupby(names, key=itemgetter(0)):
        rests = [name[1:] for name in begun]
        rest = _longest_of([name for name in rests if name])
        first = f"\\x{ord(char):02x}" if char.isascii() else char
        found.append(
            first + (f"(?:{rest})" if rest else "") + ("?" if rest and "" in rests else "")
        )
    return "|".join(found)


def _is_whole(texts: MarkedDfa) -> bool:
    """Whether an automaton over atoms, of texts with a mark at their start, accepts all of them."""
    live = texts.table[1:, :, NO_CHARACTER + 1 :] != DEAD
    return bool(texts.final[1:].all() and live.any(axis=1).all())


def unspelled_characters(tokenizer: Tokenizer) -> NDArray[np.bool_]:
    """The code points that no token spells, or that stand for another, bool (0x110000,)."""
    return _spelled_by(tokenizer, text_rewriting(tokenizer).space, None) < 0


def _spelled_by(
    tokenizer: Tokenizer, space: str | None, changed: NDArray[np.bool_] | None
) -> NDArray[np.int8]:
    """How each code point is spelled, int8 (0x110000,): 0 by merging, 2 by byte tokens, -1 not."""
    spelled_by = np.zeros(CODE_POINTS, dtype=np.int8)
    if not tokenizer.byte_level:
        spelled_by[:] = 2 if tokenizer.byte_fallback else -1
        spelled_by[[ord(char) for char in tokenizer.characters if len(char) == 1]] = 0
    if space is not None:
        # A space is written as this character, and tokens that hold it read as a space; but byte
        # tokens spell the character itself.
        spelled_by[ord(" ")] = 0 if spelled_by[ord(space)] == 0 else -1
        spelled_by[ord(space)] = -1
    if changed is not None:
        spelled_by[changed] = -1
    return spelled_by


def _encodable(
    dfa: MarkedDfa, tokenizer: Tokenizer, rewriting: TextRewriting, *, prefixed: bool
) -> MarkedDfa:
    """Only texts whose bytes have tokens, that hold no added token, and that no step changes.

    ``prefixed``: the texts of ``dfa`` begin with the prefix that is put before them.
    """
    if tokenizer.byte_level:
        dfa.table[:, :, np.array(tokenizer.base) < 0] = DEAD
    for texts, before in _conditions(tokenizer, rewriting, dfa.table.shape[1]):
        try:
            whole = texts_behind(texts, before.encode(), unless_begun=rewriting.unless_begun)
        except ValueError as error:
            raise TokenizerError(
                f"{visible(tokenizer.name)}: canonical masks do not support what this tokenizer "
                f"puts before a text together with what it finds or replaces in it ({error}); use "
                "--tokenization any"
            ) from None
        dfa = intersected(dfa, whole if prefixed else texts)
    return dfa


def _conditions(
    tokenizer: Tokenizer, rewriting: TextRewriting, marks: int
) -> Iterator[tuple[MarkedDfa, str]]:
    """What must hold of a text: automata of texts, each with what later steps put before it."""
    (verbatim, normalized), space = searched_tokens(tokenizer), rewriting.normalized_space
    rewritten = {text.replace(space, " "): t for text, t in normalized.tokens.items()}
    left_out = set(rewriting.left_out)
    if _of_single_words(verbatim.tokens):
        texts = over_bytes_ignoring_marks(*without_tokens(verbatim.tokens), marks)
        yield texts, rewriting.prefix
    else:
        left_out.update(verbatim.tokens.keys() - tokenizer.added_by_merging)
    if left_out or rewriting.prefix:
        yield without_texts((text.encode() for text in left_out), marks), rewriting.prefix
    if _of_single_words(rewritten):
        texts = over_bytes_ignoring_marks(*without_tokens(rewritten, space), marks)
        yield texts, rewriting.pretokenizer_prefix
    elif rewritten:
        texts = without_texts((text.encode() for text in rewritten), marks)
        yield texts, rewriting.pretokenizer_prefix
    for change in rewriting.changes:
        yield over_bytes_ignoring_marks(*unchanged(change), marks), change.before


def _of_single_words(tokens: Mapping[str, AddedToken]) -> bool:
    return any(token.single_word for token in tokens.values())


def over_byte_classes(dfa: MarkedDfa) -> tuple[MarkedDfa, NDArray[np.uint8]]:
    """The automaton over classes of bytes with equal columns, and the class of each byte."""
    columns = np.ascontiguousarray(dfa.table.reshape(-1, 256).T)
    representatives, classes = numbered_rows(columns)
    table = np.ascontiguousarray(dfa.table[:, :, representatives])
    return MarkedDfa(table, dfa.final, dfa.start), classes.astype(np.uint8)
