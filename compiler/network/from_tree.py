"""From a grammar's tree to its network, without a normal form.

tree_expressions    tree -> numbered expressions
tree_rules          those -> what rules name; direct left recursion is a loop
left_recursion      those -> the same, none beginning with itself by way of others
tree_plan           those -> which rules are called
tree_layout         those -> automata that call one another
components          those -> network
"""

from collections.abc import Sequence, Set
from functools import cache

from constrain.artifacts.network.tables import NetworkTables

from .. import thresholds
from ..automata.dfa import Dfa
from ..automata.minimize import minimize
from ..diagnostics import LimitError
from ..grammar.expand_permutations import expand_permutations
from ..grammar.tree import Grammar
from ..limits import Limits
from ..lnf import normalize
from .components import TooManySetsError, dfa_of, network_of
from .counter_tables import has_open_items, has_overlapping_parts
from .left_recursion import is_left_recursive, without_left_recursion
from .tree_counts import MOST_OPEN, copy_most, count_large, repeats
from .tree_expressions import ORDERS
from .tree_layout import Layout
from .tree_plan import Openness, procedures_of, sizes_of, text_size
from .tree_rules import Rules

# Of the parts of a permutation so many may overlap; a text may lead to each set of them.
MOST_OVERLAPPING = 10

# One in so many of the rules that may be called, and one more, are called first.
_FIRST_PART = 32

# Automata may have so many times as many states as the network: many of theirs read nothing.
_SLACK_OF_LAYOUT = 3


def numbered(grammar: Grammar, limits: Limits) -> Rules:
    """The rules of a grammar without exceptions and ignored text, of which none begins with itself
    but as a loop. Raises ``CheckError`` if there is no member, and ``LimitError``."""
    rules = Rules(grammar, limits)
    if rules.is_empty:
        # Which says where that comes from.
        normalize(grammar, limits)
    if ORDERS in rules.kinds and is_left_recursive(rules):
        rules = Rules(expand_permutations(grammar, limits), limits)
    return without_left_recursion(rules)


def copied_states(grammar: Grammar, rules: Rules | None, limits: Limits) -> int:
    """The most states that the copies of one repetition would have, as far as it can be counted.

    ``rules``: of the grammar, if they are there already.
    """
    if not repeats(grammar):
        return 0
    rules = rules or numbered(grammar, limits)
    most = count_large(rules, 0)
    rules.counted = frozenset()
    return most


def network_of_rules(
    rules: Rules,
    limits: Limits,
    most_states: int | None = None,
    counted_from: int | None = None,
    copied_whole: int = 0,
) -> NetworkTables:
    """The network of numbered rules. ``counted_from``: repetitions are counted whose copies have
    more states. Other arguments and errors as for ``network_from_tree``."""
    if counted_from is not None:
        count_large(rules, counted_from)
    found = network_from_tree(rules, limits, most_states, copied_whole=copied_whole)
    if has_overlapping_parts(found, MOST_OVERLAPPING):
        orders = numbered(expand_permutations(rules.grammar, limits), limits)
        return network_of_rules(orders, limits, most_states, counted_from, copied_whole)
    if not has_open_items(found, MOST_OPEN):
        return found
    copy_most(rules)
    return network_from_tree(rules, limits, most_states)


def network_from_tree(
    rules: Rules,
    limits: Limits | None = None,
    most_states: int | None = None,
    called: Set[int] = frozenset(),
    copied_whole: int = 0,
) -> NetworkTables:
    """The network of rules of which none begins with itself but as a loop, and that have a member.
    ``called``: rules that are, whatever else is. ``copied_whole``: see ``procedures_of``.

    ``most_states``: of any one rule, if that is bounded by less than ``limits``; of a long text as
    many more as its rules have. Where copies
    overlap with what follows them, the one that goes on with the most bytes where it may also end
    is called. Raises ``LimitError``.
    """
    limits = (limits or Limits()).started()
    bounded, added, most_of_open = False, 0, thresholds.NETWORK_STATES
    opened = cache(lambda: (Openness(rules), sizes_of(rules)))
    # Where the rules themselves are not long, copies are at fault that are.
    bounds_copies = text_size(rules) <= most_of_open
    while True:
        procedures = procedures_of(
            rules, called, thresholds.SHARED_STATES, copied_whole, most_of_open
        )
        try:
            within = limits.within(most_of_open) if bounds_copies else limits
            layout = Layout(rules, procedures, within, _SLACK_OF_LAYOUT)
        except LimitError:
            if not bounds_copies:
                raise
            most_of_open, bounds_copies = thresholds.LARGE_STATES, False
            continue
        if most_states is not None and not bounded and layout.components.states > most_states:
            # Rules that only follow each other are one automaton, as large as their text.
            most_states, bounded = most_states + text_size(rules), True
        open_to_calls = sorted(layout.copied)
        try:
            return network_of(
                layout.components,
                layout.procedures,
                limits,
                rules.terminals,
                nullable_start=rules.is_nullable(rules.start),
                bounds_sets=bool(open_to_calls),
                most_of_one=most_states,
            )
        except TooManySetsError:
            openness, sizes = opened()
            # Of two the smaller, which stands inside. Each time as many as before together.
            open_to_calls.sort(key=lambda r: (-openness.bytes_after_end(r), sizes[r], r))
            more = added or 1 + len(open_to_calls) // _FIRST_PART
            called |= set(open_to_calls[:more])
            added += more


def dfa_from_tree(rules: Rules, limits: Limits) -> tuple[Dfa, Sequence[str]]:
    """The minimal DFA of a grammar in which no rule nests itself, and the rules that its origins
    are: of each state the first ones whose text may follow.

    A rule is copied once for each state after it, so that a chain of rules, each of which names
    the next one twice, is linear. Raises ``LimitError``.
    """
    limits = limits.started()
    layout = Layout(rules, (), limits)
    start = layout.procedures[0]
    is_nullable = rules.is_nullable(rules.start)
    found = dfa_of(
        layout.components, start, layout.owners, limits, rules.terminals, nullable_start=is_nullable
    )
    return minimize(found, limits), rules.names
