"""What a caller says about a tokenizer's ids: which end a text, and how many there are."""

from collections.abc import Sequence
from typing import TypeAlias

from .diagnostics import TokenizerError
from .tokenizers import Tokenizer
from .wordpiece import WordPieceTokenizer

# What a grammar can be compiled for.
AnyTokenizer: TypeAlias = Tokenizer | WordPieceTokenizer


def eos_ids(tokenizer: AnyTokenizer, given: Sequence[int | str]) -> tuple[int, ...]:
    """Ids of the tokens that end a text: those given, else the tokenizer's own.

    Raises ``TokenizerError``.
    """
    if not given:
        if not tokenizer.eos:
            raise TokenizerError(
                f"{tokenizer.name}: no end-of-text token is known; name it with --eos"
            )
        return tokenizer.eos
    by_name = {name: i for i, name in tokenizer.added.items()}
    ids = []
    for wanted in given:
        token_id = by_name.get(str(wanted))
        if token_id is None and str(wanted).isdecimal() and len(str(wanted)) < 10:
            token_id = int(wanted)
        if token_id is None:
            found = [i for i, octets in tokenizer.tokens.items() if octets == str(wanted).encode()]
            token_id = found[0] if found else None
        if token_id is None or token_id >= tokenizer.vocab_size:
            raise TokenizerError(f"{tokenizer.name}: there is no token {wanted!r} to end a text")
        ids.append(token_id)
    return tuple(sorted(set(ids)))


def padded_size(tokenizer: AnyTokenizer, wanted: int | None) -> int:
    """The size asked for, else the tokenizer's. Raises ``TokenizerError`` if it is too small."""
    if wanted is not None and wanted < tokenizer.vocab_size:
        raise TokenizerError(
            f"{tokenizer.name}: a vocabulary of {wanted} is too small for token "
            f"{tokenizer.vocab_size - 1}"
        )
    return wanted or tokenizer.vocab_size
