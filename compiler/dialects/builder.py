"""What all dialects share when they turn Lark's tokens into nodes of the tree.

    token MINUS, node a, node b     ->  a builder's method  ->  Difference(a, b, span)
    token "a\\x41b"                 ->  unescape            ->  aAb, and where each character began

The driver calls the method that is named like a rule of the ``.lark`` file with the rule's
children: tokens, and what the methods returned for inner rules. Brackets and separators are
children too, so ``span_over(items)`` is the place of the whole; ``nodes_in(items)`` is without
tokens. A method that finds something wrong adds to ``diagnostics`` and returns a placeholder; the
parse goes on, and all findings are raised together. ``Builder`` is the base of all builders;
``EbnfBuilder`` that of the dialects with rules, with the operators that most of them share: a
dialect overrides what means something else there.

Undoing escapes moves characters; ``Unescaped.origins`` says for every resulting character where it
began in the source, so that a caret still points at it.
"""

import os
import re
from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any, ClassVar, Self, TypeAlias

from constrain.artifacts.container.regular import regular

from ..automata import regex_ir as regex
from ..diagnostics import Diagnostic, Edit, Fix, Source, Span
from ..grammar import tree
from ..grammar.regex_classes import is_scalar as is_scalar
from ..grammar.regex_lexer import QUANTITIES as QUANTITIES
from ..grammar.regex_lexer import count_of as count_of
from ..limits import MOST_GRAMMAR_BYTES, Limits
from ..schema.options import SchemaOptions

SIMPLE = {"n": "\n", "r": "\r", "t": "\t", "f": "\f", "v": "\v", "0": "\0"}
SIMPLE |= {char: char for char in "\\'\""}

# Escapes of plain text; in a regex the letter means something else, or itself.
PLAIN = {"b": "\b", "/": "/"}

# Escapes by the number of a character, without and with the long one, and what each needs.
_CODES = re.compile(r"x([0-9A-Fa-f]{2})|u([0-9A-Fa-f]{4})|u\{([0-9A-Fa-f]{1,6})\}")
_LONG_CODES = re.compile(rf"{_CODES.pattern}|U([0-9A-Fa-f]{{8}})")
_NEEDS = {
    "x": r"\x needs two hexadecimal digits, as in \x41",
    "u": r"\u needs four hexadecimal digits, or a code point in braces as in \u{1F600}",
}
_LONG_NEEDS = _NEEDS | {"U": r"\U needs the eight hexadecimal digits of a code point"}


@dataclass(frozen=True, slots=True)
class Unescaped:
    """``text`` without escapes; character i began at source offset ``origins[i]``, and
    ``origins[len(text)]`` is where the text ended."""

    text: str
    origins: Sequence[int]

    def span(self, start: int, end: int) -> Span:
        """Where the characters [start, end) stand in the source."""
        last = len(self.text)
        return Span(self.origins[min(start, last)], self.origins[min(max(end, start), last)])


def unescape(
    text: str,
    offset: int,
    diagnostics: list[Diagnostic],
    *,
    keep_unknown: bool,
    long_escapes: bool = False,
) -> Unescaped:
    """Undo ``\\n \\r \\t \\0 \\\\ \\' \\" \\xHH \\u{…}`` in ``text``, which stands at ``offset``;
    with ``long_escapes`` also ``\\UHHHHHHHH``.

    An unknown escape keeps its backslash if ``keep_unknown`` (a regex will read it), else it
    is reported to ``diagnostics``.
    """
    if "\\" not in text:
        return Unescaped(text, range(offset, offset + len(text) + 1))
    simple = SIMPLE if keep_unknown else {**SIMPLE, **PLAIN}
    codes, needs = (_LONG_CODES, _LONG_NEEDS) if long_escapes else (_CODES, _NEEDS)
    out: list[str] = []
    origins = array("q")
    i = 0
    while i < len(text):
        if text[i] != "\\" or i + 1 == len(text):
            out.append(text[i])
            origins.append(offset + i)
            i += 1
            continue
        letter = text[i + 1]
        value, length = _escape(text, i, simple, codes)
        if value is None:
            if not keep_unknown or letter in "xu":
                span = Span(offset + i, offset + i + length)
                doubled = Fix(
                    f"write \\\\{letter}", (Edit(span.start, span.start, "\\"),), safe=False
                )
                message = needs.get(letter, _complaint(letter))
                fix = None if letter in needs else doubled
                diagnostics.append(Diagnostic(message, span, fix=fix))
            value, length = text[i : i + 2], 2
        for k, char in enumerate(value):
            out.append(char)
            origins.append(offset + i + (k if len(value) > 1 else 0))
        i += length
    origins.append(offset + len(text))
    return Unescaped("".join(out), origins)


