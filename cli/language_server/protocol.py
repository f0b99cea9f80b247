"""The Language Server Protocol over what this room finds: requests to calls, results to messages.

Documents are kept by pygls, which is imported when the server starts. Positions are counted in
UTF-16 units, which all editors can.
"""

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, TypeVar

from constrain.artifacts.errors import ConstrainError

from ..report import Item
from ..version import version_line
from . import cases, findings, hover, navigation, outline
from .formatting import formatted
from .inspecting import page_of_document
from .jobs import Jobs, Stop
from .texts import CASES, Document
from .workspace import Workspace, path_of

if TYPE_CHECKING:
    from constrain.compiler.diagnostics import Edit

T = TypeVar("T")
F = TypeVar("F", bound=Callable[..., Any])

# Seconds without an edit, after which findings are sought.
DELAY = 0.1

# Commands of the editor that code lenses name: what an extension asks for and does.
TRY = "constrain.tryText"

_LEVELS = {"error": 1, "warning": 2, "note": 3}


class Server:
    """What all requests share. ``types``: the module of lsprotocol; ``editor``: the server of
    pygls."""

    def __init__(self, editor: Any, types: Any) -> None:
        self.editor, self.types = editor, types
        self.jobs, self.workspace = Jobs(), Workspace()
        # The errors that were sent last, by document.
        self._errors: dict[str, list[str]] = {}
        # All findings that were sent last, with the document that they are of.
        self._found: dict[str, tuple[Document, Sequence[Item]]] = {}

    async def ask(self, work: Callable[[Document, Workspace, Stop], T], params: Any) -> T:
        """The result of a piece of work on the document that a request names. Errors of grammars
        and files are errors of the request."""
        uri = params.text_document.uri

        def run(stop: Stop) -> T:
            return work(self.workspace.document(uri), self.workspace, stop)

        try:
            return await self.jobs.ask(run)
        except (ConstrainError, OSError) as error:
            from pygls.exceptions import JsonRpcException

            raise JsonRpcException(str(error), code=-32803) from None

    def on(self, method: str, options: Any = None) -> Callable[[F], F]:
        """Answer a message by a function."""
        register: Callable[[F], F] = self.editor.feature(method, options)
        return register

    def answers(self, method: str, options: Any = None) -> Callable[[F], F]:
        """Answer a request by a piece of work, which has the request before what ``ask`` gives."""

        def register(work: F) -> F:
            async def answer(params: Any) -> Any:
                return await self.ask(partial(work, params), params)

            self.on(method, options)(answer)
            return work

        return register

    def opened(self, uri: str, language: str | None = None) -> None:
        """Take an opened or edited document over, and look for what is wrong: in it, and in open
        case files of a grammar."""
        kept = self.editor.workspace.get_text_document(uri)
        self.workspace.open(uri, kept.source, kept.version, language)
        self.look(uri)
        changed = self.workspace.documents[uri]
        for other in self.workspace.documents.values():
            if other.uri != uri and (other.dialect == CASES or changed.dialect == "lark"):
                self.look(other.uri)

    def look(self, uri: str) -> None:
        """Send the findings of a document as soon as nobody types."""
        import asyncio

        loop = asyncio.get_running_loop()

        def run(stop: Stop) -> None:
            document = self.workspace.documents.get(uri)
            if document is None:
                return

            def early(errors: list[Item]) -> None:
                # Only what is new: warnings stay where they are meanwhile.
                if _errors_in(errors) != self._errors.get(uri, []):
                    loop.call_soon_threadsafe(self.publish, document, errors, None)

            found = findings.findings_of(document, self.workspace, stop, early)
            loop.call_soon_threadsafe(self.publish, document, found, document.version)

        self.jobs.later(uri, DELAY, run)

    def publish(self, document: Document, found: Sequence[Item], version: int | None) -> None:
        """Send findings, unless the text has changed meanwhile; of the ``version`` where these are
        all."""
        if self.workspace.documents.get(document.uri) is not document:
            return
        self._errors[document.uri] = _errors_in(found)
        if version is not None:
            self._found[document.uri] = document, found
        types = self.types
        listed = [
            types.Diagnostic(
                range=self.range(document, *(each.found.span or (0, 0))),
                message="\nhelp: ".join(filter(None, (each.found.message, each.found.help))),
                severity=types.DiagnosticSeverity(_LEVELS[each.level]),
                code=each.lint,
                source="constrain",
            )
            for each in found
        ]
        self.editor.text_document_publish_diagnostics(
            types.PublishDiagnosticsParams(document.uri, listed, version)
        )

    def forget(self, uri: str) -> None:
        """A document was closed."""
        self.jobs.forget(uri)
        self._errors.pop(uri, None)
        self._found.pop(uri, None)

    def found(self, document: Document, stop: Stop) -> Sequence[Item]:
        """The findings of a document, those that were sent if they are of this text."""
        known, found = self._found.get(document.uri, (None, ()))
        if known is document:
            return found
        return findings.findings_of(document, self.workspace, stop)

    def range(self, document: Document, start: int, end: int) -> Any:
        """A range of the protocol."""
        places = (self.types.Position(*document.place(each)) for each in (start, end))
        return self.types.Range(*places)

    def edit(self, document: Document, edit: "Edit") -> Any:
        """An edit of the protocol."""
        return self.types.TextEdit(self.range(document, edit.start, edit.end), edit.text)

    def location(self, place: navigation.Located) -> Any:
        """A place in a file."""
        span = self.range(place.document, *place.span)
        return self.types.Location(place.document.uri, span)


