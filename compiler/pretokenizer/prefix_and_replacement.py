"""What a tokenizer puts before a text, as a part of automata of texts.

The prefix stands before each text that is not empty; or it is a space that stands only before
texts that do not begin with one themselves (``unless_begun``), so that what "a" and " a" are
encoded as spells " a".

What a tokenizer writes that is not in the text, and which steps must leave a text alone.

Canonical tokens spell ``prefix`` and the text, or the text alone where it begins with a prefix
of its own; spaces may be written as another character. All other steps either change no
character of a text, or the text has no canonical tokenization. What cannot be said so is
refused, by the step's name.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..automata.dfa import Dfa
from ..diagnostics import TokenizerError
from ..limits import Limits
from ..tokenizers import Tokenizer
from ..tokenizers.definition import (
    ByteLevel,
    Lowercase,
    Metaspace,
    Normalize,
    Prepend,
    PrependScheme,
    PreTokenizer,
    Replace,
    Strip,
)
from ..tokenizers.unicode_versions import WHITE_SPACE
from .marked_dfa import DEAD, MarkedDfa

_STAGE = "the members behind what the tokenizer puts before a text"


def members_behind(
    dfa: Dfa, prefix: bytes, limits: Limits, *, unless_begun: bool = False
) -> tuple[Dfa, int]:
    """The members that are not empty behind ``prefix``, and the empty one; and where a member
    begins at once.

    States of ``dfa`` keep their numbers. Raises ``LimitError``.
    """
    by_byte = dfa.table[:, dfa.classes]
    both = _Both(dfa.states + 1)
    begin, begun = by_byte[dfa.start].copy(), DEAD
    if unless_begun:
        begun, begin[prefix[0]] = int(begin[prefix[0]]), DEAD
    rows, ends = [both.joined(begin, by_byte[begun])], [bool(dfa.accepting[begun])]
    origins = [dfa.origins[dfa.start] | dfa.origins[begun]]
    for a, b in both.pairs:
        rows.append(both.joined(by_byte[a], by_byte[b]))
        ends.append(bool(dfa.accepting[a] | dfa.accepting[b]))
        origins.append(dfa.origins[a] | dfa.origins[b])
        limits.check_states(dfa.states + len(rows), _STAGE)
    start = dfa.states
    for octet in reversed(prefix):
        row = np.zeros(256, dtype=np.int32)
        row[octet], start = start, dfa.states + len(rows)
        rows.append(row)
        ends.append(False)
        origins.append(dfa.origins[dfa.start])
    ends[-1] = bool(dfa.accepting[dfa.start])
    whole = Dfa(
        table=np.concatenate([by_byte, np.stack(rows)]),
        classes=np.arange(256, dtype=np.uint8),
        accepting=np.append(dfa.accepting, ends),
        start=start,
        origins=(*dfa.origins, *origins),
    )
    return whole, dfa.start


class _Both:
    """Pairs of states: a member is read as it is, or behind the prefix, and either may end it.

    ``pairs``: those that were met, which are the states behind the first that is added.
    """

    def __init__(self, first: int) -> None:
        self.pairs: list[tuple[int, int]] = []
        self._first = first
        self._numbers: dict[tuple[int, int], int] = {}

    def joined(self, one: NDArray[np.int32], other: NDArray[np.int32]) -> NDArray[np.int32]:
        """The row of a state that goes on as either of two rows does."""
        found, places = np.unique(np.stack([one, other]), axis=1, return_inverse=True)
        numbers = [self._number(a, b) for a, b in found.T.tolist()]
        return np.array(numbers, dtype=np.int32)[places.reshape(-1)]

    def _number(self, a: int, b: int) -> int:
        if a == b or DEAD in (a, b):
            return max(a, b)
        if (a, b) not in self._numbers:
            self._numbers[a, b] = self._first + len(self.pairs)
            self.pairs.append((a, b))
        return self._numbers[a, b]


def texts_behind(dfa: MarkedDfa, prefix: bytes, *, unless_begun: bool = False) -> MarkedDfa:
    """The texts of ``dfa``, whatever their marks, behind ``prefix``, and the empty one.

    With ``unless_begun`` those of them that begin with a space are among the others with one
    put before them; raises ``ValueError`` if ``dfa`` holds such a text, and not without its
    space.
    """
    table, final, start = dfa.table, dfa.final, dfa.start
    if unless_begun:
        octet = prefix[0]
        begun = int(table[start, 0, octet])
        row = table[start].copy()
        row[:, octet] = table[begun, :, octet]
        if not _is_within(dfa, np.stack([table[begun, 0], row[0]])):
            raise ValueError("a text is lost with the space that it begins with")
        table = np.concatenate([table, row[None]])
        final = np.append(final, final[begun])
        start = len(table) - 1
    for octet in reversed(prefix):
        row = np.zeros_like(table[0])
        row[:, octet], start = start, len(table)
        table = np.concatenate([table, row[None]])
        final = np.append(final, False)
    if prefix:
        final[start] = True
    return MarkedDfa(np.ascontiguousarray(table), final, start)


def _is_within(dfa: MarkedDfa, rows: NDArray[np.int32]) -> bool:
    """Whether all texts that begin by the first row are among those that begin by the second.

    ``rows``: int32 (2, A). Pairs of states, level by level; marks are left out of account.
    """
    table, width = dfa.table[:, 0].astype(np.int64), dfa.states
    known = np.zeros(0, dtype=np.int64)
    frontier = np.unique(rows[0].astype(np.int64) * width + rows[1])
    while len(frontier):
        one, other = np.divmod(frontier, width)
        if (dfa.final[one] & ~dfa.final[other]).any():
            return False
        known = np.union1d(known, frontier)
        different = one != other
        targets = table[one[different]] * width + table[other[different]]
        frontier = np.setdiff1d(targets, known)
    return True


@dataclass(frozen=True, slots=True)
class Change:
    """A step that changes some texts. ``before``: what is put before a text, with plain spaces,
    but not before the step. ``seen``: whether the step finds something before the text.
    ``space``: what it finds for a space.
    """

    step: Strip | Replace
    before: str
    seen: bool
    space: str


@dataclass(frozen=True, slots=True)
class Written:
    """``prefix``: what is put before each text that is not empty, with plain spaces; if
    ``unless_begun`` only before texts that do not begin with it. ``cut_prefix``: the part of it
    that is put there after the normalizers. ``space``: what stands for a space in tokens of
    characters, None for itself. ``normalized_space``: the same behind the normalizers.
    ``left_out``: texts that are replaced for good. ``changes``: other steps, in order.
    """

    prefix: str
    unless_begun: bool
    cut_prefix: str
    space: str | None
    normalized_space: str
    left_out: frozenset[str]
    changes: tuple[Change, ...]


def written(tokenizer: Tokenizer) -> Written:
    """What the steps do. Raises ``TokenizerError`` for those that tables cannot express."""
    prefix, space = "", " "
    left_out = set()
    found: list[tuple[Strip | Replace, str, str]] = []
    steps = tokenizer.normalizers
    for place, step in enumerate(steps):
        match step:
            case Prepend(text) if space == " " or " " not in text:
                prefix = text + prefix
            case Replace(" ", content, False) if len(content) == 1 and not tokenizer.byte_level:
                space, prefix = content, prefix.replace(" ", content)
            case Normalize() | Lowercase():
                # ``normalizer.normalized_members`` leaves out what these change; ASCII is inert.
                if not prefix.replace(space, " ").isascii():
                    raise unsupported(tokenizer, step)
            case Replace(pattern, _, False) if pattern and _is_for_good(tokenizer, pattern):
                left_out.add(pattern)
            case Replace(_, _, True) if not any(
                isinstance(later, Replace) and later.pattern != " " for later in steps[place + 1 :]
            ):
                found.append((step, prefix, space))
            case Strip(left, _) if not (left and prefix and prefix[0] in WHITE_SPACE):
                found.append((step, prefix, space))
            case _:
                raise unsupported(tokenizer, step)
    cut_prefix, cut_space = _before_cuts(tokenizer, space)
    if cut_space != space and cut_space in prefix and (found or _has_normalized(tokenizer)):
        # They would see what the cuts write for a space, before spaces are written so.
        raise unsupported(tokenizer, tokenizer.pre_tokenizers[0])
    # Whatever a text begins with, what the normalizers put before it is seen first.
    unless_begun = bool(cut_prefix) and not prefix
    if cut_prefix and prefix.replace(" ", cut_space).startswith(cut_prefix):
        cut_prefix = ""

    def plain(text: str) -> str:
        return text if cut_space == " " else text.replace(cut_space, " ")

    changes = tuple(
        Change(step, plain(cut_prefix + prefix.removesuffix(seen)), bool(seen), spaces)
        for step, seen, spaces in found
    )
    return Written(
        plain(cut_prefix + prefix),
        unless_begun,
        plain(cut_prefix),
        None if cut_space == " " else cut_space,
        space,
        frozenset(left_out),
        changes,
    )


def _before_cuts(tokenizer: Tokenizer, space: str) -> tuple[str, str]:
    """What the first pre-tokenizer puts before a text, and what it writes for a space."""
    steps = tokenizer.pre_tokenizers
    for place, step in enumerate(steps[1:], start=1):
        if isinstance(step, Metaspace) or (isinstance(step, ByteLevel) and step.add_prefix_space):
            raise unsupported(tokenizer, step)
        _check_alphabet(tokenizer, steps[place - 1 :])
    if not steps:
        return "", space
    match steps[0]:
        case ByteLevel(_, True):
            return " ", space
        case Metaspace(replacement, prepend, _):
            if tokenizer.byte_level or len(replacement) != 1 or space not in (" ", replacement):
                raise unsupported(tokenizer, steps[0])
            return "" if prepend is PrependScheme.NEVER else replacement, replacement
    return "", space


def _has_normalized(tokenizer: Tokenizer) -> bool:
    """Whether tokens are looked for behind the normalizers."""
    return any(token.normalized for token in tokenizer.added_tokens)


def _check_alphabet(tokenizer: Tokenizer, steps: Sequence[PreTokenizer]) -> None:
    """Behind ``ByteLevel`` no step cuts: it would see the characters that stand for bytes."""
    if isinstance(steps[0], ByteLevel) and any(step.split is not None for step in steps[1:]):
        raise unsupported(tokenizer, steps[0])


def _is_for_good(tokenizer: Tokenizer, pattern: str) -> bool:
    """Whether no step writes the first character of a text that is replaced."""
    steps = tokenizer.normalizers
    contents = [step.content for step in steps if isinstance(step, Replace)]
    contents += [step.prefix for step in steps if isinstance(step, Prepend)]
    return pattern[0] not in "".join(contents)


def unsupported(tokenizer: Tokenizer, step: object) -> TokenizerError:
    """The error that names a step."""
    return TokenizerError(
        f"{tokenizer.name}: canonical masks do not support the step {type(step).__name__!r} as "
        f"this tokenizer has it; use --tokenization any"
    )
