"""Where a text names rules: what it defines, uses and imports, and all of its tokens.

    digit ::= #"[0-9]";  day ::= digit digt    ->    defines digit, day; uses digit, digt

The dialect's own parser reads, and what its builder is called with is kept. So a name in a string
or a comment is none, and what one rule has wrong hides no other. Names that are defined nowhere
are uses all the same; `check` speaks of them.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from constrain.artifacts.tokens.memo import Made

from ..diagnostics import DialectError, Source, Span
from ..grammar.tree import Reference, Rule
from ..limits import Limits
from ..schema.read import read_json
from .builder import Builder, Token
from .lark_library import library_folder
from .lark_statements import wanted_of
from .parse import UnexpectedError, parse
from .table import DIALECTS, JSON_SCHEMA

# What a definition begins with, and what stands right after the name of others.
_HEAD, _DEFINES = "HEAD", ("DEFINES", "COLON")

# Keys of a schema under which definitions stand.
_DEFINITIONS = ("$defs", "definitions")

# Dialects whose names are the same in either case.
_IN_EITHER_CASE = frozenset({"abnf"})


class Definition(NamedTuple):
    """The rule ``name``: where its name stands, and where all of it does."""

    name: str
    span: Span
    whole: Span


class Use(NamedTuple):
    """A use of the rule ``name``."""

    name: str
    span: Span


class Import(NamedTuple):
    """``name`` of another file, which this one calls ``alias``. ``file``: None where no folder has
    it. ``span`` and ``alias_span``: of the two names; the same where there is one name."""

    file: Path | None
    name: str
    span: Span
    alias: str
    alias_span: Span


@dataclass(frozen=True)
class Names:
    """All of a text, in its order. ``tokens``: as far as the text can be read; ``is_whole``:
    whether that is all."""

    source: Source
    tokens: tuple[Token, ...] = ()
    definitions: tuple[Definition, ...] = ()
    uses: tuple[Use, ...] = ()
    imports: tuple[Import, ...] = ()
    is_whole: bool = True

    @cached_property
    def _places(self) -> dict[str, list[Span]]:
        found: dict[str, list[Span]] = {}
        for name, span in self._all():
            found.setdefault(name, []).append(span)
        return {name: sorted(set(spans)) for name, spans in found.items()}

    def _all(self) -> Iterator[tuple[str, Span]]:
        yield from ((each.name, each.span) for each in self.definitions)
        yield from ((each.name, each.span) for each in self.uses)
        yield from ((each.alias, each.alias_span) for each in self.imports)

    @property
    def known(self) -> list[str]:
        """The names that are defined or imported, each once, in the order of the text."""
        both = [(d.span, d.name) for d in self.definitions]
        both += [(i.alias_span, i.alias) for i in self.imports]
        return list(dict.fromkeys(name for _, name in sorted(both)))

    def places(self, name: str) -> list[Span]:
        """Where the name stands, in definitions, uses and imports."""
        return self._places.get(name, [])

    def defined(self, name: str) -> list[Definition]:
        """The definitions of a name."""
        return [each for each in self.definitions if each.name == name]

    def imported(self, name: str) -> Import | None:
        """What a name is imported as, if it is."""
        return next((each for each in self.imports if each.alias == name), None)

    def at(self, offset: int) -> tuple[str, Span] | None:
        """The name that stands at a character, or right before it, and its place."""
        for name, span in self._all():
            if span.start <= offset <= span.end:
                return name, span
        return None

    def original_at(self, offset: int) -> Import | None:
        """The import whose name in the other file stands there."""
        return next(
            (each for each in self.imports if each.span.start <= offset <= each.span.end), None
        )


def names_of(
    source: Source, limits: Limits, *, imports: Path | None = None, include: Iterable[str] = ()
) -> Names:
    """The names of a text in its dialect; none where that has no names. ``imports`` and
    ``include``: as of ``read_grammar``. Raises ``LimitError``."""
    row = DIALECTS.get(source.dialect)
    if source.dialect == JSON_SCHEMA:
        return _of_schema(source, limits)
    if row is None or row.builder is None or row.builder.only_rule:
        return Names(source)
    builder = _RECORDING[row.builder](source, limits)
    builder.import_folder = builder.import_root = imports
    builder.include = tuple(include)
    builder.read, builder.found = [], []
    is_whole = True
    try:
        parse(builder)
    except UnexpectedError:
        is_whole = False
    except DialectError:
        pass  # Of what the text says, not of where its parts begin and end.
    tokens = sorted(
        {token.span: token for token in builder.read if token.type != "$END"}.values(),
        key=lambda token: token.span,
    )
    return replace(_named(source, tokens, builder.found), is_whole=is_whole)


def _of_schema(source: Source, limits: Limits) -> Names:
    """The definitions of a schema by their pointers, and the references to them."""
    try:
        document = read_json(source, limits)
    except DialectError:
        return Names(source)
    definitions, uses = list[Definition](), list[Use]()
    for pointer, span in document.spans.items():
        around, _, name = pointer.rpartition("/")
        if around.rpartition("/")[2] in _DEFINITIONS:
            key = document.keys[pointer]
            inside = Span(key.start + 1, key.end - 1)
            definitions.append(Definition(f"#{pointer}", inside, key.cover(span)))
        elif name == "$ref" and isinstance(document.at(pointer), str):
            uses.append(Use(document.at(pointer), Span(span.start + 1, span.end - 1)))
    return Names(source, definitions=tuple(definitions), uses=tuple(uses))


def _named(source: Source, tokens: list[Token], found: list[Definition | Use | Import]) -> Names:
    """The names, with the heads of rules that could not be read to their ends."""
    definitions = {each.span: each for each in found if isinstance(each, Definition)}
    uses = {each.span: each for each in found if isinstance(each, Use)}
    for token, behind in zip(tokens, [*tokens, None][1:], strict=True):
        is_head = token.type == _HEAD
        if is_head or (token.type == "NAME" and behind and behind.type in _DEFINES):
            name = re.split(r"\s*(?:=|::)", token)[0].strip("<>")
            span = Span(token.span.start, token.span.start + len(name)) if is_head else token.span
            if not any(each.start == span.start for each in definitions) and span not in uses:
                definitions[span] = Definition(" ".join(name.split()), span, token.span)
    if source.dialect in _IN_EITHER_CASE:
        definitions = {s: d._replace(name=d.name.lower()) for s, d in definitions.items()}
        uses = {s: u._replace(name=u.name.lower()) for s, u in uses.items()}
    return Names(
        source,
        tuple(tokens),
        tuple(definitions[span] for span in sorted(definitions)),
        tuple(uses[span] for span in sorted(uses)),
        tuple(each for each in found if isinstance(each, Import)),
    )


def _recording(builder: type[Builder]) -> Any:
    """The class of builders that note names in ``found``, and make no grammar of them."""
    base: Any = builder

    class Recording(base):  # type: ignore[misc]
        found: list[Definition | Use | Import]

        def start(self, _items: list[Any]) -> tuple[Rule, ...]:
            return ()

        def rule(self, items: list[Any]) -> Rule | None:
            made: Rule | None = super().rule(items)
            if made is not None:
                self.found.append(Definition(made.name, made.name_span, made.span))
                return made
            name = next(i for i in items if isinstance(i, Token) and i.type == "NAME")
            self.found.append(Definition(str(name), name.span, name.span))
            return None

        def reference(self, items: list[Token]) -> Any:
            return self._used(super().reference(items), items[0].span)

        def prose(self, items: list[Token]) -> Any:
            return self._used(super().prose(items), items[0].span)

        def special(self, items: list[Token]) -> Any:
            return self._used(super().special(items), items[0].span)

        def _used(self, made: Any, span: Span) -> Any:
            if isinstance(made, Reference):
                # A parameter after a name is no part of it, nor are the < > of prose.
                self.found.append(Use(made.name.partition("::")[0].strip("<>"), span))
            return made

        def use(self, items: list[Any]) -> Any:
            self.found.append(Use(str(items[0]), items[0].span))
            return super().use(items)

        def declare(self, items: list[Token]) -> None:
            self.found += [Definition(str(each), each.span, each.span) for each in items[1:]]

        def imports(self, items: list[Token]) -> list[Rule]:
            parts, is_relative, wanted = wanted_of(items)
            place = self._place(parts, is_relative=is_relative) if parts else None
            file = None if place is None else place[0]
            if file is None and parts == ["common"] and not is_relative:
                file = library_folder() / "common.lark"
            for own, alias in wanted:
                self.found.append(Import(file, str(own), own.span, str(alias), alias.span))
            return []

    Recording.__name__ = f"Recording{builder.__name__}"
    return Recording


# By the class of builders, each made once, as their tables are.
_RECORDING = Made[Any, Any](_recording)
