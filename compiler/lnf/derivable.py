"""What follows from productions read as Horn clauses, in linear time.

After Dowling and Gallier, "Linear-time algorithms for testing the satisfiability of propositional
Horn formulae" (1984): each clause counts the premises that it still lacks.
"""

from collections.abc import Collection, Iterable

from .form import Lnf, Symbol


def derivable(clauses: Iterable[tuple[int, set[Symbol]]]) -> set[int]:
    """The heads with a body of which all symbols are derivable heads.

    Each clause is a head and the symbols of its body that are not granted; of these terminals
    are never derivable.
    """
    waiting: dict[Symbol, list[int]] = {}
    missing: list[int] = []
    heads: list[int] = []
    ready: list[int] = []
    for number, (head, needed) in enumerate(clauses):
        missing.append(len(needed))
        heads.append(head)
        for symbol in needed:
            waiting.setdefault(symbol, []).append(number)
        if not needed:
            ready.append(number)
    found: set[int] = set()
    while ready:
        head = heads[ready.pop()]
        if head in found:
            continue
        found.add(head)
        for number in waiting.get(head, ()):
            missing[number] -= 1
            if not missing[number]:
                ready.append(number)
    return found


def nullable_nonterminals(lnf: Lnf, terminals: Collection[Symbol]) -> set[int]:
    """Those that derive ε, where just these terminals match it."""
    return derivable((p.head, {s for s in p.body if s not in terminals}) for p in lnf.productions)
