"""Remove what never contributes to a member.

    S ::= 'ab' S | 'ab' A | B;             S ::= 'ab' S | 'ab' A;
    S ::= S;                        ->     A ::= 'c';
    A ::= 'c' E;  E ::= '';
    B ::= 'a' B;
    C ::= 'dc';

``S ::= S`` derives nothing new, ``B`` never ends, ``C`` cannot be reached, and ``E`` adds no
text. The start may lose everything: then the language is empty, which is an error.

"Implementing a Constrained Decoding Engine" keeps ``B``, to describe texts without an end.
Here a mask that led into it would lead into a dead end.
"""

from collections.abc import Iterable

from ..automata import regex_ir as regex
from ..automata.graphs import reached
from ..diagnostics import CheckError, Diagnostic, Span
from .components import derivable
from .form import Lnf, Production, Symbol


def remove_useless(lnf: Lnf) -> Lnf:
    """The grammar without unproductive, unreachable, empty and self-deriving parts.

    Linear in the grammar's size. Raises ``CheckError`` if the start has no finite member.
    """
    productive = derivable(
        (p.head, {s for s in p.body if s >= 0 or _is_nothing(lnf, s)}) for p in lnf.productions
    )
    if lnf.start not in productive and not lnf.nullable_start:
        raise CheckError(lnf.source, [_empty_language(lnf)])
    useful = [
        p
        for p in lnf.productions
        if p.body != (p.head,) and all(s in productive or _is_text(lnf, s) for s in p.body)
    ]
    with_text = _with_text(lnf, useful)

    def adds_text(symbol: Symbol) -> bool:
        return symbol in with_text if symbol >= 0 else not _is_epsilon(lnf, symbol)

    useful = [p.with_symbols(p.head, tuple(filter(adds_text, p.body))) for p in useful]
    useful = [p for p in useful if p.body != (p.head,)]
    reachable = _reachable(lnf.start, useful)
    return lnf.with_productions(p for p in useful if p.head in reachable)


def _with_text(lnf: Lnf, productions: Iterable[Production]) -> set[int]:
    """Nonterminals that derive some text besides ε (all are productive)."""
    users: dict[int, list[int]] = {}
    heads: list[int] = []
    for production in productions:
        for symbol in production.body:
            if symbol >= 0:
                users.setdefault(symbol, []).append(production.head)
            elif not _is_epsilon(lnf, symbol):
                heads.append(production.head)
    return set(reached(heads, lambda head: users.get(head, ())))


def _reachable(start: int, productions: Iterable[Production]) -> set[int]:
    uses: dict[int, list[int]] = {}
    for production in productions:
        uses.setdefault(production.head, []).extend(s for s in production.body if s >= 0)
    return set(reached([start], lambda number: uses.get(number, ())))


def _is_text(lnf: Lnf, symbol: Symbol) -> bool:
    return symbol < 0 and not _is_nothing(lnf, symbol)


def _is_nothing(lnf: Lnf, symbol: Symbol) -> bool:
    """Whether a terminal matches no text at all, as a class without characters does."""
    content = lnf.terminals[~symbol].content
    return isinstance(content, regex.Alt) and not content.options


def _is_epsilon(lnf: Lnf, symbol: Symbol) -> bool:
    content = lnf.terminals[~symbol].content
    return not content if isinstance(content, bytes) else content is regex.EPSILON


def _empty_language(lnf: Lnf) -> Diagnostic:
    """Recursion without an end, or else a terminal that matches no text."""
    message = f"rule {lnf.names[lnf.start]!r} is an empty language: no finite text matches it"
    own = lnf.by_head[lnf.start]
    hint = "give the recursion an alternative that ends"
    reachable = _reachable(lnf.start, lnf.productions)
    wrong = [
        p
        for p in lnf.productions
        if p.head in reachable and any(s < 0 and _is_nothing(lnf, s) for s in p.body)
    ]
    if wrong:
        own = wrong
        hint = "no text matches what stands here, as of a class such as [^\\s\\S]"
    spans = [Span(start, end) for p in own for _, start, end in p.origins]
    return Diagnostic(message, min(spans, default=None), hint)