def _errors_in(found: Iterable[Item]) -> list[str]:
    return [each.found.message for each in found if each.level == "error"]


def language_server() -> Any:
    """The server with all that it answers."""
    from lsprotocol import types
    from pygls.lsp.server import LanguageServer

    editor = LanguageServer("constrain", version_line())
    server = Server(editor, types)
    for group in (_documents, _names, _texts, _own):
        group(server)
    return editor


def _documents(server: Server) -> None:
    """Opening, editing, closing."""
    types, on = server.types, server.on

    @on(types.INITIALIZED)
    def initialized(_params: Any) -> None:
        folders = server.editor.workspace.folders or {}
        root = server.editor.workspace.root_uri
        uris = list(folders) or ([root] if root else [])
        server.workspace.folders = [Path(path_of(uri)).resolve() for uri in uris]

    @on(types.TEXT_DOCUMENT_DID_OPEN)
    def did_open(params: Any) -> None:
        server.opened(params.text_document.uri, params.text_document.language_id)

    @on(types.TEXT_DOCUMENT_DID_CHANGE)
    def did_change(params: Any) -> None:
        server.opened(params.text_document.uri)

    @on(types.TEXT_DOCUMENT_DID_SAVE)
    def did_save(_params: Any) -> None:
        for uri in server.workspace.documents:
            server.look(uri)

    @on(types.TEXT_DOCUMENT_DID_CLOSE)
    def did_close(params: Any) -> None:
        uri = params.text_document.uri
        server.workspace.close(uri)
        server.forget(uri)
        server.editor.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, []))

    @on(types.SHUTDOWN)
    def shutdown(_params: Any) -> None:
        server.jobs.end()


def _names(server: Server) -> None:
    """Definitions, references, renaming, hovering, completion."""
    types, answers = server.types, server.answers

    def offset(document: Document, params: Any) -> int:
        return document.offset(params.position.line, params.position.character)

    @answers(types.TEXT_DOCUMENT_DEFINITION)
    def definition(params: Any, document: Document, *rest: Any) -> Any:
        found = navigation.definition(document, offset(document, params), *rest)
        return [server.location(each) for each in found]

    @answers(types.TEXT_DOCUMENT_REFERENCES)
    def references(params: Any, document: Document, *rest: Any) -> Any:
        defines, place = params.context.include_declaration, offset(document, params)
        found = navigation.references(document, place, *rest, defines=defines)
        return [server.location(each) for each in found]

    @answers(types.TEXT_DOCUMENT_RENAME)
    def rename(params: Any, document: Document, *rest: Any) -> Any:
        changes: dict[str, list[Any]] = {}
        new, place = params.new_name, offset(document, params)
        for each in navigation.renamed(document, place, *rest, new=new):
            edit = types.TextEdit(server.location(each).range, navigation.written(each, new))
            changes.setdefault(each.document.uri, []).append(edit)
        return types.WorkspaceEdit(changes)

    @answers(types.TEXT_DOCUMENT_HOVER)
    def hovering(params: Any, document: Document, *rest: Any) -> Any:
        text = hover.hover_text(document, offset(document, params), *rest)
        return None if text is None else types.Hover(types.MarkupContent("markdown", text))

    @answers(types.TEXT_DOCUMENT_COMPLETION, types.CompletionOptions())
    def completion(_params: Any, *about: Any) -> Any:
        kind = types.CompletionItemKind.Function
        return [types.CompletionItem(name, kind=kind) for name in outline.completions(*about)]


