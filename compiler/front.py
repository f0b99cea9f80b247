"""The stages that need no tokenizer: from a grammar's text to an automaton or a parser."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from constrain.artifacts.manifest import MAXIMAL_MUNCH

from .automata.determinize import determinize
from .automata.dfa import Dfa
from .automata.minimize import minimize
from .automata.nfa import Nfa
from .diagnostics import LimitError, NotRegularError
from .dialects import read_grammar
from .grammar.check import check
from .grammar.tree import Grammar
from .grammar.weave_ignored import weave_ignored
from .limits import Limits
from .lnf import Lnf, normalize
from .lnf.automaton import to_nfa
from .lnf.resolve_exclusions import resolve_exclusions
from .lnf.unroll import unroll
from .meanings import GreedyGrammar, build_greedy, meaning_of, refuse_engine
from .parsers import AUTO, DFA, ENGINES, Parser, build_parser, cause


@dataclass(frozen=True, slots=True, eq=False)
class Automaton:
    """A grammar and all that its text alone determines.

    ``origins``: the table that automata refer to, (rule, start, end) with character offsets.
    ``dfa`` is minimal. ``cut``: the rules whose nesting was cut at a depth.
    """

    grammar: Grammar
    lnf: Lnf
    nfa: Nfa
    dfa: Dfa
    origins: Sequence[tuple[str, int, int]]
    cut: tuple[str, ...] = ()

    @property
    def token_names(self) -> list[str]:
        """The token terminals as they are written, in the order of their symbols."""
        return [token.text for token in self.grammar.tokens]


# What follows a grammar's texts, before a tokenizer is known.
Recogniser: TypeAlias = Automaton | Parser | GreedyGrammar


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
    if engine not in ENGINES:
        raise ValueError(f"engine must be one of {', '.join(ENGINES)}, not {engine!r}")
    limits = (limits or Limits()).started()
    grammar = read_checked(text, dialect, start, limits, name)
    chosen, why = meaning_of(grammar, meaning)
    if chosen == MAXIMAL_MUNCH:
        if engine != AUTO:
            refuse_engine(grammar, f"the engine {engine}", why)
        if max_depth is not None:
            refuse_engine(grammar, "a bound on the depth", why)
        return build_greedy(grammar, limits, why)
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
            raise
        reason = error.diagnostics[0].message
    except LimitError as error:
        if engine == DFA or error.limit == "seconds":
            raise
        refused, reason = error, cause(error)
    try:
        return build_parser(resolved, lnf, limits, engine=parser, reason=reason)
    except LimitError as error:
        raise refused or error from None


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
