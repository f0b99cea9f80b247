"""What a network needs for canonical masks, or why it cannot have them."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from constrain.artifacts.canonical_network import CanonicalNetwork
from constrain.artifacts.endings import TEXT_END, Endings
from constrain.artifacts.network import REFUSED, Network
from constrain.artifacts.network_tables import NetworkTables
from constrain.artifacts.stable_network import StableNetwork, canonical_machine

from .closing.closing import Beside, closed_rows
from .diagnostics import CheckError, Diagnostic, TokenizerError
from .limits import Limits
from .merge.cuts_sections import tokenizer_sections
from .merge.read_characters import read_classes
from .merge.stable_characters import LOST
from .merge.stable_cuts import stable_cut_sections
from .merge.stored import TokenizerTables
from .package import Request
from .parsers import Parser


def canonical_sections(
    parser: Parser,
    request: Request,
    tables: TokenizerTables,
    notes: list[str],
    limits: Limits,
    answers: int,
    *,
    needed: bool,
) -> dict[str, NDArray[Any]] | None:
    """The sections of the tokenizer, and of the rows that are worked out ahead; notes for the
    user are added. ``answers``: how many are worked out ahead, 0 for none.

    Raises ``LimitError``. Where there are no canonical masks: if they are ``needed`` raises
    ``CheckError`` for such a grammar, ``TokenizerError`` for such a tokenizer, else None and a
    note why.
    """
    try:
        return _sections(parser, request, tables, notes, limits, answers)
    except (CheckError, TokenizerError) as error:
        if needed:
            raise
        reason = error.diagnostics[0].message if isinstance(error, CheckError) else str(error)
        notes.append(
            "any token sequence that spells a member is allowed, not only the tokenizer's own: "
            f"{reason}"
        )
        return None


def _sections(
    parser: Parser,
    request: Request,
    tables: TokenizerTables,
    notes: list[str],
    limits: Limits,
    answers: int,
) -> dict[str, NDArray[Any]]:
    source, tokenizer = parser.grammar.source, request.tokenizer
    network = parser.network
    if network is None:
        message = f"canonical masks need the engine dfa or network, and this is {parser.engine}"
        hint = f"{parser.reason}; say --tokenization any, or --max-depth to bound the nesting"
        raise CheckError(source, [Diagnostic(message, help=hint)])
    if parser.grammar.tokens:
        message = "canonical masks of a grammar that nests cannot follow token terminals"
        hint = "say --tokenization any"
        found = [Diagnostic(message, token.span, help=hint) for token in parser.grammar.tokens]
        raise CheckError(source, found)
    if tables.cuts.unless_begun and _begins_with(network, tables.cuts.prefix):
        raise TokenizerError(
            f"{tokenizer.name}: this tokenizer puts a space before texts that do not begin with "
            f"one, and members of this grammar, which nests, do; use --tokenization any"
        )
    sections = tokenizer_sections(tables, request.vocab_size)
    sections["cuts.final"] = tables.cuts.dfa.final.astype(np.uint8)
    stable = tables.stable
    if stable is not None:
        read = read_classes(network, stable.characters)
        others = read[~stable.characters.is_inert[read]]
        if len(others):
            notes.append("members that the tokenizer's normalizers change are left out")
        # The cuts know of characters that are changed by themselves.
        if (others != LOST).any():
            sections |= stable_cut_sections(tables.cuts, stable)
    vocabulary = tokenizer.vocabulary(request.vocab_size)
    machine = canonical_machine(network, sections, request.eos, vocabulary)
    if not _has_members(machine):
        message = "the tokenizer can spell no member: it has no token for a part of each"
        raise CheckError(source, [Diagnostic(message)])
    if tokenizer.added_tokens:
        notes.append("members in which the tokenizer finds one of its added tokens are left out")
    memory = min(request.max_bytes - sum(a.nbytes for a in sections.values()), limits.memory)
    if answers and memory > 0:
        if isinstance(machine, StableNetwork):
            assert stable is not None
            beside = Beside(stable, machine.doubts.threads)
            closed = closed_rows(machine.inner, answers, memory, limits, beside)
        else:
            closed = closed_rows(machine, answers, memory, limits)
        if not closed.is_complete:
            notes.append(
                "not all masks were worked out ahead: the rest is at run time (--prewarm, "
                "--max-artifact-bytes)"
            )
        sections |= closed.arrays
    return sections


def _begins_with(network: NetworkTables, prefix: bytes) -> bool:
    """Whether some member may begin with ``prefix``."""
    found = Network(network)
    return found.read(found.start, prefix) != REFUSED


def _has_members(machine: CanonicalNetwork | StableNetwork) -> bool:
    """Whether the tokenizer can spell a member."""
    if not isinstance(machine, StableNetwork):
        return _has_texts(machine, machine.final, machine.threads.endings)
    inner, doubts = machine.inner, machine.doubts
    return _has_texts(inner, doubts.final, doubts.threads.endings) or bool(
        machine.row(machine.start).any()
    )


def _has_texts(masks: CanonicalNetwork, final: NDArray[np.bool_], endings: Endings) -> bool:
    """Whether some member leads the cuts that ``endings`` are of to ``final``."""
    network, start = masks.network, masks.cuts.start
    if network.may_end(network.start) and final[start]:
        return True
    return endings.is_live(endings.number(network.tables.start, start), TEXT_END)
