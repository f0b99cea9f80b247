"""One interface over all engines: a text's states byte by byte, to look for what could stand there.

    machine.start -> step(state, octet) -> state or None -> may_end(state)

States are integers that belong to one machine, which may go back to any of them.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from functools import cached_property

from constrain.artifacts import Artifact
from constrain.artifacts.dfa.byte_dfa import DEAD, ByteDfa
from constrain.artifacts.earley.recogniser import Earley
from constrain.artifacts.kinds.maximal_munch import MaximalMunchRuntime
from constrain.artifacts.kinds.met_states import MetStates
from constrain.artifacts.kinds.network import NetworkGrammar
from constrain.artifacts.kinds.parser import NestingGrammar
from constrain.artifacts.machine.distinct_texts import DistinctTexts
from constrain.artifacts.machine.terminal_masks import texts_of
from constrain.artifacts.maximal_munch.configurations import Configurations
from constrain.artifacts.maximal_munch.parser_heads import BELOW_ALL
from constrain.artifacts.network.configurations import REFUSED, Texts
from constrain.artifacts.network.counted_stacks import network_over
from constrain.artifacts.network.tables import NetworkTables

from ..frontend import Automaton, Parser, Recogniser, of_operation
from ..limits import Limits
from ..maximal_munch.to_dfa import text_machine

_BYTES = 256
_EACH = [(octet,) for octet in range(_BYTES)]


class TextMachine(ABC):
    """Reads texts. ``start``: the state before any. ``most_steps``: as many as a search makes."""

    start: int
    most_steps = 100_000

    @abstractmethod
    def step(self, state: int, octet: int) -> int | None:
        """The state after a byte; None if no member goes on so."""

    @abstractmethod
    def may_end(self, state: int) -> bool:
        """Whether the text so far is a member."""

    def depth(self, state: int) -> int:
        """How many calls the text is inside of: of several readings the fewest, 0 where unknown."""
        return 0

    @property
    def nbytes(self) -> int:
        """About the size of the states that were made, where they may be as many as texts."""
        return 0

    def named(self, state: int, terminal: int) -> int | None:
        """The state after a token that the grammar names, by its terminal's number."""
        return self.step(state, _BYTES + terminal)

    def follow(self, state: int, text: Iterable[int]) -> tuple[int, int]:
        """How many bytes of ``text`` can be read, and the state after them."""
        count = 0
        for octet in text:
            reached = self.step(state, octet)
            if reached is None:
                break
            state = reached
            count += 1
        return count, state

    def accepts(self, text: bytes) -> bool:
        """Whether a text is a member."""
        count, state = self.follow(self.start, text)
        return count == len(text) and self.may_end(state)

    def next_bytes(self, state: int) -> list[int]:
        """The bytes that may come next, ascending."""
        alike = [octets for octets in self.alike if self.step(state, octets[0]) is not None]
        return sorted(octet for octets in alike for octet in octets)

    @property
    def alike(self) -> Sequence[Sequence[int]]:
        """Bytes of which all that are in one list lead to the same states."""
        return _EACH


class DfaMachine(TextMachine):
    """The states of a byte DFA."""

    def __init__(self, dfa: ByteDfa) -> None:
        self.dfa, self.start = dfa, dfa.start
        self._columns: list[int] = dfa.classes.tolist()

    def step(self, state: int, octet: int) -> int | None:
        """By the table."""
        dfa = self.dfa
        if octet >= _BYTES:
            target = int(dfa.token_targets(state)[octet - _BYTES])
        else:
            target = self._rows[state][self._columns[octet]]
        return None if target == DEAD else target

    def may_end(self, state: int) -> bool:
        """Whether it is final."""
        return bool(self.dfa.accepting[state])

    @cached_property
    def _rows(self) -> Sequence[Sequence[int]]:
        rows: list[list[int]] = self.dfa.table.tolist()
        return rows

    @cached_property
    def alike(self) -> Sequence[Sequence[int]]:
        """By the columns of its table."""
        return by_column(self._columns)


class NetworkMachine(TextMachine):
    """The configurations of a network: with counters and sets, and with lazy terminals, too."""

    def __init__(self, network: Texts | DistinctTexts) -> None:
        self.network, self.start = network, network.start
        self._heights = list[int]()

    def step(self, state: int, octet: int) -> int | None:
        """By the threads."""
        reached = self.network.read(state, (octet,))
        return None if reached == REFUSED else reached

    def may_end(self, state: int) -> bool:
        """Whether a thread may."""
        return self.network.may_end(state)

    @property
    def nbytes(self) -> int:
        """Of stacks and configurations."""
        texts = self.network
        return (texts.inside(texts.start)[0] if isinstance(texts, DistinctTexts) else texts).nbytes

    def depth(self, state: int) -> int:
        """The height of the lowest stack of a thread."""
        texts, inner = self.network, state
        if isinstance(texts, DistinctTexts):
            texts, inner = texts.inside(state)
        nodes, heights = [node for _, node in texts.threads[inner]], self._heights
        # What lies below a node was numbered before it.
        for entries in texts.stacks.entries[len(heights) : max(nodes, default=0) + 1]:
            on_top = [0 if frame <= DEAD else 1 + heights[below] for frame, below in entries]
            heights.append(min(on_top))
        return min((heights[node] for node in nodes), default=0)

    @cached_property
    def alike(self) -> Sequence[Sequence[int]]:
        """By the columns of its table, if it is complete."""
        tables = self.network.tables
        if not isinstance(tables, NetworkTables):
            return _EACH
        return by_column(tables.classes.tolist()[:_BYTES])


