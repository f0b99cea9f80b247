"""Reading by longest matches: the states of a text, and what bytes and tokens do to them.

A state is a closed head, the frames below it and a state of the lexer. A byte is a step of the
lexer, and where it has none the lexeme ends and the next one begins with the byte. A token is
read byte by byte, and equal steps are read once.
"""

from collections.abc import Iterable

from ..dfa.stacked_dfas import DEAD
from ..errors import ArtifactError
from ..tokens.vocabulary import Vocabulary
from .lexer import NONE, Lexer
from .parser_heads import REFUSED
from .parser_transitions import ParserTransitions
from .summaries import BETWEEN

# Remembered steps that end lexemes; when there are more, they are read anew.
_KEPT = 1 << 20

# A state's bits, from the lowest: the state of the lexer, 0 between two lexemes; the head; the
# frames.
BITS = 24
FRAMES = 2 * BITS
PART = (1 << BITS) - 1


class MaximalMunchSteps:
    """Reads tokens byte by byte; equal steps are read once."""

    def __init__(
        self,
        moves: ParserTransitions,
        lexer: Lexer,
        vocabulary: Vocabulary,
    ) -> None:
        self.moves, self.lexer = moves, lexer
        self._vocabulary = vocabulary
        self._steps: dict[tuple[int, int], int] = {}

    @property
    def start(self) -> int:
        """The state before any token."""
        return self.moves.start_frames << FRAMES | self.moves.start_head << BITS | BETWEEN

    def is_accepting(self, state: int) -> bool:
        """Whether the text so far is a member."""
        head, inside = state >> BITS & PART, state & PART
        if inside == BETWEEN:
            return self.moves.at[head].ends
        winners = self.lexer.wins[inside]
        return winners != NONE and self.moves.ends_after(head, state >> FRAMES, winners)

    def step(self, state: int, token_id: int) -> int:
        """The state after a token. Raises ``ArtifactError`` if it does not fit."""
        target = self.taken(state, token_id)
        if target is None:
            raise ArtifactError(f"damaged artifact: token {token_id} is allowed, but leads nowhere")
        return target

    def taken(self, state: int, token_id: int) -> int | None:
        """The state after a token; None if it does not fit."""
        key = state, token_id
        target = self._steps.get(key)
        if target is None:
            target = self._taken_via_bytes(state, token_id)
            if target is not None:
                if len(self._steps) >= _KEPT:
                    self._steps.clear()
                self._steps[key] = target
        return target

    def _taken_via_bytes(self, state: int, token_id: int) -> int | None:
        if not self._vocabulary.is_text(token_id):
            return None
        text = self._vocabulary.token(token_id)
        return self.read(state, text) if text else None

    def read(self, state: int, text: bytes) -> int | None:
        """The state after ``text``; None if it does not fit."""
        length, target = self.follow(state, text)
        return target if length == len(text) else None

    def follow(self, state: int, text: Iterable[int]) -> tuple[int, int]:
        """How many bytes of ``text`` can be read, and the state behind them."""
        rows, wins, moves = self.lexer.rows, self.lexer.wins, self.moves
        head, frames, inside = state >> BITS & PART, state >> FRAMES, state & PART
        length = 0
        for octet in text:
            target = rows[inside][octet]
            if target == DEAD:
                ended = moves.at[head], frames
                if inside != BETWEEN:
                    winners = wins[inside]
                    if winners == NONE:
                        break
                    ended = moves.after(head, frames, winners)
                target = rows[ended[0].start][octet]
                if target == DEAD:
                    break
                head, frames = ended[0].head, ended[1]
            inside = target
            length += 1
        return length, frames << FRAMES | head << BITS | inside

    def inside(self, state: int) -> int:
        """The state of the lexer, or ``BETWEEN``."""
        return state & PART

    def ended(self, state: int) -> int:
        """The head if the lexeme that is being read ends here, or ``REFUSED``."""
        head, inside = state >> BITS & PART, state & PART
        if inside == BETWEEN:
            return head
        winners = self.lexer.wins[inside]
        if winners == NONE:
            return REFUSED
        return self.moves.after(head, state >> FRAMES, winners)[0].head
