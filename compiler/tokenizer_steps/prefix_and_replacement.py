"""What a tokenizer writes that is not in the text: a prefix, and another character for spaces.

Tokenizers of SentencePiece's kind put a space before a text and write spaces as "▁":

    "a cat"  ->  Prepend("▁"), Replace(" ", "▁")  ->  "▁a▁cat"

``text_rewriting`` reads the normalizers and the first pre-tokenizer and says what their effect is:
canonical tokens spell ``prefix`` and the text, with spaces written as ``space``. All other steps
either change no character of a text, or the text has no canonical tokenization (``fixed_points``
keeps the texts that they leave alone). What cannot be said so is refused, by the step's name.

The prefix stands before each text that is not empty; or it is one space that stands only before
texts that do not begin with a space themselves (``unless_begun``), so that "a" and " a" have one
encoding, which spells " a". ``members_behind`` puts the prefix before the members of a grammar,
``texts_behind`` before the texts of an automaton with marks.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from constrain.artifacts.errors import visible
from constrain.artifacts.tokens.memo import Numbered

from ..automata.dfa import Dfa
from ..diagnostics import TokenizerError
from ..limits import Limits
from ..tokenizers import Tokenizer
from ..tokenizers.definition import (
    Behaviour,
    ByteLevel,
    Metaspace,
    Precompiled,
    Prepend,
    PrependScheme,
    Replace,
    Split,
    Strip,
)
from ..tokenizers.encoding.patterns import WHITE_SPACE
from ..tokenizers.encoding.steps import normalize
from .marked_dfa import DEAD, MarkedDfa

# Each character is a state of tables. Real tokenizers put one there.
_LONGEST_PREFIX = 100

_STAGE = "the members after what the tokenizer puts before a text"


def members_behind(
    dfa: Dfa, prefix: bytes, limits: Limits, *, unless_begun: bool = False
) -> tuple[Dfa, int]:
    """The DFA of ``prefix`` + member for each member that is not empty, and of the empty member.

    Also returns the state in which a member begins without a prefix, as after a prompt. States of
    ``dfa`` keep their numbers. Raises ``LimitError``.
    """
    by_byte = dfa.table[:, dfa.classes]
    both = _Unions(dfa.states + 1)
    begin, begun = by_byte[dfa.start].copy(), DEAD
    if unless_begun:
        begun, begin[prefix[0]] = int(begin[prefix[0]]), DEAD
    rows, ends = [both.row(begin, by_byte[begun])], [bool(dfa.accepting[begun])]
    origins = [dfa.origins[dfa.start] | dfa.origins[begun]]
    for a, b in both.pairs:
        rows.append(both.row(by_byte[a], by_byte[b]))
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


class _Unions:
    """Pairs of states that stand for a member read as it is or after the prefix: either accepts.

    ``pairs``: those met so far; pair i has the number ``first`` + i.
    """

    def __init__(self, first: int) -> None:
        self.pairs = Numbered[tuple[int, int]]()
        self._first = first

    def row(self, one: NDArray[np.int32], other: NDArray[np.int32]) -> NDArray[np.int32]:
        """The union of two rows: int32 (256,), the state for each pair of targets."""
        found, places = np.unique(np.stack([one, other]), axis=1, return_inverse=True)
        numbers = [self._number(a, b) for a, b in found.T.tolist()]
        return np.array(numbers, dtype=np.int32)[places.reshape(-1)]

    def _number(self, a: int, b: int) -> int:
        if a == b or DEAD in (a, b):
            return max(a, b)
        return self._first + self.pairs.number((a, b))


def texts_behind(dfa: MarkedDfa, prefix: bytes, *, unless_begun: bool = False) -> MarkedDfa:
    """The texts of ``dfa``, which reads all marks alike, after ``prefix``, and the empty text.

    With ``unless_begun`` a text that begins with a space is spelled as it is. Without that space it
    is spelled alike, and must be in ``dfa`` too; raises ``ValueError`` if there is one that is not.
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


def loses_begun(texts: MarkedDfa, octet: int) -> bool:
    """Whether some text is lost with a byte put before it, which it does not begin with.

    ``texts``: over bytes, (S, 2, 256), with the start of a text as its only mark.
    """
    others = texts.table[texts.start, 1].copy()
    begun, others[octet] = int(others[octet]), DEAD
    return not _is_within(texts, np.stack((others, texts.table[begun, 0])))


def _is_within(dfa: MarkedDfa, rows: NDArray[np.int32]) -> bool:
    """Whether all texts that go on by the first row also do by the second (inclusion).

    ``rows``: int32 (2, A). Breadth first over pairs of states; marks are ignored.
    """
    table, width = dfa.table[:, 0].astype(np.int64), dfa.states
    seen = np.zeros(0, dtype=np.int64)
    frontier = np.unique(rows[0].astype(np.int64) * width + rows[1])
    while len(frontier):
        one, other = np.divmod(frontier, width)
        if (dfa.final[one] & ~dfa.final[other]).any():
            return False
        seen = np.union1d(seen, frontier)
        different = one != other
        targets = table[one[different]] * width + table[other[different]]
        frontier = np.setdiff1d(targets, seen)
    return True


@dataclass(frozen=True, slots=True)
class RewritingStep:
    """A normalizer that changes some texts, which then have no canonical tokenization.

    ``before``: what later steps put before a text, with plain spaces. ``seen``: whether the step
    finds a prefix before the text. ``space``: the character that it finds for a space.
    ``written``: the character that stands for a space after all normalizers.
    """

    step: Strip | Replace
    before: str
    seen: bool
    space: str
    written: str


