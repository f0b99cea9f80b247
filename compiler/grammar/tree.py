"""The tree that every dialect parses to.

Each node carries the span of the text it came from. Brackets leave no node after: a
group is the expression inside it. Trees can be tens of thousands of levels deep, so
nothing here recurses; ``walk`` visits a tree without a call per level.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeAlias, TypeVar

from ..automata import regex_ir as regex
from ..automata.dfa import Dfa
from ..automata.folding import fold, node_class
from ..diagnostics import Diagnostic, Source, Span


@node_class
class Literal:
    """Text to be matched as it is; ``data`` is its UTF-8, empty for ε."""

    data: bytes
    span: Span


@node_class
class Pattern:
    """A regular expression used as a terminal; ``text`` is how the author wrote it.

    ``kind``: ``regex``, or for KBNF's special ones ``e`` (shortest matches) or ``substrs``, or
    ``string`` for a text in either case, or ``structured`` for llguidance's ``%regex``.
    """

    node: regex.Node
    text: str
    span: Span
    kind: str = "regex"


@node_class
class Token:
    """One token of a tokenizer, matched as a token and not by its text.

    ``name``: of the one token, as written, the angle brackets included; None where ``ids``
    say which tokens match, as ranges (first, last). ``also``: others, each by its id or as it is
    written. ``negated``: any token but these; without a name and without ids, any token at all.
    """

    name: str | None
    ids: tuple[tuple[int, int], ...]
    negated: bool
    span: Span
    also: tuple[int | str, ...] = ()

    @property
    def meaning(self) -> object:
        """Equal for tokens that are named alike, wherever they stand."""
        return self.name, regex.normalized(self.ids), self.negated, frozenset(self.also)

    @property
    def text(self) -> str:
        """``<name>``, ``<[1,5-9]>`` or ``<[*]>``, with ``!`` before it if it is negated; more than
        one name in brackets, ``(<a>|<b>|<[7]>)``."""
        if self.also:
            others = (f"<[{each}]>" if isinstance(each, int) else each for each in self.also)
            inside = f"({'|'.join((self.name or '', *others))})"
        elif self.name is not None:
            inside = self.name
        elif not self.ids:
            return "<[*]>" if self.negated else "<[]>"
        else:
            ranges = regex.normalized(self.ids)
            inside = f"<[{','.join(str(a) if a == b else f'{a}-{b}' for a, b in ranges)}]>"
        return f"!{inside}" if self.negated else inside


@node_class
class Reference:
    """The use of a rule."""

    name: str
    span: Span


@node_class
class Sequence:
    """``items`` one after the other; at least two."""

    items: tuple["Expr", ...]
    span: Span


@node_class
class Choice:
    """One of ``options``; at least two."""

    options: tuple["Expr", ...]
    span: Span


@node_class
class Repetition:
    """``item`` from ``min_times`` to ``max_times`` times (None: any number)."""

    item: "Expr"
    min_times: int
    max_times: int | None
    span: Span


@node_class
class Difference:
    """What ``left`` matches and ``right`` does not; both must be regular."""

    left: "Expr"
    right: "Expr"
    span: Span


@node_class
class Excluding:
    """One or more characters (at most ``at_most``) that do not contain what ``item`` matches."""

    item: "Expr"
    at_most: int | None
    span: Span


# The most parts of a permutation, which are counted while decoding as the bits of a set.
MOST_PARTS = 256


@node_class
class Part:
    """What may stand in a permutation: ``item``, once, if it ``is_required`` or may be missing, or
    ``is_repeated`` any number of times, between any others."""

    item: "Expr"
    is_required: bool = True
    is_repeated: bool = False


@node_class
class Permutation:
    """``parts`` in any order, with ``separator`` between each two, if there is one.

    A part that matches the empty text may be missing; what is missing needs no separator.
    ``least`` to ``most`` of the parts are there (None: all), which is said only if none is
    repeated.
    """

    parts: tuple[Part, ...]
    separator: "Expr | None"
    span: Span
    least: int = 0
    most: int | None = None


Expr: TypeAlias = (
    Literal
    | Pattern
    | Token
    | Reference
    | Sequence
    | Choice
    | Repetition
    | Permutation
    | Difference
    | Excluding
)
Node = TypeVar("Node", bound=Expr)


@node_class
class Capture:
    """``name``: by which a program gets what a rule has read. ``end``: what the rule ends with and
    is no part of that, as short as may be; ``end_name``: of that. A name may be empty."""

    name: str
    end: Expr | None = None
    end_name: str = ""


@node_class
class Rule:
    """One definition. Several of one name add up to alternatives.

    ``terminal``: a lexer would match it as a whole, so that nothing ignored stands inside;
    of two that match equally long, the one of higher ``priority`` wins. ``shortest``: a lexer ends
    it as soon as it may, and all that was begun beside it. ``within``: of a rule that nobody wrote,
    what messages call it, as it is part of one that somebody did. ``capture``: of one whose texts a
    program gets.
    """

    name: str
    name_span: Span
    body: Expr
    span: Span
    terminal: bool = False
    priority: int = 0
    shortest: bool = False
    within: str = ""
    capture: Capture | None = None

    @property
    def shown(self) -> str:
        """What messages call it."""
        return self.within or self.name

    @cached_property
    def expressions(self) -> "tuple[Expr, ...]":
        """The body and all inside it, in the order of the text."""
        return tuple(walk(self.body))

    @cached_property
    def classes(self) -> frozenset[type]:
        """The classes of the expressions."""
        return frozenset(map(type, self.expressions))

    def of_class(self, kind: type[Node]) -> tuple[Node, ...]:
        """The expressions of a class, in the order of the text."""
        if kind not in self.classes:
            return ()
        return tuple([part for part in self.expressions if part.__class__ is kind])

    @property
    def uses(self) -> tuple[Reference, ...]:
        """The uses of rules in the body, in the order of the text."""
        return self.of_class(Reference)

    @property
    def patterns(self) -> tuple[Pattern, ...]:
        """The patterns in the body that are more than one character or text."""
        found = self.of_class(Pattern)
        return tuple([part for part in found if part.node.__class__ not in _PLAIN])

    @property
    def repetitions(self) -> tuple[Repetition, ...]:
        """The repetitions in the body."""
        return self.of_class(Repetition)


@dataclass(frozen=True, slots=True, eq=False)
class Embedded:
    """A part of a grammar that its author wrote in another language, such as a JSON Schema.

    ``name``: of the rule that stands for it. ``text``: as it was written, keyword included, and
    ``span`` the place of what stands after that. ``rules``: the names of all rules that it became,
    inside which nothing is ignored.
    """

    name: str
    text: str
    span: Span
    rules: frozenset[str]


@dataclass(frozen=True, slots=True)
class Indentation:
    """Terminals that say where a line begins further in or out than the one before, as Lark's
    ``Indenter`` makes them; they match nothing. ``tab_length``: blanks that a tab stands for.
    ``widest``: blanks before a line at most."""

    indent: str
    dedent: str
    tab_length: int = 8
    widest: int = 64


@dataclass(frozen=True, slots=True)
class Widths:
    """Terminals that are blanks before lines, in rules that are the same for blocks of any width.

    ``same``: those of the block around; ``wider``: those with which a block begins. They stand for
    some of ``each``, by width from 1 on, which no rule names; all have a ``priority`` and a
    ``place``. ``lines``: what may stand right before any of them.
    """

    same: str
    wider: str
    each: tuple[Dfa, ...]
    priority: int
    place: Span
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Grammar:
    """The rules in the order of the text, and the name of the start rule.

    ``tokens``: the distinct token terminals, one of each meaning; their places in it number
    them in normal forms and automata, also in those of parts of the grammar.
    ``ignored``: what may stand any number of times before each terminal and at the end.
    ``follows_all``: a lexer that finds a string and a regex of one length follows both, as
    llguidance does; else the string wins, as in Lark. ``notes``: what to know about places of the
    text, such as members that were left out. ``embedded``: what stands in it in other languages.
    ``indentation``: which terminals are made of the widths of lines; ``widths``: or what these are
    made of. ``marks_equal``: texts have
    marks after items of JSON's arrays that are equal to an earlier one
    (``artifacts/machine/equal_items.py``).
    """

    source: Source
    rules: tuple[Rule, ...]
    start: str
    tokens: tuple[Token, ...] = ()
    ignored: tuple[Expr, ...] = ()
    follows_all: bool = False
    notes: tuple[Diagnostic, ...] = ()
    embedded: tuple[Embedded, ...] = ()
    indentation: Indentation | None = None
    widths: Widths | None = None
    marks_equal: bool = False

    @property
    def is_of_schemas(self) -> bool:
        """Whether it is made of JSON Schemas, so that nobody has written its rules."""
        return self.source.dialect in OF_SCHEMAS

    @property
    def has_schema(self) -> bool:
        """Whether it is made of a JSON Schema, or has one inside."""
        return self.is_of_schemas or bool(self.embedded)

    @property
    def embedded_rules(self) -> frozenset[str]:
        """The names of the rules that nobody has written as rules."""
        return frozenset(name for each in self.embedded for name in each.rules)

    @property
    def terminals(self) -> frozenset[str]:
        """The names of the rules that are terminals."""
        return frozenset(rule.name for rule in self.rules if rule.terminal)

    @property
    def place_of_start(self) -> tuple[str, int, int]:
        """The start rule, and the characters where its first definition begins and ends."""
        span = next(rule.span for rule in self.rules if rule.name == self.start)
        return self.start, span.start, span.end

    def longest_rule(self) -> Iterator[str]:
        """The name of the rule with the most text, which limits blame where a step knows none."""
        yield max(self.rules, key=lambda rule: rule.span.end - rule.span.start).name


# Dialects whose texts have schemas and no rules.
OF_SCHEMAS = frozenset(["json-schema", "tools"])

# What has nothing inside; most of a tree, and seen sooner so. And the same of patterns.
_LEAVES = frozenset({Literal, Reference, Pattern, Token})
_PLAIN = frozenset({regex.CharClass, regex.Lit})


def children(expr: Expr) -> tuple[Expr, ...]:
    """The expressions directly inside one."""
    if expr.__class__ in _LEAVES:
        return ()
    match expr:
        case Sequence():
            return expr.items
        case Choice():
            return expr.options
        case Repetition() | Excluding():
            return (expr.item,)
        case Difference():
            return (expr.left, expr.right)
        case Permutation():
            inside = tuple(part.item for part in expr.parts)
            return inside if expr.separator is None else (*inside, expr.separator)
    return ()


def distinct_tokens(rules: Iterable[Rule]) -> tuple[Token, ...]:
    """The token terminals in ``rules``, the first of each meaning, in the order of the text."""
    found: dict[object, Token] = {}
    for rule in rules:
        for token in rule.of_class(Token):
            found.setdefault(token.meaning, token)
    return tuple(found.values())


def with_children(expr: Expr, parts: tuple[Expr, ...]) -> Expr:
    """The expression with other parts; one without any as it is."""
    match expr:
        case Sequence(_, span):
            return Sequence(parts, span)
        case Choice(_, span):
            return Choice(parts, span)
        case Repetition(_, low, high, span):
            return Repetition(parts[0], low, high, span)
        case Difference():
            return Difference(parts[0], parts[1], expr.span)
        case Excluding():
            return replace(expr, item=parts[0])
        case Permutation():
            items = zip(expr.parts, parts, strict=False)
            inside = tuple(replace(part, item=item) for part, item in items)
            separator = None if expr.separator is None else parts[-1]
            return replace(expr, parts=inside, separator=separator)
        case _:
            return expr


def regex_of(expr: Expr, inside: list[regex.Node]) -> regex.Node:
    """The regex of an expression by those of its parts. Raises ``TypeError`` for one that names
    rules or tokens, or that has exceptions or orders."""
    match expr:
        case Literal(data):
            return regex.lit(data)
        case Pattern(node):
            return node
        case Sequence():
            return regex.seq(*inside)
        case Choice():
            return regex.alt(*inside)
        case Repetition(_, low, high):
            return regex.repeat(inside[0], low, high)
        case _:
            raise TypeError(f"{type(expr).__name__}: resolve the expression first")


def walk(expr: Expr) -> list[Expr]:
    """An expression and all inside it, in the order of the text."""
    found, pending = [], [expr]
    while pending:
        current = pending.pop()
        found.append(current)
        kind = current.__class__
        if kind in _LEAVES:
            continue
        if current.__class__ is Sequence:
            pending += current.items[::-1]
        elif current.__class__ is Choice:
            pending += current.options[::-1]
        elif current.__class__ is Repetition:
            pending.append(current.item)
        else:
            pending += reversed(children(current))
    return found


def references(expr: Expr) -> Iterator[Reference]:
    """The uses of rules in an expression, in the order of the text."""
    return (part for part in walk(expr) if isinstance(part, Reference))


def renamed(
    rule: Rule, names: Mapping[str, str], place: Callable[[Span], Span] | None = None
) -> Rule:
    """The rule under another name, with the others where there are some. ``place``: where what
    stands at a place stands then."""

    def under(expr: Expr, parts: list[Expr]) -> Expr:
        found = with_children(expr, tuple(parts))
        if isinstance(found, Reference):
            found = replace(found, name=names.get(found.name, found.name))
        return found if place is None else replace(found, span=place(found.span))

    capture = rule.capture
    if capture is not None and capture.end is not None:
        capture = replace(capture, end=fold(capture.end, children, under))
    if place is not None:
        rule = replace(rule, name_span=place(rule.name_span), span=place(rule.span))
    body = fold(rule.body, children, under)
    return replace(rule, name=names[rule.name], body=body, capture=capture)
