"""In which of the author's rules a production lies, though its rule may have been replaced.

    v ::= a | 'x';  a ::= '[' v ']';    the normal form has   v ::= '[' v ']'    path: v > a

Where a rule was replaced by another's bodies, these name the places of both. They are put in
order by how far the rules are from the production's own, as the author's rules use each other.
"""

from ..lnf.form import Lnf, Production


class RulePaths:
    """Numbers the rules of a grammar. ``names``: by number."""

    def __init__(self, lnf: Lnf) -> None:
        self._owners = lnf.owners
        found = {rule for p in lnf.productions for rule, _, _ in p.origins} | {*lnf.owners}
        self.names = tuple(sorted(found))
        self._number = {name: number for number, name in enumerate(self.names)}
        authored = lnf.authored or lnf
        self._uses: dict[str, set[str]] = {}
        for production in authored.productions:
            used = {authored.owners[symbol] for symbol in production.body if symbol >= 0}
            self._uses.setdefault(authored.owners[production.head], set()).update(used)
        self._distances: dict[str, dict[str, int]] = {}

    def of(self, production: Production) -> list[int]:
        """The rules that a production lies in, the outermost first."""
        owner = self._owners[production.head]
        others = {rule for rule, _, _ in production.origins} - {owner}
        ordered = [owner]
        if others:
            distance = self._distances_from(owner)
            ordered += sorted(others, key=lambda rule: (distance.get(rule, len(distance)), rule))
        return [self._number[rule] for rule in ordered]

    def _distances_from(self, rule: str) -> dict[str, int]:
        if rule not in self._distances:
            found = {rule: 0}
            pending = [rule]
            for name in pending:
                for other in sorted(self._uses.get(name, ())):
                    if other not in found:
                        found[other] = found[name] + 1
                        pending.append(other)
            self._distances[rule] = found
        return self._distances[rule]
