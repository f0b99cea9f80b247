"""The verdict on a text where the states of a DFA are made while decoding.

What may follow is found byte by byte; of the rules the start is named, whose texts are an operation
on those of others.
"""

from collections.abc import Callable, Sequence

from constrain.artifacts.lazy_dfa.reader import Reader
from constrain.artifacts.lazy_dfa.tables import Conjunction
from constrain.artifacts.network.configurations import REFUSED, Texts

from .report import Status, Verdict, position, ranges, without_line_break


def reader_of(conjunctions: Sequence[Conjunction]) -> Reader:
    """Reads texts by these conjunctions."""
    return Reader(conjunctions)


def explain_lazy(reader: Reader, text: bytes, rule: str) -> Verdict:
    """The verdict on ``text``; ``rule``: the start. Raises ``UndecidedError``."""
    offset = reader.viable(text)
    threads = reader.read(reader.start, text[:offset])
    expected = [octet for octet in range(256) if reader.read(threads, bytes([octet]))]

    def accepts(whole: bytes) -> bool:
        return reader.accepts(reader.read(reader.start, whole))

    return _verdict(text, offset, expected, (rule,), accepts)


def explain_calling(network: Texts, text: bytes, *rules: str) -> Verdict:
    """The same by a network whose states, or those of its terminals, are made while decoding."""
    offset = network.viable(text)
    reached = network.read(network.start, text[:offset])
    expected = [octet for octet in range(256) if network.read(reached, [octet]) != REFUSED]

    def accepts(whole: bytes) -> bool:
        found = network.read(network.start, whole)
        return found != REFUSED and network.may_end(found)

    return _verdict(text, offset, expected, rules, accepts)


def _verdict(
    text: bytes,
    offset: int,
    expected: list[int],
    rules: tuple[str, ...],
    accepts: Callable[[bytes], bool],
) -> Verdict:
    may_end = accepts(text[:offset])
    if offset < len(text):
        status = Status.REJECTED
    else:
        status = Status.ACCEPTED if may_end else Status.INCOMPLETE
    line, column = position(text, offset)
    shorter = without_line_break(text)
    following = ranges(expected)
    return Verdict(
        status=status,
        offset=offset,
        line=line,
        column=column,
        rules=rules,
        expected=following,
        following=following,
        tokens=(),
        may_end=may_end,
        but_for_line_break=status is Status.REJECTED and shorter != text and accepts(shorter),
    )
