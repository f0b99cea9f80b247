"""``constrain server``: the language server of editors, on standard input and output."""

import logging
import sys

from ..console import check_installed


def server() -> int:
    """Serve an editor by the Language Server Protocol, on standard input and output.

    Editors start it by themselves: examples/editors/README.md has the lines for VS Code, Neovim,
    Helix and Zed. While you type it says what check says; it formats, fixes, finds and renames
    rules, and shows what became of the cases in *.test files. It needs the extra lsp.

    \b
    Example:
      constrain server
    """
    check_installed("pygls", "lsp", "the language server")
    from .protocol import language_server

    logging.getLogger("pygls.protocol.json_rpc").addFilter(_is_defect)
    # What is printed by mistake must not come between messages.
    output, sys.stdout = sys.stdout, sys.stderr
    language_server().start_io(sys.stdin.buffer, output.buffer)
    return 0


def _is_defect(record: logging.LogRecord) -> bool:
    """Whether a line of the log is of more than a request that was answered with its error."""
    return record.exc_info is None or type(record.exc_info[1]).__name__ != "JsonRpcException"
