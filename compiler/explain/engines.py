"""The verdict on a text by what recognises a grammar's texts.

The engine's own machine says where a text stops and which bytes could come; which of the author's
terminals and rules these belong to is said by Earley's recogniser of the grammar as it is written.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import TypeAlias

from constrain.artifacts.container.manifest import MAXIMAL_MUNCH
from constrain.artifacts.earley.recogniser import Earley
from constrain.artifacts.errors import ConstrainError
from constrain.artifacts.network.configurations import Texts

from ..diagnostics import GrammarError, LimitError
from ..dialects import JSON_SCHEMA
from ..frontend import Automaton, MaximalMunchGrammar, Parser, Recogniser
from ..grammar.tree import Grammar
from ..limits import Limits
from ..maximal_munch.to_dfa import text_machine
from .authored import authored
from .earley import explain_parser
from .json_schema import explain_instance
from .machines import DfaMachine, EarleyMachine, NetworkMachine, TextMachine
from .maximal_munch import explain_maximal_munch
from .report import Status, Verdict, explain, verdict_of

# In bytes: longer texts are not followed a second time, for the rules around a place.
LONGEST_FOLLOWED = 1 << 19

# What gives the verdict on a text.
Explain: TypeAlias = Callable[[bytes], Verdict]


class ExplainError(ConstrainError):
    """An artifact in which nothing is left that says why a text is refused."""


@dataclass(frozen=True, slots=True, eq=False)
class Written:
    """A grammar as its author wrote it. ``is_large``: in any case loosened."""

    grammar: Grammar
    limits: Limits
    is_large: bool = False

    def recogniser(self) -> "Callable[[], Earley] | None":
        """What gives Earley's recogniser of it, or of what it is loosened to; None where even that
        is too large."""
        return (None if self.is_large else self.exact()) or self._made(loosens=True)

    def exact(self) -> "Callable[[], Earley] | None":
        """What gives that of its members alone; None where it is too large."""
        return self._made(loosens=False)

    def _made(self, *, loosens: bool) -> "Callable[[], Earley] | None":
        try:
            return authored(self.grammar, self.limits, loosens=loosens)
        except (GrammarError, LimitError):
            return None

    @property
    def is_schema(self) -> bool:
        """Whether it is a schema's, whose members are instances."""
        return self.grammar.source.dialect == JSON_SCHEMA

    def said(self, earley: Earley, text: bytes, machine: TextMachine | None) -> Verdict:
        """The verdict by a recogniser of it, before any text, and by ``by_items``."""
        names = [token.text for token in self.grammar.tokens]
        return by_items(earley, text, machine, names, is_schema=self.is_schema)

    def followed(self, base: Explain, machine: Callable[[], TextMachine]) -> Explain:
        """The verdict by the author's rules, where ``machine`` has the last word on what is read;
        ``base``: where no recogniser holds the rules."""
        recogniser = cache(self.recogniser)

        def verdict(text: bytes) -> Verdict:
            begin = recogniser()
            return base(text) if begin is None else self.said(begin(), text, machine())

        return verdict

    def around(self, base: Explain, machine: Callable[[], TextMachine]) -> Explain:
        """A verdict with the author's rules and terminals. ``base``: without them."""
        recogniser = cache(self.recogniser)

        def verdict(text: bytes) -> Verdict:
            found = base(text)
            if found.status is Status.ACCEPTED or len(text) > LONGEST_FOLLOWED:
                return found
            begin = recogniser()
            if begin is None:
                return found
            more = self.said(begin(), text, machine())
            if self.is_schema:
                return more
            if more.offset != found.offset or not (more.terminals or more.begun):
                return found
            path = more.path or found.path
            return replace(found, path=path, terminals=more.terminals, begun=more.begun)

        return verdict


def by_items(
    earley: Earley,
    text: bytes,
    machine: TextMachine | None,
    names: Sequence[str] = (),
    *,
    is_schema: bool = False,
) -> Verdict:
    """The verdict by the items of Earley's recogniser, and by a ``machine`` that says which texts
    are meant; where there is one, the recogniser does not follow a long text. ``names``: of token
    terminals; ``is_schema``: the text is an instance."""
    follows = machine is None or len(text) <= LONGEST_FOLLOWED
    if is_schema:
        return explain_instance(earley, text, machine, follows=follows)
    return explain_parser(earley, text, names, machine, follows=follows)


def by_recogniser(
    recogniser: Recogniser, limits: Limits, machine: Callable[[], TextMachine]
) -> Explain:
    """``machine``: what has the last word on what is read."""
    if isinstance(recogniser, MaximalMunchGrammar):
        munching = text_machine(recogniser.tables)
        return lambda text: explain_maximal_munch(munching, text, recogniser)
    if isinstance(recogniser, Parser):
        return _by_parser(recogniser, limits, machine)
    return _by_automaton(recogniser, limits, machine)


def _by_parser(parser: Parser, limits: Limits, machine: Callable[[], TextMachine]) -> Explain:
    written = Written(parser.grammar, limits)
    exact, recogniser = cache(written.exact), cache(written.recogniser)

    def verdict(text: bytes) -> Verdict:
        found, begin = machine(), None
        reading = None if isinstance(found, EarleyMachine) else found
        if not written.is_schema:
            begin = exact() if reading is None else recogniser()
        return written.said((begin or parser.recogniser)(), text, reading)

    return verdict


def by_calls(machine: Callable[[], TextMachine], start: str) -> Explain:
    """By a network that calls lazy DFAs."""

    def verdict(text: bytes) -> Verdict:
        found = machine()
        assert isinstance(found, NetworkMachine)
        if not isinstance(found.network, Texts):
            return by_items_alone(text)
        return replace(verdict_of(found, text)[0], rules=(start,))

    return verdict


def by_items_alone(_: bytes) -> Verdict:
    """Where items must differ, and the grammar's text was left out or is too large."""
    raise ExplainError("which items are equal is not explained without the grammar's text")


def with_lexemes(base: Explain, build: Callable[[], Recogniser]) -> Explain:
    """The verdict of a DFA with the lexemes and rules of the grammar that it was made of."""

    @cache
    def munching() -> Explain | None:
        try:
            found = build()
        except (GrammarError, LimitError):
            return None
        assert isinstance(found, MaximalMunchGrammar)
        machine = text_machine(found.tables)
        return lambda text: explain_maximal_munch(machine, text, found)

    def verdict(text: bytes) -> Verdict:
        found, by_lexemes = base(text), munching()
        if found.status is Status.ACCEPTED or by_lexemes is None:
            return found
        more = by_lexemes(text)
        if more.offset != found.offset:
            return found
        return replace(found, path=more.path, terminals=more.terminals, begun=more.begun)

    return verdict


def _by_automaton(
    automaton: Automaton, limits: Limits, machine: Callable[[], TextMachine]
) -> Explain:
    if automaton.choice.semantics == MAXIMAL_MUNCH:
        return _by_states(automaton)
    written = Written(automaton.grammar, limits, is_large=automaton.operation is not None)
    if automaton.operation is not None:
        return written.around(by_calls(machine, automaton.grammar.start), machine)
    return written.around(_by_states(automaton), machine)


def _by_states(automaton: Automaton) -> Explain:
    origins, of_state = automaton.origins, automaton.dfa.origins
    machine, names = DfaMachine(automaton.dfa.tables()), automaton.token_names

    def rules_of(state: int) -> list[str]:
        return [origins[number][0] for number in sorted(of_state[state])]

    return lambda text: explain(machine, rules_of, text, names)
