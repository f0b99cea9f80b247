"""What of a tokenizer canonical masks depend on, whatever the grammar.

derivations -> rectangles          which tokens may follow which inside a piece
split_pattern -> split_automaton   where pieces start
              -> split_bytes       the same over bytes, and what no encoding can spell
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import reduce

import numpy as np
from numpy.typing import NDArray

from constrain.artifacts.tokens.trie import Trie
from constrain.artifacts.tokens.vocabulary import Vocabulary

from ..diagnostics import TokenizerError
from ..normalizer.character_properties import CHANGED, character_properties, text_normalizers
from ..pretokenizer.added_tokens import intersected, without_texts, without_tokens
from ..pretokenizer.boundary_automaton import boundary_automaton
from ..pretokenizer.boundary_tables import PretokenizerTables
from ..pretokenizer.character_classes import CODE_POINTS, alphabet_of
from ..pretokenizer.ignore_merges import whole_automaton, with_whole_planes
from ..pretokenizer.marked_dfa import MarkedDfa, composed, unsplit
from ..pretokenizer.normalizer_fixpoints import unchanged
from ..pretokenizer.pattern_program import compile_pattern, sets_of
from ..pretokenizer.prefix_and_replacement import Written, texts_behind, written
from ..pretokenizer.to_bytes import over_bytes, over_planes
from ..tokenizers import Tokenizer
from ..tokenizers.definition import AddedToken
from .derivations import derive
from .forbidden_pairs import ForbiddenPairTables, build_forbidden_pairs, without_followers


@dataclass(frozen=True, slots=True, eq=False)
class PairTables:
    """``rectangles``: the forbidden pairs. ``trie``: of the tokens that merging gives."""

    rectangles: ForbiddenPairTables
    trie: Trie


def build_pairs(tokenizer: Tokenizer) -> PairTables:
    """Which tokens follow which. Raises ``TokenizerError`` for what tables cannot express."""
    derivations = derive(spelled(tokenizer), tokenizer.merges)
    size = tokenizer.vocab_size
    kept = {*derivations.letters, *derivations.merges[:, 2].tolist()}
    tokens = {i: octets for i, octets in tokenizer.tokens.items() if i in kept}
    trie = Trie.from_vocabulary(Vocabulary.from_tokens(tokens, (), size))
    rectangles = build_forbidden_pairs(derivations, size)
    if tokenizer.ignore_merges:
        rectangles = without_followers(rectangles, sorted(derivations.unreachable))
    return PairTables(rectangles, trie)


def build_pretokenizer_tables(tokenizer: Tokenizer) -> PretokenizerTables:
    """Where texts are cut. Raises ``TokenizerError`` for steps that tables cannot express."""
    steps = written(tokenizer)
    prefix, space = steps.prefix.encode("utf-8"), steps.space
    fallback = np.array(tokenizer.byte_fallback or [-1] * 256, dtype=np.int32)
    splits = [s for step in tokenizer.pre_tokenizers if (s := step.split) is not None]
    programs = [compile_pattern(split.pattern) for split in splits]
    planes = _planes_by_character(tokenizer, space)
    alphabet = alphabet_of(
        (chars for program in programs for chars in sets_of(program)),
        [planes == value for value in (0, 2)],
        space or " ",
    )
    by_atom = np.full(alphabet.count, -1, dtype=np.int8)
    by_atom[alphabet.atoms] = planes
    parts = [
        boundary_automaton(split, program, alphabet)
        for split, program in zip(splits, programs, strict=True)
    ]
    whole = reduce(composed, parts) if parts else unsplit(alphabet.count)
    cuts = _kept(over_bytes(whole, alphabet, by_atom), tokenizer, steps, spelled=True)
    whole_pieces = _whole_pieces(tokenizer)
    if whole_pieces:
        cuts = intersected(with_whole_planes(cuts), whole_automaton(whole_pieces.values()))
    either = np.minimum(by_atom, 0)
    texts = over_bytes(unsplit(alphabet.count), alphabet, either)
    texts = _kept(texts, tokenizer, steps, spelled=not steps.unless_begun)
    return PretokenizerTables(
        *_joined_columns(cuts), fallback, prefix, texts, whole_pieces, steps.unless_begun
    )


def _whole_pieces(tokenizer: Tokenizer) -> dict[int, bytes]:
    """The tokens that are given for whole pieces and by no merge, with their bytes."""
    if not (tokenizer.ignore_merges and tokenizer.byte_level):
        return {}
    found = spelled(tokenizer)
    hidden = {*found, *tokenizer.special}
    unspelled = [token for token, octets in tokenizer.tokens.items() if octets]
    if not hidden.issuperset(unspelled):
        raise TokenizerError(
            f"{tokenizer.name}: with 'ignore_merges' canonical masks need a token for each byte; "
            f"use --tokenization any"
        )
    derivations = derive(found, tokenizer.merges)
    return {token: tokenizer.tokens[token] for token in derivations.unreachable}


def spelled(tokenizer: Tokenizer) -> dict[int, list[int]]:
    """The letters of each token that could be given; those that lack one never are."""
    hidden = {*tokenizer.special, *tokenizer.byte_fallback}
    found = {}
    for token, octets in tokenizer.tokens.items():
        if token in hidden or not octets:
            continue
        try:
            letters = _letters(tokenizer, octets)
        except (KeyError, UnicodeDecodeError):
            continue
        if -1 not in letters:
            found[token] = letters
    return found


def _letters(tokenizer: Tokenizer, octets: bytes) -> list[int]:
    if tokenizer.byte_level:
        return [tokenizer.base[octet] for octet in octets]
    space = tokenizer.base[ord(" ")]
    return [space if char == " " else tokenizer.characters[char] for char in octets.decode("utf-8")]


def _kept(dfa: MarkedDfa, tokenizer: Tokenizer, steps: Written, *, spelled: bool) -> MarkedDfa:
    """Only texts whose bytes have tokens, that hold no added token, and that no step changes.

    ``spelled``: the texts with all that is put before them.
    """
    if tokenizer.byte_level:
        dfa.table[:, :, np.array(tokenizer.base) < 0] = 0
    for texts, before in _filters(tokenizer, steps, dfa.table.shape[1]):
        try:
            whole = texts_behind(texts, before.encode(), unless_begun=steps.unless_begun)
        except ValueError as error:
            raise TokenizerError(
                f"{tokenizer.name}: canonical masks do not support what this tokenizer puts "
                f"before a text together with what it finds or replaces in it ({error}); use "
                f"--tokenization any"
            ) from None
        dfa = intersected(dfa, whole if spelled else texts)
    return dfa


def _filters(tokenizer: Tokenizer, steps: Written, planes: int) -> Iterator[tuple[MarkedDfa, str]]:
    """Automata of what must hold of a text, each with what only later steps put before it."""
    encoder, space = tokenizer.encoder, steps.normalized_space
    rewritten = {text.replace(space, " "): t for text, t in encoder.rewritten.tokens.items()}
    left_out = set(steps.left_out)
    if _of_single_words(encoder.verbatim.tokens):
        yield over_planes(*without_tokens(encoder.verbatim.tokens), planes), steps.prefix
    else:
        left_out.update(encoder.verbatim.texts)
    if left_out or steps.prefix:
        yield without_texts((text.encode() for text in left_out), planes), steps.prefix
    if _of_single_words(rewritten):
        yield over_planes(*without_tokens(rewritten, space), planes), steps.cut_prefix
    elif rewritten:
        yield without_texts((text.encode() for text in rewritten), planes), steps.cut_prefix
    for change in steps.changes:
        yield over_planes(*unchanged(change), planes), change.before


def _of_single_words(tokens: Mapping[str, AddedToken]) -> bool:
    return any(token.single_word for token in tokens.values())


def _planes_by_character(tokenizer: Tokenizer, space: str | None) -> NDArray[np.int8]:
    """How each code point is spelled: 0 by merging, 2 by byte tokens, -1 by none."""
    planes = np.zeros(CODE_POINTS, dtype=np.int8)
    if not tokenizer.byte_level:
        planes[:] = 2 if tokenizer.byte_fallback else -1
        planes[[ord(char) for char in tokenizer.characters if len(char) == 1]] = 0
    if space is not None:
        # A space is written so, and what is written so reads as a space.
        planes[ord(" ")], planes[ord(space)] = planes[ord(space)], -1
    if changes := text_normalizers(tokenizer.normalizers):
        # Grammars that nest learn here of characters that are changed by themselves.
        planes[character_properties(changes).classes == CHANGED] = -1
    return planes


def _joined_columns(cuts: MarkedDfa) -> tuple[MarkedDfa, NDArray[np.uint8]]:
    """Bytes that the automaton does not tell apart share a column."""
    columns = np.ascontiguousarray(cuts.table.reshape(-1, 256).T)
    numbers: dict[bytes, int] = {}
    classes = [numbers.setdefault(column.tobytes(), len(numbers)) for column in columns]
    kept = np.unique(classes, return_index=True)[1]
    table = np.ascontiguousarray(cuts.table[:, :, kept])
    return MarkedDfa(table, cuts.final, cuts.start), np.array(classes, dtype=np.uint8)