def _complaint(letter: str) -> str:
    return (
        f"unknown escape \\{letter}: write \\\\{letter} for a backslash and the letter "
        r"(known: \n \r \t \f \v \b \0 \/ \\ \' \" \xHH \uHHHH \u{…})"
    )


def _escape(
    text: str, i: int, simple: Mapping[str, str], codes: re.Pattern[str]
) -> tuple[str | None, int]:
    """The character of the escape at ``i`` and the length of the escape in the source."""
    if text[i + 1] in simple:
        return simple[text[i + 1]], 2
    found = codes.match(text, i + 1)
    if found is not None and is_scalar(code := int(found[found.lastindex or 0], 16)):
        return chr(code), found.end() - i
    return None, 3 if text.startswith("u{", i + 1) else 2


# Brackets that nest, in all dialects that have them.
OPENING = frozenset({"ROUND_OPEN", "SQUARE_OPEN", "CURLY_OPEN", "LOOK_OPEN", "MACRO"})
CLOSING = frozenset({"ROUND_CLOSE", "SQUARE_CLOSE", "CURLY_CLOSE"})


class Token(str):
    """A piece of a text, the terminal that it is, and its place."""

    __slots__ = ("span", "type")

    type: str
    span: Span


def token_of(kind: str, text: str, start: int, end: int) -> Token:
    """The token that stands from ``start`` to ``end``."""
    token = Token(text)
    token.type, token.span = kind, Span(start, end)
    return token


Item: TypeAlias = Token | tree.Expr


# Files that import each other in a row: each is read inside the one before.
_MOST_FILES_DEEP = 20


# What messages call the tokens that mean the same in all dialects that have them.
USUAL_TOKENS: dict[str, str] = {
    "BAR": "'|'",
    "COMMA": "','",
    "MINUS": "'-'",
    "POSTFIX": "'?', '*' or '+'",
    "COUNT": "a count {m,n}",
    "ROUND_OPEN": "'('",
    "ROUND_CLOSE": "')'",
    "SQUARE_OPEN": "'['",
    "SQUARE_CLOSE": "']'",
    "CURLY_OPEN": "'{'",
    "CURLY_CLOSE": "'}'",
    "COLON": "':'",
    "SEMICOLON": "';'",
    "TERMINATOR": "';' or '.'",
    "ARROW": "'->'",
    "AND": "'&'",
    "NOT": "'~'",
    "STAR": "'*'",
    "DOT": "'.'",
    "MODIFIERS": "'?' or '!'",
    "PRIORITY": "a priority",
    "TIMES": "a count ~m..n",
    "REPEAT": "a repeat such as 1*",
    "NAME": "a rule name",
    "STRING": "a string",
    "TEXT": "text",
    "CLASS": "a class […]",
    "INTEGER": "a number",
    "NUMBER": "a number",
    "CODE": "a code point #xN",
    "CODE_POINT": "a code point #xN",
    "ANY": "any!",
    "EXCEPT": "except!(…)",
    "PERMUTE": "permute!(…)",
    "PERMUTE_BY": "permute_by!(…)",
    "MACRO": "a call, Regex(…)",
    "BRACES": "code in { }",
    "SPECIAL": "? any character ?",
    "PROSE": "prose <…>",
    "IGNORE": "%ignore",
    "DECLARE": "%declare",
    "PATH": "a path such as common.WS",
    "END": "the end of the rule",
    "NEWLINE": "a line break",
    "$END": "the end of the file",
}
# Help lines for tokens that stand where they cannot.
USUAL_HINTS: dict[str, str] = {
    "POSTFIX": "'?', '*' and '+' stand after what they repeat",
    **dict.fromkeys(("COUNT", "TIMES"), "a count stands after what it repeats"),
}


