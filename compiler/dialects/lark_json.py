"""What llguidance has inside Lark's grammars: ``%json {…}``, ``%regex {…}`` and ``%lark {…}``.

    answer: %json {"type": "integer"}            the texts of a JSON Schema, in a rule
    list: %lark { start: /[0-9]+/ ("," start)? } those of another grammar, with names of its own
    QUOTE: %regex {"substring_words": "a b c"}   neighbouring words of a text, the empty text too

The lexer reads the keyword, and the reader of JSON says where the value after it ends. A schema's
rules are made when all is read: they are those of the dialect ``json-schema``, under names that no
author can write (``%json 1#/properties/a``), and nothing is ignored inside. So are those of another
grammar; what that one ignores itself is written into its rules. Grammars of a request, which are
called ``@name``, are rules of that name.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from ..automata.boolean import substrings
from ..diagnostics import Diagnostic, DialectError, GrammarError, Source, Span
from ..grammar import tree
from ..grammar.weave_ignored import Gaps, weave_ignored
from ..limits import Limits
from .builder import EbnfBuilder, Token

if TYPE_CHECKING:
    from ..schema.read import Document, Json

# The names of the rules of all schemas begin so, and those of all grammars inside.
_PREFIX, _NESTED = "%json ", "%lark "

# What may hold brackets that are none, and brackets.
_BRACKETS = re.compile(
    r'"(?:[^"\\\r\n]|\\.)*+"|/(?![/*])(?:[^/\\\r\n]|\\.)++/|(?://|#)[^\r\n]*|[{}]'
)

# Grammars inside each other.
_MOST_NESTED = 20

_WORDS = re.compile(r"\s+|\w+|[^\s\w]+")

_KINDS = ("substring_words", "substring_chunks", "substring_chars")
_ONE_KIND = "a structured regex has one key: substring_words, substring_chunks or substring_chars"


class _Behind(Gaps):
    """Ignored text stands behind each terminal: in llguidance a grammar inside begins with none."""

    def before(self, terminal: tree.Expr) -> tree.Expr:
        """A terminal and what may stand behind it."""
        return tree.Sequence((terminal, self.any), terminal.span)

    @property
    def last(self) -> tree.Expr:
        """Nothing more."""
        return tree.Literal(b"", self.place)


class JsonBuilder(EbnfBuilder):
    """The part of ``LarkBuilder`` that reads JSON."""

    def __init__(self, source: Source, limits: Limits) -> None:
        super().__init__(source, limits)
        # Of each keyword, by where it stands: the value after it.
        self.documents: dict[int, Document] = {}
        # Of each schema: the name of its rule, and where its keyword stands.
        self.schemas: dict[str, int] = {}
        # Of each grammar inside: its place with its keyword. How many grammars are around this one.
        self.grammars: dict[str, Span] = {}
        self.depth = 0

    @property
    def extents(self) -> Mapping[str, Callable[[int, int], int]]:
        """Where tokens end whose end no regex finds."""
        ends = dict.fromkeys(("JSON", "STRUCTURED"), self._end_of_json)
        return {**ends, "NESTED": self._end_of_grammar}

    def _end_of_json(self, begin: int, end: int) -> int:
        """The place after the value, whose keyword stands from ``begin`` to ``end``. Raises
        ``DialectError``."""
        from ..schema.read import read_value

        found = read_value(self.source, end, self.limits)
        self.documents[begin] = found
        return found.spans[""].end

    def _end_of_grammar(self, begin: int, end: int) -> int:
        """The place after the brackets. Raises ``DialectError``."""
        depth = 0
        for found in _BRACKETS.finditer(self.source.text, end):
            depth += {"{": 1, "}": -1}.get(found[0], 0)
            if depth <= 0:
                break
        else:
            depth = 1
        if depth or self.source.text[end : found.end()].lstrip()[:1] != "{":
            message = "a grammar in brackets stands after %lark: %lark { start: … }"
            raise DialectError(self.source, [Diagnostic(message, Span(begin, end))])
        return found.end()

    def nested(self, items: list[Token]) -> tree.Expr:
        """%lark {…}"""
        span = items[0].span
        name = f"{_NESTED}{len(self.grammars) + 1}"
        self.grammars[name] = span
        # It is llguidance's, which follows all lexemes.
        self.follows_all = True
        return tree.Reference(name, span)

    def json(self, items: list[Token]) -> tree.Expr:
        """%json {…}"""
        span = items[0].span
        name = f"{_PREFIX}{len(self.schemas) + 1}"
        self.schemas[name] = span.start
        return tree.Reference(name, span)

    def structured(self, items: list[Token]) -> tree.Expr:
        """%regex {…}"""
        token, span = items[0], items[0].span
        document = self.documents[span.start]
        chunks = self._chunks(document)
        if chunks is None:
            return tree.Literal(b"", span)
        return tree.Pattern(substrings(chunks, self.limits), str(token), span, "structured")

    def _chunks(self, document: "Document") -> list[str] | None:
        """The pieces that a structured regex lists, None where something is wrong."""
        value: Json = document.value
        if not isinstance(value, Mapping) or len(value) != 1:
            return self._misshapen(document, "", _ONE_KIND)
        ((key, pieces),) = value.items()
        if key not in _KINDS:
            return self._misshapen(document, f"/{key}", f"{key!r} is not supported", _ONE_KIND)
        if key == "substring_chunks":
            if isinstance(pieces, list) and all(isinstance(each, str) for each in pieces):
                return pieces
            return self._misshapen(document, f"/{key}", "this must be an array of strings")
        if not isinstance(pieces, str):
            return self._misshapen(document, f"/{key}", "this must be a string")
        return list(pieces) if key == "substring_chars" else _WORDS.findall(pieces)

    def _misshapen(
        self, document: "Document", pointer: str, message: str, hint: str = ""
    ) -> list[str] | None:
        span = document.spans.get(pointer, document.spans[""])
        self.report(f"#{pointer}: {message}", span, hint or None)
        return None

    def rules_of_schemas(self, rules: list[tree.Rule]) -> list[tree.Rule]:
        """The rules of all schemas; what is wrong with them, or with where they stand, is
        reported."""
        for rule in rules:
            if rule.terminal:
                self._report_inside(
                    rule.body, "a terminal", "make it a rule: its name in lower case"
                )
        for body in self.ignored:
            self._report_inside(body, "%ignore", "ignore a terminal")
        found: list[tree.Rule] = []
        reads = [partial(self._rules_of_schema, *each) for each in self.schemas.items()]
        reads += [partial(self._rules_of_grammar, *each) for each in self.grammars.items()]
        for read in reads:
            try:
                found += read()
            except GrammarError as error:
                self.diagnostics += error.diagnostics
        return found

    def _report_inside(self, body: tree.Expr, where: str, hint: str) -> None:
        for use in tree.references(body):
            if use.name in self.schemas:
                self.report(f"a JSON Schema is no part of {where}", use.span, hint)
            elif use.name in self.grammars:
                self.report(f"a grammar is no part of {where}", use.span, hint)

    def _rules_of_grammar(self, name: str, span: Span) -> list[tree.Rule]:
        from .parse import parse

        if self.depth == _MOST_NESTED:
            message = f"more than {_MOST_NESTED} grammars stand inside each other"
            raise DialectError(self.source, [Diagnostic(message, span)])
        text = self.source.text
        begin = text.index("{", span.start) + 1
        # Places are those of this text.
        before = re.sub(r"[^\r\n]", " ", text[:begin])
        source = replace(self.source, text=before + text[begin : span.end - 1])
        other = type(self)(source, self.limits)
        other.schema, other.definitions, other.depth = self.schema, self.definitions, self.depth + 1
        other.import_folder, other.import_root = self.import_folder, self.import_root
        other.include = self.include
        rules = parse(other)
        if all(rule.name != "start" for rule in rules):
            message = "there is no rule 'start' in this grammar"
            raise DialectError(source, [Diagnostic(message, span)])
        ignored, embedded = tuple(other.ignored), tuple(other.embedded)
        whole = tree.Grammar(source, rules, "start", (), ignored, embedded=embedded)
        woven = weave_ignored(whole, _Behind(whole) if whole.ignored else None)
        names = {r.name: f"{name} {r.name}" for r in woven.rules if not r.name.startswith("@")}
        inside = [tree.renamed(rule, names) for rule in woven.rules]
        own = tree.Rule(name, span, tree.Reference(names[woven.start], span), span)
        place = Span(begin - 1, span.end)
        keyword = text[span.start : span.end]
        self.embedded.append(
            tree.Embedded(name, keyword, place, frozenset([name, *names.values()]))
        )
        self.notes += other.notes
        return [own, *inside]

    def _rules_of_schema(self, name: str, place: int) -> list[tree.Rule]:
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
        inside = [tree.renamed(rule, names) for rule in grammar.rules]
        span = document.spans[""]
        keyword = Span(place, span.end)
        own = tree.Rule(name, keyword, tree.Reference(names[grammar.start], span), keyword)
        text = self.source.text[place : span.end]
        self.embedded.append(tree.Embedded(name, text, span, frozenset([name, *names.values()])))
        self.notes[:] = together([*self.notes, *grammar.notes])
        return [own, *inside]


def _apart(name: str) -> str:
    """The name of a schema's rule, after the name of the schema."""
    return name if name.startswith("#") else f" {name}"
