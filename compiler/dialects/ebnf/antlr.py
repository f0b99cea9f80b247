"""ANTLR 4: a grammar of rules in lower case and terminals in upper case.

    r : A 'x'* EOF ;               r: A "x"*         in upper case: terminals
    A : [a-z]+ ;                   A: /[a-z]+/       of two that end together the first one counts
    WS : ' ' -> skip ;             %ignore           also what goes to another channel

It is read by maximal munch. ANTLR's lexer reads all terminals everywhere, and the one here those
that the parser allows, as a note says. Labels, actions and associativity say nothing of texts; what
does and is not read is refused by name: predicates, modes, sets of tokens. What is imported, and
the tokens of ``tokenVocab``, are in files beside this one or in a folder of ``--include``.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any, ClassVar

from ...automata import regex_ir as ir
from ...automata.folding import fold
from ...diagnostics import READ_AS, Diagnostic, DialectError, Span
from ...grammar import tree
from ..builder import EbnfBuilder, Token, Unescaped, literal_of, nothing_at, span_over, unescape
from ..characters import either_case
from ..parse import parse
from ..regex import parse_pattern

_END = "EOF"

# What code may have that hides a brace.
_IN_CODE = re.compile(r"""[{}]|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|//[^\n]*|/\*[\s\S]*?\*/""")

_VOCABULARY = re.compile(r"\btokenVocab\s*=\s*(\w+)")

_EITHER_CASE = re.compile(r"caseInsensitive\s*=\s*true\b")

# Characters of a class that gets both cases.
_MOST_CASED = 1_000

_NO_TOKENS = "a set of tokens is written as its alternatives: ( A | B )"


class _Commands:
    """That an alternative has commands."""


