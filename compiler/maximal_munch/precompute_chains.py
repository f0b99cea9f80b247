"""The lexemes that a token ends, as one move.

In a head h an event (``token_actions``) ends a lexeme, and what is left of the token may end
more. What all of them do together depends on h and the event, up to where a frame is needed
from below those that they push themselves:

    " [{" behind a colon:   blank, bracket, brace   ->   one move that pushes two frames

Without these a token is read lexeme by lexeme, to the same end.
"""

from collections.abc import Iterator

import numpy as np

from constrain.artifacts.maximal_munch.lexer import NONE, Lexer
from constrain.artifacts.maximal_munch.lexer_actions import TokenActions
from constrain.artifacts.maximal_munch.parser_heads import REFUSED
from constrain.artifacts.maximal_munch.parser_transitions import ParserTransition, ParserTransitions

# Chains that are kept: a machine begins with them all.
_MOST = 1 << 12


def add_chains(moves: ParserTransitions, lexer: Lexer, actions: TokenActions) -> None:
    """Add chains to ``moves``, at most 4,096: those of the heads that were found first."""
    found = 0
    for head in sorted(moves.at):
        if head != REFUSED:
            for action in _candidates(moves, lexer, actions, head):
                move = _chain(moves, actions, head, action)
                if found == _MOST:
                    return
                if move is not None:
                    moves.add_chain(head, action, move)
                    found += 1


def _candidates(
    moves: ParserTransitions, lexer: Lexer, actions: TokenActions, head: int
) -> Iterator[int]:
    """The events of a head, without those that no next lexeme begins behind."""
    states = len(actions.table)
    reached = lexer.reachable(moves.at[head].start)
    met = np.unique(actions.table[[state for state in reached if state < states]])
    # The first event is the refusal.
    events = met[met > states].astype(np.int64) - states
    winners, rests = actions.events[events].T
    for ended in np.unique(winners).tolist():
        move = moves.behind(head, ended)
        if move.head == REFUSED or move.start >= states:
            continue
        here = events[winners == ended]
        if not move.is_open:
            behind = actions.table[move.start, rests[winners == ended]]
            here = here[(behind > 0) & (behind != states)]
        yield from (here + states).tolist()


def _chain(
    moves: ParserTransitions, actions: TokenActions, head: int, action: int
) -> ParserTransition | None:
    """The move of the lexemes that an event ends; None if the token is refused."""
    states = len(actions.table)
    stack: list[int] = []
    while action >= states:
        winners, rest = actions.events[action - states].tolist()
        if winners == NONE:
            return None
        move = moves.behind(head, winners)
        while move.is_open and stack:
            move = moves.plugged(move.head, stack.pop())
        if move.is_open:
            return move._replace(start=rest)
        if move.head == REFUSED or move.start >= states:
            return None
        stack.extend(move.pushed)
        head, action = move.head, int(actions.table[move.start, rest])
    return move._replace(start=action, pushed=tuple(stack)) if action else None
