"""Replace rules that are just another rule.

    A ::= B;  B ::= C | 'x';  C ::= 'c';    ->    A ::= 'c' | 'x';  B ::= 'c' | 'x';  C ::= 'c';

The bodies that A takes over keep their own origins and add those of the unit rules they
came through. Cycles of units derive nothing new and vanish.
"""

from .form import Lnf, Origins, Production


def remove_units(lnf: Lnf) -> Lnf:
    """The grammar without bodies that are a single nonterminal."""
    units: list[list[Production]] = []
    others: list[list[Production]] = []
    for productions in lnf.by_head:
        units.append([p for p in productions if len(p.body) == 1 and p.body[0] >= 0])
        others.append([p for p in productions if not (len(p.body) == 1 and p.body[0] >= 0)])
    out: list[Production] = []
    for head in range(len(lnf.names)):
        seen: dict[int, Origins] = {head: frozenset()}
        pending = [head]
        while pending:
            number = pending.pop()
            through = seen[number]
            out.extend(Production(head, p.body, p.origins | through) for p in others[number])
            for unit in reversed(units[number]):
                target = unit.body[0]
                if target not in seen:
                    seen[target] = through | unit.origins
                    pending.append(target)
    return lnf.with_productions(out)
