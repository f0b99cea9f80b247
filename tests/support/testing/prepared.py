"""Oracles for the prepared cases: other parsers, asked whether some text goes on to a member.

A prefix is viable if one of a grammar's completions makes a member of it; each oracle has
completions enough for what its cases begin with. Where a text stops, and what could stand there,
follows from that alone.
"""

import ast
import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import regex
from lark import Lark
from lark.exceptions import LarkError

from support import ROOT

FOLDER = ROOT / "tests" / "testing" / "prepared"


@dataclass(frozen=True)
class Oracle:
    """``accepts``: whether a text is a member; ``completions``: what may be missing after one."""

    accepts: Callable[[str], bool]
    completions: Callable[[str], Sequence[str]]

    def is_viable(self, text: str) -> bool:
        """Whether a member begins so."""
        return any(self.accepts(text + rest) for rest in self.completions(text))

    def status(self, text: str) -> tuple[str, int]:
        """What explain says, and where the text stops, in characters."""
        if self.accepts(text):
            return "accepted", len(text)
        for place in range(len(text), -1, -1):
            if self.is_viable(text[:place]):
                return ("incomplete" if place == len(text) else "rejected"), place
        raise AssertionError(f"the oracle has no completion of the empty text ({text!r})")


# --- time.regex and log.gbnf: the regex module, which matches prefixes, and re

TIME = r"([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9](\.[0-9]{1,3})?)?"
TIME += r"(Z|[+\-]([01][0-9]|2[0-3]):?[0-5][0-9])?"
LOG = r"\[((info|warn|error):[0-9]{3,8000};){2,30000}\]"


@dataclass(frozen=True)
class RegexOracle(Oracle):
    """Of a pattern; prefixes are matched by the engine itself."""

    pattern: str = ""

    def is_viable(self, text: str) -> bool:
        return regex.fullmatch(self.pattern, text, partial=True) is not None


def _of_regex(pattern: str) -> Oracle:
    return RegexOracle(lambda text: re.fullmatch(pattern, text) is not None, lambda _: (), pattern)


# --- expression.ebnf: Python's own parser

_NODES = (ast.Expression, ast.BinOp, ast.UnaryOp, ast.Name, ast.Constant, ast.operator)
_NODES += (ast.UAdd, ast.USub, ast.expr_context)
_WORD = re.compile(r"(0|[1-9][0-9]*)(\.[0-9]+)?|[xyz]+")


def _is_expression(text: str) -> bool:
    if re.fullmatch(r"[0-9.xyz()+\-*/%]*", text) is None:
        return False
    if not all(_WORD.fullmatch(word) for word in re.findall(r"[0-9a-z.]+", text)):
        return False
    try:
        tree = ast.parse(text, mode="eval")
    except SyntaxError:
        return False
    return all(isinstance(node, _NODES) for node in ast.walk(tree))


def _of_brackets(text: str) -> Sequence[str]:
    missing = text.count("(") - text.count(")")
    return [begin + ")" * max(0, missing) for begin in ("", "0")]


# --- statements.lark: Lark


@cache
def _lark() -> Lark:
    text = (FOLDER / "statements.lark").read_text(encoding="utf-8")
    return Lark(text, parser="lalr", lexer="contextual")


def _is_statements(text: str) -> bool:
    try:
        _lark().parse(text)
    except LarkError:
        return False
    return True


def _suffixes(*texts: str) -> list[str]:
    return [text[place:] for text in texts for place in range(len(text) + 1)]


_STATEMENTS = _suffixes("let x=0;", "print 0;")
_STATEMENTS += [begin + "]" * k + ";" for begin in ("", "0", '"') for k in range(4)]
_STATEMENTS += ["\n" + each for each in _STATEMENTS]


# --- person.schema.json: json and jsonschema, and keys in the schema's order


@cache
def _validator() -> Any:
    from jsonschema import Draft202012Validator

    return Draft202012Validator(json.loads((FOLDER / "person.schema.json").read_text("utf-8")))


_ORDER = ["name", "age", "tags", "home", "zip", "main"]


def _in_order(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    places = [_ORDER.index(key) if key in _ORDER else -1 for key, _ in pairs]
    if places != sorted(set(places)):
        raise ValueError("keys of another order, or twice")
    return dict(pairs)


def _is_person(text: str) -> bool:
    try:
        value = json.loads(text, object_pairs_hook=_in_order, parse_constant=lambda _: None)
    except (ValueError, RecursionError):
        return False
    # White space stands between tokens alone, not around the whole.
    if text != text.strip():
        return False
    # Integers are digits alone here, and 1.0 and 1e2 are integers to JSON Schema.
    if isinstance(value, dict) and isinstance(value.get("age"), float):
        return False
    return bool(_validator().is_valid(value))


_PERSONS = _suffixes(
    '{"name":"a","age":1,"tags":["red"],"home":{"zip":"12345","main":true}}',
    '{"name":"a","age":1,"tags":["green"],"home":{"zip":"12345","main":false}}',
    '{"name":"a","age":1,"tags":["blue","blue"]}',
    '{"name":"a","age":1,"home":{"zip":"12345"}}',
    '{"name":"a","age":-0}',
)
_PERSONS += ['61"', 'u0061"', 'n"']
_PERSONS += [each + ',"age":1}' for each in ('0061"', '061"', '61"', '1"', 'u0061"', 'n"', '"')]
_PERSONS = list(dict.fromkeys(_PERSONS))

ORACLES = {
    "time": _of_regex(TIME),
    "log": _of_regex(LOG),
    "expression": Oracle(_is_expression, _of_brackets),
    "statements": Oracle(_is_statements, lambda _: _STATEMENTS),
    "person": Oracle(_is_person, lambda _: _PERSONS),
}


# --- call.gbnf: tokens by hand

_LESS, _GREATER, _CALL = 28, 30, 1648
_ARGUMENTS = r": (add|sub)\([0-9]+(,[0-9]+)*\)"


def status_of_tokens(ids: Sequence[int], text_of: Callable[[int], bytes | None]) -> tuple[str, int]:
    """What becomes of tokens, and how many are taken. ``text_of``: None for special ones."""
    for taken in range(len(ids), -1, -1):
        found = _of_tokens(ids[:taken], text_of)
        if found is not None:
            is_whole = taken == len(ids)
            status = "rejected" if not is_whole else "accepted" if found else "incomplete"
            return status, taken
    raise AssertionError


def _of_tokens(ids: Sequence[int], text_of: Callable[[int], bytes | None]) -> bool | None:
    """Whether tokens are a member; None if no member begins with them."""
    place = 0
    while place < len(ids) and ids[place] == _LESS:
        inside = list(ids[place + 1 : place + 5])
        # The token that ends a text is none of a thought.
        if None in map(text_of, inside):
            return None
        if _GREATER not in inside:
            return False if len(inside) < 4 and place + 1 + len(inside) == len(ids) else None
        if inside[0] == _GREATER:
            return None
        place += 2 + inside.index(_GREATER)
    if place == len(ids):
        return False
    if ids[place] != _CALL:
        return None
    texts = [text_of(each) for each in ids[place + 1 :]]
    if None in texts:
        return None
    text = b"".join(each or b"" for each in texts).decode("latin-1")
    if re.fullmatch(_ARGUMENTS, text):
        return True
    return False if regex.fullmatch(_ARGUMENTS, text, partial=True) else None
