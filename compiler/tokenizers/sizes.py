"""What a tokenizer's file may ask for: bounds that real ones are far below.

    ids              tables are as long as the highest one: ``MOST_HOLES`` of them without a token
    tokens           ``MOST_TOKENS``, of which ``MOST_ADDED`` are found in texts by their names
    bytes of a token each is a level of the trie that walks go through: ``MOST_TOKEN_BYTES``
    bytes of all     ``MOST_BYTES``, ``MOST_LONG_BYTES`` in tokens of more than ``LONG``
    steps            ``MOST_STEPS`` normalizers and as many pre-tokenizers, each with texts and
                     patterns of ``MOST_STEP_CHARACTERS`` together

What encoding a text may take is bounded as well: ``encoding.allowance``. Files are read by
``files.bounded``.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from reprlib import Repr
from typing import Any

from constrain.artifacts.container.sections import MOST_TOKEN_BYTES
from constrain.artifacts.errors import visible

from ..diagnostics import TokenizerError

MOST_HOLES = 1_000_000
MOST_TOKENS = 2_000_000
MOST_BYTES = 20_000_000
LONG, MOST_LONG_BYTES = 256, 250_000
MOST_ADDED = 100_000
MOST_STEPS = 100
MOST_STEP_CHARACTERS = 20_000

# The one field of a step that is long in real files: a table, which is checked when it is read.
CHARSMAP = "precompiled_charsmap"

_BRIEF = Repr()
_BRIEF.maxstring = _BRIEF.maxother = _BRIEF.maxlong = 80


def check_sizes(tokens: Collection[bytes], vocab_size: int, added: Sequence[str] = ()) -> None:
    """Raises ``TokenizerError`` for ids far beyond the ``tokens`` of text, for too many of these or
    of the names of ``added`` ones, and for a token or name that is too long."""
    if len(tokens) > MOST_TOKENS:
        raise TokenizerError(f"there are {len(tokens):,} tokens: {MOST_TOKENS:,} are the most")
    check_added(len(added))
    if vocab_size - len(tokens) - len(added) > MOST_HOLES:
        raise TokenizerError(
            f"the highest id is {vocab_size - 1:,}, and there are {len(tokens) + len(added):,} "
            f"tokens: at most {MOST_HOLES:,} ids may be without one"
        )
    check_lengths([*tokens, *(name.encode("utf-8") for name in added)])


def check_added(count: int) -> None:
    """Raises ``TokenizerError`` for too many added tokens."""
    if count > MOST_ADDED:
        raise TokenizerError(f"there are {count:,} added tokens: {MOST_ADDED:,} are the most")


def check_lengths(tokens: Sequence[bytes]) -> None:
    """Raises ``TokenizerError`` for a token that is too long, and for tokens that are so together.

    Long ones take time that is quadratic in their length, here and there.
    """
    lengths = [*map(len, tokens)]
    if max(lengths, default=0) > MOST_TOKEN_BYTES:
        longest = max(tokens, key=len)
        shown = visible(longest[:20].decode("utf-8", "replace"))
        raise TokenizerError(
            f"the token that begins with {shown!r} has {len(longest):,} bytes: "
            f"{MOST_TOKEN_BYTES:,} are the most"
        )
    if (total := sum(lengths)) > MOST_BYTES:
        raise TokenizerError(
            f"the tokens have {total:,} bytes together: {MOST_BYTES:,} are the most"
        )
    if (total := sum(length for length in lengths if length > LONG)) > MOST_LONG_BYTES:
        raise TokenizerError(
            f"the tokens of more than {LONG} bytes have {total:,} together: {MOST_LONG_BYTES:,} "
            f"are the most"
        )


def brief(value: object) -> str:
    """A value of a file as messages show it: of a large one a part."""
    return _BRIEF.repr(value)


def check_lines(raw: bytes) -> None:
    """Raises ``TokenizerError`` for a file with a line for each token that has too many."""
    if (count := raw.count(b"\n")) > MOST_TOKENS:
        raise TokenizerError(f"there are {count:,} tokens: {MOST_TOKENS:,} are the most")


def check_steps(steps: Sequence[Mapping[str, Any]], what: str) -> None:
    """Raises ``TokenizerError`` for texts and patterns of steps, as a file has them, that are too
    long together or are no text; ``what``: the kind of step."""
    texts = [text for step in steps for text in _texts(step)]
    for text in texts:
        if any("\ud800" <= char <= "\udfff" for char in text):
            raise TokenizerError(f"{brief(text)} of a {what} is no text: it has a lone surrogate")
    total = sum(map(len, texts))
    if total > MOST_STEP_CHARACTERS:
        raise TokenizerError(
            f"the texts and patterns of the {what}s have {total:,} characters together: "
            f"{MOST_STEP_CHARACTERS:,} are the most"
        )


def _texts(step: Mapping[str, Any]) -> Iterable[str]:
    for key, value in step.items():
        if key == CHARSMAP:
            continue
        inner = value.values() if isinstance(value, dict) else (value,)
        yield from (text for text in inner if isinstance(text, str))
