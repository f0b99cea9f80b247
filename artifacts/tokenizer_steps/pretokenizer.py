"""The pre-tokenizer as a DFA over marked bytes, and the states that a prompt may leave it in.

Each byte is read with a *mark* that says how the token of the byte begins:

    0  the byte lies inside a token, or begins one that continues a pre-token
    1  the byte begins a token that starts a pre-token (the start mark)
    2  the byte is a byte token by itself and continues a pre-token
    3  the byte is a byte token by itself and starts a pre-token

For a text there is exactly one sequence of marks that the DFA accepts, the tokenizer's own. After
a prompt several guesses may still be open: "I'm" ends in states with and without a boundary before
what follows. ``PretokenizerDfa.after`` gives all of these states.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..container.sections import Arrays
from ..tokens.distinct import distinct
from ..tokens.forbidden_pairs import ForbiddenPairs
from ..tokens.vocabulary import Vocabulary

DEAD = 0


@dataclass(frozen=True, eq=False)
class PretokenizerDfa:
    """The automaton of all texts with their pre-tokenizer boundaries marked.

    ``table``: int32 (S, M, J), next state by mark (M is 2 or 4) and byte class, state 0 dead.
    ``classes``: uint8 (256,), the class of each byte. ``fallback``: int32 (256,), the byte token
    of each byte or -1. ``start``: the state before any text. ``whole``: tokens that stand for a
    whole pre-token only (``ignore_merges``), which are read with the marks of byte tokens by
    tokenizers that have no byte tokens. ``prompt``:
    the state before a prompt, if that is not the start.
    """

    table: NDArray[np.int32]
    classes: NDArray[np.uint8]
    fallback: NDArray[np.int32]
    start: int
    whole: frozenset[int] = frozenset()
    prompt: int = DEAD

    @classmethod
    def from_arrays(cls, arrays: Arrays) -> "PretokenizerDfa":
        """That of the sections ``cuts.*`` of an artifact."""
        return cls(
            arrays["cuts.table"],
            arrays["cuts.classes"],
            arrays["cuts.fallback"],
            int(arrays["cuts.start"][0]),
            frozenset(arrays["cuts.whole"].tolist()) if "cuts.whole" in arrays else frozenset(),
            int(arrays["cuts.prompt"][0]) if "cuts.prompt" in arrays else DEAD,
        )

    @property
    def begin(self) -> int:
        """The state before a prompt."""
        return self.prompt or self.start

    @property
    def everywhere(self) -> Sequence[int]:
        """The states that some text may lead to, where nothing is known of it."""
        return range(1, len(self.table))

    @property
    def apart(self) -> NDArray[np.int32]:
        """The tokens whose first byte is read with the marks 2 and 3; int32, ascending."""
        bytewise = self.fallback[self.fallback >= 0]
        whole = np.array(sorted(self.whole), dtype=np.int32)
        return distinct(np.concatenate([bytewise, whole]))

    def step(self, state: int, mark: int, token: int, octets: bytes) -> int:
        """The state after a token whose first byte has the mark 0 or 1; 0 if it cannot stand here.

        ``octets``: the token's bytes. Tokens of ``apart`` are read with the mark plus 2.
        """
        if not octets:
            return DEAD
        first = octets[0]
        if len(octets) == 1 and self.fallback[first] == token:
            return int(self.table[state, mark + 2, self.classes[first]])
        if token in self.whole:
            mark += 2
        state = int(self.table[state, mark, self.classes[first]])
        for octet in octets[1:]:
            state = int(self.table[state, 0, self.classes[octet]])
        return state

    def after(
        self, ids: Iterable[int], vocabulary: Vocabulary, pairs: ForbiddenPairs
    ) -> tuple[list[int], int | None]:
        """The states that a prompt may end in, ascending, and its last text token.

        A special token ends a text, and a new one begins after it; so it is where the ids are no
        encoding of their text, as where two parts meet that were encoded separately.
        """
        states, last = [self.begin], None
        for token in ids:
            if not vocabulary.is_text(token):
                states, last = [self.begin], None
                continue
            octets = vocabulary.token(token)
            continues = last is not None and not pairs.forbids(last, token)
            found = self._stepped(states, token, octets, continues)
            if not found:
                found = self._stepped([self.begin], token, octets, False)
            if not found:
                found = self._stepped(self.everywhere, token, octets, True)
            states, last = found, token
        return states, last

    def _stepped(
        self, states: Iterable[int], token: int, octets: bytes, continues: bool
    ) -> list[int]:
        """The live states after a token; ``continues``: it may also continue a pre-token."""
        marks = (0, 1) if continues else (1,)
        found = {self.step(state, mark, token, octets) for state in states for mark in marks}
        return sorted(found - {DEAD})


def begins_character(table: NDArray[np.int32], classes: NDArray[np.uint8]) -> NDArray[np.bool_]:
    """In which states of a pre-tokenizer DFA a character may begin, whatever its mark; bool (S,).

    ``table``, ``classes``: as of ``PretokenizerDfa``.
    """
    leads = np.unique(classes[np.r_[:0x80, 0xC0:0x100]])
    found: NDArray[np.bool_] = (table[:, :, leads] != DEAD).any(axis=(1, 2))
    return found
