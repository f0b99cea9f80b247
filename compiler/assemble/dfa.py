"""Lay the results of all stages out as an artifact."""

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

import numpy as np
from numpy.typing import NDArray

from constrain.artifacts.artifact import Artifact
from constrain.artifacts.container.manifest import EXACT, Manifest, Origin, ParserNames
from constrain.artifacts.tokens import tokenset
from constrain.artifacts.tokens.trie import Trie

from ..automata.dfa import Dfa, TokenIds
from ..bpe.tokenizer_tables import pretokenizer_sections
from ..cartesian.cartesian_merge import CartesianDfa
from ..cartesian.normalized import undecided_tokens
from ..diagnostics import TokenizerError
from ..grammar.tree import Grammar
from ..limits import Limits
from ..merge.direct_merge import CanonicalDfa
from ..normalizer.normalized_members import NormalFormTables
from ..pretokenizer.boundary_tables import PretokenizerTables
from ..tokenizers import Tokenizer
from .mask_rows import RowTable, byte_rows, live_states, token_rows


@dataclass(frozen=True, slots=True)
class ArtifactRequest:
    """What the caller wants of the artifact.

    ``eos``: token ids. ``vocab_size``: padded. ``max_bytes``: beyond it rows are left out and
    computed at run time. ``strip``: leave the grammar's text out. ``meaning``: the grammar's.
    """

    tokenizer: Tokenizer
    eos: tuple[int, ...]
    vocab_size: int
    max_bytes: int
    strip: bool
    meaning: str = EXACT


def assemble(
    grammar: Grammar,
    dfa: Dfa,
    terminals: Sequence[TokenIds],
    origins: Sequence[tuple[str, int, int]],
    canonical: CanonicalDfa | CartesianDfa | None,
    request: ArtifactRequest,
    limits: Limits,
    notes: list[str],
    cuts: PretokenizerTables | None = None,
    stable: NormalFormTables | None = None,
) -> Artifact:
    """The artifact; what the user should know is added to ``notes``. Raises ``LimitError``.

    ``terminals``: the ids of each of the DFA's token columns, ascending. ``cuts``, ``stable``:
    what the masks follow.
    """
    arrays = {**byte_dfa_sections(dfa, terminals), **vocabulary_arrays(request)}
    table = None
    if canonical is None:
        table = _rows_of_bytes(dfa, terminals, request, limits, arrays, notes)
    elif isinstance(canonical, CartesianDfa):
        assert cuts is not None
        arrays.update(_product(canonical, cuts, dfa, request))
        if stable is not None:
            arrays.update(_stable(stable, canonical, cuts, request.tokenizer))
    else:
        arrays.update(_token_dfa(canonical, request.vocab_size))
        table = _rows_of_tokens(canonical, request, limits, arrays, notes)
    manifest = manifest_of(
        grammar,
        request,
        kind=_kind(canonical),
        tokenization="any" if canonical is None else "canonical",
        splits_applied=cuts is not None and request.tokenizer.splits,
        byte_start=dfa.start,
        token_start=_start(canonical),
        counts=_counts(dfa, canonical, table),
        origins=tuple(Origin(rule, ((start, end),)) for rule, start, end in origins),
        meaning=request.meaning,
    )
    return Artifact(manifest, arrays)


def manifest_of(
    grammar: Grammar,
    request: ArtifactRequest,
    *,
    kind: str,
    tokenization: str,
    splits_applied: bool,
    byte_start: int,
    token_start: int,
    counts: dict[str, int],
    origins: tuple[Origin, ...] = (),
    parser: ParserNames | None = None,
    meaning: str = EXACT,
) -> Manifest:
    """The manifest: what the grammar and the request say of it, and the rest as given."""
    tokenizer, source = request.tokenizer, grammar.source
    return Manifest(
        kind=kind,
        tokenization=tokenization,
        dialect=source.dialect,
        start=grammar.start,
        source=None if request.strip else source.text,
        grammar_sha256=sha256(source.text.encode("utf-8", "surrogatepass")).hexdigest(),
        tokenizer_sha256=tokenizer.sha256,
        vocab_size=request.vocab_size,
        eos=request.eos,
        splits=tokenizer.splits,
        splits_applied=splits_applied,
        byte_start=byte_start,
        token_start=token_start,
        counts=counts,
        origins=origins,
        parser=parser,
        meaning=meaning,
    )


def _kind(canonical: CanonicalDfa | CartesianDfa | None) -> str:
    if isinstance(canonical, CartesianDfa):
        return "product"
    return "byte-dfa" if canonical is None else "token-dfa"


def _start(canonical: CanonicalDfa | CartesianDfa | None) -> int:
    if isinstance(canonical, CartesianDfa):
        return canonical.product.start
    return 0 if canonical is None else canonical.dfa.start


def _product(
    cartesian: CartesianDfa, cuts: PretokenizerTables, dfa: Dfa, request: ArtifactRequest
) -> dict[str, NDArray[Any]]:
    product, rows = cartesian.product, cartesian.rows
    # The states that read a prefix stand for the start.
    byte_state = np.where(product.byte_state < dfa.states, product.byte_state, dfa.start)
    return {
        **cartesian.pairs.padded(request.vocab_size).arrays("pairs."),
        **pretokenizer_sections(cuts),
        "product.accepting": product.accepting.astype(np.uint8),
        "product.after_cut": product.start_after,
        "product.byte_state": byte_state.astype(np.int32),
        "product.classes": product.classes,
        "product.id_offsets": rows.offsets,
        "product.ids": rows.ids,
        "product.row_of": rows.row_of,
        "product.rows": rows.rows,
        "product.table": product.table,
    }


