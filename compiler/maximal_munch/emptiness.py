"""Whether maximal munch leaves a way to the end of any text, as far as that is decided.

    start: "(" start ")" | X Y      X: /a+/  Y: /a/      none: whatever begins Y, X goes on with

A lexeme ends where the lexer cannot read the next byte, and that byte must begin the next one. So
heads are followed beside states of the lexer, a byte at a time, from the start. Which frames lie
below is known by the local relation of the network alone, so that more may be reached than by any
text: where no end is, there is no member.
"""

from functools import cached_property

import numpy as np

from constrain.artifacts.maximal_munch.configurations import Configurations
from constrain.artifacts.maximal_munch.lexer import BETWEEN, NO_ACCEPT, REFUSED_BYTE
from constrain.artifacts.maximal_munch.parser_heads import REFUSED
from constrain.artifacts.network.tables import DEAD
from constrain.artifacts.tokens.memo import memoised

from ..limits import Effort, Exhausted
from .frames_below import FramesBelow

# Places and threads of heads that are looked at before it is left undecided; where there are
# members an end mostly comes soon, and where heads grow without end each takes longer.
_MOST_WORK, _MOST_HEADS = 20_000, 200

# So many beginnings of texts are looked at where a member is expected soon.
_FIRST_TEXTS = 1_000

# A complete head, with the frames that can lie right below it.
_Above = tuple[int, frozenset[int]]


def is_surely_empty(machine: Configurations, effort: Effort) -> bool:
    """Whether no text is a member; False also where that is not decided. Raises ``LimitError``."""
    if machine.heads.counters is not None or machine.lexer.tables.is_lazy:
        # Which frames lie below is not known ahead, or how many states of the lexer there are.
        return False
    if has_member_soon(machine):
        return False
    effort.begin("the search for a member", _MOST_WORK)
    try:
        return _Search(machine, effort).run()
    except Exhausted:
        return False


def has_member_soon(machine: Configurations) -> bool:
    """Whether a member is met among the first texts, the shortest first."""
    octets = np.unique(machine.lexer.columns, return_index=True)[1].tolist()
    pending = [machine.start]
    seen = {machine.start}
    for configuration in pending:
        if machine.is_accepting(configuration):
            return True
        if len(pending) < _FIRST_TEXTS:
            for octet in octets:
                length, target = machine.follow(configuration, (octet,))
                if length and target not in seen:
                    seen.add(target)
                    pending.append(target)
    return False


class _Search:
    def __init__(self, machine: Configurations, effort: Effort) -> None:
        self.heads, self.lexer, self.effort = machine.heads, machine.lexer, effort

    @cached_property
    def below(self) -> FramesBelow:
        """Made where more than the start is looked at."""
        return FramesBelow(self.heads)

    def run(self) -> bool:
        heads, lexer = self.heads, self.lexer
        pending = [(above, BETWEEN) for above in self.completed(heads.start)]
        seen = set(pending)
        for place in pending:
            self.effort.spend(1)
            (head, below), state = place
            if state == BETWEEN and heads.view(head).may_end:
                return False
            found = [((head, below), after) for after in self.after(head, state)]
            accept_set = lexer.accept_of[state] if state != BETWEEN else NO_ACCEPT
            if accept_set != NO_ACCEPT:
                target = heads.read(head, lexer.accept_sets[accept_set], lexer.ignored)
                for above in self.completed(target, below) if target != REFUSED else ():
                    if heads.view(above[0]).may_end:
                        return False
                    found += [(above, after) for after in self.begins(above[0], state)]
            for other in found:
                if other not in seen:
                    seen.add(other)
                    pending.append(other)
        return True

    def after(self, head: int, state: int) -> frozenset[int]:
        """The states of the lexer that a byte leads to without an end of a lexeme."""
        if state == BETWEEN:
            return self.begins(head, BETWEEN)
        return frozenset(self.lexer.rows[state]) - {DEAD, REFUSED_BYTE}

    def begins(self, head: int, state: int) -> frozenset[int]:
        """The states that bytes lead to from the start of a lexeme, which ``state`` cannot read."""
        return self._begun(self.lexer.start(self.heads.view(head).allowed), state)

    @memoised
    def _begun(self, start: int, state: int) -> frozenset[int]:
        rows = zip(self.lexer.rows[start], self.lexer.rows[state], strict=True)
        found = (after for after, other in rows if state == BETWEEN or other == DEAD)
        return frozenset(found) - {DEAD}

    def completed(self, head: int, below: frozenset[int] | None = None) -> list[_Above]:
        """The complete heads that a head can become, by the frames below."""
        return self._completed((head, self.below.of_head(head) if below is None else below))

    @memoised
    def _completed(self, first: _Above) -> list[_Above]:
        heads, pending, seen, found = self.heads, [first], {first}, list[_Above]()
        for head, below in pending:
            self.effort.spend(1 + len(heads.threads[head]))
            if len(pending) > _MOST_HEADS:
                raise Exhausted
            if not heads.view(head).needs_frame:
                short = heads.split_off(head)[0]
                found.append((short, self.below.of_head(short)))
                continue
            for frame in sorted(below):
                plugged = heads.plug(head, frame), self.below.of_state[frame]
                if plugged not in seen:
                    seen.add(plugged)
                    pending.append(plugged)
        return found
