"""How a grammar reads a text: exactly, or by maximal munch.

``exact``: a text is a member if it can be cut into terminals in any way that fits the rules.
``maximal-munch``: a lexer cuts it, each lexeme as long as possible (``maximal_munch.oracle`` is
the definition).

Grammars of Lark that ignore text, or say ``%llguidance``, are written for a lexer, and are read
so where nothing else is asked for; all others are read exactly.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NoReturn

from constrain.artifacts.container.manifest import EXACT, GREEDY, MAXIMAL_MUNCH, MEANINGS

from .diagnostics import CheckError, Diagnostic
from .grammar.tree import Grammar
from .limits import Limits
from .lnf.form import Lnf

if TYPE_CHECKING:
    from constrain.artifacts.maximal_munch.tables import MaximalMunchTables

    from .maximal_munch.lexemes import Lexeme


@dataclass(frozen=True, slots=True, eq=False)
class MaximalMunchGrammar:
    """A grammar read by maximal munch, and its tables.

    ``numbered``: the rules over the numbers of ``lexemes``, ``lnf`` their normal form.
    ``reason``: why this engine.
    """

    grammar: Grammar
    numbered: Grammar
    lexemes: "Sequence[Lexeme]"
    lnf: Lnf
    tables: "MaximalMunchTables"
    reason: str

    @property
    def engine(self) -> str:
        """``greedy``."""
        return GREEDY

    @property
    def token_names(self) -> list[str]:
        """Token terminals, of which there are none."""
        return []


def meaning_of(grammar: Grammar, wanted: str | None = None) -> tuple[str, str]:
    """The meaning of a grammar and why it has it. Raises ``ValueError`` for another name."""
    if wanted is not None:
        if wanted not in MEANINGS:
            raise ValueError(f"meaning must be one of {', '.join(MEANINGS)}, not {wanted!r}")
        return wanted, "as asked for"
    if grammar.source.dialect == "lark":
        if grammar.follows_all:
            return MAXIMAL_MUNCH, "the grammar says %llguidance"
        if grammar.ignored:
            return MAXIMAL_MUNCH, "the grammar has %ignore, which is written for a lexer"
    return EXACT, "each way to cut a text into terminals counts"


def build_greedy(grammar: Grammar, limits: Limits, reason: str) -> MaximalMunchGrammar:
    """The tables of a checked grammar. Raises ``CheckError``, ``LimitError``."""
    from .maximal_munch.lexemes import lexeme_grammar
    from .maximal_munch.lexer_tables import tables_over

    found = lexeme_grammar(grammar, limits)
    lnf = found.lnf(limits)
    tables = tables_over(found.lexemes, lnf, limits)
    return MaximalMunchGrammar(grammar, found.grammar, found.lexemes, lnf, tables, reason)


def refuse_engine(grammar: Grammar, what: str, meaning: str, reason: str) -> NoReturn:
    """``what`` cannot read a grammar by its ``meaning``: raises ``CheckError``."""
    other = next(known for known in MEANINGS if known != meaning)
    message = f"{what} is for --meaning {other}, and this grammar's is {meaning} ({reason})"
    raise CheckError(grammar.source, [Diagnostic(message, help=f"say --meaning {other}")])
