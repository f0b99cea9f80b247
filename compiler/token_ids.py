"""What a caller says about a tokenizer's ids: which end a text, and how many there are.

Which tokens of a tokenizer the token terminals of a grammar stand for.

A name is first looked for among the added tokens, then among all others by their text. A
negated terminal stands for all tokens but those named and those that end a text: these are
for the grammar to ask for, by their own names.
"""

from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from typing import TYPE_CHECKING, TypeAlias, Union

import numpy as np
from numpy.typing import NDArray

from .automata.dfa import Dfa, TokenIds
from .diagnostics import CheckError, Diagnostic, TokenizerError
from .grammar.tree import Grammar, Token
from .tokenizers import Tokenizer

if TYPE_CHECKING:
    from .wordpiece import WordPieceTokenizer

# What a grammar can be compiled for.
AnyTokenizer: TypeAlias = Union[Tokenizer, "WordPieceTokenizer"]


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


def token_ids(grammar: Grammar, tokenizer: Tokenizer, eos: Iterable[int]) -> list[TokenIds]:
    """The ids of each of ``grammar.tokens``, ascending.

    Raises ``CheckError`` with every terminal that names what the tokenizer has not.
    """
    if not grammar.tokens:
        return []
    known = np.zeros(tokenizer.vocab_size, dtype=np.bool_)
    known[[*tokenizer.tokens, *tokenizer.added]] = True
    others = known.copy()
    others[[i for i in eos if i < len(others)]] = False
    found: list[TokenIds] = []
    wrong: list[Diagnostic] = []
    for token in grammar.tokens:
        named = np.zeros_like(known)
        try:
            for low, high in _ranges(token, tokenizer):
                _check_ids(token, low, high, known)
                named[low : high + 1] = True
        except _UnknownToken as reason:
            wrong.append(Diagnostic(reason.message, token.span, reason.help))
        ids = np.flatnonzero(others & ~named if token.negated else known & named)
        found.append(ids.astype(np.int32))
    if wrong:
        raise CheckError(grammar.source, wrong)
    return found


def unreachable_ends(
    dfa: Dfa, classes: Sequence[TokenIds], tokenizer: Tokenizer, eos: Sequence[int]
) -> list[str]:
    """A note for each token that the grammar goes on with where it ends the text."""
    going_on = (dfa.table[dfa.accepting, dfa.byte_columns :] != 0).any(axis=0)
    return [
        f"the token {tokenizer.added.get(i, i)} ends the text wherever the text may end: what the "
        "grammar has behind it there is never reached"
        for ids, goes_on in zip(classes, going_on.tolist(), strict=True)
        for i in (ids[np.isin(ids, list(eos))].tolist() if goes_on else ())
    ]


class _UnknownToken(Exception):  # noqa: N818
    """A terminal that names no token; ``token_ids`` adds the place."""

    def __init__(self, message: str, hint: str) -> None:
        self.message, self.help = message, hint
        super().__init__(message)


def _ranges(token: Token, tokenizer: Tokenizer) -> tuple[tuple[int, int], ...]:
    if token.name is None:
        return token.ids
    by_name = {name: i for i, name in tokenizer.added.items()}
    number = by_name.get(token.name)
    if number is None:
        wanted = token.name.encode("utf-8")
        spelled = [i for i, octets in tokenizer.tokens.items() if octets == wanted]
        number = min(spelled, default=None)
    if number is None:
        close = get_close_matches(token.name, sorted(by_name), n=1)
        named = f"did you mean {close[0]}?" if close else "name it by its id, as in <[12]>"
        raise _UnknownToken(f"{tokenizer.name} has no token {token.name}", named)
    return ((number, number),)


def _check_ids(token: Token, low: int, high: int, known: NDArray[np.bool_]) -> None:
    if high >= len(known) or not known[low : high + 1].any():
        first = np.flatnonzero(known)
        raise _UnknownToken(
            f"{token.text}: there is no token {high if high >= len(known) else low}",
            f"this tokenizer has the ids {first[0]} to {first[-1]}",
        )