@dataclass(frozen=True, slots=True)
class TextRewriting:
    """What a tokenizer writes for a text before it merges.

    ``prefix``: what is put before each text that is not empty, with plain spaces; if
    ``unless_begun`` only before texts that do not begin with it. ``pretokenizer_prefix``: the part
    of it that the first pre-tokenizer puts there. ``space``: the character that stands for a space
    in tokens of characters, None for the space itself. ``normalized_space``: the same after the
    normalizers. ``left_out``: texts whose occurrences are replaced and never written again.
    ``changes``: the other normalizers that change some texts, in order.
    """

    prefix: str
    unless_begun: bool
    pretokenizer_prefix: str
    space: str | None
    normalized_space: str
    left_out: frozenset[str]
    changes: tuple[RewritingStep, ...]


def text_rewriting(tokenizer: Tokenizer) -> TextRewriting:
    """What the steps write. Raises ``TokenizerError`` for steps that tables cannot express."""
    if affix := tokenizer.continuing_prefix or tokenizer.end_suffix:
        raise TokenizerError(
            f"{visible(tokenizer.name)}: its symbols depend on where in a pre-token they are "
            f"({visible(affix)}), which canonical masks do not follow; use --tokenization any"
        )
    if tokenizer.ignore_merges and not tokenizer.byte_level:
        raise TokenizerError(
            f"{visible(tokenizer.name)}: 'ignore_merges' without 'ByteLevel' gives tokens by their "
            f"names, which canonical masks do not follow; use --tokenization any"
        )
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
            case Precompiled():
                # What it writes for a character depends on those around.
                raise unsupported(tokenizer, step)
            case _ if not isinstance(step, Prepend | Replace | Strip):
                # ``normalizer.normalized_members`` leaves out what these change; ASCII is inert.
                written = prefix + space
                is_inert = prefix.replace(space, " ").isascii()
                if not (is_inert and normalize(written, (step,)) == written):
                    raise unsupported(tokenizer, step)
            case Replace(pattern, _, False) if pattern and _never_written(tokenizer, pattern):
                left_out.add(pattern)
            case Replace(_, _, True) if not any(
                isinstance(later, Replace) and later.pattern != " " for later in steps[place + 1 :]
            ):
                found.append((step, prefix, space))
            case Strip(left, _) if not (left and prefix and prefix[0] in WHITE_SPACE):
                found.append((step, prefix, space))
            case _:
                raise unsupported(tokenizer, step)
    if len(prefix) > _LONGEST_PREFIX:
        raise TokenizerError(
            f"the tokenizer puts {len(prefix):,} characters before a text: canonical masks support "
            f"{_LONGEST_PREFIX}; use --tokenization any"
        )
    last_prefix, last_space = _of_pretokenizers(tokenizer, space)
    if last_space != space and last_space in prefix and (found or _finds_in_normalized(tokenizer)):
        # These would see the character of the pre-tokenizer before it is written for spaces.
        raise unsupported(tokenizer, tokenizer.pre_tokenizers[0])
    # Whatever a text begins with, what the normalizers put before it is seen first.
    unless_begun = bool(last_prefix) and not prefix
    if last_prefix and prefix.replace(" ", last_space).startswith(last_prefix):
        last_prefix = ""

    def plain(text: str) -> str:
        return text if last_space == " " else text.replace(last_space, " ")

    changes = tuple(
        RewritingStep(
            step, plain(last_prefix + prefix.removesuffix(seen)), bool(seen), spaces, space
        )
        for step, seen, spaces in found
    )
    return TextRewriting(
        plain(last_prefix + prefix),
        unless_begun,
        plain(last_prefix),
        None if last_space == " " else last_space,
        space,
        frozenset(left_out),
        changes,
    )


def _of_pretokenizers(tokenizer: Tokenizer, space: str) -> tuple[str, str]:
    """What the first pre-tokenizer puts before a text, and what it writes for a space."""
    steps = tokenizer.pre_tokenizers
    for step in steps[1:]:
        if isinstance(step, Metaspace) or (isinstance(step, ByteLevel) and step.add_prefix_space):
            raise unsupported(tokenizer, step)
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


def _finds_in_normalized(tokenizer: Tokenizer) -> bool:
    """Whether added tokens are looked for in the normalized text."""
    return any(token.normalized for token in tokenizer.added_tokens)


def splits_of(tokenizer: Tokenizer) -> tuple[list[Split], list[Split]]:
    """How its steps split: those that see the text, then those after ``ByteLevel``, which see the
    characters that stand for bytes.

    Raises ``TokenizerError`` if one of the latter removes what it matches, or writes bytes again.
    """
    seeing: tuple[list[Split], list[Split]] = [], []
    is_written = False
    for step in tokenizer.pre_tokenizers:
        split = step.split
        if is_written and (
            isinstance(step, ByteLevel)
            or (split is not None and split.behaviour is Behaviour.REMOVED)
        ):
            raise unsupported(tokenizer, step)
        if split is not None:
            seeing[is_written].append(split)
        is_written |= isinstance(step, ByteLevel)
    return seeing


def _never_written(tokenizer: Tokenizer, pattern: str) -> bool:
    """Whether no normalizer writes the first character of a text that is replaced."""
    steps = tokenizer.normalizers
    contents = [step.content for step in steps if isinstance(step, Replace)]
    contents += [step.prefix for step in steps if isinstance(step, Prepend)]
    return pattern[0] not in "".join(contents)


def unsupported(tokenizer: Tokenizer, step: object) -> TokenizerError:
    """The error that names a step that canonical masks do not support."""
    kind = step.kind if isinstance(step, Split) else type(step).__name__
    return TokenizerError(
        f"{visible(tokenizer.name)}: canonical masks do not support the step {kind!r} as this "
        "tokenizer has it; use --tokenization any"
    )