class AntlrBuilder(EbnfBuilder):
    """Builds rules from ``antlr.lark``."""

    grammar_file: ClassVar[str] = "antlr.lark"
    has_terminals = True
    hints: ClassVar[dict[str, str]] = EbnfBuilder.hints | {
        "COLON": "does the rule before it end with ';'?",
        "$END": "every rule ends with ';'",
    }
    rule_ends: ClassVar[frozenset[str]] = frozenset({"SEMICOLON"})
    next_rule: ClassVar[str | None] = r"^(?P<rule>(?:fragment\s+)?[^\W\d]\w*\s*:)"
    comment: ClassVar[tuple[str, str]] = ("/*", "*/")
    mistakes: ClassVar[tuple[tuple[str, str, str], ...]] = (
        (r"'(?![^'\r\n]*')", "string without an end", "it ends with ' on the same line"),
        ('"', "", "strings stand in single quotes: '…'"),
        ("::=|=", "", "a rule is written name : … ;"),
    )

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._is_cased = _EITHER_CASE.search(self.source.text) is not None
        self._fragments: set[str] = set()
        self._skipped: set[str] = set()
        self._dropped: set[str] = set()
        # Grammars whose rules are wanted, by name, and where that is said.
        self._wanted: dict[str, Token] = {}
        # Those of parsers match the same texts as others, those of terminals are lazy.
        self._lazy: dict[int, tree.Repetition] = {}
        # Of the rule that is read: the words of its commands, and the alternatives that have some.
        self._commands: list[Token] = []
        self._commanded: dict[int, tree.Expr | None] = {}

    @property
    def extents(self) -> Mapping[str, Callable[[int, int], int]]:
        """Where code in braces ends."""
        return {"BRACES": self._end_of_code}

    def _end_of_code(self, begin: int, end: int) -> int:
        depth = 1
        for found in _IN_CODE.finditer(self.source.text, end):
            depth += (found[0] == "{") - (found[0] == "}")
            if not depth:
                return found.end()
        message = "code without an end: a '}' is missing"
        raise DialectError(self.source, [Diagnostic(message, Span(begin, end))])

    # --- the whole

    def start(self, items: list[Any]) -> tuple[tree.Rule, ...]:
        """All rules, those of the parser first; of terminals the first has the highest priority."""
        rules = [item for item in items if isinstance(item, tree.Rule)]
        self.report_redefinitions(rules)
        known = {rule.name for rule in rules}
        for name, place in self._wanted.items():
            imported = [rule for rule in self._imported(name, place) if rule.name not in known]
            rules += imported
            known.update(rule.name for rule in imported)
        parser = [rule for rule in rules if not rule.terminal]
        lexer = [rule for rule in rules if rule.terminal]
        unseen = self._fragments | self._skipped
        names = {_text(rule.body): rule.name for rule in reversed(lexer) if rule.name not in unseen}
        used = {use.name for rule in parser for use in rule.uses}
        found = [self._of_parser(rule, names, may_end=rule.name not in used) for rule in parser]
        for i, rule in enumerate(lexer, 1):
            found.append(replace(rule, body=self._of_lexer(rule.body), priority=-i))
            if rule.name in self._skipped:
                self.ignored.append(tree.Reference(rule.name, rule.name_span))
        self._report_unseen(found)
        said = "the lexer reads what the parser allows, where ANTLR's reads all tokens"
        said += ", so that 'if' ID has ifa"
        if self._dropped:
            said += f"; left out: {', '.join(sorted(self._dropped))}"
        self.notes.append(Diagnostic(f"{READ_AS} ANTLR: {said}"))
        return tuple(found)

    def _imported(self, name: str, place: Token) -> Iterable[tree.Rule]:
        """The rules of another grammar, which stand where it is named. None where no folder has it:
        imports are reported, and tokens are left open."""
        places = self.places(f"{name}.g4", is_beside=True)
        found = next((each for each in places if each[0].exists()), None)
        if found is None:
            if place.type == "NAME":
                hint = f"--include DIR says where {name}.g4 is"
                self.report(f"no folder has the grammar {name}", place.span, hint)
            return ()
        other = self.opened(*found, place.span)
        if other is None:
            return ()
        rules = parse(other)
        self._fragments |= other._fragments
        self._skipped |= other._skipped
        self._dropped |= other._dropped
        same, span = {rule.name: rule.name for rule in rules}, place.span
        return [tree.renamed(rule, same, lambda _: span) for rule in rules]

    def _of_parser(
        self, rule: tree.Rule, names: Mapping[object, str], *, may_end: bool
    ) -> tree.Rule:
        """The rule, with the terminals that its texts are; EOF is the end of a rule that no other
        uses, so that it is nothing there."""
        ends = set(map(id, _last(rule.body))) if may_end else set[int]()

        def read(expr: tree.Expr, parts: list[tree.Expr]) -> tree.Expr:
            text = _text(expr)
            if text is not None and text in names:
                return tree.Reference(names[text], expr.span)
            if isinstance(expr, tree.Reference) and expr.name == _END:
                if id(expr) not in ends:
                    message = "EOF is read at the end of rules that no other rule uses"
                    self.report(message, expr.span, "leave it out: a text ends where they end")
                return nothing_at(expr.span.start)
            if isinstance(expr, tree.Pattern) and text is None:
                self.report("a set of characters in a rule of the parser", expr.span, _NO_TOKENS)
            return _with(expr, parts)

        return replace(rule, body=fold(rule.body, tree.children, read))

    def _of_lexer(self, body: tree.Expr) -> tree.Expr:
        """The body of a terminal, with regexes where a repetition is lazy. EOF is nothing in it: a
        terminal ends before what it could go on with at the end of the text alone."""

        def read(expr: tree.Expr, parts: list[tree.Expr]) -> tree.Expr:
            if isinstance(expr, tree.Reference) and expr.name == _END:
                return nothing_at(expr.span.start)
            found = _with(expr, parts)
            if not isinstance(found, tree.Repetition) or id(expr) not in self._lazy:
                return found
            node = _node(found.item)
            if node is None:
                message = "a lazy repetition of other rules is not read"
                self.report(message, expr.span, "write in it what they stand for")
                return found
            lazy = ir.Repeat(node, found.min_times, found.max_times, lazy=True)
            return tree.Pattern(lazy, self._written(expr.span), expr.span)

        return fold(body, tree.children, read)

    def _report_unseen(self, rules: list[tree.Rule]) -> None:
        """Fragments that the parser uses, which are no tokens."""
        for rule in rules:
            for use in tree.references(rule.body) if not rule.terminal else ():
                if use.name in self._fragments | self._skipped:
                    message = f"{use.name!r} is no token: it is a fragment, or skipped"
                    self.report(message, use.span, "use a rule of the lexer that is neither")

    # --- declarations

    def declaration(self, items: list[Token]) -> None:
        """grammar NAME; and import NAME, …;"""
        if items[0].type == "IMPORT":
            self._wanted |= {str(item): item for item in items[1:] if item.type == "NAME"}

    def braces(self, items: list[Token]) -> None:
        """options { … }, tokens { … } and @name { … }, which say nothing more here."""
        if items[0].type == "AT":
            self._dropped.add("code")
        elif items[0].type == "OPTIONS" and (found := _VOCABULARY.search(items[1])):
            self._wanted[found[1]] = items[1]

    def mode(self, items: list[Token]) -> None:
        """mode NAME;"""
        hint = (
            "the lexer has one state: write the tokens of a mode as one token with what is around"
        )
        self.report("modes of the lexer are not read", items[0].span, hint)

    # --- rules

    def rule(self, items: list[Any]) -> tree.Rule:
        """NAME : choice ;"""
        tokens = [item for item in items if isinstance(item, Token)]
        name = next(token for token in tokens if token.type == "NAME")
        body = items[-2]
        if body is None:
            body = nothing_at(items[-1].span.start)
        if any(token.type == "CLASS" for token in tokens):
            self._dropped.add("parameters")
        is_terminal = name[:1].isupper()
        if items[0].type == "FRAGMENT":
            self._fragments.add(str(name))
        for command in self._commands:
            if command in ("skip", "channel"):
                self._skipped.add(str(name))
            else:
                hint = "skip and channel alone are read"
                self.report(f"the command {command} of a lexer is not read", command.span, hint)
        self._commands = []
        return tree.Rule(str(name), name.span, body, span_over([name, items[-1]]), is_terminal)

    def alternative(self, items: list[Any]) -> tree.Expr | None:
        """sequence # label -> commands"""
        body: tree.Expr | None = items[0]
        if isinstance(items[-1], _Commands):
            self._commanded[id(body)] = body
        return body

    def choice(self, items: list[Any]) -> tree.Expr:
        """alternative | alternative …, all with commands or none"""
        if len({id(item) in self._commanded for item in items[::2]}) > 1:
            hint = "write a rule for the alternatives with '->', and one for the others"
            self.report("'->' belongs to one alternative alone", span_over(_seen(items)), hint)
        return super().choice(items)

    def commands(self, items: list[Any]) -> "_Commands":
        """-> command, …"""
        return _Commands()

    def command(self, items: list[Token]) -> None:
        """skip, channel(NAME), …"""
        self._commands.append(items[0])

    def sequence(self, items: list[Any]) -> tree.Expr | None:
        """element element …, of which actions are none"""
        found = [item for item in items if item is not None]
        if len(found) < 2:
            return found[0] if found else None
        return tree.Sequence(tuple(found), span_over(found))

    def labelled(self, items: list[Any]) -> tree.Expr:
        """label = item, label += item"""
        found: tree.Expr = items[2]
        return found

    def action(self, items: list[Token]) -> None:
        """{ code }, { code }? and <assoc=right>"""
        if len(items) > 1:
            hint = "what it forbids cannot be followed: leave it out, or write other rules"
            self.report("a predicate asks code what may follow", items[0].span, hint)
        elif items[0].type == "BRACES":
            self._dropped.add("code")

    def postfix(self, items: list[Any]) -> tree.Expr:
        """item with ? * + after it, lazy with another ?"""
        item, token = items
        found = tree.Repetition(item, *self.times(token[0], token.span), span_over(items))
        if len(token) > 1:
            self._lazy[id(found)] = found
        return found

    def string(self, items: list[Token]) -> tree.Expr:
        """A quoted text."""
        token, span = items[0], items[0].span
        text = self._text(token)
        if self._is_cased and text.upper() != text.lower():
            shown = '"' + text.replace("\\", r"\\").replace('"', r"\"") + '"i'
            return tree.Pattern(either_case(text), shown, span, "string")
        return literal_of(text, span)

    def range(self, items: list[Token]) -> tree.Expr:
        """'a'..'z'"""
        span = span_over(items)
        first, last = (self._text(item) for item in (items[0], items[2]))
        if not (len(first) == len(last) == 1 and first <= last):
            self.report("a range goes from one character to a later one", span)
            return nothing_at(span.start)
        return self._characters([(ord(first), ord(last))], span)

    def char_class(self, items: list[Token]) -> tree.Pattern:
        """[…], in which ^, [ and && are characters."""
        token, span = items[0], items[0].span
        inside = re.sub(r"^\^", r"\\^", token[1:-1])
        shift = len(inside) - (len(token) - 2)
        places = (span.start, *(span.start + max(1, i - shift) for i in range(1, len(inside) + 2)))
        text = Unescaped(f"[{inside}]", (*places, span.end))
        node = parse_pattern(text, self.limits, self.diagnostics, plain_classes=True)
        return self._characters(_ranges(tree.Pattern(node, "", span)) or (), span)

    def negation(self, items: list[Any]) -> tree.Expr:
        """~ set: one character that is not in it."""
        span = span_over(items)
        found = _ranges(items[1])
        if found is None:
            hint = "it stands before characters: ~[abc], ~('a' | 'b')"
            self.report("'~' of what is no set of characters is not read", span, hint)
            return nothing_at(span.start)
        return tree.Pattern(ir.char_class(ir.complement(found)), self._written(span), span)

    def _written(self, span: Span) -> str:
        return self.source.text[span.start : span.end]

    def _characters(self, ranges: Iterable[tuple[int, int]], span: Span) -> tree.Pattern:
        ranges = list(ranges)
        if self._is_cased:
            codes = [
                code
                for low, high in ranges
                for code in range(low, min(high, low + _MOST_CASED) + 1)
            ]
            if len(codes) > _MOST_CASED:
                self.report("a set is too large for both cases of its letters", span)
            chars = (case for code in codes for case in (chr(code).lower(), chr(code).upper()))
            ranges += [(ord(char), ord(char)) for char in chars if len(char) == 1]
        return tree.Pattern(ir.char_class(ranges), self._written(span), span)

    def _text(self, token: Token) -> str:
        begin = token.span.start + 1
        return unescape(token[1:-1], begin, self.diagnostics, keep_unknown=False).text


