"""Write the TextMate grammars of the dialects, from the terminals that constrain reads them by.

    python syntaxes.py          writes syntaxes/*.tmLanguage.json beside this file

A terminal of a dialect's .lark file is a pattern; what its name says is its scope. TextMate reads
line by line, so comments that may go over lines are what begins and what ends them.
"""

import json
import re
from importlib.resources import files
from pathlib import Path

DIALECTS = {
    "kbnf": "KBNF",
    "gbnf": "GBNF",
    "w3c": "EBNF of the W3C",
    "lark": "Lark",
    "iso14977": "ISO 14977",
    "abnf": "ABNF",
    "antlr": "ANTLR",
}

# Scopes by the names of terminals, in the order in which they are looked for.
SCOPES = {
    "string.quoted": ("STRING",),
    "string.regexp": ("REGEX", "CLASS", "TOKEN", "SPECIAL", "PROSE"),
    "constant.numeric": ("NUMBER", "INTEGER", "COUNT", "TIMES", "PRIORITY", "REPEAT", "CODE"),
    "entity.name.function": ("HEAD",),
    "keyword.control": (
        *("ANY", "EXCEPT", "PERMUTE", "PERMUTE_BY", "IGNORE", "IMPORT", "DECLARE", "OVERRIDE"),
        *("OPTIONS", "JSON", "STRUCTURED", "CONDITION", "MACRO", "GRAMMAR", "FRAGMENT", "MODE"),
        *("KIND", "TOKENS", "CHANNELS", "RETURNS", "LOCALS", "TERMINALS"),
    ),
    "keyword.operator": ("DEFINES", "COLON", "BAR", "POSTFIX", "ARROW", "MINUS", "RANGE", "NOT"),
    "variable.other": ("NAME",),
}

_TERMINAL = re.compile(r"^([A-Z_]+)(?:\.\d+)?: (.+)$", re.MULTILINE)
_PART = re.compile(r'/((?:[^/\\]|\\.)+)/([a-z]*)|"((?:[^"\\]|\\.)*)"')

# Comments that may go over lines, by what begins them.
_ENDS = {r"\(\*": r"\*\)", r"\/\*": r"\*\/"}


def terminals(text: str) -> dict[str, str]:
    """The terminals of a grammar of Lark, each as one regex."""
    found = {}
    for name, body in _TERMINAL.findall(text):
        parts = []
        for regex, _flags, string in _PART.findall(body):
            parts.append(regex or re.escape(json.loads(f'"{string}"')))
        if parts:
            found[name] = "|".join(parts)
    return found


def comments(regex: str) -> list[dict[str, object]]:
    """The patterns of comments: what begins and ends them, or what they are on one line."""
    found: list[dict[str, object]] = []
    for begin, end in _ENDS.items():
        if begin in regex:
            rule: dict[str, object] = {"name": "comment.block", "begin": begin, "end": end}
            found.append(rule)
    for mark in ("#", ";", r"\/\/"):
        if re.search(rf"(?:^|[|(:\s]){re.escape(mark)}", regex):
            found.append({"name": "comment.line", "match": rf"{mark}.*$"})
    return found


def of_dialect(name: str, title: str) -> dict[str, object]:
    """The TextMate grammar of a dialect."""
    folder = files("constrain.compiler.dialects")
    known = terminals(folder.joinpath(f"{name}.lark").read_text(encoding="utf-8"))
    patterns = comments(known.get("COMMENT", ""))
    if "LINE_COMMENT" in known:
        patterns.append({"name": "comment.line", "match": known["LINE_COMMENT"]})
    if name_ := known.get("NAME"):
        defines = "|".join(known[each] for each in ("DEFINES", "COLON") if each in known)
        head = {"name": "entity.name.function", "match": rf"(?:{name_})(?=\s*(?:{defines}))"}
        patterns += [head] if defines else []
    for scope, names in SCOPES.items():
        for each in names:
            if each in known:
                patterns.append({"name": scope, "match": known[each]})
    return {"scopeName": f"source.{name}", "name": title, "patterns": patterns}


def of_cases() -> dict[str, object]:
    """That of case files: names between lines of =, attributes, and what is expected."""
    inside = [
        {"name": "keyword.control", "match": r"^:[a-z-]+"},
        {"name": "entity.name.section", "match": r"^[^:].*$"},
    ]
    head = {"begin": "^={3,}.*$", "end": "^={3,}.*$", "name": "meta.head", "patterns": inside}
    setting = {
        "match": r"^([a-z][a-z-]*)(:)(.*)$",
        "captures": {
            "1": {"name": "support.type.property-name"},
            "2": {"name": "keyword.operator"},
            "3": {"name": "string.unquoted"},
        },
    }
    patterns = [
        {"name": "comment.line", "match": "^#.*$"},
        head,
        {"name": "punctuation.separator", "match": "^-{3,}.*$"},
        setting,
    ]
    return {
        "scopeName": "text.constrain-cases",
        "name": "Cases of a grammar",
        "patterns": patterns,
    }


def written() -> dict[str, str]:
    """The files by their names."""
    made = {name: of_dialect(name, title) for name, title in DIALECTS.items()}
    made["constrain-cases"] = of_cases()
    return {
        f"{name}.tmLanguage.json": json.dumps(each, indent=2, ensure_ascii=False) + "\n"
        for name, each in made.items()
    }


if __name__ == "__main__":
    for name, text in written().items():
        (Path(__file__).parent / "syntaxes" / name).write_text(text, encoding="utf-8", newline="\n")
