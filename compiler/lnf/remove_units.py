"""Replace rules that are just another rule.

    A ::= B;  B ::= C | 'x';  C ::= 'c';    ->    A ::= 'c' | 'x';

The bodies that A takes over keep their own origins and add those of the unit rules they
came through. Cycles of units derive nothing new and vanish. Only what the start still
reaches is written: n options, one inside the other, are one rule with n + 1
bodies and not n rules with up to n.

A name for a suffix of a body (``Lnf.suffixes``) stays where its own body has it alone.
"""

from ..limits import Limits
from .form import ENOUGH, Lnf, Origins, Production, few

_STAGE = "the normal form"

# What a production and its body take, roughly.
_PRODUCTION_BYTES = 250


def remove_units(lnf: Lnf, limits: Limits | None = None) -> Lnf:
    """The grammar without bodies that are a single nonterminal.

    Units in a row that each have other bodies, too, make it grow quadratically: raises
    ``LimitError`` (memory, time) naming the rule.
    """
    limits = (limits or Limits()).started()
    out: list[Production] = []
    seen = {lnf.start}
    pending = [lnf.start]
    for head in pending:
        for production in _taken_over(lnf, head):
            out.append(production)
            for symbol in production.body:
                if symbol >= 0 and symbol not in seen:
                    seen.add(symbol)
                    pending.append(symbol)
        owner = [lnf.owners[head]]
        limits.check_memory(len(out) * _PRODUCTION_BYTES, _STAGE, owner)
        limits.check_time(_STAGE, owner)
    return lnf.with_productions(out)


def _taken_over(lnf: Lnf, head: int) -> list[Production]:
    """The bodies of ``head`` and of all that it reaches by units, depth-first."""
    found: list[Production] = []
    through: dict[int, Origins] = {head: frozenset()}
    pending = [head]
    while pending:
        number = pending.pop()
        units: list[int] = []
        for production in lnf.by_head[number]:
            own = number == head and production.body[:1] != (head,)
            stays = own and lnf.is_suffix(production)
            if len(production.body) != 1 or production.body[0] < 0 or stays:
                origins = production.origins
                if through[number]:
                    origins = few(origins | through[number])
                found.append(Production(head, production.body, origins))
            elif production.body[0] not in through:
                target = production.body[0]
                through[target] = _joined(through[number], production.origins)
                units.append(target)
        pending.extend(reversed(units))
    return found


def _joined(through: Origins, step: Origins) -> Origins:
    """The origins of one unit more; one place a rule is enough to name it."""
    if len(through) >= ENOUGH:
        return through
    named = {rule for rule, _, _ in through}
    new = frozenset(origin for origin in step if origin[0] not in named)
    return through | new if new else through
