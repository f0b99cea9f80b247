"""The normalizers and pre-tokenizers of a ``tokenizer.json``; what is not known is refused."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar

from ..diagnostics import TokenizerError
from .patterns import check_pattern
from .steps import (
    Behaviour,
    ByteLevel,
    Digits,
    Form,
    Lowercase,
    Metaspace,
    Normalize,
    Normalizer,
    Prepend,
    PrependScheme,
    PreTokenizer,
    Punctuation,
    Replace,
    Split,
    Strip,
    Whitespace,
    WhitespaceSplit,
)

_Json = Mapping[str, Any]
_Step = TypeVar("_Step")


def read_normalizers(found: object) -> tuple[Normalizer, ...]:
    """The steps of the field ``normalizer``, sequences laid out flat."""
    return tuple(
        _of_kind(step, _NORMALIZERS, "normalizer")
        for step in _flat(found, "normalizer", "normalizers")
    )


def read_pre_tokenizers(found: object) -> tuple[PreTokenizer, ...]:
    """The steps of the field ``pre_tokenizer``, sequences laid out flat."""
    return tuple(
        _of_kind(step, _PRE_TOKENIZERS, "pre-tokenizer")
        for step in _flat(found, "pre-tokenizer", "pretokenizers")
    )


def _flat(found: object, what: str, plural: str) -> Iterator[_Json]:
    waiting = [] if found is None else [found]
    while waiting:
        step = waiting.pop()
        if not isinstance(step, dict):
            raise TokenizerError(f"a {what} is no object with a type")
        if step.get("type") == "Sequence":
            waiting += reversed(step[plural])
        else:
            yield step


def _of_kind(step: _Json, kinds: Mapping[str, Callable[[_Json], _Step]], what: str) -> _Step:
    kind = str(step.get("type"))
    if kind not in kinds:
        known = ", ".join(kinds)
        raise TokenizerError(f"the {what} {kind!r} is not supported; known are {known}")
    return kinds[kind](step)


def _pattern(step: _Json) -> tuple[str, bool]:
    """A pattern as a text or a regular expression: (pattern, whether it is the latter)."""
    pattern = step["pattern"]
    if "String" in pattern:
        return str(pattern["String"]), False
    check_pattern(str(pattern["Regex"]))
    return str(pattern["Regex"]), True


def _literal(text: str) -> str:
    """A text as a regular expression that matches it alone."""
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
        raise TokenizerError(f"the behavior {found!r} of {what!r} is not supported") from None


def _metaspace(step: _Json) -> Metaspace:
    scheme = step.get("prepend_scheme")
    if scheme is None:
        scheme = "always" if step.get("add_prefix_space", True) else "never"
    try:
        prepend = PrependScheme(scheme)
    except ValueError:
        raise TokenizerError(f"the prepend_scheme {scheme!r} is not supported") from None
    return Metaspace(str(step.get("replacement", "▁")), prepend, bool(step.get("split", True)))


def _replace(step: _Json) -> Replace:
    pattern, is_regex = _pattern(step)
    return Replace(pattern, str(step["content"]), is_regex)


def _form(step: _Json) -> Normalize:
    return Normalize(Form(step["type"]))


_NORMALIZERS: dict[str, Callable[[_Json], Normalizer]] = {
    "NFC": _form,
    "NFD": _form,
    "NFKC": _form,
    "NFKD": _form,
    "Replace": _replace,
    "Prepend": lambda step: Prepend(str(step["prepend"])),
    "Lowercase": lambda step: Lowercase(),
    "Strip": lambda step: Strip(
        bool(step.get("strip_left", True)), bool(step.get("strip_right", True))
    ),
}

_PRE_TOKENIZERS: dict[str, Callable[[_Json], PreTokenizer]] = {
    "Split": _split,
    "ByteLevel": lambda step: ByteLevel(
        bool(step.get("use_regex", True)), bool(step.get("add_prefix_space"))
    ),
    "Digits": lambda step: Digits(bool(step.get("individual_digits"))),
    "Punctuation": lambda step: Punctuation(_behaviour(step, "Punctuation")),
    "Metaspace": _metaspace,
    "Whitespace": lambda step: Whitespace(),
    "WhitespaceSplit": lambda step: WhitespaceSplit(),
    "CharDelimiterSplit": lambda step: Split(_literal(str(step["delimiter"])), Behaviour.REMOVED),
}