class Builder:
    """Base of the builders; ``grammar_file`` stands beside this file.

    ``expected``: a terminal's name to what a message calls it; ``hints``: likewise to a help
    line for an unexpected token of that name;
    ``mistakes``: triples of a regex of what people write by mistake, what to call it (``""``: the
    text itself), and a help line;
    ``rule_ends``: tokens after which a rule begins, ``rule_heads``: tokens that begin one, and
    ``next_rule``: a regex that is searched, line by line, for the next rule after a syntax error;
    its group ``rule`` begins at the rule's name, and matches inside a ``comment`` are passed over.
    None: nothing is read after an error.
    ``only_rule``: what the one rule of a text without rules is called.
    ``library``: regexes of the rules that each grammar has which does not define them.
    ``line_break_token``: the terminal for line breaks, where they end rules; it is dropped inside
    brackets, and after a token in ``line_break_ignored_after`` (itself one of them: blank lines).
    """

    grammar_file: ClassVar[str]
    line_break_token: ClassVar[str] = ""
    line_break_ignored_after: ClassVar[frozenset[str]] = frozenset()
    expected: ClassVar[dict[str, str]] = USUAL_TOKENS
    hints: ClassVar[dict[str, str]] = USUAL_HINTS
    mistakes: ClassVar[tuple[tuple[str, str, str], ...]] = ()
    rule_ends: ClassVar[frozenset[str]] = frozenset()
    rule_heads: ClassVar[frozenset[str]] = frozenset()
    next_rule: ClassVar[str | None] = None
    comment: ClassVar[tuple[str, str]] = ("(*", "*)")
    only_rule: ClassVar[str] = ""
    library: ClassVar[Mapping[str, str]] = {}

    def __init__(self, source: Source, limits: Limits) -> None:
        self.source = source
        self.limits = limits
        self.diagnostics: list[Diagnostic] = []
        # Whether some rules could not be read, so that what is not seen may be defined there.
        self.partial = False
        # What may stand before each terminal, in dialects that have such a thing.
        self.ignored: list[tree.Expr] = []
        # Definitions from outside (``--define``) of names that the grammar leaves open; and which
        # of these names were read as settings (``tab_len``), not as rules.
        self.definitions: Mapping[str, str] = {}
        self.settings: set[str] = set()
        self.indentation: tree.Indentation | None = None
        # Whether a lexer would follow both a string and a regex that match equally long.
        self.follows_all = False
        # Parts in other languages, what is to be known of them, and how schemas are read.
        self.embedded: list[tree.Embedded] = []
        self.notes: list[Diagnostic] = []
        self.schema: SchemaOptions | None = None
        # Where relative imports of this file begin, and the folder that they do not leave; None
        # where none may be. Folders of other imports.
        self.import_folder: Path | None = None
        self.import_root: Path | None = None
        self.include: tuple[str, ...] = ()
        # The files that are being imported, from the first, by their real paths.
        self.files: tuple[str, ...] = ()
        # All tokens that are read, where somebody wants them.
        self.read: list[Token] | None = None
        # Where the last bracket closed: the tree keeps none, and a rule without an end mark that
        # ends in one has its end there.
        self.last_group_end = 0

    @property
    def has_terminals(self) -> bool:
        """Whether some rules are terminals and others are not."""
        return bool(self.ignored)

    def matches_definition(self, use: str, name: str) -> bool:
        """Whether a definition of ``name`` from outside is meant for what rules use as ``use``."""
        return use == name

    @property
    def extents(self) -> Mapping[str, Callable[[int, int], int]]:
        """Of tokens whose end no regex finds, that end, by where they and their regex's match
        begin and end."""
        return {}

    def whole(self) -> tuple[tree.Rule, ...] | None:
        """The rules of a text that needs no grammar file."""
        return None

    def tokens(self) -> Iterator[Token] | None:
        """The source's tokens, where it takes more than a regex in each state to find them."""
        return None

    @staticmethod
    def folder() -> Traversable:
        """Where the ``.lark`` files are."""
        return files(__package__)

    def known_mistake(self, text: str, offset: int) -> tuple[str, str] | None:
        """What to call the thing at ``offset`` that the parser did not expect, and a help line
        for it; None for what the message says anyway."""
        for pattern, name, hint in self.mistakes:
            found = re.compile(pattern).match(text, offset)
            if found:
                return name or f"'{found[0]}'", hint
        return None

    def report(self, message: str, span: Span, help: str | None = None) -> None:  # noqa: A002
        """Note something wrong and go on."""
        self.diagnostics.append(Diagnostic(message, span, help))

    def places(self, name: str, *, is_beside: bool) -> list[tuple[Path, Path]]:
        """Where a file may be, each with the folder that it must not lead out of: in one that was
        named, and if it ``is_beside`` this one, there first."""
        folders = [(folder, folder) for folder in map(Path, self.include)]
        if is_beside and self.import_folder is not None and self.import_root is not None:
            folders.insert(0, (self.import_folder, self.import_root))
        return [(folder / name, root) for folder, root in folders]

    def opened(self, file: Path, root: Path, span: Span) -> Self | None:
        """The builder of a file below ``root`` that is imported; None if it cannot be read, which
        is reported."""
        real = os.path.realpath(file)
        if real in self.files:
            self.report(f"{file.name} imports itself, by way of others or not", span)
            return None
        if len(self.files) == _MOST_FILES_DEEP:
            self.report(f"more than {_MOST_FILES_DEEP} files import each other in a row", span)
            return None
        try:
            with regular(file, below=root).open("rb") as stream:
                data = stream.read(MOST_GRAMMAR_BYTES + 1)
            text = data.decode("utf-8").removeprefix("\ufeff")
        except (OSError, UnicodeDecodeError) as error:
            reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
            self.report(f"{file} cannot be read: {reason}", span)
            return None
        if len(data) > MOST_GRAMMAR_BYTES:
            most = f"more than {MOST_GRAMMAR_BYTES:,} bytes, the most that a grammar has"
            self.report(f"{file} cannot be read: it has {most}", span)
            return None
        other = type(self)(Source(text, str(file), self.source.dialect), self.limits)
        other.import_folder, other.files = file.parent, (*self.files, real)
        other.import_root, other.include = root, self.include
        return other

    def report_redefinitions(self, rules: Sequence[tree.Rule]) -> None:
        """Note every rule whose name an earlier one has."""
        first_of: dict[str, tree.Rule] = {}
        for rule in rules:
            first = first_of.setdefault(rule.name, rule)
            if first is not rule:
                self.report_again(rule, first, "write alternatives with '|'")

    def report_again(self, rule: tree.Rule, first: tree.Rule, hint: str) -> None:
        """Note a rule that ``first`` defines already."""
        line, _ = self.source.position(first.name_span.start)
        hint = f"line {line} defines it already; {hint}"
        self.report(f"rule {rule.name!r} is defined twice", rule.name_span, hint)


