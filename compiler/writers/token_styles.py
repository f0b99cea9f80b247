"""How the tokens of each dialect stand: a row a dialect, by the names that its parser has."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

_BLOCK, _C_BLOCK, _SLASHES = r"\(\*[\s\S]*?\*\)", r"/\*[\s\S]*?\*/", r"//[^\r\n]*"
_HASH = r"#[^\r\n]*"
_NESTED = r"\(\*(?:[^(*]+|\((?!\*)|\*(?!\))"
_ISO = f"{_NESTED}|{_NESTED}|{_NESTED}|{_NESTED})*+\\*\\))*+\\*\\))*+\\*\\))*+\\*\\)"

# What stands right after the token before it, and what right before the one after it.
_BEHIND = frozenset(
    {
        *("POSTFIX", "COUNT", "TIMES", "COMMA", "SEMICOLON", "TERMINATOR", "END", "COLON"),
        *("PRIORITY", "PARAMETER", "EQUALS", "RANGE", "ROUND_CLOSE", "SQUARE_CLOSE", "CURLY_CLOSE"),
    }
)
_BEFORE = frozenset(
    {
        *("ROUND_OPEN", "SQUARE_OPEN", "CURLY_OPEN", "MACRO", "NOT", "REPEAT", "EQUALS", "RANGE"),
        *("EXCEPT", "PERMUTE", "PERMUTE_BY"),
    }
)
_SQUARE_CURLY = frozenset({"SQUARE_OPEN", "SQUARE_CLOSE", "CURLY_OPEN", "CURLY_CLOSE"})


@dataclass(frozen=True, slots=True)
class Style:
    """``trivia``: what may stand between tokens besides white space: comments, and in a group
    ``label`` what stands before a rule on its line. ``ends``: tokens that end a statement, and
    ``heads``: those that begin one. ``signs``: what stands between a rule's name and its body.
    ``behind``: tokens without a space before them, and ``before``: those without one after.
    ``free``: line breaks mean nothing; else they end a statement outside of brackets, but before
    ``|``, or with ``bars_end_lines`` after it. ``tight``: heads are written without spaces.
    ``squeezed``: tokens whose inner white space says nothing, and what stands for it."""

    trivia: re.Pattern[str]
    ends: frozenset[str] = frozenset()
    heads: frozenset[str] = frozenset()
    signs: frozenset[str] = frozenset({"DEFINES"})
    behind: frozenset[str] = _BEHIND
    before: frozenset[str] = _BEFORE
    free: bool = True
    bars_end_lines: bool = False
    tight: bool = False
    squeezed: Mapping[str, str] = field(default_factory=dict)


def _style(comments: str, label: str = "(?!)", **given: Any) -> Style:
    return Style(re.compile(rf"(?P<label>{label})|(?:{comments})|\S+"), **given)


# With spaces inside of [ ] and { }.
_WIDE: Mapping[str, Any] = {"behind": _BEHIND - _SQUARE_CURLY, "before": _BEFORE - _SQUARE_CURLY}

STYLES: Mapping[str, Style] = {
    "kbnf": _style(_BLOCK, ends=frozenset({"SEMICOLON"}), **_WIDE),
    "gbnf": _style(
        _HASH,
        ends=frozenset({"NEWLINE"}),
        free=False,
        bars_end_lines=True,
        squeezed={"COUNT": ""},
    ),
    "w3c": _style(
        rf"\[[ \t]*(?:wfc|vc|nsc|WFC|VC|NSC):[^\]]*\]|{_C_BLOCK}|{_SLASHES}|{_HASH}",
        label=r"\[[0-9][0-9a-z.]*\]",
        heads=frozenset({"HEAD", "HEADING", "PASS"}),
        signs=frozenset({"HEAD", "PASS"}),
    ),
    "lark": _style(
        f"{_SLASHES}|{_HASH}",
        ends=frozenset({"NEWLINE"}),
        signs=frozenset({"COLON", "IGNORE"}),
        behind=_BEHIND | {"CURLY_OPEN"},
        free=False,
        tight=True,
        squeezed=dict.fromkeys(("COUNT", "TIMES", "PRIORITY"), ""),
    ),
    "iso14977": _style(_ISO, ends=frozenset({"TERMINATOR"}), squeezed={"NAME": " "}, **_WIDE),
    "abnf": _style(r";[^\r\n]*", heads=frozenset({"HEAD"}), signs=frozenset({"HEAD"}), **_WIDE),
    "ebnf": _style(
        rf"{_BLOCK}|{_C_BLOCK}|{_SLASHES}|--(?!\S)[^\r\n]*|{_HASH}",
        label=r"\[[0-9][\w.]*\]",
        ends=frozenset({"END"}),
        heads=frozenset({"HEAD"}),
        **_WIDE,
    ),
}
