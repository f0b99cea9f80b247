"""Turn exceptions into automata.

    name ::= NameChar - ":";      ->    name ::= #automaton;
    text ::= except!("END");      ->    text ::= #automaton;

An exception is a difference of languages, which automata have exactly and grammars have
not: both operands must be regular. Rules that operands use are resolved before them; an
operand that uses the rule it stands in has no meaning and is refused.
"""

from collections.abc import Iterator
from dataclasses import replace

from ..automata.boolean import difference, embedded, excluding
from ..automata.determinize import determinize
from ..automata.dfa import Dfa
from ..automata.minimize import minimize
from ..diagnostics import CheckError, Diagnostic, NotRegularError
from ..grammar.tree import (
    Choice,
    Difference,
    Excluding,
    Expr,
    Grammar,
    Pattern,
    Reference,
    Repetition,
    Rule,
    Sequence,
    children,
    walk,
)
from ..limits import Limits
from . import normalize
from .automaton import to_nfa

_OPERAND = "(operand)"


def resolve_exclusions(grammar: Grammar, limits: Limits | None = None) -> Grammar:
    """The grammar without differences and exclusions.

    Raises ``NotRegularError`` for an operand that is not regular, ``CheckError`` for one that
    uses its own rule or excludes the empty text, ``LimitError``.
    """
    limits = (limits or Limits()).started()
    rules = list(grammar.rules)
    waiting = [i for i, rule in enumerate(rules) if any(map(_is_exclusion, walk(rule.body)))]
    while waiting:
        unresolved = {rules[i].name for i in waiting}
        ready = [i for i in waiting if not unresolved & _used_by_operands(rules, rules[i])]
        if not ready:
            rule = rules[waiting[0]]
            message = f"rule {rule.name!r} excludes texts by way of itself, which has no meaning"
            raise CheckError(grammar.source, [Diagnostic(message, rule.name_span)])
        for i in ready:
            body = _resolved(grammar, rules, rules[i].body, limits)
            rules[i] = replace(rules[i], body=body)
        waiting = [i for i in waiting if i not in ready]
    return replace(grammar, rules=tuple(rules))


def difference_of(grammar: Grammar, option: Expr, others: tuple[Expr, ...], limits: Limits) -> Dfa:
    """What ``option`` matches and none of ``others`` does; minimal, empty if there is nothing.

    ``grammar`` has no exclusions. Raises ``NotRegularError``, ``CheckError``, ``LimitError``.
    """
    rules = list(grammar.rules)
    union = others[0] if len(others) == 1 else Choice(others, option.span)
    left = _automaton_of(grammar, rules, option, limits)
    return difference(left, _automaton_of(grammar, rules, union, limits), limits)


def _is_exclusion(expr: Expr) -> bool:
    return isinstance(expr, Difference | Excluding)


def _used_by_operands(rules: list[Rule], rule: Rule) -> set[str]:
    """The rules that the operands in a rule use, directly or by way of others."""
    operands = (expr for expr in walk(rule.body) if _is_exclusion(expr))
    return _reached(rules, [name for expr in operands for name in _references(expr)])


def _reached(rules: list[Rule], names: list[str]) -> set[str]:
    bodies: dict[str, list[Expr]] = {}
    for rule in rules:
        bodies.setdefault(rule.name, []).append(rule.body)
    pending = list(names)
    found: set[str] = set()
    while pending:
        name = pending.pop()
        if name not in found:
            found.add(name)
            pending.extend(r for body in bodies.get(name, ()) for r in _references(body))
    return found


def _references(expr: Expr) -> Iterator[str]:
    return (e.name for e in walk(expr) if isinstance(e, Reference))


def _resolved(grammar: Grammar, rules: list[Rule], body: Expr, limits: Limits) -> Expr:
    """The body with every exclusion replaced, inner ones first."""
    done: dict[int, Expr] = {}
    pending = [body]
    while pending:
        expr = pending[-1]
        inside = children(expr)
        missing = [child for child in inside if id(child) not in done]
        if missing:
            pending.extend(missing)
            continue
        pending.pop()
        if id(expr) not in done:
            parts = tuple(done[id(child)] for child in inside)
            done[id(expr)] = _rebuilt(grammar, rules, expr, parts, limits)
    return done[id(body)]


def _rebuilt(
    grammar: Grammar, rules: list[Rule], expr: Expr, parts: tuple[Expr, ...], limits: Limits
) -> Expr:
    match expr:
        case Sequence():
            return replace(expr, items=parts)
        case Choice():
            return replace(expr, options=parts)
        case Repetition():
            return replace(expr, item=parts[0])
        case Difference():
            left = _automaton_of(grammar, rules, parts[0], limits)
            right = _automaton_of(grammar, rules, parts[1], limits)
            result = difference(left, right, limits)
        case Excluding():
            item = _automaton_of(grammar, rules, parts[0], limits)
            if item.accepting[item.start]:
                message = "what is excluded matches the empty text, which every text contains"
                raise CheckError(grammar.source, [Diagnostic(message, expr.item.span)])
            result = excluding(item, expr.at_most, limits)
        case _:
            return expr
    text = grammar.source.text[expr.span.start : expr.span.end]
    return Pattern(embedded(result), text, expr.span)


def _automaton_of(grammar: Grammar, rules: list[Rule], expr: Expr, limits: Limits) -> Dfa:
    """The minimal DFA of an operand, which may use any rule that is resolved."""
    used = _reached(rules, list(_references(expr)))
    whole = Rule(_OPERAND, expr.span, expr, expr.span)
    operand = Grammar(
        grammar.source, (*(rule for rule in rules if rule.name in used), whole), _OPERAND
    )
    try:
        nfa, _ = to_nfa(normalize(operand, limits), limits)
    except NotRegularError as error:
        first = error.diagnostics[0]
        found = Diagnostic(
            f"what an exception takes away or from must be regular: {first.message}",
            expr.span,
            first.help,
        )
        raise NotRegularError(grammar.source, [found]) from None
    return minimize(determinize(nfa, limits), limits)
