"""Configurations of lexer and parser, and how bytes lead from one to the next.

A configuration is a complete head, the stack of frames below it, and the state of the lexer inside
a lexeme (``BETWEEN`` where none has begun), packed into one integer; with counters in frames, what
``counted_transitions.py`` says of the stack. A byte is a step of the lexer;
where it has none, the lexeme that has been read is a transition of the parser, and the byte begins
the next lexeme:

    read(c, bytes): for each byte b
        s -b-> t                            go on in t
        s does not read b, but accepts A    (head, frames) <- transition by A; b begins a lexeme
        s neither reads b nor accepts,
        or A may not end before b           the text is refused
"""

from collections.abc import Iterable

from ..dfa.stacked_dfas import DEAD
from .lexer import BETWEEN, NO_ACCEPT, REFUSED_BYTE, Lexer
from .parser_heads import REFUSED, Heads
from .parser_transitions import ParserTransitions

# A configuration's bits, from the lowest: the state of the lexer; the head; the node of the frames.
_HEAD_SHIFT = 24
_FRAMES_SHIFT = 2 * _HEAD_SHIFT
_PART = (1 << _HEAD_SHIFT) - 1


class Configurations:
    """Reads texts byte by byte, without a vocabulary. Configurations are integers."""

    def __init__(self, heads: Heads, lexer: Lexer, transitions: ParserTransitions) -> None:
        self.heads, self.lexer, self.transitions = heads, lexer, transitions
        # All of a configuration but differences of counts, on which no mask depends.
        self.shared = transitions.node_mask << _FRAMES_SHIFT | (1 << _FRAMES_SHIFT) - 1

    @property
    def start(self) -> int:
        """The configuration before any text."""
        frames, head = self.transitions.start_frames, self.transitions.start_head
        return frames << _FRAMES_SHIFT | head << _HEAD_SHIFT | BETWEEN

    def is_accepting(self, configuration: int) -> bool:
        """Whether the text so far is a member."""
        return self.may_end(*self.parts(configuration))

    def may_end(self, head: int, frames: int, state: int) -> bool:
        """Whether the text of a configuration of these ``parts`` is a member."""
        if state == BETWEEN:
            return self.transitions.to_head[head].may_end
        accept_set = self.lexer.accept_of[state]
        return accept_set != NO_ACCEPT and self.transitions.may_end_after(head, frames, accept_set)

    def read(self, configuration: int, text: bytes) -> int | None:
        """The configuration after ``text``; None if it cannot be read to its end."""
        length, target = self.follow(configuration, text)
        return target if length == len(text) else None

    def follow(self, configuration: int, text: Iterable[int]) -> tuple[int, int]:
        """How many bytes of ``text`` can be read, and the configuration after them."""
        rows, accept_of, transitions = self.lexer.rows, self.lexer.accept_of, self.transitions
        head, frames, state = self.parts(configuration)
        length = 0
        for octet in text:
            target = rows[state][octet]
            if target == REFUSED_BYTE:
                break
            if target == DEAD:
                ended = transitions.to_head[head], frames
                if state != BETWEEN:
                    accept_set = accept_of[state]
                    if accept_set == NO_ACCEPT:
                        break
                    ended = transitions.after(head, frames, accept_set)
                target = rows[ended[0].lexer_start][octet]
                if target == DEAD:
                    break
                head, frames = ended[0].head, ended[1]
            state = target
            length += 1
        return length, frames << _FRAMES_SHIFT | head << _HEAD_SHIFT | state

    @staticmethod
    def parts(configuration: int) -> tuple[int, int, int]:
        """Its head, the node of the frames below, and the state of the lexer or ``BETWEEN``."""
        head = configuration >> _HEAD_SHIFT & _PART
        return head, configuration >> _FRAMES_SHIFT, configuration & _PART

    def lexer_state(self, configuration: int) -> int:
        """The state of the lexer, or ``BETWEEN``."""
        return configuration & _PART

    def head_after(self, configuration: int) -> int:
        """The head after the lexeme that is being read if it ends here, else ``REFUSED``."""
        head, frames, state = self.parts(configuration)
        if state == BETWEEN:
            return head
        accept_set = self.lexer.accept_of[state]
        if accept_set == NO_ACCEPT:
            return REFUSED
        return self.transitions.after(head, frames, accept_set)[0].head
