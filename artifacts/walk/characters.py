"""Which characters outside ASCII lead from one state of an automaton over bytes to another one."""

from typing import Any

from ..tokens.subtrees import CLASS_BITS, OUTSIDE, UTF8_BETWEEN, UTF8_ILL, UTF8_STEPS

_CLASSES: list[int] = CLASS_BITS.tolist()
_STEPS: list[list[int]] = UTF8_STEPS.tolist()

# The first bytes of characters outside ASCII: what is read after them, and their class. By what
# was read the runs of bytes that go on, and what is read after these.
_LEADS = [
    (lead, _STEPS[UTF8_BETWEEN][lead], _CLASSES[lead])
    for lead in range(128, 256)
    if _STEPS[UTF8_BETWEEN][lead] != UTF8_ILL
]
_CONTINUED = [
    [
        (low, max(octet for octet in range(256) if steps[octet] == steps[low]), steps[low])
        for low in range(128, 192)
        if steps[low] != UTF8_ILL and steps[low - 1] != steps[low]
    ]
    for steps in _STEPS
]


def leading_outside_ascii(rows: Any, stops: Any, state: int, back: int) -> int:
    """The classes of characters outside ASCII, as bits, all of which lead from a state to another
    one. ``rows``: of each state 256 targets, 0 for none. ``stops``: of each state whether none may
    go on in it inside of a character."""
    row, known, found = rows[state], dict[tuple[int, int], bool](), OUTSIDE

    def leads_back(read: int, inside: int) -> bool:
        """Whether all characters, of which something was read, lead there."""
        leads = known.get((read, inside))
        if leads is None:
            leads = not stops[inside]
            row = rows[inside] if leads else ()
            for low, high, step in _CONTINUED[read] if leads else ():
                targets = set(row[low : high + 1])
                if step == UTF8_BETWEEN:
                    leads = targets == {back}
                else:
                    leads = 0 not in targets and all(leads_back(step, each) for each in targets)
                if not leads:
                    break
            known[read, inside] = leads
        return leads

    for lead, step, bits in _LEADS:
        target = row[lead]
        if target == 0 or not leads_back(step, target):
            found &= ~bits
    return found
