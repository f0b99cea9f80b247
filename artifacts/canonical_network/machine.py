"""The canonical machine of a network, from the sections of a file.

    sections  ->  PretokenizedNetwork  ->  CanonicalMasks  ->  WithNormalForm, if there is one

Beside a normal-form DFA some tokens may be dead that are live by the pre-tokenizer DFA: characters
that compose with the last ones are not read. Tokens that are live by the inert pre-tokenizer DFA
are so after any text; those between the two are *undecided*, and decided while decoding. Most
grammars have none.
"""

from collections.abc import Callable, Sequence
from functools import cache, cached_property, partial
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..container.sections import Arrays
from ..errors import ArtifactError
from ..machine.table_states import TableStates
from ..network.configurations import REFUSED
from ..network.tables import NetworkTables
from ..tokenizer_steps.normal_form_dfa import Runs
from ..tokenizer_steps.normalizer import WithNormalForm
from ..tokens import tokenset
from ..tokens.interning import Lock
from ..tokens.memo import ENTRY_BYTES, BoundedCache, CacheBudget
from ..tokens.tokenset import Words
from ..tokens.vocabulary import Vocabulary
from ..walk.forms import kernel
from ..walk.summary_rows import RowTable
from .lazy_rows import FEWEST_WALKED, LazyRows, Thread
from .liveness import STEPS_ABOVE
from .masks import CanonicalMasks
from .precomputed_rows import PrecomputedRows
from .pretokenized import PretokenizedNetwork

CanonicalMachine: TypeAlias = CanonicalMasks | WithNormalForm[CanonicalMasks]

# How a budget is divided: what is live, beside either pre-tokenizer DFA, and masks. Masks beside a
# normal-form DFA: of the network, of both, and which tokens are undecided.
_LIVENESS, _MASKS = 1, 7
_INNER, _BOTH, _UNDECIDED = 3, 3, 2


def canonical_machine(
    tables: NetworkTables,
    arrays: Arrays,
    eos: Sequence[int],
    vocabulary: Vocabulary,
    caches: CacheBudget | None = None,
    lock: Lock | None = None,
) -> CanonicalMachine:
    """``tables``: of the grammar. ``arrays``: the tokenizer's sections; maybe precomputed rows and
    a normal-form DFA."""
    liveness, budget = (caches or CacheBudget()).divide(_LIVENESS, _MASKS)
    if "stable.table" not in arrays:
        network = PretokenizedNetwork.from_arrays(tables, arrays, vocabulary, liveness)
        return machine_of(network, None, arrays, eos, budget, lock)
    half, _ = liveness.divide(1, 1)
    network = PretokenizedNetwork.from_arrays(tables, arrays, vocabulary, half)
    return machine_of(network, partial(network.inert, arrays), arrays, eos, budget, lock)


def following_machine(
    full: CanonicalMachine, arrays: Arrays, eos: Sequence[int], caches: CacheBudget
) -> CanonicalMachine:
    """The next machine, which has read nothing; with the walks and contexts of the one that is full
    unless these are what fills it."""
    _, budget = caches.divide(_LIVENESS, _MASKS)
    masks = full.inner if isinstance(full, WithNormalForm) else full
    keep_walks = masks.keeps_walks()
    network = masks.pretokenized.following(None, keep_walks=keep_walks)
    inert: Callable[[], PretokenizedNetwork] | None = None
    if isinstance(full, WithNormalForm):
        assert isinstance(full.undecided, UndecidedTokens)
        inert = full.undecided.following(network, arrays, keep_walks=keep_walks)
    return machine_of(network, inert, arrays, eos, budget, masks.lock, masks.precomputed)


def machine_of(
    network: PretokenizedNetwork,
    inert: Callable[[], PretokenizedNetwork] | None,
    arrays: Arrays,
    eos: Sequence[int],
    caches: CacheBudget,
    lock: Lock | None = None,
    precomputed: PrecomputedRows | None = None,
) -> CanonicalMachine:
    """The same for a network that is there. ``inert``: gives that beside the inert pre-tokenizer
    DFA when it is first needed; None without a normal-form DFA. ``caches``: of masks.
    ``precomputed``: of another machine."""
    inner, both, others = caches.divide(_INNER, _BOTH, _UNDECIDED)
    vocabulary = network.vocabulary
    if precomputed is not None:
        precomputed = precomputed.following()
    elif "closed.keys" in arrays:
        states = network.network.tables.states
        precomputed = PrecomputedRows(arrays, states, len(arrays["cuts.table"]))
    step = _steps(network)
    if inert is None:
        return CanonicalMasks(network, step, eos, precomputed, caches, lock)
    inert = cache(inert)
    masks = CanonicalMasks(network, step, eos, precomputed, inner, lock, inert)
    undecided = UndecidedTokens(masks, inert, arrays.get("closed.doubtful"), others)
    return WithNormalForm(masks, Runs.from_arrays(arrays, vocabulary), undecided, both)


def _steps(network: PretokenizedNetwork) -> Callable[[int, int], int]:
    """The configuration after a token."""
    over, vocabulary = network.network, network.vocabulary
    if over.tables.counters is not None:
        return lambda configuration, token_id: over.read(configuration, vocabulary.token(token_id))
    walk = kernel()(TableStates(over.tables), over.stacks)

    def step(configuration: int, token_id: int) -> int:
        found: dict[int, int] = {}
        for state, node in walk.step(over.threads[configuration], vocabulary.token(token_id)):
            over.add(found, state, node)
        return over.configuration(found) if found else REFUSED

    return step


