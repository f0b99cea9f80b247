"""EBNF and BNF as people write them, in which nothing but the text says what its marks mean.

    conventions.py    which conventions it keeps
    here              what could be read in two ways is refused; the tree

A note says how the text was read.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

from ...automata import regex_ir as ir
from ...diagnostics import READ_AS, Diagnostic, Span
from ...grammar.tree import Expr, Literal, Pattern, Reference, Repetition, Rule
from ..builder import EbnfBuilder, Item, Token, literal_of, span_over, token_of, unescape
from ..characters import class_pattern
from .conventions import ESCAPE, Conventions, Undecided, conventions_of
from .pieces import Piece

_POINT = "#x[0-9A-Fa-f]+"
_MEMBERS = {
    escapes: re.compile(f"({member})(?:-({member}))?", re.DOTALL)
    for escapes, member in ((False, f"{_POINT}|."), (True, f"{ESCAPE}|{_POINT}|."))
}

_MARKS = {
    "|": "BAR",
    ",": "COMMA",
    "-": "MINUS",
    "(": "ROUND_OPEN",
    ")": "ROUND_CLOSE",
    "[": "SQUARE_OPEN",
    "]": "SQUARE_CLOSE",
    "{": "CURLY_OPEN",
    "}": "CURLY_CLOSE",
}

# What ends an item, so that an operator may stand after it.
_ITEM_ENDS = frozenset({"NAME", "STRING", "CLASS", "SPECIAL", "CODE", ")", "]", "}", "COUNT"})
_ITEM_BEGINS = frozenset({"NAME", "STRING", "CLASS", "SPECIAL", "CODE", "(", "[", "{", "INTEGER"})

_OPERATORS = frozenset("?*+")

# Where nothing is quoted: marks of EBNF, and those that only make a difference around a choice.
_NO_TEXT, _ROUND = frozenset("[]{}*+?"), frozenset("()")

_NUMBER = 'text stands in quotes, as in "0".."9"; a count is written 3 * x, or {3} after x'


class PlainEbnfBuilder(EbnfBuilder):
    """Builds rules from ``ebnf.lark``."""

    grammar_file: ClassVar[str] = "ebnf.lark"
    expected: ClassVar[dict[str, str]] = EbnfBuilder.expected | {
        "HEAD": "a rule (name and =, := or ::=)",
        "RANGE": "'..'",
    }
    hints: ClassVar[dict[str, str]] = EbnfBuilder.hints | {
        "NAME": "a rule begins on a line of its own with its name and =, := or ::=",
        **dict.fromkeys(("HEAD", "END"), "a bracket is open, or something is missing before"),
        **dict.fromkeys(("INTEGER", "RANGE"), _NUMBER),
        "MINUS": "'-' stands between two items",
        "COMMA": "',' stands between two items",
    }
    rule_heads: ClassVar[frozenset[str]] = frozenset({"HEAD"})
    rule_ends: ClassVar[frozenset[str]] = frozenset({"END"})

    _found: Conventions | None = None

    def tokens(self) -> Iterator[Token]:
        """Those of the text by the conventions that it keeps; none where it keeps several."""
        try:
            found = self._found = conventions_of(self.source.text, self._check)
            return iter(list(_Tokens(self, found).made()))
        except Undecided as error:
            self.report(error.message, error.span, error.help)
            return iter(())

    # Special sequences also by the text between their marks, names also in < >.
    matches_definition = EbnfBuilder.matches_special

    def start(self, rules: list[Rule]) -> tuple[Rule, ...]:
        """All rules."""
        self.report_redefinitions(rules)
        if self._found is not None and rules:
            self.notes.append(Diagnostic(f"{READ_AS} EBNF: {self._found.described()}"))
        return tuple(rules)

    def rule(self, items: list[Any]) -> Rule:
        """HEAD = choice"""
        name, defines, body, *ends = items
        if body is None:
            message = f"nothing stands after '{defines}'"
            self.report(message, defines.span, 'the empty text is written ""')
            body = literal_of("", defines.span)
        span = span_over([name, *(ends or [body])])
        return Rule(
            _name(name), name.span, body, Span(span.start, max(span.end, self.last_group_end))
        )

    def reference(self, items: list[Token]) -> Expr:
        """A rule's name, with its < >, or what stands between two question marks."""
        name = _name(items[0])
        if name == "ε" and self._found and name not in self._found.names:
            return literal_of("", items[0].span)
        return Reference(name, items[0].span)

    def repetition(self, items: list[Item | None]) -> Expr:
        """{ choice }, and { choice }- for once or more"""
        found = super().repetition(items)
        assert isinstance(found, Repetition)
        is_more = str(items[-1]).endswith("-")
        return Repetition(found.item, 1, None, found.span) if is_more else found

    def string(self, items: list[Token]) -> Literal:
        """A quoted text."""
        return literal_of(self._unquoted(items[0]), items[0].span)

    def text(self, items: list[Token]) -> Literal:
        """What stands outside of < >."""
        return literal_of(str(items[0]), items[0].span)

    def range(self, items: list[Token]) -> Expr:
        """ "a".."z", which is one character."""
        span = span_over(items)
        first, last = (self._unquoted(item) for item in (items[0], items[2]))
        if not (len(first) == len(last) == 1 and first <= last):
            self.report("a range goes from one character to a later one", span)
            return literal_of("", span)
        node = ir.char_class([(ord(first), ord(last))])
        return Pattern(node, "".join(items), span)

    def char_class(self, items: list[Token]) -> Pattern:
        """[…] and [^…]"""
        member = _MEMBERS[self._escapes]
        return class_pattern(items[0], member, self.code_of, self.report, self.limits)

    def _check(self) -> None:
        self.limits.check_resources("reading the grammar")

    @property
    def _escapes(self) -> bool:
        return bool(self._found and self._found.escapes)

    def _unquoted(self, token: Token) -> str:
        if not self._escapes or token.startswith("`"):
            return token[1:-1]
        begin = token.span.start + 1
        return self._unescaped(token[1:-1], begin)

    def _unescaped(self, text: str, start: int) -> str:
        found = unescape(text, start, self.diagnostics, keep_unknown=False, long_escapes=True)
        return found.text

    def code_of(self, text: str, start: int) -> int:
        """The code point of an escape or of #xN; -1 if there is none."""
        if text.startswith("#x"):
            return super().code_of(text, start)
        if len(text) == 2 and text[1] in "[]-^":
            return ord(text[1])
        found = self._unescaped(text, start)
        return ord(found) if len(found) == 1 else -1


