r"""Rust's regular expressions, as tiktoken and Tekken have them, in Oniguruma's syntax.

``\s++$``  ->  ``\s++\z``          ``\p{N}{1,3}+``  ->  ``(?>\p{N}{1,3})``

Where both mean the same, ``patterns`` reads the pattern as it stands, and refuses by name what it
does not know.
"""

import re

from ...diagnostics import TokenizerError
from ..definition import WORD
from .patterns import shown

# A piece of the syntax: a count with what makes it possessive, an escape, or a character.
_PIECE = re.compile(r"\{\d+(?:,\d*)?\}\+?|\\(?:[pPxu]\{[^}]*\}|x..|u....|.)|.", re.DOTALL)

# Outside a class in brackets: lines do not count, and words have more characters.
_AT_WORD = f"(?:(?<=[{WORD}])(?![{WORD}])|(?<![{WORD}])(?=[{WORD}]))"
_IN_WORD = f"(?:(?<=[{WORD}])(?=[{WORD}])|(?<![{WORD}])(?![{WORD}]))"
_OUTSIDE = {
    "$": r"\z",
    "^": r"\A",
    r"\w": f"[{WORD}]",
    r"\W": f"[^{WORD}]",
    r"\b": _AT_WORD,
    r"\B": _IN_WORD,
}


def in_oniguruma(pattern: str) -> str:
    """The pattern in Oniguruma's syntax. Raises ``TokenizerError`` for what has no counterpart."""
    parts: list[str] = []
    depth = 0
    for text in _PIECE.findall(pattern):
        if text == "[":
            depth += 1
            if depth == 1:
                parts.append("")
        if depth:
            parts[-1] += WORD if text == r"\w" else text
            depth -= text == "]"
            if parts[-1].endswith(("--", "~~")):
                raise _unknown(pattern, f"the difference {parts[-1][-2:]!r} of two classes")
        elif len(text) > 1 and text[0] == "{" and text[-1] == "+":
            if not parts or parts[-1] in ("", ")"):
                raise _unknown(pattern, f"the possessive count {text!r} of a group")
            parts[-1] = f"(?>{parts[-1]}{text[:-1]})"
        else:
            parts.append(_OUTSIDE.get(text, text))
    return "".join(parts)


def _unknown(pattern: str, what: str) -> TokenizerError:
    return TokenizerError(f"the pattern {shown(pattern)} has {what}, which is not supported")
