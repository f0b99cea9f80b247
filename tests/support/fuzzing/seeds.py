"""What is changed by chance: grammars of all dialects, schemas, requests, cases."""

import json
import os
from functools import cache
from pathlib import Path
from typing import Any

from constrain.compiler.dialects import dialect_of
from support import EXAMPLES, ROOT

TEXTS = ("kbnf", "gbnf", "w3c", "lark", "iso14977", "regex", "regex-extended")

# The suffix of a file in each dialect.
SUFFIXES = {"kbnf": "ebnf", "gbnf": "gbnf", "w3c": "w3c", "lark": "lark", "iso14977": "isoebnf"}

_DATA = {"kbnf": "kbnf", "gbnf": "gbnf", "lark": "lark", "w3c": "w3c"}

# Larger ones take all the time and show nothing more.
_MOST_BYTES = 4_000


@cache
def grammars() -> dict[str, list[bytes]]:
    """The seeds of each dialect: recorded cases, examples, and of others where they are."""
    found: dict[str, list[bytes]] = {dialect: [] for dialect in TEXTS}
    folders = [ROOT / "tests" / "cases", EXAMPLES]
    for file in sorted(path for folder in folders for path in folder.rglob("*")):
        dialect = dialect_of(file.name) if file.is_file() else None
        if dialect == "regex":
            found["regex"].append(file.read_bytes())
            found["regex-extended"].append(file.read_bytes())
        elif dialect in found:
            found[dialect].append(file.read_bytes())
    found["regex-extended"] += [b"~(a.*)&[a-z]{3}", b"(a|b)*&~(.*aa.*)", b"~(~a&~b)", b"a&b|c"]
    if root := os.environ.get("CONSTRAIN_TEST_DATA"):
        for dialect, folder in _DATA.items():
            for file in sorted(Path(root, "grammars", folder).rglob("*")):
                if file.suffix in (".ebnf", ".gbnf", ".lark", ".w3c"):
                    found[dialect].append(file.read_bytes())
    return {
        dialect: [text for text in texts if len(text) <= _MOST_BYTES]
        for dialect, texts in found.items()
    }


@cache
def schemas() -> list[Any]:
    """Schemas, of the recorded cases and the examples."""
    files = [*ROOT.glob("tests/cases/*/grammar.schema.json"), *EXAMPLES.rglob("*.schema.json")]
    texts = [file.read_bytes() for file in sorted(files)]
    return [json.loads(text) for text in texts if len(text) <= _MOST_BYTES and b"{" in text]


@cache
def case_files() -> list[tuple[str, bytes]]:
    """Files of test cases and the names of their grammars, all of them beside each other."""
    return [
        (file.name, file.read_bytes())
        for file in sorted(EXAMPLES.glob("*.test"))
        if file.stat().st_size <= _MOST_BYTES
    ]
