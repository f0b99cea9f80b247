"""A document in the one layout of its dialect, as edits of the lines that it changes."""

from difflib import SequenceMatcher
from itertools import accumulate
from typing import TYPE_CHECKING

from ..commands.fmt import _format, _options
from .jobs import Stop
from .texts import CASES, Document, RequestError
from .workspace import Workspace

if TYPE_CHECKING:
    from constrain.compiler.diagnostics import Edit


def formatted(document: Document, workspace: Workspace, stop: Stop) -> "list[Edit]":
    """What `constrain fmt` would change, by whole lines. Raises what it raises, and
    ``RequestError`` for case files."""
    if document.dialect is None or document.dialect == CASES:
        raise RequestError("case files have no layout of their own")
    given = workspace.given(document, stop)
    return changes(document.text, _format(document.path, document.text, given, _options()))


def changes(before: str, after: str) -> "list[Edit]":
    """The lines that differ, in the order of the text."""
    from constrain.compiler.diagnostics import Edit

    old, new = before.splitlines(keepends=True), after.splitlines(keepends=True)
    places = list(accumulate(map(len, old), initial=0))
    matcher = SequenceMatcher(None, old, new, autojunk=False)
    return [
        Edit(places[a], places[b], "".join(new[c:d]))
        for kind, a, b, c, d in matcher.get_opcodes()
        if kind != "equal"
    ]
