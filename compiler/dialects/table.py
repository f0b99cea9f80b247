"""The table of dialects, one row each, and reading a text by it."""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from os import PathLike
from pathlib import Path, PurePath
from typing import TYPE_CHECKING

from constrain.artifacts.errors import ConstrainError, visible

from ..diagnostics import DEFINE, READ_AS, CheckError, Diagnostic, DialectError, Source, Span
from ..grammar.productive import unused_rules, used_rules
from ..grammar.tree import Expr, Grammar, Rule, distinct_tokens
from ..limits import Limits, blaming
from ..progress import say
from ..schema.options import SchemaOptions
from .ebnf.definitions import defined
from .parse import UnexpectedError, parse

if TYPE_CHECKING:
    from ..schema.rules.deferred import Deferred
    from .builder import Builder

# Names of rules that a hint lists, and rules that the first one need not lead to.
_MOST_LISTED, _FEW = 20, 3

# Schemas of JSON, which their own room reads.
JSON_SCHEMA = "json-schema"

# Structural tags, which another room reads.
STRUCTURAL_TAG = "structural-tag"

# Lists of tools, which a model may call.
TOOLS = "tools"

# EBNF and BNF whose conventions the text alone tells.
EBNF = "ebnf"

# What kbnf alone has.
_ONLY_IN_KBNF = re.compile(
    r"""(?<![^\s=|,(\[{])#(?:e|ex|substrs)?["']|\b(?:any|except|permute|permute_by)!"""
)

# Regular expressions in which `&` is intersection and `~` complement.
EXTENDED = "regex-extended"

# Regular expressions of Python and ECMAScript: in a class `[`, `&&` and `--` are characters.
PLAIN_REGEX = "regex-plain"


@dataclass(frozen=True, slots=True)
class Dialect:
    """``suffixes``: endings of file names that select this dialect. ``builder_path``: the module
    and the class of its ``builder``. ``start``: the name of the start rule; the first rule if no
    rule has that name and ``first_is_start``. ``suggested``: whether an error in another dialect
    may say that this one reads the text; not for a dialect that reads most texts of others."""

    name: str
    suffixes: tuple[str, ...]
    builder_path: tuple[str, str] | None
    start: str
    first_is_start: bool
    suggested: bool = True

    @property
    def builder(self) -> "type[Builder] | None":
        """Of trees, loaded when it is needed; None for what no parser of grammars reads."""
        if self.builder_path is None:
            return None
        module, name = self.builder_path
        found: type[Builder] = getattr(import_module(module, __package__), name)
        return found


DIALECTS: Mapping[str, Dialect] = {
    row.name: row
    for row in (
        Dialect("kbnf", (".ebnf", ".kbnf"), (".kbnf", "KbnfBuilder"), "start", first_is_start=True),
        Dialect("gbnf", (".gbnf",), (".gbnf", "GbnfBuilder"), "root", first_is_start=False),
        Dialect("w3c", (".w3c",), (".w3c", "W3cBuilder"), "start", first_is_start=True),
        # Not suggested: most texts are some regex.
        Dialect(
            "regex", (".regex",), (".regex", "RegexFileBuilder"), "start", True, suggested=False
        ),
        Dialect(
            EXTENDED, (), (".regex", "ExtendedRegexFileBuilder"), "start", True, suggested=False
        ),
        Dialect(
            PLAIN_REGEX, (), (".regex", "PlainRegexFileBuilder"), "start", True, suggested=False
        ),
        Dialect("lark", (".lark",), (".lark", "LarkBuilder"), "start", first_is_start=False),
        # The first rule starts, whatever it is called.
        Dialect("iso14977", (".isoebnf", ".iso"), (".ebnf.iso14977", "Iso14977Builder"), "", True),
        # Not suggested: some convention reads whatever stands in quotes and between rules.
        Dialect(
            EBNF, (".bnf",), (".ebnf.plain", "PlainEbnfBuilder"), "start", True, suggested=False
        ),
        # Not suggested: a ';' begins comments there, so that it reads half of what others mean.
        Dialect("abnf", (".abnf",), (".ebnf.abnf", "AbnfBuilder"), "", True, suggested=False),
        Dialect("antlr", (".g4",), (".ebnf.antlr", "AntlrBuilder"), "", True, suggested=False),
        Dialect(JSON_SCHEMA, (".schema.json",), None, "#", first_is_start=False),
        Dialect(STRUCTURAL_TAG, (".structural-tag.json",), None, "#", first_is_start=False),
        # Most objects are schemas as well.
        Dialect(TOOLS, (".tools.json",), None, "texts", first_is_start=False, suggested=False),
    )
}


def dialect_of(path: str) -> str | None:
    """The dialect that a file is read as by its suffix; standard input (``-``) is kbnf."""
    if path == "-":
        return "kbnf"
    name = PurePath(path).name.lower()
    return next((d.name for d in DIALECTS.values() if name.endswith(d.suffixes)), None)


