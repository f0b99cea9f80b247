"""Rules of vocabularies that all formats share: valid ids, and which token ends a text."""

from collections.abc import Mapping, Sequence

from ..diagnostics import TokenizerError

# Names of tokens that end a text by convention, where no configuration names one.
_WELL_KNOWN_EOS = (
    "<|endoftext|>",
    "</s>",
    "<|end_of_text|>",
    "<|eot_id|>",
    "<|im_end|>",
    "<eos>",
    "<|endofprompt|>",
    "<|end|>",
    "<｜end▁of▁sentence｜>",
    "<|END_OF_TURN_TOKEN|>",
    "[EOS]",
)

# Masks have a bit for each id up to the highest; real vocabularies are far below this.
LARGEST_ID = 9_999_999


def check_ids(names: Sequence[str], ids: Sequence[object]) -> None:
    """Check the ids of names: they are numbers that masks can have bits for, each of one token.

    Raises ``TokenizerError``, and ``ValueError`` for names that are no text (lone surrogates).
    """
    numbers = [i for i in ids if type(i) is int]
    if len(numbers) < len(ids) or min(numbers, default=0) < 0:
        raise TokenizerError("the vocabulary is damaged: an id is not a number from 0 on")
    if max(numbers, default=0) > LARGEST_ID:
        raise TokenizerError(f"the vocabulary is damaged: ids go from 0 to {LARGEST_ID:,}")
    if len(name_of := dict(zip(numbers, names, strict=True))) < len(numbers):
        for token_id, name in zip(numbers, names, strict=True):
            if name_of[token_id] != name:
                raise TokenizerError(f"the vocabulary is damaged: two tokens have id {token_id}")
    "".join(names).encode("utf-8")


def eos_ids(by_name: Mapping[str, int], configured: str | None) -> tuple[int, ...]:
    """The id that ends a text, if there is one: by a configured name, else by convention."""
    names = (configured,) if configured else _WELL_KNOWN_EOS
    return next(((by_name[name],) for name in names if name in by_name), ())
