"""The stages that need no tokenizer: from a grammar's text to an automaton or a parser."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from constrain.artifacts.container.manifest import EXACT, GREEDY, MAXIMAL_MUNCH

from .automata.determinize import determinize
from .automata.dfa import Dfa, as_nfa
from .automata.minimize import minimize
from .automata.nfa import Nfa
from .diagnostics import CheckError, Diagnostic, LimitError, NotRegularError
from .dialects import read_grammar
from .engines import AUTO, DFA, ENGINES, Parser, build_parser, cause
from .grammar.check import check
from .grammar.tree import Grammar
from .grammar.weave_ignored import weave_ignored
from .limits import Limits
from .lnf import Lnf, normalize
from .lnf.automaton import to_nfa
from .lnf.resolve_exclusions import resolve_exclusions
from .lnf.unroll import unroll
from .meanings import MaximalMunchGrammar, build_greedy, meaning_of, refuse_engine


@dataclass(frozen=True, slots=True, eq=False)
class Automaton:
    """A grammar and all that its text alone determines.

    ``origins``: the table that automata refer to, (rule, start, end) with character offsets.
    ``dfa`` is minimal. ``cut``: the rules whose nesting was cut at a depth. By maximal munch,
    ``lnf`` is over lexemes, origins are named after them, and ``nfa`` is the DFA.
    """

    grammar: Grammar
    lnf: Lnf
    nfa: Nfa
    dfa: Dfa
    origins: Sequence[tuple[str, int, int]]
    cut: tuple[str, ...] = ()
    meaning: str = EXACT

    @property
    def token_names(self) -> list[str]:
        """The token terminals as they are written, in the order of their symbols."""
        return [token.text for token in self.grammar.tokens]


# What follows a grammar's texts, before a tokenizer is known.
Recogniser: TypeAlias = Automaton | Parser | MaximalMunchGrammar


def build_automaton(
    text: str,
    *,
    dialect: str,
    start: str | None = None,
    limits: Limits | None = None,
    name: str = "<grammar>",
) -> Automaton:
    """The stages that need no tokenizer: tree, normal form, NFA, minimal DFA; read exactly."""
    limits = (limits or Limits()).started()
    grammar, _, lnf = read_normal(text, dialect, start, limits, name)
    return _automaton(grammar, lnf, limits)


def build_engine(
    text: str,
    *,
    dialect: str,
    start: str | None = None,
    limits: Limits | None = None,
    name: str = "<grammar>",
    engine: str = AUTO,
    parser: str = AUTO,
    max_depth: int | None = None,
    meaning: str | None = None,
) -> Recogniser:
    """The stages that need no tokenizer, for the engine asked for; see ``parsers``.

    ``parser``: the engine that ``auto`` takes where there is no DFA. ``max_depth``: nesting is
    unrolled so deep, and what lies deeper is cut (``lnf.unroll``). ``meaning``: see
    ``meanings``; engines and depths are about ``exact``. Raises subclasses of
    ``ConstrainError``.
    """
    if engine not in (*ENGINES, GREEDY):
        known = ", ".join((*ENGINES, GREEDY))
        raise ValueError(f"engine must be one of {known}, not {engine!r}")
    limits = (limits or Limits()).started()
    grammar = read_checked(text, dialect, start, limits, name)
    chosen, why = meaning_of(grammar, meaning)
    if chosen == MAXIMAL_MUNCH:
        if engine not in (AUTO, DFA, GREEDY):
            refuse_engine(grammar, f"the engine {engine}", chosen, why)
        if max_depth is not None:
            refuse_engine(grammar, "--max-depth", chosen, why)
        return _by_maximal_munch(grammar, limits, engine, why)
    if engine == GREEDY:
        refuse_engine(grammar, f"the engine {engine}", chosen, why)
    resolved, lnf = normal_form(grammar, limits)
    if max_depth is not None:
        unrolled = unroll(lnf, max_depth, limits)
        return replace(_automaton(grammar, unrolled.lnf, limits), cut=tuple(unrolled.cut))
    if engine not in (AUTO, DFA):
        return build_parser(resolved, lnf, limits, engine=engine)
    refused: LimitError | None = None
    try:
        return _automaton(grammar, lnf, limits)
    except NotRegularError as error:
        if engine == DFA:
            raise _advised(error) from None
        reason = error.diagnostics[0].message
    except LimitError as error:
        if engine == DFA or error.limit == "seconds":
            raise
        refused, reason = error, cause(error)
    try:
        return build_parser(resolved, lnf, limits, engine=parser, reason=reason)
    except LimitError as error:
        raise refused or error from None


def _advised(error: NotRegularError) -> NotRegularError:
    """The same, and what helps besides another grammar."""
    advice = "--max-depth N keeps the members that nest at most so deep"
    found = [replace(d, help=f"{d.help}; {advice}") for d in error.diagnostics]
    return NotRegularError(error.source, found)


def _by_maximal_munch(
    grammar: Grammar, limits: Limits, engine: str, why: str
) -> Automaton | MaximalMunchGrammar:
    """A DFA where nothing nests, else the tables over lexemes."""
    from .maximal_munch.to_dfa import maximal_munch_dfa

    found = build_greedy(grammar, limits, why)
    if engine == GREEDY:
        return found
    try:
        to_nfa(found.lnf, limits)
        dfa = maximal_munch_dfa(found.tables, limits)
    except NotRegularError as error:
        if engine == DFA:
            raise
        return replace(found, reason=error.diagnostics[0].message)
    except LimitError as error:
        if engine == DFA or error.limit == "seconds":
            raise
        return replace(found, reason=cause(error))
    if dfa.is_empty:
        message = "there is no member: longest matches leave no way to the end of any text"
        raise CheckError(grammar.source, [Diagnostic(message)])
    origins = [(lexeme.text, lexeme.span.start, lexeme.span.end) for lexeme in found.lexemes]
    rules = [text for text, _, _ in origins]
    return Automaton(grammar, found.lnf, as_nfa(dfa, rules), dfa, origins, meaning=MAXIMAL_MUNCH)


def read_normal(
    text: str, dialect: str, start: str | None, limits: Limits, name: str
) -> tuple[Grammar, Grammar, Lnf]:
    """The tree, the same without exceptions and ignored text, and its normal form."""
    grammar = read_checked(text, dialect, start, limits, name)
    return grammar, *normal_form(grammar, limits)


def read_checked(text: str, dialect: str, start: str | None, limits: Limits, name: str) -> Grammar:
    """The tree, without errors."""
    grammar = read_grammar(text, dialect, name=name, start=start, limits=limits)
    check(grammar)
    return grammar


def normal_form(grammar: Grammar, limits: Limits) -> tuple[Grammar, Lnf]:
    """The tree without exceptions and ignored text, and its normal form."""
    resolved = resolve_exclusions(weave_ignored(grammar), limits)
    return resolved, normalize(resolved, limits)


def _automaton(grammar: Grammar, lnf: Lnf, limits: Limits) -> Automaton:
    nfa, origins = to_nfa(lnf, limits)
    dfa = minimize(determinize(nfa, limits, len(grammar.tokens)), limits)
    return Automaton(grammar, lnf, nfa, dfa, origins)