def _stable(
    tables: NormalFormTables,
    cartesian: CartesianDfa,
    cuts: PretokenizerTables,
    tokenizer: Tokenizer,
) -> dict[str, NDArray[Any]]:
    tokens, unsure = undecided_tokens(cartesian, cuts, tables, tokenizer.tokens)
    prompts = {"stable.prompts": np.ones(1, dtype=np.uint8)} if tables.prompts else {}
    return {
        **prompts,
        "stable.classes": tables.classes,
        "stable.start": np.array([tables.start], dtype=np.int32),
        "stable.table": tables.table,
        "stable.tokens": tokens,
        "stable.unsure": unsure,
    }


def byte_dfa_sections(dfa: Dfa, terminals: Sequence[TokenIds]) -> dict[str, NDArray[Any]]:
    """The grammar's own automaton and where its states come from."""
    tables = dfa.tables(terminals)
    ids = [sorted(found) for found in dfa.origins]
    offsets = np.concatenate(([0], np.cumsum([len(found) for found in ids])))
    named: dict[str, NDArray[Any]] = {"dfa.terminals": tables.terminals.ids}
    if len(terminals):
        # Under names of their own: a reader that knows but one token a column then refuses.
        named = {
            "dfa.token_ids": tables.terminals.ids,
            "dfa.token_offsets": tables.terminals.offsets,
        }
    return {
        **named,
        "dfa.table": tables.table,
        "dfa.classes": tables.classes,
        "dfa.accepting": tables.accepting,
        "origins.ids": np.array([i for found in ids for i in found], dtype=np.int32),
        "origins.offsets": offsets.astype(np.int64),
    }


def vocabulary_arrays(request: ArtifactRequest) -> dict[str, NDArray[Any]]:
    """The sections of the vocabulary."""
    vocabulary = request.tokenizer.vocabulary(request.vocab_size)
    return {
        "vocab.data": vocabulary.data,
        "vocab.offsets": vocabulary.offsets,
        "vocab.kinds": vocabulary.kinds,
    }


def _token_dfa(canonical: CanonicalDfa, vocab_size: int) -> dict[str, NDArray[Any]]:
    dfa, pairs = canonical.dfa, canonical.pairs
    assert pairs is not None
    arrays: dict[str, NDArray[Any]] = {
        **pairs.padded(vocab_size).arrays("pairs."),
        "tokens.family": dfa.family,
        "tokens.accepting": dfa.accepting,
        "tokens.edge_offsets": dfa.edge_offsets,
        "tokens.edge_tokens": dfa.edge_tokens,
        "tokens.edge_targets": dfa.edge_targets,
    }
    if canonical.family_states is not None:
        arrays["tokens.family_states"] = canonical.family_states
    return arrays


def _rows_of_tokens(
    canonical: CanonicalDfa,
    request: ArtifactRequest,
    limits: Limits,
    arrays: dict[str, NDArray[Any]],
    notes: list[str],
) -> RowTable | None:
    """Rows if they fit, else the packed bits that they can be unpacked from."""
    table = None
    if _fits(canonical.dfa.states, request, arrays):
        table = token_rows(canonical, request.eos, request.vocab_size, limits)
        arrays.update(rows=table.rows, row_of=table.row_of)
    else:
        arrays["tokens.allowed"] = canonical.allowed
        arrays["tokens.allowed_offsets"] = canonical.allowed_offsets
        notes.append(_at_run_time(request))
    return table


def _rows_of_bytes(
    dfa: Dfa,
    terminals: Sequence[TokenIds],
    request: ArtifactRequest,
    limits: Limits,
    arrays: dict[str, NDArray[Any]],
    notes: list[str],
) -> RowTable | None:
    """Rows if they fit, else which states are live, for a walk at run time."""
    tables = dfa.tables(terminals)
    trie = Trie.from_vocabulary(request.tokenizer.vocabulary(request.vocab_size))
    live = live_states(tables, trie)
    if not live[dfa.start]:
        base = request.tokenizer.base
        lost = [f"0x{o:02X}" for o in np.flatnonzero(dfa.used_bytes()).tolist() if base[o] < 0]
        raise TokenizerError(
            f"{request.tokenizer.name}: the tokenizer can spell no member: it has no token for "
            f"{', '.join(lost[:8])}"
        )
    if _fits(dfa.states, request, arrays):
        table = byte_rows(tables, trie, live, request.eos, request.vocab_size, limits)
        arrays.update(rows=table.rows, row_of=table.row_of)
        return table
    arrays["dfa.live"] = live.astype(np.uint8)
    notes.append(_at_run_time(request))
    return None


def _fits(rows: int, request: ArtifactRequest, arrays: dict[str, NDArray[Any]]) -> bool:
    """Whether a file with one row a state would keep its size; equal rows only shrink it."""
    others = sum(array.nbytes for array in arrays.values())
    return others + rows * tokenset.word_count(request.vocab_size) * 4 <= request.max_bytes


def _at_run_time(request: ArtifactRequest) -> str:
    return (
        f"the mask rows would make the artifact larger than {request.max_bytes:,} bytes: they "
        f"are left out and computed at run time (--max-artifact-bytes)"
    )


def _counts(
    dfa: Dfa, canonical: CanonicalDfa | CartesianDfa | None, table: RowTable | None
) -> dict[str, int]:
    counts = {"dfa_states": dfa.states - 1}
    if isinstance(canonical, CartesianDfa):
        counts["product_states"] = canonical.product.states - 1
        counts["product_transitions"] = canonical.transitions
        counts["rows"] = len(canonical.rows.rows) + len(canonical.rows.offsets) - 1
    elif canonical is not None:
        counts["token_states"] = canonical.dfa.states
        counts["token_transitions"] = canonical.transitions
    if table is not None:
        counts["rows"] = len(table.rows)
    return counts
