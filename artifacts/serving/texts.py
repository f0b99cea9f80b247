"""The texts of a batch, and for each the matcher that has taken its tokens.

Hosts tell a processor all tokens so far and nothing else. Between two calls they reorder rows
(beams), repeat them (several answers to a prompt), ask again for a place after which drafted
tokens were refused, and pad rows that have ended. So a matcher is found by its tokens:

    last call   [a b] [a c]              its matchers are kept
    this call   [a c d] [a b] [a c e]    each row goes on from a copy of the matcher that has the
                                         longest common prefix with it; rows that are those of the
                                         last call with one token more need no search
"""

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..artifact import Artifact
from ..container.manifest import GREEDY
from ..errors import ConstrainError
from ..matcher import Matcher
from ..tokens.bitmask import fill_many, put
from ..tokens.tokenset import from_ids, word_count
from .drafts import Drafts


class ServingError(ConstrainError):
    """A processor was called with what cannot be the text that it follows."""


class DeadEndWarning(UserWarning):
    """A text was ended because no token can follow and it is no member of the grammar."""


class Texts:
    """Follows the texts of a batch.

    ``artifacts``: one for all texts, or several for as many groups of consecutive rows, which are
    of one size: beams, or answers to one prompt. ``prompt_length``: the number of tokens before
    each text, by default those of the first call. ``prompts``: the ids that the texts of each group
    continue (``Artifact.matcher``, ``after``). ``stop_ids``: what ends them instead of the
    artifact's EOS. Raises ``ServingError`` where there are not as many prompts as artifacts.

    ``ends``: the ids that end the texts of each group. ``longest``: the most tokens that a row had
    so far, its prompt included. The texts are those of one generation; ``reset`` begins another.
    """

    def __init__(
        self,
        artifacts: Artifact | Sequence[Artifact],
        *,
        prompt_length: int | None = None,
        prompts: Sequence[Sequence[int]] | None = None,
        stop_ids: Sequence[int] | None = None,
    ) -> None:
        several = [artifacts] if isinstance(artifacts, Artifact) else list(artifacts)
        if prompts is not None and len(several) == 1:
            several *= len(prompts)
        if not several or (prompts is not None and len(prompts) != len(several)):
            raise ServingError(
                f"{len(prompts or ())} prompts do not fit {len(several)} artifacts: "
                "give one artifact, or one for each prompt"
            )
        self._begin = [
            artifact.matcher(None if prompts is None else prompts[group], stop_ids)
            for group, artifact in enumerate(several)
        ]
        self._artifacts = several
        self.ends = [
            sorted(artifact.manifest.eos if stop_ids is None else stop_ids) for artifact in several
        ]
        self._given_length = prompt_length
        self.reset()

    def reset(self) -> None:
        """Forget the texts, for another generation."""
        self._prompt_length = self._given_length
        self._prompts: NDArray[Any] | None = None
        self.longest = 0
        self._tokens: NDArray[Any] = np.zeros((0, 0), np.int64)
        self._matchers: list[Matcher] = []

    def rows(self, ids: NDArray[Any], width: int) -> NDArray[np.int32]:
        """What may come next in each row: int32 (B, ceil(``width`` / 32)).

        ``ids``: integers (B, L), the tokens of each row, its prompt included. ``width``: the number
        of logits of a token, at least V. A text that has ended may go on with its end alone, and
        so may one with a token that its mask did not hold, as refused drafts have, and one that no
        token can go on: of the last a ``DeadEndWarning`` tells. Raises ``ServingError`` if ``ids``
        are not of the texts followed, and where a text may not go on and has no end.
        """
        self._follow(self._texts_of(ids))
        found = np.zeros((len(ids), word_count(width)), np.int32)
        fill_many(self._matchers, found)
        length = self._tokens.shape[1]
        live: list[bool] = np.any(found, axis=1).tolist()
        for row, matcher in enumerate(self._matchers):
            if live[row] and (matcher.position == length or matcher.is_finished):
                continue
            if not live[row] and matcher.position == length:
                self._tell(row)
            ends = self.ends[self._group(row)]
            put(found[row].view(np.uint32), from_ids(ends, self._artifact(row).vocab_size))
        return found

    def drafts(
        self, ids: NDArray[Any], most: int, encode: Callable[[str], Sequence[int]] | None = None
    ) -> list[int]:
        """Tokens that one row, (1, L), is to go on with, at most ``most``, as ``Drafts`` says.
        Raises ``ServingError`` as ``rows``."""
        self._follow(self._texts_of(ids))
        (matcher,) = self._matchers
        if matcher.position < self._tokens.shape[1]:
            return []
        return Drafts(self._artifact(0).vocabulary, encode).after(matcher, most)

    @property
    def have_ended(self) -> bool:
        """Whether each row of the last call had its end."""
        return all(matcher.is_finished for matcher in self._matchers)

    @property
    def problems(self) -> dict[int, str]:
        """Why rows of the last call may only end: a token was not allowed, or none is. Rows of
        drafts and of beams have such tokens without anything being wrong."""
        length = self._tokens.shape[1]
        found = {}
        for row, matcher in enumerate(self._matchers):
            if not matcher.mask().any():
                found[row] = self._dead_end(row)
            elif matcher.position < length and not matcher.is_finished:
                token_id = int(self._tokens[row, matcher.position])
                behind = matcher.position
                found[row] = f"token {token_id}, after {behind} others, is not allowed there"
        return found

    def _texts_of(self, ids: NDArray[Any]) -> NDArray[Any]:
        """The tokens after the prompts. Raises ``ServingError`` if these are other ones."""
        if ids.ndim != 2 or len(ids) % len(self._begin):
            raise ServingError(
                f"{ids.shape} ids are no rows for each of {len(self._begin)} artifacts"
            )
        length = ids.shape[1]
        if self._prompt_length is None:
            self._prompt_length = length
        begin = self._prompt_length
        if self._prompts is None:
            self._prompts = ids[:, :begin].copy()
            self.longest = max(begin, length)
        others = length < begin or (self._given_length is None and length > self.longest + 1)
        if others or not np.array_equal(ids[:, :begin], self._prompts):
            raise ServingError(
                "these are not the texts that the processor has followed: "
                "make one for each generation, or reset() it"
            )
        self.longest = max(self.longest, length)
        return ids[:, begin:]

    def _follow(self, tokens: NDArray[Any]) -> None:
        """Take ``tokens``, (B, n)."""
        count, length = tokens.shape
        known = self._tokens.shape[1]
        is_next = count == len(self._matchers) and length == known + 1
        if is_next and np.array_equal(tokens[:, :known], self._tokens):
            for matcher, token_id in zip(self._matchers, tokens[:, known].tolist(), strict=True):
                # After a refused token nothing is taken, and after the end neither.
                if matcher.position == known:
                    matcher.accept((token_id,))
        else:
            self._matchers = [self._found(row, count, tokens[row]) for row in range(count)]
        self._tokens = tokens.copy()

    def _found(self, row: int, count: int, tokens: NDArray[Any]) -> Matcher:
        """A matcher that has taken the tokens of a row, as far as they are allowed."""
        group = row * len(self._begin) // count
        known = len(self._matchers) * group // len(self._begin)
        nearest, common = self._begin[group], 0
        shared = min(len(tokens), self._tokens.shape[1])
        if shared:
            size = len(self._matchers) // len(self._begin)
            same = self._tokens[known : known + size, :shared] == tokens[:shared]
            lengths = np.where(same.all(axis=1), shared, same.argmin(axis=1))
            best = int(lengths.argmax())
            if lengths[best] > common:
                nearest = self._matchers[known + best]
        matcher = nearest.fork()
        matcher.seek(tokens.tolist())
        return matcher

    def _group(self, row: int) -> int:
        return row * len(self._begin) // len(self._matchers)

    def _artifact(self, row: int) -> Artifact:
        return self._artifacts[self._group(row)]

    def _tell(self, row: int) -> None:
        """Of a text that may not go on."""
        if self._matchers[row].is_accepting or not self.ends[self._group(row)]:
            raise ServingError(
                f"{self._dead_end(row)}, and no token ends it: give stop_ids, or compile the "
                "grammar with the EOS of the tokenizer"
            )
        warnings.warn(self._dead_end(row), DeadEndWarning, stacklevel=4)

    def _dead_end(self, row: int) -> str:
        matcher, artifact = self._matchers[row], self._artifact(row)
        place = f"row {row}, after {matcher.position} tokens, can be followed by no token"
        if matcher.is_accepting:
            return f"{place}: it is a member of the grammar"
        rules = _open_rules(artifact, matcher.taken)
        return f"{place}: it is in a dead end of the grammar" + (
            f", in {' > '.join(rules)}" if rules else ""
        )


def _open_rules(artifact: Artifact, token_ids: Sequence[int]) -> tuple[str, ...]:
    """The rules that a text has begun and not ended, where dead ends are possible."""
    if artifact.manifest.kind != GREEDY:
        return ()
    from ..kinds.maximal_munch import MaximalMunchRuntime

    assert isinstance(artifact.runtime, MaximalMunchRuntime)
    return artifact.runtime.open_rules(b"".join(map(artifact.vocabulary.token, token_ids)))
