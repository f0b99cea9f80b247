"""GBNF, the grammars of llama.cpp.

As there, ``.`` is any character, line feeds included; ``[x]`` is a class and ``{m,n}`` a
count; escapes are code points, never bytes; an alternative may be empty. Stricter than
there: strings and classes end on the line they begin on, and no rule is defined twice.
Beside that xgrammar's EBNF is read: more escapes, ``{m,-1}``, ``|`` at a line's start, its calls,
``name[lazy, capture="x"] ::= …``, as Lark's rules have that, ``max_chars=9``, what it prints of a
capture's end, and ``(= …)`` after a rule, which is a hint for its masks and says nothing about the
texts.
"""

import re
from array import array
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar

from ..automata import regex_ir as ir
from ..diagnostics import Diagnostic, Source, Span
from ..grammar.tree import Capture, Difference, Expr, Literal, Pattern, Reference, Repetition, Rule
from ..grammar.tree import Token as TokenNode
from ..limits import Limits
from .builder import EbnfBuilder, Token, Unescaped, is_scalar, literal_of, nothing_at, span_over
from .characters import class_pattern
from .gbnf_macros import Group, Macros, Named
from .lark_attributes import shortest

_SIMPLE = {"n": "\n", "r": "\r", "t": "\t", "\\": "\\", '"': '"', "[": "[", "]": "]", "-": "-"}
# Escapes that xgrammar has, and llama.cpp not.
_MORE = {c: c for c in "/?'"}
_MORE |= {"a": "\a", "b": "\b", "f": "\f", "v": "\v", "0": "\0", "e": "\x1b"}
_WIDTHS = {"x": 2, "u": 4, "U": 8}
_ESCAPED = r"\\(?:x.{0,2}|u.{0,4}|U.{0,8}|.)"
_CHARACTER = re.compile(f"{_ESCAPED}|.", re.DOTALL)
_MEMBER = re.compile(f"({_ESCAPED}|.)(?:-({_ESCAPED}|.))?", re.DOTALL)

# Strings and classes that do not end.
_STRING_START = r'"(?!(?:\\[^\r\n]|[^"\\\r\n]+)*+")'
_CLASS_START = r"\[(?!(?:\\[^\r\n]|[^\]\\\r\n]+)*+\])"

# Attributes of rules, and what their values match: lazy, capture, capture="x", max_chars=9 and
# others. Those of what is hidden are the end of a capture: its bytes, or the number of its rule.
_ATTRIBUTE = re.compile(r'\s*([a-z_]+)(?:\s*=\s*("[^"\\]+"|[0-9]{1,10}))?\s*')
_NUMBER, _BYTES, _RULE = "[0-9]+", "[0-9]{1,4}", "capture_hidden_marker_rule_id"
_ATTRIBUTES = {"lazy": "", "capture": '(".+")?', "stop_capture": '".+"', "max_chars": _NUMBER}
_ATTRIBUTES |= dict.fromkeys(("capture_hidden_suffix_bytes", "capture_hidden_stop_bytes"), _BYTES)
_ATTRIBUTES |= dict.fromkeys(("capture_hidden_body_rule_id", _RULE), _NUMBER)

_TOKENS = "a token is written <name>, <[id]> with its number, !<name> or !<[id]>"

_ONE_LINE = "a line break ends a rule: end the line before with '|' or put the rule in ( )"


