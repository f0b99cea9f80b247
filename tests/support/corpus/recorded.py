"""The corpus of languages that all engines are held against.

A case of ``tests/cases`` is a folder: a grammar, its suffix that of its dialect, and beside it
``accept.txt`` and ``reject.txt``, one JSON string a line (a byte that is no UTF-8 as the lone
surrogate that Python's ``surrogateescape`` makes of it), or what is said of a grammar with a
mistake (``expected_error.txt``) or a lint (``expected_findings.txt``).
"""

import json
from dataclasses import dataclass
from functools import cache, cached_property
from math import inf
from pathlib import Path

import numpy as np

from constrain.compiler.automata.dfa import DEAD
from constrain.compiler.diagnostics import NotRegularError
from constrain.compiler.dialects import dialect_of
from constrain.compiler.frontend import Automaton
from support import ROOT
from support.automata import build_automaton, words_of

CASES = ROOT / "tests" / "cases"
FOLDERS = sorted(path for path in CASES.iterdir() if path.is_dir())
ERRORS = [path for path in FOLDERS if path.name.startswith("error-")]
FINDINGS = [path for path in FOLDERS if path.name.startswith("lint-")]


@dataclass(frozen=True)
class Language:
    """A grammar, some of its members and some texts that are none."""

    name: str
    text: str
    dialect: str = "kbnf"
    accepted: tuple[bytes, ...] = ()
    rejected: tuple[bytes, ...] = ()

    @cached_property
    def automaton(self) -> Automaton | None:
        """The automata of the grammar; None if it nests."""
        try:
            return build_automaton(self.text, dialect=self.dialect, name=self.name)
        except NotRegularError:
            return None

    @property
    def names_tokens(self) -> bool:
        """Whether the grammar names tokens, which no text matches."""
        return self.automaton is not None and bool(self.automaton.grammar.tokens)

    def members(self, most: int) -> list[bytes] | None:
        """All members of a regular language, shortest first; None if they are more."""
        assert self.automaton is not None
        if self.number_of_members > most:
            return None
        dfa = self.automaton.dfa
        return [bytes(text) for text in words_of(dfa, dfa.states)]

    @cached_property
    def number_of_members(self) -> float:
        """Of a regular language, ``inf`` if there is no end of them."""
        assert self.automaton is not None
        dfa = self.automaton.dfa
        # Of each class of bytes as many as it has.
        width = int(dfa.classes.max()) + 1
        table, weights = dfa.table[:, :width], np.bincount(dfa.classes, minlength=width)
        found, by_length = 0.0, dfa.accepting.astype(np.float64)
        for length in range(2 * dfa.states):
            found += by_length[dfa.start]
            # A member as long as there are states comes to one of them again.
            if length >= dfa.states and by_length[dfa.start]:
                return inf
            by_length = by_length[table] @ weights
            by_length[DEAD] = 0
            if not by_length.any():
                break
        return found


def grammar_of(folder: Path) -> Path:
    """The one grammar of a case."""
    (path,) = folder.glob("grammar.*")
    return path


def strings(path: Path) -> tuple[bytes, ...]:
    """The JSON strings in a file, one a line, as bytes."""
    lines = path.read_text(encoding="utf-8").split("\n")[:-1]
    return tuple(json.loads(line).encode("utf-8", "surrogateescape") for line in lines)


@cache
def recorded() -> tuple[Language, ...]:
    """The languages of ``tests/cases``."""
    found = []
    for folder in FOLDERS:
        if folder not in ERRORS + FINDINGS:
            path = grammar_of(folder)
            dialect = dialect_of(path.name)
            assert dialect is not None, path
            text = path.read_bytes().decode("utf-8")
            texts = strings(folder / "accept.txt"), strings(folder / "reject.txt")
            found.append(Language(folder.name, text, dialect, *texts))
    return tuple(found)