@dataclass(frozen=True)
class _Tokens:
    """The tokens of pieces: marks by what they mean where they stand."""

    builder: PlainEbnfBuilder
    found: Conventions

    def made(self) -> Iterator[Token]:
        """All tokens. Raises ``Undecided``."""
        pieces = self.found.pieces
        defines = next((piece.text for piece in pieces if piece.kind == "DEFINES"), "")
        has_bar = self.found.has("|", "BAR")
        ended = False
        for i, piece in enumerate(pieces):
            before = pieces[i - 1] if i else None
            behind = pieces[i + 1] if i + 1 < len(pieces) else None
            kind = piece.kind
            if ended and kind != "HEAD":
                message = f"'{piece.text}' stands after the end of a rule"
                hint = f"a rule begins with its name and '{defines}'"
                raise Undecided(message, piece, hint)
            if kind == "HEAD":
                ended = False
                yield _token("HEAD", piece)
            elif kind == "DEFINES":
                if piece.text != defines:
                    message = f"'{piece.text}' defines here, and '{defines}' above"
                    raise Undecided(message, piece, "write the same one in all rules")
                yield _token("DEFINES", piece)
            elif kind in (";", "."):
                self._check_end(piece, behind)
                ended = True
                yield _token("END", piece)
            else:
                yield from self._inside(i, before, behind, has_bar=has_bar)

    def _check_end(self, piece: Piece, behind: Piece | None) -> None:
        """Whether a mark surely ends a rule."""
        if piece.kind == "." and (self.found.has(";") or (behind and behind.kind != "HEAD")):
            message = "'.' has two readings: the end of a rule, or any character"
            hint = "write the end as ';' or leave it out, and any character as a class [^…]"
            raise Undecided(message, piece, hint)

    def _inside(
        self, i: int, before: Piece | None, behind: Piece | None, *, has_bar: bool
    ) -> Iterator[Token]:
        """The tokens of the piece ``i``, inside of a rule."""
        piece = self.found.pieces[i]
        kind, text = piece.kind, piece.text
        last, following = before.kind if before else "", behind.kind if behind else ""
        if kind in ("|", "BAR", "/") and last == "DEFINES":
            message = (
                f"'{text}' after '=' has two readings: the first alternative is empty, or this is "
                "where alternatives begin"
            )
            hint = 'write "" for the empty text, or leave the mark out'
            raise Undecided(message, piece, hint)
        if kind == "/" and has_bar:
            message = (
                "'/' has two readings beside '|': an alternative, or where a regex begins and ends"
            )
            hint = "write '|' between alternatives"
            raise Undecided(message, piece, hint)
        if kind in _OPERATORS:
            yield self._operator(piece, before, behind)
        elif kind == "-" and last == "}" and following not in _ITEM_BEGINS:
            return
        elif kind == "}" and behind and following == "-" and not self._is_item(i + 2):
            yield token_of("CURLY_CLOSE", "}-", piece.start, behind.end)
        elif kind == "-" and before and behind and _one(before) and _one(behind):
            yield _token("RANGE", piece)
        elif kind == "NAME" and "-" in text and not self.found.angled:
            yield from self._hyphenated(piece)
        elif kind == "TEXT":
            yield self._text(piece, before, behind)
        elif kind == "WORD":
            message = f"'{text}' has two readings outside of < >: text, or the name of a rule"
            hint = f'write "{text}" for the text, or <{text}> for the rule'
            raise Undecided(message, piece, hint)
        elif kind == "OTHER":
            what, hint = _UNREAD.get(
                text, (f"'{text}'", "this is no part of EBNF as it is read here")
            )
            dialect = self.builder.source.dialect
            raise Undecided(f"unexpected {what} (read as {dialect})", piece, hint)
        else:
            yield _token("BAR" if kind == "/" else _MARKS.get(kind, _KINDS.get(kind, kind)), piece)

    def _is_item(self, i: int) -> bool:
        pieces = self.found.pieces
        return i < len(pieces) and pieces[i].kind in _ITEM_BEGINS

    def _operator(self, piece: Piece, before: Piece | None, behind: Piece | None) -> Token:
        """? * or + after an item, and * between a number and one."""
        last = before.kind if before else ""
        is_close = behind is not None and not behind.spaced and behind.kind in _ITEM_BEGINS
        if last == "INTEGER" and piece.kind == "*":
            if is_close:
                message = (
                    f"'{before.text if before else ''}*' has two readings: exactly so often, or at "
                    "least so often"
                )
                hint = (
                    "write 3 * x with spaces for exactly three times; in ABNF, 3*x is at least "
                    "three: --dialect abnf"
                )
                raise Undecided(message, piece, hint)
            return _token("STAR", piece)
        if last in _ITEM_ENDS and piece.spaced and is_close:
            message = f"'{piece.text}' has two readings: it repeats what stands before or after it"
            hint = "write it right after what it repeats"
            raise Undecided(message, piece, hint)
        if last == "}" and piece.kind == "+":
            message = "'{ … }+' has two readings: once or more, or any number of times"
            hint = "write ( … )+ for once or more, or leave the '+' out"
            raise Undecided(message, piece, hint)
        return _token("POSTFIX", piece)

    def _hyphenated(self, piece: Piece) -> Iterator[Token]:
        """A name with hyphens, or names with a difference between them."""
        names = self.found.names
        parts = piece.text.split("-")
        if piece.text in names or not names.issuperset(parts):
            yield _token("NAME", piece)
            return
        place = piece.start
        for i, part in enumerate(parts):
            if i:
                yield token_of("MINUS", "-", place - 1, place)
            yield token_of("NAME", part, place, place + len(part))
            place += len(part) + 1

    def _text(self, piece: Piece, before: Piece | None, behind: Piece | None) -> Token:
        """What stands outside of < >, if it is surely text: a mark that could do nothing as one."""
        text = piece.text
        if text in _OPERATORS:
            is_first = before is not None and before.kind in ("DEFINES", "BAR")
            has_next = behind is not None and behind.spaced and behind.kind in ("NAME", "TEXT")
            is_text = is_first or (piece.spaced and has_next)
        else:
            marks = _NO_TEXT | (_ROUND if self.found.groups else frozenset())
            is_text = marks.isdisjoint(text) and text not in (";", ".", ",") and "::=" not in text
        if not is_text:
            message = f"'{text}' has two readings where nothing is quoted: text, or a mark"
            hint = "put text in quotes, in all rules"
            raise Undecided(message, piece, hint)
        return _token("TEXT", piece)


_KINDS = {"SPECIAL": "NAME"}

# What begins something that does not end: what it is called, and how it ends.
_STRING = "string without an end", "it ends with the same quote on the same line"
_COMMENT = "comment without an end", "it ends with the same two marks, '*)' or '*/'"
_UNREAD = {**dict.fromkeys("\"'`", _STRING), **dict.fromkeys(("(*", "/*"), _COMMENT)}


def _one(piece: Piece) -> bool:
    """Whether a piece is one character in quotes."""
    return piece.kind == "STRING" and len(piece.text) == 3


def _token(kind: str, piece: Piece) -> Token:
    """The token of a piece."""
    return token_of(kind, piece.text, piece.start, piece.end)


def _name(token: Token) -> str:
    """A name without what stands around it, and with single spaces."""
    if token.startswith("<"):
        return " ".join(token[1:-1].split())
    if token.startswith("?"):
        return EbnfBuilder.special_name(token[1:-1])
    return str(token)
