"""Reading by longest matches: the states of a text, and what bytes and tokens do to them.

A state is a closed head, the frames below it and a state of the lexer. A byte is a step of the
lexer, and where it has none the lexeme ends and the next one begins with the byte. A token is
read by its class (``token_actions.py``), a look for each lexeme that it ends; without a table,
or where the lexer has grown since it was made, it is read byte by byte, to the same end.
"""

from collections.abc import Iterable

from ..dfa.stacked_dfas import DEAD
from ..errors import ArtifactError
from ..tokens.vocabulary import Vocabulary
from .lexer import NONE, Lexer
from .lexer_actions import TokenActions
from .parser_heads import REFUSED
from .parser_transitions import HEAD, ParserTransitions
from .summaries import BETWEEN

# Remembered steps that end lexemes; when there are more, they are read anew.
_KEPT = 1 << 20

# A state's bits, from the lowest: the state of the lexer, 0 between two lexemes; the head; the
# frames.
BITS = 24
FRAMES = 2 * BITS
PART = (1 << BITS) - 1


class MaximalMunchSteps:
    """``actions``: of all tokens on the lexer's first states. Raises ``ArtifactError`` where they
    are of another lexer."""

    def __init__(
        self,
        moves: ParserTransitions,
        lexer: Lexer,
        vocabulary: Vocabulary,
        actions: TokenActions | None = None,
    ) -> None:
        self.moves, self.lexer = moves, lexer
        self._vocabulary = vocabulary
        self._steps: dict[tuple[int, int], int] = {}
        # How many states of the lexer the table has.
        self._tabled = self._width = self._tokens = 0
        if actions is not None:
            if int(actions.events[:, 0].max()) >= len(lexer.winners):
                raise ArtifactError("section 'actions.events' is damaged: no such lexemes end")
            self._tabled, self._width = actions.table.shape
            self._classes, self._tokens = actions.classes.data, len(actions.classes)
            self._table = actions.table.reshape(-1).data
            self._events = actions.events.reshape(-1).data

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
        inside, tabled = state & PART, self._tabled
        tables = inside < tabled and 0 <= token_id < self._tokens
        if tables:
            kind = self._classes[token_id]
            action = self._table[inside * self._width + kind]
            # Most tokens end no lexeme.
            if 0 < action < tabled:
                return state - inside + action
        key = state, token_id
        target = self._steps.get(key)
        if target is None:
            if tables:
                target = self._ended(state, token_id, kind, action)
            else:
                target = self._taken_via_bytes(state, token_id)
            if target is not None:
                if len(self._steps) >= _KEPT:
                    self._steps.clear()
                self._steps[key] = target
        return target

    def _ended(self, state: int, token_id: int, kind: int, action: int) -> int | None:
        """``taken`` where a token of class ``kind`` ends lexemes."""
        moves, known, tabled = self.moves, self.moves.known, self._tabled
        head, frames, inside = state >> BITS & PART, state >> FRAMES, state & PART
        if not action:
            # The lexeme, if one is being read, ends in front of the token.
            winners = self.lexer.wins[inside]
            if winners != NONE:
                move = known.get(head << HEAD | winners) or moves.behind(head, winners)
                head, is_open, _, inside, _, pushed = move
                if is_open or pushed:
                    (head, _, _, inside, _, _), frames = moves.closed(move, frames)
            elif inside == BETWEEN:
                inside = moves.at[head].start
            else:
                return None
            if inside >= tabled:
                return self._taken_via_bytes(state, token_id)
            action = self._table[inside * self._width + kind]
        while action >= tabled:
            event = 2 * (action - tabled)
            winners, rest = self._events[event], self._events[event + 1]
            if winners == NONE:
                return None
            (head, _, _, inside, _, _), frames = moves.after(head, frames, winners)
            if rest >= kind:
                raise ArtifactError("section 'actions.events' is damaged: it goes in circles")
            if inside >= tabled:
                return self._taken_via_bytes(state, token_id)
            kind = rest
            action = self._table[inside * self._width + kind]
        return frames << FRAMES | head << BITS | action if action else None

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
