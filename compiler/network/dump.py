"""Print a recursive transition network as text; the same tables give the same text."""

from collections.abc import Sequence

from constrain.artifacts.network.counts import UNBOUNDED
from constrain.artifacts.network.tables import DEAD, NetworkTables

from ..automata.dump import class_text


def network_text(tables: NetworkTables, names: Sequence[str] = ()) -> str:
    """States with their edges and calls; the dead state is left out.

    ``call v from 3, then 7``: what rule v matches, which starts in state 3, is read, and then
    the network goes on in 7, its frame; ``call {2,9} from 3, then 7``: 2 to 9 of what starts in
    3. ``names``: of the token terminals.
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
    return "\n".join(lines) + "\n"


def end_of_call(tables: NetworkTables, frame: int) -> tuple[int, str]:
    """The state that a call with a frame goes on in, and how often it is repeated, as ``{2,9}``;
    empty for once."""
    if tables.counters is None or frame < tables.states:
        return frame, ""
    _, least, most, back = tables.counters.rows[frame - tables.states]
    return back, f"{{{least},{'' if most == UNBOUNDED else most}}}"


def rules_of_entries(tables: NetworkTables) -> dict[int, str]:
    """The rules that start in a state; those that match the same share one."""
    rules: dict[int, list[str]] = {}
    for name, state in zip(tables.names, tables.entries.tolist(), strict=True):
        if name not in rules.setdefault(state, []):
            rules[state].append(name)
    return {state: ", ".join(found) for state, found in rules.items()}


def edges_of(
    tables: NetworkTables, state: int
) -> dict[int, tuple[list[tuple[int, int]], list[int]]]:
    """A state's own edges by target: ranges of bytes, and token terminals."""
    edges: dict[int, tuple[list[tuple[int, int]], list[int]]] = {}
    for symbol, target in enumerate(tables.rows[state]):
        if target == DEAD:
            continue
        ranges, terminals = edges.setdefault(target, ([], []))
        if symbol >= 256:
            terminals.append(symbol - 256)
        elif ranges and ranges[-1][1] == symbol - 1:
            ranges[-1] = (ranges[-1][0], symbol)
        else:
            ranges.append((symbol, symbol))
    return dict(sorted(edges.items()))


def _numbers(states: Sequence[int]) -> str:
    return ", ".join(map(str, states)) or "none"
