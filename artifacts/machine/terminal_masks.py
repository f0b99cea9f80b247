"""The machine of matchers where growing terminals are called: summaries of theirs are walks of
their own."""

from collections.abc import Callable, Sequence

from ..lazy_dfa.emptiness import UndecidedError
from ..lazy_dfa.reader import Reader
from ..lazy_dfa.tables import Conjunction
from ..network.configurations import REFUSED, Texts
from ..network.lazy_token_effects import LazyTokenEffects
from ..summaries.node_sets import NOTHING, ROOT
from ..tokens.interning import Lock
from ..tokens.memo import CacheBudget
from ..tokens.tokenset import Words
from ..tokens.trie import Trie
from ..tokens.vocabulary import Vocabulary
from .masks import MetMasks
from .position_states import PositionStates
from .state_summaries import StateSummaries
from .states import DEAD, StateMaker, States
from .terminal_states import TerminalStates
from .terminal_walks import TerminalWalks

# How a budget is divided: the machine, and walks inside terminals.
_OWN, _INSIDE = 5, 3

_EOS = -1


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

    def _begun(self, maker: StateMaker) -> States:
        self._states = TerminalStates(maker, self.terminals.readers)
        self._inside, self._behind = self._states.inside, self._states.behind
        return self._states

    def _begin_walks(
        self, trie: Callable[[], Trie], rows: CacheBudget, effects: CacheBudget
    ) -> None:
        self.summaries = TerminalSummaries(
            self._states, self.terminals, trie, self._vocab_size, rows
        )
        self._effects = LazyTokenEffects(self.network, self._readings, effects)

    def _made_row(self, state: int) -> Words:
        if self.summaries.is_full:
            self._masks.clear()
            self.summaries.forget()
        return self.summaries.rows[self._row(state)]

    def _row(self, configuration: int) -> int:
        summaries, entries = self.summaries, self.network.stacks.entries
        rows = set[int]()
        threads = self.network.threads[configuration]
        pending = [(ROOT, state, node) for state, node in threads if state != DEAD]
        seen = set(pending)
        for suspended, state, node in pending:
            row, left = summaries.summary(suspended, state)
            rows.add(row)
            for frame, below in entries[node] if left != NOTHING else ():
                key = left, frame, below
                if frame != DEAD and key not in seen:
                    seen.add(key)
                    pending.append(key)
        if self.network.may_end(configuration):
            rows.add(summaries.rows.constant(_EOS, self._eos))
        return summaries.rows.union(rows)

    def _stepped(self, state: int, token_id: int) -> int:
        network, found = self.network, dict[int, int]()
        threads = network.threads[state]
        terminals = [self._inside.get(thread) for thread, _ in threads]
        if not any(terminals):
            return self._effects.step(state, token_id)
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
