"""What of a tokenizer canonical masks depend on, whatever the grammar.

derivations -> rectangles          which tokens may follow which inside a piece
split_pattern -> split_automaton   where pieces start
              -> split_bytes       the same over bytes, and what no encoding can spell
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import reduce

import numpy as np
from numpy.typing import NDArray

from constrain.artifacts.trie import Trie
from constrain.artifacts.vocabulary import Vocabulary

from ..diagnostics import TokenizerError
from ..tokenizers import Tokenizer
from ..tokenizers.steps import ByteLevel, Lowercase, Metaspace, Normalize, Prepend, Replace
from .alphabet import CODE_POINTS, alphabet_of
from .derivations import derive
from .exclusion import intersected, without_texts
from .marked_dfa import MarkedDfa, composed, unsplit
from .rectangles import Rectangles, build_rectangles, without_followers
from .split_automaton import split_automaton
from .split_bytes import over_bytes
from .split_pattern import compile_pattern, sets_of
from .whole_pieces import whole_automaton, with_whole_planes


@dataclass(frozen=True, slots=True, eq=False)
class CutTables:
    """Which texts have an encoding, and where it cuts them.

    ``dfa``: over planes and byte classes. ``classes``: uint8 (256,), class of each byte.
    ``fallback``: int32 (256,), token of each byte of a character that has none of its own, -1
    without. ``prefix``: what the tokenizer puts before a text that is not empty. ``texts``:
    the same texts over bytes, (S, 2, 256), with their start as the only mark. ``whole_pieces``:
    the tokens that are given for whole pieces alone, with their bytes.
    """

    dfa: MarkedDfa
    classes: NDArray[np.uint8]
    fallback: NDArray[np.int32]
    prefix: bytes
    texts: MarkedDfa
    whole_pieces: Mapping[int, bytes]

    @property
    def whole(self) -> NDArray[np.int32]:
        """The ids of ``whole_pieces``, int32, ascending."""
        return np.array(sorted(self.whole_pieces), dtype=np.int32)


@dataclass(frozen=True, slots=True, eq=False)
class PairTables:
    """``rectangles``: the forbidden pairs. ``trie``: of the tokens that merging gives."""

    rectangles: Rectangles
    trie: Trie


def build_pairs(tokenizer: Tokenizer) -> PairTables:
    """Which tokens follow which. Raises ``TokenizerError`` for what tables cannot express."""
    derivations = derive(spelled(tokenizer), tokenizer.merges)
    size = tokenizer.vocab_size
    kept = {*derivations.letters, *derivations.merges[:, 2].tolist()}
    tokens = {i: octets for i, octets in tokenizer.tokens.items() if i in kept}
    trie = Trie.from_vocabulary(Vocabulary.from_tokens(tokens, (), size))
    rectangles = build_rectangles(derivations, size)
    if tokenizer.ignore_merges:
        rectangles = without_followers(rectangles, sorted(derivations.unreachable))
    return PairTables(rectangles, trie)


def build_cuts(tokenizer: Tokenizer) -> CutTables:
    """Where texts are cut. Raises ``TokenizerError`` for steps that tables cannot express."""
    prefix, space = _written(tokenizer)
    fallback = np.array(tokenizer.byte_fallback or [-1] * 256, dtype=np.int32)
    splits = [s for step in tokenizer.pre_tokenizers if (s := step.split) is not None]
    programs = [compile_pattern(split.pattern) for split in splits]
    planes = _planes_by_character(tokenizer, space)
    alphabet = alphabet_of(
        (chars for program in programs for chars in sets_of(program)),
        [planes == value for value in (0, 2)],
    )
    by_atom = np.full(alphabet.count, -1, dtype=np.int8)
    by_atom[alphabet.atoms] = planes
    parts = [
        split_automaton(split, program, alphabet)
        for split, program in zip(splits, programs, strict=True)
    ]
    whole = reduce(composed, parts) if parts else unsplit(alphabet.count)
    cuts = _kept(over_bytes(whole, alphabet, by_atom), tokenizer, prefix, space)
    whole_pieces = _whole_pieces(tokenizer)
    if whole_pieces:
        cuts = intersected(with_whole_planes(cuts), whole_automaton(whole_pieces.values()))
    either = np.minimum(by_atom, 0)
    texts = _kept(over_bytes(unsplit(alphabet.count), alphabet, either), tokenizer, prefix, space)
    return CutTables(*_joined_columns(cuts), fallback, prefix, texts, whole_pieces)


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


def _written(tokenizer: Tokenizer) -> tuple[bytes, str | None]:
    """What is put before each text, and what stands for a space in it.

    Raises ``TokenizerError`` for steps that change a text in other ways.
    """
    prefix, space = "", None
    for step in tokenizer.normalizers:
        match step:
            case Prepend(text):
                prefix = text + prefix
            case Replace(" ", content, False) if len(content) == 1 and not tokenizer.byte_level:
                space, prefix = content, prefix.replace(" ", content)
            case Normalize() | Lowercase():
                # ``stable_text`` leaves out what these change; ASCII is inert.
                if not prefix.replace(space or " ", " ").isascii():
                    raise _unsupported(tokenizer, step)
            case Replace(pattern, _, False) if pattern in _left_out(tokenizer):
                continue
            case _:
                raise _unsupported(tokenizer, step)
    for place, cut in enumerate(tokenizer.pre_tokenizers):
        behind = tokenizer.pre_tokenizers[place + 1 :]
        rewrites = isinstance(cut, ByteLevel) and (
            cut.add_prefix_space or any(later.split is not None for later in behind)
        )
        if rewrites or isinstance(cut, Metaspace):
            raise _unsupported(tokenizer, cut)
    if space is not None:
        prefix = prefix.replace(space, " ")
    return prefix.encode("utf-8"), space


def _left_out(tokenizer: Tokenizer) -> set[str]:
    """Texts that a step replaces for good: no step writes their first character."""
    steps = tokenizer.normalizers
    written = "".join(step.content for step in steps if isinstance(step, Replace))
    written += "".join(step.prefix for step in steps if isinstance(step, Prepend))
    return {
        step.pattern
        for step in steps
        if isinstance(step, Replace) and not step.is_regex and step.pattern
        if step.pattern[0] not in written
    }


def _unsupported(tokenizer: Tokenizer, step: object) -> TokenizerError:
    return TokenizerError(
        f"{tokenizer.name}: canonical masks do not support the step {type(step).__name__!r} as "
        f"this tokenizer has it; use --tokenization any"
    )


def _kept(dfa: MarkedDfa, tokenizer: Tokenizer, prefix: bytes, space: str | None) -> MarkedDfa:
    """Only texts whose bytes have tokens, and that hold no added token."""
    if tokenizer.byte_level:
        dfa.table[:, :, np.array(tokenizer.base) < 0] = 0
    for token in tokenizer.added_tokens:
        if token.single_word:
            raise _unsupported(tokenizer, token)
    encoder = tokenizer.encoder
    verbatim = [text.encode("utf-8") for text in encoder.verbatim.texts]
    written_otherwise = {" "} if space else set[str]()
    verbatim += [text.encode("utf-8") for text in _left_out(tokenizer) - written_otherwise]
    rewritten = [text.replace(space or " ", " ").encode() for text in encoder.rewritten.texts]
    for texts, before in ((verbatim, prefix), (rewritten, b"")):
        if texts or before:
            dfa = intersected(dfa, without_texts(texts, dfa.table.shape[1], before))
    return dfa


def _planes_by_character(tokenizer: Tokenizer, space: str | None) -> NDArray[np.int8]:
    """How each code point is spelled: 0 by merging, 2 by byte tokens, -1 by none."""
    if tokenizer.byte_level:
        return np.zeros(CODE_POINTS, dtype=np.int8)
    planes = np.full(CODE_POINTS, 2 if tokenizer.byte_fallback else -1, dtype=np.int8)
    planes[[ord(char) for char in tokenizer.characters if len(char) == 1]] = 0
    if space is not None:
        # A space is written so, and what is written so reads as a space.
        planes[ord(" ")], planes[ord(space)] = planes[ord(space)], -1
    return planes


def _joined_columns(cuts: MarkedDfa) -> tuple[MarkedDfa, NDArray[np.uint8]]:
    """Bytes that the automaton does not tell apart share a column."""
    columns = np.ascontiguousarray(cuts.table.reshape(-1, 256).T)
    numbers: dict[bytes, int] = {}
    classes = [numbers.setdefault(column.tobytes(), len(numbers)) for column in columns]
    kept = np.unique(classes, return_index=True)[1]
    table = np.ascontiguousarray(cuts.table[:, :, kept])
    return MarkedDfa(table, cuts.final, cuts.start), np.array(classes, dtype=np.uint8)
