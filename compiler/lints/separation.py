"""The lint no-white-space: words of a W3C grammar that nothing separates.

Specifications say in prose that white space may stand between the tokens of their grammar. The
grammar itself, read as it is, has SELECTDISTINCT where SELECT DISTINCT is meant.
"""

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice

from ..automata import regex_ir as regex
from ..automata.graphs import reached
from ..grammar import tree
from .finding import Finding
from .language import only_spaces


def unseparated_words(grammar: tree.Grammar) -> Iterator[Finding]:
    """The first word of a W3C grammar without ``@pass`` that may stand right before another one,
    where no rule above the terminals reads white space; one finding a grammar."""
    if grammar.source.dialect != "w3c" or grammar.ignored:
        return
    bodies = {rule.name: rule.body for rule in grammar.rules}
    spaces = [name for name, body in bodies.items() if id(body) in only_spaces(body)]
    above = [rule for rule in grammar.rules if not (rule.terminal or rule.name.isupper())]
    if any(_reads_space(rule, spaces) for rule in above):
        return
    found = (
        _finding(word, rule, spaces)
        for rule in above
        for expr in tree.walk(rule.body)
        for word, behind in _neighbours(expr)
        if _may_begin_with_letter(behind, bodies)
    )
    yield from islice(found, 1)


def _finding(word: tree.Literal, rule: tree.Rule, spaces: list[str]) -> Finding:
    passed = spaces[0] if spaces else "[#x20#x9#xD#xA]"
    message = (
        f"a word may stand right after {word.data.decode()!r}, and nothing between them: this "
        f"grammar reads no white space between its tokens"
    )
    hint = f"the line '@pass: {passed}' lets it stand between all of them"
    return Finding("no-white-space", message, word.span, rule.name, hint)


def _reads_space(rule: tree.Rule, spaces: list[str]) -> bool:
    """Whether a part of a rule is there to read white space before, after or between others."""
    alone = only_spaces(rule.body)
    return any(
        id(expr) in alone
        or (isinstance(expr, tree.Reference) and expr.name in spaces)
        or (isinstance(expr, tree.Literal) and expr.data != expr.data.strip())
        for expr in tree.walk(rule.body)
    )


def _neighbours(expr: tree.Expr) -> Iterator[tuple[tree.Literal, tree.Expr]]:
    """Words of two letters or more in a sequence, each with what may stand right after it."""
    items = expr.items if isinstance(expr, tree.Sequence) else ()
    for place, item in enumerate(items):
        word = item.item if isinstance(item, tree.Repetition) else item
        if isinstance(word, tree.Literal) and len(word.data) > 1 and word.data.isalpha():
            yield from ((word, behind) for behind in _first(items[place + 1 :]))


def _first(items: tuple[tree.Expr, ...]) -> Iterator[tree.Expr]:
    """The items of a sequence up to one that must be there."""
    for item in items:
        yield item
        if not isinstance(item, tree.Repetition) or item.min_times:
            return


def _may_begin_with_letter(expr: tree.Expr, bodies: Mapping[str, tree.Expr]) -> bool:
    def beginnings(each: tree.Expr) -> Iterable[tree.Expr]:
        match each:
            case tree.Reference(name) if name in bodies:
                return [bodies[name]]
            case tree.Choice(options):
                return options
            case tree.Sequence(items):
                return _first(items)
            case tree.Repetition(item):
                return [item]
            case _:
                return ()

    return any(
        each.data[:1].isalpha()
        if isinstance(each, tree.Literal)
        else isinstance(each, tree.Pattern) and any(map(_has_letter, regex.walk(each.node)))
        for each in reached([expr], beginnings)
    )


def _has_letter(node: regex.Node) -> bool:
    """Whether a class has a small letter of ASCII."""
    return isinstance(node, regex.CharClass) and any(
        low <= ord("z") and high >= ord("a") for low, high in node.ranges
    )
