"""Sections and manifest of artifacts of regular grammars: byte DFA, token DFA or product."""

from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from constrain.artifacts.artifact import Artifact
from constrain.artifacts.container.manifest import EXACT, Manifest, Origin, ParserNames

from ..automata.dfa import Dfa, TokenIds
from ..frontend import Automaton
from ..grammar.tree import Grammar
from ..options import ANY, CANONICAL, AnyTokenizer, ArtifactRequest
from ..progress import Step
from ..token_ids import TokenColumns
from ..tokenizers import Tokenizer

if TYPE_CHECKING:
    from ..cartesian.cartesian_merge import CartesianDfa
    from ..dfa.precompute import Masks
    from ..merge.direct_merge import CanonicalDfa
    from ..merge.merged import Merged
    from ..normalizer.normalized_members import NormalFormTables
    from ..pretokenizer.boundary_tables import PretokenizerTables

Sections = dict[str, NDArray[Any]]


@Step("encode")
def encode(columns: TokenColumns, request: ArtifactRequest[Tokenizer]) -> Sections:
    """The sections of a byte DFA and the vocabulary."""
    return byte_dfa_sections(columns.dfa, columns.classes) | vocabulary_sections(request)


@Step("encode")
def encode_merged(merged: "Merged", request: ArtifactRequest[Tokenizer]) -> Sections:
    """The same, and those of the automaton over canonical token sequences."""
    from ..cartesian.cartesian_merge import CartesianDfa

    sections = encode(merged.columns, request)
    if not isinstance(merged.automaton, CartesianDfa):
        return sections | _token_dfa(merged.automaton, request.vocab_size)
    assert merged.boundaries is not None
    sections |= _product(merged.automaton, merged.boundaries, merged.columns.dfa, request)
    sections |= merged.sentinels
    if merged.normal_forms is not None:
        sections |= _normal_forms(merged, merged.normal_forms)
    return sections


@Step("assemble")
def assemble(
    automaton: Automaton,
    columns: TokenColumns,
    sections: Mapping[str, NDArray[Any]],
    masks: "Masks",
    request: ArtifactRequest[Tokenizer],
) -> Artifact:
    """The artifact of any token sequences that spell a member."""
    manifest = manifest_of(
        automaton.grammar,
        request,
        kind="byte-dfa",
        tokenization=ANY,
        splits_applied=False,
        byte_start=columns.dfa.start,
        token_start=0,
        counts={"dfa_states": columns.dfa.states - 1, **masks.counts},
        origins=origins_of(automaton),
        meaning=automaton.choice.semantics,
    )
    return Artifact(manifest, {**sections, **masks.sections})


@Step("assemble")
def assemble_merged(
    automaton: Automaton,
    merged: "Merged",
    sections: Mapping[str, NDArray[Any]],
    masks: "Masks",
    request: ArtifactRequest[Tokenizer],
) -> Artifact:
    """The artifact of canonical token sequences."""
    from ..cartesian.cartesian_merge import CartesianDfa

    found, dfa = merged.automaton, merged.columns.dfa
    counts = {"dfa_states": dfa.states - 1}
    if isinstance(found, CartesianDfa):
        kind, start = "product", found.product.start
        counts["product_states"] = found.product.states - 1
        counts["product_transitions"] = found.transitions
        counts["rows"] = len(found.rows.rows) + len(found.rows.offsets) - 1
    else:
        kind, start = "token-dfa", found.dfa.start
        counts["token_states"] = found.dfa.states
        counts["token_transitions"] = found.transitions
    manifest = manifest_of(
        automaton.grammar,
        request,
        kind=kind,
        tokenization=CANONICAL,
        splits_applied=merged.boundaries is not None and request.tokenizer.splits,
        byte_start=dfa.start,
        token_start=start,
        counts=counts | dict(masks.counts),
        origins=origins_of(automaton),
        meaning=automaton.choice.semantics,
    )
    return Artifact(manifest, {**sections, **masks.sections})


# --- what artifacts of all engines have


def manifest_of(
    grammar: Grammar,
    request: ArtifactRequest[Any],
    *,
    kind: str,
    tokenization: str,
    splits_applied: bool,
    byte_start: int,
    token_start: int,
    counts: dict[str, int],
    splits: bool | None = None,
    origins: tuple[Origin, ...] = (),
    parser: ParserNames | None = None,
    meaning: str = EXACT,
) -> Manifest:
    """The manifest: what the grammar and the request say of it, and the rest as given.

    ``splits``: whether the tokenizer splits text; by default as a BPE tokenizer says.
    """
    source = grammar.source
    return Manifest(
        kind=kind,
        tokenization=tokenization,
        dialect=source.dialect,
        start=grammar.start,
        source=None if request.options.strip else source.text,
        grammar_sha256=sha256(source.text.encode("utf-8", "surrogatepass")).hexdigest(),
        tokenizer_sha256=request.tokenizer.sha256,
        vocab_size=request.vocab_size,
        eos=request.eos,
        splits=request.tokenizer.splits if splits is None else splits,
        splits_applied=splits_applied,
        byte_start=byte_start,
        token_start=token_start,
        counts=counts,
        origins=origins,
        parser=parser,
        meaning=meaning,
        schema=request.options.of_schemas.said if grammar.has_schema else {},
    )