def _seen(items: Iterable[Any]) -> list[Any]:
    return [item for item in items if item is not None]


def _text(expr: tree.Expr) -> object:
    """What is equal for equal texts; None for what is none."""
    if isinstance(expr, tree.Literal):
        return expr.data
    return expr.text if isinstance(expr, tree.Pattern) and expr.kind == "string" else None


def _last(body: tree.Expr) -> list[tree.Expr]:
    """The parts that a text of an expression ends with."""

    found, pending = [], [body]
    while pending:
        expr = pending.pop()
        found.append(expr)
        if isinstance(expr, tree.Sequence):
            pending.append(expr.items[-1])
        elif isinstance(expr, tree.Choice):
            pending.extend(expr.options)
    return found


def _with(expr: tree.Expr, parts: list[tree.Expr]) -> tree.Expr:
    """The expression with other parts, in sequences without those that are nothing."""
    match expr:
        case tree.Sequence():
            items = [
                part for part in parts if not (isinstance(part, tree.Literal) and not part.data)
            ]
            return replace(expr, items=tuple(items)) if len(items) > 1 else (*items, parts[0])[0]
        case tree.Choice():
            return replace(expr, options=tuple(parts))
        case tree.Repetition():
            return replace(expr, item=parts[0])
    return expr


def _ranges(expr: tree.Expr) -> list[tuple[int, int]] | None:
    """The code points of a set of characters; None for what is none."""
    found: list[tuple[int, int]] = []
    for part in tree.walk(expr):
        match part:
            case tree.Choice():
                continue
            case tree.Literal() if len(part.data.decode("utf-8")) == 1:
                found.append((ord(part.data.decode("utf-8")),) * 2)
            case tree.Pattern() if isinstance(part.node, ir.CharClass):
                found.extend(part.node.ranges)
            case tree.Pattern() if isinstance(part.node, ir.Lit):
                found.extend(_ranges(tree.Literal(part.node.data, part.span)) or ())
            case _:
                return None
    return found


def _node(expr: tree.Expr) -> ir.Node | None:
    """The regex of an expression without references; None for one with some."""
    if any(isinstance(part, tree.Reference) for part in tree.walk(expr)):
        return None
    return fold(expr, tree.children, tree.regex_of)
