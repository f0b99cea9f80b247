"""Join equal alternatives.

    A ::= 'a' | 'b' | 'a';    ->    A ::= 'a' | 'b';

Equal means: the same symbols; texts compare by content. Origins add up.
"""

from dataclasses import replace

from .form import Lnf, Production


def deduplicate(lnf: Lnf) -> Lnf:
    """The grammar with distinct bodies for each nonterminal; the first of equals stays."""
    equal: dict[tuple[object, ...], list[Production]] = {}
    for production in lnf.productions:
        key = (production.head, *lnf.body_key(production.body))
        equal.setdefault(key, []).append(production)
    return lnf.with_productions(_joined(productions) for productions in equal.values())


def _joined(productions: list[Production]) -> Production:
    if len(productions) == 1:
        return productions[0]
    origins = frozenset().union(*(p.origins for p in productions))
    return replace(productions[0], origins=origins)