class UndecidedTokens:
    """Tokens of ``masks`` that may be dead after some text in normal form.

    ``inert``: gives the network beside the inert pre-tokenizer DFA, which rows that are computed
    lazily need. ``precomputed``: the undecided tokens of all precomputed rows, int32.
    """

    def __init__(
        self,
        masks: CanonicalMasks,
        inert: Callable[[], PretokenizedNetwork],
        precomputed: NDArray[np.int32] | None,
        caches: CacheBudget,
    ) -> None:
        rows, sets, lazy, octets = caches.divide(2, 2, 1, 1)
        self._most_lazy = max(lazy.limit, FEWEST_WALKED)
        self._masks, self._make_inert = masks, inert
        self._precomputed: Words | None = None
        if precomputed is not None and len(precomputed):
            self._precomputed = tokenset.from_ids(precomputed, masks.vocab_size)
        self._rows = RowTable(masks.vocab_size, capacity=rows.limit)
        # Where all masks are quick to make nothing else is made to avoid them.
        known = masks.precomputed is not None and masks.precomputed.is_complete
        self._looks_at_masks = known and not len(masks.network.tables.call_starts)
        self._known: BoundedCache[tuple[Thread, ...], Words] = sets.cache()
        self._octets: BoundedCache[tuple[int, int, int, bool], int] = octets.cache()

    @cached_property
    def _inert(self) -> PretokenizedNetwork:
        return self._make_inert()

    @cached_property
    def _inert_rows(self) -> LazyRows:
        """The tokens that are live by the inert pre-tokenizer DFA."""
        return LazyRows(self._inert, self._rows)

    def following(
        self, network: PretokenizedNetwork, arrays: Arrays, *, keep_walks: bool
    ) -> Callable[[], PretokenizedNetwork]:
        """``inert`` of the next machine, which has ``network``; with the walks and contexts that
        were made, if they are kept."""
        if "_inert" not in self.__dict__:
            return partial(network.inert, arrays)
        made = self._inert.following(network, keep_walks=keep_walks)
        return lambda: made

    def of(self, state: int) -> Words | None:
        """The undecided tokens, and maybe others that the mask of ``state`` does not hold; None
        for no tokens. The mask has been made."""
        threads = self._masks.lazy_threads(state)
        if not threads:
            return self._precomputed
        found = self._known.get(threads)
        if found is None:
            found = self._found(threads)
            self._known.keep(threads, found, found.nbytes + ENTRY_BYTES * len(threads))
        return found

    def octets_after(self, state: int, tokens: Sequence[int]) -> list[int]:
        """Of each of some tokens that the mask of ``state`` holds the bytes whose tokens may follow
        and begin a text of inert characters that leads to a boundary, as bits."""
        if self._looks_at_masks or not tokens:
            return [0] * len(tokens)
        configuration, pre_states, follows = self._masks.following(state, tokens)
        found = []
        for token, may_follow in zip(tokens, follows, strict=True):
            key = configuration, pre_states, token, may_follow
            octets = self._octets.get(key)
            if octets is None:
                octets = self._octets.keep(key, self._octets_at(self._masks.step(state, token)))
            found.append(octets)
        return found

    def _octets_at(self, state: int) -> int:
        places, last = self._masks.places(state)
        return 0 if last is None else self._inert.octets(places, last)

    def finds(self, state: int, octets: int, is_wanted: Callable[[int], bool]) -> bool:
        """Whether one of ``octets`` or a wanted token begins such a text at a state."""
        places, last = self._masks.places(state)
        if last is None or self._looks_at_masks:
            return False
        if octets & self._inert.octets(places, last):
            return True
        inert, forbids = self._inert, self._masks.forbidden.forbids
        some = (token for place in places for token in inert.certificates.of(place, STEPS_ABOVE))
        return any(not forbids(last, token) and is_wanted(token) for token in some)

    def distance(self, state: int) -> int:
        """At least so many bytes lead to the end of the text."""
        masks = self._masks
        if self._looks_at_masks:
            return 0
        threads = masks.network.threads[masks.configuration_of(state)]
        certificates = masks.pretokenized.certificates
        return min(certificates.distance((p, 0, node)) for p, node in threads)

    def _found(self, threads: Sequence[Thread]) -> Words:
        words = tokenset.from_ids([], self._masks.vocab_size)
        if self._precomputed is not None:
            words |= self._precomputed
        for thread in threads:
            words |= self._of_thread(*thread)
        return words

    def _of_thread(self, state: int, pre_state: int, node: int, plane: int) -> Words:
        live = self._masks.rows[self._masks.lazy_rows.row(state, pre_state, node, plane)]
        if self._rows.is_full or self._inert_rows.nbytes > self._most_lazy:
            self._rows.forget()
            self._inert_rows.forget()
        try:
            decided = self._rows[self._inert_rows.row(state, pre_state, node, plane, live)]
        except ArtifactError:
            # Too much to search: none of them is decided.
            return live
        return live & ~decided