class GbnfBuilder(EbnfBuilder):
    """Builds rules from ``gbnf.lark``."""

    grammar_file: ClassVar[str] = "gbnf.lark"
    line_break_token: ClassVar[str] = "NEWLINE"
    line_break_ignored_after: ClassVar[frozenset[str]] = frozenset({"NEWLINE", "BAR", "DEFINES"})
    expected: ClassVar[dict[str, str]] = EbnfBuilder.expected | {
        "DEFINES": "'::='",
        "EQUALS": "'='",
    }
    hints: ClassVar[dict[str, str]] = EbnfBuilder.hints | {
        "DEFINES": "a rule begins on a line of its own, once the one before it is complete",
        "NEWLINE": "a rule is written name ::= …",
        **dict.fromkeys(("STRING", "CLASS", "DOT", "ROUND_OPEN"), _ONE_LINE),
        "ROUND_CLOSE": "no '(' is open here",
        "TOKEN": f"the name of a rule stands without < >; {_ONE_LINE}",
    }
    rule_ends: ClassVar[frozenset[str]] = frozenset({"NEWLINE"})
    next_rule: ClassVar[str | None] = r"^[ \t]*(?P<rule>[A-Za-z0-9_-]+(\[[^\]\r\n]+\])?[ \t]*::=)"
    comment: ClassVar[tuple[str, str]] = ("#", "\n")
    mistakes: ClassVar[tuple[tuple[str, str, str], ...]] = (
        (
            _STRING_START,
            "string without an end",
            r'it ends with " on the same line; a line break is \n',
        ),
        (
            _CLASS_START,
            "class without an end",
            r"it ends with ] on the same line; write \[ for '['",
        ),
        ("'", "", 'strings stand in double quotes: "…"'),
        (";", "", "rules do not end with ';' here: a line break ends a rule"),
        ("(?!::=)(::?=?|=)", "", "a rule is written name ::= …"),
        (r"\{[ \t]*,", "", "a count needs its lower end: {0,n}"),
        (r"\{(?![ \t]*[0-9])", "", "{m,n} is a count here; a repetition is written ( … )*"),
        (r"//|/\*|\(\*", "", "comments begin with '#'"),
        (",", "", "items stand side by side, without ','"),
    )

    def __init__(self, source: Source, limits: Limits) -> None:
        super().__init__(source, limits)
        self._macros = Macros(limits, self._unescaped)
        # Where each macro is first called.
        self._called: dict[str, Span] = {}
        # Of rules with captures the attributes.
        self._ends: dict[str, dict[str, str]] = {}

    def start(self, items: list[Token | Rule]) -> tuple[Rule, ...]:
        """All rules."""
        rules = tuple(item for item in items if isinstance(item, Rule))
        self.report_redefinitions(rules)
        for rule in rules:
            if rule.name in self._called:
                message = f"{rule.name}(…) is a call to some readers, and a rule to others"
                hint = "put a space before '(', or give the rule another name"
                self.report(message, self._called[rule.name], hint)
        self.diagnostics += self._macros.wrong
        return tuple(self._with_end(rule, rules) for rule in rules) + tuple(self._macros.rules)

    def rule(self, items: list[Any]) -> Rule:
        """NAME ::= choice, NAME[attribute, …] ::= choice"""
        name, defines, body = items[:3]
        if body is None:
            body = nothing_at(defines.span.end)
        span = Span(name.span.start, max(body.span.end, self.last_group_end))
        found = Rule(str(name), name.span, body, span)
        return found if defines == "::=" else self._with_attributes(found, defines)

    def _with_attributes(self, rule: Rule, defines: Token) -> Rule:
        """[attribute, …] ::="""
        said: dict[str, str] = {}
        for part in defines[1 : defines.rindex("]")].split(","):
            found = _ATTRIBUTE.fullmatch(part)
            name, value = found.groups("") if found else ("", "")
            if name not in _ATTRIBUTES or not re.fullmatch(_ATTRIBUTES[name], value):
                message = f"the attribute {part.strip()} is not supported"
                hint = 'supported are lazy, capture, capture="x" and max_chars=9'
                self.report(message, defines.span, hint)
            said[name] = value.strip('"')
        if "lazy" in said:
            rule = replace(rule, body=shortest(rule.body, but_empty=False))
        if "max_chars" in said:
            rule = replace(rule, body=_of_few_characters(rule.body, int(said["max_chars"])))
        if not {"capture", "stop_capture"}.isdisjoint(said):
            name = said.get("capture") or rule.name if "capture" in said else ""
            rule = replace(rule, capture=Capture(name, end_name=said.get("stop_capture", "")))
            self._ends[rule.name] = said
        return rule

    def _with_end(self, rule: Rule, rules: Sequence[Rule]) -> Rule:
        """The rule, whose capture has its end: a rule by its number, or so many bytes."""
        said = self._ends.get(rule.name, {})
        number = int(said.get(_RULE, len(rules)))
        end: Expr | None = None
        if number < len(rules):
            end = Reference(rules[number].name, rule.name_span)
        elif size := next((int(v) for k, v in said.items() if k.endswith("_bytes")), 0):
            octets = ir.repeat(ir.byte_class(((0, 255),)), size, size)
            end = Pattern(octets, f"{size} bytes", rule.name_span)
        if end is None or rule.capture is None:
            return rule
        return replace(rule, capture=replace(rule.capture, end=end))

    def look_ahead(self, items: list[Any]) -> None:
        """(= choice), what xgrammar expects after the rule."""
        note = "the look-ahead (= …) is read over: in xgrammar it changes masks' costs and no text"
        self.notes.append(Diagnostic(note, items[0].span))

    def string(self, items: list[Token]) -> Literal:
        """A quoted text."""
        return literal_of(self._unescaped(items[0]).text, items[0].span)

    def _unescaped(self, token: Token) -> Unescaped:
        """A quoted text without its quotes and escapes."""
        text, first = token[1:-1], token.span.start + 1
        if "\\" not in text:
            return Unescaped(text, range(first, first + len(text) + 1))
        chars, origins = [], array("q")
        for found in _CHARACTER.finditer(text):
            place = first + found.start()
            code = self._escape(found[0], place) if len(found[0]) > 1 else ord(found[0])
            if code >= 0:
                chars.append(chr(code))
                origins.append(place)
        origins.append(token.span.end - 1)
        return Unescaped("".join(chars), origins)

    def named(self, items: list[Any]) -> Named:
        """name=value"""
        return Named(items[0], items[2])

    def values(self, items: list[Any]) -> Group:
        """(value, …)"""
        return Group(tuple(items[1:-1:2]), span_over(items))

    def macro(self, items: list[Any]) -> Expr:
        """Regex(…) and others"""
        name = items[0][:-1]
        self._called.setdefault(name, items[0].span)
        return self._macros.call(name, items[1:-1:2], span_over(items))

    def char_class(self, items: list[Token]) -> Pattern:
        """[…] and [^…]; [^] is any character, as in xgrammar."""
        if items[0] == "[^]":
            return self.any_char(items)
        return class_pattern(items[0], _MEMBER, self._escape, self.report, self.limits)

    def any_char(self, items: list[Token]) -> Pattern:
        """Any character, line feeds included."""
        return Pattern(ir.char_class(ir.complement(()), "ANY"), ".", items[0].span)

    def token(self, items: list[Token]) -> TokenNode:
        """<name>, <[id]> and their negations."""
        text, span = str(items[0]), items[0].span
        negated = text.startswith("!")
        name = text.removeprefix("!")
        if not name.startswith("<["):
            if name == "<>":
                self.report("a token needs a name", span, _TOKENS)
            return TokenNode(name, (), negated, span)
        number = re.fullmatch(r"<\[([0-9]{1,9})\]>", name)
        if number is None:
            self.report(f"{name} names no token", span, _TOKENS)
            return TokenNode(name, (), negated, span)
        token_id = int(number[1])
        return TokenNode(None, ((token_id, token_id),), negated, span)

    def _escape(self, text: str, start: int) -> int:
        """The code point of an escape, with its backslash; -1 if there is none."""
        letter = text[1]
        if letter in _SIMPLE or letter in _MORE:
            return ord((_SIMPLE | _MORE)[letter])
        span = Span(start, start + len(text))
        width = _WIDTHS.get(letter)
        if width is None:
            known = r"known: \n \r \t \\ \" \[ \] \- \xHH \uHHHH \UHHHHHHHH"
            self.report(f"unknown escape {text}", span, known)
        elif not re.fullmatch(f"[0-9A-Fa-f]{{{width}}}", text[2:]):
            self.report(f"\\{letter} needs {width} hexadecimal digits", span)
        elif not is_scalar(int(text[2:], 16)):
            self.report(f"{text} is no code point that UTF-8 can encode", span)
        else:
            return int(text[2:], 16)
        return -1


def _of_few_characters(body: Expr, most: int) -> Expr:
    """Of the texts of a rule those of so many characters."""
    if isinstance(body, Repetition) and body.min_times <= most and _is_character(body.item):
        fewest = most if body.max_times is None else min(body.max_times, most)
        return replace(body, max_times=fewest)
    more = Pattern(ir.repeat(ir.ANY_CHARACTER, most + 1, None), f".{{{most + 1},}}", body.span)
    return Difference(body, more, body.span)


def _is_character(expr: Expr) -> bool:
    if not isinstance(expr, Pattern):
        return False
    return isinstance(expr.node, ir.CharClass) or ir.character_of(expr.node) is not None
