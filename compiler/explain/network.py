"""Why a text is or is not a member of a grammar, by the threads of its network.

For grammars whose repetitions are counted, and whose copies no recogniser of items holds. A thread
says what it reads next, and its frames in which rules it is:

    v ::= '[' 'x'{2,1000000} ']';   "[x]"  ->  rejected at 1:3 in v, expected "x"
Where the states of terminals are made while decoding, what may follow is found byte by byte; of the
rules the start is named, whose texts are an operation on those of others.
"""

from collections.abc import Iterable, Sequence

from constrain.artifacts.network.configurations import REFUSED, Network, Texts
from constrain.artifacts.network.counted_stacks import network_over
from constrain.artifacts.network.tables import DEAD, NetworkTables

from ..automata.dump import ranges
from ..automata.nfa import FIRST_TERMINAL
from .report import Status, Verdict, common, position, shortened, without_line_break

# Stacks whose rules are looked at.
_MOST_STACKS = 16


def explain_network(tables: NetworkTables, text: bytes) -> Verdict:
    """The verdict on ``text``, by a network with counters."""
    network = network_over(tables)
    shorter, ends_early = len(without_line_break(text)), False
    current, offset = network.start, 0
    for offset, octet in enumerate(text):
        ends_early |= offset == shorter and network.may_end(current)
        reached = network.read(current, (octet,))
        if reached == REFUSED:
            break
        current = reached
    else:
        offset = len(text)
    may_end = network.may_end(current)
    status = Status.REJECTED
    if offset == len(text):
        status = Status.ACCEPTED if may_end else Status.INCOMPLETE
    line, column = position(text, offset)
    expected = (o for o in range(256) if network.read(current, (o,)) != REFUSED)
    following = ranges(expected)
    return Verdict(
        status=status,
        offset=offset,
        line=line,
        column=column,
        rules=(),
        expected=following,
        following=following,
        tokens=(),
        may_end=may_end,
        but_for_line_break=status is Status.REJECTED and ends_early,
        path=shortened(common(list(_paths(network, current)))),
    )


def _paths(network: Network, configuration: int) -> Iterable[list[str]]:
    """The rules around each of the first few stacks, the outermost first."""
    tables = network.tables
    rules = _rules_of_states(tables)
    threads = network.threads[configuration]
    pending = [([state], node) for state, node in threads if state != DEAD]
    found = 0
    while pending and found < _MOST_STACKS:
        states, node = pending.pop()
        for frame, below in network.stacks.entries[node]:
            if frame != DEAD:
                if frame >= tables.states:
                    counters = tables.some_counters
                    frame = counters.ends[counters.split(frame)[0]]
                pending.append(([*states, frame], below))
                continue
            found += 1
            path = [rules.get(state, "") for state in reversed(states)]
            named = [rule for rule in path if rule]
            yield [b for a, b in zip(["", *named], named, strict=False) if a != b]


def _rules_of_states(tables: NetworkTables) -> dict[int, str]:
    """The rule that each state is in, of those that are called; empty for states of several."""
    ends, offsets = tables.call_ends.tolist(), tables.call_offsets.tolist()
    found: dict[int, str] = {}
    for name, entry in dict(zip(tables.names, tables.entries.tolist(), strict=True)).items():
        pending, seen = [entry], {entry, DEAD}
        for state in pending:
            found[state] = name if found.get(state, name) == name else ""
            behind = ends[offsets[state] : offsets[state + 1]]
            new = {*tables.table[state].tolist(), *behind} - seen
            seen |= new
            pending.extend(new)
    return found


def explain_calling(
    network: Texts, text: bytes, *rules: str, tokens: Sequence[str] = ()
) -> Verdict:
    """The verdict on ``text``; ``rules``: what is said to be read; ``tokens``: the names of the
    token terminals. Raises ``UndecidedError``."""
    offset = network.viable(text)
    reached = network.read(network.start, text[:offset])
    following = range(FIRST_TERMINAL + len(tokens))
    expected = [symbol for symbol in following if network.read(reached, [symbol]) != REFUSED]
    octets = ranges([symbol for symbol in expected if symbol < FIRST_TERMINAL])

    def accepts(whole: bytes) -> bool:
        found = network.read(network.start, whole)
        return found != REFUSED and network.may_end(found)

    may_end = accepts(text[:offset])
    if offset < len(text):
        status = Status.REJECTED
    else:
        status = Status.ACCEPTED if may_end else Status.INCOMPLETE
    line, column = position(text, offset)
    shorter = without_line_break(text)
    return Verdict(
        status=status,
        offset=offset,
        line=line,
        column=column,
        rules=rules,
        expected=octets,
        following=octets,
        tokens=tuple(tokens[s - FIRST_TERMINAL] for s in expected if s >= FIRST_TERMINAL),
        may_end=may_end,
        but_for_line_break=status is Status.REJECTED and shorter != text and accepts(shorter),
    )
