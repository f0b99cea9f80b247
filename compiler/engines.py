"""Which engine follows a grammar: a DFA, a recursive transition network, or Earley.

    dfa       regular grammars: one table, and the tokenizer's own token sequences
    network   automata that call each other; all masks are worked out ahead of time
    earley    any grammar, with little ahead of time

``auto`` takes the first that the grammar and the limits allow.
"""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from constrain.artifacts.container.manifest import EARLEY, NETWORK

from .diagnostics import LimitError
from .grammar.tree import Grammar
from .limits import Limits
from .lnf import Lnf, normalize_without_nullable

# Regular grammars need none of these.
if TYPE_CHECKING:
    from constrain.artifacts.dfa.stacked_dfas import StackedDfas
    from constrain.artifacts.earley.recogniser import Earley
    from constrain.artifacts.network.tables import NetworkTables

    from .earley.tables import Layout

AUTO, DFA = "auto", "dfa"
# Where the engine is not asked for, larger networks are left to Earley: their masks could not be
# worked out ahead.
NETWORK_STATES = 20_000

ENGINES = (AUTO, DFA, NETWORK, EARLEY)


@dataclass(frozen=True, slots=True, eq=False)
class Parser:
    """A grammar and the tables of a parser for it.

    ``lnf``: with nullable symbols. ``layout`` and ``lexer``: for Earley's recogniser, which
    also explains texts. ``network``: None for the engine ``earley``. ``reason``: why this
    engine.
    """

    grammar: Grammar
    lnf: Lnf
    layout: "Layout"
    lexer: "StackedDfas"
    network: "NetworkTables | None"
    reason: str

    @property
    def engine(self) -> str:
        """``network`` or ``earley``."""
        return EARLEY if self.network is None else NETWORK

    def recogniser(self) -> "Earley":
        """Earley's recogniser before any text."""
        from constrain.artifacts.earley.recogniser import Earley

        return Earley(self.layout.tables, self.lexer, len(self.lexer.table))

    @property
    def token_names(self) -> list[str]:
        """The token terminals as they are written, in the order of their symbols."""
        return [token.text for token in self.grammar.tokens]


def build_parser(
    grammar: Grammar, lnf: Lnf, limits: Limits, *, engine: str = AUTO, reason: str = ""
) -> Parser:
    """The tables of a grammar whose exceptions are resolved and ignored text woven in.

    ``lnf``: its normal form. ``reason``: why it is not a DFA. Raises ``LimitError``.
    """
    from .earley.tables import layout, stacked
    from .network.build import network

    tables: NetworkTables | None = None
    if engine != EARLEY:
        try:
            bounded = replace(limits, states=min(limits.states, NETWORK_STATES))
            tables = network(lnf, limits if engine == NETWORK else bounded, len(grammar.tokens))
        except LimitError as error:
            if engine == NETWORK or error.limit == "seconds":
                raise
            reason = f"{reason}, and {cause(error)}"
    found = layout(normalize_without_nullable(grammar, limits, merge=False))
    lexer = stacked(found.nodes, limits, len(grammar.tokens))
    return Parser(grammar, lnf, found, lexer, tables, reason or "as asked for")


def cause(error: LimitError) -> str:
    """A limit in a few words."""
    unit = "bytes" if error.limit == "memory" else error.limit
    return f"{error.stage} needs more than {error.value:,.12g} {unit}"
