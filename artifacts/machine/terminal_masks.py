"""The machine of matchers where growing terminals are called: summaries of theirs are walks of
their own."""

from collections.abc import Callable, Sequence

from ..lazy_dfa.emptiness import UndecidedError
from ..lazy_dfa.reader import Reader
from ..lazy_dfa.tables import Conjunction
from ..network.configurations import REFUSED, Texts
from ..summaries.node_sets import NOTHING, ROOT
from ..tokens.interning import Lock
from ..tokens.memo import CacheBudget
from ..tokens.tokenset import Words
from ..tokens.trie import Trie
from ..tokens.vocabulary import Vocabulary
from .masks import MetMasks, StateSummaries
from .position_states import PositionStates
from .states import DEAD, StateMaker, States
from .terminal_states import TerminalStates
from .terminal_walks import TerminalWalks

# How a budget is divided: the machine, and walks inside terminals.
_OWN, _INSIDE = 5, 3


class TerminalSummaries(StateSummaries):
    """F for the states of a network and those inside its terminals; of what is left suspended in
    these only exits are kept (``exits``)."""

    def __init__(
        self,
        states: TerminalStates,
        walks: TerminalWalks,
        trie: Callable[[], Trie],
        vocab_size: int,
        caches: CacheBudget,
    ) -> None:
        super().__init__(states, trie, vocab_size, caches)
        self._states_inside, self._ends, self._walks = states.inside, states.ends, walks
        # By identity: most states have a row that the walks gave before, which stays alive here.
        self._row_numbers: dict[int, int] = {}

    def forget(self) -> None:
        """Drop what was found; numbers of rows and sets are given again."""
        super().forget()
        self._row_numbers.clear()

    def _of_few(self, suspended: int, state: int) -> tuple[int, int] | None:
        inside = self._states_inside.get(state)
        if inside is None:
            return super()._of_few(suspended, state)
        terminal, threads = inside
        if suspended == ROOT:
            row, left = self._walks.from_root(terminal, threads, self._ends[state])
        else:
            nodes = self._whole_walk().flat(self.sets[suspended])
            row, left = self._walks.from_nodes(nodes, terminal, threads)
        number = self.sets.number(left) if len(left) else NOTHING
        return self._found((suspended, state), (self._row_number(row), number))

    def _row_number(self, row: Words) -> int:
        number = self._row_numbers.get(id(row))
        if number is None:
            number = self._row_numbers[id(row)] = self.rows.add(row)
        return number


class TerminalMasks(MetMasks):
    """``terminals``: those that ``maker`` calls, with what was found of any text."""

    harmless = (UndecidedError,)

    def __init__(
        self,
        terminals: TerminalWalks,
        maker: StateMaker,
        trie: Callable[[], Trie],
        vocabulary: Vocabulary,
        eos: Sequence[int],
        vocab_size: int,
        caches: CacheBudget | None = None,
        lock: Lock | None = None,
    ) -> None:
        self.terminals = terminals
        super().__init__(maker, trie, vocabulary, eos, vocab_size, caches, lock)

    def _begun(
        self, maker: StateMaker, trie: Callable[[], Trie], vocab_size: int, caches: CacheBudget
    ) -> tuple[States, StateSummaries]:
        walks = self.terminals
        states = TerminalStates(maker, walks.readers)
        self._inside, self._behind = states.inside, states.behind
        return states, TerminalSummaries(states, walks, trie, vocab_size, caches)

    def _stepped(self, state: int, token_id: int) -> int:
        network, found = self.network, dict[int, int]()
        threads = network.threads[state]
        terminals = [self._inside.get(thread) for thread, _ in threads]
        if not any(terminals):
            return super()._stepped(state, token_id)
        # Few states inside terminals are met again: what a token does there is not kept.
        readings = self._readings(token_id)
        for (thread, node), inside in zip(threads, terminals, strict=True):
            for text in readings:
                if inside is None or self.terminals.may_leave(inside[0], text):
                    return network.read(state, *readings)
                target = self._behind(thread, bytes(text))
                if target != DEAD:
                    network.add(found, target, node)
        return network.configuration(found) if found else REFUSED


def following(
    full: TerminalMasks | None,
    terminals: Sequence[Sequence[Conjunction]],
    begun: Callable[[], PositionStates],
    trie: Callable[[], Trie],
    vocabulary: Vocabulary,
    eos: Sequence[int],
    vocab_size: int,
    caches: CacheBudget,
    lock: Lock,
) -> TerminalMasks:
    """A machine that has read nothing, with the walks inside terminals of the one before, which is
    ``full``. ``begun``: states of which none is made."""
    own, inside = caches.divide(_OWN, _INSIDE)
    if full is not None:
        walks = full.terminals
    else:
        walks = TerminalWalks(
            terminals, trie, vocab_size, inside, lambda begins: begun().following(begins)
        )
    return TerminalMasks(walks, begun(), trie, vocabulary, eos, vocab_size, own, lock)


def texts_of(begun: PositionStates, terminals: Sequence[Sequence[Conjunction]]) -> Texts:
    """Reads texts by states of which none is made, and the terminals that they call."""
    return Texts(TerminalStates(begun, [Reader(each) for each in terminals]))
