"""JSON Schemas, grammars and regexes that stand in a structural tag, as rules of its grammar.

    {"type": "grammar", "grammar": "root ::= x\\nx ::= \\"a\\""}   at #/format
        ->   #/format/grammar root ::= …      #/format/grammar x ::= "a"

A part's rules are renamed apart by its pointer, and their spans are places in the text of the tag:
a caret points into the string that the part was written in, escapes and all.
"""

import json
import re
from array import array
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

from constrain.artifacts.errors import visible

from ..diagnostics import Diagnostic, GrammarError, Source, Span
from ..grammar import tree
from ..limits import Limits
from ..schema.notes import Refused
from ..schema.options import SchemaOptions
from ..schema.read import Document
from .ebnf import as_gbnf, read_differently

if TYPE_CHECKING:
    from ..schema.goals import Goal
    from ..schema.rules.emit import Emitter

# Reads a text as the dialect of its source.
ReadPart: TypeAlias = Callable[[Source], tree.Grammar]

# How schemas are read: the options, and what their strings must not contain.
Reading: TypeAlias = tuple[SchemaOptions, tuple[str, ...]]

# The style in which a schema's instances are JSON; others are in ``xml_styles``.
JSON = "json"

_ESCAPE = re.compile(r"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[0-9a-fA-F]{4}|u[0-9a-fA-F]{4}|.)")


@dataclass(frozen=True, slots=True)
class Part:
    """What a part of another language became.

    ``rules``: renamed apart; ``start``: the name of the first to be used; ``notes`` about it, and
    ``embedded`` for a schema.
    """

    rules: tuple[tree.Rule, ...]
    start: str
    notes: tuple[Diagnostic, ...] = ()
    embedded: tuple[tree.Embedded, ...] = ()


class PartError(Exception):
    """A part that cannot be read: what is wrong, at places of the tag's text."""

    def __init__(self, diagnostics: Sequence[Diagnostic]) -> None:
        super().__init__(diagnostics)
        self.diagnostics = tuple(diagnostics)


def schemas(
    document: Document,
    used: Sequence[tuple[str, str]],
    reading: Reading,
    limits: Limits,
    number: int,
) -> Part:
    """The rules of JSON Schemas, each by its pointer and its style; those of each are used by the
    rule of the format around it. What is alike in them has the same rules. ``number``: of schemas
    that are read in other ways. Raises ``PartError``, ``LimitError``."""
    from ..schema.convert import grammar_around
    from ..schema.rules.contradictions import contradiction
    from .xml_styles import Tags

    options, excludes = reading
    pointers = [pointer for pointer, _ in used]
    outer = [f"#{pointer.rpartition('/')[0]}" for pointer in pointers]

    def around(emitter: "Emitter", goals: "Sequence[Goal]") -> str:
        emitter.without = excludes
        for name, (pointer, style), goal in zip(outer, used, goals, strict=True):
            if emitter.normal.is_surely_empty(goal):
                at = f"#{pointer}"
                left_out = Refused(at, "all values of this schema are left out")
                raise contradiction(goal, emitter.normal, at) or left_out
            span = document.spans[pointer]
            if style != JSON:
                Tags(emitter, style).write(goal, name, pointer, span)
                continue
            emitter.begin(name, span)
            emitter.rule(name, [emitter.value(goal)])
        return outer[0]

    try:
        grammar = grammar_around(document, pointers, options, limits, around)
    except GrammarError as error:
        raise PartError(error.diagnostics) from None
    own = {rule.name: rule.name for rule in grammar.rules}
    if number:
        # The same pieces of JSON, by other options.
        own |= {name: f"{name} read otherwise {number}" for name in own if name not in outer}
    rules = tuple(tree.renamed(rule, own) for rule in grammar.rules) if number else grammar.rules
    names = frozenset(own.values())
    spans = (document.spans[pointer] for pointer in pointers)
    embedded = tuple(
        tree.Embedded(name, f"%json {document.source.text[span.start : span.end]}", span, names)
        for name, span in zip(outer, spans, strict=True)
    )
    return Part(rules, outer[0], grammar.notes, embedded)


def part_of_text(
    source: Source, span: Span, text: str, pointer: str, dialect: str, read_part: ReadPart
) -> Part:
    """The rules of a grammar or a regex, which is the string at a place. Raises ``PartError``,
    ``LimitError``."""
    origins = _origins(source.text, span)

    def outside(inner: Span) -> Span:
        last = len(text)
        return Span(origins[min(inner.start, last)], origins[min(max(inner), last)])

    def placed(each: Diagnostic) -> Diagnostic:
        return _at(pointer, replace(each, span=outside(each.span) if each.span else span))

    if dialect == "gbnf":
        wrong = list(read_differently(text))
        if wrong:
            raise PartError(list(map(placed, wrong)))
        text = as_gbnf(text)
    try:
        grammar = read_part(Source(text, source.name, dialect))
    except GrammarError as error:
        raise PartError(list(map(placed, error.diagnostics))) from None
    names = {rule.name: f"#{pointer} {rule.name}" for rule in grammar.rules}

    rules = tuple(tree.renamed(rule, names, outside) for rule in grammar.rules)
    return Part(rules, names[grammar.start])


def _at(pointer: str, found: Diagnostic) -> Diagnostic:
    """The finding with the pointer before it; one that says where in a schema, from the root."""
    inside = found.message.startswith("#")
    message = found.message[1:] if inside else f": {found.message}"
    return replace(found, message=f"{visible(f'#{pointer}')}{message}")


def _origins(text: str, span: Span) -> Sequence[int]:
    """Where each character of the JSON string at a place begins, and where the last one ends."""
    first, last = span.start + 1, span.end - 1
    if "\\" not in text[first:last]:
        return range(first, last + 1)
    origins = array("q")
    place = first
    while place < last:
        found = _ESCAPE.match(text, place, last)
        end = found.end() if found else place + 1
        # A surrogate pair is one character; halves alone are none, and were refused.
        origins.extend([place] * (len(json.loads(f'"{found[0]}"')) if found else 1))
        place = end
    origins.append(last)
    return origins
