"""The page of a document: what ``constrain inspect -o page.html`` writes."""

from pathlib import Path

from ..commands.inspect import _compiled, _inspected, _mask_command, _page
from .jobs import Stop
from .texts import CASES, Document, RequestError
from .workspace import Workspace

# Bytes of the page, as by default of the command.
_MOST = 8_000_000


def page_of_document(document: Document, workspace: Workspace, stop: Stop) -> str:
    """The page of a grammar with the cases beside it. Raises ``RequestError``, and what the
    command raises."""
    from constrain.compiler.testing.collect import beside

    if document.dialect in (None, CASES):
        raise RequestError("a page is of a grammar, a schema or a list of tools")
    given = workspace.given(document, stop)
    compiled = _compiled(document.path, given)
    tests = [found] if Path(document.path).exists() and (found := beside(document.path)) else []
    facts = _inspected(compiled, given, [])
    return _page(compiled, facts, [], tests, _mask_command(document.path, given), _MOST)
