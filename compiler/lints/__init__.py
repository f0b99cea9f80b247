"""Lints: what is probably not meant in a grammar that can be read.

    tree -> structure     duplicates, unreachable and unproductive rules, recursion
    tree -> escapes       how characters and classes are written
    tree -> language      what parts match: endless white space, redundant alternatives
    tree -> keywords      words that an optional name before them takes
    tree -> separation    words of W3C's EBNF that nothing separates
    tree -> (here)        literals that a tokenizer reads as one of its added tokens
    tree -> repetition    texts that a repetition factors in two ways (``ambiguity``)
    tokens -> fixes       what mends a finding
    text -> schemas       of JSON Schemas, whose rules nobody has written

Each lint has a name; a comment that holds ``constrain: allow(NAME, …)`` silences it, for the
rule that follows if the comment stands right before one, else for the whole file.
"""

import re
from bisect import bisect_right
from collections.abc import Callable, Mapping
from dataclasses import replace

from constrain.artifacts.errors import ConstrainError

from ..diagnostics import Span, give_up
from ..grammar.added_text import added_text
from ..grammar.tree import Embedded, Grammar
from ..limits import Limits
from ..lnf.longest_ignored import weave_longest
from ..lnf.resolve_exclusions import resolve_exclusions
from ..progress import Step
from .escapes import hex_escapes, options_as_classes
from .finding import Finding
from .fixes import mended, with_fixes
from .keywords import keywords_as_names
from .language import redundant, white_space
from .repetition import ambiguous_repetitions
from .schemas import of_notes, of_schema
from .separation import unseparated_words
from .structure import OF_ALL_RULES, unproductive

__all__ = ["LINTS", "NOTES", "Finding", "lint", "mended", "of_notes"]

LINTS: Mapping[str, str] = {
    "added-token-text": "a literal holds the text of an added token of the tokenizer",
    "ambiguous-repetition": "the text of a repetition can be cut up in two ways",
    "dead-branch": "a branch of anyOf or oneOf can never hold",
    "duplicate-definition": "a rule is defined more than once; the definitions are alternatives",
    "empty-alternative": "brackets hold an empty alternative: an option says so (note only)",
    "excluded-member": "a member of enum has none of the types",
    "hex-escape-digit": "a digit after \\xHH looks like a part of it",
    "high-hex-escape": "\\x80 to \\xFF are characters, not bytes",
    "idle-keyword": "a keyword asks nothing of these types, or without another one",
    "ignored-keyword": "a keyword of a schema asks nothing here (note only)",
    "impossible-item": "no value satisfies the schema of an item",
    "impossible-key": "no value satisfies the schema of a key",
    "impossible-length": "no text of these lengths has the pattern",
    "invalid-sample": "a default or an example is no value of the schema",
    "keyword-as-name": "an optional name takes the keyword that may stand after it",
    "left-recursion": "a rule begins with itself; that is allowed (note only)",
    "misspelt-keyword": "a key of a schema is nearly a keyword",
    "narrowed": "valid instances are left out of a schema's grammar (note only)",
    "no-white-space": "words of a W3C grammar stand together, with no white space between tokens",
    "option-as-class": "[ ] looks like an option where it is a class of characters",
    "other-draft": "a keyword of another draft than the schema's",
    "redundant-alternative": "what an alternative matches, the others match too",
    "unbounded-whitespace": "white space may repeat without end, which lets a model stall",
    "undescribed-key": "a key must be there, and no schema describes it",
    "unit-cycle": "a rule stands for itself, with nothing around it",
    "unproductive": "a rule matches no finite text, so its alternatives are left out",
    "unreachable": "a rule cannot be reached from the start",
    "unused-definition": "no reference leads to a definition of a schema",
}

# Findings that are no reason for an exit code.
NOTES = frozenset({"empty-alternative", "ignored-keyword", "left-recursion", "narrowed"})

