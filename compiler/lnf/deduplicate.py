"""Join equal alternatives.

    A ::= 'a' | 'b' | 'a';    ->    A ::= 'a' | 'b';

Equal means: the same symbols; texts compare by content. Origins add up, those of the
production and those of each text in it.
"""

from dataclasses import replace

from .form import Lnf, Production, Symbol, Terminal, few


def deduplicate(lnf: Lnf) -> Lnf:
    """The grammar with distinct bodies for each nonterminal; the first of equals stays."""
    equal: dict[tuple[object, ...], list[Production]] = {}
    for production in lnf.productions:
        key = (production.head, *lnf.body_key(production.body))
        equal.setdefault(key, []).append(production)
    terminals = list(lnf.terminals)
    joined = [_joined(productions, terminals) for productions in equal.values()]
    return lnf.with_productions(joined, terminals)


def _joined(productions: list[Production], terminals: list[Terminal]) -> Production:
    first = productions[0]
    if len(productions) == 1:
        return first
    origins = few(frozenset().union(*{p.origins for p in productions}))
    columns = zip(*(p.body for p in productions), strict=True)
    body = tuple(_joined_symbol(column, terminals) for column in columns)
    return replace(first, body=body, origins=origins)


def _joined_symbol(equal: tuple[Symbol, ...], terminals: list[Terminal]) -> Symbol:
    """One symbol for equal ones; a new terminal if they are texts from several places."""
    first = equal[0]
    if first >= 0:
        return first
    origins = frozenset().union(*{terminals[~symbol].origins for symbol in equal})
    if origins == terminals[~first].origins:
        return first
    terminals.append(Terminal(terminals[~first].content, origins))
    return ~(len(terminals) - 1)
