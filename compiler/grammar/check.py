"""Whether a tree makes a grammar."""

from collections.abc import Iterable
from difflib import get_close_matches

from ..diagnostics import CheckError, Diagnostic
from .tree import Grammar, Reference, walk


def check(grammar: Grammar) -> None:
    """Raise ``CheckError`` with every use of a rule that is not defined."""
    names = {rule.name for rule in grammar.rules}
    found = [
        Diagnostic(f"rule {expr.name!r} is not defined", expr.span, _help(grammar, expr, names))
        for rule in grammar.rules
        for expr in walk(rule.body)
        if isinstance(expr, Reference) and expr.name not in names
    ]
    if found:
        raise CheckError(grammar.source, found)


def _help(grammar: Grammar, expr: Reference, names: Iterable[str]) -> str:
    text, span = grammar.source.text, expr.span
    around = text[max(span.start - 1, 0) : span.start] + text[span.end : span.end + 1]
    # A name alone in brackets, without a space, is how others write a class.
    meant = " ([ ] is an option here, no class of characters)" if around == "[]" else ""
    return _did_you_mean(expr.name, names) + meant


def _did_you_mean(name: str, names: Iterable[str]) -> str:
    close = get_close_matches(name, sorted(names), n=1)
    return f"did you mean {close[0]!r}?" if close else "define it, or correct the name"
