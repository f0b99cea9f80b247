"""The token DFA while it is being merged: states in families that share their targets.

DirectMerge copies states: S' is S without one transition. A copy never changes where its
transitions lead, only which of them it has. (In the final automaton a state is a pair of an
original state and a class of last tokens, and the target of a token depends on the original state
and the token alone.) So all copies of one original state form a *family*, which stores

    targets      token -> state, once for the family
    forbidden    which member lacks which of these transitions, one bit each

and a merge that touches thousands of copies is one operation on a row of bits, in place of the loop
over members that the source's listings have. ``README.md`` proves that targets stay shared.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray


@dataclass(slots=True, eq=False)
class Family:
    """The copies of one original state.

    ``members``: their state numbers, by place. ``targets``: token to state, the transitions that at
    least one member has. ``slots``: token to its row of ``forbidden``, bool (slots, places); slots
    and places are allocated in advance. ``gone``: bool (places,), places of no member (any more).
    ``degree``: int64 (places,), the number of transitions of each member.
    """

    members: list[int] = field(default_factory=list)
    targets: dict[int, int] = field(default_factory=dict)
    slots: dict[int, int] = field(default_factory=dict)
    forbidden: NDArray[np.bool_] = field(default_factory=lambda: np.ones((4, 1), np.bool_))
    gone: NDArray[np.bool_] = field(default_factory=lambda: np.ones(1, np.bool_))
    degree: NDArray[np.int64] = field(default_factory=lambda: np.zeros(1, np.int64))

    def allows(self, token: int) -> NDArray[np.bool_]:
        """Which places have a transition by ``token``, bool (places,)."""
        allowed: NDArray[np.bool_] = ~(self.forbidden[self.slots[token]] | self.gone)
        return allowed

    def new_slot(self, token: int) -> int:
        """A new row for ``token``, which forbids it to all members."""
        if len(self.slots) == len(self.forbidden):
            self.forbidden = np.vstack([self.forbidden, np.ones_like(self.forbidden)])
        slot = self.slots[token] = len(self.slots)
        return slot

    def new_place(self, state: int) -> int:
        """The place of a new member."""
        if len(self.members) == len(self.gone):
            self.forbidden = np.hstack([self.forbidden, np.ones_like(self.forbidden)])
            self.gone = np.concatenate([self.gone, np.ones_like(self.gone)])
            self.degree = np.concatenate([self.degree, np.zeros_like(self.degree)])
        self.members.append(state)
        return len(self.members) - 1


class FamilyAutomaton:
    """A DFA over tokens that Algorithms 1 and 2 transform in place.

    Besides the families it has the indices of section 5.1: ``sources``, token to the families with
    a transition by it, and ``incoming``, for each state token to the families whose transition by
    it leads there. ``states`` and ``transitions`` count what a plain table would hold, ``cells``
    the bits of all families.
    """

    def __init__(self, families: int, start: int) -> None:
        self.families = [Family() for _ in range(families)]
        self.family_of: list[int] = []
        self.place_of: list[int] = []
        self.accepting: list[bool] = []
        self.incoming: list[dict[int, dict[int, None]]] = []
        self.sources: dict[int, dict[int, None]] = {}
        self.start = start
        self.states = 0
        self.transitions = 0
        self.cells = 0

    def add_state(self, q: int, accepting: bool) -> int:
        """A new member of family ``q``, without transitions."""
        state = len(self.family_of)
        family = self.families[q]
        before = family.forbidden.size
        place = family.new_place(state)
        self.cells += family.forbidden.size - before
        family.gone[place] = False
        self.family_of.append(q)
        self.place_of.append(place)
        self.accepting.append(accepting)
        self.incoming.append({})
        self.states += 1
        return state

    def copy_state(self, state: int) -> int:
        """A new member with the transitions and the acceptance of ``state``."""
        q, old = self.family_of[state], self.place_of[state]
        copy = self.add_state(q, self.accepting[state])
        family, new = self.families[q], self.place_of[copy]
        family.forbidden[:, new] = family.forbidden[:, old]
        family.degree[new] = family.degree[old]
        self.transitions += int(family.degree[new])
        return copy

    def remove_state(self, state: int) -> None:
        """Remove a member that has no transitions."""
        self.families[self.family_of[state]].gone[self.place_of[state]] = True
        self.states -= 1

    def has(self, state: int, token: int) -> bool:
        """Whether ``state`` has a transition by ``token``."""
        family = self.families[self.family_of[state]]
        slot = family.slots.get(token)
        if slot is None or token not in family.targets:
            return False
        return not family.forbidden[slot, self.place_of[state]]

    def target(self, state: int, token: int) -> int:
        """Where the family of ``state`` goes by ``token``."""
        return self.families[self.family_of[state]].targets[token]

    def degree(self, state: int) -> int:
        """How many transitions leave ``state``."""
        return int(self.families[self.family_of[state]].degree[self.place_of[state]])

    def add_edges(self, q: int, token: int, target: int, allowed: NDArray[np.bool_]) -> None:
        """Give the members at the places ``allowed`` a transition to ``target``.

        Raises ``ValueError`` if the family has one already (two effective merges never make
        the same token).
        """
        family = self.families[q]
        if token in family.targets:
            raise ValueError(f"two merges make token {token}")
        before = family.forbidden.size
        slot = family.slots.get(token)
        if slot is None:
            slot = family.new_slot(token)
        self.cells += family.forbidden.size - before
        family.forbidden[slot] = ~allowed
        family.degree += allowed
        self.transitions += int(np.count_nonzero(allowed))
        family.targets[token] = target
        self.sources.setdefault(token, {})[q] = None
        self.incoming[target].setdefault(token, {})[q] = None

    def remove_edges(self, q: int, token: int) -> None:
        """Take the transition by ``token`` from all members of a family."""
        family = self.families[q]
        allowed = family.allows(token)
        family.degree -= allowed
        self.transitions -= int(np.count_nonzero(allowed))
        family.forbidden[family.slots[token]] = True
        self._unlink(q, token, family.targets.pop(token))
        del self.sources[token][q]
        if not self.sources[token]:
            del self.sources[token]

    def redirect_edges(self, q: int, token: int, target: int) -> None:
        """Let the transitions by ``token`` of all members of a family lead to ``target``."""
        family = self.families[q]
        self._unlink(q, token, family.targets[token])
        family.targets[token] = target
        self.incoming[target].setdefault(token, {})[q] = None

    def forbid(self, state: int, token: int) -> None:
        """Take the transition by ``token`` from one state (it has one)."""
        q, place = self.family_of[state], self.place_of[state]
        family = self.families[q]
        family.forbidden[family.slots[token], place] = True
        family.degree[place] -= 1
        self.transitions -= 1
        if not family.allows(token).any():
            self.remove_edges(q, token)

    def has_incoming_besides(self, state: int, token: int) -> bool:
        """Whether a transition by another token than ``token`` leads to ``state``."""
        return len(self.incoming[state]) > (token in self.incoming[state])

    def _unlink(self, q: int, token: int, target: int) -> None:
        families = self.incoming[target][token]
        del families[q]
        if not families:
            del self.incoming[target][token]


def with_letters(
    states: int, start: int, accepting: Iterable[int], edges: Iterable[tuple[int, int, int]]
) -> FamilyAutomaton:
    """The automaton of a DFA over letters: a family of one member for each state.

    ``edges``: (source, letter, target). States and families have the same numbers.
    """
    automaton = FamilyAutomaton(states, start)
    final = set(accepting)
    for q in range(states):
        automaton.add_state(q, q in final)
    for source, letter, target in edges:
        family = automaton.families[source]
        slot = family.new_slot(letter)
        family.forbidden[slot, 0] = False
        family.degree[0] += 1
        family.targets[letter] = target
        automaton.transitions += 1
        automaton.sources.setdefault(letter, {})[source] = None
        automaton.incoming[target].setdefault(letter, {})[source] = None
    automaton.cells = sum(family.forbidden.size for family in automaton.families)
    return automaton
