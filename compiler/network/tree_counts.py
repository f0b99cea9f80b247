"""Which repetitions of a grammar's tree are counted while decoding, and not copied.

    '"' char{0,1000} '"'      20 states and a counter, in place of 20,000
    ("," item)?, digit{2,4}   a few copies take fewer states and are determinised with the rest

A repetition is counted where its copies would have more than so many states, and more than the
item has by itself. Equal items are one component, whatever their bounds. Not counted are
repetitions of a large least number of items whose end cannot be told from their next byte, as
(a|aa){500,600}: sets of stacks would hold as many counts.
"""

from collections.abc import Hashable
from itertools import chain

from constrain.artifacts.tokens.memo import bottom_up

from .. import thresholds
from ..automata import regex_ir
from ..grammar.tree import Grammar, Repetition
from .tree_expressions import CHARACTER, TIMES
from .tree_plan import sizes_of_uses
from .tree_rules import Rules

# Of items whose end cannot be told, at most so many must be counted.
MOST_OPEN = 256


def repeats(grammar: Grammar) -> bool:
    """Whether a rule or a pattern repeats something often: few times are not worth a count."""
    inside = (
        node
        for rule in grammar.rules
        for part in rule.patterns
        for node in regex_ir.walk(part.node)
        if isinstance(node, regex_ir.Repeat)
    )
    written = (part for rule in grammar.rules for part in rule.repetitions)
    found = chain[Repetition | regex_ir.Repeat](written, inside)
    return any(max(part.min_times, part.max_times or 0) >= thresholds.MANY for part in found)


def count_large(rules: Rules, most: int) -> int:
    """Have the repetitions of ``rules`` counted whose copies would have more than ``most`` states.

    Gives the states that the copies of the largest would have, 0 if none is counted.
    """
    found = [e for e in rules.reached_expressions() if _copies(rules, e) > 1]
    if not found:
        return 0
    sizes = sizes_of_uses(rules, [rules.parts[e][0] for e in found])
    large = [
        (e, size * _copies(rules, e))
        for e, size in zip(found, sizes, strict=True)
        if size * _copies(rules, e) > max(most, size)
    ]
    rules.counted = frozenset(e for e, _ in large)
    return max((size for _, size in large), default=0)


def copy_most(rules: Rules) -> None:
    """Have repetitions of a large least number copied after all."""
    few = (e for e in rules.counted if rules.times(e)[0] <= MOST_OPEN)
    rules.counted = frozenset(few)


def _copies(rules: Rules, e: int) -> int:
    if rules.kinds[e] != TIMES:
        return 0
    low, high, _ = rules.times(e)
    return low if high is None else high


class Items:
    """Numbers of expressions, equal for those that are written alike."""

    def __init__(self, rules: Rules) -> None:
        self._rules = rules
        self._of: dict[int, int] = {}
        self._numbers: dict[Hashable, int] = {}

    def number(self, root: int) -> int:
        """The number of an expression."""
        rules, of = self._rules, self._of
        for e in bottom_up([root], rules.parts.__getitem__, of):
            content = rules.contents[e]
            # Characters of one class have one list, and automata are not compared.
            same = content if isinstance(content, Hashable) else id(content)
            if rules.kinds[e] == CHARACTER:
                same = id(content)
            times = rules.times(e)[:2] if rules.kinds[e] == TIMES else None
            key = rules.kinds[e], same, times, tuple(of[part] for part in rules.parts[e])
            of[e] = self._numbers.setdefault(key, len(self._numbers))
        return of[root]
