"""Random members of a grammar by random derivations: each alternative as likely as its neighbours.

``constrain sample`` draws texts uniformly, most of which are one long string; what is drawn here
meets every rule soon.
"""

import random
from functools import cached_property

import numpy as np

from constrain.compiler.automata.dfa import Dfa
from constrain.compiler.automata.minimize import minimal
from constrain.compiler.automata.thompson import thompson
from constrain.compiler.dialects import read_grammar
from constrain.compiler.frontend import normal_form
from constrain.compiler.grammar.check import check
from constrain.compiler.limits import Limits
from constrain.compiler.lnf import Lnf

FAR = 1 << 30


class Derivations:
    """Draws from a normal form; texts end soon after ``soft`` bytes."""

    def __init__(self, lnf: Lnf, soft: int = 60) -> None:
        self._lnf = lnf
        self._soft = soft
        self._walks: dict[int, _Walk] = {}

    def draw(self, rng: random.Random) -> bytes:
        """A member."""
        text, symbols = bytearray(), [self._lnf.start]
        while symbols:
            symbol = symbols.pop()
            hurried = len(text) + len(symbols) > self._soft
            if symbol < 0:
                text += self._terminal(~symbol, rng, hurried)
                continue
            productions = self._lnf.by_head[symbol]
            if hurried:
                body = min((p.body for p in productions), key=self._cost)
            else:
                body = rng.choice(productions).body
            symbols.extend(reversed(body))
        return bytes(text)

    def _terminal(self, number: int, rng: random.Random, hurried: bool) -> bytes:
        content = self._lnf.terminals[number].content
        if isinstance(content, bytes):
            return content
        if number not in self._walks:
            self._walks[number] = _Walk(minimal(thompson(content)))
        return self._walks[number].draw(rng, 0 if hurried else 6)

    def _cost(self, body: tuple[int, ...]) -> int:
        return sum(1 if symbol < 0 else self._heights[symbol] + 1 for symbol in body)

    @cached_property
    def _heights(self) -> list[int]:
        """The fewest nodes of a derivation from each nonterminal."""
        found = [FAR] * len(self._lnf.names)
        changed = True
        while changed:
            changed = False
            for production in self._lnf.productions:
                cost = sum(1 if s < 0 else found[s] + 1 for s in production.body)
                if cost < found[production.head]:
                    found[production.head] = cost
                    changed = True
        return found


class _Walk:
    """Random texts of an automaton."""

    def __init__(self, dfa: Dfa) -> None:
        self._dfa = dfa
        self._octets = [np.flatnonzero(dfa.classes == c) for c in range(dfa.byte_columns)]
        table = dfa.table
        self._distance = np.where(dfa.accepting, 0, FAR)
        for _ in range(len(table)):
            nearer = np.minimum(self._distance, self._distance[table].min(axis=1) + 1)
            if np.array_equal(nearer, self._distance):
                break
            self._distance = nearer

    def draw(self, rng: random.Random, steps: int) -> bytes:
        """A text, of about ``steps`` bytes or as many as it takes to end."""
        dfa, state, text = self._dfa, self._dfa.start, bytearray()
        while not dfa.accepting[state] or (len(text) < steps and rng.random() < 0.8):
            row = self._distance[dfa.table[state, : dfa.byte_columns]]
            live = np.flatnonzero(row < FAR)
            if len(text) >= steps:
                live = np.flatnonzero(row == row.min())
            if not len(live):
                break
            column = rng.choice(live.tolist())
            text.append(rng.choice(self._octets[column].tolist()))
            state = int(dfa.table[state, column])
        return bytes(text)


def derivations(text: str, dialect: str, soft: int = 60) -> Derivations:
    """Of a grammar's text that is read exactly."""
    grammar = read_grammar(text, dialect)
    check(grammar)
    return Derivations(normal_form(grammar, Limits().started())[1], soft)
