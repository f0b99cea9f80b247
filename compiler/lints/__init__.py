"""What is probably not meant in a grammar that can be read.

    structure  (rules and their uses)  and  language  (what parts match)  ->  findings

Each lint has a name; a comment that holds ``constrain: allow(NAME, …)`` silences it, for the
rule that follows if the comment stands right before one, else for the whole file.
"""

import re
from collections.abc import Callable, Mapping

from ..grammar.tree import Grammar
from ..grammar.weave_ignored import weave_ignored
from ..limits import Limits
from .finding import Finding
from .language import redundant, white_space
from .structure import duplicates, left_recursion, unproductive, unreachable

__all__ = ["LINTS", "NOTES", "Finding", "lint"]

LINTS: Mapping[str, str] = {
    "duplicate-definition": "a rule is defined more than once; the definitions are alternatives",
    "left-recursion": "a rule begins with itself; that is allowed (note only)",
    "redundant-alternative": "what an alternative matches, the others match too",
    "unbounded-whitespace": "white space may repeat without end, which lets a model stall",
    "unproductive": "a rule matches no finite text, so its alternatives are left out",
    "unreachable": "a rule cannot be reached from the start",
}

# Findings that are no reason for an exit code.
NOTES = frozenset({"left-recursion"})

_ALLOW = re.compile(r"constrain: allow\(([a-z, -]+)\)")


def lint(grammar: Grammar, limits: Limits | None = None) -> list[Finding]:
    """All findings that are not silenced, in the order of the text. Raises ``LimitError``."""
    limits = (limits or Limits()).started()
    found = [
        *duplicates(grammar),
        *unreachable(grammar),
        *unproductive(grammar),
        *left_recursion(grammar),
        *white_space(grammar),
        *redundant(weave_ignored(grammar), limits),
    ]
    allowed = _silenced(grammar)
    return sorted((f for f in found if not allowed(f)), key=lambda f: (f.span, f.lint))


def _silenced(grammar: Grammar) -> Callable[[Finding], bool]:
    text = grammar.source.text
    everywhere: set[str] = set()
    in_rule: set[tuple[str, str]] = set()
    for match in _ALLOW.finditer(text):
        names = {name.strip() for name in match[1].split(",")}
        following = next((r for r in grammar.rules if r.span.start > match.end()), None)
        between = text[match.end() : following.span.start] if following else "…"
        if following is not None and between.strip(" \t\r*)/").count("\n") <= 1:
            in_rule |= {(name, following.name) for name in names}
        else:
            everywhere |= names
    return lambda f: f.lint in everywhere or (f.lint, f.rule) in in_rule
