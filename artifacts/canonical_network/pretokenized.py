"""A network beside a pre-tokenizer DFA: what tokens read at its places, and which are live.

    NetworkTables, cuts.*, pairs.*, vocabulary
        -> Contexts     what may follow a place, given what lies below it
        -> TokenWalks   where tokens lead from a place
        -> Certificates, DeadEnds   which of them are live

All is made when it is first needed: where all rows were precomputed, nothing is. Beside a
normal-form DFA there is a second pre-tokenizer DFA, the *inert* one (``inert``): the first, but
that after each token, and after the end of the character that it may end in, only inert
characters follow, which are in normal form after any text. So

    live by the inert DFA  =>  live beside the normal-form DFA  =>  live by the first
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, reduce
from operator import or_
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..container.sections import Arrays, check_trie
from ..network.call_structures import CallStructures
from ..network.configurations import Network
from ..network.prefixed import behind_prefix
from ..network.tables import NetworkTables
from ..tokenizer_steps.byte_sets import ByteSets, of_flags
from ..tokenizer_steps.pretokenizer import PretokenizerDfa
from ..tokens.forbidden_pairs import ForbiddenPairs
from ..tokens.memo import CacheBudget
from ..tokens.sharing import recent
from ..tokens.trie import Trie, trie_arrays, trie_of
from ..tokens.vocabulary import Vocabulary
from ..tokens.watch import Watch, unwatched
from .byte_edges import Reading, reached, reading_of
from .certificates import Certificates, Place
from .check import APART_TRIE, MERGED_TRIE
from .contexts import Contexts, StackContexts
from .live_octets import LiveOctets
from .liveness import DeadEnds
from .splits import Splits
from .trie_walk import TokenWalks, token_tries

# How the budget is divided: certificates, searches, and rows in the middle of counts.
_DIVIDED = 1, 3, 1


@dataclass(eq=False)
class PretokenizedNetwork:
    """``final``: bool (Q,), the pre-tokenizer states that a text may end in. ``forbidden``: the
    pairs of all tokens that merging gives. ``continued``: the state of the network in which a
    member begins after a prompt, if that is not the start. ``reader``: the same network beside the
    pre-tokenizer DFA that says what each token reads, if this one only says what follows it; each
    state of that DFA is one of this. ``watch``: bounds what is computed. ``stored``: sections, with
    what needs not be computed."""

    network: Network
    pretokenizer: PretokenizerDfa
    final: NDArray[np.bool_]
    forbidden: ForbiddenPairs
    vocabulary: Vocabulary
    continued: int | None = None
    reader: "PretokenizedNetwork | None" = None
    caches: CacheBudget = field(default_factory=CacheBudget)
    watch: Watch = unwatched
    stored: Arrays = field(default_factory=dict)

    @classmethod
    def from_arrays(
        cls,
        tables: NetworkTables,
        arrays: Arrays,
        vocabulary: Vocabulary,
        caches: CacheBudget,
        watch: Watch = unwatched,
    ) -> "PretokenizedNetwork":
        """``tables``: of the grammar; texts begin after the prefix of ``cuts.prefix``."""
        prefix = arrays["cuts.prefix"].tobytes()
        once = "cuts.unless_begun" in arrays
        whole = behind_prefix(tables, prefix, unless_begun=once) if prefix else tables
        pretokenizer = PretokenizerDfa.from_arrays(arrays)
        return cls(
            network_of(whole),
            pretokenizer,
            arrays["cuts.final"].astype(np.bool_),
            ForbiddenPairs.from_arrays(arrays, "pairs."),
            vocabulary,
            whole.states - 1 if prefix else whole.start,
            caches=caches,
            watch=watch,
            stored=arrays,
        )

    def inert(self, arrays: Arrays) -> "PretokenizedNetwork":
        """The same beside the inert pre-tokenizer DFA, of the sections ``inert.*``: other rows for
        some states, and more states after theirs."""
        rows = arrays["inert.states"], arrays["inert.rows"]
        table = recent(_Patched, self.pretokenizer.table, *rows).table
        more = np.zeros(len(table) - len(self.final), np.bool_)
        return replace(
            self,
            pretokenizer=replace(self.pretokenizer, table=table),
            final=np.append(self.final, more),
            reader=self,
        )

    @cached_property
    def planes(self) -> int:
        """In how many planes a token may begin: 2, or 4 with tokens of bytes or of whole
        pre-tokens."""
        return 4 if len(self.pretokenizer.apart) else 2

    @cached_property
    def sets(self) -> ByteSets:
        """Where bytes lead from sets of pre-tokenizer states."""
        return recent(ByteSets, self.pretokenizer.table)

    @cached_property
    def contexts(self) -> Contexts:
        """The pairs of states, and the contexts of stacks."""
        tables, return_states = self.network.tables, self.sets.all
        if len(tables.call_starts):
            # There are fewer contexts where it is known in which states calls and texts end.
            ending = np.flatnonzero(tables.accepting).tolist()
            return_states = reduce(or_, (self.reached[state] for state in ending), 0)
        return Contexts(tables, self.sets, self.final, self.byte_edges, return_states, self.watch)

    @cached_property
    def reached(self) -> Sequence[int]:
        """Of each state of the network the set of pre-tokenizer states that texts lead to, also
        after a prompt, which ends between characters. Beside the inert DFA they may begin wherever
        the reader is."""
        tables, sets = self.network.tables, self.sets
        if self.reader is not None:
            begun = dict(enumerate(self.reader.reached))
        else:
            prompted = tables.start if self.continued is None else self.continued
            between = sets.between(self.pretokenizer.classes) | self.final
            begun = {prompted: of_flags(between) & sets.all}
            begun[tables.start] = begun.get(tables.start, 0) | 1 << self.pretokenizer.start
        return reached(tables, self.byte_edges, sets, begun, self.watch)

    @cached_property
    def byte_edges(self) -> Reading:
        """The network's byte edges, by classes that both pre-tokenizer DFAs have."""
        if self.reader is not None:
            return self.reader.byte_edges
        return reading_of(self.network.tables, self.pretokenizer)

    @cached_property
    def structures(self) -> CallStructures:
        """What calls of the network are made of."""
        return CallStructures(self.network.tables, self.byte_edges)

    def sections_of_tries(self) -> dict[str, NDArray[Any]]:
        """The sections of the token tries."""
        found = zip((MERGED_TRIE, APART_TRIE), self._tries, strict=False)
        return {name: a for prefix, trie in found for name, a in trie_arrays(trie, prefix).items()}

    @cached_property
    def stack_contexts(self) -> StackContexts:
        """The contexts of the network's sets of stacks."""
        return StackContexts(self.contexts, self.network.stacks)

    @property
    def interned_bytes(self) -> int:
        """About the size of what texts have added, which is about sets of stacks."""
        made = self.__dict__
        known = [made[name].nbytes for name in ("stack_contexts", "certificates") if name in made]
        size: int = self.network.nbytes + sum(known)
        return size

    @property
    def walked_bytes(self) -> int:
        """About the size of walks and contexts, which are the same for all texts."""
        made = self.__dict__
        names = ("contexts", "walks", "splits")
        size: int = sum(made[name].nbytes for name in names if name in made)
        return size

    def following(
        self, reader: "PretokenizedNetwork | None", *, keep_walks: bool
    ) -> "PretokenizedNetwork":
        """The same with a network that has read nothing, that of ``reader`` if there is one.
        ``keep_walks``: with the same walks and contexts."""
        if "certificates" in self.__dict__:
            self.certificates.forget()
        network = self.network.following() if reader is None else reader.network
        found = replace(self, network=network, reader=reader)
        kept = ("contexts", "walks", "splits") if keep_walks else ()
        for name in ("planes", "sets", "byte_edges", "structures", "reached", "_tries", *kept):
            if name in self.__dict__:
                found.__dict__[name] = self.__dict__[name]
        return found

    @cached_property
    def walks(self) -> TokenWalks:
        """Where tokens lead that continue a text."""
        tables, size = self.network.tables, self.vocabulary.size
        return TokenWalks(tables, self.pretokenizer, self.contexts, self._tries, size, self.watch)

    @property
    def reading(self) -> TokenWalks:
        """Where the tokens of a row lead: by the reader, if there is one."""
        return (self.reader or self).walks

    @cached_property
    def splits(self) -> Splits:
        """What becomes of tokens above contexts."""
        tables, vocabulary = self.network.tables, self.vocabulary
        octets = LiveOctets(
            tables, self.pretokenizer, self.contexts, self.forbidden, vocabulary, self.watch
        )
        return Splits(self.contexts, octets, self.vocabulary.size)

    def octets(self, places: Sequence[Place], last: int) -> int:
        """The bytes, as bits, whose tokens may follow ``last`` at one of some places and are
        certificates there."""
        of, octets = self.stack_contexts.of_node, self.splits.octets
        found = [octets.of(np.array([self.contexts.number(p, q)]), of(n))[0] for p, q, n in places]
        words = reduce(or_, found) & octets.following(last)
        return int.from_bytes(words.tobytes(), "little")

    @cached_property
    def certificates(self) -> Certificates:
        """Tokens that show others to be live."""
        return Certificates(
            self.network,
            self.pretokenizer,
            self.contexts,
            self.stack_contexts,
            self.forbidden,
            self.walks.trie,
            self.caches.divide(*_DIVIDED)[0],
        )

    @property
    def depth_caches(self) -> CacheBudget:
        """What rows in the middle of counts may hold."""
        return self.caches.divide(*_DIVIDED)[2]

    @cached_property
    def dead_ends(self) -> DeadEnds:
        """The search for the tokens that are left."""
        return DeadEnds(
            self.network,
            self.contexts,
            self.stack_contexts,
            self.walks,
            self.splits,
            self.certificates,
            self.forbidden,
            self.caches.divide(*_DIVIDED)[1],
        )

    @cached_property
    def _tries(self) -> Sequence[Trie]:
        if self.reader is not None:
            return self.reader.walks.tries
        if MERGED_TRIE + "octets" not in self.stored:
            return token_tries(self.pretokenizer, self.forbidden, self.vocabulary)
        prefixes = (MERGED_TRIE, APART_TRIE) if len(self.pretokenizer.apart) else (MERGED_TRIE,)
        for prefix in prefixes:
            check_trie(self.stored, prefix, self.vocabulary.size)
        return [trie_of(self.stored, prefix) for prefix in prefixes]


class _Patched:
    """A ``table`` of states with other ``rows`` for some ``states``, and perhaps more states."""

    def __init__(
        self, before: NDArray[np.int32], states: NDArray[np.int32], rows: NDArray[np.int32]
    ) -> None:
        self._made_of = before, states, rows
        size = max(len(before), int(states.max(initial=0)) + 1)
        self.table = np.zeros((size, *before.shape[1:]), dtype=np.int32)
        self.table[: len(before)] = before
        self.table[states] = rows


def network_of(tables: NetworkTables) -> Network:
    """The network that reads texts; with counters for the usual ones of its counts, too."""
    if tables.counters is None:
        return Network(tables)
    from ..network.counted_stacks import CountedStacks
    from .usual_counts import with_usual_counters

    return CountedStacks(with_usual_counters(tables))