def _texts(server: Server) -> None:
    """Outline, semantic tokens, formatting, code actions, code lenses."""
    types, answers = server.types, server.answers

    @answers(types.TEXT_DOCUMENT_DOCUMENT_SYMBOL)
    def symbols(_params: Any, document: Document, *rest: Any) -> Any:
        kind = types.SymbolKind.Function if document.dialect != CASES else types.SymbolKind.Event
        return [
            types.DocumentSymbol(
                each.name or "?",
                kind,
                server.range(document, *each.whole.cover(each.span)),
                server.range(document, *each.span),
            )
            for each in outline.symbols_of(document, *rest)
        ]

    legend = types.SemanticTokensLegend(list(outline.TYPES), list(outline.MODIFIERS))

    @answers(types.TEXT_DOCUMENT_SEMANTIC_TOKENS_FULL, legend)
    def semantic_tokens(_params: Any, document: Document, *rest: Any) -> Any:
        data, line, character = list[int](), 0, 0
        for each in outline.coloured(document, *rest):
            start, end = document.place(each.start), document.place(each.end)
            before = character if start.line == line else 0
            data += [start.line - line, start.character - before]
            data += [end.character - start.character]
            data += [outline.TYPES.index(each.type), int(each.defines)]
            line, character = start.line, start.character
        return types.SemanticTokens(data)

    @answers(types.TEXT_DOCUMENT_FORMATTING)
    def formatting(_params: Any, document: Document, *rest: Any) -> Any:
        return [server.edit(document, each) for each in formatted(document, *rest)]

    @answers(types.TEXT_DOCUMENT_CODE_ACTION, types.CodeActionOptions(["quickfix"]))
    def code_action(params: Any, document: Document, _: Workspace, stop: Stop) -> Any:
        places = params.range.start, params.range.end
        start, end = (document.offset(each.line, each.character) for each in places)
        fixes = [
            (each.found.fix, [server.edit(document, edit) for edit in each.found.fix.edits])
            for each in server.found(document, stop)
            if each.found.fix and each.found.span
            if each.found.span.start <= end and start <= each.found.span.end
        ]
        return [
            types.CodeAction(
                fix.title,
                "quickfix",
                is_preferred=fix.safe,
                edit=types.WorkspaceEdit({document.uri: edits}),
            )
            for fix, edits in fixes
        ]

    @answers(types.TEXT_DOCUMENT_CODE_LENS)
    def code_lens(_params: Any, document: Document, *rest: Any) -> Any:
        if document.dialect != CASES:
            return []
        return [
            types.CodeLens(
                server.range(document, each.start, each.start),
                types.Command(each.title, TRY, arguments=[each.grammar, each.text]),
            )
            for each in cases.lenses_of(document, *rest)
        ]


def _own(server: Server) -> None:
    """What the protocol does not have: a page, and whether a text is a member."""
    on = server.on

    def named(params: Any) -> Any:
        # The document is named as the protocol does.
        return SimpleNamespace(text_document=params.textDocument)

    @on("constrain/inspect")
    async def inspect(params: Any) -> Any:
        return {"html": await server.ask(page_of_document, named(params))}

    @on("constrain/try")
    async def try_text(params: Any) -> Any:
        start = getattr(params, "start", None)
        return await server.ask(partial(cases.tried, text=params.text, start=start), named(params))
