"""Write repetitions and options as rules.

    A ::= B (0 or 1 times);         ->    A ::= "" | B;
    A ::= B (0 or more times);      ->    A ::= "" | A B;
    A ::= B (1 or more times);      ->    A ::= B | A B;
    A ::= B (2 to 4 times);         ->    A ::= B B A+1;  A+1 ::= "" | B A+2;  A+2 ::= "" | B;
    A ::= B (2 or more times);      ->    A ::= B B | A B;

The rules are left-recursive, as an Earley recogniser likes them. A nonterminal with a
repetition has no other production (``flatten_nested`` sees to it), except where one name is
defined twice; then the repetition moves to a nonterminal of its own first.
"""

from dataclasses import replace

from .form import ONCE, Lnf, Production


def expand_repetitions(lnf: Lnf) -> Lnf:
    """The grammar without repetitions; a count m to n grows it by n symbols."""
    names, owners = list(lnf.names), list(lnf.owners)
    out: list[Production] = []
    for number, productions in enumerate(lnf.by_head):
        for production in productions:
            if production.times == ONCE:
                out.append(production)
                continue
            head = number
            if len(productions) > 1:
                head = len(names)
                names.append(f"{names[number]}/{head}")
                owners.append(owners[number])
                out.append(Production(number, (head,), production.origins))
            out.extend(_expand(replace(production, head=head), names, owners))
    ordered = sorted(out, key=lambda p: p.head)
    return replace(lnf, names=names, owners=owners, productions=ordered)


def _expand(production: Production, names: list[str], owners: list[str]) -> list[Production]:
    head, body, origins = production.head, production.body, production.origins
    low, high = production.times
    if high is None:
        return [
            Production(head, body * low, origins),
            Production(head, (head, *body), origins),
        ]
    if (low, high) == (0, 1):
        return [Production(head, (), origins), Production(head, body, origins)]
    out: list[Production] = []
    required = body * low
    for extra in range(high - low):
        optional = len(names)
        names.append(f"{names[production.head]}+{extra + 1}")
        owners.append(owners[production.head])
        out.append(Production(head, (*required, optional), origins))
        out.append(Production(optional, (), origins))
        head, required = optional, body
    out.append(Production(head, required, origins))
    return out
