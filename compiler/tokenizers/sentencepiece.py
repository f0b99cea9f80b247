"""Read SentencePiece's ``.model``: the fields of a ``ModelProto`` that encoding depends on.

Source: ``sentencepiece_model.proto``.
"""

from collections.abc import Iterator, Mapping
from hashlib import sha256
from struct import unpack

from ..diagnostics import TokenizerError
from ..files.protobuf import fields
from .pieces import Kind, Pieces, tokenizer_of_pieces
from .sizes import MOST_TOKENS
from .tokenizer import Tokenizer

# Numbers of fields: of the model, of a piece, of the trainer's and the normalizer's settings.
_PIECE, _TRAINER, _NORMALIZER = 1, 2, 3
_TEXT, _SCORE, _TYPE = 1, 2, 3
_MODEL_TYPE, _SUFFIX, _BYTE_FALLBACK, _EOS = 3, 24, 35, 47
_CHARSMAP, _PREFIX, _REMOVES, _ESCAPES = 2, 3, 4, 5

_MODELS = {1: "unigram", 2: "bpe", 3: "word", 4: "char"}


def read_model(name: str, raw: bytes) -> Tokenizer:
    """The tokenizer of a file with the content ``raw``.

    Raises ``TokenizerError``, whose message does not name the file, and ``ValueError`` or
    ``TypeError`` where a field is of another type.
    """
    return tokenizer_of_pieces(name, sha256(raw).hexdigest(), read_pieces(raw))


def read_pieces(raw: bytes) -> Pieces:
    """What a file with the content ``raw`` says; raises as ``read_model``."""
    texts, scores, kinds = list[str](), list[float](), list[Kind]()
    trainer: dict[int, int | bytes] = {}
    normalizer: dict[int, int | bytes] = {}
    for number, value in fields(raw):
        if number == _PIECE:
            piece = _message(value)
            texts.append(_bytes(piece.get(_TEXT, b"")).decode("utf-8"))
            (score,) = unpack("<f", _bytes(piece.get(_SCORE, bytes(4))))
            scores.append(score)
            kinds.append(Kind(int(piece.get(_TYPE, Kind.NORMAL))))
            if len(texts) > MOST_TOKENS:
                raise TokenizerError(f"there are more than {MOST_TOKENS:,} pieces")
        elif number == _TRAINER:
            trainer |= _message(value)
        elif number == _NORMALIZER:
            normalizer |= _message(value)
    if not texts:
        raise TokenizerError("not a SentencePiece model: it has no pieces")
    kind = _MODELS.get(int(trainer.get(_MODEL_TYPE, 1)), "")
    if kind not in ("unigram", "bpe"):
        raise TokenizerError(
            f"the model type {kind or trainer[_MODEL_TYPE]!r} is not supported; unigram and bpe are"
        )
    if trainer.get(_SUFFIX):
        raise TokenizerError(
            "treat_whitespace_as_suffix is not supported: spaces come before words"
        )
    end = _bytes(trainer.get(_EOS, b"</s>")).decode("utf-8")
    return Pieces(
        texts,
        scores,
        kinds,
        is_bpe=kind == "bpe",
        byte_fallback=bool(trainer.get(_BYTE_FALLBACK, 0)),
        charsmap=_bytes(normalizer.get(_CHARSMAP, b"")),
        adds_prefix=bool(normalizer.get(_PREFIX, 1)),
        removes_spaces=bool(normalizer.get(_REMOVES, 1)),
        escapes_spaces=bool(normalizer.get(_ESCAPES, 1)),
        eos=tuple(_controls(texts, kinds, end)),
    )


def _controls(texts: list[str], kinds: list[Kind], name: str) -> Iterator[int]:
    """The id of the control piece with a name, if there is one."""
    if name in texts and kinds[texts.index(name)] is Kind.CONTROL:
        yield texts.index(name)


def _message(value: int | bytes) -> Mapping[int, int | bytes]:
    """The last value of each field of a message."""
    return dict(fields(_bytes(value)))


def _bytes(value: int | bytes) -> bytes:
    if isinstance(value, int):
        raise TokenizerError("the model is damaged: a field is a number where bytes are expected")
    return value
