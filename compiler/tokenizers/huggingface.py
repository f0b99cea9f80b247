"""Read a Hugging Face ``tokenizer.json``; refuse by name what is not supported.

    model                        vocabulary, and merges and options of BPE or scores of Unigram
    added_tokens                 tokens that are found by their names
    normalizer, pre_tokenizer    steps of ``definition``, sequences flattened

A tokenizer that is almost understood gives masks that are almost right, so every field that could
change an encoding is checked. Fields that act after the encoding (``post_processor``,
``truncation``, ``padding``) are ignored.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from itertools import chain, repeat
from operator import add
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..diagnostics import TokenizerError
from ..files.bounded import bounded_json
from ..wordpiece.normalizer import BertNormalizer
from . import byte_alphabet
from .definition import (
    WHITESPACE,
    WHITESPACE_SPLIT,
    AddedToken,
    Behaviour,
    ByteLevel,
    Form,
    Lowercase,
    Metaspace,
    Nmt,
    Normalize,
    Normalizer,
    Precompiled,
    Prepend,
    PrependScheme,
    PreTokenizer,
    Replace,
    Split,
    Strip,
    StripAccents,
    Unigram,
    digits,
    punctuation,
    unicode_scripts,
    written_space,
)
from .encoding.charsmap import charsmap_of
from .encoding.patterns import check_pattern
from .sizes import CHARSMAP, MOST_STEPS, brief, check_added, check_steps
from .tokenizer import Tokenizer, TokenTable
from .vocabulary import check_ids, eos_ids

_Json = Mapping[str, Any]
_Step = TypeVar("_Step")


def read_normalizers(found: object) -> tuple[Normalizer, ...]:
    """The steps of the field ``normalizer``, sequences flattened."""
    steps = list(_flat(found, "normalizer", "normalizers"))
    return _of_kinds(steps, _NORMALIZERS, "normalizer")


def read_pre_tokenizers(found: object) -> tuple[PreTokenizer, ...]:
    """The steps of the field ``pre_tokenizer``, sequences flattened."""
    steps = list(_flat(found, "pre-tokenizer", "pretokenizers"))
    return _of_kinds(steps, _PRE_TOKENIZERS, "pre-tokenizer")


def _flat(found: object, what: str, plural: str) -> Iterator[_Json]:
    """The steps of a field in order; ``plural``: the key of a sequence's steps.

    BERT's pre-tokenizer is two of them.
    """
    waiting = [] if found is None else [found]
    count = 0
    while waiting:
        step = waiting.pop()
        count += 1
        if count > MOST_STEPS:
            raise TokenizerError(f"there are more than {MOST_STEPS:,} {what}s, which is the most")
        if not isinstance(step, dict):
            raise TokenizerError(f"a {what} is no object with a type")
        if step.get("type") == "Sequence":
            waiting += reversed(step[plural])
        elif step.get("type") == "BertPreTokenizer":
            waiting += ({"type": "Punctuation"}, {"type": "WhitespaceSplit"})
        else:
            yield step


def _of_kinds(
    steps: Sequence[_Json], kinds: Mapping[str, Callable[[_Json], _Step]], what: str
) -> tuple[_Step, ...]:
    """The steps that JSON objects describe. Raises ``TokenizerError`` for unknown kinds."""
    names = [str(step.get("type")) for step in steps]
    for kind in names:
        if kind not in kinds:
            known = ", ".join(kinds)
            raise TokenizerError(f"the {what} {brief(kind)} is not supported; known are {known}")
    check_steps(steps, what)
    return tuple(kinds[kind](step) for kind, step in zip(names, steps, strict=True))


def _pattern(step: _Json) -> tuple[str, bool]:
    """A pattern, and whether it is a regular expression (else a text)."""
    pattern = step["pattern"]
    if "String" in pattern:
        return str(pattern["String"]), False
    check_pattern(str(pattern["Regex"]))
    return str(pattern["Regex"]), True


def _literal(text: str) -> str:
    """A regular expression that matches a text and nothing else."""
    return "".join(char if char.isalnum() else rf"\x{{{ord(char):X}}}" for char in text)


def _split(step: _Json) -> Split:
    pattern, is_regex = _pattern(step)
    return Split(
        pattern if is_regex else _literal(pattern),
        _behaviour(step, "Split"),
        bool(step.get("invert")),
    )


def _behaviour(step: _Json, what: str) -> Behaviour:
    found = step.get("behavior", "Isolated")
    try:
        return Behaviour(found)
    except ValueError:
        raise TokenizerError(f"the behavior {brief(found)} of {what!r} is not supported") from None


def _metaspace(step: _Json) -> Metaspace:
    scheme = step.get("prepend_scheme")
    if scheme is None:
        scheme = "always" if step.get("add_prefix_space", True) else "never"
    try:
        prepend = PrependScheme(scheme)
    except ValueError:
        raise TokenizerError(f"the prepend_scheme {brief(scheme)} is not supported") from None
    return Metaspace(str(step.get("replacement", "▁")), prepend, bool(step.get("split", True)))


def _replace(step: _Json) -> Replace:
    pattern, is_regex = _pattern(step)
    return Replace(pattern, str(step["content"]), is_regex)


def _form(step: _Json) -> Normalize:
    return Normalize(Form(step["type"]))


def _precompiled(step: _Json) -> Precompiled:
    encoded = str(step[CHARSMAP])
    charsmap_of(encoded)
    return Precompiled(encoded, by_graphemes=True)


_NORMALIZERS: dict[str, Callable[[_Json], Normalizer]] = {
    "NFC": _form,
    "NFD": _form,
    "NFKC": _form,
    "NFKD": _form,
    "Replace": _replace,
    "Prepend": lambda step: Prepend(str(step["prepend"])),
    "Nmt": lambda step: Nmt(),
    "StripAccents": lambda step: StripAccents(),
    "BertNormalizer": BertNormalizer.of,
    "Lowercase": lambda step: Lowercase(),
    "Strip": lambda step: Strip(
        bool(step.get("strip_left", True)), bool(step.get("strip_right", True))
    ),
    "Precompiled": _precompiled,
}

_PRE_TOKENIZERS: dict[str, Callable[[_Json], PreTokenizer]] = {
    "Split": _split,
    "ByteLevel": lambda step: ByteLevel(
        bool(step.get("use_regex", True)), bool(step.get("add_prefix_space"))
    ),
    "Digits": lambda step: digits(individual=bool(step.get("individual_digits"))),
    "Punctuation": lambda step: punctuation(_behaviour(step, "Punctuation")),
    "Metaspace": _metaspace,
    "Whitespace": lambda step: WHITESPACE,
    "WhitespaceSplit": lambda step: WHITESPACE_SPLIT,
    "UnicodeScripts": lambda step: unicode_scripts(),
    "CharDelimiterSplit": lambda step: Split(_literal(str(step["delimiter"])), Behaviour.REMOVED),
}


_FLAGS = ("special", "normalized", "lstrip", "rstrip", "single_word")


def read_tokenizer_json(name: str, raw: bytes, eos: str | None) -> Tokenizer:
    """The tokenizer of a file with the content ``raw``.

    ``eos``: the name of the token that ends a text, None for the conventional ones. Raises
    ``TokenizerError``, whose message does not name the file.
    """
    return tokenizer_of(name, sha256(raw).hexdigest(), _parsed(raw), eos)


def tokenizer_of(name: str, digest: str, data: Mapping[str, Any], eos: str | None) -> Tokenizer:
    """The same of a parsed content; ``digest``: the SHA-256 of its source."""
    normalizers = read_normalizers(data.get("normalizer"))
    steps = read_pre_tokenizers(data.get("pre_tokenizer"))
    at_start = any(isinstance(s, Metaspace) and s.prepend is PrependScheme.FIRST for s in steps)
    if at_start and StripAccents() in normalizers:
        # The library puts nothing before a text whose beginning is removed, in some cases.
        raise TokenizerError("the prepend_scheme 'first' is not supported with 'StripAccents'")
    byte_level = any(isinstance(step, ByteLevel) for step in steps)
    kind = data["model"].get("type", "BPE")
    if kind not in _MODELS:
        known = ", ".join([*_MODELS, "WordPiece"])
        raise TokenizerError(f"the model {brief(kind)} is not supported; known are {known}")
    model = _MODELS[kind](data["model"], byte_level)
    vocab = model.vocab
    added = tuple(_added_tokens(data))
    special = {token.id for token in added if token.special}
    names = [*vocab, *(token.content for token in added)]
    ids = [*vocab.values(), *(token.id for token in added)]
    check_ids(names, ids)
    fallback = _byte_fallback(data["model"], vocab)
    symbols = byte_alphabet.characters() if byte_level else _ascii_symbols(normalizers, steps)
    space = written_space(normalizers, steps)
    plain = model.affixes.removed_from(vocab)
    of_text = plain
    if not special.isdisjoint(plain):
        of_text = {i: text for i, text in plain.items() if i not in special}
    tokens = _tokens(of_text, byte_level, space, fallback)
    characters = {} if byte_level else {c: i for c, i in vocab.items() if len(c) == 1}
    if not byte_level and not characters:
        raise TokenizerError(
            "it reads characters (it has no pre-tokenizer 'ByteLevel'), but has no token of one"
        )
    by_name = model.ignore_merges and not byte_level
    if by_name and space and any(" " in token[1:] or " " in token[:-1] for token in vocab):
        raise TokenizerError(
            f"the BPE option 'ignore_merges' is not supported for a vocabulary with spaces beside "
            f"{brief(space)}, which is written for them"
        )
    merges = _merges(model.merges, vocab, len(model.affixes.prefix))
    is_affixed = bool(model.affixes.prefix or model.affixes.suffix)
    if is_affixed:
        model.affixes.check(merges, _tokens(plain, byte_level, space, fallback))
    return Tokenizer(
        name=name,
        sha256=digest,
        tokens=tokens,
        added_tokens=added,
        merges=merges,
        base=[vocab.get(char, -1) for char in symbols],
        eos=eos_ids({**vocab, **{token.content: token.id for token in added}}, eos),
        eos_is_guessed=eos is None,
        vocab_size=max(ids, default=-1) + 1,
        normalizers=normalizers,
        pre_tokenizers=steps,
        characters=characters,
        byte_fallback=fallback,
        unk=model.unk,
        fuse_unk=model.fuse_unk,
        ignore_merges=model.ignore_merges,
        unigram=model.unigram,
        continuing_prefix=model.affixes.prefix,
        end_suffix=model.affixes.suffix,
        affixed={t: i for t, i in vocab.items() if is_affixed and len(t) > 1 == len(plain[i])},
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Model:
    """What the field ``model`` says: fields as of ``Definition``, but the merges as the file has
    them."""

    vocab: Mapping[str, int]
    merges: Iterable[Any]
    unk: int | None
    fuse_unk: bool
    ignore_merges: bool = False
    unigram: Unigram | None = None
    affixes: "_Affixes" = field(default_factory=lambda: _Affixes("", ""))


def _bpe(model: _Json, byte_level: bool) -> _Model:
    vocab = model.get("vocab")
    if not isinstance(vocab, dict):
        raise TokenizerError(_NO_MODEL)
    if model.get("dropout"):
        raise TokenizerError("the BPE option 'dropout' is not supported")
    unk = model.get("unk_token")
    if unk is not None and unk not in vocab:
        raise TokenizerError(
            f"the vocabulary lacks the token {brief(unk)} that stands for the unknown"
        )
    return _Model(
        vocab,
        model.get("merges") or (),
        None if unk is None else vocab[unk],
        bool(model.get("fuse_unk")),
        bool(model.get("ignore_merges")),
        affixes=_Affixes.of(model),
    )


# What an unknown character costs more than the piece of the lowest score.
UNKNOWN_PENALTY = 10.0


def _unigram(model: _Json, byte_level: bool) -> _Model:
    """The ids are places in the vocabulary. Of two pieces of one text the last one counts."""
    if byte_level:
        raise TokenizerError("the model Unigram is not supported with 'ByteLevel'")
    listed: list[tuple[str, float]] = [(str(text), float(score)) for text, score in model["vocab"]]
    unk = model.get("unk_id")
    if type(unk) is not int or not 0 <= unk < len(listed):
        raise TokenizerError("the model Unigram has no unk_id, a place in its vocabulary")
    vocab = {text: i for i, (text, _) in enumerate(listed)}
    scores = np.array([score for _, score in listed])
    if not np.isfinite(scores).all():
        raise TokenizerError("the model Unigram has scores that are no numbers")
    pieces = {text: i for text, i in vocab.items() if text}
    unknown = float(scores.min()) - UNKNOWN_PENALTY
    found = Unigram(pieces, scores[[*pieces.values()]], unknown, is_single=False)
    return _Model(vocab, (), unk, fuse_unk=True, unigram=found)


# How each kind of model is read.
_MODELS = {"BPE": _bpe, "Unigram": _unigram}

_NO_MODEL = "not a tokenizer.json: it has no model with a vocabulary"


def _parsed(raw: bytes) -> dict[str, Any]:
    data: dict[str, Any] = bounded_json(raw, "tokenizer.json")
    model = data.get("model") if isinstance(data, dict) else None
    if not isinstance(model, dict) or "vocab" not in model:
        raise TokenizerError(_NO_MODEL)
    return data


def _added_tokens(data: Mapping[str, Any]) -> Iterable[AddedToken]:
    listed = data.get("added_tokens") or ()
    check_added(len(listed))
    for token in listed:
        try:
            token_id, content = int(token["id"]), str(token["content"])
        except (KeyError, TypeError, ValueError):
            raise TokenizerError("an added token has no id or content") from None
        yield AddedToken(token_id, content, **{flag: bool(token.get(flag)) for flag in _FLAGS})


def _merges(merges: Iterable[Any], vocab: Mapping[str, int], prefix: int = 0) -> NDArray[np.int32]:
    """Left, right and result ids, int32 (n, 3), of merges like ``"a b"`` or ``["a", "b"]``.

    ``prefix``: so many characters of a right part are not in the result.
    """
    listed = list(merges)

    def ids_of(some: Sequence[Any]) -> NDArray[np.int32] | None:
        try:
            parts = _parts(some)
            left, right = parts[::2], parts[1::2]
            whole = map(add, left, [part[prefix:] for part in right] if prefix else right)
            columns = [
                np.fromiter(map(vocab.__getitem__, texts), np.int32, len(left))
                for texts in (left, right, whole)
            ]
        except (ValueError, KeyError, TypeError):
            return None
        return np.stack(columns, axis=1)

    found = ids_of(listed)
    if found is None:
        number = next(i for i, merge in enumerate(listed) if ids_of([merge]) is None)
        raise TokenizerError(
            f"merge {number} ({brief(listed[number])}) uses a token that the vocabulary lacks"
        )
    return found


def _parts(merges: Sequence[Any]) -> list[str]:
    """The left and the right part of each merge by turns. Raises ``ValueError`` for one that has no
    two parts."""
    kinds = {*map(type, merges)}
    if kinds == {str} and {*map(str.count, merges, repeat(" "))} == {1}:
        return " ".join(merges).split(" ")
    if kinds == {list} and {*map(len, merges)} == {2}:
        return [*chain.from_iterable(merges)]
    if len(kinds) == 1:
        raise ValueError
    return [part for merge in merges for part in _parts([merge])]


@dataclass(frozen=True, slots=True)
class _Affixes:
    """What a BPE model writes before each symbol of a pre-token but the first, ``prefix``, and
    after the last, ``suffix``."""

    prefix: str
    suffix: str

    @classmethod
    def of(cls, model: Mapping[str, Any]) -> "_Affixes":
        names = "continuing_subword_prefix", "end_of_word_suffix"
        found = [str(model.get(name) or "") for name in names]
        if any(found) and (model.get("byte_fallback") or model.get("ignore_merges")):
            raise TokenizerError(
                f"the BPE options {' and '.join(map(repr, names))} are not supported together with "
                f"'byte_fallback' or 'ignore_merges'"
            )
        if not found[0].isascii():
            raise TokenizerError(f"the BPE option {names[0]!r} is supported for ASCII alone")
        return cls(*found)

    def removed_from(self, vocab: Mapping[str, int]) -> dict[int, str]:
        """What each token spells: itself, where nothing would be left."""
        prefix, suffix = self.prefix, self.suffix
        if not (prefix or suffix):
            return dict(zip(vocab.values(), vocab, strict=True))
        return {i: t.removeprefix(prefix).removesuffix(suffix) or t for t, i in vocab.items()}

    def check(self, merges: NDArray[np.int32], tokens: Mapping[int, bytes]) -> None:
        """Raise ``TokenizerError`` if the text of a token is not that of its parts."""
        for left, right, result in merges.tolist():
            parts = [tokens.get(part) for part in (left, right)]
            if None not in parts and b"".join(filter(None, parts)) != tokens.get(result):
                raise TokenizerError(
                    f"{brief(self.prefix or self.suffix)}, which marks where pre-tokens begin or "
                    f"end, is a part of a merge's text ({brief(tokens.get(result))})"
                )


def _byte_fallback(model: _Json, vocab: Mapping[str, int]) -> tuple[int, ...]:
    """The tokens ``<0x00>`` to ``<0xFF>`` if ``byte_fallback`` is on, else none.

    -1 for a byte without such a token that is a character with a token of its own, which is never
    spelled by bytes (in Gemma 2's vocabulary the tab).
    """
    if not model.get("byte_fallback"):
        return ()
    ids = tuple(vocab.get(f"<0x{octet:02X}>", -1) for octet in range(256))
    for octet, token_id in enumerate(ids):
        if token_id < 0 and (octet >= 0x80 or chr(octet) not in vocab):
            raise TokenizerError(
                f"'byte_fallback' is on, but the token <0x{octet:02X}> is missing, and no other "
                f"token spells that byte"
            )
    return ids


def _tokens(
    names: Mapping[int, str], byte_level: bool, space: str | None, fallback: tuple[int, ...]
) -> TokenTable:
    """The bytes of each token. Tokens outside the byte-level alphabet are left out: merging never
    produces them."""
    if byte_level:
        ids, texts = np.fromiter(names, np.int64, len(names)), [*names.values()]
        if not (np.diff(ids) > 0).all():
            order = np.argsort(ids)
            ids, texts = ids[order], [texts[i] for i in order.tolist()]
        data, lengths = byte_alphabet.decode_each(texts)
        return TokenTable.of_each(ids[lengths >= 0], data, lengths[lengths >= 0])
    tokens = {
        i: (token.replace(space, " ") if space else token).encode("utf-8")
        for i, token in names.items()
    }
    tokens |= {i: bytes([octet]) for octet, i in enumerate(fallback) if i >= 0}
    return TokenTable.of(tokens)


def _ascii_symbols(normalizers: Iterable[Normalizer], steps: Iterable[PreTokenizer]) -> list[str]:
    """The symbol of each byte that is an ASCII character by itself, "" for the others."""
    symbols = [chr(octet) if octet < 128 else "" for octet in range(256)]
    symbols[ord(" ")] = written_space(normalizers, steps) or " "
    return symbols