def read_grammar(
    text: str,
    dialect: str,
    *,
    name: str = "<grammar>",
    start: str | None = None,
    limits: Limits | None = None,
    schema: SchemaOptions | None = None,
    imports: str | PathLike[str] | None = None,
    include: tuple[str, ...] = (),
    define: Sequence[tuple[str, str]] = (),
    is_guessed: bool = False,
) -> Grammar:
    """Parse ``text`` as ``dialect``. ``name`` is what errors call it. ``schema``: how a JSON Schema
    is read. Its start, and that of a structural tag, is a JSON pointer. ``imports``: the folder
    from which grammars import others; None where they may not. ``include``: folders of imports that
    are not found there. ``define``: names that the grammar leaves open, and regexes for them.
    ``is_guessed``: the dialect is that of the suffix, and nobody named it. If it does not read the
    text and exactly one other does, the error says so; else the text is read as ``ebnf``.

    Raises ``DialectError`` with all that is wrong with the syntax, or for an unknown dialect,
    ``CheckError`` if there is no rule or no rule ``start``.
    """
    source = Source(text, name, dialect)
    _check_encodable(source)
    limits = limits or Limits()
    try:
        grammar = _read(source, start, limits, schema, imports, define, include)
    except UnexpectedError as error:
        fitting = _fitting(source, start, limits)
        if len(fitting) == 1 or not is_guessed or _ONLY_IN_KBNF.search(text):
            raise _suggesting(error, fitting) from None
        grammar = _by_conventions(error, start, limits, define)
    for note in grammar.notes:
        if note.message.startswith((READ_AS, DEFINE)):
            say(f"{visible(name)}: {note.message}")
    return grammar


def _by_conventions(
    error: UnexpectedError, start: str | None, limits: Limits, define: Sequence[tuple[str, str]]
) -> Grammar:
    """The grammar of a text that its dialect cannot read, as EBNF. Raises the error that is found
    further on in the text, of those in both dialects."""
    try:
        return _read(replace(error.source, dialect=EBNF), start, limits, define=define)
    except DialectError as other:
        first, last = (each.diagnostics[0].span for each in (error, other))
        if first is not None and last is not None and last.start > first.start:
            raise
        raise error from None


def read_growing(
    text: str, dialect: str, *, name: str, limits: Limits, schema: SchemaOptions
) -> "Grammar | Deferred | None":
    """The same for a JSON Schema or a list of tools: where that surely raises nothing, its rules
    are made when they are read. None for other dialects."""
    source = Source(text, name, dialect)
    if dialect not in (JSON_SCHEMA, TOOLS):
        return None
    _check_encodable(source)
    with blaming(["#"]):
        try:
            if dialect == TOOLS:
                from ..structural_tags.calls import deferred_grammar as deferred_tools

                return deferred_tools(source, schema, limits)
            from ..schema.convert import deferred_grammar

            return deferred_grammar(source, schema, limits)
        except UnexpectedError as error:
            raise _suggesting(error, _fitting(source, None, limits)) from None


def _read(
    source: Source,
    start: str | None,
    limits: Limits,
    schema: SchemaOptions | None = None,
    imports: str | PathLike[str] | None = None,
    define: Sequence[tuple[str, str]] = (),
    include: tuple[str, ...] = (),
    *,
    recover: bool = True,
) -> Grammar:
    """The grammar that the source makes in its own dialect."""
    row = DIALECTS.get(source.dialect)
    if row is None:
        found = f"there is no dialect {source.dialect!r}; known are {', '.join(DIALECTS)}"
        raise DialectError(source, [Diagnostic(found)])
    if row.builder is None:
        grammar = _of_json(source, row, start, limits, schema)
        unused = (f"{DEFINE} {name} changes nothing: {row.name} has no names" for name, _ in define)
        grammar = replace(grammar, notes=(*grammar.notes, *map(Diagnostic, unused)))
        if limits.meter is not None:
            limits.meter.blamed = tuple(grammar.longest_rule())
        return grammar
    builder = row.builder(source, limits)
    builder.schema, builder.import_folder = schema, None if imports is None else Path(imports)
    builder.import_root, builder.include = builder.import_folder, include
    builder.definitions = dict(define)
    rules = written = parse(builder, recover=recover)
    rules += tuple(defined(rules, builder, define, limits))
    names = [rule.name for rule in rules]
    if not rules:
        raise CheckError(source, [Diagnostic(f"there is no rule in this {row.name} grammar")])
    default = row.start if row.start in names or not row.first_is_start else names[0]
    wanted = default if start is None else start
    if wanted not in names:
        known = _listed(rules, builder.ignored)
        message, hint = f"there is no rule {wanted!r} to start from", f"the rules are: {known}"
        if start is None:
            message = f"there is no rule {wanted!r}, with which a {row.name} grammar starts"
            hint += "; name one with --start"
        raise CheckError(source, [Diagnostic(message, help=hint)])
    tokens, ignored = distinct_tokens(rules), tuple(builder.ignored)
    if start is None and wanted != row.start:
        builder.notes += _mostly_unreached(written, ignored, builder.library)
    notes, embedded = tuple(builder.notes), tuple(builder.embedded)
    more = builder.follows_all, notes, embedded, builder.indentation
    grammar = Grammar(source, rules, wanted, tokens, ignored, *more)
    if limits.meter is not None:
        limits.meter.blamed = tuple(grammar.longest_rule())
    return grammar


