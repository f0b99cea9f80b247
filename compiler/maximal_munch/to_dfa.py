"""The minimal DFA over bytes of a grammar that is read by maximal munch and in which no rule nests.

Its states are the configurations of the machine that reads texts: a head, the frames below it and a
state of the lexer. Where nothing nests there are finitely many. Minimisation leaves out those that
are not co-accessible, so that a prefix of a member has an end by maximal munch, too.
"""

import numpy as np

from constrain.artifacts.maximal_munch.configurations import Configurations
from constrain.artifacts.maximal_munch.lexer import BETWEEN
from constrain.artifacts.maximal_munch.nullable_frame_runs import NullableFrameRuns
from constrain.artifacts.maximal_munch.parser_heads import REFUSED, Heads
from constrain.artifacts.maximal_munch.parser_transitions import ParserTransitions
from constrain.artifacts.maximal_munch.tables import MaximalMunchTables, ReadTables
from constrain.artifacts.tokens.vocabulary import Vocabulary

from ..automata.dfa import DEAD, Dfa
from ..automata.minimize import minimize
from ..limits import Limits


def text_machine(tables: ReadTables) -> Configurations:
    """The configurations of a grammar, which read texts; there is no vocabulary."""
    heads, lexer = Heads(tables.network), tables.lexer.lexer()
    runs = NullableFrameRuns(heads, tables.lexer, Vocabulary.from_tokens({}, (), 1))
    return Configurations(heads, lexer, ParserTransitions(heads, lexer, runs))


def accepts(machine: Configurations, text: bytes) -> bool:
    """Whether a text is a member."""
    configuration = machine.read(machine.start, text)
    return configuration is not None and machine.is_accepting(configuration)


def maximal_munch_dfa(tables: MaximalMunchTables, limits: Limits) -> Dfa:
    """The minimal DFA; origins are the lexemes that may be read. Raises ``LimitError``."""
    machine = text_machine(tables)
    distinct, first, classes = np.unique(
        tables.lexer.dfas.columns[:256], return_index=True, return_inverse=True
    )
    octets = first.tolist()
    numbers = {machine.start: 1}
    pending = [machine.start]
    rows = [[DEAD] * len(distinct)]
    for configuration in pending:
        limits.check_states(len(numbers), "the automaton of maximal munch")
        limits.check_resources("the automaton of maximal munch")
        targets = _targets(machine, configuration, octets)
        for target in dict.fromkeys(targets):
            if target is not None and target not in numbers:
                numbers[target] = len(numbers) + 1
                pending.append(target)
        rows.append([DEAD if target is None else numbers[target] for target in targets])
    dfa = Dfa(
        np.array(rows, dtype=np.int32),
        classes.astype(np.uint8),
        np.array([False, *map(machine.is_accepting, pending)]),
        1,
        (frozenset(), *(_readable(machine, configuration) for configuration in pending)),
    )
    return minimize(dfa, limits)


def _targets(machine: Configurations, configuration: int, octets: list[int]) -> list[int | None]:
    """Where each byte leads. One is read of those that are alike to the lexer: in its state and,
    where the lexeme ends, in the state before the next lexeme."""
    rows = machine.lexer.rows
    behind = machine.transitions.to_head[machine.head_after(configuration)].lexer_start
    inside_row, behind_row = rows[machine.lexer_state(configuration)], rows[behind]
    kinds = [inside_row[octet] or ("behind", behind_row[octet]) for octet in octets]
    one_of_each = dict(zip(kinds, octets, strict=True))
    targets = {
        kind: machine.read(configuration, bytes([octet])) for kind, octet in one_of_each.items()
    }
    return [targets[kind] for kind in kinds]


def _readable(machine: Configurations, configuration: int) -> frozenset[int]:
    """The lexemes that go on in a configuration, and those that may begin after them."""
    state, head = machine.lexer_state(configuration), machine.head_after(configuration)
    found = frozenset[int]() if state == BETWEEN else machine.lexer.lexemes(state)
    return found if head == REFUSED else found | machine.heads.view(head).allowed
