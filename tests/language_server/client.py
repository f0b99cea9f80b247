"""A small client of the Language Server Protocol: a process, messages with lengths before them."""

import json
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from queue import Empty, Queue
from threading import Thread
from types import TracebackType
from typing import Any

# Seconds after which an answer is missing.
PATIENCE = 60

# How servers are started.
PROGRAM = (sys.executable, "-m", "constrain.cli", "server")


class RequestFailed(Exception):  # noqa: N818
    """The server answered with an error."""


class Editor:
    """A session with a server in ``folder``. ``diagnostics``: by document the last that were sent,
    with their version."""

    def __init__(self, folder: Path, program: Sequence[str] = PROGRAM) -> None:
        self.folder = folder
        self.process = subprocess.Popen(
            [*program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=folder
        )
        self._messages: Queue[dict[str, Any] | None] = Queue()
        self._reader = Thread(target=self._read, daemon=True)
        self._reader.start()
        self._answers: dict[int, dict[str, Any]] = {}
        self._number = 0
        self.diagnostics: dict[str, tuple[int | None, list[dict[str, Any]]]] = {}
        root = folder.as_uri()
        folders = [{"uri": root, "name": folder.name}]
        client = {"textDocument": {"publishDiagnostics": {"versionSupport": True}}}
        about = {"processId": None, "rootUri": root, "workspaceFolders": folders}
        self.capabilities = self.ask("initialize", {**about, "capabilities": client})[
            "capabilities"
        ]
        self.tell("initialized", {})

    def __enter__(self) -> "Editor":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, _: BaseException | None, __: TracebackType | None
    ) -> None:
        try:
            if kind is None:
                self.ask("shutdown", None)
                self.tell("exit", None)
                assert self.process.wait(PATIENCE) == 0
        finally:
            self.process.kill()
            self.process.wait()
            for stream in (self.process.stdin, self.process.stdout):
                if stream is not None:
                    stream.close()

    # --- messages

    def _read(self) -> None:
        stream = self.process.stdout
        assert stream is not None
        while head := stream.readline():
            length = 0
            while head.strip():
                name, _, value = head.partition(b":")
                length = int(value) if name.lower() == b"content-length" else length
                head = stream.readline()
            self._messages.put(json.loads(stream.read(length)))
        self._messages.put(None)

    def _send(self, message: dict[str, Any]) -> None:
        data = json.dumps({"jsonrpc": "2.0", **message}).encode()
        assert self.process.stdin is not None
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(data), data))
        self.process.stdin.flush()

    def _take(self) -> None:
        """One message of the server."""
        try:
            message = self._messages.get(timeout=PATIENCE)
        except Empty:
            raise AssertionError("the server says nothing") from None
        assert message is not None, "the server has ended"
        if message.get("method") == "textDocument/publishDiagnostics":
            params = message["params"]
            self.diagnostics[params["uri"]] = params.get("version"), params["diagnostics"]
        elif "id" in message and "method" in message:
            self._send({"id": message["id"], "result": None})
        elif "id" in message:
            self._answers[message["id"]] = message

    def tell(self, method: str, params: Any) -> None:
        """A notification."""
        self._send({"method": method, "params": params})

    def begin(self, method: str, params: Any) -> int:
        """A request, which ``end`` awaits."""
        self._number += 1
        self._send({"id": self._number, "method": method, "params": params})
        return self._number

    def end(self, number: int) -> Any:
        """The result of a request. Raises ``RequestFailed``."""
        self.until(lambda: number in self._answers)
        answer = self._answers.pop(number)
        if "error" in answer:
            raise RequestFailed(answer["error"]["message"])
        return answer["result"]

    def ask(self, method: str, params: Any) -> Any:
        """The result of a request. Raises ``RequestFailed``."""
        return self.end(self.begin(method, params))

    def until(self, holds: Callable[[], bool]) -> None:
        """Take messages until something holds."""
        while not holds():
            self._take()

    # --- documents

    def uri(self, name: str) -> str:
        """That of a file in the folder."""
        return (self.folder / name).as_uri()

    def open(self, name: str, text: str, language: str = "plaintext") -> None:
        """Open a document, whether there is such a file or not."""
        document = {"uri": self.uri(name), "languageId": language, "version": 1, "text": text}
        self.tell("textDocument/didOpen", {"textDocument": document})

    def write(self, name: str, text: str) -> None:
        """Make a file, and open it."""
        (self.folder / name).parent.mkdir(parents=True, exist_ok=True)
        (self.folder / name).write_text(text, encoding="utf-8", newline="")
        self.open(name, text)

    def change(self, name: str, version: int, changes: list[dict[str, Any]]) -> None:
        """Edit a document."""
        document = {"uri": self.uri(name), "version": version}
        params = {"textDocument": document, "contentChanges": changes}
        self.tell("textDocument/didChange", params)

    def found(self, name: str, version: int = 1) -> list[dict[str, Any]]:
        """The diagnostics of a version of a document."""
        uri = self.uri(name)
        self.until(lambda: self.diagnostics.get(uri, (0, []))[0] == version)
        return self.diagnostics[uri][1]

    def at(self, name: str, line: int, character: int, **more: Any) -> dict[str, Any]:
        """Parameters of a request about a place."""
        place = {"line": line, "character": character}
        return {"textDocument": {"uri": self.uri(name)}, "position": place, **more}

    def about(self, name: str, **more: Any) -> dict[str, Any]:
        """Parameters of a request about a document."""
        return {"textDocument": {"uri": self.uri(name)}, **more}
