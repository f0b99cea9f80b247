"""From which pre-tokenizer states texts go on to their end, against the plain equations."""

# Tests here say `expected == actual`.

import random
from contextlib import suppress
from dataclasses import replace

import numpy as np
import pytest
from support.grammars import random_grammar
from support.network import network_of

from constrain.artifacts.canonical_network.byte_edges import reached, reading_of
from constrain.artifacts.canonical_network.certificates import distances
from constrain.artifacts.canonical_network.live_sets import LiveSets
from constrain.artifacts.network.tables import NetworkTables
from constrain.artifacts.tokenizer_steps.byte_sets import ByteSets
from constrain.artifacts.tokenizer_steps.pretokenizer import PretokenizerDfa
from constrain.artifacts.tokens.watch import Watch, unwatched
from constrain.compiler.diagnostics import GrammarError

pytestmark = pytest.mark.quick

NONE = np.full(256, -1, dtype=np.int32)

# States of random pre-tokenizer DFAs, the dead one included.
WIDTH = 4

# By state and pre-tokenizer state, and where a call ends: in which pre-tokenizer states.
Returns = dict[tuple[int, int], set[int]]


def random_pretokenizer(rng: random.Random) -> PretokenizerDfa:
    """Any table, which reads most bytes."""
    cells = [rng.randrange(WIDTH) for _ in range(WIDTH * 2 * 3)]
    table = np.array(cells, dtype=np.int32).reshape(WIDTH, 2, 3)
    table[0] = 0
    classes = np.array([rng.randrange(3) for _ in range(256)], dtype=np.uint8)
    return PretokenizerDfa(table, classes, NONE, 1)


def live_sets(
    tables: NetworkTables, pretokenizer: PretokenizerDfa, watch: Watch = unwatched
) -> LiveSets:
    """With nothing known yet."""
    reading = reading_of(tables, pretokenizer)
    sets = ByteSets(pretokenizer.table)
    return LiveSets(tables, reading, sets, sets.all, watch)


def edges(
    tables: NetworkTables, pretokenizer: PretokenizerDfa, state: int, pre_state: int
) -> list[tuple[int, int, bool]]:
    """Where each byte leads in each plane, and whether it starts a pre-token."""
    found = []
    for octet in range(256):
        target = tables.rows[state][octet]
        for plane in range(2):
            after = int(pretokenizer.table[pre_state, plane, pretokenizer.classes[octet]])
            if target and after:
                found.append((target, after, plane == 1))
    return list(dict.fromkeys(found))


def returns_via_rounds(tables: NetworkTables, pretokenizer: PretokenizerDfa) -> Returns:
    """All edges and calls again and again, until nothing is added. Without counters."""
    pairs = [(p, q) for p in range(1, tables.states) for q in range(1, WIDTH)]
    found = {pair: {pair[1]} if tables.accepting[pair[0]] else set[int]() for pair in pairs}
    led = {pair: edges(tables, pretokenizer, *pair) for pair in pairs}
    before: Returns = {}
    while before != found:
        before = {pair: set(ends) for pair, ends in found.items()}
        for p, q in pairs:
            for target, after, _ in led[p, q]:
                found[p, q] |= found[target, after]
            for start, frame in tables.calls[p]:
                for at in [*found[start, q]]:
                    found[p, q] |= found[frame, at]
    return found


def starts_via_returns(
    tables: NetworkTables,
    pretokenizer: PretokenizerDfa,
    returns: Returns,
    place: tuple[int, int],
    ends: set[int],
) -> bool:
    """Whether a byte starts a pre-token at a pair and leads to one of ``ends``."""
    led = edges(tables, pretokenizer, *place)
    if any(starts and returns[target, after] & ends for target, after, starts in led):
        return True
    state, pre_state = place
    for start, frame in tables.calls[state]:
        inner = {at for at in range(1, WIDTH) if returns[frame, at] & ends}
        if starts_via_returns(tables, pretokenizer, returns, (start, pre_state), inner):
            return True
    return False


