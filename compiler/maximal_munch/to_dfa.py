"""The automaton over bytes of a grammar that is read by maximal munch and nests nothing.

Its states are those of the machine that reads texts: a head, the frames below it, and a state
of the lexer. Where nothing nests there are finitely many. What leads to no end is left out
with them: longest matches that leave no way to go on are in no prefix of a member.
"""

import numpy as np

from constrain.artifacts.maximal_munch.machine import MaximalMunchMasks
from constrain.artifacts.maximal_munch.parser_heads import REFUSED
from constrain.artifacts.maximal_munch.summaries import BETWEEN
from constrain.artifacts.maximal_munch.tables import MaximalMunchTables
from constrain.artifacts.tokens.trie import Trie
from constrain.artifacts.tokens.vocabulary import Vocabulary

from ..automata.dfa import DEAD, Dfa
from ..automata.minimize import minimize
from ..limits import Limits


def text_machine(tables: MaximalMunchTables) -> MaximalMunchMasks:
    """A machine that reads texts alone."""
    nothing = Vocabulary.from_tokens({}, (), 1)
    return MaximalMunchMasks(tables, lambda: Trie.from_vocabulary(nothing), nothing, (), 1)


def accepts(machine: MaximalMunchMasks, text: bytes) -> bool:
    """Whether a text is a member."""
    state = machine.read(machine.start, text)
    return state is not None and machine.is_accepting(state)


def maximal_munch_dfa(tables: MaximalMunchTables, limits: Limits) -> Dfa:
    """The minimal DFA; origins are the lexemes that may be read. Raises ``LimitError``."""
    machine = text_machine(tables)
    distinct, first, classes = np.unique(
        tables.lexer.dfas.columns[:256], return_index=True, return_inverse=True
    )
    octets = [bytes([octet]) for octet in first.tolist()]
    numbers = {machine.start: 1}
    pending = [machine.start]
    rows = [[DEAD] * len(distinct)]
    for state in pending:
        limits.check_states(len(numbers), "the automaton of longest matches")
        limits.check_time("the automaton of longest matches")
        row = []
        for octet in octets:
            target = machine.read(state, octet)
            if target is not None and target not in numbers:
                numbers[target] = len(numbers) + 1
                pending.append(target)
            row.append(DEAD if target is None else numbers[target])
        rows.append(row)
    dfa = Dfa(
        np.array(rows, dtype=np.int32),
        classes.astype(np.uint8),
        np.array([False, *map(machine.is_accepting, pending)]),
        1,
        (frozenset(), *(_readable(machine, state) for state in pending)),
    )
    return minimize(dfa, limits)


def _readable(machine: MaximalMunchMasks, state: int) -> frozenset[int]:
    """The lexemes that go on in a state, and those that may begin behind them."""
    inside, ended = machine.inside(state), machine.ended(state)
    found = frozenset[int]() if inside == BETWEEN else machine.lexer.lexemes(inside)
    return found if ended == REFUSED else found | machine.heads.view(ended).allowed
