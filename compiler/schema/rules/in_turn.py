"""Members of an object that have their turn each, nothing being known of those before.

k1, then k2 if it is there, then k3       P1 ::= k1    P2 ::= P1 (, k2)?    P3 ::= P2 , k3
"""

from collections.abc import Sequence

from ...grammar import tree
from .witnesses import Member
from .writer import Writer


def in_turn(
    first: str, has_key: bool, named: Sequence[Member], cells: Sequence[Member], writer: Writer
) -> None:
    """Write the rules of what stands between the brackets of an object, that of all by the name
    ``first``, and before it one for each key, left-recursive.

    Without units, so that it takes linearly many states: all of it is left corners of the last
    rule, and passes that remove units copy nothing. ``has_key``: the first key stands before.
    """
    before: tree.Expr | None = writer.value(named[0].goal) if has_key else None
    may_begin = not has_key
    for member in named[has_key:]:
        key_and_value = written(member, writer)
        if before is not None and member.is_required and not may_begin:
            before = writer.sequence(before, writer.comma(), key_and_value)
            continue
        options: list[tree.Expr] = []
        if before is not None:
            turn = writer.sequence(writer.comma(), key_and_value)
            least = int(member.is_required)
            options.append(writer.sequence(before, writer.repetition(turn, least, 1)))
        if may_begin:
            options.append(key_and_value)
        may_begin &= not member.is_required
        name = writer.helper()
        writer.rule(name, options)
        before = writer.reference(name)
    inside = [] if before is None else [before]
    if cells:
        other = writer.choice([written(cell, writer) for cell in cells])
        more = writer.repetition(writer.sequence(writer.comma(), other), 0, None)
        inside = [writer.sequence(each, more) for each in inside]
        if may_begin:
            inside.append(writer.sequence(other, more))
    if may_begin:
        inside.append(writer.literal(b""))
    writer.rule(first, inside)


def written(member: Member, writer: Writer) -> tree.Expr:
    """A key and its value."""
    return writer.sequence(*before_value(member, writer), writer.value(member.goal))


def before_value(member: Member, writer: Writer) -> tuple[tree.Expr, tree.Expr]:
    """What stands before the value of a member."""
    key = member.key
    return writer.text(key) if isinstance(key, str) else writer.texts(key), writer.colon()