def test_live_sets_are_those_of_the_plain_equations(full: bool) -> None:
    """Of random grammars beside random pre-tokenizer DFAs, over each set, asked in any order."""
    rng, with_calls = random.Random(5), 0
    for _ in range(30 if full else 7):
        with suppress(GrammarError):
            tables, pretokenizer = network_of(random_grammar(rng)), random_pretokenizer(rng)
            returns, found = (
                returns_via_rounds(tables, pretokenizer),
                live_sets(tables, pretokenizer),
            )
            asked = [(p, below) for p in range(tables.states) for below in range(0, 1 << WIDTH, 2)]
            for state, below in rng.sample(asked, min(40, len(asked))):
                ends = {q for q in range(WIDTH) if below >> q & 1}
                number = found.number(below)
                for q in range(WIDTH):
                    is_live = bool(state and q and returns[state, q] & ends)
                    assert is_live == bool(found.of(number, state) >> q & 1)
                    starts = is_live and starts_via_returns(
                        tables, pretokenizer, returns, (state, q), ends
                    )
                    assert starts == bool(found.starting(number, state) >> q & 1)
                with_calls += bool(tables.calls[state]) and bool(found.of(number, state))
    assert with_calls >= 20


def test_what_texts_lead_to_is_reached(full: bool) -> None:
    """At least that, from where texts begin, through calls and returns."""
    rng, ended = random.Random(6), 0
    for _ in range(30 if full else 7):
        with suppress(GrammarError):
            tables, pretokenizer = network_of(random_grammar(rng)), random_pretokenizer(rng)
            returns = returns_via_rounds(tables, pretokenizer)
            sets, begun = ByteSets(pretokenizer.table), rng.sample(range(1, WIDTH), 2)
            starts = {tables.start: sum(1 << q for q in begun)}
            found = reached(tables, reading_of(tables, pretokenizer), sets, starts)
            pending = [(tables.start, q) for q in begun]
            met = set(pending)
            while pending:
                state, pre_state = pending.pop()
                assert found[state] >> pre_state & 1
                led = edges(tables, pretokenizer, state, pre_state)
                after = [(target, at) for target, at, _ in led]
                for start, frame in tables.calls[state]:
                    ended += len(returns[start, pre_state])
                    after += [
                        (start, pre_state),
                        *((frame, at) for at in returns[start, pre_state]),
                    ]
                pending += [pair for pair in after if pair not in met]
                met.update(after)
    assert ended > 50


def test_long_texts_take_work_in_line_with_their_length() -> None:
    """Twice as many states one after another, of a network that a stranger wrote: twice the
    work."""
    few, many = _work(2_000), _work(4_000)

    assert few > 0
    assert many < 2.2 * few


def _work(more: int) -> int:
    """What finding the live sets counts as work, with so many states before the end."""
    tables, pretokenizer = (
        network_of("start ::= 'a' start 'b' | 'c';"),
        random_pretokenizer(random.Random(0)),
    )
    pretokenizer = replace(pretokenizer, table=(pretokenizer.table > 0).astype(np.int32))
    size, done = tables.states, list[int]()
    behind = np.append(np.arange(size + 1, size + more), 0).astype(np.int32)
    columns = tables.table.shape[1]
    long = replace(
        tables,
        table=np.concatenate([tables.table, np.tile(behind[:, None], columns)]),
        accepting=np.append(tables.accepting, np.arange(more) == more - 1).astype(np.uint8),
        call_offsets=np.append(tables.call_offsets, np.full(more, len(tables.call_starts))),
        start=size,
    )
    found = live_sets(long, pretokenizer, lambda work, _: done.append(work))
    assert found.of(found.number(1 << 1), size)
    assert more - 1 == distances(long)[size]
    return sum(done)
