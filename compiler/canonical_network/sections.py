"""The sections that a network needs for canonical masks, or why it cannot have them.

    grammar's network, tokenizer's tables
      -> cuts.*, pairs.*       the pre-tokenizer DFA and the forbidden pairs
      -> stable.*, inert.*     the normal-form DFA and the inert pre-tokenizer DFA, where needed
      -> closed.*              precomputed rows (``precompute``)

The synchronous product of the pre-tokenizer DFA with all texts in normal form would have millions
of states. So the normal-form DFA is followed beside it while decoding, and the pre-tokenizer DFA
only leaves out characters that no text in normal form holds. The *inert pre-tokenizer DFA* shows
what goes on whatever went before: it is the pre-tokenizer DFA but for some rows (a patch), and for
states inside characters.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import lru_cache, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from constrain.artifacts.canonical_network.closure.inert_tokens import NormalizedLiveness
from constrain.artifacts.canonical_network.closure.token_liveness import Liveness
from constrain.artifacts.canonical_network.contexts import TEXT_END
from constrain.artifacts.canonical_network.machine import CanonicalMachine, machine_of
from constrain.artifacts.canonical_network.pretokenized import PretokenizedNetwork
from constrain.artifacts.canonical_network.trie_walk import share_trie
from constrain.artifacts.errors import ArtifactError, visible
from constrain.artifacts.kinds.check_tokenizer import FIRST_ROW
from constrain.artifacts.network.configurations import REFUSED
from constrain.artifacts.network.counted_stacks import network_over
from constrain.artifacts.network.tables import NetworkTables
from constrain.artifacts.token_terminals.sentinels import network_with_sentinels
from constrain.artifacts.tokenizer_steps.normalizer import WithNormalForm
from constrain.artifacts.tokenizer_steps.pretokenizer import begins_character
from constrain.artifacts.tokens.memo import CacheBudget
from constrain.artifacts.tokens.tokenset import word_count

from ..automata.dfa import TokenIds
from ..bpe.token_terminals import with_sentinels_of
from ..bpe.tokenizer_tables import TokenizerTables, tokenizer_sections
from ..diagnostics import LimitError, TokenizerError
from ..grammar.added_text import ADDED_TOKENS, unspellable
from ..grammar.tree import Grammar
from ..limits import MOST_WORK, Effort, Exhausted
from ..options import AUTO, CANONICAL, PREWARM, ArtifactRequest, CompileOptions
from ..progress import Progress, Step, silent
from ..tokenizer_steps.boundary_tables import PretokenizerTables
from ..tokenizer_steps.character_properties import CHANGED, read_characters
from ..tokenizer_steps.marked_dfa import DEAD, synchronous_product
from ..tokenizer_steps.normalized_members import NormalFormTables
from ..tokenizer_steps.prefix_and_replacement import loses_begun
from ..tokenizers import Tokenizer
from .precompute import Precomputed, precompute_rows
from .tables import CanonicalTables
from .without_calls import by_cartesian_merge

# A patch: the states whose rows are others, or new, int32 (n,), and their rows, (n, P, J).
Patch = tuple[NDArray[np.int32], NDArray[np.int32]]

# Bytes of a character after its first.
_LONGEST_TAIL = 3

# Of searches for dead ends. What is evicted is searched again, and so may exceed its steps.
_CACHE_BYTES = 1 << 28

# What is searched for the mask before any token where others will do: the most that a grammar with
# such a mask was seen to need is a fifth less.
_FIRST_MASK, _FIRST_MASK_WORK = "the mask before any token", MOST_WORK // 2

# How often a row is in memory at most: as the key of its number, in the table, and in the file that
# is being written.
_COPIES = 3


@lru_cache(maxsize=4)
def normal_form_sections(
    pretokenizer: PretokenizerTables, normal_form: NormalFormTables
) -> Mapping[str, NDArray[Any]]:
    """The sections ``inert.*`` and ``stable.*``; and ``cuts.table``, ``cuts.classes`` again, with
    a class for bytes that these distinguish."""
    keys = pretokenizer.classes.astype(np.int64) * 256 + normal_form.inert_classes
    _, octets, joint = np.unique(keys, return_index=True, return_inverse=True)
    table = np.ascontiguousarray(pretokenizer.dfa.table[:, :, pretokenizer.classes[octets]])
    between = begins_character(pretokenizer.dfa.table, pretokenizer.classes)
    inert = normal_form.inert[:, normal_form.inert_classes[octets]]
    states, rows = restricted(table, between, inert, normal_form.inert_start)
    return {
        "cuts.table": table,
        "cuts.classes": joint.reshape(-1).astype(np.uint8),
        "inert.states": states,
        "inert.rows": rows,
        "stable.classes": normal_form.classes,
        "stable.start": np.array([normal_form.start], dtype=np.int32),
        "stable.table": normal_form.table,
        "stable.tokens": normal_form.tokens,
        "stable.unsure": normal_form.tokens,
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
    changed = np.flatnonzero(between[states])
    rows = number[found].astype(np.int32)
    changed = changed[(rows[changed] != table[states[changed]]).any(axis=(1, 2))]
    changed = np.concatenate([changed[np.argsort(number[changed])], added])
    return number[changed].astype(np.int32), rows[changed]


@Step("merge")
def merge(
    grammar: Grammar,
    network: NetworkTables,
    terminals: Sequence[TokenIds],
    request: ArtifactRequest[Tokenizer],
    tables: TokenizerTables,
    progress: Progress = silent,
    *,
    is_normal: bool | None = None,
) -> CanonicalTables:
    """What canonical masks of a network need. ``terminals``: the ids of each token terminal.
    ``is_normal``: of members that the tokenizer is known to encode, whether its normalizers need
    not be followed.

    Raises ``LimitError``, and where there are no canonical masks ``CheckError`` for such a
    grammar, ``TokenizerError`` for such a tokenizer.
    """
    tokenizer, notes = request.tokenizer, []
    columns = network.table.shape[1]
    beside = with_sentinels_of(grammar, terminals, columns, request, tables)
    network = network_with_sentinels(network, beside.prefix)
    request, tables = beside.request, beside.tables
    sections = tokenizer_sections(tables, request.vocab_size) | beside.sections
    sections["cuts.final"] = tables.pretokenizer.dfa.final.astype(np.uint8)
    normal_form = None if is_normal else tables.normal_form
    lost = unspelled = tables.unspelled
    if normal_form is not None or len(unspelled):
        read_at_all = read_characters(network)
        lost = unspelled[read_at_all[unspelled]]
    if len(lost):
        one = visible(repr(chr(lost[0])))
        notes.append(
            f"members with characters that the tokenizer cannot spell, such as {one}, are left out"
        )
    if tables.pretokenizer.changes:
        notes.append("members of which the tokenizer would replace or remove a part are left out")
    if normal_form is not None:
        read = normal_form.characters.classes_of(read_at_all)
        others = read[~normal_form.characters.is_inert[read]]
        if len(others):
            notes.append("members that the tokenizer's normalizers change are left out")
        # The pre-tokenizer DFA leaves out characters that are changed by themselves.
        if (others != CHANGED).any():
            sections |= normal_form_sections(tables.pretokenizer, normal_form)
    vocabulary = request.vocabulary
    share_trie(tables.pairs.trie, vocabulary)
    effort = Effort(request.limits, network.names[:1], progress)
    effort.begin("the network beside the pre-tokenizer")
    pretokenized = PretokenizedNetwork.from_arrays(
        network, sections, vocabulary, CacheBudget(_CACHE_BYTES), effort.spend
    )
    inert, followed = None, None
    if "stable.table" in sections:
        inert, followed = pretokenized.inert(sections), normal_form
    if is_normal is None and not _has_members(pretokenized, inert, sections, request):
        message = "the tokenizer can spell no member: it has no token for a part of each"
        raise unspellable(grammar, tokenizer.added, message)
    if any(token.searched for token in tokenizer.added_tokens):
        notes.append(ADDED_TOKENS)
    return CanonicalTables(
        request, tables, terminals, sections, pretokenized, inert, followed, effort, tuple(notes)
    )


def check_beginnings(
    network: NetworkTables, request: ArtifactRequest[Tokenizer], tables: PretokenizerTables
) -> None:
    """Raise ``TokenizerError`` where two texts are written alike, of which one may be a member that
    the tokenizer changes: " a" like "a", if it takes the space away before it puts one."""
    if not tables.unless_begun:
        return
    (octet,) = tables.prefix
    read = network_over(network)
    if loses_begun(tables.texts, octet) and read.read(read.start, tables.prefix) != REFUSED:
        raise TokenizerError(
            f"{visible(request.tokenizer.name)}: this tokenizer puts a space before texts that do "
            "not begin with one, and may change members of this grammar, which nests, that do; "
            "use --tokenization any"
        )


@Step("precompute")
def precompute(merged: CanonicalTables, taken: int) -> Precomputed:
    """The rows of all stacks, as far as there is room; none of them if none are wanted. The mask
    before any token is among them or has a section of its own, while there is room for it.
    ``taken``: bytes of the artifact's other sections."""
    request, network = merged.request, merged.network
    options = request.options
    rows = PREWARM if options.prewarm is None else options.prewarm
    room = options.max_artifact_bytes - taken
    first = 4 * word_count(request.vocab_size)
    memory = min(room - first, request.limits.memory // _COPIES)
    counts = network.network.tables.counters is not None
    if not rows or memory <= 0 or counts:
        found = Precomputed({}, 0, is_complete=not rows)
    elif (all_rows := by_cartesian_merge(merged, options.prewarm, memory)) is not None:
        return all_rows
    else:
        if not _are_asked_for(options):
            # Where one mask takes too much, so do all.
            _first_row(merged, {})
        effort, work, limits = merged.effort, options.rows_work, options.rows_limits
        liveness = partial(_liveness, merged)
        found = precompute_rows(network, liveness, rows, memory, effort, work, limits)
    if (found.arrays and found.is_complete) or room < first:
        return found
    arrays = found.arrays | _first_row(merged, found.arrays)
    merged.effort.begin("what masks are made of", options.rows_work, options.rows_limits)
    with suppress(Exhausted):
        more = merged.network.sections_of_tries()
        if sum(array.nbytes for array in (*arrays.values(), *more.values())) <= room:
            arrays |= more
    merged.effort.end()
    return replace(found, arrays=arrays)


def _liveness(merged: CanonicalTables) -> Liveness:
    """What is live beside the tokenizer's normal form."""
    if (ends := merged.ends) is None:
        return Liveness(merged.network)
    assert merged.inert is not None
    return NormalizedLiveness(merged.network, merged.inert, ends)


def _first_row(
    merged: CanonicalTables,
    rows: Mapping[str, NDArray[Any]],
) -> dict[str, NDArray[Any]]:
    """The section of the mask before any token; none where ``rows`` have it, or time ends first.
    It is computed as while decoding. Raises ``LimitError`` where it takes too much to search,
    unless canonical masks are asked for."""
    sections = merged.sections | dict(rows)
    options, effort = merged.request.options, merged.effort
    is_asked = _are_asked_for(options)
    most = options.rows_work if is_asked else _FIRST_MASK_WORK
    effort.begin(_FIRST_MASK, most, options.rows_limits)
    machine = _machine(merged.network, merged.inert, sections, merged.request)
    try:
        row = machine.row(machine.start)
    except (ArtifactError, Exhausted) as error:
        if is_asked or error.__cause__ is not None:
            return {}
        raise LimitError(_FIRST_MASK, "work", most, effort.rules, is_fixed=True) from error
    finally:
        effort.end()
    masks = machine.inner if isinstance(machine, WithNormalForm) else machine
    return {FIRST_ROW: row} if masks.lazy_threads(masks.start) else {}


def _are_asked_for(options: CompileOptions) -> bool:
    """Whether no other masks will do than canonical ones."""
    return options.tokenization == CANONICAL or options.method != AUTO


def counts_of(found: Precomputed) -> dict[str, int]:
    """For people: rows of threads, different rows, and whether none is missing."""
    if "closed.keys" not in found.arrays:
        return {}
    rows = len(found.arrays["closed.rows"]) + len(found.arrays["closed.id_offsets"]) - 1
    complete = int(found.arrays["closed.all"][1])
    return {"answers": len(found.arrays["closed.keys"]), "rows": rows, "complete": complete}


def _has_members(
    network: PretokenizedNetwork,
    inert: PretokenizedNetwork | None,
    sections: Mapping[str, NDArray[Any]],
    request: ArtifactRequest[Tokenizer],
) -> bool:
    """Whether the tokenizer can spell a member."""
    if inert is None:
        return _has_texts(network)
    if _has_texts(inert):
        return True
    machine = _machine(network, inert, sections, request)
    return bool(machine.row(machine.start).any())


def _machine(
    network: PretokenizedNetwork,
    inert: PretokenizedNetwork | None,
    sections: Mapping[str, NDArray[Any]],
    request: ArtifactRequest[Tokenizer],
) -> CanonicalMachine:
    """What makes masks while decoding."""
    given = None if inert is None else lambda: inert
    return machine_of(network, given, sections, request.eos, CacheBudget())


def _has_texts(network: PretokenizedNetwork) -> bool:
    """Whether some member leads the pre-tokenizer DFA to a state that a text may end in."""
    configurations, start = network.network, network.pretokenizer.start
    if configurations.may_end(configurations.start) and network.final[start]:
        return True
    contexts = network.contexts
    return contexts.is_live(contexts.number(configurations.tables.start, start), TEXT_END)
