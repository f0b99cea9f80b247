"""A tokenizer's cuts beside the texts that its normalizers leave alone, for grammars that nest.

The cuts in step with all stable texts would have millions of states. So these are followed beside
the cuts while decoding (``constrain.artifacts.canonical_network.normalized_machine``), which know
of characters that
are never stable alone. The *inert cuts* show what goes on whatever went before: they are the
cuts but for some rows (a patch), and for states inside characters.

What a network needs for canonical masks, or why it cannot have them.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from constrain.artifacts.canonical_network.contexts import TEXT_END, ReturnContexts
from constrain.artifacts.canonical_network.machine import CanonicalNetwork
from constrain.artifacts.canonical_network.normalized_machine import (
    NormalizedNetwork,
    canonical_machine,
)
from constrain.artifacts.network.configurations import REFUSED, Network
from constrain.artifacts.network.tables import NetworkTables
from constrain.artifacts.pretokenizer.dfa import begins_character

from ..bpe.tokenizer_tables import TokenizerTables, tokenizer_sections
from ..diagnostics import CheckError, Diagnostic, TokenizerError
from ..grammar.tree import Grammar
from ..normalizer.character_properties import LOST, read_classes
from ..normalizer.normalized_members import NormalFormTables
from ..options import PREWARM, ArtifactRequest
from ..pretokenizer.boundary_tables import PretokenizerTables
from ..pretokenizer.marked_dfa import DEAD, synchronous_product
from ..tokenizers import Tokenizer
from .precompute import Beside, Precomputed, precompute_rows

# A patch: the states whose rows are others, or new, int32 (n,), and their rows, (n, P, J).
Patch = tuple[NDArray[np.int32], NDArray[np.int32]]

# Bytes of a character behind its first.
_LONGEST_TAIL = 3


def stable_cut_sections(
    cuts: PretokenizerTables, stable: NormalFormTables
) -> Mapping[str, NDArray[Any]]:
    """The sections ``inert.*`` and ``stable.*``; and ``cuts.table`` and ``cuts.classes`` anew,
    with a class for bytes that these tell apart."""
    keys = cuts.classes.astype(np.int64) * 256 + stable.inert_classes
    _, octets, joint = np.unique(keys, return_index=True, return_inverse=True)
    table = np.ascontiguousarray(cuts.dfa.table[:, :, cuts.classes[octets]])
    between = begins_character(cuts.dfa.table, cuts.classes)
    inert = stable.inert[:, stable.inert_classes[octets]]
    states, rows = restricted(table, between, inert, stable.inert_start)
    return {
        "cuts.table": table,
        "cuts.classes": joint.reshape(-1).astype(np.uint8),
        "inert.states": states,
        "inert.rows": rows,
        "stable.classes": stable.classes,
        "stable.start": np.array([stable.start], dtype=np.int32),
        "stable.table": stable.table,
        "stable.tokens": stable.tokens,
        "stable.unsure": stable.tokens,
    }


def restricted(
    table: NDArray[np.int32],
    between: NDArray[np.bool_],
    characters: NDArray[np.integer],
    start: int,
) -> Patch:
    """The rows that differ if, between two characters, only some characters can be read.

    ``table``: int32 (S, P, J). ``between``: bool (S,), states in which a character may begin.
    ``characters``: integers (T, J), an automaton of texts of those characters, whose only state
    between two of them is ``start``. Inside a character that has begun all stays as it is.
    """
    begin = np.flatnonzero(between)
    width = len(characters)
    pairs, found = synchronous_product(
        table, characters[:, None, :], begin * np.int64(width) + start
    )
    states, places = np.divmod(pairs, width)
    number = np.where(places == start, states, len(table) + np.arange(len(pairs)))
    number[DEAD] = DEAD
    inside = np.flatnonzero(number >= len(table))
    # What reads the same as before is what it was; the last bytes of characters first.
    for _ in range(_LONGEST_TAIL):
        same = (number[found[inside]] == table[states[inside]]).all(axis=(1, 2))
        number[inside[same]] = states[inside[same]]
    added = inside[number[inside] >= len(table)]
    number[added] = len(table) + np.arange(len(added))
    kept = np.flatnonzero(between[states])
    rows = number[found].astype(np.int32)
    kept = kept[(rows[kept] != table[states[kept]]).any(axis=(1, 2))]
    kept = np.concatenate([kept[np.argsort(number[kept])], added])
    return number[kept].astype(np.int32), rows[kept]


@dataclass(frozen=True, slots=True, eq=False)
class CanonicalTables:
    """A network beside a tokenizer's boundaries and forbidden pairs.

    ``sections``: of the tokenizer. ``machine``: what runs over them. ``normal_forms``: what the
    machine follows beside the members, None if it follows none. ``notes``: for the user.
    """

    sections: dict[str, NDArray[Any]]
    machine: CanonicalNetwork | NormalizedNetwork
    normal_forms: NormalFormTables | None
    notes: tuple[str, ...]


def merge(
    grammar: Grammar,
    network: NetworkTables,
    request: ArtifactRequest[Tokenizer],
    tables: TokenizerTables,
) -> CanonicalTables:
    """What canonical masks of a network need.

    Raises ``LimitError``, and where there are no canonical masks ``CheckError`` for such a
    grammar, ``TokenizerError`` for such a tokenizer.
    """
    tokenizer, notes = request.tokenizer, []
    if tables.pretokenizer.unless_begun and _begins_with(network, tables.pretokenizer.prefix):
        raise TokenizerError(
            f"{tokenizer.name}: this tokenizer puts a space before texts that do not begin with "
            f"one, and members of this grammar, which nests, do; use --tokenization any"
        )
    sections = tokenizer_sections(tables, request.vocab_size)
    sections["cuts.final"] = tables.pretokenizer.dfa.final.astype(np.uint8)
    stable = tables.normal_form
    if stable is not None:
        read = read_classes(network, stable.characters)
        others = read[~stable.characters.is_inert[read]]
        if len(others):
            notes.append("members that the tokenizer's normalizers change are left out")
        # The cuts know of characters that are changed by themselves.
        if (others != LOST).any():
            sections |= stable_cut_sections(tables.pretokenizer, stable)
    vocabulary = tokenizer.vocabulary(request.vocab_size)
    machine = canonical_machine(network, sections, request.eos, vocabulary)
    if not _has_members(machine):
        message = "the tokenizer can spell no member: it has no token for a part of each"
        raise CheckError(grammar.source, [Diagnostic(message)])
    if tokenizer.added_tokens:
        notes.append("members in which the tokenizer finds one of its added tokens are left out")
    return CanonicalTables(sections, machine, stable, tuple(notes))


def precompute(merged: CanonicalTables, request: ArtifactRequest[Tokenizer]) -> Precomputed:
    """The rows of all stacks, as far as there is room; no arrays if none are wanted. Raises
    ``LimitError`` on time."""
    options, machine = request.options, merged.machine
    rows = PREWARM if options.prewarm is None else options.prewarm
    taken = sum(array.nbytes for array in merged.sections.values())
    memory = min(options.max_artifact_bytes - taken, request.limits.memory)
    if not rows or memory <= 0:
        return Precomputed({}, 0, is_complete=True)
    if not isinstance(machine, NormalizedNetwork):
        return precompute_rows(machine, rows, memory, request.limits)
    assert merged.normal_forms is not None
    beside = Beside(merged.normal_forms, machine.doubts.threads)
    return precompute_rows(machine.inner, rows, memory, request.limits, beside)


def counts_of(found: Precomputed) -> dict[str, int]:
    """For people: rows of threads, different rows, and whether none is missing."""
    if not found.arrays:
        return {}
    rows = len(found.arrays["closed.rows"]) + len(found.arrays["closed.id_offsets"]) - 1
    complete = int(found.arrays["closed.all"][1])
    return {"answers": len(found.arrays["closed.keys"]), "rows": rows, "complete": complete}


def _begins_with(network: NetworkTables, prefix: bytes) -> bool:
    """Whether some member may begin with ``prefix``."""
    found = Network(network)
    return found.read(found.start, prefix) != REFUSED


def _has_members(machine: CanonicalNetwork | NormalizedNetwork) -> bool:
    """Whether the tokenizer can spell a member."""
    if not isinstance(machine, NormalizedNetwork):
        return _has_texts(machine, machine.final, machine.threads.endings)
    inner, doubts = machine.inner, machine.doubts
    return _has_texts(inner, doubts.final, doubts.threads.endings) or bool(
        machine.row(machine.start).any()
    )


def _has_texts(masks: CanonicalNetwork, final: NDArray[np.bool_], endings: ReturnContexts) -> bool:
    """Whether some member leads the cuts that ``endings`` are of to ``final``."""
    network, start = masks.network, masks.cuts.start
    if network.may_end(network.start) and final[start]:
        return True
    return endings.is_live(endings.number(network.tables.start, start), TEXT_END)