class MaximalMunchMachine(TextMachine):
    """The configurations of lexer and parser."""

    def __init__(self, configurations: Configurations) -> None:
        self.configurations, self.start = configurations, configurations.start

    def step(self, state: int, octet: int) -> int | None:
        """By the lexer, and where a lexeme ends by the parser."""
        count, reached = self.configurations.follow(state, (octet,))
        return reached if count else None

    def named(self, state: int, terminal: int) -> int | None:
        """Never: no lexeme is a token."""
        return None

    def may_end(self, state: int) -> bool:
        """Whether the lexeme and all around it may."""
        return self.configurations.is_accepting(state)

    def depth(self, state: int) -> int:
        """The height of the frames below the head."""
        _, node, _ = self.configurations.parts(state)
        node &= self.configurations.transitions.node_mask
        entries, height = self.configurations.transitions.frames.entries, 0
        while entries[node][0] != BELOW_ALL:
            node, height = entries[node][1], height + 1
        return height

    @cached_property
    def alike(self) -> Sequence[Sequence[int]]:
        """By the columns of the lexer."""
        return by_column(self.configurations.lexer.columns.tolist())


class EarleyMachine(TextMachine):
    """The columns of Earley's recogniser. A state is a text; the recogniser goes from one to
    another by taking back what they do not share."""

    most_steps = 20_000

    def __init__(self, earley: Earley) -> None:
        self._earley = earley
        self.start = 0
        # Of each state the one before, its last byte, and its length.
        self._before, self._octets, self._lengths = [0], [0], [0]
        self._steps: dict[tuple[int, int], int | None] = {}
        self._path = [0]

    def step(self, state: int, octet: int) -> int | None:
        """By a column."""
        key = state, octet
        if key in self._steps:
            return self._steps[key]
        self._go_to(state)
        found = None
        if self._earley.push(octet):
            found = len(self._before)
            self._before.append(state)
            self._octets.append(octet)
            self._lengths.append(self._lengths[state] + 1)
            self._path.append(found)
        self._steps[key] = found
        return found

    def may_end(self, state: int) -> bool:
        """Whether its column accepts."""
        self._go_to(state)
        return self._earley.is_accepting

    def next_bytes(self, state: int) -> list[int]:
        """By the terminals that the column waits for."""
        self._go_to(state)
        symbols = self._earley.next_symbols()
        return [octet for octet in range(_BYTES) if symbols >> octet & 1]

    def _go_to(self, state: int) -> None:
        missing, at = [], state
        while self._lengths[at] >= len(self._path) or self._path[self._lengths[at]] != at:
            missing.append(at)
            at = self._before[at]
        shared = self._lengths[at]
        if shared + 1 < len(self._path):
            del self._path[shared + 1 :]
            self._earley.truncate(shared)
        for each in reversed(missing):
            self._earley.push(self._octets[each])
            self._path.append(each)


def by_column(columns: Sequence[int]) -> list[list[int]]:
    """The bytes of each column of a table."""
    found: dict[int, list[int]] = {}
    for octet, column in enumerate(columns):
        found.setdefault(column, []).append(octet)
    return [*found.values()]


def machine_of(recogniser: Recogniser) -> TextMachine:
    """The machine of a grammar's recogniser. Raises ``LimitError``."""

    if isinstance(recogniser, Automaton):
        if recogniser.operation is not None:
            limits = Limits().started()
            return NetworkMachine(_calling(of_operation(recogniser, recogniser.operation, limits)))
        return DfaMachine(recogniser.dfa.tables())
    if not isinstance(recogniser, Parser):
        return MaximalMunchMachine(text_machine(recogniser.tables))
    if recogniser.lazily is not None:
        return NetworkMachine(_calling(recogniser))
    if recogniser.network is None:
        return EarleyMachine(recogniser.recogniser())
    network = network_over(recogniser.network)
    return NetworkMachine(DistinctTexts(network) if recogniser.grammar.marks_equal else network)


def _calling(parser: Parser) -> Texts:

    assert parser.met is not None and parser.lazily is not None
    terminals = [each.conjunctions for each in parser.lazily.terminals]
    return texts_of(parser.met.stored.begun(len(terminals)), terminals)


def machine_in(artifact: Artifact) -> TextMachine:
    """The machine of an artifact's texts."""
    runtime = artifact.runtime
    if artifact.is_regular:
        return DfaMachine(artifact.byte_dfa)
    if isinstance(runtime, MaximalMunchRuntime):
        return MaximalMunchMachine(runtime.machine().configurations)
    if isinstance(runtime, MetStates):
        return NetworkMachine(runtime.texts())
    if isinstance(runtime, NetworkGrammar):
        return NetworkMachine(network_over(runtime.network))
    assert isinstance(runtime, NestingGrammar)
    return EarleyMachine(runtime.recogniser())
