"""Which counts and sets of a network may stay such under canonical tokenization.

Whether a token is live after a count is searched while decoding: as far as a piece of the
pre-tokenizer may end, or the text. So where many items must follow, a piece must be able to end
soon in what follows, wherever an item ends, for any count that is left:

    ([a-z]+ ){1000}    settles: a piece ends in front of the next blank
    [a-z]{1000}        does not: with most tokenizers that is one piece, to its end

Where it is not, each mask is searched to the end of the count, which is done for some thousand
items and refused for more. Where no items must follow the end of the text is near, for any count.

A set stays one where a piece, or the text, may end soon after the beginning of each part, and what
follows does not depend on the parts' order (``artifacts/canonical_network/settled_sets``) or there
are few values of the set; else all orders are written out.
"""

from collections.abc import Iterator
from itertools import islice

from constrain.artifacts.canonical_network.certificates import distances
from constrain.artifacts.canonical_network.contexts import TEXT_END
from constrain.artifacts.canonical_network.pretokenized import PretokenizedNetwork
from constrain.artifacts.canonical_network.settled_sets import MOST_VALUES
from constrain.artifacts.network.sets import NO_SEPARATOR, UnsettledError
from constrain.artifacts.network.tables import DEAD, NetworkTables

from ..automata.graphs import reached
from ..limits import Effort, Limits

# So many items may be searched to the last.
MOST_UNSETTLED = 10_000

# Steps of a search for the end of a piece, and contexts that are looked at.
_STEPS, _MOST_CONTEXTS = 400, 64

_STAGE = (
    "the search to the end of a count in which no piece of the tokenizer ends, "
    "which --tokenization any does without,"
)


def check_settled(
    network: PretokenizedNetwork, tables: NetworkTables, limits: Limits, effort: Effort
) -> None:
    """Raise ``LimitError`` unless that holds for the counters of ``tables``, which ``network`` is
    made of, that ask for many items; and ``UnsettledError`` unless it does for its sets."""
    _check_sets(network, tables, effort)
    rows = [] if tables.counters is None else tables.counters.rows
    lengths = distances(tables) if rows else None
    long = {}
    for counter, (item, least, *_) in enumerate(rows):
        if least > MOST_UNSETTLED:
            long[counter] = least, _STEPS
        # Few items may be long ones, of other counts.
        elif lengths is not None and least * int(lengths[item]) > MOST_UNSETTLED:
            long[counter] = least * int(lengths[item]), MOST_UNSETTLED
    if not long:
        return
    contexts = _contexts(network, tables)
    comes_to_boundary = network.certificates.comes_to_boundary
    for counter, (count, steps) in long.items():
        for context in contexts:
            item = network.network.tables.some_counters.rows[counter][0]
            frame = network.network.tables.some_counters.frame(counter, 2)
            for place in _beginnings(network, item, frame, context, effort):
                if len(contexts) == _MOST_CONTEXTS or not comes_to_boundary(place, steps):
                    limits.within(MOST_UNSETTLED).check_states(count, _STAGE)


def _check_sets(network: PretokenizedNetwork, tables: NetworkTables, effort: Effort) -> None:
    if not tables.has_sets:
        return
    contexts, counters = _contexts(network, tables), network.network.tables.some_counters
    comes_to_boundary = network.certificates.comes_to_boundary
    for number, rule in enumerate(counters.set_rules):
        if 2 << len(rule.parts) > MOST_VALUES or rule.repeats:
            settles = all(network.contexts.settles(number, context) for context in contexts)
            if not settles or len(contexts) == _MOST_CONTEXTS:
                raise UnsettledError
        for part, start in enumerate(rule.parts):
            frame = counters.frame(len(counters.rows) + number, rule.value(rule.first(part)))
            for place in _beginnings(network, start, frame, TEXT_END, effort):
                if not comes_to_boundary(place, _STEPS):
                    raise UnsettledError


def _contexts(network: PretokenizedNetwork, tables: NetworkTables) -> list[int]:
    """The contexts of stacks, as far as those of first items tell."""
    contexts, counters = network.contexts, tables.some_counters
    added = network.network.tables.states - tables.states
    size = tables.states + len(counters.items)
    frames = [f if f < tables.states else f + added for f in tables.frames.tolist() if f < size]
    frames += counters.backs.tolist()
    for rule in counters.set_rules:
        frames += [rule.back, *rule.parts] + [rule.separator] * (rule.separator != NO_SEPARATOR)
    above = reached([TEXT_END], lambda context: (contexts.push(f, context) for f in frames))
    return list(islice(above, _MOST_CONTEXTS))


def _beginnings(
    network: PretokenizedNetwork, start: int, frame: int, context: int, effort: Effort
) -> Iterator[tuple[int, int, int]]:
    """The places in which what is called over a frame begins after something else, over the
    stacks of a context, and from which the end of the text is reached."""
    contexts = network.contexts
    above = contexts.push(frame, context)
    node = network.network.stacks.push(frame, network.stack_contexts.unknown(context))
    for pre_state in contexts.return_states():
        effort.spend(_STEPS)
        pair = contexts.number(start, pre_state)
        if pair != DEAD and contexts.is_live(pair, above):
            yield start, pre_state, node
