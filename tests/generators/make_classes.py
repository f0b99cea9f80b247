"""Write ``compiler/automata/unicode_classes.json``: the code points of \\d, \\s and \\w as ranges.

    python -m tests.generators.make_classes > compiler/automata/unicode_classes.json

The definitions are those of Unicode Technical Standard #18, Annex C. The properties come from the
``regex`` package, whose Unicode version is in the file. Run this again to move to another version,
and say so in the changelog.
"""

import json
import sys

import regex

# `regex` 2026.11.15 carries the properties of this version.
UNICODE_VERSION = "18.0.0"

CLASSES = {
    "digit": r"\p{Nd}",
    "space": r"\p{White_Space}",
    "word": r"[\p{Alphabetic}\p{M}\p{Nd}\p{Pc}\p{Join_Control}]",
}


def ranges(pattern: str) -> list[tuple[int, int]]:
    """The code points that match, as ascending ranges (surrogates left out)."""
    matches = regex.compile(pattern).fullmatch
    found: list[tuple[int, int]] = []
    for code in range(sys.maxunicode + 1):
        if 0xD800 <= code <= 0xDFFF or not matches(chr(code)):
            continue
        if found and found[-1][1] == code - 1:
            found[-1] = (found[-1][0], code)
        else:
            found.append((code, code))
    return found


def main() -> None:
    """Print the table."""
    table = {name: ranges(pattern) for name, pattern in CLASSES.items()}
    json.dump({"unicode": UNICODE_VERSION, **table}, sys.stdout, separators=(",", ":"))
    sys.stdout.write("\n")


if __name__ == "__main__":
    main()
