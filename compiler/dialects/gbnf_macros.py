r"""What xgrammar's EBNF writes as calls, in GBNF.

    Regex("[a-z]+", flags="i", json_string=true)       a regex; of its texts, those that may stand
                                                       between the quotes of JSON as they are
    Substring("ab", "c", "d")                          any run of neighbouring pieces
    TagDispatch(("<a>", x), excludes=("<b>",), loop_after_dispatch=false)
                                                       free text, and after "<a>" in it x
    Token(1, 2)   ExcludeToken(3)                      one of these tokens; any but these
    TokenTagDispatch((1, x), excludes=(2,))            free text of tokens

Names and defaults are those of xgrammar 0.2.8. What is dispatched means what it does in structural
tags, whose rules these are.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from ..automata import regex_ir as ir
from ..automata.boolean import substrings
from ..diagnostics import Diagnostic, Span
from ..grammar.tree import Expr, Pattern, Reference
from ..limits import Limits
from ..structural_tags.dispatched import Dispatched
from ..structural_tags.expressions import TokenName
from .builder import Token, Unescaped
from .regex import parse_pattern

# What a text of JSON cannot have between its quotes but after a backslash.
_ESCAPED_IN_JSON = ((0x00, 0x1F), (0x22, 0x22), (0x5C, 0x5C))
_PLAIN_IN_JSON = ir.repeat(ir.char_class(ir.complement(_ESCAPED_IN_JSON)), 0, None)

_FLAGS = frozenset("imsx")


@dataclass(frozen=True, slots=True)
class Group:
    """Values in round brackets."""

    values: "tuple[Value, ...]"
    span: Span


@dataclass(frozen=True, slots=True)
class Named:
    """name=value"""

    name: Token
    value: "Value"


# A string, a name, a number, or several of them.
Value: TypeAlias = Token | Group


class Macros(Dispatched):
    """The calls of one grammar. ``unescape`` undoes the escapes of a string; ``rules`` are those
    that the calls need."""

    def __init__(self, limits: Limits, unescape: Callable[[Token], Unescaped]) -> None:
        super().__init__(limits)
        self._unescape = unescape
        self._spans: dict[str, Span] = {}
        self._calls = 0

    def refuse(self, pointer: str, message: str, hint: str = "") -> Expr:
        span = self._spans.get(pointer, self._span)
        self.wrong.append(Diagnostic(message, span, hint or None))
        return self.text("")

    def call(self, name: str, arguments: Sequence[Value | Named], span: Span) -> Expr:
        """The expression of a call."""
        self._span = span
        values = [each for each in arguments if not isinstance(each, Named)]
        named: dict[str, Value] = {}
        read, known = _MACROS[name]
        for each in arguments:
            if not isinstance(each, Named):
                continue
            if each.name not in known:
                takes = f"it takes {' and '.join(known)}" if known else "it takes values alone"
                return self._wrong(f"{name} has no {each.name}", each.name, takes)
            if each.name in named:
                return self._wrong(f"{each.name} stands here twice", each.name)
            named[str(each.name)] = each.value
        return read(self, values, named)

    # --- regexes

    def regex(self, values: Sequence[Value], named: Mapping[str, Value]) -> Expr:
        """Regex("…", flags="…", json_string=…)"""
        if len(values) != 1:
            return self.refuse("", "Regex takes one string")
        text, flags = self._string(values[0]), self._string(named.get("flags"))
        if text is None:
            return self.text("")
        given = "" if flags is None else flags.text
        if not _FLAGS.issuperset(given):
            return self._wrong("flags are of i, m, s and x", named["flags"])
        node = parse_pattern(text, self.limits, self.wrong, given, plain_classes=True)
        if self._is_true(named.get("json_string"), usual=False):
            node = ir.intersection(node, _PLAIN_IN_JSON)
        return Pattern(node, text.text, self._span)

    def substring(self, values: Sequence[Value], named: Mapping[str, Value]) -> Expr:
        """Substring("…", …)"""
        pieces = self._strings(values)
        return Pattern(substrings(pieces, self.limits), "Substring", self._span, "substrs")

    # --- tokens

    def token(self, values: Sequence[Value], named: Mapping[str, Value]) -> Expr:
        """Token(…)"""
        if not values:
            return self.refuse("", "Token takes one token or more")
        return self.one_token(self._tokens(values))

    def exclude_token(self, values: Sequence[Value], named: Mapping[str, Value]) -> Expr:
        """ExcludeToken(…)"""
        return self.one_token(self._tokens(values), negated=True)

    # --- free text

    def tag_dispatch(self, values: Sequence[Value], named: Mapping[str, Value]) -> Expr:
        """TagDispatch((pattern, rule), …)"""
        pointer, pairs, is_repeated = self._dispatch("TagDispatch", values, named)
        patterns = self._strings([pattern for pattern, _ in pairs])
        excluded = self._strings(self._several(named.get("excludes")))
        if "" in [*patterns, *excluded]:
            return self.refuse("", "patterns and what is excluded are strings that are not empty")
        rules = [rule for _, rule in pairs]
        if len(patterns) < len(rules):
            return self.text("")
        return self.texts_with(pointer, patterns, rules, excluded, is_repeated=is_repeated)

    def token_tag_dispatch(self, values: Sequence[Value], named: Mapping[str, Value]) -> Expr:
        """TokenTagDispatch((token, rule), …)"""
        pointer, pairs, is_repeated = self._dispatch("TokenTagDispatch", values, named)
        patterns = self._tokens([pattern for pattern, _ in pairs])
        excluded = self._tokens(self._several(named.get("excludes")))
        rules = [rule for _, rule in pairs]
        if len(patterns) < len(rules):
            return self.text("")
        return self.tokens_with(pointer, patterns, rules, excluded, is_repeated=is_repeated)

    def _dispatch(
        self, name: str, values: Sequence[Value], named: Mapping[str, Value]
    ) -> tuple[str, list[tuple[Value, Expr]], bool]:
        """What its rules are called, the pairs of a pattern and a rule, and whether text goes on
        after them."""
        self._calls += 1
        pointer = f"{name} {self._calls}"
        pairs: list[tuple[Value, Expr]] = []
        for each in values:
            pair = each.values if isinstance(each, Group) else ()
            if len(pair) == 2 and isinstance(pair[1], Token) and pair[1].type == "NAME":
                self._spans[f"{pointer}/rules/{len(pairs)}/0"] = pair[0].span
                pairs.append((pair[0], Reference(str(pair[1]), pair[1].span)))
            else:
                self._wrong(f"{name} takes pairs, (pattern, rule)", each)
        return pointer, pairs, self._is_true(named.get("loop_after_dispatch"), usual=True)

    # --- values

    def _wrong(self, message: str, at: Value, hint: str = "") -> Expr:
        self.wrong.append(Diagnostic(message, at.span, hint or None))
        return self.text("")

    def _several(self, value: Value | None) -> Sequence[Value]:
        """What stands in brackets; a value without them is one."""
        if value is None:
            return ()
        return value.values if isinstance(value, Group) else (value,)

    def _string(self, value: Value | None) -> Unescaped | None:
        if isinstance(value, Token) and value.type == "STRING":
            return self._unescape(value)
        if value is not None:
            self._wrong('this must be a string, "…"', value)
        return None

    def _strings(self, values: Sequence[Value]) -> list[str]:
        return [text.text for text in map(self._string, values) if text is not None]

    def _tokens(self, values: Sequence[Value]) -> list[TokenName]:
        """Tokens by their numbers, or by their texts in quotes."""
        found: list[TokenName] = []
        for each in values:
            if isinstance(each, Token) and re.fullmatch("[0-9]{1,9}", each):
                found.append(int(each))
            elif isinstance(each, Token) and each.type == "STRING":
                found.append(self._unescape(each).text)
            else:
                self._wrong("a token is its number, or its text in quotes", each)
        return found

    def _is_true(self, value: Value | None, *, usual: bool) -> bool:
        if value is None:
            return usual
        if value not in ("true", "false"):
            self._wrong("this must be true or false", value)
        return value == "true"


_DISPATCH = ("excludes", "loop_after_dispatch")

_Read: TypeAlias = Callable[[Macros, Sequence[Value], Mapping[str, Value]], Expr]

# How each is read, and the names that its values may have.
_MACROS: Mapping[str, tuple[_Read, tuple[str, ...]]] = {
    "Regex": (Macros.regex, ("flags", "json_string")),
    "Substring": (Macros.substring, ()),
    "Token": (Macros.token, ()),
    "ExcludeToken": (Macros.exclude_token, ()),
    "TagDispatch": (Macros.tag_dispatch, _DISPATCH),
    "TokenTagDispatch": (Macros.token_tag_dispatch, _DISPATCH),
}
