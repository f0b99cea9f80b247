"""Whether a grammar read by maximal munch has canonical masks: whether it has a network over bytes.

What has none keeps its network over lexemes, whose masks are of any tokens; a note says why.
"""

from dataclasses import replace
from typing import TYPE_CHECKING

from constrain.artifacts.container.manifest import NETWORK

from ..choose import TokenizationChoice, without_canonical
from ..diagnostics import CheckError, Diagnostic, LimitError
from ..frontend import WITHOUT_MEMBER, MaximalMunchGrammar, Parser
from ..limits import blaming, in_force
from ..maximal_munch.one_reading import SeveralReadingsError
from ..options import ArtifactRequest, CompileOptions

if TYPE_CHECKING:
    from constrain.artifacts.network.tables import NetworkTables

    from ..tokenizers import Tokenizer

_NONE = "there are no canonical masks by maximal munch"


def network_over_bytes(found: MaximalMunchGrammar) -> "NetworkTables":
    """The network over bytes of a grammar. Raises ``CheckError`` where there is none, with why, or
    no member, and ``LimitError``."""
    source = found.grammar.source
    if found.tables.lexer.is_lazy or found.tables.network.counters is not None:
        raise CheckError(source, [Diagnostic(f"{_NONE} where {found.reason}")])
    try:
        tables = found.over_bytes
    except SeveralReadingsError as error:
        lexeme = found.lexed.lexemes[error.lexeme]
        message = f"{_NONE} where a text may have two readings: {lexeme.text} may go on "
        message += "with what was begun, or follow it"
        raise CheckError(source, [Diagnostic(message, lexeme.span)]) from None
    if tables is None:
        raise CheckError(source, [Diagnostic(WITHOUT_MEMBER)])
    return tables


def tokenization_over_bytes(
    found: MaximalMunchGrammar, choice: TokenizationChoice, options: CompileOptions
) -> TokenizationChoice:
    """Canonical tokens, as ``choice`` says, where there is a network over bytes; else any."""
    with in_force(options.limits), blaming([found.grammar.start]):
        try:
            # What is made is kept.
            network_over_bytes(found)
        except (CheckError, LimitError) as error:
            if isinstance(error, LimitError) and error.is_measured:
                raise
            return without_canonical(error, options)
    return choice


def parser_over_bytes(
    found: MaximalMunchGrammar, request: "ArtifactRequest[Tokenizer]"
) -> tuple[Parser, tuple[str, ...]]:
    """The network over bytes of the members that a tokenizer spells, and a note where others are
    left out. Raises ``CheckError``, where there is none, too, and ``LimitError``."""
    from .spellable import spellable

    rest, notes = spellable(found, request, canonical=True)
    choice = replace(found.choice, engine=NETWORK)
    return Parser(found.grammar, choice, network_over_bytes(rest), request.limits), notes
