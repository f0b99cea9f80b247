"""Merge what is equal: alternatives of one nonterminal, and nonterminals with the same productions.

    deduplicate            A ::= 'a' | 'b' | 'a';                        ->   A ::= 'a' | 'b';
    merge_nonterminals     A ::= B | C;  B ::= 'a';  C ::= 'a';          ->   A ::= B | B;  B ::= …
                           A ::= B C;  B ::= '' | B 'x';  C ::= '' | C 'x';
                                                                         ->   A ::= B B;  B ::= …

Alternatives are equal if they have the same symbols; texts compare by content. Origins add up,
those of the production and those of each text in it.

Nonterminals have the same productions if they share a block of the coarsest partition in which
members of one block have the same set of bodies once nonterminals are replaced by their blocks. All
begin in one block; blocks split until nothing changes. Productions are put in classes too, equal
ones together, so that a step costs only as much as has changed: a nonterminal that moves to a new
block changes the productions it stands in, and a production that moves to a new class changes its
head. Where something splits, the largest part keeps the old number, so each moves at most log n
times. The first of equals by number stays, which is one with a name of its own if there is any; the
start always stays.

Source: Paige and Tarjan, "Three Partition Refinement Algorithms" (1987), section 3, with counts
that
tell when the last production of a class has left a head.
"""

from collections import Counter
from collections.abc import Hashable, Mapping
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


def merge_nonterminals(lnf: Lnf) -> Lnf:
    """The grammar without two nonterminals whose productions are the same."""
    first: dict[int, int] = {}
    block_of = _blocks(lnf)
    for head in sorted(block_of, key=lambda head: (head != lnf.start, head)):
        first.setdefault(block_of[head], head)
    name = {head: first[block] for head, block in block_of.items()}
    if all(head == same for head, same in name.items()):
        return lnf
    productions = [
        p.with_symbols(name[p.head], tuple([name.get(s, s) for s in p.body]))
        for p in lnf.productions
    ]
    suffixes = frozenset(name[suffix] for suffix in lnf.suffixes if suffix in name)
    return replace(lnf.with_productions(productions), suffixes=suffixes)


def _blocks(lnf: Lnf) -> dict[int, int]:
    """The block of each nonterminal that has productions."""
    productions = lnf.productions
    uses: dict[int, list[tuple[int, int]]] = {}
    for number, production in enumerate(productions):
        for place, symbol in enumerate(production.body):
            if symbol >= 0:
                uses.setdefault(symbol, []).append((number, place))
    # Nonterminals without productions are like texts: each equals only itself.
    defined = {p.head for p in productions}
    any_defined = len(lnf.names)
    shapes: dict[Hashable, int] = {}
    classes = _Partition()
    for number, production in enumerate(productions):
        body = tuple(any_defined if s in defined else s for s in production.body)
        classes.add(number, shapes.setdefault(lnf.body_key(body), len(shapes)))
    heads = _Partition()
    for head in sorted(defined):
        heads.add(head, 0)
    held = Counter((p.head, classes.block_of[number]) for number, p in enumerate(productions))

    sets: dict[int, set[int]] = {}
    for head, block in held:
        sets.setdefault(head, set()).add(block)
    moved_heads = heads.split({head: frozenset(found) for head, found in sets.items()})
    while moved_heads:
        places: dict[int, list[tuple[int, int]]] = {}
        for head in moved_heads:
            for number, place in uses.get(head, ()):
                places.setdefault(number, []).append((place, heads.block_of[head]))
        # All of a class were equal, so they still are if the same places changed alike.
        moved = classes.split({number: tuple(sorted(new)) for number, new in places.items()})
        gained: dict[int, set[int]] = {}
        lost: dict[int, set[int]] = {}
        for number, old in moved.items():
            head, new_class = productions[number].head, classes.block_of[number]
            held[head, old] -= 1
            held[head, new_class] += 1
            gained.setdefault(head, set()).add(new_class)
            if not held[head, old]:
                lost.setdefault(head, set()).add(old)
        moved_heads = heads.split(
            {head: (frozenset(new), frozenset(lost.get(head, ()))) for head, new in gained.items()}
        )
    return heads.block_of


class _Partition:
    """Items in numbered blocks, which split and never join."""

    def __init__(self) -> None:
        self.block_of: dict[int, int] = {}
        self._members: dict[int, set[int]] = {}

    def add(self, item: int, block: int) -> None:
        self.block_of[item] = block
        self._members.setdefault(block, set()).add(item)

    def split(self, changes: Mapping[int, Hashable]) -> dict[int, int]:
        """Keep items of one block together only if they changed alike; not to change is alike.

        The items that moved, with their old blocks. Takes time by the number of changes: the
        unchanged are only looked at where they are not more than some that changed.
        """
        groups: dict[int, dict[Hashable, list[int]]] = {}
        for item, change in changes.items():
            groups.setdefault(self.block_of[item], {}).setdefault(change, []).append(item)
        moved: dict[int, int] = {}
        for block, alike in groups.items():
            members = self._members[block]
            parts = sorted(alike.values(), key=len)
            unchanged = len(members) - sum(map(len, parts))
            if unchanged <= len(parts[-1]):
                largest = set(parts.pop())
                unmoved = members.difference(largest, *parts)
                if unmoved:
                    parts.append(sorted(unmoved))
            for part in parts:
                number = len(self._members)
                self._members[number] = set(part)
                members.difference_update(part)
                for item in part:
                    self.block_of[item] = number
                    moved[item] = block
        return moved
