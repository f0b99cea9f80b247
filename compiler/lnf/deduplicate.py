"""Join equal alternatives.

    A ::= 'a' | 'b' | 'a';    ->    A ::= 'a' | 'b';

Equal means: the same symbols; texts compare by content. Origins add up.
"""

from dataclasses import replace

from .form import Lnf, Production


def deduplicate(lnf: Lnf) -> Lnf:
    """The grammar with distinct bodies for each nonterminal; the first of equals stays."""
    kept: dict[tuple[object, ...], Production] = {}
    for production in lnf.productions:
        key = (production.head, *lnf.body_key(production.body))
        if key in kept:
            origins = kept[key].origins | production.origins
            kept[key] = replace(kept[key], origins=origins)
        else:
            kept[key] = production
    return lnf.with_productions(kept.values())
