"""The verdict on a text where the states of a DFA are made while decoding.

What may follow is found byte by byte; of the rules the start is named, whose texts are an operation
on those of others.
"""

from collections.abc import Sequence

from constrain.artifacts.lazy_dfa.reader import Reader
from constrain.artifacts.lazy_dfa.tables import Conjunction

from .report import Status, Verdict, position, ranges, without_line_break


def reader_of(conjunctions: Sequence[Conjunction]) -> Reader:
    """Reads texts by these conjunctions."""
    return Reader(conjunctions)


def explain_lazy(reader: Reader, text: bytes, rule: str) -> Verdict:
    """The verdict on ``text``; ``rule``: the start. Raises ``UndecidedError``."""
    offset = reader.viable(text)
    threads = reader.read(reader.start, text[:offset])
    may_end = reader.accepts(threads)
    if offset < len(text):
        status = Status.REJECTED
    else:
        status = Status.ACCEPTED if may_end else Status.INCOMPLETE
    line, column = position(text, offset)
    shorter = without_line_break(text)
    return Verdict(
        status=status,
        offset=offset,
        line=line,
        column=column,
        rules=(rule,),
        expected=ranges(octet for octet in range(256) if reader.read(threads, bytes([octet]))),
        tokens=(),
        may_end=may_end,
        but_for_line_break=status is Status.REJECTED
        and shorter != text
        and reader.accepts(reader.read(reader.start, shorter)),
    )
