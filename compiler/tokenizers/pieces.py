"""What SentencePiece knows of a model, and the tokenizer that it is.

    normal pieces with scores  ->  merges: of each piece all pairs of pieces that it is made of,
                                   by falling score; or a Unigram model
    normalizer                 ->  the steps that do the same

SentencePiece merges the pair whose piece has the highest score, the leftmost of several. That is
what a list of merges by rank does, whatever the order of the merges of one piece: what was merged
so far inside a text is what is merged of that text alone, so wherever a piece is made it is made of
the same two parts. Pieces of one score would need another rule, and are refused.

Source: SentencePiece's ``bpe_model.cc``, ``unigram_model.cc``, ``normalizer.cc``.
"""

from base64 import b64encode
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from ..diagnostics import TokenizerError
from .definition import AddedToken, Normalizer, Precompiled, Prepend, Replace, Unigram
from .encoding.charsmap import charsmap_of
from .huggingface import UNKNOWN_PENALTY
from .sizes import brief, check_added, check_lengths
from .tokenizer import Tokenizer, TokenTable

SPACE = "▁"


class Kind(IntEnum):
    """The types of pieces, as SentencePiece and GGUF number them."""

    NORMAL = 1
    UNKNOWN = 2
    CONTROL = 3
    USER_DEFINED = 4
    UNUSED = 5
    BYTE = 6


@dataclass(frozen=True, slots=True, eq=False)
class Pieces:
    """A model of SentencePiece. By id: ``texts``, ``scores`` in single precision, ``kinds``.

    ``is_bpe``: they are merged, else it is a Unigram model. ``charsmap``: the precompiled table,
    empty for none. ``adds_prefix``: a space is put before a text. ``removes_spaces``: those at its
    ends, and all but one of several. ``escapes_spaces``: pieces have U+2581 for a space.
    ``eos``: the ids that end a text.
    """

    texts: Sequence[str]
    scores: Sequence[float]
    kinds: Sequence[Kind]
    is_bpe: bool
    byte_fallback: bool
    charsmap: bytes
    adds_prefix: bool
    removes_spaces: bool
    escapes_spaces: bool
    eos: tuple[int, ...]


def tokenizer_of_pieces(name: str, digest: str, found: Pieces) -> Tokenizer:
    """The tokenizer of a model; ``digest``: the SHA-256 of its source. Raises ``TokenizerError``,
    whose message does not name the file."""
    _check(found)
    ids = {text: i for i, text in enumerate(found.texts)}
    normal = _of_kind(found, ids, Kind.NORMAL)
    named = _of_kind(found, ids, Kind.USER_DEFINED)
    unknown = next(iter(_of_kind(found, ids, Kind.UNKNOWN).values()), None)
    if unknown is None:
        raise TokenizerError("the model has no piece of the type unknown")
    characters = {text: i for text, i in normal.items() if len(text) == 1}
    if not characters:
        raise TokenizerError("the model has no piece of one character")
    space = SPACE if found.escapes_spaces else " "
    octets = {f"<0x{octet:02X}>": bytes([octet]) for octet in range(256)}
    spelled = {i: text.replace(space, " ").encode("utf-8") for text, i in (normal | named).items()}
    of_bytes = _of_kind(found, ids, Kind.BYTE)
    spelled |= {i: octets[text] for text, i in of_bytes.items() if text in octets}
    return Tokenizer(
        name=name,
        sha256=digest,
        tokens=TokenTable.of(spelled),
        added_tokens=tuple(_added_tokens(found)),
        merges=_merges(found, ids, normal, named) if found.is_bpe else np.zeros((0, 3), np.int32),
        base=[
            -1 if code >= 0x80 else characters.get(space if code == ord(" ") else chr(code), -1)
            for code in range(256)
        ],
        eos=found.eos,
        vocab_size=len(found.texts),
        normalizers=tuple(_normalizers(found, tuple(named), space)),
        characters=characters,
        byte_fallback=_byte_fallback(of_bytes) if found.byte_fallback else (),
        unk=unknown,
        fuse_unk=True,
        unigram=None if found.is_bpe else _unigram(found, normal, named),
    )


def _check(found: Pieces) -> None:
    """Raise ``TokenizerError`` for pieces that no model has."""
    places = {text: i for i, text in enumerate(found.texts)}
    again = next((text for i, text in enumerate(found.texts) if places[text] != i), None)
    if again is not None:
        raise TokenizerError(f"the model is damaged: the piece {brief(again)} is there twice")
    if not all(found.texts):
        raise TokenizerError(f"the model is damaged: piece {found.texts.index('')} is empty")
    if not np.isfinite(found.scores).all():
        raise TokenizerError("the model is damaged: it has scores that are no numbers")
    check_added(sum(kind in (Kind.USER_DEFINED, Kind.CONTROL) for kind in found.kinds))
    check_lengths([text.encode("utf-8") for text in found.texts])


