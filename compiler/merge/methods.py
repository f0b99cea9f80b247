"""DirectMerge or CartesianMerge, and why: what is tried first, and what after a failure."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from .. import thresholds
from ..choose import AS_ASKED
from ..diagnostics import LimitError, TokenizerError
from ..limits import Limits
from ..options import AUTO, CARTESIAN, DIRECT, CompileOptions

if TYPE_CHECKING:
    from ..tokenizers import Tokenizer


@dataclass(frozen=True, slots=True)
class MethodChoice:
    """How the canonical token sequences of a regular grammar are found, and why.

    DirectMerge ends with a table, whose masks cost a look-up; it grows with the merges that can
    fire in a grammar. CartesianMerge walks two automata while decoding, by rows that are
    precomputed as far as there is room. The boundaries
    of a pre-tokenizer after a prompt are known to the second alone, so that only its artifacts
    continue a prompt exactly.

    ``transitions``: beyond so many DirectMerge is given up; None where it is not.
    """

    method: str
    reason: str
    transitions: int | None = None

    def bounded(self, limits: Limits) -> Limits:
        """The limits of this method."""
        return limits if self.transitions is None else replace(limits, transitions=self.transitions)


def method_of(tokenizer: "Tokenizer", options: CompileOptions, *, normalizes: bool) -> MethodChoice:
    """The method to try first.

    ``normalizes``: the tokenizer's normalizers
    change characters of members, so that normal forms must be followed beside the members.
    """
    from ..tokenizers.definition import ByteLevel

    if options.method != AUTO:
        return MethodChoice(options.method, AS_ASKED)
    if tokenizer.splits:
        reason = "the tokenizer splits text, and a table knows no boundaries after a prompt"
    elif not tokenizer.byte_level:
        reason = "the tokenizer merges characters"
    elif any(
        isinstance(step, ByteLevel) and step.add_prefix_space for step in tokenizer.pre_tokenizers
    ):
        reason = "the tokenizer puts a space before a text, and a table knows no prompts"
    elif normalizes:
        reason = "a table cannot follow which characters the tokenizer would compose"
    else:
        few = min(options.limits.transitions, thresholds.BUILT_STATES)
        return MethodChoice(DIRECT, f"it has at most {few:,} transitions", few)
    return MethodChoice(CARTESIAN, reason)


def next_method(
    choice: MethodChoice, error: TokenizerError | LimitError, limits: Limits
) -> MethodChoice:
    """What is tried after a DirectMerge that failed. Raises if it was asked for, or if the limit
    is another one than that of its transitions."""
    if choice.transitions is None:
        raise error
    if isinstance(error, TokenizerError):
        return MethodChoice(CARTESIAN, f"DirectMerge cannot follow the merges ({error})")
    if limits.is_over() or error.limit != "transitions":
        raise error
    reason = f"DirectMerge has more than {choice.transitions:,} transitions"
    return MethodChoice(CARTESIAN, reason)
