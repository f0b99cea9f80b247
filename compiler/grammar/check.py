"""Check a tree: that all rules are defined, and that terminals use terminals alone."""

from collections.abc import Iterable, Iterator
from functools import partial

from ..automata import regex_ir as regex
from ..automata.folding import fold
from ..automata.graphs import on_cycles, shortest_path
from ..diagnostics import CheckError, Diagnostic, Edit, Fix, closest
from ..progress import Step
from . import tree
from .expand_permutations import permutations_of
from .open_looks import check_looks
from .productive import is_nullable, least_rules

# For so many uses names are compared with all others.
_MOST_SUGGESTIONS = 50


@Step("check")
def check(grammar: tree.Grammar) -> None:
    """Raise ``CheckError`` with every use of a rule that is not defined; or with every
    terminal that uses a rule or a token, with terminals that contain themselves, with parts of
    permutations that would leave nothing between two separators; or with look-around that asks
    for text outside of its regex. Raises ``LimitError``."""
    names = {rule.name for rule in grammar.rules}
    uses = [use for rule in grammar.rules for use in rule.uses]
    uses += (use for body in grammar.ignored for use in tree.references(body))
    found = [
        Diagnostic(
            _undefined(expr.name),
            expr.span,
            *_help(grammar, expr, names if number < _MOST_SUGGESTIONS else ()),
        )
        for number, expr in enumerate(expr for expr in uses if expr.name not in names)
    ]
    found = found or [
        *_wrong_in_terminals(grammar),
        *_recursive_terminals(grammar),
        *_empty_parts(grammar),
    ]
    if found:
        raise CheckError(grammar.source, found)
    check_looks(grammar, is_lexed=True)


def _help(
    grammar: tree.Grammar, expr: tree.Reference, names: Iterable[str]
) -> tuple[str, Fix | None]:
    text, span = grammar.source.text, expr.span
    around = text[max(span.start - 1, 0) : span.start] + text[span.end : span.end + 1]
    # A name alone in brackets, without a space, is how others write a class.
    meant = " ([ ] is an option here, no class of characters)" if around == "[]" else ""
    close = closest(expr.name, names)
    fix = None
    if close and not meant and text[span.start : span.end] == expr.name:
        fix = Fix(f"write {close!r}", (Edit(span.start, span.end, close),), safe=True)
    return _did_you_mean(expr.name, close) + meant, fix


def _undefined(name: str) -> str:
    """What is said of a name, or of words in marks that only stand for something."""
    if name[:1] in ("?", "<"):
        return f"the grammar does not say what {name} stands for"
    return f"rule {name!r} is not defined"


def _did_you_mean(name: str, close: str | None) -> str:
    if close:
        return f"did you mean {close!r}?"
    return f"define it, correct the name, or say what it stands for: --define '{name}=REGEX'"


def _wrong_in_terminals(grammar: tree.Grammar) -> Iterator[Diagnostic]:
    users = [(f"terminal {r.name!r}", r.body) for r in grammar.rules if r.terminal]
    users += [("what is ignored", body) for body in grammar.ignored]
    terminals = grammar.terminals
    for user, body in users:
        for expr in tree.walk(body):
            if isinstance(expr, tree.Token):
                hint = "use it in a rule: its name in lower case"
                yield Diagnostic(f"{user} uses a token, which has no text", expr.span, hint)
            elif isinstance(expr, tree.Reference) and expr.name not in terminals:
                message = f"{user} uses {expr.name!r}, which is no terminal"
                hint = f"make {expr.name!r} a terminal: its name in upper case"
                yield Diagnostic(message, expr.span, hint)


def _recursive_terminals(grammar: tree.Grammar) -> Iterator[Diagnostic]:
    """The first terminal that contains itself, and how."""
    terminals = grammar.terminals
    rules = {rule.name: rule for rule in reversed(grammar.rules) if rule.terminal}
    uses: dict[str, set[str]] = {name: set() for name in reversed(rules)}
    for rule in grammar.rules:
        if rule.terminal:
            uses[rule.name] |= {expr.name for expr in tree.references(rule.body)} & terminals
    for members in on_cycles(uses):
        name = min(members)
        inside = min(uses[name].intersection(members))
        way = shortest_path(inside, name, lambda each: sorted(uses[each]))
        cycle = " -> ".join((name, *way))
        message = f"terminal {name!r} contains itself: {cycle}"
        hint = f"repeat with '*' or '+', or {_made_a_rule(grammar)}"
        yield Diagnostic(message, rules[name].name_span, hint)
        return


def _empty_parts(grammar: tree.Grammar) -> Iterator[Diagnostic]:
    """Parts that match the empty text, where something separates them."""
    separated = [expr for expr in permutations_of(grammar) if expr.separator is not None]
    if not separated:
        return
    found = least_rules(grammar.rules, _matches_nothing)
    for part in (part for permutation in separated for part in permutation.parts):
        if fold(part.item, tree.children, partial(_matches_nothing, found)):
            message = "a part that is separated from others must not match the empty text"
            hint = "let the part be missing as a whole: write ? after it"
            yield Diagnostic(message, part.item.span, hint)


def _matches_nothing(found: set[str], expr: tree.Expr, inside: list[bool]) -> bool:
    """Whether an expression matches the empty text, exceptions and regexes included."""
    match expr:
        case tree.Pattern():
            return regex.is_nullable(expr.node)
        case tree.Difference():
            return inside[0] and not inside[1]
        case _:
            return is_nullable(found, expr, inside)


def _made_a_rule(grammar: tree.Grammar) -> str:
    """How a terminal becomes a rule."""
    if grammar.source.dialect == "w3c":
        return "move it before @terminals"
    return "make it a rule: its name in lower case"
