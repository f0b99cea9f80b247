"""Why a text is or is not a member by maximal munch: where the lexer or the parser stops.

What could have stood there is a byte with which the lexeme goes on, and, if it may end there,
the lexemes that the parser allows behind it.
"""

from collections.abc import Iterator

from constrain.artifacts.greedy_masks import GreedyMasks
from constrain.artifacts.greedy_residual import BETWEEN
from constrain.artifacts.heads import BELOW_ALL, REFUSED
from constrain.artifacts.network_tables import DEAD

from .explain import Status, Verdict, common, position, ranges, shortened, without_line_break
from .parsing.below import states_inside
from .parsing.text import rules_of_entries

# Lexemes that are listed, and stacks of rules that are looked at.
_LEXEMES, _STACKS = 12, 64


def explain_greedy(masks: GreedyMasks, text: bytes) -> Verdict:
    """The verdict on ``text``."""
    offset, state = masks.follow(masks.start, text)
    may_end = masks.is_accepting(state)
    status = Status.REJECTED
    if offset == len(text):
        status = Status.ACCEPTED if may_end else Status.INCOMPLETE
    shorter = without_line_break(text)
    line, column = position(text, offset)
    inside = masks.place(state)[2]
    row = [DEAD] * 256 if inside == BETWEEN else masks.lexer.rows[inside]
    return Verdict(
        status=status,
        offset=offset,
        line=line,
        column=column,
        rules=(),
        expected=ranges(octet for octet, target in enumerate(row) if target != DEAD),
        tokens=(),
        may_end=may_end,
        but_for_line_break=status is Status.REJECTED
        and len(shorter) < len(text)
        and _accepts(masks, shorter),
        path=shortened(common(list(_paths(masks, state)))),
        terminals=_lexemes(masks, masks.ended(state), row),
    )


def _accepts(masks: GreedyMasks, text: bytes) -> bool:
    state = masks.read(masks.start, text)
    return state is not None and masks.is_accepting(state)


def _lexemes(masks: GreedyMasks, head: int, row: list[int]) -> tuple[str, ...]:
    """What may begin behind the lexeme, with a byte that this one cannot read."""
    if head == REFUSED:
        return ()
    lexer, found = masks.lexer, list[str]()
    for lexeme in sorted(masks.heads.view(head).allowed):
        begin = lexer.tables.dfas.table[lexer.tables.dfas.starts[lexeme]][lexer.columns].tolist()
        text = lexer.tables.texts[lexeme]
        if text and any(b != DEAD and r == DEAD for b, r in zip(begin, row, strict=True)):
            found.append(text)
    return tuple(found[:_LEXEMES]) + ("…",) * (len(found) > _LEXEMES)


def _paths(masks: GreedyMasks, state: int) -> Iterator[list[str]]:
    """The rules that lie inside each other, the start first, for each way to read the text."""
    tables = masks.heads.tables
    head, frames, _ = masks.place(state)
    owners = _owners(masks)
    entries = masks.heads.stacks.entries
    below = [frame for frame in reversed(frames) if frame != BELOW_ALL]
    pending = [([thread], node) for thread, node in masks.heads.threads[head] if thread != DEAD]
    count = 0
    while pending and count < _STACKS:
        states, node = pending.pop()
        for frame, rest in entries[node]:
            if frame > BELOW_ALL:
                pending.append(([frame, *states], rest))
            else:
                count += 1
                names = [
                    tables.names[0],
                    *(owners[each] for each in (*below, *states) if each in owners),
                ]
                yield [a for a, b in zip(names, [*names[1:], ""], strict=True) if a != b]


def _owners(masks: GreedyMasks) -> dict[int, str]:
    """The called rule that each state is in; a state of several is named by the first."""
    tables = masks.heads.tables
    owners: dict[int, str] = {}
    for start, name in rules_of_entries(tables).items():
        for state in states_inside(tables, start):
            owners.setdefault(state, name)
    return owners
