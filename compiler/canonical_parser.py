"""What a network needs for canonical masks, or why it cannot have them."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from constrain.artifacts.canonical_network import behind_prefix
from constrain.artifacts.endings import TEXT_END, Endings
from constrain.artifacts.network import REFUSED, Network
from constrain.artifacts.network_tables import NetworkTables

from .diagnostics import CheckError, Diagnostic, TokenizerError
from .merge.cuts_sections import cuts_of, tokenizer_sections
from .merge.stored import TokenizerTables
from .package import Request
from .parsers import Parser
from .tokenizers.steps import Normalize


def canonical_sections(
    parser: Parser,
    request: Request,
    tables: TokenizerTables,
    notes: list[str],
    *,
    needed: bool,
) -> dict[str, NDArray[Any]] | None:
    """The sections of the tokenizer; notes for the user are added.

    Where there are no canonical masks: if they are ``needed`` raises ``CheckError`` for such a
    grammar, ``TokenizerError`` for such a tokenizer, else None and a note why.
    """
    try:
        return _sections(parser, request, tables, notes)
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
    parser: Parser, request: Request, tables: TokenizerTables, notes: list[str]
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
    if not _has_members(network, tables):
        message = "the tokenizer can spell no member: it has no token for a part of each"
        raise CheckError(source, [Diagnostic(message)])
    if tokenizer.added_tokens:
        notes.append("members in which the tokenizer finds one of its added tokens are left out")
    forms = any(isinstance(step, Normalize) for step in tokenizer.normalizers)
    # The first character that a form changes is U+0300, whose first byte is 0xCC.
    if forms and (network.table[:, network.classes[0xCC:]] != 0).any():
        notes.append(
            "this tokenizer normalizes text: members that this would change have no canonical "
            "tokenization, but the masks do not leave them out"
        )
    return sections


def _begins_with(network: NetworkTables, prefix: bytes) -> bool:
    """Whether some member may begin with ``prefix``."""
    found = Network(network)
    return found.read(found.start, prefix) != REFUSED


def _has_members(network: NetworkTables, tables: TokenizerTables) -> bool:
    cuts, final = cuts_of(tables.cuts), tables.cuts.dfa.final.astype(np.bool_)
    if network.nullable_start and final[cuts.start]:
        return True
    whole = behind_prefix(network, tables.cuts.prefix) if tables.cuts.prefix else network
    endings = Endings(whole, cuts, final)
    return endings.is_live(endings.number(whole.start, cuts.start), TEXT_END)
