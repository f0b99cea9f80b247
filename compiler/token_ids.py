"""Which of a tokenizer's tokens a grammar stands on: its token terminals.

    <think> !<[7]> "ab"   ->   ids of each terminal; byte DFA over disjoint classes of ids
                               refused: names that the tokenizer has not

A name is first looked for among the added tokens, then among all others by their text. A
negated terminal stands for all tokens but those named and those that end a text: a grammar
allows these by their own names alone.
"""

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from constrain.artifacts.errors import visible

from .automata.dfa import Dfa, TokenIds
from .automata.token_classes import over_classes
from .diagnostics import CheckError, Diagnostic, closest
from .grammar.added_text import other_style
from .grammar.tree import Grammar, Token
from .limits import Limits
from .options import ArtifactRequest
from .tokenizers.load import DEFAULT_NAME

_STAGE = "the table of token terminals"

WITHOUT_TOKEN = "there is no member: every one needs a token that the tokenizer has not"

if TYPE_CHECKING:
    from .frontend import Automaton
    from .schema.rules.deferred import Deferred
    from .tokenizers import Tokenizer


@dataclass(frozen=True, slots=True, eq=False)
class TokenColumns:
    """A byte DFA over a tokenizer's tokens.

    ``classes``: the ids of each token column of ``dfa``, ascending; disjoint. ``notes``: for the
    user.
    """

    dfa: Dfa
    classes: Sequence[TokenIds] = ()
    notes: tuple[str, ...] = ()


def columns_of(automaton: "Automaton", request: ArtifactRequest["Tokenizer"]) -> TokenColumns:
    """The DFA of an automaton over disjoint classes of tokens in place of token terminals.

    Raises ``CheckError`` if a terminal names what the tokenizer has not, or if no member is left,
    and ``LimitError``.
    """
    terminals = token_ids(automaton.grammar, request.tokenizer, request.eos, request.limits)
    if not terminals:
        return TokenColumns(automaton.dfa)
    dfa, classes = over_classes(automaton.dfa, terminals, request.limits, automaton.rules)
    if dfa.is_empty:
        raise CheckError(automaton.grammar.source, [Diagnostic(WITHOUT_TOKEN)])
    notes = unreachable_ends(dfa, classes, request.tokenizer, request.eos)
    return TokenColumns(dfa, classes, tuple(notes))


def token_ids(
    grammar: "Grammar | Deferred",
    tokenizer: "Tokenizer",
    eos: Iterable[int],
    limits: Limits | None = None,
) -> list[TokenIds]:
    """The ids of each of ``grammar.tokens``, ascending.

    Raises ``CheckError`` with every terminal that names what the tokenizer has not, and
    ``LimitError``: there may be as many terminals that name all tokens but one as there are tokens.
    """
    if not grammar.tokens:
        return []
    limits = limits or Limits()
    blamed, size = [*grammar.longest_rule()], 0
    numbers = _numbers_of(tokenizer, {n for t in grammar.tokens for n in (t.name, *t.also)})
    known = tokenizer.known
    others = known.copy()
    others[[i for i in eos if i < len(others)]] = False
    found: list[TokenIds] = []
    wrong: list[Diagnostic] = []
    for token in grammar.tokens:
        named = np.zeros_like(known)
        try:
            for low, high in _ranges(token, tokenizer, numbers):
                _check_ids(token, low, high, known)
                named[low : high + 1] = True
        except _UnknownToken as reason:
            help_ = reason.help
            if other := other_style(grammar.source, token.span):
                help_ = f"{other} writes it as text"
                if tokenizer.name == DEFAULT_NAME:
                    help_ = f"{reason.help}, or {help_}"
                if wrong:
                    continue  # Of a style one token is enough.
            wrong.append(Diagnostic(reason.message, token.span, help_))
        ids = np.flatnonzero(others & ~named if token.negated else known & named)
        size += 4 * len(ids)
        limits.check_memory(size, _STAGE, blamed)
        limits.check_resources(_STAGE, blamed)
        found.append(ids.astype(np.int32))
    if wrong:
        raise CheckError(grammar.source, wrong)
    return found


def unreachable_ends(
    dfa: Dfa, classes: Sequence[TokenIds], tokenizer: "Tokenizer", eos: Sequence[int]
) -> list[str]:
    """A note for each token that the grammar goes on with where it ends the text."""
    going_on = (dfa.table[dfa.accepting, dfa.byte_columns :] != 0).any(axis=0)
    return [
        f"the token {tokenizer.added.get(i, i)} ends the text wherever the text may end: what the "
        "grammar has after it there is never reached"
        for ids, goes_on in zip(classes, going_on.tolist(), strict=True)
        for i in (ids[np.isin(ids, list(eos))].tolist() if goes_on else ())
    ]


class _UnknownToken(Exception):  # noqa: N818
    """A terminal that names no token; ``token_ids`` adds the place."""

    def __init__(self, message: str, hint: str) -> None:
        self.message, self.help = message, hint
        super().__init__(message)


def _ranges(
    token: Token, tokenizer: "Tokenizer", numbers: Mapping[str, int]
) -> tuple[tuple[int, int], ...]:
    if token.name is None:
        return token.ids
    found = []
    for each in (token.name, *token.also):
        number = numbers.get(each) if isinstance(each, str) else each
        if number is None:
            raise _unknown(str(each), tokenizer)
        found.append((number, number))
    return tuple(found)


def _numbers_of(tokenizer: "Tokenizer", names: Set[str | int | None]) -> dict[str, int]:
    """The ids of tokens by their names: of added tokens, else the first that is spelled so."""
    found = {name: i for i, name in tokenizer.added.items() if name in names}
    spelled = {n.encode("utf-8"): n for n in names if isinstance(n, str) and n not in found}
    if spelled:
        for i, octets in sorted(tokenizer.tokens.items()):
            if octets in spelled:
                found.setdefault(spelled[octets], i)
    return found


def _unknown(name: str, tokenizer: "Tokenizer") -> _UnknownToken:
    close = closest(name, tokenizer.added.values())
    named = f"did you mean {close}?" if close else "name it by its id, as in <[12]>"
    if tokenizer.name == DEFAULT_NAME:
        named = "name the model's own tokenizer with --tokenizer"
    return _UnknownToken(f"{visible(tokenizer.name)} has no token {name}", named)


def _check_ids(token: Token, low: int, high: int, known: NDArray[np.bool_]) -> None:
    if high >= len(known) or not known[low : high + 1].any():
        first = np.flatnonzero(known)
        raise _UnknownToken(
            f"{token.text}: there is no token {high if high >= len(known) else low}",
            f"this tokenizer has the ids {first[0]} to {first[-1]}",
        )
