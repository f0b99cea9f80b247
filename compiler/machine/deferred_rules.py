"""Rules that are made when they are first read, numbered as ``Rules`` are.

    #/properties/age ::= integer      made and numbered when a state first stands in front of it

Each has a text that is not empty, none begins with itself, and all are reached
(``compiler/schema/keywords/plain.py``). Nothing is known of them all, so whether one is called is a
matter of its own: a value or a text of many places is, as its states are then made once. What has
few is copied, and parts of one value, and texts that may go on where they end, as numbers.
"""

from collections.abc import Container, Generator

from constrain.artifacts.tokens.memo import Made, solve_recursive
from constrain.artifacts.tokens.sharing import weakly

from ..automata.nfa import matches_empty
from ..grammar.tree import Repetition
from ..limits import Limits
from ..network.tree_expressions import ALL, AUTOMATON, LITERAL, ORDERS, RULE, TIMES
from ..network.tree_plan import goes_on
from ..network.tree_rules import Loop, Rules, states_of_leaf
from ..schema.rules.deferred import Deferred
from ..thresholds import MANY


class DeferredRules(Rules):
    """The rules of ``deferred``, those alone that were read so far. Expressions keep their numbers,
    and new ones come after. Raises what reading a rule raises."""

    def __init__(self, deferred: Deferred, limits: Limits) -> None:
        self._deferred, self._limits, self._longest = deferred, limits, ()
        self.terminals = len(deferred.tokens)
        self._tokens = {token.meaning: i for i, token in enumerate(deferred.tokens)}
        self.kinds, self.parts, self.contents = [], [], []
        self._characters, self._times, self.counted = {}, {}, frozenset()
        self._done: dict[int, int] = {}
        self.names = []
        self._numbers = Made(weakly(self._named))
        self.loops = Made(weakly(self._loop_of))  # type: ignore[assignment]
        self.nullable = Made(weakly(self._matches_empty))  # type: ignore[assignment]
        self.start = self._numbers[deferred.start]

    def _named(self, name: str) -> int:
        """The number of a rule that is named first."""
        self.names.append(name)
        return len(self.names) - 1

    def _loop_of(self, rule: int) -> Loop:
        """A rule as a loop of no tails."""
        body = self._added(self._deferred.rule(self.names[rule]).expressions, self._done)
        return Loop(list(self.options(body)), ())

    def is_nullable(self, rule: int) -> bool:
        """Whether a rule matches ε. Rules that this does not hang on are not read."""
        return any(self.nullable[head] for head in self.loops[rule].heads)

    def _matches_empty(self, e: int) -> bool:
        """The same of an expression."""
        known: Made[int, bool] = self.nullable  # type: ignore[assignment]
        return solve_recursive(e, known.get, self._steps)

    def _steps(self, e: int) -> Generator[int, bool, bool]:
        """The parts by which that is decided, one by one; no rule begins with itself."""
        kind, content = self.kinds[e], self.contents[e]
        if kind < RULE or (kind == TIMES and self.times(e)[0] == 0):
            found = kind == TIMES or (kind == LITERAL and not content)
            found |= kind == AUTOMATON and matches_empty(content)
        else:
            decides = kind not in (ALL, ORDERS)
            found = not decides
            for part in self.loops[self.rule(e)].heads if kind == RULE else self.parts[e]:
                if (yield part) == decides:
                    found = decides
                    break
        self.nullable[e] = found
        return found

    def _written(self, expr: Repetition) -> str:
        # Rules that are made so have no places in the text.
        return ""

    def is_part(self, rule: int) -> bool:
        """Whether a rule is a part of one value."""
        return self._deferred.is_part(self.names[rule])

    def is_open_text(self, rule: int) -> bool:
        """Whether a rule names no others, and may end where it could go on, as numbers may."""
        if not self._deferred.is_text(self.names[rule]):
            return False
        pending = list(self.loops[rule].heads)
        while pending:
            e = pending.pop()
            kind, parts = self.kinds[e], self.parts[e]
            if kind == AUTOMATON and goes_on(self.contents[e]):
                return True
            if kind == TIMES:
                low, high, _ = self.times(e)
                if high is None or high > max(low, 1):
                    return True
            pending += parts[-1:] if kind == ALL else parts
        return False

    def places(self, rule: int, most: int, inside: frozenset[int] = frozenset()) -> int:
        """How many places a rule has, all that it names included; more than ``most`` where it has,
        or names itself."""
        if rule in inside or len(inside) > most:
            return most + 1
        count, pending = 0, [(e, 1) for e in self.loops[rule].heads]
        while pending and count <= most:
            e, times = pending.pop()
            kind = self.kinds[e]
            if kind == TIMES:
                low, high, _ = self.times(e)
                times *= max(low if high is None else high, 1)
            elif kind == RULE:
                count += times * self.places(self.rule(e), most - count, inside | {rule})
            else:
                count += times * states_of_leaf(kind, self.contents[e])
            pending.extend((part, times) for part in self.parts[e])
        return count


class CalledRules(Container[int]):
    """The rules that are called, by their places."""

    def __init__(self, rules: DeferredRules) -> None:
        self._rules = rules
        self._found = Made(weakly(self._is_called))

    def __contains__(self, rule: object) -> bool:
        assert isinstance(rule, int)
        return self._found[rule]

    def _is_called(self, rule: int) -> bool:
        rules = self._rules
        copied = rules.is_part(rule) or rules.is_open_text(rule)
        return not copied and rules.places(rule, MANY) > MANY
