"""The page of a document: what ``constrain inspect -o page.html`` writes."""

from pathlib import Path

from ..commands.inspect import inspected
from .jobs import Stop
from .texts import CASES, Document, RequestError
from .workspace import Workspace


def page_of_document(document: Document, workspace: Workspace, stop: Stop) -> str:
    """The page of a grammar with the cases beside it. Raises ``RequestError``, and what the
    command raises."""
    from constrain.compiler.testing.collect import beside

    if document.dialect in (None, CASES):
        raise RequestError("a page is of a grammar, a schema or a list of tools")
    given = workspace.given(document, stop)
    tests = [found] if Path(document.path).exists() and (found := beside(document.path)) else []
    return inspected(document.path, given, [], tests, "html")[0]
