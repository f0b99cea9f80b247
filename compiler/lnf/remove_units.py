"""Remove ε and rules that are just another rule, without losing a member.

    eliminate_nullable    A ::= B 'x' | '';  B ::= '' | 'b';   ->   A ::= B 'x' | 'x';  B ::= 'b';
                                                                    ε is a member:
                                                                    ``nullable_start``
                          A ::= B C D;  B ::= '' | 'b';        ->   A   ::= B A~1 | B | A~1;
                          C ::= '' | 'c';  D ::= '' | 'd';          A~1 ::= C D | C | D;  B ::= 'b';
                          …
    remove_units          A ::= B;  B ::= C | 'x';  C ::= 'c'; ->   A ::= 'c' | 'x';

Each nullable symbol may be there or not, which are 2^n bodies for n of them. Here a body is read
from its end, and the suffix after a nullable symbol gets a name (``A~1``) as soon as it has more
than one form: at most four bodies for each nullable symbol. Such a name that stands alone stays so
(``Lnf.suffixes``): to replace it by its bodies would make n² out of n. An automaton that matches ε
is replaced by one that does not.

The bodies that A takes over from a unit rule keep their own origins and add those of the rules they
came through. Cycles of units derive nothing new and vanish. Only what the start still reaches is
written: n options, one inside the other, are one rule with n + 1 bodies and not n rules with up to
n.
"""

from dataclasses import replace

from constrain.artifacts.tokens.memo import Made, memoised

from ..automata import regex_ir as regex
from ..automata.graphs import reached
from ..automata.thompson import without_epsilon
from ..limits import Limits
from .components import nullable_nonterminals
from .form import ENOUGH, Lnf, Origins, Production, Symbol, Terminal, few


def eliminate_nullable(lnf: Lnf) -> Lnf:
    """The grammar without ε, and whether ε was a member. Linear in the productions."""
    return _Eliminator(lnf).run()


class _Eliminator:
    def __init__(self, lnf: Lnf) -> None:
        self.lnf = lnf
        self.names, self.owners = list(lnf.names), list(lnf.owners)
        self.terminals = list(lnf.terminals)
        self.productions: list[Production] = []
        self.suffixes: set[int] = set(lnf.suffixes)
        self.nullable = {
            ~number for number, terminal in enumerate(lnf.terminals) if _matches_epsilon(terminal)
        }
        self.nullable |= nullable_nonterminals(lnf, self.nullable)
        # One result for one automaton, so that equal terminals stay equal.
        self._longer = Made(without_epsilon)

    def run(self) -> Lnf:
        """Rewrite each production on its own."""
        for head, productions in enumerate(self.lnf.by_head):
            names = 0
            for production in productions:
                names = self._rewrite(head, production, names)
        return replace(
            self.lnf,
            names=self.names,
            owners=self.owners,
            terminals=self.terminals,
            productions=sorted(self.productions, key=lambda p: p.head),
            suffixes=frozenset(self.suffixes),
            nullable_start=self.lnf.nullable_start or self.lnf.start in self.nullable,
        )

    def _rewrite(self, head: int, production: Production, names: int) -> int:
        """Add what becomes of a production; ``names`` counts the names given so far."""
        # Of all after the current place, from the end on, without ε …
        bodies: list[list[Symbol]] = []
        epsilon = True  # … and whether ε is one more
        for symbol in reversed(production.body):
            present = self._present(symbol)
            if symbol not in self.nullable:
                for body in bodies:
                    body.append(symbol)
                if epsilon:
                    bodies.append([symbol])
                epsilon = False
            elif present is not None:
                if len(bodies) > 1:
                    names += 1
                    bodies = [[self._suffix(head, bodies, production.origins, names)]]
                with_it = [[*body, present] for body in bodies]
                if epsilon:
                    with_it.append([present])
                bodies = with_it + bodies
        self._add(head, bodies, production.origins)
        return names

    def _add(self, head: int, bodies: list[list[Symbol]], origins: Origins) -> None:
        """Productions of bodies that are written from the end on."""
        self.productions.extend(Production(head, tuple(body[::-1]), origins) for body in bodies)

    def _present(self, symbol: Symbol) -> Symbol | None:
        """The symbol without ε."""
        return self._without(symbol) if symbol < 0 and symbol in self.nullable else symbol

    @memoised
    def _without(self, symbol: Symbol) -> Symbol | None:
        """What a nullable terminal becomes; None if it matched nothing but ε."""
        terminal = self.terminals[~symbol]
        content = terminal.content
        node = regex.NOTHING if isinstance(content, bytes) else self._longer[content]
        if node is regex.NOTHING:
            return None
        self.terminals.append(Terminal(node, terminal.origins))
        return ~(len(self.terminals) - 1)

    def _suffix(self, head: int, bodies: list[list[Symbol]], origins: Origins, count: int) -> int:
        """A new nonterminal for ``bodies``."""
        number = len(self.names)
        self.names.append(f"{self.names[head]}~{count}")
        self.owners.append(self.owners[head])
        self._add(number, bodies, origins)
        self.suffixes.add(number)
        return number


def _matches_epsilon(terminal: Terminal) -> bool:
    content = terminal.content
    return not content if isinstance(content, bytes) else regex.is_nullable(content)


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
    taken: dict[int, list[Production]] = {}

    def following(head: int) -> list[Symbol]:
        return [symbol for each in taken[head] for symbol in each.body if symbol >= 0]

    for head in reached([lnf.start], following):
        taken[head] = _taken_over(lnf, head, limits)
        out += taken[head]
        owner = [lnf.owners[head]]
        limits.check_memory(len(out) * _PRODUCTION_BYTES, _STAGE, owner)
        limits.check_resources(_STAGE, owner)
    return lnf.with_productions(out)


def _taken_over(lnf: Lnf, head: int, limits: Limits) -> list[Production]:
    """The bodies of ``head`` and of all that it reaches by units, depth-first."""
    found: list[Production] = []
    through: dict[int, Origins] = {head: frozenset()}
    pending = [head]
    while pending:
        number = pending.pop()
        limits.check_resources(_STAGE, [lnf.owners[head]])
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