# States of an exception's automaton; in larger ones nothing is looked for.
_STATES = 2000

_ALLOW = re.compile(r"constrain: allow\(([a-z, -]+)\)")


@Step("lint")
def lint(
    grammar: Grammar,
    limits: Limits | None = None,
    *,
    defined: bool = True,
    added: Mapping[int, str] | None = None,
) -> list[Finding]:
    """All findings that are not silenced, in the order of the text. Raises ``LimitError``.

    ``added``: id to text of a tokenizer's added tokens, where one is known.

    Where rules are used that are not ``defined``, nobody can say what parts match: then only the
    lints over the text and the uses of rules find something.
    """
    limits = (limits or Limits()).started()
    if grammar.source.dialect == "json-schema":
        # The rules are none that anybody has written.
        allowed = _silenced(grammar)
        found = [*of_notes(grammar.notes), *of_schema(grammar.source, limits)]
        return [each for each in found if not allowed(each)]
    found = list(of_notes(grammar.notes))
    if grammar.is_of_schemas:
        return found
    for search in OF_ALL_RULES:
        limits.check_resources("the lints", [grammar.start])
        found += search(grammar)
    found += white_space(grammar, limits)
    found += hex_escapes(grammar)
    found += options_as_classes(grammar)
    found += unseparated_words(grammar)
    for rule, said in added_text(grammar, added or {}):
        place = said.span or Span(0, 0)
        found.append(Finding("added-token-text", said.message, place, rule, said.help or ""))
    for each in grammar.embedded:
        if each.text.startswith("%json"):
            found += _of_embedded(grammar, each, limits)
    if defined:
        found += unproductive(grammar)
        resolved = _resolved(replace(grammar, ignored=()), limits)
        if resolved is not None:
            whole = weave_longest(replace(resolved, ignored=grammar.ignored), limits)
            found += redundant(whole, limits)
            found += ambiguous_repetitions(resolved, limits)
            found += keywords_as_names(resolved, limits)
    allowed = _silenced(grammar)
    # Nobody has written these as rules.
    embedded = grammar.embedded_rules
    found = [each for each in found if each.rule not in embedded and not allowed(each)]
    if defined:
        found = with_fixes(grammar, found, limits)
    return sorted(found, key=lambda f: (f.span, f.lint))


def _of_embedded(grammar: Grammar, part: Embedded, limits: Limits) -> list[Finding]:
    """Findings about a JSON Schema inside a grammar, at their places in that."""
    start, end = part.span.start, part.span.end
    inside = replace(grammar.source, text=grammar.source.text[start:end], dialect="json-schema")
    found = of_schema(inside, limits)
    spans = (Span(start + each.span.start, start + each.span.end) for each in found)
    return [replace(each, span=span) for each, span in zip(found, spans, strict=True)]


def _resolved(grammar: Grammar, limits: Limits) -> Grammar | None:
    """The grammar without exceptions; None where one has no meaning or a large automaton."""
    try:
        return resolve_exclusions(grammar, limits.within(_STATES))
    except ConstrainError as error:
        give_up(error)
        return None


def _silenced(grammar: Grammar) -> Callable[[Finding], bool]:
    text = grammar.source.text
    everywhere: set[str] = set()
    in_rule: set[tuple[str, str]] = set()
    rules = sorted(grammar.rules, key=lambda rule: rule.span.start)
    starts = [rule.span.start for rule in rules]
    for match in _ALLOW.finditer(text):
        names = {name.strip() for name in match[1].split(",")}
        place = bisect_right(starts, match.end())
        following = rules[place] if place < len(rules) else None
        between = text[match.end() : following.span.start] if following else "…"
        if following is not None and between.strip(" \t\r*)/").count("\n") <= 1:
            in_rule |= {(name, following.name) for name in names}
        else:
            everywhere |= names
    return lambda f: f.lint in everywhere or (f.lint, f.rule) in in_rule
