"""JSON inside Lark's grammars: llguidance's ``%json {…}`` and ``%regex {…}``.

    answer: %json {"type": "integer"}            the texts of a JSON Schema, in a rule
    QUOTE: %regex {"substring_words": "a b c"}   neighbouring words of a text, the empty text too

The lexer reads the keyword, and the reader of JSON says where the value after it ends. A schema's
rules are made when all is read: they are those of the dialect ``json-schema``, under names that no
author can write (``%json 1#/properties/a``), and nothing is ignored inside.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from ..automata.boolean import substrings
from ..diagnostics import GrammarError, Source, Span
from ..grammar.tree import (
    Embedded,
    Expr,
    Literal,
    Reference,
    Rule,
    references,
    renamed,
)
from ..limits import Limits
from .builder import EbnfBuilder, Token, pattern_of

if TYPE_CHECKING:
    from ..schema.read import Document, Json

# The names of the rules of all schemas begin so.
_PREFIX = "%json "

_WORDS = re.compile(r"\s+|\w+|[^\s\w]+")

_KINDS = ("substring_words", "substring_chunks", "substring_chars")
_ONE_KIND = "a structured regex has one key: substring_words, substring_chunks or substring_chars"


class JsonBuilder(EbnfBuilder):
    """The part of ``LarkBuilder`` that reads JSON."""

    def __init__(self, source: Source, limits: Limits) -> None:
        super().__init__(source, limits)
        # Of each keyword, by where it stands: the value after it.
        self.documents: dict[int, Document] = {}
        # Of each schema: the name of its rule, and where its keyword stands.
        self.schemas: dict[str, int] = {}

    @property
    def extents(self) -> Mapping[str, Callable[[int, int], int]]:
        """Where tokens end whose end no regex finds."""
        return {"JSON": self._end_of_json, "STRUCTURED": self._end_of_json}

    def _end_of_json(self, begin: int, end: int) -> int:
        """The place after the value, whose keyword stands from ``begin`` to ``end``. Raises
        ``DialectError``."""
        from ..schema.read import read_value

        found = read_value(self.source, end, self.limits)
        self.documents[begin] = found
        return found.spans[""].end

    def json(self, items: list[Token]) -> Expr:
        """%json {…}"""
        span = items[0].span
        name = f"{_PREFIX}{len(self.schemas) + 1}"
        self.schemas[name] = span.start
        return Reference(name, span)

    def structured(self, items: list[Token]) -> Expr:
        """%regex {…}"""
        token, span = items[0], items[0].span
        document = self.documents[span.start]
        chunks = self._chunks(document)
        if chunks is None:
            return Literal(b"", span)
        return pattern_of(substrings(chunks, self.limits), str(token), span, "structured")

    def _chunks(self, document: "Document") -> list[str] | None:
        """The pieces that a structured regex lists, None where something is wrong."""
        value: Json = document.value
        if not isinstance(value, Mapping) or len(value) != 1:
            self._misshapen(document, "", _ONE_KIND)
            return None
        ((key, pieces),) = value.items()
        if key not in _KINDS:
            self._misshapen(document, f"/{key}", f"{key!r} is not supported", _ONE_KIND)
            return None
        if key == "substring_chunks":
            if isinstance(pieces, list) and all(isinstance(each, str) for each in pieces):
                return pieces
            self._misshapen(document, f"/{key}", "this must be an array of strings")
            return None
        if not isinstance(pieces, str):
            self._misshapen(document, f"/{key}", "this must be a string")
            return None
        return list(pieces) if key == "substring_chars" else _WORDS.findall(pieces)

    def _misshapen(self, document: "Document", pointer: str, message: str, hint: str = "") -> None:
        span = document.spans.get(pointer, document.spans[""])
        self.report(f"#{pointer}: {message}", span, hint or None)

    def rules_of_schemas(self, rules: list[Rule]) -> list[Rule]:
        """The rules of all schemas; what is wrong with them, or with where they stand, is
        reported."""
        for rule in rules:
            if rule.terminal:
                self._report_inside(
                    rule.body, "a terminal", "make it a rule: its name in lower case"
                )
        for body in self.ignored:
            self._report_inside(body, "%ignore", "ignore a terminal")
        found: list[Rule] = []
        for name, place in self.schemas.items():
            try:
                found += self._rules_of_schema(name, place)
            except GrammarError as error:
                self.diagnostics += error.diagnostics
        return found

    def _report_inside(self, body: Expr, where: str, hint: str) -> None:
        for use in references(body):
            if use.name in self.schemas:
                self.report(f"a JSON Schema is no part of {where}", use.span, hint)

    def _rules_of_schema(self, name: str, place: int) -> list[Rule]:
        from ..schema import SchemaOptions
        from ..schema.convert import grammar_of_document
        from ..schema.notes import together

        document = self.documents[place]
        options = self.schema or SchemaOptions()
        if self.ignored or self.follows_all:
            # A lexer reads a string as a whole, so its characters are copied.
            options = replace(options, keeps_counts=False)
        grammar = grammar_of_document(document, options, self.limits)
        names = {rule.name: f"{name}{_apart(rule.name)}" for rule in grammar.rules}
        inside = [renamed(rule, names) for rule in grammar.rules]
        span = document.spans[""]
        keyword = Span(place, span.end)
        own = Rule(name, keyword, Reference(names[grammar.start], span), keyword)
        text = self.source.text[place : span.end]
        self.embedded.append(Embedded(name, text, span, frozenset([name, *names.values()])))
        self.notes[:] = together([*self.notes, *grammar.notes])
        return [own, *inside]


def _apart(name: str) -> str:
    """The name of a schema's rule, after the name of the schema."""
    return name if name.startswith("#") else f" {name}"
