"""Write ``compiler/tokenizers/encoding/scripts.json``: scripts by which a text may be divided.

    python -m tests.generators.make_scripts > compiler/tokenizers/encoding/scripts.json

The step ``UnicodeScripts`` of the library ``tokenizers`` has the scripts of Unicode 9.0, Hiragana
and Katakana as Han, and takes a space for a character without one. So it is asked: two characters
have one script if it does not divide them. The table is run-length encoded in base
36: how many code points, and the number of their script, and so on; 0 for those without one, and
for surrogates.
"""

import json
import sys
from itertools import groupby

import tokenizers
from tokenizers.pre_tokenizers import UnicodeScripts

from .make_characters import characters
from .make_properties import base36

SPLIT = UnicodeScripts().pre_tokenize_str


def cuts(text: str) -> set[int]:
    """Where pre-tokens begin."""
    return {start for _, (start, _) in SPLIT(text)}


def numbers() -> list[int]:
    """The number of the script of each code point."""
    found = [0] * (sys.maxunicode + 1)
    heads: list[str] = []
    for char in characters():
        if not cuts(char):
            continue
        # Each script's first character and this one, side by side.
        divided = cuts("".join(head + char for head in heads))
        same = [n for n in range(len(heads)) if 2 * n + 1 not in divided]
        found[ord(char)] = same[0] + 1 if same else len(heads) + 1
        if not same:
            heads.append(char)
    return found


def main() -> None:
    """Print the table."""
    runs = [(len(list(group)), number) for number, group in groupby(numbers())]
    packed = " ".join(base36(value) for run in runs for value in run)
    table = {"tokenizers": tokenizers.__version__, "runs": packed}
    json.dump(table, sys.stdout, separators=(",", ":"))
    sys.stdout.write("\n")


if __name__ == "__main__":
    main()