def _of_kind(found: Pieces, ids: dict[str, int], wanted: Kind) -> dict[str, int]:
    """The ids of pieces of one type by their texts."""
    return {
        text: i for (text, i), kind in zip(ids.items(), found.kinds, strict=True) if kind is wanted
    }


def _added_tokens(found: Pieces) -> Iterator[AddedToken]:
    """What is no text; and of merges what users defined, which no merge touches."""
    for i, (text, kind) in enumerate(zip(found.texts, found.kinds, strict=True)):
        if kind in (Kind.CONTROL, Kind.UNKNOWN):
            yield AddedToken(i, text, special=True, searched=False)
        elif kind is Kind.USER_DEFINED and found.is_bpe:
            yield AddedToken(i, text, as_written=True)


def _byte_fallback(of_bytes: dict[str, int]) -> tuple[int, ...]:
    ids = [of_bytes.get(f"<0x{octet:02X}>", -1) for octet in range(256)]
    if -1 in ids:
        raise TokenizerError(
            f"the model has byte_fallback, but no piece <0x{ids.index(-1):02X}> of the type byte"
        )
    return tuple(ids)


def _merges(
    found: Pieces, ids: dict[str, int], normal: dict[str, int], named: dict[str, int]
) -> NDArray[np.int32]:
    """Left, right and result ids, int32 (n, 3), by falling score of the result."""
    longer = [(found.scores[i], text, i) for text, i in normal.items() if len(text) > 1]
    longer.sort(key=lambda piece: -piece[0])
    unused = _of_kind(found, ids, Kind.UNUSED)
    made_unused = next(
        (text for text in unused if len(text) == 1 or _parts(text, normal | unused)), None
    )
    if made_unused is not None:
        raise TokenizerError(
            f"the piece {brief(made_unused)} is of the type unused, and merges make it: they are "
            f"taken apart again, which is not supported"
        )
    rows, before = list[tuple[int, int, int]](), None
    for score, text, i in longer:
        made = [(left, right, i) for left, right in _parts(text, normal)]
        lacking = next((char for char in text if char not in normal and char not in named), None)
        if lacking is not None:
            raise TokenizerError(
                f"the piece {brief(text)} has the character {brief(lacking)}, which is no piece"
            )
        if made and before is not None and before[0] == score:
            raise TokenizerError(
                f"the pieces {brief(before[1])} and {brief(text)} have one score, {score:g}: which "
                f"is merged first depends on their places in a text, which is not supported"
            )
        before = (score, text) if made else before
        rows += made
    return np.array(rows, dtype=np.int32).reshape(-1, 3)


# For each byte of a piece that users defined, but the first.
_BONUS = 0.1


def _parts(text: str, ids: dict[str, int]) -> list[tuple[int, int]]:
    """The ids of all pairs of pieces that a text is made of."""
    pairs = ((ids.get(text[:k], -1), ids.get(text[k:], -1)) for k in range(1, len(text)))
    return [(left, right) for left, right in pairs if left >= 0 and right >= 0]


def _unigram(found: Pieces, normal: dict[str, int], named: dict[str, int]) -> Unigram:
    """The pieces' scores; those that users defined have one that mostly wins."""
    own = np.array(found.scores, dtype=np.float32)[[*normal.values()]]
    bonus = np.float32(_BONUS)
    highest = max(own.max(), bonus)
    wins = [np.float32(len(text.encode("utf-8"))) * highest - bonus for text in named]
    return Unigram(
        pieces=normal | named,
        scores=np.concatenate((own.astype(np.float64), wins)),
        unknown=float(own.min() - np.float32(UNKNOWN_PENALTY)),
        is_single=True,
    )


def _extra_spaces(space: str) -> str:
    """A pattern of the spaces that are removed: at the start, at the end, and all but the last of
    several. At the end pieces' own character for a space goes as well.

    Look-around, since anchors also match at line ends; nothing is gone through twice.
    """
    either = f"[ {space}]" if space != " " else " "
    # subtle: what is the start and the end of a text goes as its end does.
    return rf"(?<!{either}){either}++(?![\s\S])|(?<![\s\S]) ++| +(?= )"


def _normalizers(found: Pieces, kept: tuple[str, ...], space: str) -> Iterator[Normalizer]:
    """The steps of SentencePiece's normalizer. Raises ``TokenizerError`` where it does more."""
    adds, removes = found.adds_prefix, found.removes_spaces
    if adds and not removes:
        yield Prepend(" ")
    if found.charsmap:
        step = Precompiled(b64encode(found.charsmap).decode("ascii"), kept=kept)
        table = charsmap_of(step.charsmap)
        if removes and table.has(b"  "):
            raise TokenizerError("the precompiled_charsmap writes two spaces, which stay two")
        if adds and not removes and table.reads_spaces:
            raise TokenizerError("the precompiled_charsmap has a rule that begins with a space")
        yield step
    if removes:
        yield Replace(_extra_spaces(space), "", is_regex=True)
        if adds:
            yield Prepend(" ")
    if found.escapes_spaces:
        yield Replace(" ", SPACE)
