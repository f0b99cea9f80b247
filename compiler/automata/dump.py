"""Print automata and byte classes as text, one line an edge; equal automata give equal text."""

from collections.abc import Iterable, Sequence

from constrain.artifacts.dfa.byte_dfa import DEAD, ByteDfa
from constrain.artifacts.errors import visible

from .nfa import FIRST_TERMINAL, Arc, Nfa
from .utf8 import normalized

# Ranges of token ids that a name shows.
_SHOWN_RANGES = 4

_NAMED = {0x09: r"\t", 0x0A: r"\n", 0x0D: r"\r", 0x20: " "}


def class_text(ranges: Iterable[tuple[int, int]]) -> str:
    """A set of bytes: one alone as a string, several as a class.

    ``[(97, 102), (48, 57)] -> [0-9a-f]``; ``[(45, 45)] -> "-"``
    """
    ordered = sorted(ranges)
    if len(ordered) == 1 and ordered[0][0] == ordered[0][1]:
        octet = ordered[0][0]
        return '"' + ("\\" if octet in b'"\\' else "") + _octet(octet) + '"'
    return "[" + "".join(_range(low, high) for low, high in ordered) + "]"


def ids_text(ids: Sequence[int]) -> str:
    """A set of token ids, ascending, shortened if it has many parts.

    ``[1, 5, 6, 7] -> <[1,5-7]>``
    """
    found = ranges(ids)
    shown = [str(a) if a == b else f"{a}-{b}" for a, b in found[:_SHOWN_RANGES]]
    return f"<[{','.join(shown)}{',…' * (len(found) > _SHOWN_RANGES)}]>"


def ranges(numbers: Iterable[int]) -> tuple[tuple[int, int], ...]:
    """Ascending numbers as ranges: ``[1, 2, 3, 7] -> ((1, 3), (7, 7))``"""
    return normalized((number, number) for number in numbers)


def terminal_names(dfa: ByteDfa) -> list[str]:
    """What to call each of the token terminals of an artifact's DFA: its ids."""
    return [ids_text(dfa.terminals.members(k).tolist()) for k in range(len(dfa.terminals))]


def nfa_text(nfa: Nfa, names: Sequence[str] = ()) -> str:
    """States with their arcs and ε edges; ``rules`` after an arc are where it came from.

    ``names``: of the token terminals.
    """
    lines = [f"nfa: {nfa.states} states, start {nfa.start}, final {_numbers(nfa.finals)}"]
    for state in range(nfa.states):
        for arc in nfa.arcs[state]:
            rules = sorted({nfa.rules[o] for o in arc.origins if o < len(nfa.rules)})
            behind = f"   ; {', '.join(rules)}" if rules else ""
            lines.append(f"  {state} -- {_symbol(arc, names)} -> {arc.target}{behind}")
        for target in sorted(nfa.epsilon[state]):
            lines.append(f"  {state} -- ε -> {target}")
    return "\n".join(map(visible, lines)) + "\n"


def dfa_text(
    dfa: ByteDfa, rules_of: Sequence[Sequence[str]] = (), names: Sequence[str] = ()
) -> str:
    """States with one line for each target; the dead state is left out.

    ``rules_of``: for each state the rules that its bytes come from. ``names``: of the token
    terminals.
    """
    finals = [s for s in range(dfa.states) if dfa.accepting[s]]
    lines = [f"dfa: {dfa.states - 1} states, start {dfa.start}, final {_numbers(finals)}"]
    for state in range(1, dfa.states):
        targets: dict[int, list[int]] = {}
        row = dfa.table[state].tolist()
        for octet, column in enumerate(dfa.classes.tolist()):
            if row[column] != DEAD:
                targets.setdefault(row[column], []).append(octet)
        behind = ""
        if state < len(rules_of) and rules_of[state]:
            behind = f"   ; {', '.join(dict.fromkeys(rules_of[state]))}"
        for target, octets in sorted(targets.items()):
            lines.append(f"  {state} -- {class_text(ranges(octets))} -> {target}{behind}")
        for name, target in zip(names, dfa.token_targets(state).tolist(), strict=True):
            if target != DEAD:
                lines.append(f"  {state} -- {name} -> {target}{behind}")
    return "\n".join(map(visible, lines)) + "\n"


def _symbol(arc: Arc, names: Sequence[str]) -> str:
    if arc.low >= FIRST_TERMINAL:
        return names[arc.low - FIRST_TERMINAL]
    return class_text([(arc.low, arc.high)])


def _range(low: int, high: int) -> str:
    first, last = _in_class(low), _in_class(high)
    if low == high:
        return first
    return f"{first}{last}" if high == low + 1 else f"{first}-{last}"


def _in_class(octet: int) -> str:
    return ("\\" if octet in b"[]^-\\" else "") + _octet(octet)


def _octet(octet: int) -> str:
    if octet in _NAMED:
        return _NAMED[octet]
    return chr(octet) if 0x20 < octet < 0x7F else f"\\x{octet:02X}"


def _numbers(states: Iterable[int]) -> str:
    return ", ".join(map(str, sorted(states))) or "none"
