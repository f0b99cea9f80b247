"""Sections and manifest of artifacts of grammars that nest: a network, or Earley's tables."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from constrain.artifacts.artifact import Artifact
from constrain.artifacts.container.manifest import Manifest, ParserNames
from constrain.artifacts.container.sections import Arrays
from constrain.artifacts.dfa.conjunctions import to_sections
from constrain.artifacts.dfa.emptiness import UndecidedError
from constrain.artifacts.earley.machine import EarleyMasks
from constrain.artifacts.kinds.check_tokenizer import FIRST_ROW
from constrain.artifacts.kinds.met_states import GROWING, MARKS
from constrain.artifacts.kinds.network import POSITIONS
from constrain.artifacts.machine.equal_items import MARK
from constrain.artifacts.network.sets import AmbiguousPartsError
from constrain.artifacts.tokens.tokenset import word_count
from constrain.artifacts.tokens.vocabulary import TokenClasses

from ..automata.dfa import TokenIds
from ..diagnostics import LimitError
from ..frontend import Parser
from ..lazy_dfa.conjunctions import Operation, joined
from ..limits import Effort, Exhausted
from ..options import CANONICAL, ArtifactRequest
from ..progress import Step
from ..tokenizers import Tokenizer
from .dfa_sections import Sections, manifest_of, size_of, vocabulary_sections
from .file_size import explains_later, has_productions


@Step("encode")
def encode(
    parser: Parser, terminals: Sequence[TokenIds], request: ArtifactRequest[Tokenizer]
) -> Sections:
    """The sections of the vocabulary, of the network, if there is one, or of its positions, and
    then no others; else of Earley's tables, if these are not left for later.

    ``terminals``: the ids of each token terminal, ascending.
    """
    sections = vocabulary_sections(request)
    if parser.met is None and not has_productions(parser):
        assert parser.network is not None
        return sections | parser.network.sections()
    if parser.met is None or terminals:
        classes = TokenClasses.of(terminals)
        sections |= {"terminals.ids": classes.ids, "terminals.offsets": classes.offsets}
    if parser.met is not None:
        sections |= parser.met.stored.arrays()
        if parser.grammar.marks_equal:
            sections[MARKS] = np.array([MARK], np.uint8)
        return sections if parser.lazily is None else sections | _growing(parser.lazily.terminals)
    if not explains_later(parser, request.options):
        sections |= _earley(parser)
    return sections if parser.network is None else sections | parser.network.sections()


@Step("assemble")
def assemble(
    parser: Parser,
    sections: Mapping[str, NDArray[Any]],
    found: Mapping[str, int],
    request: ArtifactRequest[Tokenizer],
    tokenization: str,
) -> Artifact:
    """The artifact. ``found``: the counts of what was precomputed."""
    sizes, named = dict[str, int](), tuple[bool, tuple[str, ...]]((False, ()))
    met, tables = parser.met, None if parser.met else parser.network
    if met is not None:
        sizes, named = met.stored.counts, (met.stored.nullable_start, met.called)
        if parser.lazily is not None:
            conjunctions = parser.lazily.conjunctions
            operands = [nfa for each in conjunctions for nfa in each.operands]
            sizes |= {
                "lazy_terminals": len(parser.lazily.terminals),
                "conjunctions": len(conjunctions),
                "dfa_states": sum(len(each.table) - 1 for each in conjunctions),
                "nfa_states": sum(len(nfa.accepting) for nfa in operands),
            }
    if tables is not None:
        named = tables.nullable_start, (*tables.names,)
        sizes = {"network_states": tables.states - 1, "calls": len(tables.call_starts)}
        if tables.counters is not None:
            sizes["counters"] = len(tables.counters.items)
            if tables.counters.sets is not None:
                sizes["sets"] = len(tables.counters.sets)
    manifest = manifest_of(
        parser.grammar,
        request,
        kind=parser.engine,
        tokenization=tokenization,
        splits_applied=tokenization == CANONICAL and request.tokenizer.splits,
        byte_start=tables.start if tables else 0,
        counts=sizes | dict(found),
        parser=ParserNames(start=0, nullable_start=named[0], rules=(), texts=(), called=named[1]),
        meaning=parser.choice.semantics,
    )
    if parser.met is not None or not has_productions(parser):
        return Artifact(manifest, sections)
    later = partial(_with_productions, parser, request.options.strip)
    if explains_later(parser, request.options):
        return Artifact(manifest, sections, later=later)
    manifest, productions = later(manifest)
    return Artifact(manifest, {**sections, **productions})


def _with_productions(
    parser: Parser, is_stripped: bool, manifest: Manifest
) -> tuple[Manifest, Arrays]:
    """What the manifest says of Earley's tables, and their sections."""
    earley, names = parser.layout.tables, manifest.parser
    assert names is not None
    names = replace(
        names,
        start=earley.start,
        nullable_start=earley.nullable_start,
        rules=tuple(earley.names),
        texts=tuple("" if is_stripped else text for text in earley.texts),
    )
    counts = {"productions": len(earley.bodies), **manifest.counts}
    return replace(manifest, counts=counts, parser=names), _earley(parser)


def with_first_row(artifact: Artifact, request: ArtifactRequest[Tokenizer]) -> Artifact:
    """The artifact with the mask before any token, where there is room for it, so that no loaded
    one computes it. Where nothing is to be precomputed it is found when the file is written, if
    explanations are; so it is where time and resident memory do not suffice. Raises
    ``LimitError`` for parts of a permutation that cannot be distinguished."""
    size = size_of(artifact.arrays) + 4 * word_count(request.vocab_size)
    if size > request.options.max_artifact_bytes:
        return artifact
    if request.options.prewarm == 0 and POSITIONS not in artifact.arrays:
        if artifact.later is None:
            return artifact
        return replace(artifact, later=partial(_with_first, artifact.sharing(request.trie)))
    options, effort = request.options, Effort(request.limits, (artifact.manifest.start,))
    effort.begin("the mask before any token", options.rows_work, options.rows_limits)
    machine = artifact.sharing(request.trie).machine()
    try:
        if isinstance(machine, EarleyMasks):
            row = machine.first_row(effort.spend)
        else:
            row = machine.row(machine.start)
    except (UndecidedError, Exhausted):
        return artifact
    except AmbiguousPartsError as error:
        stage = "a mask after parts of a permutation that cannot be distinguished"
        raise LimitError(stage, "states", error.most, is_fixed=True) from error
    return replace(artifact, arrays={**artifact.arrays, FIRST_ROW: row})


def _with_first(artifact: Artifact, manifest: Manifest) -> tuple[Manifest, Arrays]:
    """What an artifact leaves for later, and its mask before any token."""
    assert artifact.later is not None
    manifest, sections = artifact.later(manifest)
    machine = artifact.machine()
    return manifest, {**sections, FIRST_ROW: machine.row(machine.start)}


def _growing(terminals: Sequence[Operation]) -> Sections:
    """The sections of terminals whose states are made while decoding."""
    found = [terminal.conjunctions for terminal in terminals]
    offsets = np.cumsum([0, *map(len, found)]).astype(np.int64)
    return {**to_sections(joined([*chain(*found)])), GROWING: offsets}


def _earley(parser: Parser) -> Sections:
    return parser.layout.tables.sections() | parser.lexer.arrays()
