"""Print a recursive transition network as text; the same tables give the same text."""

from collections.abc import Sequence

from constrain.artifacts.errors import visible
from constrain.artifacts.network.counts import UNBOUNDED
from constrain.artifacts.network.sets import NO_SEPARATOR, REPEATED, REQUIRED, SetRule
from constrain.artifacts.network.tables import DEAD, NetworkTables

from ..automata.dump import class_text, ranges
from ..automata.graphs import reached

# After a part: whether it must be there, and whether it may be repeated.
_MARKS = {(True, False): "", (False, False): "?", (True, True): "+", (False, True): "*"}


def network_text(tables: NetworkTables, names: Sequence[str] = ()) -> str:
    """States with their edges and calls; the dead state is left out.

    ``call v from 3, then 7``: what rule v matches, which starts in state 3, is read, and then
    the network goes on in 7, its frame; ``call {2,9} from 3, then 7``: 2 to 9 of what starts in
    3; ``call of set 1 from 3, then 7``: parts of set 1 in any order, that in 3 first.
    ``names``: of the token terminals.
    """
    frames = sorted(set(tables.call_ends.tolist()))
    finals = [state for state in range(tables.states) if tables.ends[state]]
    lines = [
        f"network: {tables.states - 1} states, {len(tables.call_starts)} calls, "
        f"{len(frames)} frames, start {tables.start}, final {_numbers(finals)}"
    ]
    rules = rules_of_entries(tables)
    lines += [f"  rule {rules[state]} starts in {state}" for state in sorted(rules)]
    for state in range(1, tables.states):
        for target, (octets, terminals) in edges_of(tables, state).items():
            if octets:
                lines.append(f"  {state} -- {class_text(octets)} -> {target}")
            lines += [f"  {state} -- {names[t]} -> {target}" for t in terminals]
        for start, frame in tables.calls[state]:
            rule = rules.get(start, "")
            end, times = end_of_call(tables, frame)
            lines.append(f"  {state} -- call {rule}{times} from {start}, then {end}")
    rows = [] if tables.counters is None else tables.counters.set_rules
    lines += [f"  set {i + 1}: {set_text(rule)}" for i, rule in enumerate(rows)]
    return "\n".join(map(visible, lines)) + "\n"


def end_of_call(tables: NetworkTables, frame: int) -> tuple[int, str]:
    """The state that a call with a frame goes on in, and how often it is repeated, as ``{2,9}``, or
    which set's part it is; empty for once."""
    if tables.counters is None or frame < tables.states:
        return frame, ""
    counter, _ = tables.counters.split(frame)
    back = tables.counters.ends[counter]
    if tables.counters.set_rule(counter) is not None:
        return back, f" of set {counter - len(tables.counters.rows) + 1}"
    _, least, most, _ = tables.counters.rows[counter]
    return back, f"{{{least},{'' if most == UNBOUNDED else most}}}"


def is_of_set(tables: NetworkTables, frame: int) -> bool:
    """Whether a frame is a set."""
    if tables.counters is None or frame < tables.states:
        return False
    return tables.counters.set_rule(tables.counters.split(frame)[0]) is not None


def sets_called(tables: NetworkTables, state: int) -> list[tuple[int, SetRule, int]]:
    """The sets that a state's calls are of, each once: its number, from 1, what it does, and the
    state after it."""
    found = dict.fromkeys(
        tables.some_counters.split(frame)[0]
        for _, frame in tables.calls[state]
        if is_of_set(tables, frame)
    )
    counters = tables.counters
    if counters is None:
        return []
    first = len(counters.rows)
    return [(c - first + 1, counters.set_rules[c - first], counters.ends[c]) for c in found]


def set_text(rule: SetRule) -> str:
    """Where the parts of a set start, as ``5 6? 7*, separated by 9, 1 to 2 of them``."""
    parts = [
        f"{start}{_MARKS[bool(flag & REQUIRED), bool(flag & REPEATED)]}"
        for start, flag in zip(rule.parts, rule.flags, strict=True)
    ]
    text = " ".join(parts)
    if rule.separator != NO_SEPARATOR:
        text += f", separated by {rule.separator}"
    if rule.least or rule.most < len(parts):
        text += f", {rule.least} to {rule.most} of them"
    return text


def rules_of_entries(tables: NetworkTables) -> dict[int, str]:
    """The rules that start in a state; those that match the same share one."""
    rules: dict[int, list[str]] = {}
    for name, state in zip(tables.names, tables.entries.tolist(), strict=True):
        if name not in rules.setdefault(state, []):
            rules[state].append(name)
    return {state: ", ".join(found) for state, found in rules.items()}


def rules_of_states(tables: NetworkTables) -> dict[int, str]:
    """The rule that each state is in, of those that are called; none for states of several."""
    found: dict[int, str] = {}

    def following(state: int) -> set[int]:
        begin, end = tables.call_offsets[state], tables.call_offsets[state + 1]
        return {*tables.rows[state], *tables.call_ends[begin:end].tolist()} - {DEAD}

    for name, entry in dict(zip(tables.names, tables.entries.tolist(), strict=True)).items():
        for state in reached([entry], following):
            found[state] = name if found.get(state, name) == name else ""
    return {state: rule for state, rule in found.items() if rule}


def edges_of(
    tables: NetworkTables, state: int
) -> dict[int, tuple[list[tuple[int, int]], list[int]]]:
    """A state's own edges by target: ranges of bytes, and token terminals."""
    edges: dict[int, tuple[list[int], list[int]]] = {}
    for symbol, target in enumerate(tables.rows[state]):
        if target != DEAD:
            octets, terminals = edges.setdefault(target, ([], []))
            if symbol < 256:
                octets.append(symbol)
            else:
                terminals.append(symbol - 256)
    return {target: ([*ranges(octets)], named) for target, (octets, named) in sorted(edges.items())}


def _numbers(states: Sequence[int]) -> str:
    return ", ".join(map(str, states)) or "none"