def _listed(rules: Sequence[Rule], ignored: Iterable[Expr]) -> str:
    """Names of rules to start from: first those that no other rule uses, rules before terminals."""
    unused, terminals = {*unused_rules(rules, ignored)}, {r.name for r in rules if r.terminal}
    names = sorted({r.name for r in rules}, key=lambda n: (n not in unused, n in terminals, n))
    more = len(names) - _MOST_LISTED
    return ", ".join(names[:_MOST_LISTED]) + (f" and {more:,} more" if more > 0 else "")


def _mostly_unreached(
    rules: Sequence[Rule], ignored: Iterable[Expr], library: Collection[str]
) -> list[Diagnostic]:
    """What is to know if the first rule, where the grammar starts as nothing else is named, does
    not lead to most of the others. Those of the dialect's ``library`` do not count."""
    names = list(dict.fromkeys(rule.name for rule in rules if rule.name not in library))
    first = rules[0]
    unreached = {*names}.difference(used_rules(rules, [first.name]))
    if len(unreached) < _FEW or 2 * len(unreached) <= len(names):
        return []
    found = [name for name in unused_rules(rules, ignored) if name in unreached][:_MOST_LISTED]
    found.sort(key=lambda name: -len(used_rules(rules, [name])))
    shown = ", ".join(map(repr, found[:3])) + ", …" * (len(found) > 3)
    hint = f"no rule uses {shown}: --start {found[0]}" if found else "--start names another"
    message = (
        f"starts at {first.name!r}, the first rule; {len(unreached):,} of {len(names):,} rules are "
        "not used from there [unreachable]"
    )
    return [Diagnostic(message, first.name_span, hint)]


def _of_json(
    source: Source, row: Dialect, start: str | None, limits: Limits, schema: SchemaOptions | None
) -> Grammar:
    """The grammar of a schema or a structural tag, from a pointer on, or of a list of tools."""
    if row.name == TOOLS:
        from ..structural_tags.calls import tools_grammar

        # Which artifacts name, and no text does.
        if start not in (None, row.start):
            message = f"there is no rule {start!r} to start from"
            raise CheckError(source, [Diagnostic(message, help="a list of tools has no rules")])
        with blaming(["#"]):
            return tools_grammar(source, schema, limits)

    def read_part(part: Source) -> Grammar:
        if part.dialect != "regex":
            return _read(part, None, limits, schema)
        from .regex import PlainRegexBuilder

        rules = parse(PlainRegexBuilder(part, limits))
        return Grammar(part, rules, rules[0].name)

    start = row.start if start is None else start
    with blaming([start]):
        if row.name == JSON_SCHEMA:
            from ..schema.convert import schema_grammar

            return schema_grammar(source, schema, limits, start)
        from ..structural_tags.convert import tag_grammar

        return tag_grammar(source, read_part, schema, limits, start)


def _fitting(source: Source, start: str | None, limits: Limits) -> list[str]:
    """The other dialects that can read a text."""
    fitting = []
    for row in DIALECTS.values():
        if row.suggested and row.name != source.dialect:
            if row.builder is None and source.text.lstrip()[:1] != "{":
                continue
            try:
                _read(replace(source, dialect=row.name), start, limits, recover=False)
            except ConstrainError:
                continue
            fitting.append(row.name)
    return fitting


def _suggesting(error: DialectError, fitting: list[str]) -> DialectError:
    """The error, with a help line if the text can be read as just one other dialect; then
    what else is wrong in this one is of no interest."""
    first, *others = error.diagnostics
    if len(fitting) == 1:
        hint = f"the text can be read with --dialect {fitting[0]}"
        first = replace(first, help=f"{first.help}; {hint}" if first.help else hint)
        others = []
    return DialectError(error.source, [first, *others])


def _check_encodable(source: Source) -> None:
    """Grammars match UTF-8, so a text with lone surrogates is none."""
    try:
        source.text.encode("utf-8")
    except UnicodeEncodeError as error:
        found = Diagnostic(
            "a lone surrogate is no character", Span(error.start, error.end), "write its UTF-8"
        )
        raise DialectError(source, [found]) from None
