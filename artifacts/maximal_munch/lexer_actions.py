"""What a token does to the lexer, as one look at a table.

Tokens that do the same in every state of the lexer are of one *class*, and so are the rests of
tokens, behind bytes that were read. In state s, with a text of class c before it, the lexer

    reads all of it               action(s, c) = the state that it is in then
    ends its lexeme inside of it  action(s, c) = (the lexemes that end, class of the rest)
    reads nothing of it           action(s, c) = 0: the lexeme ends before it, if it can
    refuses it                    where it reads some of it and then no lexeme can end

and the next lexeme begins in a state that the parser tells, with the rest before it. So a token
costs one look for each lexeme that it ends and one more, whatever its length. The lexer is
deterministic: these are the transformations of its states (its transition monoid, as in
Eilenberg, *Automata, Languages, and Machines* B, 1976, III.10), cut where lexemes end.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

_PREFIX = "actions."

# The class of what is no text, which no state reads.
NO_TEXT = 0


@dataclass(frozen=True, eq=False)
class TokenActions:
    """``classes``: uint16 (V,), the class of each token. ``table``: uint16 (L, C), by state of
    the lexer and class: 0, a state, or L + i for event i. ``events``: int32 (E, 2), number of
    the lexer's winners, and the class of the rest, which is less than that of the whole; event
    0 is the refusal, with winners -1."""

    classes: NDArray[np.uint16]
    table: NDArray[np.uint16]
    events: NDArray[np.int32]

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> "TokenActions | None":
        """The sections of an artifact; None if it has none."""
        if _PREFIX + "table" not in arrays:
            return None
        return cls(**{field.name: arrays[_PREFIX + field.name] for field in fields(cls)})

    def arrays(self) -> dict[str, NDArray[Any]]:
        """``from_arrays`` is the inverse."""
        return {_PREFIX + field.name: getattr(self, field.name) for field in fields(self)}