def origins_of(automaton: Automaton) -> tuple[Origin, ...]:
    """The rules that states refer to, and their places in the grammar's text."""
    return tuple(Origin(rule, ((start, end),)) for rule, start, end in automaton.origins)


def size_of(sections: Mapping[str, NDArray[Any]]) -> int:
    """The bytes of all arrays."""
    return sum(array.nbytes for array in sections.values())


def vocabulary_sections(request: ArtifactRequest[AnyTokenizer]) -> Sections:
    """The sections of the vocabulary."""
    vocabulary = request.vocabulary
    return {
        "vocab.data": vocabulary.data,
        "vocab.offsets": vocabulary.offsets,
        "vocab.kinds": vocabulary.kinds,
    }


def byte_dfa_sections(dfa: Dfa, terminals: Sequence[TokenIds]) -> Sections:
    """The grammar's own automaton and where its states come from."""
    tables = dfa.tables(terminals)
    ids = [sorted(found) for found in dfa.origins]
    offsets = np.concatenate(([0], np.cumsum([len(found) for found in ids])))
    named: Sections = {"dfa.terminals": tables.terminals.ids}
    if len(terminals):
        # Under names of their own: a reader that knows but one token a column then refuses.
        named = {
            "dfa.token_ids": tables.terminals.ids,
            "dfa.token_offsets": tables.terminals.offsets,
        }
    return {
        **named,
        "dfa.table": tables.stored_table(),
        "dfa.classes": tables.classes,
        "dfa.accepting": tables.accepting,
        "origins.ids": np.array([i for found in ids for i in found], dtype=np.int32),
        "origins.offsets": offsets.astype(np.int64),
    }


def _token_dfa(canonical: "CanonicalDfa", vocab_size: int) -> Sections:
    dfa, pairs = canonical.dfa, canonical.pairs
    assert pairs is not None
    sections: Sections = {
        **pairs.padded(vocab_size).arrays("pairs."),
        "tokens.family": dfa.family,
        "tokens.accepting": dfa.accepting,
        "tokens.edge_offsets": dfa.edge_offsets,
        "tokens.edge_tokens": dfa.edge_tokens,
        "tokens.edge_targets": dfa.edge_targets,
    }
    if canonical.family_states is not None:
        sections["tokens.family_states"] = canonical.family_states
    return sections


def _product(
    cartesian: "CartesianDfa",
    boundaries: "PretokenizerTables",
    dfa: Dfa,
    request: ArtifactRequest[Tokenizer],
) -> Sections:
    from ..bpe.tokenizer_tables import pretokenizer_sections

    product, table, rows = cartesian.product, cartesian.table, cartesian.rows
    # The states that read a prefix stand for the start.
    byte_state = np.where(product.byte_state < dfa.states, product.byte_state, dfa.start)
    # More than a mask has bits, where terminals have sentinels.
    size = max(request.vocab_size, len(cartesian.pairs.part))
    return {
        **cartesian.pairs.padded(size).arrays("pairs."),
        **pretokenizer_sections(boundaries),
        "product.accepting": product.accepting.astype(np.uint8),
        "product.after_cut": product.start_after,
        "product.block_offsets": rows.rows.offsets,
        "product.blocks": rows.rows.blocks,
        "product.byte_state": byte_state.astype(np.int32),
        "product.classes": product.classes,
        "product.codes": rows.rows.codes,
        "product.id_offsets": rows.offsets,
        "product.ids": rows.ids,
        "product.image_offsets": table.offsets,
        "product.images": table.images,
        "product.kernel_of": table.kernel_of,
        "product.kernels": table.kernels,
        "product.row_of": rows.row_of,
    }


def _normal_forms(merged: "Merged", tables: "NormalFormTables") -> Sections:
    prompts = {"stable.prompts": np.ones(1, dtype=np.uint8)} if tables.prompts else {}
    return {
        **prompts,
        "stable.classes": tables.classes,
        "stable.start": np.array([tables.start], dtype=np.int32),
        "stable.table": tables.table,
        "stable.tokens": merged.normal_tokens,
        "stable.unsure": merged.undecided_tokens,
    }
