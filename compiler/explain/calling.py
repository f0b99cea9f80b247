"""The verdict on a text where the states of terminals are made while decoding.

What may follow is found byte by byte; of the rules the start is named, whose texts are an operation
on those of others.
"""

from collections.abc import Sequence

from constrain.artifacts.network.configurations import REFUSED, Texts

from ..automata.dump import ranges
from ..automata.nfa import FIRST_TERMINAL
from .report import Status, Verdict, position, without_line_break


def explain_calling(
    network: Texts, text: bytes, *rules: str, tokens: Sequence[str] = ()
) -> Verdict:
    """The verdict on ``text``; ``rules``: what is said to be read; ``tokens``: the names of the
    token terminals. Raises ``UndecidedError``."""
    offset = network.viable(text)
    reached = network.read(network.start, text[:offset])
    following = range(FIRST_TERMINAL + len(tokens))
    expected = [symbol for symbol in following if network.read(reached, [symbol]) != REFUSED]
    octets = ranges([symbol for symbol in expected if symbol < FIRST_TERMINAL])

    def accepts(whole: bytes) -> bool:
        found = network.read(network.start, whole)
        return found != REFUSED and network.may_end(found)

    may_end = accepts(text[:offset])
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
        rules=rules,
        expected=octets,
        following=octets,
        tokens=tuple(tokens[s - FIRST_TERMINAL] for s in expected if s >= FIRST_TERMINAL),
        may_end=may_end,
        but_for_line_break=status is Status.REJECTED and shorter != text and accepts(shorter),
    )
