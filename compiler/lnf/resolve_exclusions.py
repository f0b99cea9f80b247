"""Turn exceptions into automata.

    name ::= NameChar - ":";      ->    name ::= #automaton;
    text ::= except!("END");      ->    text ::= #automaton;

An exception is a difference of languages, which automata have exactly and grammars have
not: both operands must be regular. Rules that operands use are resolved before them; an
operand that uses the rule it stands in has no meaning and is refused.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import islice

from ..automata.boolean import difference, embedded, excluding
from ..automata.determinize import determinize
from ..automata.dfa import Dfa
from ..automata.folding import fold
from ..automata.graphs import descended, reached
from ..automata.minimize import minimize
from ..diagnostics import CheckError, Diagnostic, NotRegularError
from ..grammar.tree import (
    Difference,
    Excluding,
    Expr,
    Grammar,
    Pattern,
    Rule,
    Token,
    children,
    references,
    walk,
    with_children,
)
from ..limits import Limits, blaming
from . import normalize
from .automaton import to_nfa
from .remembered import Memory

_OPERAND = "(operand)"


def resolve_exclusions(grammar: Grammar, limits: Limits | None = None) -> Grammar:
    """The grammar without differences and exclusions.

    Raises ``NotRegularError`` for an operand that is not regular, ``CheckError`` for one that
    uses its own rule or excludes the empty text, ``LimitError``.
    """
    rules = list(grammar.rules)
    waiting = [i for i, rule in enumerate(rules) if any(map(_is_exclusion, walk(rule.body)))]
    while waiting:
        operands = Operands(replace(grammar, rules=tuple(rules)), limits)
        unresolved = {rules[i].name for i in waiting}
        ready = [i for i in waiting if not unresolved & operands.used_by(rules[i])]
        if not ready:
            rule = rules[waiting[0]]
            message = f"rule {rule.name!r} excludes texts by way of itself, which has no meaning"
            raise CheckError(grammar.source, [Diagnostic(message, rule.name_span)])
        for i in ready:
            with blaming([rules[i].name]):
                body = fold(rules[i].body, children, operands.without_exclusion)
            rules[i] = replace(rules[i], body=body)
        done = set(ready)
        waiting = [i for i in waiting if i not in done]
    return replace(grammar, rules=tuple(rules))


class Operands:
    """Automata of expressions that may use the rules of a grammar.

    The rules that an expression reaches must hold no exclusion. ``memory``: where automata of
    before are known by what they say.
    """

    def __init__(
        self, grammar: Grammar, limits: Limits | None = None, memory: Memory | None = None
    ) -> None:
        self._memory = memory
        self._numbers: dict[str, int] = {}
        self._grammar = grammar
        self._source = grammar.source
        self._limits = (limits or Limits()).started()
        self._rules: dict[str, list[Rule]] = {}
        self._uses: dict[str, list[str]] = {}
        for rule in grammar.rules:
            self._rules.setdefault(rule.name, []).append(rule)
            self._uses.setdefault(rule.name, []).extend(_names(rule.body))

    def used_by(self, rule: Rule) -> set[str]:
        """The rules that the operands in a rule use, directly or by way of others."""
        return self.reached(
            [name for expr in _outermost_exclusions(rule.body) for name in _names(expr)]
        )

    def reached(self, names: Iterable[str], at_most: int | None = None) -> set[str]:
        """These rules and those that they use; one more than ``at_most`` if there are more."""
        found = reached(names, lambda name: self._uses.get(name, ()))
        return set(islice(found, None if at_most is None else at_most + 1))

    def automaton(self, expr: Expr) -> Dfa:
        """The minimal DFA of an expression. Raises ``NotRegularError``, ``LimitError``."""
        if self._memory is None:
            return self._made(expr)
        return self._memory.of(self._key(expr), lambda: self._made(expr))

    def _key(self, expr: Expr) -> tuple[int, ...]:
        """Equal for expressions that say the same, by way of their rules as well."""
        memory = self._memory
        assert memory is not None
        used = sorted(self.reached(_names(expr)))
        for name in used:
            if name not in self._numbers:
                bodies = (memory.number(rule.body) for rule in self._rules.get(name, ()))
                self._numbers[name] = memory.name(name, *bodies)
        numbers = (self._numbers[name] for name in used)
        return self._limits.states, memory.number(expr), *numbers

    def _made(self, expr: Expr) -> Dfa:
        used = sorted(self.reached(_names(expr)))
        whole = Rule(_OPERAND, expr.span, expr, expr.span)
        rules = (*(rule for name in used for rule in self._rules.get(name, ())), whole)
        try:
            # Nothing is ignored inside of a terminal.
            alone = replace(self._grammar, rules=rules, start=_OPERAND, ignored=())
            lnf = normalize(alone, self._limits)
            nfa, _ = to_nfa(lnf, self._limits)
        except NotRegularError as error:
            first = error.diagnostics[0]
            found = Diagnostic(
                f"what an exception takes away or from must be regular: {first.message}",
                expr.span,
                first.help,
            )
            raise NotRegularError(self._source, [found]) from None
        dfa = determinize(nfa, self._limits, len(self._grammar.tokens))
        return minimize(dfa, self._limits)

    def is_small(self, expr: Expr, rules: int) -> bool:
        """Whether an expression uses at most so many rules."""
        return len(self.reached(_names(expr), rules)) <= rules

    def difference(self, left: Expr, right: Expr) -> Dfa:
        """What ``left`` matches and ``right`` does not; minimal, empty if there is nothing."""

        def made() -> Dfa:
            return difference(self.automaton(left), self.automaton(right), self._limits)

        if self._memory is None:
            return made()
        return self._memory.of((self._key(left), self._key(right)), made)

    def without_exclusion(self, expr: Expr, parts: list[Expr]) -> Expr:
        """The expression around ``parts``; an exclusion becomes an automaton."""
        match expr:
            case Difference():
                self._refuse_tokens(expr)
                result = self.difference(parts[0], parts[1])
            case Excluding():
                self._refuse_tokens(expr)
                item = self.automaton(parts[0])
                if item.accepting[item.start]:
                    message = "what is excluded matches the empty text, which every text contains"
                    raise CheckError(self._source, [Diagnostic(message, expr.item.span)])
                result = excluding(item, expr.at_most, self._limits)
            case _:
                return with_children(expr, tuple(parts))
        text = self._source.text[expr.span.start : expr.span.end]
        return Pattern(embedded(result), text, expr.span)

    def _refuse_tokens(self, exclusion: Expr) -> None:
        """Exceptions are about text, of which token terminals have none."""
        if not self._grammar.tokens:
            return
        used = self.reached(_names(exclusion))
        bodies = (exclusion, *(rule.body for name in used for rule in self._rules.get(name, ())))
        for body in bodies:
            for token in walk(body):
                if isinstance(token, Token):
                    message = f"the token {token.text} is no text that could be excepted"
                    found = Diagnostic(message, token.span, "leave tokens out of exceptions")
                    raise CheckError(self._source, [found])


def _is_exclusion(expr: Expr) -> bool:
    return isinstance(expr, Difference | Excluding)


def _outermost_exclusions(body: Expr) -> Iterator[Expr]:
    """The exclusions that stand in no other."""
    every = descended(body, lambda expr: () if _is_exclusion(expr) else children(expr))
    return filter(_is_exclusion, every)


def _names(expr: Expr) -> Iterator[str]:
    return (use.name for use in references(expr))
