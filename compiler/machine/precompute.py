"""Rows of states that are made when they are met, as an artifact begins with them.

Texts are read breadth first from the start, by one byte of those that lead to the same, and each
configuration has its rows found as a decoder would. States that stand for each other, as copies of
a repetition that are far from their bounds, are gone on from once. What is missing is found while
decoding.
"""

from contextlib import suppress
from dataclasses import replace
from typing import Any

from numpy.typing import NDArray

from constrain.artifacts.artifact import Artifact
from constrain.artifacts.errors import WalkLimitError
from constrain.artifacts.machine.masks import FIRST_TERMINAL, MetMasks
from constrain.artifacts.machine.named_rows import named_sections
from constrain.artifacts.machine.position_states import Name
from constrain.artifacts.network.configurations import REFUSED
from constrain.artifacts.network.sets import AmbiguousPartsError
from constrain.artifacts.network.tables import DEAD
from constrain.artifacts.tokens.memo import Numbered, memoised, top_down
from constrain.artifacts.walk.node_sets import NOTHING
from constrain.artifacts.walk.rows_by_frames import Known
from constrain.artifacts.walk.summary_rows import EMPTY, RowTable
from constrain.artifacts.walk.summary_tables import SummaryTables

from ..limits import Effort, Exhausted
from ..options import PREWARM, ArtifactRequest
from ..progress import Progress, Step, silent
from ..tokenizers import Tokenizer

# After so many configurations in a row without another row there are few more.
_FRUITLESS = 60


@Step("precompute")
def with_rows(
    artifact: Artifact,
    request: ArtifactRequest[Tokenizer],
    taken: int,
    progress: Progress = silent,
) -> Artifact:
    """The artifact of positions with rows, as far as there is room. ``taken``: bytes of its
    sections."""
    options, limits = request.options, request.limits
    most = PREWARM if options.prewarm is None else options.prewarm
    memory = options.rows_bytes(options.max_artifact_bytes - taken)
    machine = artifact.sharing(request.trie).machine()
    if not most or memory <= 0 or not isinstance(machine, MetMasks):
        return artifact
    effort = Effort(limits, (artifact.manifest.start,), progress)
    effort.begin("the masks of the network", options.rows_work, options.rows_limits)
    found = _Rows(machine, request.vocab_size)
    # Rows that were found are whole, however far it goes.
    with suppress(AmbiguousPartsError, Exhausted, WalkLimitError):
        _read(found, machine, most, memory, effort)
    effort.end()
    if not found.count:
        return artifact
    sections = found.sections()
    counts = {**artifact.manifest.counts, "rows": len(sections["memo.rows"])}
    return replace(
        artifact,
        manifest=replace(artifact.manifest, counts=counts),
        arrays={**artifact.arrays, **sections},
    )


def _read(found: "_Rows", machine: MetMasks, most: int, memory: int, effort: Effort) -> None:
    """Find the rows of what texts lead to."""
    network, rows, fruitless = machine.network, machine.states, 0
    todo, seen = [machine.start], {found.key(machine.start)}
    for configuration in todo:
        before = found.count
        machine.row(configuration)
        found.add(configuration)
        fruitless = fruitless + 1 if found.count == before else 0
        if fruitless > _FRUITLESS or found.count > most or found.nbytes > memory:
            return
        effort.spend(1 + found.row_bytes * (found.count - before))
        begun = (state for state, _ in network.unfolded(network.threads[configuration]))
        # With the row of a state come its calls.
        read = top_down(
            begun, lambda state: [c for c, _ in rows.calls[state]] if rows[state] else ()
        )
        columns = zip(*(rows[state][:FIRST_TERMINAL] for state in read), strict=True)
        for octet in {column: octet for octet, column in enumerate(columns)}.values():
            target = network.read(configuration, [octet])
            if target != REFUSED and (key := found.key(target)) not in seen:
                seen.add(key)
                todo.append(target)


class _Rows:
    """The rows that a machine found, as sections of its states' names."""

    def __init__(self, machine: MetMasks, vocab_size: int) -> None:
        self._machine, self._longest = machine, machine.vocabulary.longest
        self._rows = RowTable(vocab_size)
        # Nothing is the dead state.
        self._names = Numbered[Name]([()])
        self._found: dict[tuple[int, int], tuple[int, int]] = {}
        self._nodes = dict[tuple[int, int], int]()
        self._stacks = Numbered[frozenset[tuple[int, int]]]()
        self.row_bytes = self._rows.row_bytes

    @property
    def count(self) -> int:
        """How many states and frames are known."""
        return len(self._found)

    @property
    def nbytes(self) -> int:
        """The size of all rows."""
        return len(self._rows) * self.row_bytes

    def key(self, configuration: int) -> object:
        """What configurations have in common that go on alike for as long as a token is."""
        threads = self._machine.network.threads[configuration]
        return frozenset((self._alike(state), self._stack(node)) for state, node in threads)

    @memoised
    def _stack(self, node: int) -> int:
        # What stacks are on was asked before, as texts push one frame after the other.
        entries = self._machine.network.stacks.entries[node]
        below = frozenset(
            (self._alike(frame), self._stack(rest) if frame else 0) for frame, rest in entries
        )
        return self._stacks.number(below)

    def _alike(self, state: int) -> int:
        return self._machine.states.within(state, self._longest)

    def add(self, configuration: int) -> None:
        """Add what is known of a configuration's states."""
        for state, _ in self._machine.network.threads[configuration]:
            key = self._alike(state)
            if state != DEAD and (known := self._machine.walks.known.get(key)) is not None:
                self._add(NOTHING, key, known)

    def _add(self, nodes: int, state: int, known: Known) -> None:
        name = None if state < 0 else self._machine.states.name(state)
        if name is None:
            return
        key = nodes, self._names.number(name)
        if not isinstance(known, dict):
            self._found[key] = self._rows.number(known.copy()), NOTHING
            return
        inner = self._nodes.setdefault(key, len(self._nodes) + NOTHING + 1)
        self._found[key] = EMPTY, inner
        for frame, following in known.items():
            self._add(inner, frame, following)

    def sections(self) -> dict[str, NDArray[Any]]:
        """Of names, and of rows by them."""
        return {
            **named_sections(self._names),
            **SummaryTables.of(self._rows, self._found).arrays(),
        }