def span_over(items: Sequence[Any]) -> Span:
    """From the first item to the last."""
    # Through the constructor of a named tuple it takes twice as long.
    return tuple.__new__(Span, (items[0].span[0], items[-1].span[1]))


def nodes_in(items: Sequence[Item]) -> list[tree.Expr]:
    """The nodes among the children, without the punctuation."""
    return [item for item in items if item.__class__ is not Token]  # type: ignore[misc]


def nothing_at(offset: int) -> tree.Literal:
    """The node of ε where nothing is written."""
    return tree.Literal(b"", Span(offset, offset))


def literal_of(text: str, span: Span) -> tree.Literal:
    """The node of a literal text."""
    return tree.Literal(text.encode("utf-8"), span)


# Characters of the longest #xN that is read.
_LONGEST_CODE = 16


class EbnfBuilder(Builder):
    """Base of the builders of dialects with rules; ``regex`` alone has none."""

    def choice(self, items: list[Any]) -> tree.Expr:
        """sequence | sequence …, at least two, where None is an empty one"""
        options: list[Any] = list(items[::2])
        if None in options:
            for i, option in enumerate(options):
                if option is None:
                    bar: Token = items[2 * i - 1] if i else items[1]
                    options[i] = nothing_at(bar.span.end if i else bar.span.start)
        return tree.Choice(tuple(options), span_over(options))

    def sequence(self, items: list[Item]) -> tree.Expr | None:
        """item item …, with commas or without; None if there is no item."""
        return tree.Sequence(tuple(nodes_in(items)), span_over(items)) if items else None

    def postfix(self, items: list[Any]) -> tree.Expr:
        """item with the operators after it that say how often it stands there, innermost first"""
        found: tree.Expr = items[0]
        for token in items[1:]:
            low, high = self.times(token, token.span)
            found = tree.Repetition(found, low, high, span_over((found, token)))
        return found

    def reference(self, items: list[Token]) -> tree.Expr:
        """A rule's name."""
        (token,) = items
        return tree.Reference(str(token), token.span)

    def group(self, items: list[Any]) -> tree.Expr:
        """( choice )"""
        body: tree.Expr | None = items[1]
        closing: Token = items[2]
        self.last_group_end = closing.span.end
        return nothing_at(closing.span.start) if body is None else body

    def option(self, items: list[Item | None]) -> tree.Expr:
        """[ choice ]"""
        return tree.Repetition(self.group(items), 0, 1, span_over(items))

    def repetition(self, items: list[Item | None]) -> tree.Expr:
        """{ choice }"""
        return tree.Repetition(self.group(items), 0, None, span_over(items))

    def difference(self, items: list[Item]) -> tree.Expr:
        """item - item …, from the left"""
        left, *others = nodes_in(items)
        for right in others:
            left = tree.Difference(left, right, left.span.cover(right.span))
        return left

    def counted(self, items: list[Item]) -> tree.Expr:
        """INTEGER * item"""
        number = count_of(str(items[0]))
        return tree.Repetition(nodes_in(items)[0], number, number, span_over(items))

    @staticmethod
    def special_name(text: str) -> str:
        """What rules call a special sequence."""
        return f"? {' '.join(text.split())} ?"

    def matches_special(self, use: str, name: str) -> bool:
        """Whether a name is that of a use: ``letter``, ``? letter ?`` and ``<letter>`` are."""
        if name[:1] in ("?", "<"):
            name = name[1:-1].strip()
        return use in (name, self.special_name(name))

    def any_char(self, items: list[Token]) -> tree.Expr:
        """One character, whatever it is."""
        return tree.Pattern(regex.ANY_CHARACTER, str(items[0]), items[0].span)

    def code_point(self, items: list[Token]) -> tree.Literal:
        """#xN"""
        code = self.code_of(items[0], items[0].span.start)
        return literal_of(chr(code) if code >= 0 else "", items[0].span)

    def code_of(self, text: str, start: int) -> int:
        """The code point that #xN is; -1 if it is none, which is reported."""
        code = int(text[2:], 16) if len(text) <= _LONGEST_CODE else -1
        if code >= 0 and is_scalar(code):
            return code
        span = Span(start, start + len(text))
        self.report(f"{text} is no code point that UTF-8 can encode", span)
        return -1

    def times(self, text: str, span: Span) -> tuple[int, int | None]:
        """How often ``?``, ``*``, ``+`` or a count repeats; a wrong count is reported."""
        if text in QUANTITIES:
            return QUANTITIES[text]
        numbers = [n.strip() for n in text.strip("~{} \t").replace("..", ",").split(",")]
        is_open = numbers[-1] in ("", "-1")
        low, high = count_of(numbers[0]), None if is_open else count_of(numbers[-1])
        if high is not None and high < low:
            self.report(f"the count {text} runs backwards", span)
            high = low
        return low, high
