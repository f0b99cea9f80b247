"""The machine of matchers where growing terminals are called: summaries of theirs are walks of
their own."""

from collections.abc import Callable, Sequence

from ..dfa.conjunctions import Conjunction
from ..dfa.emptiness import UndecidedError
from ..dfa.lazy_reader import Reader
from ..network.configurations import REFUSED, Texts
from ..tokens.interning import Lock
from ..tokens.memo import CacheBudget
from ..tokens.sharing import weakly
from ..tokens.tokenset import Words
from ..tokens.trie import Trie
from ..tokens.vocabulary import Vocabulary
from ..walk.node_sets import Nodes
from ..walk.summaries import Summaries, down_the_stacks
from .masks import MetMasks, StoredMasks
from .position_states import PositionStates
from .states import DEAD
from .terminal_states import TerminalStates
from .terminal_walks import TerminalWalks

# How a budget is divided: the machine, and walks inside terminals.
_OWN, _INSIDE = 5, 3

_EOS = -1


class TerminalMasks(MetMasks):
    """``terminals``: those that ``maker`` calls, with what was found of any text."""

    harmless = (UndecidedError,)

    def __init__(
        self,
        terminals: TerminalWalks,
        maker: PositionStates,
        trie: Callable[[], Trie],
        vocabulary: Vocabulary,
        eos: Sequence[int],
        vocab_size: int,
        caches: CacheBudget | None = None,
        lock: Lock | None = None,
    ) -> None:
        self.terminals, self._inside = terminals, TerminalStates(maker, terminals.readers)
        super().__init__(self._inside, trie, vocabulary, eos, vocab_size, caches, lock)

    def _begin_walks(
        self, trie: Callable[[], Trie], rows: CacheBudget, stored: StoredMasks | None
    ) -> None:
        super()._begin_walks(trie, rows, stored)
        size = self._vocab_size
        self.summaries = Summaries(self.states, trie, size, rows.limit, weakly(self._walk_inside))

    def _walk_inside(self, nodes: Nodes, state: int, *, is_root: bool) -> tuple[Words, Nodes]:
        terminal, threads = self._inside.inside[state]
        if is_root:
            return self.terminals.from_root(terminal, threads, self.states.ends[state])
        return self.terminals.from_nodes(nodes, terminal, threads)

    def _made_row(self, state: int) -> Words:
        summaries, network = self.summaries, self.network
        if summaries.is_full:
            self._masks.clear()
            summaries.forget()
        threads = [thread for thread in network.threads[state] if thread[0] != DEAD]
        found = down_the_stacks(threads, network.stacks.entries, summaries.summary)
        assert found is not None
        if network.may_end(state):
            found[0].add(summaries.rows.constant(_EOS, self._eos))
        return summaries.rows[summaries.rows.union(found[0])]

    def _stepped(self, state: int, token_id: int) -> int:
        network, found = self.network, dict[int, int]()
        for text in self._readings(token_id):
            for thread, node in network.threads[state]:
                inside = self._inside.inside.get(thread)
                if inside is None or self.terminals.may_leave(inside[0], text):
                    return super()._stepped(state, token_id)
                # Few states inside terminals are met again: those between are not kept.
                target = self._inside.behind(thread, bytes(text))
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
