"""Lark's libraries: the terminals of ``common``, each as one regular expression, and the grammars
that the package ``lark`` has.

Where Lark relies on its lexer to stop at the first end (strings, comments of C), the expression
matches what the lexer would: a text that has no such end inside. Those with the inside of a string
are lazy, as in Lark.
"""

from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path

_INT = "[0-9]+"
_DECIMAL = r"([0-9]+\.[0-9]*|\.[0-9]+)"
_EXPONENT = "[Ee][+-]?[0-9]+"
_FLOAT = rf"([0-9]+{_EXPONENT}|{_DECIMAL}({_EXPONENT})?)"
_NUMBER = f"({_FLOAT}|{_INT})"
_ESCAPED = r"([^\\\n]|\\[^\n])*?"

COMMON: Mapping[str, str] = {
    "DIGIT": "[0-9]",
    "HEXDIGIT": "[0-9A-Fa-f]",
    "INT": _INT,
    "SIGNED_INT": f"[+-]?{_INT}",
    "DECIMAL": _DECIMAL,
    "_EXP": _EXPONENT,
    "FLOAT": _FLOAT,
    "SIGNED_FLOAT": f"[+-]?{_FLOAT}",
    "NUMBER": _NUMBER,
    "SIGNED_NUMBER": f"[+-]?{_NUMBER}",
    "_STRING_INNER": r"[^\n]*?",
    "_STRING_ESC_INNER": _ESCAPED,
    "ESCAPED_STRING": r'"([^"\\\n]|\\[^\n])*"',
    "LCASE_LETTER": "[a-z]",
    "UCASE_LETTER": "[A-Z]",
    "LETTER": "[A-Za-z]",
    "WORD": "[A-Za-z]+",
    "CNAME": "[A-Z_a-z][0-9A-Z_a-z]*",
    "WS_INLINE": r"[\t ]+",
    "WS": r"[\t\n\f\r ]+",
    "CR": r"\r",
    "LF": r"\n",
    "NEWLINE": r"(\r?\n)+",
    "SH_COMMENT": r"#[^\n]*",
    "CPP_COMMENT": r"//[^\n]*",
    "C_COMMENT": r"/\*([^*]|\*+[^*/])*\*+/",
    "SQL_COMMENT": r"--[^\n]*",
}

# Libraries that are read as Lark wrote them.
LIBRARIES = ("python", "unicode", "lark")


def library_folder() -> Path:
    """Where Lark's own grammars are. Lark itself, which takes 0.1 s, is not loaded."""
    spec = find_spec("lark")
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).parent / "grammars"
