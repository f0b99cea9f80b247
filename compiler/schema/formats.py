"""Automata of the formats that JSON Schema names: the decoded texts that a format allows.

No text that a format forbids is accepted. Most automata are exact; ``NARROWED`` says what the
others leave out. They are data, ``formats.json``, made by ``generators.make_formats`` from patterns
that follow the standards.
"""

import json
from collections.abc import Mapping
from functools import cache, lru_cache
from importlib.resources import files
from typing import TypedDict

import numpy as np

from ..automata.dfa import Dfa
from ..diagnostics import closest

# What is left out, by format; what is not named here is exact.
NARROWED: Mapping[str, str] = {
    "date-time": "leap seconds",
    "time": "leap seconds",
    "email": "domains of more than 63 characters or with two hyphens together, backslashes and"
    " angle brackets in quoted local parts, and address literals other than those of IPv4 and IPv6",
    "idn-email": "local parts of more than 16 characters if one is not ASCII; of domains, what"
    " email and idn-hostname leave out",
    "hostname": "labels with hyphens in places 3 and 4, A-labels (xn--) among them; after the"
    " third label, more than 61 characters or two hyphens together",
    "idn-hostname": "what hostname leaves out; labels beyond ASCII that have more than 10"
    " characters, capital letters, or others than the usual letters of Latin, Greek, Cyrillic,"
    " Japanese, Chinese and Korean; separators other than the full stop",
    "regex": "groups more than three deep, named groups, back-references, escaped marks that need"
    " no backslash, and ranges other than within digits or letters of one case",
    "uri-template": "operators that are reserved for extensions",
}


class Packed(TypedDict):
    """An automaton as the file holds it.

    ``classes``: of each run of bytes the first and the class. ``cells``: the table, row by row, as
    runs: a target and how many times it stands there. ``accepting``: states. Numbers stand between
    spaces.
    """

    classes: str
    cells: str
    accepting: str


@cache
def language(name: str) -> Dfa | None:
    """The texts, in UTF-8, that a format allows, or a part of them; None for an unknown format."""
    found = _data().get(name)
    return None if found is None else _unpacked(found)


@lru_cache(1024)
def nearly(name: str) -> str | None:
    """The known format that was probably meant."""
    return closest(name, _data(), 0.8)


def _unpacked(data: Packed) -> Dfa:
    begins, of_run = _numbers(data["classes"]).reshape(-1, 2).T
    classes = np.repeat(of_run, np.diff(np.append(begins, 256))).astype(np.uint8)
    targets, counts = _numbers(data["cells"]).reshape(-1, 2).T
    table = np.repeat(targets, counts).reshape(-1, int(classes.max()) + 1)
    accepting = np.zeros(len(table), dtype=np.bool_)
    accepting[_numbers(data["accepting"])] = True
    return Dfa(table, classes, accepting, 1, (frozenset(),) * len(table), is_trimmed=True)


def _numbers(text: str) -> "np.ndarray[tuple[int], np.dtype[np.int32]]":
    return np.fromstring(text, dtype=np.int32, sep=" ")


@cache
def _data() -> dict[str, Packed]:
    text = files(__package__).joinpath("formats.json").read_text(encoding="utf-8")
    data: dict[str, Packed] = json.loads(text)
    return data
