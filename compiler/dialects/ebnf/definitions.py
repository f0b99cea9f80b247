"""The names that a grammar leaves open, defined from outside by a regex each.

    "let" IDENT "=" NUMBER     IDENT=[a-z]+  NUMBER=[0-9]+     ->     two rules more

A rule that is made so stands where its name is first used.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from ...automata import regex_ir as ir
from ...diagnostics import DEFINE, Diagnostic, Source
from ...grammar.tree import Literal, Pattern, Reference, Rule, references
from ...limits import Limits
from ..builder import Builder
from ..parse import parse
from ..regex import RegexBuilder

_DEFINITION = re.compile(r"\s*(?P<name>\?[^?]*\?|<[^>]*>|[^=]*?)\s*=")


def defined(
    rules: Sequence[Rule], builder: Builder, definitions: Iterable[tuple[str, str]], limits: Limits
) -> Iterator[Rule]:
    """A rule for each name that rules use and do not define: those of the definitions, then those
    of the dialect's library.

    ``definitions``: names and their regexes. The builder notes those that change nothing. Raises
    ``DialectError`` for a regex that is none.
    """
    known = {rule.name for rule in rules}
    found: dict[str, Reference] = {}
    for use in (*(use for rule in rules for use in rule.uses), *_ignored(builder)):
        found.setdefault(use.name, use)
    for name, regex in definitions:
        uses = [use for each, use in found.items() if builder.matches_definition(each, name)]
        opened = [use for use in uses if use.name not in known]
        if not opened and name not in builder.settings:
            why = "the grammar defines it" if uses or name in known else "no rule uses that name"
            builder.notes.append(Diagnostic(f"{DEFINE} {name} changes nothing: {why}"))
        for use in opened:
            known.add(use.name)
            yield _rule(use, name, regex, builder, limits)
    for name, use in found.items():
        if name not in known and name in builder.library:
            yield _rule(use, name, builder.library[name], builder, limits)


def _ignored(builder: Builder) -> Iterator[Reference]:
    return (use for body in builder.ignored for use in references(body))


def _rule(use: Reference, name: str, regex: str, builder: Builder, limits: Limits) -> Rule:
    source = Source(regex, f"{DEFINE} {name}", "regex")
    (whole,) = parse(RegexBuilder(source, limits))
    assert isinstance(whole.body, Pattern)
    if whole.body.node == ir.EPSILON:
        # Nothing is no lexeme.
        return Rule(use.name, use.span, Literal(b"", use.span), use.span)
    body = replace(whole.body, span=use.span)
    return Rule(use.name, use.span, body, use.span, terminal=builder.has_terminals)


def read_definitions(texts: Iterable[str]) -> tuple[tuple[str, str], ...]:
    """NAME=REGEX of each text. Names that are no words, such as ``<any text>`` and ``? a = b ?``,
    may have a ``=`` inside. Raises ``ValueError`` for one without a name or a regex, and for a
    name that is defined twice."""
    found: dict[str, str] = {}
    for text in texts:
        match = _DEFINITION.match(text)
        name = " ".join(match["name"].split()) if match else ""
        if match is None or not name:
            raise ValueError(f"{text!r} is not NAME=REGEX, such as IDENT=[a-z]+")
        if name in found:
            raise ValueError(f"{name!r} is defined twice")
        found[name] = text[match.end() :]
    return tuple(sorted(found.items()))
