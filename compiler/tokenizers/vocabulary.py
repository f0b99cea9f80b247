"""Rules of vocabularies that all formats share: valid ids, and which token ends a text."""

from collections.abc import Iterable, Mapping

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


def check_ids(named: Iterable[tuple[str, object]]) -> None:
    """Check (name, id) pairs: ids are numbers that masks can have bits for, each of one token.

    Raises ``TokenizerError``, and ``ValueError`` for names that are no text (lone surrogates).
    """
    name_of: dict[int, str] = {}
    for name, token_id in named:
        if type(token_id) is not int or token_id < 0:
            raise TokenizerError("the vocabulary is damaged: an id is not a number from 0 on")
        if token_id > LARGEST_ID:
            raise TokenizerError(f"the vocabulary is damaged: ids go from 0 to {LARGEST_ID:,}")
        if name_of.setdefault(token_id, name) != name:
            raise TokenizerError(f"the vocabulary is damaged: two tokens have id {token_id}")
    "".join(name_of.values()).encode("utf-8")


def eos_ids(by_name: Mapping[str, int], configured: str | None) -> tuple[int, ...]:
    """The id that ends a text, if there is one: by a configured name, else by convention."""
    names = (configured,) if configured else _WELL_KNOWN_EOS
    return next(((by_name[name],) for name in names if name in by_name), ())
